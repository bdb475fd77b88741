"""Tails of counts of draws: short ones as sums of masses, each by its ratio to the one before, others by an integral.

The integral is that of ``gamma_products``, whose cost does not depend on the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf

from vecdist.distributions.base import Parameters
from vecdist.expr import Node, const, where
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.floating import width
from vecdist.primitives.gamma_products import parts
from vecdist.primitives.scalar import log_tail, log_tail_slope
from vecdist.primitives.table import no_derivatives, primitive

TERMS = 1000.0  # a sum of more takes longer than the integral
NOTHING = 1e-18
MOSTLY = -0.1  # the logarithm of a tail of which the rest is better known by the integral
LARGE = {8: 4e3, 4: 40.0}  # terms of which a mass is not made


def rounded(x: float) -> float:
    """The nearest whole number."""
    return floor(x + 0.5) if -1e15 < x < 1e15 else x


def ratio_sum(x: float, n: float, alpha: float, beta: float) -> tuple[float, float, float]:
    """The masses of a beta-binomial distribution up to x over that at x, and the derivatives in alpha and beta.

    A sum that would take more than ``TERMS`` is infinite.
    """
    x, n = rounded(x), rounded(n)
    total, of_alpha, of_beta = 1.0, 0.0, 0.0
    term, term_alpha, term_beta, k = 1.0, 0.0, 0.0, 0.0
    while x > 0.0 and k < TERMS and term > NOTHING * total:
        rise, fall = (alpha + x - 1.0) * (n - x + 1.0), beta + n - x
        step = x / rise if rise != 0.0 else 0.0
        r = step * fall
        term_alpha = r * (term_alpha - term * step * (n - x + 1.0) / x)
        term_beta = r * term_beta + step * term
        term *= r
        total += term
        of_alpha += term_alpha
        of_beta += term_beta
        x -= 1.0
        k += 1.0
    if x > 0.0 and term > NOTHING * total:
        total = inf
    return total, of_alpha, of_beta


def _beta_binomial_sum(x: float, n: float, alpha: float, beta: float) -> float:
    total, _, _ = ratio_sum(x, n, alpha, beta)
    return total


def _beta_binomial_sum_da(x: float, n: float, alpha: float, beta: float) -> float:
    _, slope, _ = ratio_sum(x, n, alpha, beta)
    return slope


def _beta_binomial_sum_db(x: float, n: float, alpha: float, beta: float) -> float:
    _, _, slope = ratio_sum(x, n, alpha, beta)
    return slope


COMMON = {"floating": True, "domain": ((4.0, 4.0), (9.0, 9.0), (0.6, 6.0), (0.6, 6.0))}

beta_binomial_sum_da = primitive(
    "beta_binomial_sum_da", 4, routine=_beta_binomial_sum_da, tangent=no_derivatives("beta_binomial_sum_da"), **COMMON,
)
beta_binomial_sum_db = primitive(
    "beta_binomial_sum_db", 4, routine=_beta_binomial_sum_db, tangent=no_derivatives("beta_binomial_sum_db"), **COMMON,
)
beta_binomial_sum = primitive(
    "beta_binomial_sum", 4, routine=_beta_binomial_sum,
    partials=lambda x, n, alpha, beta, out: (
        None, None, beta_binomial_sum_da(x, n, alpha, beta), beta_binomial_sum_db(x, n, alpha, beta)
    ),
    **COMMON,
)


def draws_parts(k: float, n: float, alpha: float, beta: float) -> tuple[bool, float, float, float, float]:
    """The lower tail (True) or the upper one as exp(e) w, and exp(e) times its slopes in alpha and beta.

    No more than k successes is a beta variable of alpha and beta below one of k + 1 and n - k.  In the hypergeometric
    distribution the failures before success number k + 1 are such a count, and so are more than n - k - 1.
    """
    k, n = rounded(k), rounded(n)
    sign, a, c = 1.0, beta, alpha
    if alpha <= 0.0:
        sign, a, c = -1.0, (k - beta) - (n - 1.0), -alpha - k
    lower, e, w, slope_a, slope_c = parts(a, k + 1.0, c, n - k)
    return lower, e, w, sign * slope_c, sign * slope_a


def _log_draws_tail(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, _, _ = draws_parts(k, n, alpha, beta)
    return log_tail(lower == (below > 0.0), e, w)


def _log_draws_tail_da(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, slope, _ = draws_parts(k, n, alpha, beta)
    return log_tail_slope(lower == (below > 0.0), e, w, slope)


def _log_draws_tail_db(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, _, slope = draws_parts(k, n, alpha, beta)
    return log_tail_slope(lower == (below > 0.0), e, w, slope)


SIDED = {"floating": True, "domain": ((1.0, 1.0), *COMMON["domain"])}

log_draws_tail_da = primitive(
    "log_draws_tail_da", 5, routine=_log_draws_tail_da, tangent=no_derivatives("log_draws_tail_da"), **SIDED,
)
log_draws_tail_db = primitive(
    "log_draws_tail_db", 5, routine=_log_draws_tail_db, tangent=no_derivatives("log_draws_tail_db"), **SIDED,
)
log_draws_tail = primitive(  # of the lower tail where the first is 1, of the upper one where it is 0; NaN for k = -1
    "log_draws_tail", 5, routine=_log_draws_tail,
    partials=lambda below, k, n, alpha, beta, out: (
        None, None, None, log_draws_tail_da(below, k, n, alpha, beta), log_draws_tail_db(below, k, n, alpha, beta)
    ),
    **SIDED,
)


def log_tails(
    x: Node, n: Node, alpha: Node, beta: Node, log_mass: Callable[[Node], Node], size: Node | float = 0.0
) -> tuple[Node, Node]:
    """The logarithms of the tails of a beta-binomial distribution, by that away from the mean.

    With -alpha successes and -beta failures it is the hypergeometric distribution of n draws.  ``size`` is that of the
    terms of ``log_mass``, which knows few digits where they are large.
    """
    first = x < n * (alpha / (alpha + beta))
    total = beta_binomial_sum(
        where(first, x, n - x - 1.0), n, where(first, alpha, beta), where(first, beta, alpha)
    )
    known = log_mass(where(first, x, x + 1.0)) + log(total)
    rest = log1p(-exp(known))
    below, beyond = const(1.0, x.dtype), const(0.0, x.dtype)
    short = (total < inf) & ~(known > MOSTLY) & (beyond + size < LARGE[width(x)])
    at = where(short, -1.0, x)  # of which nothing is computed where it is not needed
    return (
        where(short, where(first, known, rest), log_draws_tail(below, at, n, alpha, beta)),
        where(short, where(first, rest, known), log_draws_tail(beyond, at, n, alpha, beta)),
    )


class ByLogTails:
    """The four distribution functions of a family that states ``log_tails(x, p)``: the logarithms of both tails."""

    log_tails: Callable[[Node, Parameters], tuple[Node, Node]]

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return exp(cls.log_tails(x, p)[0])

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return exp(cls.log_tails(x, p)[1])

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.log_tails(x, p)[0]

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls.log_tails(x, p)[1]
