"""The Poisson distribution."""

from vecdist.constraints import Constraint, below_infinity, light_count, nonnegative
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import ceil, maximum
from vecdist.primitives.elementary import exp, log
from vecdist.special.count_quantiles import poisson_quantile
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import lgamma
from vecdist.special.formulas import times
from vecdist.special.incomplete_gamma import gammainc, gammaincc, log_gammainc, log_gammaincc
from vecdist.special.staircase import eased


class Poisson(Distribution):
    """Poisson distribution, f(x) = rate^x exp(-rate) / x! for x = 0, 1, ...

    Written ``Poisson(rate)`` or ``Poisson(log_rate=)``; a rate of 0, or a log_rate of -inf, puts all mass on 0.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 4.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Poisson(2.0), np.array([0, 1, -1]))).round(4)
    array([-2.    , -1.3069,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.poisson(rate)"

    @parametrisation(rate=nonnegative)
    @staticmethod
    def by_rate(rate: Node) -> dict[str, Node]:
        return {"rate": rate, "log_rate": log(rate)}

    @parametrisation(log_rate=below_infinity)
    @staticmethod
    def by_log_rate(log_rate: Node) -> dict[str, Node]:
        return {"rate": exp(log_rate), "log_rate": log_rate}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return light_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return times(x, p.log_rate) - p.rate - lgamma(x + 1.0)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(poisson_draw, p.rate)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.rate

    variance = mean

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(ceil(p.rate) - 1.0, 0.0)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gammaincc(x + 1.0, p.rate)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gammainc(x + 1.0, p.rate)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gammaincc(x + 1.0, p.rate)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gammainc(x + 1.0, p.rate)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return poisson_quantile(p.rate, eased(q))
