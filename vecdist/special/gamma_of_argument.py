"""The logarithm of the upper gamma tail by log(x) in two parts, x being what stays where the shape moves.

Far beyond the mean the slope in the shape for a constant x is some log(x), and that for a constant x / shape, which
``gamma_of_log`` has, some x / shape: in float32 nothing is left of the first where that is had from the second.
"""

from __future__ import annotations

from math import exp, inf, log

from vecdist.graph.node import Node
from vecdist.primitives import elementary
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.gamma_functions import digamma
from vecdist.special.gamma_of_log import COMMON, log_gamma_beyond, log_gamma_beyond_slope, of_any, parts
from vecdist.special.gamma_of_power import digamma_beyond
from vecdist.special.parts import Parts, log_parts
from vecdist.special.scalar import log_tail_slope

FAR = 14.0  # the logarithm of what is large: two slopes as large nearly cancel


def _log_gamma_beyond_moved(a: float, rest: float, u: float) -> float:
    """For x = a exp(u + rest); by the first terms of DLMF 8.11.2 where x is large, and much larger than a."""
    d = 0.0
    if 0.0 < a < inf and FAR < u < inf and u + log(a) > FAR:
        d = u + (log(a) + rest) - digamma_beyond(a) + 1.0 / a + exp(-min(u + log(a), 700.0))
    elif u != -inf:
        lower, e, w, slope, slope_x = parts(a, rest, u)
        d = log_tail_slope(not lower, e, w, slope - slope_x / a)
    return d


def _tangent(a: Node, rest: Node, u: Node, out: Node) -> Node:
    """The slope that a tail's slope in log(x) has in the shape, by the derivative of the logarithm of the density."""
    score = (u + elementary.log(a)) - digamma(a)
    return log_gamma_beyond_slope(a, rest, u) * (score - out)


log_gamma_beyond_moved: Primitive = primitive(  # of log(Q) in a, for a constant x
    "log_gamma_beyond_moved", 3, routine=_log_gamma_beyond_moved,
    tangent=in_last("log_gamma_beyond_moved", _tangent), **COMMON,
)


def _relative(a: Node, high: Node, rest: Node) -> tuple[Node, Node, Node]:
    relative = Parts(high, rest) - log_parts(a)
    return a, relative.rest, relative.high


def _partials(a: Node, high: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
    at = _relative(a, high, rest)
    return of_any(out, log_gamma_beyond_moved(*at)), of_any(out, log_gamma_beyond_slope(*at)), None


log_gamma_beyond_argument: Primitive = primitive(  # log(Q(a, exp(high + rest)))
    "log_gamma_beyond_argument", 3, expand=lambda *at: log_gamma_beyond(*_relative(*at)), partials=_partials,
    floating=True, domain=((0.3, 40.0), (-2.0, 4.0), (-1e-17, 1e-17)),
)
