"""The F distribution."""

from typing import NamedTuple

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.saddle_point import less_log1p
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.beta_of_odds import RATIO, beta_below, beta_beyond, log_beta_below, log_beta_beyond
from vecdist.special.beta_quantiles import odds_below
from vecdist.special.beta_ratios import odds_spread
from vecdist.special.error_functions import lbeta, log_beta_peak, xlogy
from vecdist.special.formulas import infinite_where, log1p_at_zero


class _Step(NamedTuple):
    """By which parts y = r x / (1 + r x) exceeds r / (1 + r), and 1 - y exceeds 1 / (1 + r), and 1 + the second."""

    first: Node
    second: Node
    rest: Node


def _step(x: Node, ratio: Node) -> _Step:
    """(x - 1) / (1 + r x) and r (1 - x) / (1 + r x), by 1 / r where that is less, so that nothing overflows."""
    below, inverse = ratio < 1.0, 1.0 / ratio
    share = 1.0 / where(below, 1.0 + ratio * x, inverse + x)
    apart, least = (x - 1.0) * share, where(below, ratio, inverse)
    first, second = where(below, apart, apart * inverse), -where(below, apart * ratio, apart)
    return _Step(first, second, share + share * least)


def _less_log(step: Node, whole: Node) -> Node:
    """log(1 + step) - step, by 1 + step where that is the lesser and so the better known."""
    return less_log1p(where(whole < 0.5, whole - 1.0, step), log(whole))


def _excess(x: Node, ratio: Node) -> Node:
    step = _step(x, ratio)
    return _less_log(step.first, x * step.rest)


def _excess_of_rest(x: Node, ratio: Node) -> Node:
    step = _step(x, ratio)
    return _less_log(step.second, step.rest)


def _excess_partials(x: Node, ratio: Node, out: Node) -> tuple[Node, Node]:
    step, odds = _step(x, ratio).first, ratio * x
    return -step / (x * (1.0 + odds)), square(step) / (1.0 + ratio)


def _excess_of_rest_partials(x: Node, ratio: Node, out: Node) -> tuple[Node, Node]:
    step, odds = _step(x, ratio), ratio * x
    return step.second * (ratio / (1.0 + odds)), step.first * step.second / (1.0 + ratio)


RATIOS = ((0.05, 20.0), (0.1, 10.0))
f_excess: Primitive = primitive(  # log(1 + s) - s for s = (x - 1) / (1 + r x)
    "f_excess", 2, expand=_excess, partials=_excess_partials, floating=True, domain=RATIOS,
)
f_excess_of_rest: Primitive = primitive(  # the same for -r s
    "f_excess_of_rest", 2, expand=_excess_of_rest, partials=_excess_of_rest_partials, floating=True, domain=RATIOS,
)


def _decay(x: Node, a: Node, b: Node) -> Node:
    return a * f_excess(x, a / b) + b * f_excess_of_rest(x, a / b)


def _decay_partials(x: Node, a: Node, b: Node, out: Node) -> tuple[Node, Node, Node]:
    """Those in a and b are their factors: what these depend on by a / b cancels."""
    return -a * _step(x, a / b).first / x, f_excess(x, a / b), f_excess_of_rest(x, a / b)


# a log(y / m) + b log((1 - y) / (1 - m)) for y = r x / (1 + r x), m = r / (1 + r) and r = a / b
f_decay: Primitive = primitive(
    "f_decay", 3, expand=_decay, partials=_decay_partials, floating=True,
    domain=((0.05, 20.0), (0.5, 30.0), (0.5, 30.0)),
)


def _peak_partials(x: Node, a: Node, b: Node, out: Node) -> tuple[Node, Node, Node]:
    """That in x has a step whose product with a is next to -1 where x is next to 0."""
    ratio = a / b
    small = ((a - 1.0) / x - (a + ratio)) / (1.0 + ratio * x)
    of_x = where(x < 0.5, small, -(a * _step(x, ratio).first + 1.0) / x)
    return of_x, f_excess(x, ratio), f_excess_of_rest(x, ratio)


f_peak: Primitive = primitive(  # f_decay less log(x)
    "f_peak", 3, expand=lambda x, a, b: f_decay(x, a, b) - log(x), partials=_peak_partials,
    domain=((0.05, 20.0), (0.5, 30.0), (0.5, 30.0)),
)


def by_ratio(x: Node, p: Parameters) -> tuple[Node, ...]:
    """What the beta distribution function of r x / (1 + r x) is given, r = df1 / df2."""
    return const(RATIO, x.dtype), p.alpha, p.beta, const(1.0, x.dtype), x


class FisherSnedecor(Distribution):
    """F distribution, f(x) = r^(df1/2) x^(df1/2 - 1) (1 + r x)^(-(df1 + df2)/2) / B(df1/2, df2/2), r = df1/df2.

    Written ``FisherSnedecor(df1, df2)``; it is the distribution of the ratio of two mean squares.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 27.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(FisherSnedecor(2.0, 4.0), np.array([0.0, 2.0]))).round(4)
    array([ 0.    , -2.0794])
    """

    oracle = "scipy.stats.f(df1, df2)"

    @parametrisation(df1=positive, df2=positive)
    @staticmethod
    def by_df(df1: Node, df2: Node) -> dict[str, Node]:
        return {"df1": df1, "df2": df2, "alpha": 0.5 * df1, "beta": 0.5 * df2}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """The peak of a beta density, and by how much less it is at r x / (1 + r x); x may be 0 or huge."""
        at = where(x > 0.0, x, 1.0)
        inside = f_peak(at, p.alpha, p.beta) + log_beta_peak(p.alpha, p.beta)
        ratio = p.df1 / p.df2
        edge = xlogy(p.alpha - 1.0, x) + (p.alpha * (log(p.df1) - log(p.df2)) - lbeta(p.alpha, p.beta))
        return where(x > 0.0, inside, edge - (p.alpha + p.beta) * log1p_at_zero(ratio * x))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return exp(random.log_gamma(p.alpha) - random.log_gamma(p.beta)) * (p.df2 / p.df1)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.df2 <= 2.0, p.df2 / (p.df2 - 2.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        d = p.df2 - 2.0
        spread = 2.0 * square(p.df2 / d) * ((p.df1 + d) / p.df1) / (d - 2.0)
        return infinite_where(d <= 2.0, spread)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(p.df1 - 2.0, 0.0) / p.df1 * (p.df2 / (p.df2 + 2.0))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return beta_below(*by_ratio(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return beta_beyond(*by_ratio(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_beta_below(*by_ratio(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_beta_beyond(*by_ratio(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return odds_below(*by_ratio(q, p))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return odds_spread(p.alpha, p.beta) + 0.5 * log(1.0 / p.alpha + 1.0 / p.beta)
