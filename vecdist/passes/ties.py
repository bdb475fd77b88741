"""Values that are compared with what was picked from them, as with the largest of them, are in memory.

Computed again in another loop a value may differ in its last bits: a sum is added up in another order, a product is
contracted with another addition.  That is no matter but where the two are compared: the largest element would not be
found again, ``np.argmax`` would be nowhere, and a derivative would be lost.  So it is computed once, and read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vecdist.graph.node import Node, topological
from vecdist.passes.hoist import IN_MEMORY
from vecdist.passes.recurrences import in_memory
from vecdist.primitives.structure import STRUCTURE, is_moved

COMPARISONS = {"eq", "ne", "lt", "le"}
PICKS = {"max", "min", "cummax", "cummin", "gather", "external"}  # what has elements of its arguments, sorted, say
READ = {"product", "external", *IN_MEMORY}
CHOOSES = {"abs", "cast", "copysign", "gather", "max", "maximum", "min", "minimum", "neg", "where"}
ROUNDED_ONCE = {"add", "sub", "mul", "div", "sqrt"}  # correctly, wherever that is


def ties(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` where what is compared with elements picked from it has the same bits there."""
    held: set[Node] = set()
    picked: dict[Node, frozenset[Node]] = {}
    for node in topological(roots):
        picked[node] = _picked_from(node, picked)
        if node.op in COMPARISONS:
            one, other = node.args
            held |= picked[other].intersection(_sources(one)) | picked[one].intersection(_sources(other))
    held = {node for node in held if any(dim != 1 for dim in node.shape) and not _is_exact(node)}
    return in_memory(roots, held) if held else tuple(roots)


def _picked_from(node: Node, picked: Mapping[Node, frozenset[Node]]) -> frozenset[Node]:
    """What the elements were picked from that a value is made of."""
    if node.dtype.kind != "f":
        return frozenset()
    if node.op in PICKS:
        args = node.args if node.op == "external" else node.args[:1]
        return frozenset().union(*map(_sources, args), *(picked[arg] for arg in args))
    if node.op in STRUCTURE and not (is_moved(node) or node.op == "stored"):
        return frozenset()
    return frozenset().union(*(picked[arg] for arg in node.args))


def _sources(node: Node) -> Iterator[Node]:
    """What has the elements of ``node``, perhaps in other places, or in memory."""
    yield node
    while is_moved(node) or node.op == "stored":
        node = node.args[0]
        yield node


def _is_exact(node: Node) -> bool:
    """Whether a value has the same bits wherever it is computed: made of what is read, and rounded once at most."""
    roundings: dict[Node, int] = {}
    for each in topological((node,), lambda each: () if _is_read(each) else each.args):
        own = 0 if _is_read(each) or is_moved(each) or each.op in CHOOSES else 1 if each.op in ROUNDED_ONCE else 2
        roundings[each] = own + max((roundings[arg] for arg in each.args if arg in roundings), default=0)
    return roundings[node] <= 1


def _is_read(node: Node) -> bool:
    return node.dtype.kind != "f" or node.op in READ
