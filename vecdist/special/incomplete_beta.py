"""Incomplete beta functions I_x(a, b) and 1 - I_x(a, b), their logarithms, derivatives and inverses, DLMF 8.17."""

from __future__ import annotations

from math import exp, inf, nan
from typing import Any

from vecdist.graph.node import Node
from vecdist.primitives import elementary
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.beta_quantiles import root
from vecdist.special.beta_tails import distance_from_mean, parts_at, prefactor, with_lost
from vecdist.special.gamma_differences import digamma_delta
from vecdist.special.scalar import log_tail, log_tail_slope, tail, tail_slope


def tails(a: float, b: float, x: float) -> tuple[bool, float, float, float, float, float]:
    """The parts for a point that is known by x alone."""
    y = 1.0 - x
    y_low = (1.0 - y) - x
    distance = distance_from_mean(a, b, x, y) + a * y_low
    lower, e, w, slope_a, slope_b, slope_x = parts_at(a, b, x, y, distance, 0.0, False, 0.0, y_low)
    return lower, e, w, slope_a, slope_b, slope_x


def _betainc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return tail(lower, e, w)


def _betaincc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return tail(not lower, e, w)


def _log_betainc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return log_tail(lower, e, w)


def _log_betaincc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return log_tail(not lower, e, w)


def _betainc_da(a: float, b: float, x: float) -> float:
    lower, e, _, slope, _, _ = tails(a, b, x)
    return tail_slope(lower, e, slope)


def _betainc_db(a: float, b: float, x: float) -> float:
    lower, e, _, _, slope, _ = tails(a, b, x)
    return tail_slope(lower, e, slope)


def _log_betainc_da(a: float, b: float, x: float) -> float:
    lower, e, w, slope, _, _ = tails(a, b, x)
    return log_tail_slope(lower, e, w, slope)


def _log_betainc_db(a: float, b: float, x: float) -> float:
    lower, e, w, _, slope, _ = tails(a, b, x)
    return log_tail_slope(lower, e, w, slope)


def _log_betaincc_da(a: float, b: float, x: float) -> float:
    lower, e, w, slope, _, _ = tails(a, b, x)
    return log_tail_slope(not lower, e, w, slope)


def _log_betaincc_db(a: float, b: float, x: float) -> float:
    lower, e, w, _, slope, _ = tails(a, b, x)
    return log_tail_slope(not lower, e, w, slope)


def at_edge(a: float, b: float) -> float:
    """The density at x = 0."""
    y = inf if a < 1.0 else 0.0
    return b if a == 1.0 else y


def _beta_density(a: float, b: float, x: float) -> float:
    d = nan
    if a > 0.0 and b > 0.0 and 0.0 < x < 1.0 and a + b < inf:
        y = 1.0 - x
        y_low = (1.0 - y) - x
        e, rest, f = prefactor(a, b, x, y, distance_from_mean(a, b, x, y) + a * y_low)
        e, rest = with_lost(e + rest, a, b, x, 0.0, y, y_low)
        d = exp(e) * (f * exp(rest)) * a / y / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = at_edge(a, b)
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = at_edge(b, a)
    elif a >= 0.0 and b >= 0.0 and 0.0 <= x <= 1.0 and a + b > 0.0:
        d = 0.0
    return d


def _log_betainc_dx(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, slope = tails(a, b, x)
    d = nan
    if 0.0 < x < 1.0:
        d = log_tail_slope(lower, e, w, slope) / (1.0 - x) / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = inf
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = at_edge(b, a)
    return d


def _log_betaincc_dx(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, slope = tails(a, b, x)
    d = nan
    if 0.0 < x < 1.0:
        d = log_tail_slope(not lower, e, w, slope) / (1.0 - x) / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = -at_edge(a, b)
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = -inf
    return d


def _quantile_da(a: float, b: float, x: float) -> float:
    """The derivative in a of the x at which I has a given value."""
    _, _, _, slope, _, slope_x = tails(a, b, x)
    return -slope / slope_x * x * (1.0 - x) if slope_x != 0.0 and 0.0 < x < 1.0 else 0.0


def _quantile_db(a: float, b: float, x: float) -> float:
    _, _, _, _, slope, slope_x = tails(a, b, x)
    return -slope / slope_x * x * (1.0 - x) if slope_x != 0.0 and 0.0 < x < 1.0 else 0.0


def quantile(a: float, b: float, p: float, q: float) -> float:
    """Where I is p = 1 - q; its odds may be of any size."""
    odds, extra = root(a, b, p, q)
    x = 1.0 if odds == inf else odds / (1.0 + odds)
    return x * exp(max(extra, -800.0)) if extra < 0.0 else x


def _betaincinv(a: float, b: float, p: float) -> float:
    return quantile(a, b, p, 1.0 - p)


def _betainccinv(a: float, b: float, q: float) -> float:
    return quantile(a, b, 1.0 - q, q)


def _score_a(a: Node, b: Node, x: Node) -> Node:
    """The derivative of the logarithm of the density in a."""
    return elementary.log(x) + digamma_delta(a, b)


def _score_b(a: Node, b: Node, x: Node) -> Node:
    return elementary.log1p(-x) + digamma_delta(b, a)


def _score_x(a: Node, b: Node, x: Node) -> Node:
    return (a - 1.0) / x - (b - 1.0) / (1.0 - x)


SHAPES, UNIT = ((0.4, 30.0), (0.4, 30.0)), (0.05, 0.95)
COMMON: Any = {"floating": True, "domain": (*SHAPES, UNIT)}
# what has a score less a value of its size as its derivative, which is not good for float32 where both are large
CANCELLING: Any = {"floating": True, "domain": ((0.4, 6.0), (0.4, 6.0), (0.2, 0.8))}

beta_density: Primitive = primitive(
    "beta_density", 3, routine=_beta_density,
    partials=lambda a, b, x, out: (out * _score_a(a, b, x), out * _score_b(a, b, x), out * _score_x(a, b, x)),
    **COMMON,
)
betainc_da: Primitive = primitive(
    "betainc_da", 3, routine=_betainc_da,
    tangent=in_last("betainc_da", lambda a, b, x, out: beta_density(a, b, x) * _score_a(a, b, x)), **COMMON,
)
betainc_db: Primitive = primitive(
    "betainc_db", 3, routine=_betainc_db,
    tangent=in_last("betainc_db", lambda a, b, x, out: beta_density(a, b, x) * _score_b(a, b, x)), **COMMON,
)
betainc: Primitive = primitive(
    "betainc", 3, routine=_betainc,
    partials=lambda a, b, x, out: (betainc_da(a, b, x), betainc_db(a, b, x), beta_density(a, b, x)),
    ufuncs=("betainc",), oracle="scipy.special.betainc", **COMMON,
)
betaincc: Primitive = primitive(
    "betaincc", 3, routine=_betaincc,
    partials=lambda a, b, x, out: (-betainc_da(a, b, x), -betainc_db(a, b, x), -beta_density(a, b, x)),
    ufuncs=("betaincc",), oracle="scipy.special.betaincc", **COMMON,
)

log_betainc_dx: Primitive = primitive(
    "log_betainc_dx", 3, routine=_log_betainc_dx,
    partials=lambda a, b, x, out: (
        out * (_score_a(a, b, x) - log_betainc_da(a, b, x)),
        out * (_score_b(a, b, x) - log_betainc_db(a, b, x)),
        out * (_score_x(a, b, x) - out),
    ),
    **CANCELLING,
)
log_betainc_da: Primitive = primitive(
    "log_betainc_da", 3, routine=_log_betainc_da,
    tangent=in_last("log_betainc_da", lambda a, b, x, out: log_betainc_dx(a, b, x) * (_score_a(a, b, x) - out)),
    **COMMON,
)
log_betainc_db: Primitive = primitive(
    "log_betainc_db", 3, routine=_log_betainc_db,
    tangent=in_last("log_betainc_db", lambda a, b, x, out: log_betainc_dx(a, b, x) * (_score_b(a, b, x) - out)),
    **COMMON,
)
log_betainc: Primitive = primitive(
    "log_betainc", 3, routine=_log_betainc,
    partials=lambda a, b, x, out: (log_betainc_da(a, b, x), log_betainc_db(a, b, x), log_betainc_dx(a, b, x)),
    **COMMON,
)
log_betaincc_dx: Primitive = primitive(
    "log_betaincc_dx", 3, routine=_log_betaincc_dx,
    partials=lambda a, b, x, out: (
        out * (_score_a(a, b, x) - log_betaincc_da(a, b, x)),
        out * (_score_b(a, b, x) - log_betaincc_db(a, b, x)),
        out * (_score_x(a, b, x) - out),
    ),
    **CANCELLING,
)
log_betaincc_da: Primitive = primitive(
    "log_betaincc_da", 3, routine=_log_betaincc_da,
    tangent=in_last("log_betaincc_da", lambda a, b, x, out: log_betaincc_dx(a, b, x) * (_score_a(a, b, x) - out)),
    **COMMON,
)
log_betaincc_db: Primitive = primitive(
    "log_betaincc_db", 3, routine=_log_betaincc_db,
    tangent=in_last("log_betaincc_db", lambda a, b, x, out: log_betaincc_dx(a, b, x) * (_score_b(a, b, x) - out)),
    **COMMON,
)
log_betaincc: Primitive = primitive(
    "log_betaincc", 3, routine=_log_betaincc,
    partials=lambda a, b, x, out: (log_betaincc_da(a, b, x), log_betaincc_db(a, b, x), log_betaincc_dx(a, b, x)),
    **COMMON,
)
beta_quantile_da: Primitive = primitive(
    "beta_quantile_da", 3, routine=_quantile_da,
    tangent=in_last("beta_quantile_da", lambda a, b, x, out: -(_score_a(a, b, x) + out * _score_x(a, b, x))), **COMMON,
)
beta_quantile_db: Primitive = primitive(
    "beta_quantile_db", 3, routine=_quantile_db,
    tangent=in_last("beta_quantile_db", lambda a, b, x, out: -(_score_b(a, b, x) + out * _score_x(a, b, x))), **COMMON,
)
betaincinv: Primitive = primitive(
    "betaincinv", 3, routine=_betaincinv,
    partials=lambda a, b, p, out: (
        beta_quantile_da(a, b, out), beta_quantile_db(a, b, out), 1.0 / beta_density(a, b, out)
    ),
    ufuncs=("betaincinv",), oracle="scipy.special.betaincinv", **COMMON,
)
betainccinv: Primitive = primitive(
    "betainccinv", 3, routine=_betainccinv,
    partials=lambda a, b, q, out: (
        beta_quantile_da(a, b, out), beta_quantile_db(a, b, out), -1.0 / beta_density(a, b, out)
    ),
    ufuncs=("betainccinv",), oracle="scipy.special.betainccinv", **COMMON,
)
