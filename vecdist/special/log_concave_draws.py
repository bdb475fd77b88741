"""Draws of counts whose masses are log-concave, by the mass at their mode alone.

At a distance d from the mode the mass is at most min(1, exp(1 - d p)) times that there, p: Devroye (1987), A simple
generator for discrete log-concave distributions, Computing 39.  Not five tries are needed, whatever the distribution.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, nan

from vecdist.primitives.table import Primitive
from vecdist.special.draws import TRIES, drawn, log_poisson, uniforms, whole

MOST = 4.0 * TRIES  # four tries in five fail at the most
TINY, HUGE = 1e-290, 1e15  # a mean that is next to 0; and one that has no neighbours


def log_power_of_poisson(k: float, log_rate: float, nu: float) -> float:
    """The logarithm of rate^k / k!^nu, less nu m for the m whose power is the rate."""
    log_m = log_rate / nu
    small = log_m < log(TINY)
    return k * log_rate - nu * lgamma(k + 1.0) if small else nu * log_poisson(k, exp(min(log_m, 700.0)))


def _power_of_poisson(
    low: float, high: float, place: float, tag: float, log_rate: float, nu: float, peak: float
) -> float:
    """A count of mass rate^k / k!^nu, whose mode has the mass ``peak``."""
    k, turn, mode, most, shoulder = nan, inf, 0.0, 0.0, 1.0 + 0.5 * peak
    if nu > 0.0 and -inf < log_rate < log(HUGE) * nu and peak > 0.0:
        mode, turn = whole(exp(log_rate / nu)), 0.0
        k, most = mode, log_power_of_poisson(mode, log_rate, nu)
    while turn < MOST:
        u, v, w = uniforms(low, high, place, tag, turn)
        turn += 1.0
        side, share = (1.0, 2.0 * u) if u < 0.5 else (-1.0, 2.0 * u - 1.0)
        away = (v * shoulder if share * (1.0 + shoulder) < shoulder else shoulder - log(v)) / peak
        j = mode + side * whole(away + 0.5)
        if 0.0 <= j < HUGE:
            bar = log(w) + min(0.0, shoulder - peak * away)
            if bar <= log_power_of_poisson(j, log_rate, nu) - most:
                k = j
                turn = inf
    return k


power_of_poisson_draw: Primitive = drawn("power of poisson draw", 3, _power_of_poisson)
