"""Choices move inwards: one function of a chosen argument, not a choice between two values of the function.

That halves the work wherever both would be computed: where(c, log(a), log(b)) is log(where(c, a, b)), and likewise a
choice between log and log1p is one logarithm.  A choice stays where it is if a value varies along fewer axes than the
choice, for it is then computed less often, or is used again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from vecdist.graph.node import Node, const, rewrite, topological, where
from vecdist.primitives.logarithms import log_plus
from vecdist.primitives.structure import rebuilt
from vecdist.primitives.table import PRIMITIVES

OF_CODE = {"div", "sqrt"}  # what is dear though targets have code for it


class _Branch(NamedTuple):
    """A ``value`` and what is added to it or taken from it, if anything is."""

    value: Node
    rest: Node | None = None


def sink_selects(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with choices between values of one function as its values at choices."""
    uses = Counter(arg for node in topological(roots) for arg in node.args) + Counter(roots)
    return rewrite(roots, lambda node, args: _inwards(node, args, uses))


def _inwards(node: Node, args: tuple[Node, ...], uses: Counter[Node]) -> Node:
    found = rebuilt(node, args)
    if node.op != "where" or any(branch.shape != node.shape for branch in node.args[1:]):
        return found
    (condition, *_), old, new = args, node.args[1:], args[1:]
    yes, no = (_branch(*each, uses) for each in zip(old, new, strict=True))
    if yes is None or no is None:
        return found
    value = _chosen(condition, yes.value, no.value)
    if value is None:
        return found
    if yes.rest is not None or no.rest is not None:
        value = value + where(condition, *(0.0 if b.rest is None else b.rest for b in (yes, no)))
    return value if value.shape == node.shape else found


def _branch(old: Node, new: Node, uses: Counter[Node]) -> _Branch | None:
    """A branch as a dear value and the rest, where that value is used nowhere else; ``new`` is what became of it."""
    if uses[old] != 1:
        return None
    if _is_dear(new):
        return _Branch(new)
    if new.op not in {"add", "sub", "neg"} or old.op != new.op:
        return None
    own = [uses[arg] == 1 and arg.shape == old.shape for arg in old.args]
    x, *others = new.args
    if new.op == "neg":
        return _Branch(rebuilt(x, (-x.args[0], x.args[1]))) if own[0] and x.op == "div" else None
    (y,) = others
    if own[0] and _is_dear(x):
        return _Branch(x, -y if new.op == "sub" else y)
    return _Branch(y, x) if own[1] and new.op == "add" and _is_dear(y) else None


def _chosen(condition: Node, x: Node, y: Node) -> Node | None:
    """The one value of a choice."""
    if x.op == y.op:
        pairs = zip(x.args, y.args, strict=True)
        return rebuilt(x, tuple(a if a is b else where(condition, a, b) for a, b in pairs))
    if x.op in LOGARITHMS and y.op in LOGARITHMS:
        (one, a), (other, b) = (LOGARITHMS[each.op](*each.args) for each in (x, y))
        return log_plus(where(condition, one, other), where(condition, a, b))
    return None


LOGARITHMS: Any = {
    "log": lambda x: (const(0, x.dtype), x), "log1p": lambda x: (const(1, x.dtype), x),
    "log_plus": lambda one, x: (one, x),
}


def _is_dear(node: Node) -> bool:
    entry = PRIMITIVES.get(node.op)
    composed = entry is not None and entry.floating and entry.expand is not None and len(node.args) == 1
    return composed or node.op in OF_CODE or node.op in LOGARITHMS
