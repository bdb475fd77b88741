"""The Moyal distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import at_most
from vecdist.special.error_functions import erf, erfc
from vecdist.special.formulas import EULER, less_exp, log_both_tails, log_middle
from vecdist.special.normal_tail import erfcinv, erfinv
from vecdist.special.parts import difference


class Moyal(Distribution):
    """Moyal distribution, f(x) = exp(-(z + exp(-z)) / 2) / (scale sqrt(2 pi)) with z = (x - loc) / scale.

    Written ``Moyal(loc, scale)``.
    Moyal (1955), Theory of ionization fluctuations, Philosophical Magazine 46.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Moyal(0.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([-2.1121, -2.296 ])
    """

    oracle = "scipy.stats.moyal(loc, scale)"
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return -(0.5 * (p.loc - x) * p.inverse_scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return 0.5 * less_exp(*difference(p.loc, x).over(p.scale)) - (p.log_scale + 0.5 * math.log(2 * math.pi))

    @staticmethod
    def half_of(x: Node, p: Parameters) -> Node:
        """-z / 2, no more than what has no mass beyond it, and a slope of 0 there."""
        return at_most(-Moyal.standardised(x, p), 4.5)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return erfc(math.sqrt(0.5) * exp(Moyal.half_of(x, p)))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return erf(math.sqrt(0.5) * exp(Moyal.half_of(x, p)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + (EULER + math.log(2)) * p.scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return math.pi**2 / 2 * square(p.scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + 0.5 * (EULER + 1 + math.log(4 * math.pi))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        half = Moyal.half_of(x, p)
        return log_middle(exp(half), half)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc - p.scale * (2.0 * log(erfcinv(q)) + math.log(2))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc - p.scale * (2.0 * log(erfinv(q)) + math.log(2))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_both_tails(exp(-Moyal.standardised(x, p)))
