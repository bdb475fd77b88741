"""Products of matrices as loops among others, where no library can be called."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite, topological
from vecdist.primitives.products import by_loops
from vecdist.primitives.structure import rebuilt


def products_as_loops(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with sums in the place of products.  Raises ``TypeError`` where there is another call."""
    call = next((node.attrs[0] for node in topological(roots) if node.op == "external"), None)
    if call is not None:
        raise TypeError(f"{call.name} is a call between kernels, which nothing that is one function can contain")
    return rewrite(roots, lambda node, args: by_loops(*args) if node.op == "product" else rebuilt(node, args))
