"""Where the gamma distribution function has a given value: the logarithm of that over the shape, whatever its size.

Derivatives in a probability come from the tail that is given, whose logarithm has a slope that next to nothing changes.
"""

from __future__ import annotations

from math import exp, expm1, inf, lgamma, log, log1p, nan
from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives import elementary
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special import gamma_of_log
from vecdist.special.gamma_of_log import (
    log_gamma_below_da,
    log_gamma_below_slope,
    log_gamma_beyond_da,
    log_gamma_beyond_slope,
    parts,
)
from vecdist.special.incomplete_gamma import first_guess, power_series, small
from vecdist.special.scalar import halley, log_less_digamma, log_tail, log_tail_slope, reciprocal_gamma

LEAST = 1e-280  # a guess from where on its logarithm is good


def root(a: float, p: float, q: float) -> float:
    """log(x / a) where P is p and Q is q = 1 - p, by the logarithm of the shorter tail, which is concave."""
    u = nan
    if a > 0.0 and p >= 0.0 and q >= 0.0:
        u = -inf if p == 0.0 else inf
        if a == inf:
            u = 0.0
        elif p > 0.0 and q > 0.0:
            guess = first_guess(a, p, q)
            if guess > LEAST:
                u = log(guess) - log(a)
            else:
                u = ((log(p) if p < q else log1p(-q)) + lgamma(min(a, 1e300) + 1.0)) / a - log(a)
            n, step = 0.0, 1.0
            while n < 15.0 and abs(step) > 1e-7:
                lower, e, w, _, slope = parts(a, 0.0, u)
                same = lower == (p < q)
                slope = log_tail_slope(same, e, w, slope)
                excess = log_tail(same, e, w) - log(min(p, q))
                step = halley(excess, slope, -a * expm1(u) - slope)
                u += step
                n += 1.0
    return u


def _log_below(a: float, p: float) -> float:
    return root(a, p, 1.0 - p)


def _log_beyond(a: float, q: float) -> float:
    return root(a, 1.0 - q, q)


def reciprocal_density(a: float, p: float, q: float, u: float) -> float:
    """The derivative of u in p."""
    lower, e, w, _, slope = parts(a, 0.0, u)
    slope = log_tail_slope(lower == (p < q), e, w, slope) * min(p, q)
    return abs(1.0 / slope) if slope != 0.0 else inf


def _log_below_dp(a: float, p: float, u: float) -> float:
    return reciprocal_density(a, p, 1.0 - p, u)


def _log_beyond_dq(a: float, q: float, u: float) -> float:
    return -reciprocal_density(a, 1.0 - q, q, u)


def _log_da(a: float, u: float) -> float:
    """The derivative in a of the u at which a tail has a given value."""
    _, _, _, slope, slope_x = parts(a, 0.0, u)
    return -slope / slope_x if slope_x != 0.0 and -inf < u < inf else 0.0


def _log_root(form: float, a: float, q: float) -> float:
    return a * (root(a, 1.0 - q, q) + (0.0 if form > 0.5 else log(a))) if a < inf else nan


def of_root(form: float, a: float, y: float) -> float:
    """log(x / a) of what ``_log_root`` gives."""
    return y / a - (0.0 if form > 0.5 else log(a))


def _log_root_dq(form: float, a: float, q: float, y: float) -> float:
    return -a * reciprocal_density(a, 1.0 - q, q, of_root(form, a, y))


def bend(a: float, x: float) -> float:
    """1 - a x**-a exp(-x) times the integral of t**(a - 1) exp(-t), over exp(-x) less 1, from 0 to x: for x < 1."""
    term, total, n = 1.0, 0.0, 0.0
    while n < 30.0 and abs(term) > 1e-18:
        total += term / (a + n + 1.0)
        n += 1.0
        term *= -x / n
    return x * total


def _log_root_da(form: float, a: float, y: float) -> float:
    """Where a is small a log(x) is nearly its own limit: the slope along with it has no log(x)."""
    u = of_root(form, a, y)
    lower, _, _, slope, slope_x = parts(a, 0.0, u)
    d, log_x = 0.0, u + log(a)
    if slope_x != 0.0 and -inf < u < inf:
        if a >= 1.0 or log_x > 0.0:
            d = u - a * slope / slope_x + (0.0 if form > 0.5 else log(a) + 1.0)
        else:
            x, shifted = exp(log_x), a + 4.0
            others = 1.0 / (a + 1.0) + 1.0 / (a + 2.0) + 1.0 / (a + 3.0)
            steady = others - log(shifted) + log_less_digamma(shifted)
            f = reciprocal_gamma(a)
            if lower:
                w, derivative = power_series(a, x)
                d = -(f * (w * steady + derivative) + f * log_x * (w - 1.0)) / f
            else:
                _, slope = small(a, x, log_x, steady)
                p = exp(a * log_x) * f
                d = -(slope - p * log_x * bend(a, x)) / (slope_x / a)
            d -= log(a) + 1.0 if form > 0.5 else 0.0
    return d


def _turned(a: Node, p: Node, u: Node, out: Node, below: bool) -> tuple[Node, Node, Node]:
    """The derivatives of a reciprocal density, of either sign, by the tail ``p`` that it is made of."""
    short, rest = p < 0.5, 0.0 * u
    first = short if below else ~short
    of_a = where(first, log_gamma_below_da(a, rest, u), log_gamma_beyond_da(a, rest, u))
    of_u = where(first, log_gamma_below_slope(a, rest, u), log_gamma_beyond_slope(a, rest, u))
    scores = gamma_of_log.score(a, u), gamma_of_log.score_of_log(a, u)
    return -out * (scores[0] - of_a), -out / where(short, p, p - 1.0), -out * (scores[1] - of_u)


SHAPE, PROBABILITY, LOGARITHM = (0.3, 40.0), (0.02, 0.98), (-2.0, 1.5)
OF: Any = {"floating": True, "domain": (SHAPE, PROBABILITY)}
ALONG: Any = {"floating": True, "domain": (SHAPE, PROBABILITY, LOGARITHM)}

log_da: Primitive = primitive(
    "gamma_log_da", 2, routine=_log_da, floating=True, domain=(SHAPE, LOGARITHM),
    tangent=in_last(
        "gamma_log_da",
        lambda a, u, out: -(gamma_of_log.score(a, u) + out * gamma_of_log.score_of_log(a, u)),
    ),
)
log_below_dp: Primitive = primitive(
    "gamma_log_below_dp", 3, routine=_log_below_dp, **ALONG,
    partials=lambda a, p, u, out: _turned(a, p, u, out, True),
)
log_beyond_dq: Primitive = primitive(
    "gamma_log_beyond_dq", 3, routine=_log_beyond_dq, **ALONG,
    partials=lambda a, q, u, out: _turned(a, q, u, out, False),
)
log_below: Primitive = primitive(  # u with gamma_below(a, 0, u) = p
    "gamma_log_below", 2, routine=_log_below, **OF,
    partials=lambda a, p, out: (log_da(a, out), log_below_dp(a, p, out)),
)
log_beyond: Primitive = primitive(  # u with gamma_beyond(a, 0, u) = q
    "gamma_log_beyond", 2, routine=_log_beyond, **OF,
    partials=lambda a, q, out: (log_da(a, out), log_beyond_dq(a, q, out)),
)


def _of_root(form: Node, a: Node, y: Node) -> Node:
    return y / a - where(form > 0.5, 0.0, elementary.log(a))


def _turned_root(form: Node, a: Node, q: Node, y: Node, out: Node) -> tuple[Node | None, ...]:
    """By those of the derivative of log(x / a), which is out / a."""
    u = _of_root(form, a, y)
    of_a, of_q, of_u = _turned(a, q, u, out / a, False)
    moved = -y / a / a - where(form > 0.5, 0.0, 1.0 / a)
    return None, out / a + a * (of_a + of_u * moved), a * of_q, of_u


def _mixed_root(form: Node, a: Node, y: Node, out: Node) -> Node:
    """The derivative in a of y is u + a u_a, but for a constant."""
    u = _of_root(form, a, y)
    score, fall = gamma_of_log.score(a, u), gamma_of_log.score_of_log(a, u)
    of_u = 1.0 - a * score - (out - u - where(form > 0.5, 0.0, elementary.log(a) + 1.0)) * fall
    return of_u / a


ROOT, OVER_SHAPE = 0.0, 1.0
FORMS, OF_ROOT = (ROOT, OVER_SHAPE), (-1.0, 1.0)
log_root_da: Primitive = primitive(
    "gamma_log_root_da", 3, routine=_log_root_da, floating=True, domain=(FORMS, (0.3, 6.0), OF_ROOT),
    tangent=in_last("gamma_log_root_da", _mixed_root),
)
log_root_dq: Primitive = primitive(
    "gamma_log_root_dq", 4, routine=_log_root_dq, floating=True, partials=_turned_root,
    domain=(FORMS, (0.3, 6.0), PROBABILITY, OF_ROOT),
)
log_root: Primitive = primitive(  # a log(x), or over the shape a log(x / a), for the x with gammaincc(a, x) = q
    "gamma_log_root", 3, routine=_log_root, floating=True, domain=(FORMS, SHAPE, PROBABILITY),
    partials=lambda form, a, q, out: (None, log_root_da(form, a, out), log_root_dq(form, a, q, out)),
)
