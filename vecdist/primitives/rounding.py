"""What rounding takes from sums, products, quotients, roots and logarithms: numbers in two parts are made with these.

The exact result is the rounded one plus the rest.  The rest is 0 but for rounding, and so is its derivative: formulas
that add it keep the derivatives that they have without it.  Where a result is not finite, its rest is 0.
Dekker (1971), A floating-point technique for extending the available precision, Numerische Mathematik 18; Knuth (1997),
The Art of Computer Programming 2, section 4.2.2, theorem B.
"""

from __future__ import annotations

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import POSITIVE, eq, sqrt
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import INFINITY, NAN, at_least, format_of, head, width
from vecdist.primitives.power import extended_log
from vecdist.primitives.table import Primitive, flat, primitive

SMALL = (-3.0, 3.0)
TINY = {8: 2.0**-26, 4: 2.0**-12}  # half of the digits of 1


def _finite(rest: Node) -> Node:
    return where(abs(rest) < INFINITY, rest, 0.0)


def _sum_rest(x: Node, y: Node) -> Node:
    total = x + y
    of_y = total - x
    return _finite((x - (total - of_y)) + (y - of_y))


def _product_rest(x: Node, y: Node) -> Node:
    """By halves of the digits, whose products are exact, fused or not."""
    x_head, y_head = head(x), head(y)
    x_tail, y_tail = x - x_head, y - y_head
    return _finite(((x_head * y_head - x * y) + x_head * y_tail + x_tail * y_head) + x_tail * y_tail)


def _quotient_rest(x: Node, y: Node) -> Node:
    """By the reciprocal, which derivatives of a quotient have too."""
    q = x / y
    q_head, y_head = head(q), head(y)
    q_tail, y_tail = q - q_head, y - y_head
    return _finite((((x - q_head * y_head) - q_head * y_tail - q_tail * y_head) - q_tail * y_tail) * (1.0 / y))


def _root_rest(x: Node) -> Node:
    root = sqrt(x)
    root_head = head(root)
    tail = root - root_head
    return _finite((((x - root_head * root_head) - 2.0 * root_head * tail) - tail * tail) / (2.0 * root))


def _log_high(x: Node) -> Node:
    edge = where(eq(x, 0), const(-INFINITY, x.dtype), const(NAN, x.dtype))
    return where(x > 0, where(x < INFINITY, extended_log(x)[0], x), edge)


def _plain_log_rest(x: Node) -> Node:
    return _finite((log_high(x) - log(x)) + log_rest(x))


def _log1p_rest(x: Node) -> Node:
    """By three terms of the series next to 0, where the rest of 1 + x is much of x."""
    total, lost = 1.0 + x, sum_rest(const(1.0, x.dtype), x)
    far = (log_high(total) - log1p(x)) + (log_rest(total) + lost / total)
    near = (x - log1p(x)) + x * x * (x * (1 / 3 - 0.25 * x) - 0.5)
    return _finite(where(abs(x) < TINY[width(x)], near, far))


sum_rest: Primitive = primitive("sum_rest", 2, expand=_sum_rest, partials=flat, floating=True, domain=(SMALL, SMALL))
product_rest: Primitive = primitive(
    "product_rest", 2, expand=_product_rest, partials=flat, floating=True, domain=(SMALL, SMALL),
)
quotient_rest: Primitive = primitive(
    "quotient_rest", 2, expand=_quotient_rest, partials=flat, floating=True, domain=(SMALL, (0.5, 30.0)),
)
root_rest: Primitive = primitive("root_rest", expand=_root_rest, partials=flat, floating=True, domain=(POSITIVE,))
log_high: Primitive = primitive(  # log(x) as rounded, to within one unit in the last place; its slope is finite above 0
    "log_high", expand=_log_high, floating=True, domain=(POSITIVE,), oracle="numpy.log",
    partials=lambda x, out: (1.0 / where(x > 0.0, at_least(x, format_of(x).smallest_normal), x),),
)
log_rest: Primitive = primitive(  # log(x) - log_high(x), with half as many digits again
    "log_rest", expand=lambda x: where((x > 0) & (x < INFINITY), extended_log(x)[1], 0.0), partials=flat,
    floating=True, domain=(POSITIVE,),
)
plain_log_rest: Primitive = primitive(  # of log(x)
    "plain_log_rest", expand=_plain_log_rest, partials=flat, floating=True, domain=(POSITIVE,),
)
log1p_rest: Primitive = primitive(
    "log1p_rest", expand=_log1p_rest, partials=flat, floating=True, domain=((-0.99, 30.0),),
)
