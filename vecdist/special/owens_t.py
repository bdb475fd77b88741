"""Owen's T function, the mass of a wedge under the standard normal density of two dimensions (Owen 1956)."""

from __future__ import annotations

import math
from math import erfc, exp, inf, nan, pi, sqrt

from vecdist.graph.node import Node
from vecdist.primitives.elementary import exp as node_exp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import erf
from vecdist.special.normal_tail import ROOT_HALF, normal_pdf
from vecdist.special.scalar import NODES, WEIGHTS

RANGE = 9.0  # standard deviations from which the integrand is nothing


def upper(x: float) -> float:
    """Phi(-x)."""
    return 0.5 * erfc(x / sqrt(2.0))


def wedge(h: float, a: float) -> float:
    """T(h, a) for 0 <= a <= 1, by 32 points of Gauss and Legendre as far as the integrand reaches."""
    end = a if h * a < RANGE else RANGE / h
    total = 0.0
    for k in range(16):
        for side in range(2):
            x = end * (NODES[k] if side == 0 else 1.0 - NODES[k])
            square = x * x
            total += WEIGHTS[k] * exp(-0.5 * h * h * square) / (1.0 + square)
    return exp(-0.5 * h * h) * end * total / (2.0 * pi)


def _owens_t(h: float, a: float) -> float:
    """T(h, a) for a > 1 from T(a h, 1 / a), in upper tails alone so that nothing cancels."""
    g, b = abs(h), abs(a)
    if not (g <= inf and b <= inf):
        y = nan
    elif g > 38.6:
        y = 0.0
    elif b <= 1.0:
        y = wedge(g, b)
    elif b == inf:
        y = 0.5 * upper(g)
    else:
        y = 0.5 * (upper(g) + upper(g * b)) - upper(g) * upper(g * b)
        if g * b < 38.6:
            y -= wedge(g * b, 1.0 / b)
    return y if a >= 0.0 else -y


def _slopes(h: Node, a: Node, out: Node) -> tuple[Node, Node]:
    """-phi(h) erf(a h / sqrt(2)) / 2 and exp(-h**2 (1 + a**2) / 2) / (2 pi (1 + a**2))."""
    whole = 1.0 + a * a
    of_a = node_exp((-0.5 * h) * (h * whole)) / ((2.0 * math.pi) * whole)
    return -0.5 * normal_pdf(h) * erf(ROOT_HALF * (a * h)), of_a


owens_t: Primitive = primitive(
    "owens_t", 2, routine=_owens_t, partials=_slopes,
    floating=True, ufuncs=("owens_t",), domain=((-3.0, 3.0), (-4.0, 4.0)), oracle="scipy.special.owens_t",
)
