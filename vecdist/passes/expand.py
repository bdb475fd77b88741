"""Replace primitives that have no target code by their expansions."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.expr import Node, rewrite
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.structure import STRUCTURE, rebuilt


def expand(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` in terms of primitives that both targets have code for.

    It comes after differentiation: the derivative of a function is a rule of the function, not of the polynomial that
    happens to compute it.  Expansions may use primitives that expand in turn.
    """
    roots = tuple(roots)
    while (expanded := rewrite(roots, _expand_node)) != roots:
        roots = expanded
    return roots


def _expand_node(node: Node, args: tuple[Node, ...]) -> Node:
    entry = PRIMITIVES.get(node.op)
    if entry is not None and entry.expand is not None:
        return entry.expand(*args)
    structural = STRUCTURE.get(node.op)
    if structural is not None and structural.expand is not None:
        return structural.expand(*args, *node.attrs)
    return rebuilt(node, args)
