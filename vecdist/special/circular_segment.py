"""The angle of a circular segment of a given area."""

from __future__ import annotations

from math import exp, factorial, log, nan, pi, sin

from vecdist.primitives.arithmetic import square
from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import near_sin

SINE = tuple((-1) ** k / factorial(2 * k + 3) for k in range(9, -1, -1))  # (t - sin(t)) / t**3 in t**2


def less_sine(t: float) -> float:
    """t - sin(t) for t >= 0."""
    return t * t * t * horner(t * t, SINE) if t < 1.0 else t - sin(t)


def _segment_angle(y: float) -> float:
    """The root by Newton's method, of a convex function, from t**3 / 6 on."""
    t = nan
    if y == 0.0:
        t = 0.0
    elif 0.0 < y <= 2.0 * pi:
        t = exp(log(6.0 * y) / 3.0)
        n, step = 0.0, 1.0
        while n < 60.0 and abs(step) > 1e-9 * t:
            half = sin(0.5 * t)
            step = (less_sine(t) - y) / (2.0 * half * half) if half != 0.0 else 0.0
            t = min(t - step, 2.0 * pi)
            n += 1.0
    return t


segment_angle: Primitive = primitive(  # t from 0 to 2 pi with t - sin(t) = y
    "segment_angle", routine=_segment_angle, partials=lambda y, out: (0.5 / square(near_sin(0.5 * out)),),
    floating=True, domain=((0.01, 6.0),),
)
