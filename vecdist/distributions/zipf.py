"""The Zipf distribution."""


from vecdist.constraints import Constraint, positive_count
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import zipf_quantile
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.draws import zipf_draw
from vecdist.special.formulas import infinite_where
from vecdist.special.harmonic import harmonic
from vecdist.special.zeta import riemann_zeta, zeta


def _tails(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
    """Whether the lower tail is the lesser, that tail if it is, and the upper one: slopes are those of the lesser."""
    above = zeta(p.power, x + 1.0) / p.normaliser
    few = above > 0.5
    return few, harmonic(p.power, where(few, x, 1.0)) / p.normaliser, above


class Zipf(Distribution):
    """Zipf distribution, f(x) = x^(-power) / zeta(power) for x = 1, 2, ...

    Written ``Zipf(power)``, where the power is above 1.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 11.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Zipf(2.0), np.array([0, 1, 2]))).round(4)
    array([   -inf, -0.4977, -1.884 ])
    """

    discrete = True
    oracle = "scipy.stats.zipf(power)"

    @parametrisation(power=Constraint("a finite number above 1", lower=1.0, open_lower=True, open_upper=True))
    @staticmethod
    def by_power(power: Node) -> dict[str, Node]:
        return {"power": power, "normaliser": riemann_zeta(power), "log_normaliser": log1p(zeta(power, 2.0))}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -p.power * log(x) - p.log_normaliser

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        few, below, above = _tails(x, p)
        return where(few, below, 1.0 - above)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        few, below, above = _tails(x, p)
        return where(few, 1.0 - below, above)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return by_bisection(zipf_quantile, q, (p.power, p.normaliser), positive_count, lambda at: Zipf.cdf(at, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(zipf_draw, p.power)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.power <= 2.0, riemann_zeta(p.power - 1.0) / p.normaliser)

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = riemann_zeta(p.power - 2.0) / p.normaliser - square(Zipf.mean(p))
        return infinite_where(p.power <= 3.0, spread)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.power + 1.0
