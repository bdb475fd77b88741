"""Pieces of formulas that several families share."""

from vecdist.expr import Node, Operand, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log1p


def times(count: Operand, weight: Node) -> Node:
    """``count * weight``, 0 where ``count`` is 0, though ``weight`` be infinite: what never occurs has no weight.

    The derivative in ``weight`` is ``count`` everywhere.
    """
    return where(eq(count, 0.0), 0.0, count * weight)


def log1p_square(z: Node) -> Node:
    """log(1 + z²), with no overflow: it is 2 log|z| to the last digit long before z² overflows."""
    far = abs(z) > 1e10
    y = log1p(where(far, abs(z) - 1.0, square(z)))
    return where(far, y + y, y)
