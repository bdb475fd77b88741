"""When Brownian motion first leaves an interval at one of its ends: the density as two series.

The time is t in units of the length squared, and the start is at a share w of the length from the end that is hit.
Navarro and Fuss (2009), Fast and accurate calculations for first-passage times in Wiener diffusion models, Journal of
Mathematical Psychology 53, equations (3) to (5); of either series the few terms that matter on its side of ``EARLY``.
"""

from __future__ import annotations

import math

from vecdist.graph.node import Node, const, where
from vecdist.primitives.elementary import exp, expm1, log
from vecdist.primitives.floating import at_most
from vecdist.primitives.trigonometric import near_cos, near_sin

EARLY = 0.3
IMAGES = 3  # the next one has a share of exp(-12 / EARLY)
LATE = 20.0  # from here on there is one wave
WAVES = 6  # the next one has a share of exp(-24 pi^2 EARLY)


def log_images(t: Node, w: Node, rest: Node) -> Node:
    """The logarithm of the early series over w exp(-w^2 / (2 t)), the density's but for the other end; w + rest is 1.

    By pairs of images about the nearer end, which cancel there: of -(v + c) and c - v for the distance v from it and
    c = 2, 4, ..., or where that is the other end 1, 3, ...
    """
    near = w < rest
    v, least = where(near, w, rest), where(near, const(2.0, t.dtype), 1.0)
    total = const(0.0, t.dtype)
    for place in range(IMAGES):
        c = least + 2.0 * place
        fall = where(near, c * (c - 2.0 * v), (c - 1.0) * ((c + 1.0) - 2.0 * v))
        pair = exp(-0.5 * fall / t) * ((c + v) * (-expm1(-2.0 * c * (v / t)) / v) - 2.0)
        total = total + pair
    share = where(near, 1.0 - total, v / w * total)
    return log(share)


def log_waves(t: Node, w: Node, rest: Node) -> Node:
    """The logarithm of the late series: a sum of pi k sin(k pi w) exp(-k^2 pi^2 t / 2), by Chebyshev's polynomials."""
    near = w < rest
    v = where(near, w, rest)
    cosine = near_cos(math.pi * v)
    twice = where(near, 2.0 * cosine, -2.0 * cosine)
    q = exp(-0.5 * math.pi**2 * at_most(t, LATE))
    before, wave, total = const(0.0, t.dtype), const(1.0, t.dtype), const(1.0, t.dtype)
    for k in range(2, WAVES + 1):
        before, wave = wave, twice * wave - before
        total = total + k * wave * q ** (k * k - 1)
    return math.log(math.pi) + log(near_sin(math.pi * v)) - 0.5 * math.pi**2 * t + log(total)
