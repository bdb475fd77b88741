"""Pieces of formulas that several families share."""

from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log1p
from vecdist.primitives.table import primitive


def _product_rule(dots: tuple[Node | None, Node | None], x: Node, y: Node, out: Node) -> Node | None:
    dot_x, dot_y = dots
    terms = [] if dot_x is None else [times(dot_x, y)]
    terms += [] if dot_y is None else [times(x, dot_y)]
    return sum(terms[1:], terms[0]) if terms else None


# x y, 0 where x is 0, though y be infinite: what never occurs has no weight.
times = primitive(
    "times", 2, expand=lambda x, y: where(eq(x, 0.0) & eq(y, y), 0.0, x * y), tangent=_product_rule,
    floating=True, domain=((0.0, 30.0), (-30.0, 30.0)), oracle="numpy.multiply",
)


def log1p_square(z: Node) -> Node:
    """log(1 + z²), with no overflow: it is 2 log|z| to the last digit long before z² overflows."""
    far = abs(z) > 1e10
    y = log1p(where(far, abs(z) - 1.0, square(z)))
    return where(far, y + y, y)
