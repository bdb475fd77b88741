"""Lambert's W, the inverse of w exp(w), on its two real branches, DLMF 4.13.

Next to the branch point a polynomial in p = sqrt(2 (1 + e x)), elsewhere steps of fourth order (Fritsch, Shafer and
Crowley 1973).
"""

from __future__ import annotations

from math import e, inf, log, log1p, nan, sqrt

from vecdist.graph.node import Node, where
from vecdist.primitives.elementary import exp
from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, primitive

INVERSE_E = (0.36787944117144233, -1.2428753672788363e-17)  # in two parts
NEAR = 0.4
# (W + 1) / p in p on |p| <= NEAR, the highest coefficient first: relative error 1.8e-18
BRANCH = (
    -8.529380260576557e-05, 0.0001254201352244616, -0.00011929800432622729, 0.00018036590260140948,
    -0.00029477830029829956, 0.0004451791593666086, -0.0006718009101811711, 0.0010259529075697606,
    -0.0015769508037138194, 0.002440899780532151, -0.0038112970154721053, 0.00601454233243725, -0.009616892055773915,
    0.01563563255429834, -0.025984714873035955, 0.0445023148145578, -0.07962962962963492, 0.15277777777777882,
    -0.3333333333333333, 1.0,
)


def branch_distance(x: float) -> float:
    """x + 1/e, 0 where -1/e was rounded down."""
    q = (x + INVERSE_E[0]) + INVERSE_E[1]
    return 0.0 if -1e-16 < q < 0.0 else q


def improved(x: float, w: float) -> float:
    """The root of w exp(w) = x next to ``w``."""
    for _ in range(3):
        z = log(x / w) - w
        q = 2.0 * (1.0 + w) * (1.0 + w + 2.0 / 3.0 * z)
        w = w + w * (z / (1.0 + w)) * ((q - z) / (q - 2.0 * z))
    return w


def _lambertw(x: float) -> float:
    q, y = branch_distance(x), nan
    if x == 0.0 or x == inf:
        y = x
    elif q >= 0.0:
        p = sqrt(2.0 * e * q)
        if p < NEAR:
            y = p * horner(p, BRANCH) - 1.0
        elif x < 0.0:
            y = improved(x, x * (1.0 + 4.0 / 3.0 * x) / (1.0 + x * (7.0 / 3.0 + 5.0 / 6.0 * x)))
        else:
            size = log1p(x)
            y = improved(x, size * (1.0 - log1p(size) / (2.0 + size)))
    return y


def _lambertw_lower(x: float) -> float:
    q, y = branch_distance(x), nan
    if x == 0.0:
        y = -inf
    elif q >= 0.0 and x < 0.0:
        p = -sqrt(2.0 * e * q)
        if p > -NEAR:
            y = p * horner(p, BRANCH) - 1.0
        elif x < -0.2:
            y = improved(x, p * (1.0 + p * (-0.34 + p * (0.153 - 0.08 * p))) - 1.0)
        else:
            size = log(-x)
            more = log(-size)
            y = improved(x, size - more + more / size)
    return y


def _slope(x: Node, out: Node) -> tuple[Node]:
    """exp(-W) / (1 + W), which is 1 at x = 0, DLMF 4.13.4; W / x in place of the exponential where W is large."""
    small = abs(out) < 0.5
    return (where(small, exp(-out), out / where(small, 1.0, x)) / (1.0 + out),)


lambertw: Primitive = primitive("lambertw", routine=_lambertw, partials=_slope, floating=True, domain=((-0.3, 30.0),))
lambertw_lower: Primitive = primitive(  # the branch below -1
    "lambertw_lower", routine=_lambertw_lower, partials=_slope, floating=True, domain=((-0.35, -0.01),),
)
