"""A short cut for elements away from every edge: the same value with fewer comparisons.

Edges are compared against again and again: zero in a support, the smallest normal number and infinity in a logarithm.
Where an element of every input lies strictly between them, all those comparisons are known, and with them which side of
each choice is taken.  ``cases(interior, short, long)`` has the value of both sides, which are equal where ``interior``
holds; what is seldom asked for is outside too.  Of whole numbers 0 is no edge: a warp of counts nearly always has one,
and would run both sides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from vecdist.graph.node import Node, cast, const, rewrite, topological, where
from vecdist.graph.shapes import Dim, broadcast
from vecdist.passes.linear import linear
from vecdist.passes.simplify import simplify
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.floating import largest_count
from vecdist.primitives.structure import STRUCTURE, rebuilt
from vecdist.primitives.table import PRIMITIVES

ENOUGH = 3  # comparisons of one input that must fall away before testing it once pays
FAR = 1e3  # what is beyond it is outside, where a function of its own is there for that
CHEAP = 8  # operations of a condition: so many may be computed to leave out what it asks for

Range = tuple[float, float]


def fast_path(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` where what a one-dimensional loop computes is split into cases."""
    whole = {node.args[0] for node in topological(roots) if node.op == "floor"}
    ranges = {slot: _range(slot, thresholds, slot in whole) for slot, thresholds in _compared(roots).items()}
    ranges = {slot: found for slot, found in ranges.items() if found is not None}
    tops = [node for node in _tops(roots) if _loop_dim(node) is not None] if ranges else []
    new: dict[Node, Node] = {}
    sums: dict[Node, Node] = {}
    for dim in dict.fromkeys(_loop_dim(top) for top in tops):
        own = {slot: found for slot, found in ranges.items() if _loop_dim(slot) == dim}
        if own:
            inside, shorts = _shortened([top for top in tops if _loop_dim(top) == dim], own)
            new |= {top: _cases(inside, short, top) for top, short in shorts.items()}
            sums |= _sums(inside, shorts, [n for n in topological(roots) if n.op == "sum" and n.args[0] in shorts])
    return tuple(new.get(r, r) for r in rewrite(roots, lambda node, args: _with_cases(node, args, new, sums)))


def _cases(inside: Node, short: Node, long: Node) -> Node:
    shape = broadcast((inside.shape, short.shape, long.shape))
    return Node("cases", (inside, short, long), (), shape, long.dtype)


def _shortened(tops: Sequence[Node], ranges: dict[Node, Range]) -> tuple[Node, dict[Node, Node]]:
    """Whether the inputs of one loop lie in their ranges, and a shorter form of each top for where they do."""
    inside: Node | None = None
    for slot, (low, high) in ranges.items():
        test = (const(low, slot.dtype) <= slot) & (slot <= const(high, slot.dtype))
        inside = test if inside is None else inside & test
    assert inside is not None
    unasked = _unasked(tops)
    for condition in dict.fromkeys(node.args[0] for node in unasked):
        inside = inside & ~condition

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        return args[-1] if node in unasked else _decided(node, args, ranges)

    shorts = simplify(rewrite(tops, rule))
    return inside, {top: short for top, short in zip(tops, shorts, strict=True) if short is not top}


def _unasked(tops: Sequence[Node]) -> set[Node]:
    """The values of functions that far elements alone want; the others do not ask for them, as calls cost registers."""
    asking = (node for node in topological(tops) if node.op in PRIMITIVES)
    found = (node for node in asking if PRIMITIVES[node.op].seldom and PRIMITIVES[node.op].routine)
    return {node for node in found if _is_far(node.args[0])}


def _is_far(condition: Node) -> bool:
    """Whether a condition says that something is large, and is cheap to ask for."""
    if condition.op != "lt" or not condition.args[0].is_const() or condition.args[0].value < FAR:
        return False
    return sum(1 for each in topological((condition,)) if each.args) <= CHEAP


def _sums(inside: Node, shorts: dict[Node, Node], sums: Sequence[Node]) -> dict[Node, Node]:
    """Sums whose short forms are combinations of fewer terms than there are sums: each term is added up once.

    The terms are added up in float64 and combined at the end, so that nothing is lost by taking the sums apart.
    """
    tops = [shorts[node.args[0]] for node in sums]
    uses = Counter(arg for node in topological(tops) for arg in set(node.args))
    shared = {node for node, count in uses.items() if count > 1}
    parts = {n: linear(shorts[n.args[0]], shared) for n in sums if n.dtype.kind == "f"}
    terms = dict.fromkeys(term for found, _ in parts.values() for term in found)
    if len(terms) >= len(parts):
        return {}
    nothing = const(-0.0, np.float64)  # adding it changes no sum, and the compilers know

    def wide(short: Node, long: Node, like: Node) -> Node:
        return Node("sum", (_cases(inside, short, long),), like.attrs, like.shape, np.dtype(np.float64))

    result: dict[Node, Node] = {}
    for node, (found, constant) in parts.items():
        zero, one = cast(nothing, node.dtype), const(1, node.dtype)
        count = wide(one, zero, node)
        total = nothing if constant is None else cast(constant, np.float64) * count
        for term, coefficient in found.items():
            total = total + cast(coefficient, np.float64) * wide(term, zero, node)
        edges = wide(zero, node.args[0], node)
        result[node] = cast(edges + where(eq(count, 0.0), 0.0, total), node.dtype)
    return result


def _with_cases(node: Node, args: tuple[Node, ...], new: dict[Node, Node], sums: dict[Node, Node]) -> Node:
    if node in sums:
        return sums[node]
    if node.op == "sum":
        args = (new.get(node.args[0], args[0]),)
    return rebuilt(node, args)


def _tops(roots: Sequence[Node]) -> Iterator[Node]:
    """The nodes that a loop computes for a sum or an output, where all below them is elementwise."""
    for node in dict.fromkeys([*roots, *(n.args[0] for n in topological(roots) if n.op == "sum")]):
        below = topological((node,))
        if node.args and node.op not in STRUCTURE and not any(n.op in STRUCTURE and n.shape for n in below):
            yield node


def _loop_dim(node: Node) -> Dim | None:
    """The one length that a node varies along, if there is just one."""
    dims = [dim for dim in node.shape if dim != 1]
    return dims[0] if len(dims) == 1 else None


def _compared(roots: Sequence[Node]) -> dict[Node, list[float]]:
    """The constants (or itself, as NaN) that each floating-point input is compared with."""
    found: dict[Node, list[float]] = {}
    for node in topological(roots):
        if node.op in _DECIDE:
            x, y = node.args
            for slot, other in ((x, y), (y, x)):
                if slot.op == "slot" and slot.dtype.kind == "f" and (other.op == "const" or other is slot):
                    found.setdefault(slot, []).append(math.nan if other is slot else float(other.value))
    return found


def _range(slot: Node, thresholds: Sequence[float], whole: bool) -> Range | None:
    """A range without its edges, in which most of the comparisons are known; that of ``whole`` numbers has 0 in it.

    An input that is compared with -inf may have either sign: if a part of it lay outside, both cases would run.
    """
    info = np.finfo(slot.dtype)
    tiny, largest = float(info.tiny), float(info.max)
    signed = -math.inf in thresholds or not any(0 <= t <= tiny for t in thresholds)
    low = -largest if signed else 0.0 if whole else tiny
    known = [t for t in thresholds if math.isnan(t) or math.isinf(t) or t <= low]
    return (low, largest_count(slot.dtype) if whole else largest) if len(known) >= ENOUGH else None


def _decided(node: Node, args: tuple[Node, ...], ranges: dict[Node, Range]) -> Node:
    """A comparison that the ranges decide, as the constant it is."""
    if node.op in _DECIDE:
        x, y = args
        answer = _DECIDE[node.op](_bounds(x, ranges), _bounds(y, ranges), x is y)
        if answer is not None and all(arg in ranges or arg.op == "const" for arg in args):
            return const(answer, np.bool_)
    return rebuilt(node, args)


def _bounds(node: Node, ranges: dict[Node, Range]) -> Range:
    if node.op == "const":
        return float(node.value), float(node.value)
    return ranges.get(node, (-math.inf, math.inf))


def _less(x: Range, y: Range, same: bool) -> bool | None:
    if same or x[0] >= y[1]:
        return False
    return True if x[1] < y[0] else None


def _less_or_equal(x: Range, y: Range, same: bool) -> bool | None:
    if same or x[1] <= y[0]:
        return True
    return False if x[0] > y[1] else None


def _equal(x: Range, y: Range, same: bool) -> bool | None:
    if same:
        return True
    return False if x[1] < y[0] or y[1] < x[0] else None


def _unequal(x: Range, y: Range, same: bool) -> bool | None:
    equal = _equal(x, y, same)
    return None if equal is None else not equal


_DECIDE = {"lt": _less, "le": _less_or_equal, "eq": _equal, "ne": _unequal}
