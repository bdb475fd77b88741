"""Tails of counts of draws, away from the mean: short ones as sums of masses, others by an integral.

Each mass follows from the one before by their ratio.  The integral is that of ``gamma_products``, whose cost does not
depend on the counts.  With -alpha successes and -beta failures the beta-binomial distribution is the hypergeometric one
of n draws, so that one routine has both.
"""

from __future__ import annotations

from math import exp, floor, inf, log, nan
from typing import Any

from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node, const
from vecdist.graph.shapes import broadcast
from vecdist.primitives.elementary import exp as exponential
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.beta_tails import digamma_gap, distance_from_mean, prefactor
from vecdist.special.gamma_products import parts
from vecdist.special.scalar import log_tail, log_tail_slope

TERMS = 1000.0  # a sum of more takes longer than the integral
NOTHING = 1e-18
MOSTLY = 0.9  # a tail of which the rest is better known by the integral


def rounded(x: float) -> float:
    """The nearest whole number."""
    return floor(x + 0.5) if -1e15 < x < 1e15 else x


def ratio_sum(x: float, n: float, alpha: float, beta: float) -> tuple[float, float, float]:
    """The masses of a beta-binomial distribution up to x over that at x, and the derivatives in alpha and beta.

    A sum that would take more than ``TERMS`` is infinite.
    """
    total, of_alpha, of_beta = 1.0, 0.0, 0.0
    term, term_alpha, term_beta, k = 1.0, 0.0, 0.0, 0.0
    while x > 0.0 and k < TERMS and term > NOTHING * total:
        rise, fall = (alpha + (x - 1.0)) * (n - x + 1.0), beta + (n - x)
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


def gaps(a: float, b: float, x: float, y: float) -> float:
    """The derivative of log B(a + x, b + y) - log B(a, b) in a: of the two pairs of gaps that with the smaller ones."""
    narrow = b < x
    first, second = (b, y + b) if narrow else (x, x + y)
    return digamma_gap(a, first) - digamma_gap(a + x if narrow else a + b, second)


def mass(k: float, n: float, alpha: float, beta: float) -> tuple[float, float, float, float]:
    """The mass at k as exp(e) f, and the derivatives of its logarithm in alpha and beta.

    Three factors like Γ(k + alpha) / (k! Γ(alpha)) or C(-alpha, k), each as a beta density at a point they share.
    """
    sign, first, rest, whole, less = 1.0, alpha, beta, alpha + beta, 0.0
    e, f, of_alpha, of_beta = 0.0, nan, nan, nan
    if alpha <= 0.0:
        sign, first, rest, whole, less = -1.0, 1.0 - alpha - k, 1.0 - beta - (n - k), 1.0 - whole - n, 1.0
    if first > 0.0 and rest > 0.0 and k >= 0.0 and n >= k and n > 0.0:
        x, y = n / (n + whole), whole / (n + whole)
        e1, rest1, f1 = prefactor(k, first, x, y, distance_from_mean(k, first, x, y))
        e2, rest2, f2 = prefactor(n - k, rest, x, y, distance_from_mean(n - k, rest, x, y))
        e3, rest3, f3 = prefactor(n, whole, x, y, distance_from_mean(n, whole, x, y))
        e, f = (e1 + rest1) + (e2 + rest2) - (e3 + rest3), f1 * f2 / f3
        f /= y if alpha <= 0.0 else 1.0
        of_alpha = sign * gaps(first, rest - less, k, n - k)
        of_beta = sign * gaps(rest, first - less, n - k, k)
    return e, f, of_alpha, of_beta


def _log_mass(k: float, n: float, alpha: float, beta: float) -> float:
    e, f, _, _ = mass(k, n, alpha, beta)
    return e + log(f) if f > 0.0 else f


def draws_integral(k: float, n: float, alpha: float, beta: float) -> tuple[bool, float, float, float, float]:
    """The lower tail (True) or the upper one as exp(e) w, and exp(e) times its slopes in alpha and beta.

    No more than k successes is a beta variable of alpha and beta below one of k + 1 and n - k.  In the hypergeometric
    distribution the failures before success number k + 1 are such a count, and so are more than n - k - 1.
    """
    sign, a, c = 1.0, beta, alpha
    if alpha <= 0.0:
        sign, a, c = -1.0, (k - beta) - (n - 1.0), -alpha - k
    lower, e, w, slope_a, slope_c = parts(a, k + 1.0, c, n - k)
    return lower, e, w, sign * slope_c, sign * slope_a


def draws_tail(k: float, n: float, alpha: float, beta: float) -> tuple[bool, float, float, float, float]:
    """As ``draws_integral``, by a sum where that is short and the tail not nearly all."""
    k, n = rounded(k), rounded(n)
    lower = k * (alpha + beta) < n * alpha if alpha > 0.0 else k * (alpha + beta) > n * alpha
    at, last, here, there = k, k, alpha, beta
    if not lower:
        at, last, here, there = k + 1.0, n - k - 1.0, beta, alpha
    e, w, of_alpha, of_beta = 0.0, 0.0, 0.0, 0.0
    if not at > (n if alpha > 0.0 else min(n, -alpha)):
        total, of_here, of_there = ratio_sum(last, n, here, there)
        e, f, slope_alpha, slope_beta = mass(at, n, alpha, beta)
        w = f * total
        of_alpha = f * ((of_here if lower else of_there) + total * slope_alpha)
        of_beta = f * ((of_there if lower else of_here) + total * slope_beta)
        if total == inf or exp(min(e, 0.0)) * w > MOSTLY:
            lower, e, w, of_alpha, of_beta = draws_integral(k, n, alpha, beta)
    return lower, e, w, of_alpha, of_beta


def _log_draws_tail(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, _, _ = draws_tail(k, n, alpha, beta)
    return log_tail(lower == (below > 0.0), e, w)


def _log_draws_tail_da(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, slope, _ = draws_tail(k, n, alpha, beta)
    return log_tail_slope(lower == (below > 0.0), e, w, slope)


def _log_draws_tail_db(below: float, k: float, n: float, alpha: float, beta: float) -> float:
    lower, e, w, _, slope = draws_tail(k, n, alpha, beta)
    return log_tail_slope(lower == (below > 0.0), e, w, slope)


COMMON: Any = {"floating": True, "domain": ((1.0, 1.0), (4.0, 4.0), (9.0, 9.0), (0.6, 6.0), (0.6, 6.0))}

log_draws_tail_da: Primitive = primitive(
    "log_draws_tail_da", 5, routine=_log_draws_tail_da, tangent=no_derivatives("log_draws_tail_da"), **COMMON,
)
log_draws_tail_db: Primitive = primitive(
    "log_draws_tail_db", 5, routine=_log_draws_tail_db, tangent=no_derivatives("log_draws_tail_db"), **COMMON,
)
# of the lower tail where the first argument is 1, of the upper one where it is 0
log_draws_tail: Primitive = primitive(
    "log_draws_tail", 5, routine=_log_draws_tail,
    partials=lambda below, k, n, alpha, beta, out: (
        None, None, None, log_draws_tail_da(below, k, n, alpha, beta), log_draws_tail_db(below, k, n, alpha, beta)
    ),
    **COMMON,
)


primitive("far_draws_log_mass", 6, routine=_log_mass, seldom=True)


def far_log_mass(far: Node, k: Node, n: Node, alpha: Node, beta: Node, usual: Node) -> Node:
    """The logarithm of the mass at k where it is ``far``, which is seldom, and the usual one elsewhere."""
    shape = broadcast([each.shape for each in (far, k, n, alpha, beta, usual)])
    return Node("far_draws_log_mass", (far, k, n, alpha, beta, usual), (), shape, k.dtype)


class OfDraws:
    """The four distribution functions of a family that states ``urn(p)``: n, alpha and beta."""

    @staticmethod
    def urn(p: Parameters) -> tuple[Node, Node, Node]:
        raise NotImplementedError(
            "the tails of a family of draws are those of an urn: give the family a static method urn(p), which returns "
            "the number of draws n and the shapes alpha and beta of the chance of each"
        )

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return exponential(cls.log_cdf(x, p))

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return exponential(cls.log_sf(x, p))

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return log_draws_tail(const(1.0, x.dtype), x, *cls.urn(p))

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return log_draws_tail(const(0.0, x.dtype), x, *cls.urn(p))
