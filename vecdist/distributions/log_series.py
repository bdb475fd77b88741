"""The logarithmic series distribution."""

from vecdist.constraints import Constraint, open_unit_interval, positive_count
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import log_series_quantile
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import minimum, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least, polynomial
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.quadrature import integral

LOW = 0.5  # a p of which series have all digits
EXCESS = tuple(1.0 / (k + 1) for k in range(1, 52))  # of -log(1 - p) / p - 1 = p / 2 + p^2 / 3 + ...
SLOPE = tuple(1.0 / (k * (k - 1)) for k in range(2, 53))  # of p + (1 - p) log(1 - p) = p^2 / 2 + p^3 / 6 + ...
STEP = 0.25  # of a logarithm: the integrand is analytic to a distance of pi / 2
LEAST = -1e4  # whose exponential is 0
NOTHING = 42.0  # exp(-NOTHING) is nothing beside 1


def excess(p: Node) -> Node:
    """-log(1 - p) / p - 1, by a series where that is small."""
    small = where(p < LOW, p, 0.0)
    return where(p < LOW, small * polynomial(small, EXCESS), -log1p(-p) / p - 1.0)


def _slope(p: Node, out: Node) -> tuple[Node]:
    small, rest = where(p < LOW, p, 0.0), (1.0 - p) * -log1p(-p)
    return (where(p < LOW, square(small) * polynomial(small, SLOPE), p - rest) / (p * rest),)


log_total: Primitive = primitive(  # log(-log(1 - p) / p) for 0 < p < 1
    "log_series_total", expand=lambda p: log1p(excess(p)), partials=_slope, floating=True, domain=((0.02, 0.98),),
)


class LogSeries(Distribution):
    """Logarithmic series distribution, f(x) = p^x / (-x log(1 - p)) for x = 1, 2, ...

    Written ``LogSeries(p)``, with 0 < p < 1.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 7.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(LogSeries(0.5), np.array([0, 1, 2]))).round(4)
    array([   -inf, -0.3266, -1.7129])
    """

    discrete = True
    oracle = "scipy.stats.logser(p)"

    @parametrisation(p=open_unit_interval)
    @staticmethod
    def by_p(p: Node) -> dict[str, Node]:
        return {"p": p, "log_p": log(p), "log_total": log_total(p)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return (x - 1.0) * p.log_p - log(x) - p.log_total

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """p^n / n + ... for n = x + 1, as the integral of exp(-n t) / (1 - p exp(-t)) over t > 0, of log t."""

        def term(v: Node, n: Node, log_p: Node) -> Node:
            t = exp(v)
            return t * exp(-n * t) / -expm1(log_p - t)

        n = x + 1.0
        start = log(minimum(-p.log_p, 1.0 / n)) - NOTHING
        total = integral(term, start, log(NOTHING / n), STEP, (n, p.log_p))
        return x * p.log_p + (log(total) - p.log_total)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(at_least(LogSeries.log_sf(x, p), LEAST))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(at_least(LogSeries.log_sf(x, p), LEAST))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log1mexp(at_least(LogSeries.log_sf(x, p), LEAST))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        given = (p.log_p, p.log_total)
        return by_bisection(log_series_quantile, q, given, positive_count, lambda at: LogSeries.cdf(at, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return exp(-p.log_total) / (1.0 - p.p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return excess(p.p) * square(LogSeries.mean(p))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.p + 1.0
