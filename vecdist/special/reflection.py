"""The gamma family on the whole real line: below 0 by reflection, DLMF 5.5.3 and 5.5.4.

Entries of their own, for the reflection costs a logarithm or two that positive arguments need not pay.
"""

from __future__ import annotations

import math

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, rint
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import INFINITY, NAN
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import near_sin, near_tan
from vecdist.special.gamma_functions import digamma, lgamma, trigamma


def _angle(x: Node) -> Node:
    """pi times the exact distance of ``x`` from the nearest whole number."""
    return math.pi * (x - rint(x))


def _above(x: Node) -> Node:
    """``x``, or its reflection 1 - x where it is negative."""
    return where(x < 0, 1.0 - x, x)


def _log_abs_gamma(x: Node) -> Node:
    """log(pi) - log |sin(pi x)| - lgamma(1 - x) below 0, inf at the poles."""
    up = lgamma(_above(x))
    return where(x < 0, where(eq(x, -INFINITY), INFINITY, (math.log(math.pi) - log(abs(near_sin(_angle(x))))) - up), up)


def _at_poles(y: Node, x: Node) -> Node:
    """``y``, nan at the negative whole numbers, where the sign of an infinity would depend on the side."""
    return where((x < 0) & eq(x, rint(x)), const(NAN, x.dtype), y)


def _digamma(x: Node) -> Node:
    up = digamma(_above(x))
    return _at_poles(where(x < 0, up - math.pi / near_tan(_angle(x)), up), x)


def _trigamma(x: Node) -> Node:
    up = trigamma(_above(x))
    s = near_sin(_angle(x))
    return where(x < 0, math.pi**2 / (s * s) - up, up)


def _no_derivative(x: Node, out: Node) -> tuple[Node]:
    raise NotImplementedError("trigamma_real has no derivative; trigamma, of positive arguments, has")


REAL = (-0.9, -0.1)

log_abs_gamma: Primitive = primitive(
    "log_abs_gamma", expand=_log_abs_gamma, partials=lambda x, out: (digamma_real(x),),
    floating=True, domain=(REAL,), oracle="scipy.special.gammaln",
)
digamma_real: Primitive = primitive(
    "digamma_real", expand=_digamma, partials=lambda x, out: (trigamma_real(x),),
    floating=True, domain=(REAL,), oracle="scipy.special.psi",
)
trigamma_real: Primitive = primitive(
    "trigamma_real", expand=_trigamma, partials=_no_derivative, floating=True, domain=(REAL,),
)
