"""Draws of when and where Brownian motion leaves an interval: exact, by the series of its exits from a middle.

From the middle of an interval of half a length 1, the drift z changes the density of the time by exp(-z^2 t / 2) and a
constant, and where the exit is does not depend on when.  Devroye's alternating series decide on proposals:
Polson, Scott and Windle (2013), Bayesian inference for logistic models using Pólya-Gamma latent variables, Journal of
the American Statistical Association 108, section 4 and the supplement.
"""

from __future__ import annotations

from math import cos, exp, inf, log, nan, pi, sqrt

from vecdist.primitives.table import Primitive
from vecdist.special.draws import TRIES, drawn, uniforms

CHANGE = 0.64  # where the terms of either series fall alike
TERMS = 20  # more than are ever looked at
HOPS = 1100  # more than doublings of any distance take


def proposal(z: float, share: float, u: float, v: float, w: float) -> tuple[float, float]:
    """A time by the leading terms of both series, and with which probability it is kept, by four uniform numbers.

    After ``CHANGE`` it is exponential; before, one over the square of a normal variable beyond ``edge`` (Marsaglia
    1964, Technometrics 6), or for much drift an inverse Gaussian variable (Michael, Schucany and Haas 1976).
    """
    rise, edge, kept = pi * pi / 8.0 + 0.5 * z * z, 1.0 / sqrt(CHANGE), 1.0
    late = pi / (2.0 * rise) * exp(-min(rise * CHANGE - (z if z >= 1.0 else 0.0), 700.0))
    early = 2.0 if z >= 1.0 else 4.0 * exp(-0.5 / CHANGE) / (sqrt(2.0 * pi) * edge)
    if share * (early + late) < late:
        t = CHANGE - log(u) / rise
    elif z < 1.0:
        n = sqrt(edge * edge - 2.0 * log(u))
        t = 1.0 / (n * n)
        kept = edge / n * exp(-0.5 * z * z * t)
    else:
        turn = cos(2.0 * pi * v)
        half = -log(u) * turn * turn
        t = 1.0 / (z + half + sqrt(half * (half + 2.0 * z)))
        if w * (1.0 + t * z) >= 1.0:
            t = 1.0 / (z * t * z)
        kept = 1.0 if t < CHANGE else 0.0
    return t, kept


def within_series(t: float, y: float) -> bool:
    """Whether y is below the alternating sum of a series over its first term."""
    fall = exp(-2.0 / max(t, 1e-300)) if t < CHANGE else exp(-0.5 * pi * pi * t)
    total, n, settled = 1.0, 0, False
    while not settled and n < TERMS:
        n += 1
        term = (2.0 * n + 1.0) * fall ** (n * n + n)
        if n % 2 == 1:
            total -= term
            settled = y <= total
        else:
            total += term
            settled = y > total
    return y <= total


def exit_time(low: float, high: float, place: float, tag: float, first: float, z: float) -> float:
    """The time of an exit at distance 1 from the middle, with the drift z >= 0, by tries from the ``first`` on."""
    t, turn = nan, 0.0
    while turn < 2.0 * TRIES and 0.0 <= z < inf:
        share, y, w = uniforms(low, high, place, tag, first + turn)
        u, v, other = uniforms(low, high, place, tag, first + turn + 1.0)
        turn += 2.0
        t, kept = proposal(z, share, u, v, other)
        if w < kept and within_series(t, y):
            turn = inf
    return t


def _passage(low: float, high: float, place: float, tag: float, beta: float, drift: float) -> float:
    """When the upper end of (0, 1) is reached from beta, infinite if the lower one is reached before.

    From the middle of the largest interval about where it is, again and again.
    """
    below, above, t, hop = beta, 1.0 - beta, 0.0, 0.0
    while hop < HOPS and below > 0.0 and above > 0.0:
        first = hop * (2.0 * TRIES + 1.0)
        step = min(below, above)
        up, _, _ = uniforms(low, high, place, tag, first)
        t += step * step * exit_time(low, high, place, tag, first + 1.0, abs(drift) * step)
        if up * (1.0 + exp(min(-2.0 * drift * step, 700.0))) < 1.0:
            below, above = below + step, above - step
        else:
            below, above = below - step, above + step
        hop += 1.0
    return inf if below <= 0.0 else t


passage_draw: Primitive = drawn("passage draw", 2, _passage)
