"""Differences of the gamma family: computed from the difference of the arguments, so that nothing cancels.

Every part of them is a multiple of that difference: logarithms and series of two arguments as divided differences.
"""

from __future__ import annotations

import math
from math import log1p as plain_log1p

from vecdist.graph.node import Node, const, where
from vecdist.primitives.elementary import log, log1p, log1p_parts
from vecdist.primitives.floating import INFINITY, divided_difference, joined, log_normal, log_ratio_e, polynomial, width
from vecdist.primitives.logarithms import log_of_either, log_of_sum
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.gamma_functions import (
    CONSTANT,
    DIGAMMA,
    LGAMMA,
    LIFT,
    POSITIVE,
    SHIFT,
    Shifted,
    digamma,
    edged,
    shifted,
    trigamma,
    trigamma_excess,
)

NEAR = 0.25  # distances from 1 up to which logarithms of beta functions are small, and their series short
# (-1)**k (zeta(k) - 1) / k, k = 2, 3, ..., DLMF 5.7.3 and 25.2.1
BETA_SERIES = (
    0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986, 0.0028905103307415234,
    -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06, 4.374866789907488e-06,
    -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07, 2.1207184805554665e-07,
    -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08, 1.0838659214896955e-08,
    -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09, 5.731367241678862e-10,
    -2.7595228851242334e-10,
)


def _stirling(s: Shifted) -> Node:
    """What the series adds to (w - 1/2) (log w - 1) + CONSTANT, DLMF 5.11.1."""
    return s.r * polynomial(s.v, LGAMMA[width(s.x)])


def _ordered(x: Node, d: Node) -> tuple[Shifted, Shifted, Node]:
    """The lesser and the greater of x and x + d, shifted, and the distance between the two.

    Both are shifted where the lesser has to be, unless the greater lies so high that it stays the greater without.
    """
    down, steps = d < 0, SHIFT[width(x)]
    less, more = where(down, x + d, x), where(down, x, x + d)
    low, high = shifted(less), shifted(more, (less < steps) & (more < 2 * steps))
    return low, high, abs(d) + (high.shift - low.shift)


def _reciprocals_apart(low: Shifted, high: Shifted, d: Node) -> Node:
    """What the steps of the shifts add to a difference of digammas, the sum of d / ((x + i) (x + d + i)).

    Where ``high`` has no steps it is the sum of 1 / (x + i).
    """
    steps = SHIFT[width(low.x)]
    scale = 2.0 ** (steps * LIFT[width(low.x)])
    first = low.reciprocal * (low.others * low.w) * scale
    first = first * where(high.below, d * (high.reciprocal * (high.others * high.w) * scale), 1.0)
    others = low.reciprocal * (low.first * low.w)
    apart = d * (high.reciprocal * (high.first * high.w))
    if steps == 2:
        return where(low.below, first + others * where(high.below, apart, 1.0), 0.0)
    pairs = [(low.x + i) * (high.x + i) for i in range(1, steps)]
    rest = where(high.below, apart * (pairs[0] + pairs[1]), low.x + low.x + 3.0)
    return where(low.below, first + others * rest, 0.0)


def _log_of_products(low: Shifted, high: Shifted, d: Node) -> Node:
    """The logarithm of low.product / high.product, next to 1 by the distance of the two."""
    steps = SHIFT[width(low.x)]
    a, b = low.x, high.x
    apart = a + b + 1.0 if steps == 2 else (a * a + b * (a + b)) + (3.0 * (a + b) + 2.0)
    short = high.below & (d < 0.75 * a)
    lost = d * apart * 2.0 ** (steps * LIFT[width(a)])
    ratio = where(short, lost, low.product) / high.product
    lift = where(short, const(0, a.dtype), low.lift - high.lift)
    return log_of_sum(where(short, 1.0, ratio), where(short, -ratio, 0.0), lift)


def _stirling_apart(low: Shifted, high: Shifted, distance: Node) -> Node:
    """The Stirling series at the greater argument less that at the lesser."""
    series, slope = divided_difference(high.v, low.v, LGAMMA[width(low.x)])
    return -(distance * low.r * high.r) * (series + high.r * (low.r + high.r) * slope)


def _digamma_series_apart(low: Shifted, high: Shifted, distance: Node) -> Node:
    """The series of digamma at the lesser argument less that at the greater."""
    series, slope = divided_difference(high.v, low.v, DIGAMMA[width(low.x)])
    return (distance * low.r * high.r) * (low.r + high.r) * (series + high.v * slope)


def _lgamma_delta(x: Node, d: Node) -> Node:
    """The difference of two Stirling series: (w - 1/2) log1p(D/w) + D (log(w + D) - 1) + ..., log products apart."""
    low, high, distance = _ordered(x, d)
    y = (low.w - 0.5) * joined(*log1p_parts(distance * low.r)) + distance * log_ratio_e(high.w)
    y = y + _stirling_apart(low, high, distance)
    y = y + _log_of_products(low, high, abs(d))
    y = edged(y, low.x, -INFINITY)
    return where(d < 0, -y, y)


def _digamma_delta(x: Node, d: Node) -> Node:
    """The difference of two series: log1p(D/w) + D / (2 w (w + D)) + ..., sums of reciprocals apart."""
    low, high, distance = _ordered(x, d)
    y = joined(*log1p_parts(distance * low.r)) + 0.5 * distance * low.r * high.r
    y = y + _digamma_series_apart(low, high, distance) + _reciprocals_apart(low, high, abs(d))
    y = edged(y, low.x, INFINITY)
    return where(d < 0, -y, y)


def lgamma_half_step(x: Node) -> Node:
    """lgamma(x + 1/2) - lgamma(x) - log(2 x) / 2: of the logarithms one is left, and one of what the shifts add."""
    low, high, _ = _ordered(x, const(0.5, x.dtype))
    share = where(low.below, low.product * high.inverse, 1.0)
    added = where(low.below, share * (low.w * (share / x)), 1.0)
    y = (low.w * joined(*log1p_parts(0.5 * low.r)) - 0.5 * math.log(2 * math.e)) + 0.5 * log(added)
    return edged(y + _stirling_apart(low, high, const(0.5, x.dtype)), x, -INFINITY)


def _beta_like(p: Node, q: Node, c: Node, gap: float) -> Node:
    """lgamma(p) + lgamma(q) - lgamma(c) for c = p + q - gap and p <= q.

    That is lgamma(p) - lgamma_delta(q, D) with its large terms D log(p) and D log(c) as one logarithm.
    """
    low, high, whole = shifted(p), shifted(q), shifted(c)
    distance = (p - gap) + (whole.shift - high.shift)
    surplus = (low.shift + high.shift) - whole.shift
    y = distance * log_normal(low.w * whole.r) + (surplus + (gap - 0.5)) * log_ratio_e(low.w)
    y = y - (high.w - 0.5) * joined(*log1p_parts(distance * high.r))
    y = y + (CONSTANT + (_stirling(low) + (_stirling(high) - _stirling(whole))))
    product = low.product * (high.product * whole.inverse)
    return edged(y - log_normal(product, surplus * LIFT[width(p)]), p, INFINITY)


def _digamma_gap(x: Node, d: Node) -> Node:
    """The logarithms of the difference and log(1 + d/x) are one, which is of 1 where there is no shift."""
    low, high, distance = _ordered(x, d)
    share = low.r * where(high.below, 1.0 / high.x, 1.0)
    kept, lost = x * share * where(high.below, high.w, 1.0), -low.shift * share * where(high.below, d, 1.0)
    y = log_of_either(kept < 0.5, kept, lost) + 0.5 * distance * low.r * high.r
    y = y + _digamma_series_apart(low, high, distance) + _reciprocals_apart(low, high, d)
    return edged(y, low.x, INFINITY)


def _log_beta_peak(a: Node, b: Node) -> Node:
    """By Stirling's series of a, b and a + b, whose large terms are those of the power; -log B where a or b is few."""
    swap = b < a
    p, q = where(swap, b, a), where(swap, a, b)
    low, high, whole = shifted(p), shifted(q), shifted(a + b)
    distance = p + (whole.shift - high.shift)
    surplus = (low.shift + high.shift) - whole.shift
    apart = joined(*log1p_parts(distance * high.r))
    y = (surplus - 0.5) * log_ratio_e(low.w) + (CONSTANT + (_stirling(low) + (_stirling(high) - _stirling(whole))))
    few = distance * log_normal(low.w * whole.r) - (high.w - 0.5) * apart
    few = few - log_normal(low.product * (high.product * whole.inverse), surplus * LIFT[width(p)])
    few = few - (p * log(p / (a + b)) - q * log1p(p / q))
    return edged(-(y + where(low.below, few, 0.5 * apart)), p, -INFINITY)


def _lbeta_near_1(a: float, b: float) -> float:
    """log B(1 + u, 1 + v) = -log((1 + u) (1 + v)) less the series of (u + v)**k - u**k - v**k, DLMF 5.7.3."""
    u, v = a - 1.0, b - 1.0
    product, power_u, power_v = u * v, u, v
    apart, total = 2.0 * product, 0.0
    for coefficient in BETA_SERIES:
        total += coefficient * apart
        apart = (u + v) * apart + product * (power_u + power_v)
        power_u *= u
        power_v *= v
    return -plain_log1p(u + v + product) - total


def _lbeta_of_count(a: Node, b: Node) -> Node:
    swap = b < a
    return _beta_like(where(swap, b, a), where(swap, a, b), a + b, 0.0)


def _lbeta(a: Node, b: Node) -> Node:
    """Next to a = b = 1, where it is 0, by a series of its own."""
    usual = _lbeta_of_count(a, b)
    near = (abs(a - 1.0) < NEAR) & (abs(b - 1.0) < NEAR)
    return Node(_seldom.name, (near, a, b, usual), (), usual.shape, usual.dtype)


def _log_choose(n: Node, k: Node) -> Node:
    """lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)."""
    rest = n - k
    swap = rest < k
    return -_beta_like(where(swap, rest, k) + 1.0, where(swap, k, rest) + 1.0, n + 1.0, 1.0)


def _log_multinomial(k: Node, m: Node) -> Node:
    """lgamma(k + m + 1) - lgamma(k + 1) - lgamma(m + 1); a lesser one below 1 is a factor of both differences."""
    swap = m < k
    p, q = where(swap, m, k), where(swap, k, m)
    few = lgamma_delta(q + 1.0, p) - lgamma_delta(const(1.0, p.dtype), p)
    return where(p < 1.0, few, -_beta_like(p + 1.0, q + 1.0, (p + q) + 1.0, 1.0))


lgamma_delta: Primitive = primitive(
    "lgamma_delta", 2, expand=_lgamma_delta,
    partials=lambda x, d, out: (digamma_delta(x, d), digamma(x + d)), floating=True, domain=(POSITIVE, POSITIVE),
)
digamma_delta: Primitive = primitive(
    "digamma_delta", 2, expand=_digamma_delta,
    partials=lambda x, d, out: (trigamma(x + d) - trigamma(x), trigamma(x + d)),
    floating=True, domain=(POSITIVE, POSITIVE),
)
_seldom = primitive("lbeta_near_1", 4, routine=_lbeta_near_1, seldom=True)
lbeta: Primitive = primitive(
    "lbeta", 2, expand=_lbeta,
    partials=lambda a, b, out: (-digamma_delta(a, b), -digamma_delta(b, a)),
    floating=True, ufuncs=("betaln",), domain=(POSITIVE, POSITIVE), oracle="scipy.special.betaln",
)
lbeta_of_count: Primitive = primitive(  # log B(a, b) for b >= 2, as is the count behind one of 1 or more
    "lbeta_of_count", 2, expand=_lbeta_of_count,
    partials=lambda a, b, out: (-digamma_delta(a, b), -digamma_delta(b, a)),
    floating=True, domain=(POSITIVE, (2.0, 40.0)), oracle="scipy.special.betaln",
)
digamma_gap: Primitive = primitive(  # digamma(x + d) - digamma(x) - log(1 + d/x) for d >= 0
    "digamma_gap", 2, expand=_digamma_gap,
    partials=lambda x, d, out: (trigamma_excess(x + d) - trigamma_excess(x), trigamma_excess(x + d)),
    floating=True, domain=(POSITIVE, POSITIVE),
)
log_beta_peak: Primitive = primitive(  # log(y**a (1 - y)**b / B(a, b)) at its greatest, where y is a / (a + b)
    "log_beta_peak", 2, expand=_log_beta_peak,
    partials=lambda a, b, out: (digamma_gap(a, b), digamma_gap(b, a)), floating=True, domain=(POSITIVE, POSITIVE),
)
log_choose: Primitive = primitive(
    "log_choose", 2, expand=_log_choose,
    partials=lambda n, k, out: (digamma_delta(n - k + 1.0, k), digamma_delta(k + 1.0, n - 2.0 * k)),
    floating=True, domain=((12.0, 40.0), (0.0, 11.0)),
)
log_multinomial: Primitive = primitive(  # log C(k + m, k)
    "log_multinomial", 2, expand=_log_multinomial,
    partials=lambda k, m, out: (digamma_delta(k + 1.0, m), digamma_delta(m + 1.0, k)),
    floating=True, domain=((0.01, 40.0), (0.01, 40.0)),
)
