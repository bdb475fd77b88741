"""Distribution functions of counts as functions of floats, and the quantiles that are found by bisecting them."""

from __future__ import annotations

from math import exp, expm1, inf, log, nan

from vecdist.distributions.count_quantiles import bisection
from vecdist.distributions.formulas import EULER
from vecdist.distributions.tail_sums import MOSTLY, draws_parts, ratio_sum
from vecdist.primitives.beta_tails import distance_from_mean, logarithm, prefactor
from vecdist.primitives.gamma_products import parts
from vecdist.primitives.scalar import log_less_digamma, tail
from vecdist.primitives.zeta import _zeta


def draws_mass(k: float, n: float, alpha: float, beta: float) -> float:
    """The mass at k of a beta-binomial distribution, or with negative alpha and beta of a hypergeometric one.

    Three factors like Γ(k + alpha) / (k! Γ(alpha)) or C(-alpha, k), each as a beta density at a point they share.
    """
    first, rest, whole, mass = alpha, beta, alpha + beta, nan
    if alpha <= 0.0:
        first, rest, whole = 1.0 - alpha - k, 1.0 - beta - (n - k), 1.0 - whole - n
    if first > 0.0 and rest > 0.0 and k >= 0.0 and n >= k and n > 0.0:
        x, y = n / (n + whole), whole / (n + whole)
        e1, rest1, f1 = prefactor(k, first, x, y, distance_from_mean(k, first, x, y))
        e2, rest2, f2 = prefactor(n - k, rest, x, y, distance_from_mean(n - k, rest, x, y))
        e3, rest3, f3 = prefactor(n, whole, x, y, distance_from_mean(n, whole, x, y))
        mass = exp((e1 + rest1) + (e2 + rest2) - (e3 + rest3)) * (f1 * f2 / f3)
    if alpha <= 0.0:
        mass /= whole / (n + whole) if n > 0.0 else 1.0
    return mass


def draws_cdf(k: float, n: float, alpha: float, beta: float) -> float:
    """That of both as ``log_tails`` has it: by the sum of the masses of the tail away from the mean, or an integral."""
    lower = k * (alpha + beta) < n * alpha if alpha > 0.0 else k * (alpha + beta) > n * alpha
    at, last, here, there = k, k, alpha, beta
    if not lower:
        at, last, here, there = k + 1.0, n - k - 1.0, beta, alpha
    y = 1.0
    if at <= n:
        total, _, _ = ratio_sum(last, n, here, there)
        known = draws_mass(at, n, alpha, beta) * total if total < inf else inf
        y = tail(lower, 0.0, known)
        if known > exp(MOSTLY):
            below, e, w, _, _ = draws_parts(k, n, alpha, beta)
            y = tail(below, e, w)
    return y


def beta_negative_binomial_cdf(k: float, r: float, alpha: float, beta: float) -> float:
    """As ``BetaNegativeBinomial`` has it."""
    more, e, w, _, _ = parts(alpha, k + 1.0, r, beta)
    return tail(more, e, w)


def yule_simon_cdf(k: float, alpha: float, _b: float, _c: float) -> float:
    """1 - Γ(k + 1) Γ(alpha + 1) / Γ(k + alpha + 1)."""
    y = nan
    if alpha > 0.0 and k >= 0.0:
        x, rest_of_x = alpha / (alpha + (k + 1.0)), (k + 1.0) / (alpha + (k + 1.0))
        e, rest, f = prefactor(alpha, k + 1.0, x, rest_of_x, distance_from_mean(alpha, k + 1.0, x, rest_of_x))
        y = -expm1(alpha * log(x) + ((k + 1.0) * logarithm(rest_of_x, x) - rest) - e - log(f))
    return y


def zipf_cdf(k: float, power: float, normaliser: float, _c: float) -> float:
    """As ``Zipf`` has it."""
    return 1.0 - _zeta(power, k + 1.0) / normaliser


def harmonic(n: float) -> float:
    """The sum of 1 / k up to n >= 0, DLMF 5.4.14."""
    return log(n + 1.0) - log_less_digamma(n + 1.0) + EULER if n > 1.0 else n


def soliton_cdf(k: float, most: float, m: float, spike: float) -> float:
    """That of ``Soliton``, with the sum of both parts of its masses; all counts are at least 1."""
    most, m, k = max(most, 1.0), max(m, 1.0), max(k, 1.0)
    whole = harmonic(m - 1.0) + spike
    robust = harmonic(k) if k < m else whole
    return (1.0 / most + (1.0 - 1.0 / k) + robust / m) / (1.0 + whole / m)


COUNT, BEYOND, NONE, SHAPE, Q = (9.0, 9.0), (90.0, 90.0), (0.0, 0.0), (0.6, 6.0), (0.02, 0.98)

draws_quantile = bisection("draws_quantile", draws_cdf, (COUNT, SHAPE, SHAPE, NONE, BEYOND, Q))
beta_negative_binomial_quantile = bisection(
    "beta_negative_binomial_quantile", beta_negative_binomial_cdf,
    ((2.0, 4.0), (6.0, 9.0), (2.0, 4.0), NONE, COUNT, (0.02, 0.5)),
)
yule_simon_quantile = bisection(
    "yule_simon_quantile", yule_simon_cdf, (SHAPE, NONE, NONE, (1.0, 1.0), (1e9, 1e9), Q)
)
zipf_quantile = bisection("zipf_quantile", zipf_cdf, ((2.0, 2.0), (1.645, 1.645), NONE, (1.0, 1.0), (1e9, 1e9), Q))
soliton_quantile = bisection("soliton_quantile", soliton_cdf, (COUNT, (4.0, 4.0), (0.2, 2.0), (1.0, 1.0), BEYOND, Q))
