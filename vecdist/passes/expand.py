"""Replace primitives that have no target code by their expansions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vecdist.graph.node import Node, topological
from vecdist.primitives.structure import STRUCTURE, rebuilt
from vecdist.primitives.table import PRIMITIVES

ELEMENTARY = {"exp", "expm1", "log", "log1p", "log_plus"}


def to_elementary(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` in terms of elementary functions and of what both targets have code for."""
    return expand(roots, ELEMENTARY)


def expand(roots: Sequence[Node], kept: Collection[str] = ()) -> tuple[Node, ...]:
    """``roots`` in terms of primitives that both targets have code for, or that are ``kept``.

    It comes after differentiation: the derivative of a function is a rule of the function, not of the polynomial that
    happens to compute it.  Expansions may use primitives that expand in turn.
    """
    final: dict[Node, Node] = {}
    _finish(roots, final, kept)
    return tuple(final[root] for root in roots)


def _finish(roots: Sequence[Node], final: dict[Node, Node], kept: Collection[str]) -> None:
    """Find what becomes of ``roots``, and of all that they need; what has its final form stands for itself."""
    missing = [root for root in roots if root not in final]
    for node in topological(missing, lambda node: [arg for arg in node.args if arg not in final]):
        args = tuple(final[arg] for arg in node.args)
        expansion = None if node.op in kept else _expansion(node, args)
        if expansion is None:
            result = rebuilt(node, args)
        else:
            _finish((expansion,), final, kept)
            result = final[expansion]
        final[node] = final[result] = result


def _expansion(node: Node, args: tuple[Node, ...]) -> Node | None:
    entry = PRIMITIVES.get(node.op)
    if entry is not None and entry.expand is not None:
        return entry.expand(*args)
    structural = STRUCTURE.get(node.op)
    if structural is not None and structural.expand is not None:
        return structural.expand(*args, *node.attrs)
    return None
