"""Reductions of very many elements to few results, in steps: threads find partial results, then whole ones.

Each thread takes every so manieth element of an axis: all threads together read the array in order, as well where rows
of a tall array are reduced as where a few rows are long, of which a warp has each piece.  Where an axis is reduced on
either side of one that is kept, the inner one comes first, if there are results enough then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, final

import numpy as np

from vecdist.graph.node import Node, cast, topological
from vecdist.graph.shapes import length_in
from vecdist.primitives.structure import STRUCTURE, is_moved, is_reduction

OPERATIONS = {"sum", "prod", "max", "min"}
BUSY = 2**15  # results that lanes keep all threads busy with as they are
WARPS = 2**11  # the same where lanes that share one read neighbours
ALONE = 256  # results that have a block each then: it finds its row in a cache again, and fewer leave processors idle
APART = 1024  # elements of the last axis from which on threads share these, and not others
LANES = 32  # threads that share a piece then, side by side
TURNS = 8  # elements of a piece along its own axis, at least, for each thread: as many as are loaded together
MOST = 2**14  # partial results of each that a block adds up in no time
SEVERAL = 2**11  # those that more of them become
PARTIAL = 2**17  # threads that run at once
LONG = 2**19  # elements that are worth a second step
FEW = 32  # columns that each thread has room for sums of
REGISTERS = 40  # the same of those behind the first axis, which threads share
PIECE = 16  # elements of each thread of a partial result, at least


@final
class Step(NamedTuple):
    """The axes that partial results are reduced along, of the first of which each has a piece."""

    axes: tuple[int, ...]
    pieces: int = 1


@final
class Split(NamedTuple):
    """A reduction, and the steps before its last, which leave sums of float32 as float64 if they are ``wide``."""

    node: Node
    steps: tuple[Step, ...]
    wide: bool = True


@final
class Splittable(NamedTuple):
    """Reductions that may be done in two steps, and whether there are several anyway, as elements read results."""

    nodes: tuple[Node, ...] = ()
    waiting: bool = False


InSteps: TypeAlias = "Callable[[Splittable, Mapping[str, int], Collection[Node]], tuple[Split, ...]]"
"""Which of the reductions that may be done in steps are, at these lengths, and how; tall ones would be scattered."""


def splittable(roots: Sequence[Node]) -> Splittable:
    """The reductions of some axes that need nothing of whole rows.

    Sums of columns are among them where nothing else reduces rows: what rows have found is added up as it is found.
    """
    nodes = list(topological(roots))
    several = [node for node in nodes if is_reduction(node) and all(axes_of(node))]
    found = {node: None for node in several if node.op in OPERATIONS and not _needs_rows(node)}
    rows = [node for node in several if node not in found]
    some = tuple(node for node in found if not rows or not _is_of_columns(node))
    return Splittable(some, _are_read_by_more(nodes, some))


def _are_read_by_more(nodes: Sequence[Node], found: Sequence[Node]) -> bool:
    """Whether what is reduced, or made of that, is read by what varies along other axes besides."""
    made = {*found}
    for node in nodes:
        for arg in made.intersection(node.args):
            if not {*node.shape} <= {1, *arg.shape}:
                return True
            made.add(node)
    return False


def axes_of(node: Node) -> tuple[list[int], list[int]]:
    """The axes that vary: those that are reduced, and those that are kept."""
    source, axes = node.args[0], node.attrs[0]
    varying = [axis for axis in range(-source.ndim, 0) if source.shape[axis] != 1]
    return [axis for axis in varying if axis in axes], [axis for axis in varying if axis not in axes]


def _needs_rows(node: Node) -> bool:
    """Whether elements are made of what is computed once for several of them, or in order."""
    (source,), (over, kept) = node.args, axes_of(node)
    along, across = ({source.shape[axis] for axis in axes} for axes in (over, kept))
    for each in topological((source,), lambda other: () if is_reduction(other) else other.args):
        made = each.args and not is_moved(each) and not along.isdisjoint(each.shape)
        if made and (each.op in STRUCTURE or not across <= {*each.shape}):
            return True
    return False


def in_pieces(found: Splittable, lengths: Mapping[str, int], tall: Collection[Node]) -> tuple[Split, ...]:
    """Which of these reductions are split at these lengths, and how.

    Not those that are ``tall``, if threads are done with them, nor any where all are sums of few columns.
    """
    done = () if found.waiting else {node for node in tall if _has_room(node, lengths, REGISTERS)}
    nodes = [node for node in found.nodes if node not in done]
    every = tuple(split for node in nodes if (split := _split(node, lengths)) is not None)
    few = all(_results(each.node, lengths) <= FEW and _has_room(each.node, lengths, FEW) for each in every)
    return () if few else every


def _is_of_columns(node: Node) -> bool:
    """Whether a sum may be made row by row."""
    over, kept = axes_of(node)
    return node.op == "sum" and over[-1] < kept[0]


def _has_room(node: Node, lengths: Mapping[str, int], most: int) -> bool:
    """Whether a sum of columns may be made row by row, by threads that share the first axis of what they add up."""
    over, kept = axes_of(node)
    shape = node.args[0].shape
    return _is_of_columns(node) and len(over) == 1 and math.prod(length_in(shape[a], lengths) for a in kept[1:]) <= most


def _results(node: Node, lengths: Mapping[str, int]) -> int:
    return math.prod(length_in(dim, lengths) for dim in node.shape)


def _split(node: Node, lengths: Mapping[str, int]) -> Split | None:
    (over, kept), shape = axes_of(node), node.args[0].shape

    def length(axes: Iterable[int]) -> int:
        return math.prod(length_in(shape[axis], lengths) for axis in axes)

    results, last = length(kept), max(over[-1], kept[-1])
    busy = WARPS if over[-1] == last else BUSY
    if results >= busy or results * length(over) < LONG:
        return None
    for place in range(1, len(over)):
        outer, inner = over[:place], over[place:]
        if results * length(outer) >= busy and length(inner) >= PIECE:
            return Split(node, (Step(tuple(inner)), *_fewer(outer, length)))
    if over[-1] == last and results >= ALONE:
        return None
    lies_along = over[-1] == last and length([last]) >= APART
    axis = last if lies_along else max(over, key=lambda each: length([each]))
    found: list[tuple[int, Split]] = []
    for place in range(len(over)):
        outer, inner = over[:place], over[place:]
        rows = results * length(outer)
        most = _pieces(axis, inner, rows, length, LANES if lies_along else 1)
        steps = _before(axis, most) if not outer else (Step((axis,)), *_fewer(outer, length))
        first = Step((axis, *(each for each in inner if each != axis)), most)
        found += [(most * rows, Split(node, (first, *steps)))] if most > 1 else []
    return max(found, key=lambda each: each[0], default=(0, None))[1]


def _before(axis: int, pieces: int) -> tuple[Step, ...]:
    """What very many partial results, one for each piece, are made fewer by before the last step."""
    return (Step((axis,), SEVERAL),) if pieces > MOST else ()


def _fewer(axes: Sequence[int], length: Callable[[Iterable[int]], int]) -> tuple[Step, ...]:
    """What very many results, one for each element of these axes, are made fewer by before the last step."""
    axis = max(axes, key=lambda each: length([each]))
    pieces = _round(min(SEVERAL, length([axis]) // TURNS))
    others = [each for each in axes if each != axis]
    return (Step((axis, *others), pieces),) if length(axes) > MOST and pieces > 1 else ()


def _pieces(axis: int, axes: Sequence[int], results: int, length: Callable[[Iterable[int]], int], lanes: int) -> int:
    """Into how many pieces an axis is cut, each for so many lanes, of which all threads have one; one if it is not."""
    if axis not in axes:
        return 1
    longest = min(length([axis]) // TURNS, length(axes) // PIECE)
    return _round(min(PARTIAL // results, longest) // lanes)


def _round(most: int) -> int:
    """The largest number up to this with five binary digits: programs are few, and few threads have nothing to do."""
    places = max(0, most.bit_length() - 5)
    return most >> places << places


def split(node: Node, found: Split) -> Node:
    """A reduction in steps, all of which leave their results in memory."""
    (source,), (axes, *_) = node.args, node.attrs
    wide = found.wide and node.op in {"sum", "prod"} and node.dtype.kind == "f"
    dtype = np.dtype(np.float64) if wide else node.dtype
    source = cast(source, dtype) if node.op == "prod" else source
    for step in found.steps:
        shape = [1 if axis in step.axes else source.shape[axis] for axis in range(-source.ndim, 0)]
        shape[step.axes[0]] = step.pieces
        source = _stored(Node(node.op, (source,), (step.axes, step.pieces), tuple(shape), dtype))
    left = tuple(axis for axis in axes if source.shape[axis] != 1)
    return _stored(Node(node.op, (source,), (left,), node.shape, node.dtype))


def _stored(node: Node) -> Node:
    return Node("stored", (node,), (), node.shape, node.dtype)
