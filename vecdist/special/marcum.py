"""Generalised Marcum functions Q(m, x, y) and P = 1 - Q, their logarithms, derivatives and inverses.

Q(m, x, y) is the integral of ``marcum_density`` from y on: the upper tail at 2 y of a noncentral chi-squared variable
with 2 m degrees of freedom and noncentrality 2 x.  Marcum's own arguments are a = sqrt(2 x) and b = sqrt(2 y).
Gil, Segura and Temme (2014), Algorithm 939, ACM Transactions on Mathematical Software 40, equation (1).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, nan, sqrt
from typing import Any

from vecdist.graph.node import Node
from vecdist.primitives.table import Primitive, no_derivative, no_derivatives, primitive
from vecdist.special.gamma_of_log import of_any
from vecdist.special.incomplete_gamma import first_guess as gamma_guess
from vecdist.special.marcum_tails import TINY, parts
from vecdist.special.scalar import halley, log_tail, log_tail_slope, tail, tail_slope

LEAST = 1e-280  # below this quantiles are where a power is


def _marcum_q(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, _ = parts(m, x, y)
    return tail(not lower, e, w)


def _marcum_p(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, _ = parts(m, x, y)
    return tail(lower, e, w)


def _log_marcum_q(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, _ = parts(m, x, y)
    return log_tail(not lower, e, w)


def _log_marcum_p(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, _ = parts(m, x, y)
    return log_tail(lower, e, w)


def _marcum_q_dm(m: float, x: float, y: float) -> float:
    lower, e, _, slope, _, _ = parts(m, x, y)
    return tail_slope(not lower, e, slope)


def _marcum_q_dx(m: float, x: float, y: float) -> float:
    """D(m + 1, x, y)."""
    lower, e, _, _, slope, _ = parts(m, x, y)
    return tail_slope(not lower, e, slope)


def _marcum_ratio(m: float, x: float, y: float) -> float:
    """D(m + 1, x, y) / D(m, x, y)."""
    _, _, _, _, of_x, of_y = parts(m, x, y)
    return -of_x / of_y if of_y != 0.0 else 0.0


def _marcum_density(m: float, x: float, y: float) -> float:
    """The derivative of P in y."""
    lower, e, _, _, _, slope = parts(m, x, y)
    d = tail_slope(lower, e, slope)
    if (y == 0.0 or (d == inf and m == 1.0)) and m + x < inf:  # at 0, or so near that the quotient by y overflows
        d = 0.0 if m > 1.0 else inf
        d = exp(-x) if m == 1.0 else d
    return d


def _log_marcum_q_dm(m: float, x: float, y: float) -> float:
    lower, e, w, slope, _, _ = parts(m, x, y)
    return log_tail_slope(not lower, e, w, slope)


def _log_marcum_p_dm(m: float, x: float, y: float) -> float:
    lower, e, w, slope, _, _ = parts(m, x, y)
    return log_tail_slope(lower, e, w, slope)


def _log_marcum_q_dx(m: float, x: float, y: float) -> float:
    lower, e, w, _, slope, _ = parts(m, x, y)
    return log_tail_slope(not lower, e, w, slope)


def _log_marcum_p_dx(m: float, x: float, y: float) -> float:
    lower, e, w, _, slope, _ = parts(m, x, y)
    return log_tail_slope(lower, e, w, slope)


def _log_marcum_q_dy(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, slope = parts(m, x, y)
    d = log_tail_slope(not lower, e, w, slope)
    return -_marcum_density(m, x, y) if y == 0.0 else d


def _log_marcum_p_dy(m: float, x: float, y: float) -> float:
    lower, e, w, _, _, slope = parts(m, x, y)
    return log_tail_slope(lower, e, w, slope)


def _marcum_inverse_dm(m: float, x: float, y: float) -> float:
    """The derivative in m of the y at which Q has a given value."""
    _, _, _, slope, _, slope_y = parts(m, x, y)
    return -slope / slope_y if slope_y != 0.0 and 0.0 < y < inf else 0.0


def first_guess(m: float, x: float, p: float, q: float) -> float:
    """Near the root: of the gamma distribution with the same mean and variance, after Patnaik (1949)."""
    mean, spread = m + x, m + 2.0 * x
    return spread / mean * gamma_guess(mean / spread * mean, p, q)


def quantile(m: float, x: float, p: float, q: float) -> float:
    """The y at which P is p and Q is q = 1 - p: the root in log(y) of the logarithm of the shorter tail."""
    y = nan
    if m > 0.0 and x >= 0.0 and p >= 0.0 and q >= 0.0 and m + x < inf:
        y = 0.0
        if q == 0.0:
            y = inf
        elif p > 0.0:
            y = max(first_guess(m, x, p, q), 1e8 * LEAST)
            least, most = 0.0, inf
            n, step = 0.0, 1.0
            while n < 60.0 and abs(step) > 1e-7 and y > LEAST:
                lower, e, w, _, of_x, of_y = parts(m, x, y)
                same = lower == (p < q)
                slope = log_tail_slope(same, e, w, of_y * y)
                excess = log_tail(same, e, w) - log(min(p, q))
                bend = -x * of_x / of_y if of_y != 0.0 else 0.0
                step = halley(excess, slope, m + bend - y - slope)
                if q < p:
                    step = max(-0.5, min(0.5, step))  # that tail falls as an exponential of y
                if (excess > 0.0) == (p < q):
                    most = y
                else:
                    least = y
                moved = y + y * expm1(step)
                if abs(step) > 1e-5 and least > 0.0 and most < inf and (moved <= least or moved >= most):
                    moved = sqrt(least) * sqrt(most)
                y = moved
                n += 1.0
            if y <= LEAST:  # where P is a power of y
                lower, e, w, _, _, _ = parts(m, x, LEAST)
                power = (log(p) if p < q else log1p(-q)) - log_tail(lower, e, w)
                y = LEAST * exp(max(-800.0, min(0.0, power / max(m, TINY))))
    return y


def _marcum_p_inverse(m: float, x: float, p: float) -> float:
    return quantile(m, x, p, 1.0 - p)


def _marcum_q_inverse(m: float, x: float, q: float) -> float:
    return quantile(m, x, 1.0 - q, q)


Dots = tuple[Node | None, Node | None, Node | None]


def _tangent(name: str, of_x: Callable[..., Node], of_y: Callable[..., Node]) -> Callable[..., Node | None]:
    """The tangent of a function by its derivatives in x and y; in the order m it has none."""

    def tangent(dots: Dots, m: Node, x: Node, y: Node, out: Node) -> Node | None:
        if dots[0] is not None:
            raise no_derivative(name, "in the order")
        terms = [] if dots[1] is None else [dots[1] * of_x(m, x, y, out)]
        terms += [] if dots[2] is None else [dots[2] * of_y(m, x, y, out)]
        return sum(terms[1:], terms[0]) if terms else None

    return tangent


def _score_x(m: Node, x: Node, y: Node) -> Node:
    """The derivative of log D in x, DLMF 10.29.4."""
    return marcum_ratio(m, x, y) - 1.0


def _score_y(m: Node, x: Node, y: Node) -> Node:
    """The derivative of log D in y, DLMF 10.29.1 and 10.29.4."""
    return (m - 1.0 + x * marcum_ratio(m, x, y)) / y - 1.0


def _rise(m: Node, x: Node, y: Node) -> Node:
    return marcum_ratio(m + 1.0, x, y) - marcum_ratio(m, x, y)


COMMON: Any = {"floating": True, "domain": ((0.6, 12.0), (0.2, 20.0), (0.5, 30.0))}
WITH_PROBABILITY: Any = {"floating": True, "domain": ((0.6, 12.0), (0.2, 20.0), (0.05, 0.95))}

marcum_ratio: Primitive = primitive(
    "marcum_ratio", 3, routine=_marcum_ratio,
    tangent=_tangent(
        "marcum_ratio", lambda m, x, y, out: out * _rise(m, x, y),
        lambda m, x, y, out: out * (1.0 + x * _rise(m, x, y)) / y,
    ),
    **COMMON,
)
marcum_density: Primitive = primitive(
    "marcum_density", 3, routine=_marcum_density,
    tangent=_tangent(
        "marcum_density", lambda m, x, y, out: out * _score_x(m, x, y), lambda m, x, y, out: out * _score_y(m, x, y),
    ),
    **COMMON,
)
marcum_q_dm: Primitive = primitive(
    "marcum_q_dm", 3, routine=_marcum_q_dm, tangent=no_derivatives("marcum_q_dm"), **COMMON,
)
marcum_q_dx: Primitive = primitive(
    "marcum_q_dx", 3, routine=_marcum_q_dx,
    tangent=_tangent(
        "marcum_q_dx", lambda m, x, y, out: out * _score_x(m + 1.0, x, y),
        lambda m, x, y, out: out * _score_y(m + 1.0, x, y),
    ),
    **COMMON,
)
marcum_q: Primitive = primitive(
    "marcum_q", 3, routine=_marcum_q,
    partials=lambda m, x, y, out: (marcum_q_dm(m, x, y), marcum_q_dx(m, x, y), -marcum_density(m, x, y)), **COMMON,
)
marcum_p: Primitive = primitive(
    "marcum_p", 3, routine=_marcum_p,
    partials=lambda m, x, y, out: (-marcum_q_dm(m, x, y), -marcum_q_dx(m, x, y), marcum_density(m, x, y)), **COMMON,
)

log_marcum_q_dm: Primitive = primitive(
    "log_marcum_q_dm", 3, routine=_log_marcum_q_dm, tangent=no_derivatives("log_marcum_q_dm"), **COMMON,
)
log_marcum_p_dm: Primitive = primitive(
    "log_marcum_p_dm", 3, routine=_log_marcum_p_dm, tangent=no_derivatives("log_marcum_p_dm"), **COMMON,
)
log_marcum_q_dx: Primitive = primitive(
    "log_marcum_q_dx", 3, routine=_log_marcum_q_dx,
    tangent=_tangent(
        "log_marcum_q_dx", lambda m, x, y, out: out * (_score_x(m + 1.0, x, y) - out),
        lambda m, x, y, out: out * (_score_y(m + 1.0, x, y) - log_marcum_q_dy(m, x, y)),
    ),
    **COMMON,
)
log_marcum_p_dx: Primitive = primitive(
    "log_marcum_p_dx", 3, routine=_log_marcum_p_dx,
    tangent=_tangent(
        "log_marcum_p_dx", lambda m, x, y, out: out * (_score_x(m + 1.0, x, y) - out),
        lambda m, x, y, out: out * (_score_y(m + 1.0, x, y) - log_marcum_p_dy(m, x, y)),
    ),
    **COMMON,
)
log_marcum_q_dy: Primitive = primitive(
    "log_marcum_q_dy", 3, routine=_log_marcum_q_dy,
    tangent=_tangent(
        "log_marcum_q_dy", lambda m, x, y, out: out * (_score_x(m, x, y) - log_marcum_q_dx(m, x, y)),
        lambda m, x, y, out: out * (_score_y(m, x, y) - out),
    ),
    **COMMON,
)
log_marcum_p_dy: Primitive = primitive(
    "log_marcum_p_dy", 3, routine=_log_marcum_p_dy,
    tangent=_tangent(
        "log_marcum_p_dy", lambda m, x, y, out: out * (_score_x(m, x, y) - log_marcum_p_dx(m, x, y)),
        lambda m, x, y, out: out * (_score_y(m, x, y) - out),
    ),
    **COMMON,
)
log_marcum_q: Primitive = primitive(
    "log_marcum_q", 3, routine=_log_marcum_q,
    partials=lambda m, x, y, out: tuple(
        of_any(out, slope(m, x, y)) for slope in (log_marcum_q_dm, log_marcum_q_dx, log_marcum_q_dy)
    ),
    **COMMON,
)
log_marcum_p: Primitive = primitive(
    "log_marcum_p", 3, routine=_log_marcum_p,
    partials=lambda m, x, y, out: tuple(
        of_any(out, slope(m, x, y)) for slope in (log_marcum_p_dm, log_marcum_p_dx, log_marcum_p_dy)
    ),
    **COMMON,
)
marcum_inverse_dm: Primitive = primitive(
    "marcum_inverse_dm", 3, routine=_marcum_inverse_dm, tangent=no_derivatives("marcum_inverse_dm"), **COMMON,
)
marcum_p_inverse: Primitive = primitive(  # the y of a value of P
    "marcum_p_inverse", 3, routine=_marcum_p_inverse,
    partials=lambda m, x, p, out: (
        marcum_inverse_dm(m, x, out), marcum_ratio(m, x, out), 1.0 / marcum_density(m, x, out)
    ),
    **WITH_PROBABILITY,
)
marcum_q_inverse: Primitive = primitive(
    "marcum_q_inverse", 3, routine=_marcum_q_inverse,
    partials=lambda m, x, q, out: (
        marcum_inverse_dm(m, x, out), marcum_ratio(m, x, out), -1.0 / marcum_density(m, x, out)
    ),
    **WITH_PROBABILITY,
)
