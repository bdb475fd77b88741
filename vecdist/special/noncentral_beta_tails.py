"""Distribution functions of noncentral beta and F variables, their logarithms, derivatives and inverse.

They are mixtures of central ones, of shapes a + k and b, by the masses of a Poisson distribution of k: sums of positive
terms, of every k or of so few at equal steps that the sum is that of all.  The term after the greatest ones is known by
the saddle of k (Benton and Krishnamoorthy 2003, Computing discrete mixtures of continuous distributions, Computational
Statistics and Data Analysis 43, who begin their sums there).  ``form`` says what z is, as in ``beta_of_odds``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, nan, sqrt
from typing import Any

from vecdist.graph.node import Node, const, where
from vecdist.primitives.scalar import exact_sum
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.beta_of_odds import ODDS, RATIO, point
from vecdist.special.beta_of_odds import tails as central_tails
from vecdist.special.exponents import exact_quotient
from vecdist.special.gamma_of_log import of_any
from vecdist.special.scalar import (
    LEAST,
    SETTLED,
    STEPS,
    halley,
    log_less,
    log_tail,
    log_tail_slope,
    narrowed,
    reciprocal_gamma,
    stirling,
    tail,
    tail_slope,
)

TINY, HUGE = 1e-290, 1e290  # rates
FEW = 40.0  # of a saddle further from 0 the masses are smooth, and nothing is left at 0
NOTHING = 1e-19
TERMS = 1000  # more than are taken
FARTHEST = 700.0  # where exp nears the end of floats


def log_mass(k: float, rate: float) -> float:
    """log(rate**k exp(-rate) / gamma(k + 1)), for any k >= 0."""
    if k >= LEAST:
        y = k * log_less(rate, k, (rate - k) / k) - 0.5 * log(6.283185307179586 * k) - stirling(k)
    else:
        y = (k * log(rate) - rate) + log(reciprocal_gamma(k))
    return y


def saddle(a: float, b: float, w: float) -> float:
    """Where masses times a tail are greatest: k (a + k) = w (a + b + k)."""
    less, more = w - a, 2.0 * sqrt(w) * sqrt(a + b)
    big, small = max(abs(less), more), min(abs(less), more)
    root = big * sqrt(1.0 + (small / big) * (small / big)) if big > 0.0 else 0.0
    return 0.5 * (less + root) if less > 0.0 else 2.0 * w * ((a + b) / (root - less)) if root > less else 0.0


def term(
    lower: bool, form: float, a: float, b: float, unit: float, z: float, k: float
) -> tuple[float, float, float, float, float]:
    """A tail of the shapes a + k and b as exp(e) w, and exp(e) times its slopes in a, b and logit(x) for the odds of a.

    Where the other tail is the known one, it is at most most of all.
    """
    share = a / (a + k)
    scale = unit
    if form > 1.5:
        scale = unit * sqrt(share)
    elif form > 0.5:
        scale = unit * share
    known, e, w, of_a, of_b, of_x = central_tails(form, a + k, b, scale, z)
    if 0.5 < form < 1.5:
        of_a += of_x * (k / a / (a + k))
    if known != lower:
        rest = exp(e)
        e, w, of_a, of_b, of_x = 0.0, 1.0 - rest * w, -rest * of_a, -rest * of_b, -rest * of_x
    return e, w, of_a, of_b, of_x


def mixture(
    lower: bool, form: float, a: float, b: float, rate: float, unit: float, z: float, x: float
) -> tuple[float, float, float, float, float, float]:
    """A tail at the share x as exp(e) w, and exp(e) times its slopes in a, b, the rate and logit(x)."""
    step = 0.5 if form > 1.5 else 1.0  # a noncentral t variable has shapes of every half
    middle = saddle(a, b, rate * x)
    deviation = 1.0 / sqrt(1.0 / (middle + 1.0) + b / (a + middle) / (a + b + middle))
    stride = max(1.0, (0.5 * deviation / step) // 1.0) * step if middle > FEW else step
    middle = middle // step * step
    top, total, all_a, all_b, all_rate, all_x = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    k, side, n = middle, 1.0, 0
    while k >= 0.0 and n < TERMS:
        e, w, of_a, of_b, of_x = term(lower, form, a, b, unit, z, k)
        e += log_mass(k, rate)
        if n == 0:
            top = e
        weight = exp(min(e - top, 700.0))
        total += weight * w
        all_a += weight * of_a
        all_b += weight * of_b
        all_rate -= weight * of_x / (a + k)
        all_x += weight * of_x
        if weight * (abs(w) + abs(of_x)) <= NOTHING * (total + abs(all_x)):
            k = middle if side > 0.0 else -1.0
            side = -1.0
        k += side * stride
        n += 1
    many = stride / step
    return top, many * total, many * all_a, many * all_b, many * all_rate, many * all_x


def parts(
    form: float, a: float, b: float, rate: float, unit: float, z: float
) -> tuple[bool, float, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w; exp(e) times its slopes in a, b, the rate and logit(x)."""
    lower, e, w, of_a, of_b, of_rate, of_x = True, 0.0, nan, nan, nan, nan, nan
    if a > 0.0 and b > 0.0 and a + b < inf and 0.0 <= rate < HUGE and z >= 0.0:
        x, y, _, _ = point(form, a, b, unit, z)
        lower = (a + rate) * y > b * x
        if z == 0.0:
            e, w, of_a, of_b, of_rate, of_x = -inf, 1.0, -inf, inf, -1.0, a
        elif z == inf:
            e, w, of_a, of_b, of_rate, of_x = -inf, 1.0, inf, -inf, 1.0, -b
        else:
            e, w, of_a, of_b, of_rate, of_x = mixture(lower, form, a, b, max(rate, TINY), unit, z, x)
    return lower, e, w, of_a, of_b, of_rate, of_x


def tails(
    form: float, a: float, b: float, rate: float, z: float
) -> tuple[bool, float, float, float, float, float, float]:
    """``parts`` of a ratio z, whose odds are z a / b, or of a share z itself; slopes in log(z) or logit(z)."""
    unit = 1.0
    if form < 0.5:
        y, y_low = exact_sum(1.0, -z)
        if y > 0.0:
            odds, unit = exact_quotient(z, 0.0, y)
            unit -= odds * (y_low / y)
            z = odds
        else:
            z = inf if y == 0.0 else nan
    lower, e, w, of_a, of_b, of_rate, of_x = parts(form, a, b, rate, unit, z)
    return lower, e, w, of_a, of_b, of_rate, of_x


def chosen(which: float, first: float, second: float, third: float, last: float) -> float:
    """The derivative in the argument that ``which`` numbers."""
    slope = first
    if which == 1.0:
        slope = second
    elif which == 2.0:
        slope = third
    elif which == 3.0:
        slope = last
    return slope


def _tail(below: float, form: float, a: float, b: float, rate: float, z: float) -> float:
    lower, e, w, _, _, _, _ = tails(form, a, b, rate, z)
    return tail(lower == (below > 0.0), e, w)


def _log_tail(below: float, form: float, a: float, b: float, rate: float, z: float) -> float:
    lower, e, w, _, _, _, _ = tails(form, a, b, rate, z)
    return log_tail(lower == (below > 0.0), e, w)


def _slope(which: float, below: float, form: float, a: float, b: float, rate: float, z: float) -> float:
    lower, e, _, of_a, of_b, of_rate, of_z = tails(form, a, b, rate, z)
    return tail_slope(lower == (below > 0.0), e, chosen(which, of_a, of_b, of_rate, of_z))


def _log_slope(which: float, below: float, form: float, a: float, b: float, rate: float, z: float) -> float:
    lower, e, w, of_a, of_b, of_rate, of_z = tails(form, a, b, rate, z)
    return log_tail_slope(lower == (below > 0.0), e, w, chosen(which, of_a, of_b, of_rate, of_z))


def _quantile_slope(
    which: float, below: float, form: float, a: float, b: float, rate: float, z: float
) -> float:
    """The derivative of the z at which a tail has a given value, in a, b, the rate or that value; 0 or infinite z."""
    _, e, _, of_a, of_b, of_rate, of_z = tails(form, a, b, rate, z)
    near = z * (1.0 - z) if form < 0.5 else z
    d = 0.0
    if which < 3.0 and of_z != 0.0 and near > 0.0:
        d = -near * (chosen(which, of_a, of_b, of_rate, of_z) / of_z)
    elif which == 3.0 and near > 0.0:
        rise = log(near) - e - log(abs(of_z)) if of_z != 0.0 else inf
        d = (exp(rise) if rise < 709.78 else inf) * (1.0 if below > 0.0 else -1.0)
    elif which == 3.0:
        d = 0.0 if z == 0.0 and a < 1.0 else inf
    return d


def root(a: float, b: float, rate: float, p: float, q: float) -> float:
    """The logarithm of the odds below which there is p, and above which q: by that of the lesser tail.

    Far out both tails are powers of the odds.
    """
    least, most = -FARTHEST, FARTHEST
    u = log((a + rate) / b)
    n, excess = 0, 1.0
    while n < STEPS and abs(excess) > SETTLED and abs(u) < FARTHEST:
        lower, e, w, _, _, _, of_x = parts(ODDS, a, b, rate, 0.0, exp(u))
        same = lower == (p < q)
        slope = log_tail_slope(same, e, w, of_x)
        excess = log_tail(same, e, w) - log(min(p, q))
        if (excess > 0.0) == (p < q):
            most = u
        else:
            least = u
        u = max(-FARTHEST, min(FARTHEST, u + halley(excess, slope, ((a + rate) - b * exp(u)) / (1.0 + exp(u)) - slope)))
        if abs(u) < FARTHEST:
            u = narrowed(u, abs(excess) <= SETTLED, least, most)
        n += 1
    if abs(u) >= FARTHEST:
        lower, e, w, _, _, _, _ = parts(ODDS, a, b, rate, 0.0, exp(u))
        same = lower == (u < 0.0)
        u += (log(p) - log_tail(same, e, w)) / a if u < 0.0 else (log_tail(same, e, w) - log(q)) / b
    return u


def _quantile(below: float, form: float, a: float, b: float, rate: float, share: float) -> float:
    """The z below which there is a share, or above which."""
    z = nan
    p, q = (share, 1.0 - share) if below > 0.0 else (1.0 - share, share)
    if p == 0.0:
        z = 0.0
    elif q == 0.0:
        z = inf
    elif a > 0.0 and b > 0.0 and a + b < inf and 0.0 <= rate < HUGE and 0.0 < share < 1.0:
        u = root(a, b, rate, p, q)
        if form > 0.5:
            u += log(b) - log(a)
        z = exp(max(u, -800.0)) if u < 709.78 else inf
    if form < 0.5:
        z = 1.0 if z == inf else z / (1.0 + z)
    return z


def _slopes_of(slope: Callable[..., Node], logarithm: bool) -> Callable[..., tuple[Node | None, ...]]:
    """The partials of a tail or its logarithm, by ``slope``."""

    def partials(below: Node, form: Node, a: Node, b: Node, rate: Node, z: Node, out: Node) -> tuple[Node | None, ...]:
        slopes = [slope(const(which, z.dtype), below, form, a, b, rate, z) for which in (0.0, 1.0, 2.0, 3.0)]
        slopes[-1] = slopes[-1] / z / where(form < 0.5, 1.0 - z, 1.0)
        return (None, None, *(of_any(out, each) if logarithm else each for each in slopes))

    return partials


def _slopes_of_quantile(
    below: Node, form: Node, a: Node, b: Node, rate: Node, share: Node, out: Node
) -> tuple[Node | None, ...]:
    which = (const(place, share.dtype) for place in (0.0, 1.0, 2.0, 3.0))
    return (None, None, *(noncentral_beta_quantile_slope(each, below, form, a, b, rate, out) for each in which))


FORMS, SHAPES = (RATIO, RATIO), ((0.4, 2.0), (2.0, 6.0), (0.2, 0.6))
COMMON: Any = {"floating": True, "domain": ((1.0, 1.0), FORMS, *SHAPES, (0.2, 1.5))}
ONE_OF: Any = {"floating": True, "domain": ((0.0, 3.0), (1.0, 1.0), FORMS, *SHAPES, (0.2, 1.5))}

noncentral_beta_slope: Primitive = primitive(
    "noncentral_beta_slope", 7, routine=_slope, tangent=no_derivatives("noncentral_beta_slope"), **ONE_OF,
)
log_noncentral_beta_slope: Primitive = primitive(
    "log_noncentral_beta_slope", 7, routine=_log_slope, tangent=no_derivatives("log_noncentral_beta_slope"), **ONE_OF,
)
noncentral_beta_quantile_slope: Primitive = primitive(
    "noncentral_beta_quantile_slope", 7, routine=_quantile_slope,
    tangent=no_derivatives("noncentral_beta_quantile_slope"), **ONE_OF,
)
# of the lower tail where the first argument is 1, of the upper one where it is 0
noncentral_beta_tail: Primitive = primitive(
    "noncentral_beta_tail", 6, routine=_tail, partials=_slopes_of(noncentral_beta_slope, False), **COMMON,
)
log_noncentral_beta_tail: Primitive = primitive(
    "log_noncentral_beta_tail", 6, routine=_log_tail, partials=_slopes_of(log_noncentral_beta_slope, True), **COMMON,
)
noncentral_beta_quantile: Primitive = primitive(
    "noncentral_beta_quantile", 6, routine=_quantile, partials=_slopes_of_quantile,
    floating=True, domain=((1.0, 1.0), FORMS, *SHAPES, (0.05, 0.5)),
)
