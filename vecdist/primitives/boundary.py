"""The border of an elementwise region: the value as it is, across which derivatives are carried in reverse, or not.

Inside a region a value carries a partial derivative for each input of the region.  Where hundreds of values are made
of each other, entry by entry of a matrix, that is too many: with a border around each entry, no region has more inputs
than its own formula.
"""

from __future__ import annotations

from vecdist.graph.node import Node
from vecdist.primitives.structure import STRUCTURE, Structural
from vecdist.primitives.table import Primitive, flat, primitive


def boundary(x: Node) -> Node:
    """``x``, as an input of the elementwise regions above."""
    return Node("boundary", (x,), (), x.shape, x.dtype)


STRUCTURE["boundary"] = Structural(
    meaning=lambda x, node, length: x,
    adjoint=lambda cotangent, node: cotangent,
    tangent=lambda node, dot: dot,
    expand=lambda x: x,
)

held: Primitive = primitive("held", expand=lambda x: x, partials=flat)
"""The value as it is, across which no derivative is carried: of shifts, whose derivatives cancel."""
