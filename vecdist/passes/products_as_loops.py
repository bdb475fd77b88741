"""Products of matrices as loops among others, where no library can be called."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite
from vecdist.primitives.products import by_loops
from vecdist.primitives.structure import rebuilt


def products_as_loops(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with sums in the place of products."""
    return rewrite(roots, lambda node, args: by_loops(*args) if node.op == "product" else rebuilt(node, args))
