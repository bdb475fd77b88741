"""True quantiles and their derivatives: roots of distribution functions of balls, next to an answer that is judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import balls
import numpy as np
from balls import Number
from flint import arb, ctx

STEPS = 12  # of Newton's method, each of which doubles the digits that an answer has
DIGITS = 350  # bits of a root: differences on both sides of it are exact
NEAR = arb(2) ** -300  # relative size of the last step
SQUARES = 3  # times the digits that 1 - 1 / (1 + x) loses where x is large
APART = arb(2) ** -250  # relative distance at which both sides of a root are looked at


def truth(
    name: str, at: Sequence[float], start: Any, places: Sequence[int], loc: float, scale: float, unit: bool = False
) -> list[Number | None]:
    """The quantile at a probability and parameters, and its partial derivatives at ``places`` of these.

    It is added to ``loc``, whose size is rounded at least, and is an exponential in units of the ``scale``, or as well
    known as if it were.  Where no root is next to ``start``, either it is so near that no other number of the format is
    right, as next to the end of a support, or all is wrong: a truth far from it stands for all.
    """
    sides = neighbours(start)
    ctx.prec = balls.BITS + SQUARES * max(0, *(math.frexp(each)[1] for each in (start, *sides)))
    q, *parameters = (arb(float(v)) for v in at)
    roots = (root(name, q, parameters, float(near)) for near in (start, *sides) if 0 < abs(near) < math.inf)
    x = next((x for x in roots if x is not None), None)
    if x is None:
        far = arb(0) if abs(start) == math.inf else arb("inf")
        return [None if enclosed(name, q, parameters, sides) else (far, 0.0)] * (1 + len(places))
    rise, away = slope(name, [x, *parameters], 0), abs(x - loc) / scale
    amplified = size_of_log(away)
    found: list[Number | None] = [(x, max(abs(loc), abs(float(x)) * amplified))]
    if unit:
        amplified = max(amplified, size_of_log(1 - x))
    for place in places:
        change = slope(name, [x, *parameters], place) if place else (arb(-1), 0.0)
        partial = change and rise and -change[0] / rise[0]
        found.append(partial and (partial, abs(float(partial)) * amplified))
    return found


def size_of_log(distance: arb) -> float:
    return max(1.0, abs(float(distance.log()))) if distance > 0 else 1.0


def neighbours(start: Any) -> tuple[Any, Any]:
    """The next numbers of the format that are not subnormal."""
    if start == 0:
        return -np.finfo(start.dtype).tiny, np.finfo(start.dtype).tiny
    return np.nextafter(start, -np.inf, dtype=start.dtype), np.nextafter(start, np.inf, dtype=start.dtype)


def enclosed(name: str, q: arb, parameters: Sequence[arb], sides: Sequence[Any]) -> bool:
    """Whether the quantile lies between two numbers, of which one may be outside the support."""
    low, high = (value(name, arb(float(side)), parameters) if abs(side) < math.inf else None for side in sides)
    if low is not None and high is not None and not low < high:  # a formula of the square, below 0
        low = None
    return (low is not None or high is not None) and (low is None or low <= q) and (high is None or q <= high)


def root(name: str, q: arb, parameters: Sequence[arb], start: float) -> arb | None:
    """Where the distribution function is ``q``, next to ``start``: it is less on one side, and more on the other."""
    x = arb(start)
    for _ in range(STEPS if math.isfinite(start) else 0):
        rise, below = slope(name, [x, *parameters], 0), value(name, x, parameters)
        if rise is None or below is None:
            return None
        step = (below - q) / rise[0]
        x = rounded(x - step)
        if abs(step) < NEAR * abs(x):
            sides = [value(name, rounded(x + away), parameters) for away in (-APART * abs(x), APART * abs(x))]
            return x if all(sides) and sides[0] < q < sides[1] else None
    return None


def value(name: str, x: arb, parameters: Sequence[arb]) -> arb | None:
    (found,) = balls.evaluated(balls.one_addend(lambda *at: balls.distribution_function(name, *at)), [x, *parameters])
    return found if found.is_finite() else None


def slope(name: str, at: Sequence[arb], place: int) -> Number | None:
    """A partial derivative of the distribution function; ``None`` where it is not determined, or not smooth."""
    function = balls.one_addend(lambda *at: balls.distribution_function(name, *at))
    size = abs(at[place]) if at[place] != 0 else min(abs(v) for v in at if v != 0)
    step = rounded(balls.STEP * size, 30)
    moved = ([v + way * step if i == place else v for i, v in enumerate(at)] for way in (1, 0, -1))
    up, middle, down = (balls.evaluated(function, values) for values in moved)
    return balls.slope(up, middle, down, step)


def rounded(x: arb, bits: int = DIGITS) -> arb:
    """The middle of a ball, with fewer digits."""
    with ctx.workprec(bits):
        return (+x).mid()
