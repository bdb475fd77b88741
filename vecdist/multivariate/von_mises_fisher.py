"""The von Mises-Fisher distribution of directions."""

import math

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import Check, Domain, each, number, tolerance
from vecdist.multivariate.events import each_of, event_length, length, over_event
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.special.bessel_orders import log_ive
from vecdist.special.draws import von_mises_fisher_draw


def _unit(name: str, x: Node, size: int) -> list[Check]:
    norm = sqrt(over_event(square(x)))
    return [*each(finite).checks(name, x, size), Check(f"norm of {name}", abs(norm - 1.0) <= tolerance(x), norm, "1")]


class VonMisesFisher(Multivariate):
    """Von Mises-Fisher distribution, f(x) = exp(-concentration |x - loc|^2 / 2) / c of vectors x with norm 1.

    It is often written exp(concentration loc' x): c = (2 pi)^(v + 1) I_v(concentration) exp(-concentration) /
    concentration^v with v = K / 2 - 1 makes it the same, with nothing lost where it is concentrated.
    Written ``VonMisesFisher(loc, concentration)`` with a unit vector of K >= 2 elements.
    Mardia and Jupp (2000), Directional Statistics, section 9.3.2.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(VonMisesFisher(np.array([0.0, 0.0, 1.0]), 2.0), np.array([0.6, 0.0, 0.8]))), 4)
    -1.5262
    """

    @parametrisation(loc=Domain("k", _unit), concentration=number(positive))
    @staticmethod
    def by_concentration(loc: Node, concentration: Node) -> dict[str, Node]:
        if event_length(loc) < 2:
            raise ValueError(f"VonMisesFisher: loc of shape {loc.shape} is no direction: it wants 2 elements or more")
        return {"loc": loc, "concentration": concentration}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return abs(sqrt(over_event(square(x))) - 1.0) > tolerance(x)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """So far from ``loc``, in a direction at right angles to it."""
        away = random.draw(von_mises_fisher_draw, p.concentration, const(float(p.size), p.loc.dtype))
        z = random.over(p.size).normal()
        beside = z - each_of(over_event(z * p.loc)) * p.loc
        reach = sqrt(away * (2.0 - away) / over_event(square(beside)))
        return each_of(1.0 - away) * p.loc + each_of(reach) * beside

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        deviation = x - p.loc
        half = 0.5 * length(deviation)
        order = half - 1.0
        constant = half * math.log(2.0 * math.pi) + log_ive(order, p.concentration) - order * log(p.concentration)
        return -0.5 * p.concentration * over_event(square(deviation)) - constant

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        half = 0.5 * length(p.loc)
        ratio = exp(log_ive(half, p.concentration) - log_ive(half - 1.0, p.concentration))
        return each_of(ratio) * p.loc
