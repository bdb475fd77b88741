"""The chi distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.saddle_point import log1p_excess
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import maximum, sqrt, square
from vecdist.primitives.elementary import exp, expm1
from vecdist.special.error_functions import lgamma, lgamma_delta, xlogy
from vecdist.special.formulas import exp_of_log
from vecdist.special.gamma_of_argument import log_gamma_beyond_argument
from vecdist.special.gamma_of_log import gamma_below, gamma_beyond, log_gamma_below
from vecdist.special.gamma_quantiles import log_below, log_beyond
from vecdist.special.parts import log_parts
from vecdist.special.stirling import digamma_part, lgamma_excess


class Chi(Distribution):
    """Chi distribution, f(x) = x^(df - 1) exp(-x^2 / 2) / (2^(df/2 - 1) Γ(df/2)) for x >= 0.

    Written ``Chi(df)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 18.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Chi(1.0), np.array([0.0, 1.0]))).round(4)
    array([-0.2258, -0.7258])
    """

    oracle = "scipy.stats.chi(df)"

    @parametrisation(df=positive)
    @staticmethod
    def by_df(df: Node) -> dict[str, Node]:
        return {"df": df}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        half = 0.5 * p.df
        return xlogy(p.df - 1.0, x) - 0.5 * square(x) - ((half - 1.0) * math.log(2) + lgamma(half))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return sqrt(2.0 * random.gamma(0.5 * p.df))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return math.sqrt(2) * exp(lgamma_delta(0.5 * p.df, 0.5))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return sqrt(maximum(p.df - 1.0, 0.0))

    @staticmethod
    def place(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
        """What the gamma distribution function of x^2 / 2 is given: log(x^2 / df), for the square may underflow."""
        relative = (log_parts(x) + log_parts(x)) - log_parts(p.df)
        return 0.5 * p.df, relative.rest, relative.high

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gamma_below(*Chi.place(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gamma_beyond(*Chi.place(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gamma_below(*Chi.place(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gamma_beyond_argument(0.5 * p.df, *((log_parts(x) + log_parts(x)) - log_parts(const(2.0, x.dtype))))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return sqrt(p.df) * exp_of_log(0.5 * log_below(0.5 * p.df, q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return sqrt(p.df) * exp_of_log(0.5 * log_beyond(0.5 * p.df, q))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        half = 0.5 * p.df
        return digamma_part(half, -0.5) + lgamma_excess(half) + 0.5 * math.log(math.pi)

    @staticmethod
    def variance(p: Parameters) -> Node:
        """df less the square of the mean, by what Stirling's formula leaves of its logarithm where they are close."""
        half, many = 0.5 * p.df, p.df > 8.0
        large = where(many, half, 4.0)
        step = large * log1p_excess(0.5 / large) + (lgamma_excess(large + 0.5) - lgamma_excess(large))
        return where(many, -p.df * expm1(2.0 * step), p.df - square(Chi.mean(p)))
