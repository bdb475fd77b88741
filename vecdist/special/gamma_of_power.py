"""Derivatives in a of the gamma distribution function at x = z**(1 / a) or x = a z**(1 / a), for a constant z.

P(a, x) is near z / gamma(a + 1) or that times a**a: the distance z counts and not x, whose logarithm is large for a
small a and would cancel.  The first argument is 0 or 1 for one or the other, then come those of ``gamma_of_log``: a,
and log(x / a) in two parts.
"""

from __future__ import annotations

from math import exp, expm1, inf, log
from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives import elementary
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.gamma_functions import digamma
from vecdist.special.gamma_of_log import (
    COMMON,
    FAR,
    gamma_below_slope,
    log_gamma_beyond_slope,
    parts,
    prefactor,
    quadrature,
    within,
)
from vecdist.special.incomplete_gamma import LARGE
from vecdist.special.scalar import LEAST, log_less_digamma, log_tail_slope, reciprocal_gamma, tail_slope


def digamma_beyond(a: float) -> float:
    """digamma(a + 1), DLMF 5.5.2."""
    shifted = a + 4.0
    return log(shifted) - log_less_digamma(shifted) - (1.0 / (a + 1.0) + 1.0 / (a + 2.0) + 1.0 / (a + 3.0))


def of_series(a: float, x: float, log_x: float, score: float) -> float:
    """That of log(P), P as the power series DLMF 8.11.4; ``log_x`` is for a constant z, ``score`` that at z = 0."""
    term, term_slope, beyond, slope = 1.0, 0.0, 0.0, 0.0
    n = 1.0
    while n < 300.0 and term > 1e-17 * (1.0 + beyond):
        r = 1.0 / (a + n)
        term_slope = (term_slope - term * r) * (x * r)
        term = term * (x * r)
        slope += term_slope
        beyond += term
        n += 1.0
    return (log_x * beyond + slope) / (1.0 + beyond) + score


def of_small(a: float, x: float, log_x: float, score: float) -> float:
    """That of P for a < 1 and x < 1, over z / gamma(a + 1): the derivative of DLMF 8.7.1."""
    power, total, square = 1.0, 0.0, 0.0
    n = 1.0
    while n < 30.0 and abs(power) > 1e-18:
        power *= -x / n
        r = 1.0 / (a + n)
        total += power * r
        square += power * (n * r * r)
        n += 1.0
    return square - log_x * (expm1(-x) - a * total) + (1.0 + a * total) * score


def by_quadrature(a: float, rest: float, u: float, growth: float) -> float:
    """exp(-e) times that of Q for a constant x / a: next to the mean, where the terms of the series cancel."""
    away = expm1(u) + growth * rest
    _, f, slope = prefactor(a, rest, u, away, growth)
    w, derivative = quadrature(a, a * (growth + growth * rest), away, 1.0)
    return f * a * (w * slope + derivative)


def held(mean: float, a: float, rest: float, u: float) -> tuple[bool, float, float, float]:
    """One of P (``lower``) and Q as exp(e) w, and exp(e) times its slope in a for a constant z."""
    lower, e, w, slope, slope_x = parts(a, rest, u)
    if within(a, u):
        log_a, growth = log(a), exp(u)
        x, log_x = a * (growth + growth * rest), u + (log_a + rest)
        moved, score = log_x + 1.0, -digamma_beyond(a)
        if mean > 0.5:
            moved = u + rest
            score = log_a + 1.0 + score if a < LEAST else 1.0 - 1.0 / a + log_less_digamma(a)
        if a < 1.0 and x < 1.0 and not lower:
            slope = -exp(a * log_x) * reciprocal_gamma(a) * of_small(a, x, moved - 1.0, score)
        elif lower and LEAST <= a < LARGE and u > -0.5:
            slope = -by_quadrature(a, rest, u, growth) - slope_x * (moved / a)
        elif lower and (a < LARGE or x < 1.0):
            slope = w * of_series(a, x, moved - 1.0, score)
        else:
            slope -= slope_x * (moved / a)
    elif a > 0.0 and not lower:
        slope = slope_x * (-u / a if mean > 0.5 else -(u + log(a)) / a)
    return lower, e, w, slope


def _gamma_power_da(mean: float, a: float, rest: float, u: float) -> float:
    lower, e, _, slope = held(mean, a, rest, u)
    return tail_slope(lower, e, slope) if within(a, u) or not u >= FAR else 0.0


def _log_gamma_power_da(mean: float, a: float, rest: float, u: float) -> float:
    lower, e, w, slope = held(mean, a, rest, u)
    return log_tail_slope(not lower, e, w, slope) if u > -inf else 0.0


def _score(mean: Node, a: Node, u: Node) -> Node:
    """The derivative in a of the logarithm of the density of u, and what comes from u with z."""
    log_a = elementary.log(a)
    others = where(mean > 0.5, u - 1.0, u + log_a) * elementary.expm1(u)
    return (u + log_a) - digamma(a) - 1.0 / a + others


ONE_OF: dict[str, Any] = {**COMMON, "domain": ((0.0, 1.0), *COMMON["domain"])}
gamma_power_da: Primitive = primitive(  # of P
    "gamma_power_da", 4, routine=_gamma_power_da, **ONE_OF,
    tangent=in_last(
        "gamma_power_da", lambda mean, a, rest, u, out: gamma_below_slope(a, rest, u) * _score(mean, a, u)
    ),
)
log_gamma_power_da: Primitive = primitive(  # of the logarithm of Q
    "log_gamma_power_da", 4, routine=_log_gamma_power_da, **ONE_OF,
    tangent=in_last(
        "log_gamma_power_da",
        lambda mean, a, rest, u, out: log_gamma_beyond_slope(a, rest, u) * (_score(mean, a, u) - out),
    ),
)
