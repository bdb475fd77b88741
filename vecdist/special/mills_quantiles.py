"""Quantiles of the families whose tails are phi(z) times the sum or the difference of two Mills ratios: routines.

Each is the root of the logarithm of the shorter tail, between bounds that every step narrows.
"""

from __future__ import annotations

import math
from math import erfc, exp, expm1, inf, log, nan, pi, sqrt

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt as node_sqrt
from vecdist.primitives.elementary import exp as node_exp
from vecdist.primitives.rounding import quotient_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.mills import REACH, mills, two_mills
from vecdist.special.normal_tail import ROOT_HALF, erfcx, inverse_mills, inverse_mills_gap, ndtr, normal_pdf
from vecdist.special.scalar import SETTLED, STEPS, halley, log_tail, log_tail_slope, narrowed, normal_quantile

ROOT_2_PI = sqrt(2.0 * pi)


def wald_parts(mean: float, shape: float, x: float) -> tuple[bool, float, float, float, float]:
    """The ``lower`` tail of the inverse Gaussian distribution, or the upper one, as exp(e) w.

    Beside it exp(e) times its slope in log(x), and the slope of log(x f(x)) in log(x).
    """
    root = sqrt(shape / x)
    relative = x / mean
    z = root * ((x - mean) / mean) if mean < inf else -root
    lower = z < -0.7
    if lower:
        total, slope = two_mills(-z, 2.0 * root * relative, 1.0), root
    else:
        total, slope = two_mills(z, 2.0 * root, -1.0), -root
    curvature = -0.5 - 0.5 * root * root * (relative - 1.0) * (relative + 1.0)
    return lower, -0.5 * z * z, total / ROOT_2_PI, slope / ROOT_2_PI, curvature


def wald_guess(mean: float, shape: float, p: float, q: float) -> float:
    """Where z has the quantile of a normal variable, but no more than the Lévy quantile, which bounds x."""
    z = normal_quantile(min(p, q))
    if q < p:
        z = -z
    wide = sqrt(z * z / shape + 4.0 / mean)
    root = 2.0 / (wide - z / sqrt(shape)) if z < 0.0 else min(1e150, 0.5 * mean * (wide + z / sqrt(shape)))
    most = normal_quantile(0.5 * p)
    return max(1e-300, min(root * root, shape / max(most * most, 1e-300)))


def _wald_quantile(mean: float, shape: float, p: float) -> float:
    """The x with a distribution function of p, found in log(x)."""
    x, q = nan, 1.0 - p
    if p == 0.0:
        x = 0.0
    elif p == 1.0:
        x = inf
    elif mean > 0.0 and 0.0 < shape < inf and 0.0 < p < 1.0:
        x = wald_guess(mean, shape, p, q)
        least, most = 0.0, inf
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            lower, e, w, slope, curvature = wald_parts(mean, shape, x)
            same = lower == (p < q)
            slope = log_tail_slope(same, e, w, slope)
            excess = log_tail(same, e, w) - log(min(p, q))
            if (excess > 0.0) == (p < q):
                most = x
            else:
                least = x
            x += x * expm1(halley(excess, slope, curvature - slope))
            if abs(excess) > SETTLED and least > 0.0 and most < inf and (x <= least or x >= most):
                x = sqrt(least) * sqrt(most)
            x = max(1e-300, min(1e300, x))
            n += 1
    return x


def ex_gaussian_parts(ratio: float, z: float, below: bool) -> tuple[float, float, float]:
    """A tail of a normal variable plus an exponential one of mean 1 / ratio as exp(e) w, and its slope f / (exp(e) w).

    That tail is the lower one if ``below``, and else the upper one.
    """
    t, tilt = z - ratio, ratio * (0.5 * ratio - z)
    bell = exp(-0.5 * t * t) / ROOT_2_PI
    e, density = -0.5 * z * z, 0.0
    if t < 0.0:
        density = ratio * mills(-t) / ROOT_2_PI
    else:
        density = ratio * 0.5 * erfc(-ROOT_HALF * t)
        if not below or z > REACH:
            e = tilt
        else:
            density *= exp(0.5 * t * t)
    if below and z > REACH:
        w = -expm1(tilt) * exp(-max(-700.0, e))
    elif below:
        w = two_mills(-z, ratio, -1.0) / ROOT_2_PI
    elif t >= 0.0:
        w = density / ratio + bell * mills(z)
    elif z > 0.0:
        w = two_mills(min(z, -t), abs(z + t), 1.0) / ROOT_2_PI
    else:
        w = density / ratio + 0.5 * erfc(ROOT_HALF * z) * exp(-max(-700.0, e))
    return e, w, density / max(w, 1e-300)


def _ex_gaussian_quantile(scale: float, rate: float, p: float) -> float:
    """The x - loc with a distribution function of p; tails of a sum are no more than those of its addends, added."""
    z, q, ratio = nan, 1.0 - p, scale * rate
    if p == 0.0:
        z = -inf
    elif p == 1.0:
        z = inf
    elif 0.0 < ratio < inf and 0.0 < p < 1.0:
        tail, sign = min(p, q), 1.0 if p <= q else -1.0
        least = sign * normal_quantile(tail) - 0.001
        most = 0.001 - normal_quantile(0.5 * q) + log(2.0 / q) / ratio
        z = 0.5 * (least + most)
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            e, w, slope = ex_gaussian_parts(ratio, z, p <= q)
            excess = e + log(max(w, 1e-300)) - log(tail)
            if sign * excess > 0.0:
                most = z
            else:
                least = z
            z = narrowed(z - sign * excess / slope if slope > 0.0 else inf, abs(excess) <= SETTLED, least, most)
            n += 1
    return scale * z


def _wald_partials(mean: Node, shape: Node, p: Node, out: Node) -> tuple[Node, Node, Node]:
    """-dF / f, whose terms by the second Mills ratio are added up so that nothing cancels next to the mean."""
    root = node_sqrt(shape / out)
    relative = out / mean
    away = (relative - 1.0) + quotient_rest(out, mean)
    second = -root * (relative + 1.0)
    hazard = inverse_mills(second)
    of_mean = 2.0 * relative * (node_sqrt(shape * out) / mean) / hazard
    of_shape = (out / shape * inverse_mills_gap(second) - away / root) / hazard
    return of_mean, of_shape, out / (root * normal_pdf(root * away))


def _ex_gaussian_partials(scale: Node, rate: Node, p: Node, out: Node) -> tuple[Node, Node, Node]:
    """-dF / f, which are means of the normal variable, and of what is added, where the sum is known."""
    z, ratio = out / scale, scale * rate
    t = z - ratio
    near = t < 0.0
    by_bell = normal_pdf(z) * (math.sqrt(0.5 * math.pi) * erfcx(-ROOT_HALF * where(near, t, 0.0)))
    by_tail = node_exp(ratio * (0.5 * ratio - where(near, ratio, z))) * ndtr(t)
    gap = inverse_mills_gap(t)
    of_scale = where(near, z - gap, ratio - inverse_mills(t))
    return of_scale, -scale / rate * gap, 1.0 / (rate * where(near, by_bell, by_tail))


inverse_gaussian_quantile: Primitive = primitive(
    "inverse_gaussian_quantile", 3, routine=_wald_quantile, partials=_wald_partials,
    floating=True, domain=((0.2, 8.0), (0.2, 8.0), (0.05, 0.95)),
)
ex_gaussian_quantile: Primitive = primitive(
    "ex_gaussian_quantile", 3, routine=_ex_gaussian_quantile, partials=_ex_gaussian_partials,
    floating=True, domain=((0.3, 3.0), (0.3, 3.0), (0.05, 0.95)),
)
