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

FAR = 2.0  # the logarithm of x / a from where on, where x is large, too, ...
LARGE = 40.0  # ... the expansion for large x has all digits


def expanded(a: float, x: float) -> float:
    """The derivative in a of log(1 + (a - 1) / x + (a - 1) (a - 2) / x**2 + ...), DLMF 8.11.2."""
    term, total, term_slope, slope = 1.0, 1.0, 0.0, 0.0
    n = 1.0
    while n < 40.0 and abs(term) + abs(term_slope) > 1e-18:
        term_slope = (term_slope * (a - n) + term) / x
        term *= (a - n) / x
        slope += term_slope
        total += term
        n += 1.0
    return slope / total


def _log_gamma_beyond_moved(a: float, rest: float, u: float) -> float:
    """For x = a exp(u + rest); by an expansion where it is large, and larger than a."""
    d = 0.0
    if 0.0 < a < inf and FAR < u < inf and u + log(a) > log(LARGE):
        x = exp(min(u + log(a), 600.0))
        d = u + (log(a) + rest) - digamma_beyond(a) + 1.0 / a + expanded(a, x)
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
