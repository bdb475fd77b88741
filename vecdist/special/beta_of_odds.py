"""The beta distribution function of the odds x / (1 - x), whatever their size, with derivatives in what makes them.

``form`` says what z is.  ODDS: the odds are z + unit, which is what rounding took from z.  RATIO: they are z unit a /
b, as those of an F distribution.  SQUARE: they are (z unit)**2 a / b, as those of a t distribution.  Nothing overflows.
Derivatives in a and b are those for a constant z: that of the mean and that of the odds nearly cancel, and are one.
"""

from __future__ import annotations

from math import exp, inf, log, nan, pi, sqrt
from typing import Any

from vecdist.graph.node import Node, const, where
from vecdist.primitives import elementary
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.floating import INFINITY
from vecdist.primitives.scalar import exact_product, exact_sum, half
from vecdist.primitives.table import PRIMITIVES, Primitive, flat, in_last, primitive
from vecdist.special.beta_tails import gamma_ratio, parts_at, prefactor, with_lost
from vecdist.special.exponents import exact_quotient
from vecdist.special.gamma_differences import digamma_delta
from vecdist.special.scalar import log_tail, log_tail_slope, tail, tail_slope

ODDS, RATIO, SQUARE = 0.0, 1.0, 2.0
LARGEST = 1e100  # of z, and its reciprocal the least: the tails are powers of it beyond
NEGLIGIBLE = 1e-20  # unless a shape times that is not


def power_of(form: float) -> float:
    """Of z in the odds."""
    return 2.0 if form > 1.5 else 1.0


def point(form: float, a: float, b: float, unit: float, z: float) -> tuple[float, float, float, float]:
    """x, 1 - x, the distance a (1 - x) - b x, and what the logarithm of the lesser of both has beyond theirs."""
    s, extra = z if z >= 0.0 else nan, 0.0
    if 0.0 < z < inf:
        s = z if form < 0.5 else z * unit
        power = form > 0.5 or b * s < NEGLIGIBLE or a < NEGLIGIBLE * s
        if not 1.0 / LARGEST <= s <= LARGEST and power:
            beyond = log(z) if form < 0.5 else log(z) + log(unit)
            s = 1.0 / LARGEST if beyond < 0.0 else LARGEST
            extra = (log(LARGEST) - abs(beyond)) * power_of(form)
    if form < 0.5:
        total = 1.0 + s
        x, y = s / total, 1.0 / total
        b_head, s_head = half(b), half(s)
        b_tail, s_tail = b - b_head, s - s_head
        lost = b_head * s_tail + b_tail * s_head + b_tail * s_tail + b * unit
        distance = ((a - b_head * s_head) - lost) / total
    else:
        t, gap = s, 1.0 - s
        if form > 1.5:
            t, gap = s * s, gap * (1.0 + s)
        least = 1.0 / max(a, b, 1.0)
        first, second = a * least * t, b * least
        total = first + second
        x, y = first / total, second / total
        distance = a * (y * gap)
    if z == inf:
        x, y = 1.0, 0.0
    return x, y, distance, extra


def rounded_off(
    form: float, a: float, b: float, unit: float, z: float, x: float, y: float, extra: float
) -> tuple[float, float]:
    """What the shares x and y = 1 - x have lost of the odds, where these are of moderate size."""
    x_low, y_low = 0.0, 0.0
    if extra == 0.0 and 0.0 < z < inf:
        odds, low = z, unit
        if form > 0.5:
            odds, low = scaled_odds(form, a, b, unit, z)
        total, lost = exact_sum(1.0, odds)
        bend = (lost + low) / total
        share, rest = exact_quotient(1.0, 0.0, total)
        y_low = (share - y) + (rest - share * bend)
        share, rest = exact_quotient(odds, low, total)
        x_low = (share - x) + (rest - share * bend)
    return x_low, y_low


def scaled_odds(form: float, a: float, b: float, unit: float, z: float) -> tuple[float, float]:
    """Odds other than those of ODDS, in two parts."""
    odds, low = exact_product(z, unit)
    if form > 1.5:
        root, root_low = odds, low
        odds, low = exact_product(root, root)
        low += 2.0 * root * root_low
    product, lost = exact_product(a, odds)
    odds, low = exact_quotient(product, lost + a * low, b)
    return odds, low


def tails(form: float, a: float, b: float, unit: float, z: float) -> tuple[bool, float, float, float, float, float]:
    """The parts of ``beta_tails`` at z."""
    x, y, distance, extra = point(form, a, b, unit, z)
    x_low, y_low = rounded_off(form, a, b, unit, z, x, y, extra)
    lower, e, w, slope_a, slope_b, slope_x = parts_at(a, b, x, y, distance, extra, form > 0.5, x_low, y_low)
    return lower, e, w, slope_a, slope_b, slope_x


def _beta_below(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, _ = tails(form, a, b, unit, z)
    return tail(lower, e, w)


def _beta_beyond(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, _ = tails(form, a, b, unit, z)
    return tail(not lower, e, w)


def _log_beta_below(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, _ = tails(form, a, b, unit, z)
    return log_tail(lower, e, w)


def _log_beta_beyond(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, _ = tails(form, a, b, unit, z)
    return log_tail(not lower, e, w)


def _beta_below_da(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, _, slope, _, _ = tails(form, a, b, unit, z)
    return tail_slope(lower, e, slope)


def _beta_below_db(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, _, _, slope, _ = tails(form, a, b, unit, z)
    return tail_slope(lower, e, slope)


def _log_beta_below_da(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, slope, _, _ = tails(form, a, b, unit, z)
    return log_tail_slope(lower, e, w, slope)


def _log_beta_below_db(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, slope, _ = tails(form, a, b, unit, z)
    return log_tail_slope(lower, e, w, slope)


def _log_beta_beyond_da(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, slope, _, _ = tails(form, a, b, unit, z)
    return log_tail_slope(not lower, e, w, slope)


def _log_beta_beyond_db(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, slope, _ = tails(form, a, b, unit, z)
    return log_tail_slope(not lower, e, w, slope)


def slope_of_logit(form: float, a: float, b: float, unit: float, z: float) -> float:
    """The density of logit(x)."""
    x, y, distance, extra = point(form, a, b, unit, z)
    d = 0.0
    if abs(distance) < inf and x > 0.0 and y > 0.0:
        x_low, y_low = rounded_off(form, a, b, unit, z, x, y, extra)
        e, rest, f = prefactor(a, b, x, y, distance)
        e, rest = with_lost(e + rest, a, b, x, x_low, y, y_low)
        d = exp(e + extra * (a if x < y else b)) * (f * a * exp(rest))
    return d


def _slope_of_odds(form: float, a: float, b: float, unit: float, z: float) -> float:
    """The density of log(z)."""
    d = nan
    if a > 0.0 and b > 0.0 and 0.0 < z < inf and a + b < inf:
        d = slope_of_logit(form, a, b, unit, z) * power_of(form)
    elif a >= 0.0 and b >= 0.0 and z >= 0.0 and a + b > 0.0:
        d = 0.0
    return d


def limit_at_0(form: float, a: float, b: float, unit: float) -> float:
    """That of z, which is a power of it; where the power is 0 its factor is the limit, 1 / (a B(a, b)) of the odds."""
    d, power = nan, power_of(form)
    if a > 0.0 and b > 0.0:
        d = inf if power * a < 1.0 else 0.0
        if power * a == 1.0 and a + b < inf:
            d = b if form < 0.5 else unit
            if form > 1.5:
                shifted, log_ratio = gamma_ratio(b, 0.5)
                d *= exp(log_ratio) * sqrt(2.0 * shifted / (pi * b))
    elif a >= 0.0 and b >= 0.0 and a + b > 0.0:
        d = 0.0
    return d


def _log_beta_below_slope(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, slope = tails(form, a, b, unit, z)
    return log_tail_slope(lower, e, w, slope) * power_of(form)


def _log_beta_beyond_slope(form: float, a: float, b: float, unit: float, z: float) -> float:
    lower, e, w, _, _, slope = tails(form, a, b, unit, z)
    return log_tail_slope(not lower, e, w, slope) * power_of(form)


def scores_of_odds(form: Node, a: Node, b: Node, unit: Node, z: Node) -> tuple[Node, Node, Node]:
    """The derivatives of the logarithm of the density in a, b and log(z), for derivatives of the second order."""
    t = z * unit
    odds = where(form < 0.5, z, a / b * where(form > 1.5, t * t, t))
    distance = (a - b * odds) / (1.0 + odds)
    along = where(form < 0.5, 0.0, distance)
    of_a = digamma_delta(a, b) - elementary.log1p(1.0 / odds) + along / a
    of_b = digamma_delta(b, a) - elementary.log1p(odds) - along / b
    return of_a, of_b, where(form > 1.5, 2.0, 1.0) * distance


def _all(of_a: Node, of_b: Node, of_log: Node, edge: Node, at: tuple[Node, ...]) -> tuple[Node | None, ...]:
    """The partial derivatives of a tail by that in log(z), and by that in z = 0."""
    form, _, _, unit, z = at
    of_unit = where(form < 0.5, 0.0, of_log / where(form < 0.5, 1.0, unit))
    return None, of_a, of_b, of_unit, where(eq(z, 0.0), edge, of_log / z)


FORMS = (RATIO, SQUARE)  # the rest of ODDS is no number of any size
COMMON: dict[str, Any] = {
    "floating": True, "domain": (FORMS, (0.4, 30.0), (0.4, 30.0), (0.5, 2.0), (0.05, 20.0)),
}  # fmt: skip
# what has a score less a value of its size as its derivative, which is not good for float32 where both are large
CANCELLING: dict[str, Any] = {
    "floating": True, "domain": (FORMS, (0.4, 6.0), (0.4, 6.0), (0.5, 2.0), (0.25, 4.0)),
}  # fmt: skip


def _slopes_of_slope(*at: Node) -> tuple[Node | None, ...]:
    *given, out = at
    of_a, of_b, of_log = scores_of_odds(*given)
    return _all(out * of_a, out * of_b, out * of_log, const(0.0, out.dtype), tuple(given))


def _slopes_of_log_slope(of_a: str, of_b: str) -> Any:
    """Of the derivative of a logarithm in log(z): its score less the derivative, times itself."""

    def partials(*at: Node) -> tuple[Node | None, ...]:
        *given, out = at
        score_a, score_b, score_log = scores_of_odds(*given)
        return _all(
            out * (score_a - PRIMITIVES[of_a](*given)), out * (score_b - PRIMITIVES[of_b](*given)),
            out * (score_log - out), const(0.0, out.dtype), tuple(given),
        )

    return partials


def _mixed(name: str, place: int, slope: Any, log: bool) -> Any:
    """The tangent in z of a partial derivative in a or b: that of the slope in log(z), over z."""

    def partial(*at: Node) -> Node:
        *given, out = at
        score = scores_of_odds(*given)[place]
        return slope(*given) / given[-1] * (score - out if log else score)

    return in_last(name, partial)


slope_of_odds: Primitive = primitive("slope_of_odds", 5, routine=_slope_of_odds, partials=_slopes_of_slope, **COMMON)
density_at_0: Primitive = primitive(
    "beta_density_at_0", 4, routine=limit_at_0, partials=flat, floating=True,
    domain=(FORMS, (1.1, 30.0), (0.4, 30.0), (0.5, 2.0)),
)
beta_below_da: Primitive = primitive(
    "beta_below_da", 5, routine=_beta_below_da, tangent=_mixed("beta_below_da", 0, slope_of_odds, False), **COMMON,
)
beta_below_db: Primitive = primitive(
    "beta_below_db", 5, routine=_beta_below_db, tangent=_mixed("beta_below_db", 1, slope_of_odds, False), **COMMON,
)


def _of_tail(*at: Node) -> tuple[Node | None, ...]:
    given = at[:-1]
    slopes = beta_below_da(*given), beta_below_db(*given), slope_of_odds(*given), density_at_0(*given[:-1])
    return _all(*slopes, given)


def _of_other_tail(*at: Node) -> tuple[Node | None, ...]:
    return tuple(None if slope is None else -slope for slope in _of_tail(*at))


beta_below: Primitive = primitive("beta_below", 5, routine=_beta_below, partials=_of_tail, **COMMON)
beta_beyond: Primitive = primitive("beta_beyond", 5, routine=_beta_beyond, partials=_of_other_tail, **COMMON)
log_beta_below_slope: Primitive = primitive(
    "log_beta_below_slope", 5, routine=_log_beta_below_slope, **CANCELLING,
    partials=_slopes_of_log_slope("log_beta_below_da", "log_beta_below_db"),
)
log_beta_below_da: Primitive = primitive(
    "log_beta_below_da", 5, routine=_log_beta_below_da, **COMMON,
    tangent=_mixed("log_beta_below_da", 0, log_beta_below_slope, True),
)
log_beta_below_db: Primitive = primitive(
    "log_beta_below_db", 5, routine=_log_beta_below_db, **COMMON,
    tangent=_mixed("log_beta_below_db", 1, log_beta_below_slope, True),
)
log_beta_beyond_slope: Primitive = primitive(
    "log_beta_beyond_slope", 5, routine=_log_beta_beyond_slope, **CANCELLING,
    partials=_slopes_of_log_slope("log_beta_beyond_da", "log_beta_beyond_db"),
)
log_beta_beyond_da: Primitive = primitive(
    "log_beta_beyond_da", 5, routine=_log_beta_beyond_da, **COMMON,
    tangent=_mixed("log_beta_beyond_da", 0, log_beta_beyond_slope, True),
)
log_beta_beyond_db: Primitive = primitive(
    "log_beta_beyond_db", 5, routine=_log_beta_beyond_db, **COMMON,
    tangent=_mixed("log_beta_beyond_db", 1, log_beta_beyond_slope, True),
)


def _of_log_tail(*at: Node) -> tuple[Node | None, ...]:
    given = at[:-1]
    slopes = log_beta_below_da(*given), log_beta_below_db(*given), log_beta_below_slope(*given)
    return _all(*slopes, const(INFINITY, given[-1].dtype), given)


def _of_other_log_tail(*at: Node) -> tuple[Node | None, ...]:
    given = at[:-1]
    slopes = log_beta_beyond_da(*given), log_beta_beyond_db(*given), log_beta_beyond_slope(*given)
    return _all(*slopes, -density_at_0(*given[:-1]), given)


log_beta_below: Primitive = primitive("log_beta_below", 5, routine=_log_beta_below, partials=_of_log_tail, **COMMON)
log_beta_beyond: Primitive = primitive(
    "log_beta_beyond", 5, routine=_log_beta_beyond, partials=_of_other_log_tail, **COMMON,
)
