"""Student's t distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, positive, positive_or_infinite
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.saddle_point import log1p_excess
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.floating import LOG_EXCESS, polynomial, width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.beta_of_odds import SQUARE, beta_beyond, log_beta_beyond
from vecdist.special.beta_quantiles import odds_beyond
from vecdist.special.formulas import expm1_over, infinite_where, log1p_square
from vecdist.special.gamma_differences import digamma_gap, lgamma_half_step
from vecdist.special.normal_tail import log_ndtr, ndtr, ndtri
from vecdist.special.stirling import digamma_lack, lgamma_excess


def _decay(distance: Node, inverse_scale: Node, log_scale: Node, df: Node) -> Node:
    return (0.5 * df + 0.5) * log1p_square(distance, inverse_scale * (1.0 / sqrt(df)), log_scale)


def _decay_partials(
    distance: Node, inverse_scale: Node, log_scale: Node, df: Node, out: Node
) -> tuple[Node | None, ...]:
    """With u = z^2 / df; that in df has log(1 + u) - u / (1 + u)."""
    z = distance * inverse_scale
    root, per_df = distance * (inverse_scale * (1.0 / sqrt(df))), z / df
    far = abs(root) > 1e10
    u = where(far, 1.0, z * per_df)
    rest = 1.0 / (1.0 + u)
    share = where(far, 1.0, u * rest)
    bend = where(abs(root) < 1.04, _bend(u, rest), out / (0.5 * df + 0.5) - share)
    of_distance = where(far, 1.0 / distance, per_df * rest * inverse_scale)
    return (df + 1.0) * of_distance, None, -(df + 1.0) * share, 0.5 * (bend - share / df)


def _bend(u: Node, rest: Node) -> Node:
    """log(1 + u) - u / (1 + u) for u up to 1.1, by a series of the logarithm about 1 or 3/2."""
    small = u < 0.41
    v = where(small, u, where(u < 1.1, u - 0.5, 0.0) * (2 / 3))
    excess = polynomial(v, LOG_EXCESS[width(u)])
    near = square(v) * rest * ((1.0 + excess) + v * excess)
    return where(small, near, (math.log(1.5) - 1 / 3) + (v * (1.0 - rest) + square(v) * excess))


# (df + 1) / 2 log(1 + z^2 / df) for z = distance inverse_scale; its slope in the scale is that in the logarithm
student_decay: Primitive = primitive("student_decay", 4, expand=_decay, partials=_decay_partials, floating=True)


def _log_gammas_slope(half: Node, out: Node) -> tuple[Node]:
    """digamma(half + 1/2) - digamma(half) - 1 / (2 half), next to none where half is large."""
    return (digamma_gap(half, 0.5) + log1p_excess(0.5 / half),)


log_gammas: Primitive = primitive(  # lgamma(half + 1/2) - lgamma(half) - log(2 half) / 2
    "student_log_gammas", expand=lgamma_half_step, partials=_log_gammas_slope, floating=True, domain=((0.05, 60.0),),
)


def by_square(distance: Node, p: Parameters) -> tuple[Node, ...]:
    """What the beta distribution function of z^2 / (df + z^2) is given, or with a probability its inverse."""
    return const(SQUARE, distance.dtype), const(0.5, distance.dtype), 0.5 * p.df, p.inverse_scale, distance


class StudentT(Distribution):
    """Student's t distribution, f(x) = (1 + z^2 / df)^(-(df + 1) / 2) / (B(df / 2, 1/2) sqrt(df) scale).

    Written ``StudentT(df, loc, scale)``, where ``loc`` is 0 and ``scale`` 1 if they are not given, or
    ``StudentT(df=, loc=, precision=)``; z is (x - loc) / scale.  An infinite ``df`` gives the normal distribution.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 28.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(StudentT(np.array([1.0, 4.0, np.inf])), 2.0)).round(4)
    array([-2.7542, -2.7137, -2.9189])
    """

    oracle = "scipy.stats.t(df, loc, scale)"
    symmetric = True

    @parametrisation(df=positive_or_infinite, loc=finite, scale=positive)
    @staticmethod
    def by_scale(df: Node, loc: Any = 0.0, scale: Any = 1.0) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(df=positive_or_infinite, loc=finite, precision=positive)
    @staticmethod
    def by_precision(df: Node, loc: Node, precision: Node) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        half, limit = 0.5 * p.df, eq(p.df, math.inf)
        normal = 0.5 * square((x - p.loc) * p.inverse_scale)
        decay = where(limit, normal, student_decay(x - p.loc, p.inverse_scale, p.log_scale, p.df))
        constant = where(limit, -0.5 * math.log(2.0), log_gammas(half))
        return (constant - (p.log_scale + 0.5 * math.log(math.pi))) - decay

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Bailey (1994), Polar generation of random variates with the t-distribution, Mathematics of Computation 62."""
        twice, cosine = random.polar()
        return p.loc + sqrt(expm1_over(1.0 / p.df, twice)) * cosine / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.df > 1.0, p.loc, math.nan)

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = (1.0 + 2.0 / (p.df - 2.0)) / square(p.inverse_scale)
        return where(p.df > 1.0, infinite_where(p.df <= 2.0, spread), math.nan)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        half, limit = 0.5 * p.df, eq(p.df, math.inf)
        u, more = 0.5 / half, half + 0.5
        within = (0.5 + u) + 0.5 * log1p_excess(u) - more * (digamma_lack(more) - digamma_lack(half))
        constant = within - (lgamma_excess(more) - lgamma_excess(half)) + 0.5 * math.log(2 * math.pi)
        return p.log_scale + where(limit, 0.5 * math.log(2 * math.pi * math.e), constant)

    @staticmethod
    def both_tails(x: Node, p: Parameters) -> Node:
        """The probability of being further from loc than x."""
        distance = where(x < p.loc, p.loc - x, x - p.loc)
        tails = beta_beyond(*by_square(distance, p))
        return where(eq(p.df, math.inf), 2.0 * ndtr(-distance * p.inverse_scale), tails)

    @staticmethod
    def log_both_tails(x: Node, p: Parameters) -> Node:
        distance = where(x < p.loc, p.loc - x, x - p.loc)
        tails = log_beta_beyond(*by_square(distance, p))
        return where(eq(p.df, math.inf), math.log(2) + log_ndtr(-distance * p.inverse_scale), tails)

    @staticmethod
    def distance(q: Node, p: Parameters) -> Node:
        """How far from loc the points are beyond which ``q`` lies."""
        far = odds_beyond(*by_square(q, p))
        return where(eq(p.df, math.inf), -ndtri(0.5 * q) / p.inverse_scale, far)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        tail = 0.5 * StudentT.both_tails(x, p)
        return where(x < p.loc, tail, 1.0 - tail)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        log_tail = StudentT.log_both_tails(x, p) - math.log(2)
        return where(x < p.loc, log_tail, log1p(-exp(log_tail)))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        lower = q < 0.5
        distance = StudentT.distance(2.0 * where(lower, q, 1.0 - q), p)
        return p.loc + where(lower, -distance, distance)
