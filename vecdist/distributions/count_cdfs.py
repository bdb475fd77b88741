"""Distribution functions of counts as functions of floats, and the quantiles that are found by bisecting them."""

from __future__ import annotations

from math import exp, expm1, log, nan

from vecdist.distributions.tail_sums import NOTHING, draws_tail
from vecdist.primitives.table import Primitive
from vecdist.special.beta_tails import distance_from_mean, logarithm, prefactor
from vecdist.special.count_quantiles import bisection
from vecdist.special.formulas import EULER
from vecdist.special.gamma_products import parts
from vecdist.special.log_concave_draws import log_power_of_poisson
from vecdist.special.scalar import log_less_digamma, tail
from vecdist.special.zeta import _zeta

MOST = 100_000  # masses of a sum
FEW = 64.0  # counts up to which their masses take less than an integral


def draws_cdf(k: float, n: float, alpha: float, beta: float) -> float:
    """As ``BetaBinomial`` and ``Hypergeometric`` have it."""
    lower, e, w, _, _ = draws_tail(k, n, alpha, beta)
    return tail(lower, e, w)


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


def conway_maxwell_poisson_cdf(k: float, log_rate: float, nu: float, log_total: float) -> float:
    """By the masses on the side of k where they fall, over that next to it; ``log_total`` is that of all.

    What would take more than ``MOST`` of them is NaN.
    """
    lower = k < exp(min(log_rate / nu, 700.0)) - 1.0
    at = k if lower else k + 1.0
    total, term, j, n = 1.0, 1.0, at, 0
    while j >= 1.0 and term > NOTHING * total and n < MOST:
        n += 1
        term *= exp(min(nu * log(j) - log_rate if lower else log_rate - nu * log(j + 1.0), 700.0))
        j += -1.0 if lower else 1.0
        total += term
    share = total * exp(min(log_power_of_poisson(at, log_rate, nu) - log_total, 0.0)) if n < MOST else nan
    return share if lower else 1.0 - share


def zipf_cdf(k: float, power: float, normaliser: float, _c: float) -> float:
    """As ``Zipf`` has it."""
    return 1.0 - _zeta(power, k + 1.0) / normaliser


def log_series_cdf(k: float, log_p: float, log_total: float, _c: float) -> float:
    """As ``LogSeries`` has it, with the sum of its integral from the upper end down; up to ``FEW`` by the masses."""
    v, total, term, steps = log(42.0 / (k + 1.0)), 0.0, 1.0, 0
    if k <= FEW:
        p = exp(log_p)
        while steps < k:
            steps += 1
            total += term / steps
            term *= p
        share = min(total * exp(-log_total), 1.0)
    else:
        n = k + 1.0
        while (n * exp(v) > 1.0 or term > NOTHING * total) and steps < MOST:
            t = exp(v)
            term = t * exp(-n * t) / -expm1(log_p - t)
            total += 0.25 * term
            v -= 0.25
            steps += 1
        share = -expm1(min(k * log_p + log(total) - log_total, 0.0))
    return share


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

draws_quantile: Primitive = bisection("draws_quantile", draws_cdf, (COUNT, SHAPE, SHAPE, NONE, BEYOND, Q))
beta_negative_binomial_quantile: Primitive = bisection(
    "beta_negative_binomial_quantile", beta_negative_binomial_cdf,
    ((2.0, 4.0), (6.0, 9.0), (2.0, 4.0), NONE, COUNT, (0.02, 0.5)),
)
yule_simon_quantile: Primitive = bisection(
    "yule_simon_quantile", yule_simon_cdf, (SHAPE, NONE, NONE, (1.0, 1.0), (1e9, 1e9), Q)
)
conway_maxwell_poisson_quantile: Primitive = bisection(
    "conway_maxwell_poisson_quantile", conway_maxwell_poisson_cdf,
    ((0.5, 2.0), (0.8, 1.2), NONE, NONE, BEYOND, (0.02, 0.98)),
)
log_series_quantile: Primitive = bisection(
    "log_series_quantile", log_series_cdf, ((-0.5, -0.1), (0.3, 0.5), NONE, (1.0, 1.0), BEYOND, Q),
)
zipf_quantile: Primitive = bisection(
    "zipf_quantile", zipf_cdf, ((2.0, 2.0), (1.645, 1.645), NONE, (1.0, 1.0), (1e9, 1e9), Q),
)
soliton_quantile: Primitive = bisection(
    "soliton_quantile", soliton_cdf, (COUNT, (4.0, 4.0), (0.2, 2.0), (1.0, 1.0), BEYOND, Q),
)
