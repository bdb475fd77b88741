"""Values that vary along inner loops alone, or are picked by index, computed once and kept.

In ``x[:, None] / np.exp(s)`` the exponential does not vary along the rows: computed where it stands, it would be
computed again for every row.  It is computed once for each column before the loop over rows, and kept: where it depends
on inputs alone before all other loops, and else, as what sums normalise, behind those that it needs.

On a GPU this is so of what sums of columns share, whose loops over columns are outside of those over rows, and of
what is summed and has sums itself, which few threads would add up: they have memory of any size that is worth it.
On a CPU it is so of what running results take in, which vectors compute, but not one element after another.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim, Shape, in_turn, length_in
from vecdist.primitives.recurrences import STEP_LEAVES
from vecdist.primitives.scans import SCANS
from vecdist.primitives.structure import STRUCTURE, is_moved, is_reduction, rebuilt

KEPT = 1024  # elements that each block of a grid may keep
DEAR = 5  # operations from which a value is better read than computed again
DEAR_BEHIND = 8  # the same where all others have to wait for it
DEAR_IN_ORDER = 16  # the same where it would be computed in order, one element after another
DEAR_SUM = 16  # the same of a sum, with all its terms
SLOW = {"div": 8, "sqrt": 8}  # operations that take the time of so many of a processor's vectors
COUNTED = 256  # operations that are counted: what takes more is as dear
SAVED = 64  # operations for each element from which it is worth memory of its own
WORK = 2**25  # and in all, on a GPU: what that does while its threads wait for each other
WORK_IN_PARTS = 2**29  # the same of sums of which parts are read: 256 rows of 10 sums of 500 took 1.1 to 1.5 of it
BLOCK, BUSY = 2**8, 2**16  # threads that share a row at most, and that keep a GPU busy
LARGEST, MOST = 2**26, 2**23  # elements of such memory, on a GPU and on a CPU
IN_MEMORY = {"scatter", "kept", "stored", "recurrence", *SCANS}  # what is an output before it is read


@final
@dataclass(frozen=True)
class Repeated:
    """A value that is read again and again, of so many operations; ``behind`` others that are in memory.

    ``picked`` are the shapes of what is picked of it, unless something reads all of it, and ``around`` the lengths of
    the loops that compute it again.  Where it is ``summed``, these are of what a sum leaves.  Of what has sums itself,
    and is taken together again, they are of those; it is so ``over`` some lengths, for each of others before them.
    """

    node: Node
    picked: tuple[Shape, ...]
    behind: bool
    cost: int
    around: tuple[Shape, ...]
    summed: bool = False
    over: tuple[Shape, Shape] | None = None
    work: int = WORK

    def is_worth_memory(self, lengths: Mapping[str, int], waits: bool = True) -> bool:
        """Whether to read it, if all of a GPU ``waits`` for it, is better than to compute it again and again."""
        size, picked = _size(self.node.shape, lengths), (_size(shape, lengths) for shape in self.picked)
        turns = max((_size(dims, lengths) for dims in self.around), default=max(picked, default=0) // max(size, 1))
        if self.over:
            rows, elements = (_size(dims, lengths) for dims in self.over)
            return 1 < rows * min(elements, BLOCK) < BUSY and turns * -(-elements // BLOCK) >= SAVED and size <= LARGEST
        saved = (turns - 1) * self.cost
        return saved >= SAVED and (size <= LARGEST and saved * size >= self.work if waits else size <= MOST)


def hoistable(
    roots: Sequence[Node], first: Sequence[Dim], scattered: Collection[Node], on_gpu: bool
) -> tuple[Repeated, ...]:
    """The largest such values, where the loops over the lengths in ``first`` come first, and some sums are scattered.

    Those are found, too, that the loops of other sums compute again; on a GPU what has sums itself, on a CPU what is
    taken in order, and sums that several loops of a row take in.
    """
    picked: dict[Node, dict[Shape, None]] = {}
    around: dict[Node, dict[Shape, None]] = {}
    nodes = list(topological(roots))
    for node in nodes:
        if node.op == "gather" and _varies(node.args[0]):
            picked.setdefault(node.args[0], {})[node.shape] = None
        elif node.op not in STRUCTURE and node.op != "cases" and node.ndim > 1:
            for arg, dims in _repeated(node, _loops(node, first)):
                around.setdefault(_in_order(arg), {})[dims] = None
    plain = {*picked, *around}
    for arg, dims in _repeated_by_sums(nodes, scattered):
        around.setdefault(arg, {})[dims] = None
    known = dict.fromkeys((*picked, *around))
    in_order = [] if on_gpu else [arg for node in nodes if node.op in SCANS for arg in node.args]
    slow = {} if on_gpu else SLOW
    costs, behind = _costs(roots, slow=slow) if known or in_order else ({}, set())
    alone, _ = _costs(roots, alone=True, slow=slow) if picked else (costs, behind)
    found = [
        Repeated(arg, () if arg in around else tuple(picked[arg]), arg in behind, cost,
                 tuple(around.get(arg, ())), arg not in plain)
        for arg in known
        if (cost := (alone if arg in picked else costs).get(arg, 0)) >= (DEAR_BEHIND if arg in behind else DEAR)
    ]  # fmt: skip
    if not on_gpu:
        others = [each for each in dict.fromkeys(in_order) if each not in known]
        found += [Repeated(each, (), True, costs[each], ()) for each in others if costs.get(each, 0) >= DEAR_IN_ORDER]
        return (*found, *_sums_of_rows(nodes), *_read_in_parts(nodes, scattered))
    return (*found, *_with_sums(nodes, scattered), *_read_in_parts(nodes, scattered))


def _sums_of_rows(nodes: Sequence[Node]) -> Iterator[Repeated]:
    """The sums that loops over a row would compute again, one behind the other: of a maximum, and of the rest."""
    costs: dict[Node, int] | None = None
    taken: dict[Node, list[Node]] = {}  # the reductions that take a sum in along their own axes
    for node in nodes:
        if is_reduction(node):
            for each in _reduced(node.args[0], _shape(node.args[0], node.attrs[0])):
                taken.setdefault(each, []).append(node)
    for each, readers in taken.items():
        if any(_depends(last, first) for first in readers for last in readers if last is not first):
            costs = costs or _costs(nodes, alone=True)[0]
            source = each.args[0]
            yield Repeated(each, (), True, costs.get(source, 0) + 1, (_shape(source, each.attrs[0]),))


def _read_in_parts(nodes: Sequence[Node], scattered: Collection[Node]) -> Iterator[Repeated]:
    """The sums of which several parts are read, each by loops of its own that would add it up again."""
    found: dict[Node, set[Node]] = {}  # the sums that elements of a value are made of, each of its own
    parts: dict[Node, set[object]] = {}
    for node in nodes:
        below = [each for arg in node.args for each in found.get(arg, ())]
        if is_reduction(node) and node not in scattered:
            found[node] = {node}
        elif any(_is_part(node, arg) for arg in node.args):
            for each in below:
                parts.setdefault(each, set()).add(node.attrs)
        elif node.op not in STRUCTURE or node.op == "view":
            found[node] = {each for each in below if each.shape == node.shape}
    several = [each for each, views in parts.items() if len(views) > 1]
    costs = _costs(nodes, alone=True)[0] if several else {}
    for each in several:
        source, (axes, *_) = each.args[0], each.attrs
        terms = (_shape(source, axes),)
        yield Repeated(each, (), True, costs.get(source, COUNTED) + 1, terms, True, work=WORK_IN_PARTS)


def _is_part(view: Node, source: Node) -> bool:
    """Whether some elements along each axis are viewed, but not all."""
    own, whole = ([dim for dim in node.shape if dim != 1] for node in (view, source))
    return view.op == "view" and len(own) == len(whole) and own != whole


def _depends(node: Node, other: Node) -> bool:
    """Whether a loop that finds one value has to wait for one that finds another."""
    return other in topological((node,))


def _with_sums(nodes: Sequence[Node], scattered: Collection[Node]) -> Iterator[Repeated]:
    """What has sums and is taken together again: by one thread where that is in order, or by those that share a row."""
    for node in nodes:
        axes = node.attrs[0] if node.op in SCANS or is_reduction(node) else ()
        for source in node.args if axes and node not in scattered else ():
            kept, over = _shape(source, [a for a in _loops(source) if a not in axes]), _shape(source, axes)
            sums = _sums(source, over)
            if sums and (kept or node.op in SCANS):
                yield Repeated(source, (), True, COUNTED, sums, True, None if node.op in SCANS else (kept, over))


def _sums(node: Node, along: Shape) -> tuple[Shape, ...]:
    """The lengths of the sums that elements of a value add up, each its own along some lengths."""
    return tuple([_shape(each.args[0], each.attrs[0]) for each in _reduced(node, along)])


def _reduced(node: Node, along: Shape) -> list[Node]:
    """The reductions whose results elements of a value read, each its own along some lengths."""
    below = topological((node,), lambda each: () if each.op in IN_MEMORY or is_reduction(each) else each.args)
    return [each for each in below if is_reduction(each) and any(dim in along for dim in each.shape if dim != 1)]


def _shape(node: Node, axes: Sequence[int]) -> Shape:
    """The lengths along some axes."""
    return tuple([node.shape[axis] for axis in axes])


def _loops(node: Node, first: Sequence[Dim] = ()) -> tuple[int, ...]:
    """The axes that loops run along, the outermost first."""
    return tuple([axis for axis in in_turn(node.shape, first) if node.shape[axis] != 1])


def _repeated(node: Node, loops: Sequence[int]) -> Iterator[tuple[Node, Shape]]:
    """The arguments that loops around ``node`` compute again: those of these lengths, outside of one of theirs."""
    for arg in node.args:
        own = _own(arg, loops)
        if own and own != loops[: len(own)]:
            inner = loops.index(own[-1])
            yield arg, tuple([node.shape[axis] for axis in loops[:inner] if axis not in own])


def _own(arg: Node, loops: Sequence[int]) -> tuple[int, ...]:
    """Those of the loops that an argument varies along."""
    return tuple([axis for axis in loops if -axis <= arg.ndim and arg.shape[axis] != 1])


def _is_inside(arg: Node, loops: Sequence[int]) -> bool:
    """Whether an argument varies along a loop, but not along one that is around it."""
    own = _own(arg, loops)
    return bool(own) and own != tuple(loops[: len(own)])


def _repeated_by_sums(nodes: Sequence[Node], scattered: Collection[Node]) -> Iterator[tuple[Node, Shape]]:
    """What the loops of sums compute again: those over what a sum leaves are outside of those that it adds up over."""
    seen: set[tuple[Node, tuple[int, ...]]] = set()
    stack = []
    for node in nodes:
        if is_reduction(node) and node not in scattered:
            (source,), (axes, *_) = node.args, node.attrs
            loops = _loops(source)
            stack.append((source, (*[axis for axis in loops if axis not in axes], *[a for a in loops if a in axes])))
    while stack:
        node, loops = stack.pop()
        if (node, loops) in seen or loops == _loops(node):
            continue
        seen.add((node, loops))
        if node.op == "view":
            stack.append((node.args[0], _through(node, loops)))
        elif node.op not in STRUCTURE and node.op != "cases":
            again = dict(_repeated(node, loops))
            yield from ((_whole(arg), dims) for arg, dims in again.items())
            stack += [(arg, _own(arg, loops)) for arg in node.args if arg not in again]


def _through(view: Node, loops: Sequence[int]) -> tuple[int, ...]:
    """The loops along the axes of what is viewed."""
    (source,), (entries,) = view.args, view.attrs
    axes = {entry[0] - view.ndim: place - source.ndim for place, entry in enumerate(entries) if entry[0] is not None}
    return tuple([axes[axis] for axis in loops if axis in axes and source.shape[axes[axis]] != 1])


def _whole(node: Node) -> Node:
    """What is viewed, where all of that is."""
    while node.op == "view" and len(_through(node, _loops(node))) == len(_loops(node.args[0])) == len(_loops(node)):
        (node,) = node.args
    return node


def _in_order(node: Node) -> Node:
    """What is viewed, where that is all of it, element after element: what is kept of either is the same memory."""
    while node.op == "view" and [d for d in node.shape if d != 1] == [d for d in node.args[0].shape if d != 1]:
        through, loops = _through(node, _loops(node)), _loops(node.args[0])
        if through != loops:
            break
        (node,) = node.args
    return node


def _varies(node: Node) -> bool:
    return any(dim != 1 for dim in node.shape)


def _costs(
    roots: Sequence[Node], alone: bool = False, slow: Mapping[str, int] | None = None
) -> tuple[dict[Node, int], set[Node]]:
    """The operations of each elementwise node behind what is in memory, as a tree, and which need more than inputs.

    An element that is computed ``alone``, as one that is picked, has no loops around it that have found parts of it.
    """
    costs: dict[Node, int] = {}
    behind: set[Node] = set()
    for node in topological(roots):
        if node.op in {"const", "slot", "extent", "position"}:
            costs[node] = 0
        elif is_moved(node) and node.args[0] in costs:
            costs[node] = costs[node.args[0]]
        elif node.op in STRUCTURE and node.op not in STEP_LEAVES:
            costs[node] = 0
            behind.add(node)
        elif node.op not in STRUCTURE and node.op != "cases" and all(arg in costs for arg in node.args):
            late = not alone and not behind.isdisjoint(node.args)
            again = [arg for arg in node.args if (_is_with(arg, node) if late else _varies(arg))]
            own = DEAR if node.op == "loop" else (slow or {}).get(node.op, 1)
            costs[node] = min(COUNTED, sum(costs[arg] for arg in again) + own) if _varies(node) else 0
        behind |= set() if behind.isdisjoint(node.args) else {node}
    return costs, behind


def _is_with(arg: Node, node: Node) -> bool:
    """Whether an argument is computed wherever the node is: loops around others keep what they have found."""
    loops = [axis for axis in range(-node.ndim, 0) if node.shape[axis] != 1]
    own = [axis for axis in loops if -axis <= arg.ndim and arg.shape[axis] != 1]
    return own == loops or _is_inside(arg, loops)


def narrow(
    found: Sequence[Repeated], lengths: Mapping[str, int], room: int | None, widest: int | None, alone: bool
) -> tuple[Repeated, ...]:
    """Those values that fit together, in ``room``, or behind others ``widest``, and of which not few elements are read.

    There is no limit where that is none, as on a CPU, but sums of few terms are sooner computed again there.  What fits
    nowhere, or is but summed, may be worth memory of its own, and ``alone`` so may what others need not wait for.
    """
    chosen, left = [], {False: room, True: widest}
    for each in found:
        size, rest = _size(each.node.shape, lengths), left[each.behind]
        most = max((_size(shape, lengths) for shape in each.picked), default=size)
        if size > most:
            continue
        if rest is None and is_reduction(each.node) and each.cost * _size(each.around[0], lengths) < DEAR_SUM:
            continue
        if not each.summed and (rest is None or size <= rest):
            chosen.append(each)
            left[each.behind] = None if rest is None else rest - size
        elif (each.behind or each.summed or alone) and each.is_worth_memory(lengths, waits=rest is not None):
            chosen.append(replace(each, behind=True))
    return _dear_beside_each_other(chosen)


def apart_from(found: Sequence[Repeated], sums: set[Node]) -> Iterator[Repeated]:
    """Those values that need none of these sums, behind which a grid would wait once more."""
    return (each for each in found if not sums or sums.isdisjoint(topological((each.node,))))


def _dear_beside_each_other(chosen: Sequence[Repeated]) -> tuple[Repeated, ...]:
    """Those of the chosen values that take more than few operations of the others, which are kept."""
    nodes = [each.node for each in chosen]
    left = set(nodes)
    for node in topological(nodes) if len(nodes) > 1 else ():  # each behind those that it is made of
        if node in left and _is_few_operations_of(left, node):
            left.remove(node)
    return tuple([each for each in chosen if each.node in left])


def _is_few_operations_of(kept: Collection[Node], node: Node) -> bool:
    """Whether a value is found from others that are kept, and from inputs, by few operations."""
    found, count = False, 0
    for each in topological((node,), lambda other: other.args if other is node or other not in kept else ()):
        if each is not node and each in kept:
            found = True
        elif each.args and not is_moved(each):
            count += 1
            if each.op in STRUCTURE or count >= DEAR:
                return False
    return found


def _size(shape: Shape, lengths: Mapping[str, int]) -> int:
    return math.prod(length_in(dim, lengths) for dim in shape)


def kept(roots: Sequence[Node], found: Sequence[Repeated]) -> tuple[Node, ...]:
    """``roots`` where each of these values is computed once, and kept."""
    chosen = {each.node: "stored" if each.behind else "kept" for each in found}
    if not chosen:
        return tuple(roots)

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node not in chosen:
            return rebuilt(node, args)
        op = chosen[node]
        return Node(op, (rebuilt(node, args) if op == "stored" else node,), (), node.shape, node.dtype)

    return rewrite(roots, rule)
