"""The Lévy distribution."""

import math

from vecdist.constraints import Constraint, beginning, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import at_most
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import erf, erfc
from vecdist.special.formulas import EULER, log_both_tails, log_middle
from vecdist.special.normal_tail import erfcinv, erfinv

MOST = 40.0  # of which the error function is 1, and its slope 0


def _log_density(distance: Node, scale: Node) -> Node:
    return 0.5 * (log(scale) - math.log(2 * math.pi)) - 1.5 * log(distance) - 0.5 * (scale / distance)


def _log_density_partials(distance: Node, scale: Node, out: Node) -> tuple[Node, Node]:
    """With one reciprocal for both terms: the difference of two that are infinite is no number."""
    inverse = 1.0 / distance
    return (0.5 * (scale / distance) - 1.5) * inverse, 0.5 / scale - 0.5 * inverse


log_density: Primitive = primitive(
    "levy_log_density", 2, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.5, 2.0)),
)


class Levy(Distribution):
    """Lévy distribution, f(x) = sqrt(scale / (2 pi)) (x - loc)^(-3/2) exp(-scale / (2 (x - loc))) for x > loc.

    Written ``Levy(loc, scale)``.
    Feller (1971), An Introduction to Probability Theory and Its Applications 2, second edition, section II.4.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Levy(1.0, 2.0), np.array([1.0, 2.0, 5.0]))).round(4)
    array([   -inf, -1.5724, -2.9018])
    """

    oracle = "scipy.stats.levy(loc, scale)"

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return beginning(p.loc, open_lower=True)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x - p.loc, p.scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return erfc(Levy.root(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return erf(Levy.root(x, p))

    @staticmethod
    def root(x: Node, p: Parameters) -> Node:
        """sqrt(scale / (2 (x - loc))), no more than what has an error function of 1."""
        return at_most(sqrt(0.5 * p.scale) / sqrt(x - p.loc), MOST)

    @staticmethod
    def mean(p: Parameters) -> float:
        return math.inf

    variance = mean

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + 0.5 * (1 + 3 * EULER + math.log(16 * math.pi))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc + p.scale / 3.0

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + 0.5 * p.scale / square(erfcinv(q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc + 0.5 * p.scale / square(erfinv(q))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        distance = x - p.loc
        return log_middle(math.sqrt(2.0) * Levy.root(x, p), 0.5 * log_quotient(p.scale, distance))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_both_tails(sqrt(p.scale) / sqrt(x - p.loc))
