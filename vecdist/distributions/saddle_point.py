"""Masses of counts by the deviance and the error of Stirling's formula, which do not cancel however large the counts.

Loader (2000), Fast and accurate computation of binomial probabilities.  These cost more than sums of logarithms of
factorials, and their sum over many data does not fall apart into sums of data alone: they are for families that add
masses of counts up with others.
"""

import math

from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import LOG_EXCESS, polynomial, width
from vecdist.primitives.logarithms import LN2_PARTS
from vecdist.primitives.rounding import product_rest, sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import digamma, log_choose
from vecdist.special.formulas import times
from vecdist.special.gamma_differences import lbeta_of_count
from vecdist.special.gamma_functions import DIGAMMA, LGAMMA

LOG_TWO_PI = math.log(2 * math.pi)
OF_ONE, OF_TWO = 0.08106146679532726, 0.0413406959554093  # what Stirling's formula lacks of log 1! and log 2!
SERIES = 3.0  # from where its error is a series
MUCH_LESS = -0.9  # a relative difference that leaves few digits of what is left


def _stirling_error(k: Node) -> Node:
    r = 1.0 / k
    return where(k < 1.5, OF_ONE, where(k < 2.5, OF_TWO, r * polynomial(r * r, LGAMMA[width(k)])))


def _stirling_slope(k: Node) -> Node:
    """digamma(k) - log k + 1 / (2 k), DLMF 5.11.2."""
    v = square(1.0 / k)
    return where(k < SERIES, digamma(k) - log(k) + 0.5 / k, -v * polynomial(v, DIGAMMA[width(k)]))


# log k! - (k + 1/2) log k + k - log(2 pi) / 2 for k = 1, k = 2 and k >= 3, DLMF 5.11.1
stirling_error: Primitive = primitive(
    "stirling_error", expand=_stirling_error, partials=lambda k, out: (_stirling_slope(k),), floating=True,
    domain=((3.2, 60.0),),
)


def _near_excess(e: Node) -> tuple[Node, Node]:
    """Where log(1 + e) is not far from e; there, for 1 + e = 2^k (1 + g), k log 2 + g - e and the series in g."""
    up, down, twice = e > 0.41, e < -0.34, e < -0.645
    one, (high, low) = const(1.0, e.dtype), LN2_PARTS[width(e)]
    k = where(up, one, where(twice, -2.0, where(down, -one, 0.0)))
    slope = where(up, -0.5 * one, where(twice, 3.0, where(down, one, 0.0)))  # 2^-k - 1
    near, exact = (e > -0.82) & (e < 1.8), where(twice, 2.0, slope)
    g = where(near, (slope + 1.0) * e + slope, 0.0)
    linear = ((k * high + slope) + exact * e) + (slope - exact) * e  # no product by 3, which would be rounded
    series = square(g) * polynomial(g, LOG_EXCESS[width(e)])
    return near, linear + (series + k * low)


def less_log1p(e: Node, logarithm: Node) -> Node:
    """log(1 + e) - e, given log(1 + e)."""
    near, excess = _near_excess(e)
    return where(near, excess, logarithm - e)


log1p_excess: Primitive = primitive(  # log(1 + e) - e
    "log1p_excess", expand=lambda e: less_log1p(e, log1p(e)), partials=lambda e, out: (-e / (1.0 + e),), floating=True,
    domain=((-0.9, 4.0),),
)


def _less_deviance(k: Node, away: Node, log_ratio: Node) -> Node:
    """k log(m / k) - (m - k) for m = k + away; the logarithm is given for where m is the much smaller."""
    e = away / k
    less = e < MUCH_LESS
    return where(less, k * log_ratio - away, k * log1p_excess(where(less, 0.0, e)))


def _rate_deviance(k: Node, rate: Node, log_rate: Node) -> Node:
    """With one logarithm where the ratio is far from 1, that of the rate where it is much the smaller."""
    away = rate - k
    e = away / k
    near, excess = _near_excess(e)
    return where(near, k * excess, k * where(e < MUCH_LESS, log_rate - log(k), log1p(e)) - away)


def _rate_deviance_partials(k: Node, rate: Node, log_rate: Node, out: Node) -> tuple[Node, Node, Node]:
    """Those in the rate share its reciprocal with the derivative of its logarithm."""
    less = (rate - k) / k < MUCH_LESS
    return log_rate - log(k), where(less, -1.0, (k - rate) * (1.0 / rate)), where(less, k, 0.0)


# k log(m / k) - (m - k) of a rate m > 0, of which the logarithm is given beside it
rate_deviance: Primitive = primitive(
    "rate_deviance", 3, expand=_rate_deviance, partials=_rate_deviance_partials, floating=True,
    domain=((25.0, 30.0), (1.9, 2.1), (0.6, 0.8)),
)


def poisson(x: Node, p: Parameters) -> Node:
    """The log mass of the Poisson distribution."""
    at_zero = eq(x, 0.0)
    k = where(at_zero, 1.0, x)
    body = rate_deviance(k, p.rate, p.log_rate) - stirling_error(k) - 0.5 * (log(k) + LOG_TWO_PI)
    return where(at_zero, -p.rate, body)


def binomial(x: Node, p: Parameters) -> Node:
    """The log mass of the binomial distribution; n p - x by the lesser of p and q = 1 - p."""
    inside = (x > 0.0) & (x < p.n)
    k, rest, n = where(inside, x, 1.0), where(inside, p.n - x, 1.0), where(inside, p.n, 2.0)
    below, above = (n * p.p - k) + product_rest(n, p.p), (rest - n * p.q) - product_rest(n, p.q)
    away, log_k, log_rest, log_n = where(p.p < 0.5, below, above), log(k), log(rest), log(n)
    body = _less_deviance(k, away, log_n + p.log_p - log_k) + _less_deviance(rest, -away, log_n + p.log_q - log_rest)
    body = body + (stirling_error(n) - stirling_error(k) - stirling_error(rest))
    choices = where(eq(x, 0.0), 0.0, log_choose(p.n, x))  # one, whose slope in n is not 0 where x is n
    edge = times(x, p.log_p) + times(p.n - x, p.log_q) + choices
    return where(inside, body + 0.5 * (log_n - log_k - log_rest - LOG_TWO_PI), edge)


def negative_binomial(x: Node, p: Parameters) -> Node:
    """The log mass of the negative binomial distribution; that of few successes by the beta function."""
    many = (x > 0.0) & (p.r >= SERIES)
    k, r = where(many, x, 1.0), where(many, p.r, SERIES)
    total, lost = r + k, sum_rest(r, k)
    below = (total * p.p - r) + (product_rest(total, p.p) + lost * p.p)
    above = (k - total * p.q) - (product_rest(total, p.q) + lost * p.q)
    away, log_k, log_r, log_total = where(p.p < 0.5, below, above), log(k), log(r), log(total)
    body = _less_deviance(r, away, log_total + p.log_p - log_r) + _less_deviance(k, -away, log_total + p.log_q - log_k)
    body = body + (stirling_error(total) - stirling_error(k) - stirling_error(r))
    few = times(x, p.log_q) + p.r * p.log_p - where(eq(x, 0.0), 0.0, lbeta_of_count(p.r, x + 1.0) + log(p.r + x))
    return where(many, body + 0.5 * (log_r - log_total - log_k - LOG_TWO_PI), few)


def lost_at_no_success(p: Parameters) -> Node:
    """What rounding takes from n log q, as far as the parametrisation knows what it has taken from log q."""
    return product_rest(p.n, p.log_q) + p.n * vars(p).get("log_q_lost", 0.0)


def lost_at_no_failure(p: Parameters) -> Node:
    """What rounding takes from r log p, as far as the parametrisation knows what it has taken from log p."""
    return product_rest(p.r, p.log_p) + p.r * vars(p).get("log_p_lost", 0.0)
