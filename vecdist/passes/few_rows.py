"""Few rows that are long, as those of several chains over the same data: their elements come first, the rows inside.

Row by row, a sum of each leaves most of a GPU idle, and reads again for each row what they share.  Where the loop over
elements is the outer one, each element is read once, is added to the sums of all rows, and threads are as many as
elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, length_in
from vecdist.primitives.scans import SCANS
from vecdist.primitives.structure import is_reduction

IN_ORDER = {"recurrence", *SCANS}
LONG = 1024  # elements of a row from which on rows are long
TALL = 60  # the same where columns of them are summed, each by one thread where rows come first
STRIPPED = 64  # the same of strips of rows
GROUPED = 256  # the same where they are added up by index
MOST = 16384  # rows of which threads take strips
OWN = 64  # rows with elements of their own, at most: threads that share an element of each read apart
OTHERS = 3  # sums of a row beside those of its columns
LANES = 32  # threads that may share the sums of rows
SLOTS = 40  # sums of a thread, in 80 KiB of shared memory for a block
SHORT = 8  # elements of a row that a thread goes through in strips, whatever reduces them
SHARED = 128  # rows of a CPU, at most, that go through a strip of a design in turn
CHAINS = 8  # rows that may be written out, where lanes share what lies behind them
JAMMED = 32  # sums of a thread then, beside as many coefficients

Length = Callable[[Iterable[Dim]], int]


@final
@dataclass(frozen=True)
class Rows:
    """What reduces each of several rows, or all of them: the lengths along which these lie, of a row, and behind it.

    ``whole`` is what reduces all axes, which may be cut anywhere; elements are ``grouped`` where others of theirs are
    added up by index.
    """

    node: Node
    rows: tuple[Dim, ...]
    elements: tuple[Dim, ...]
    columns: tuple[Dim, ...]
    whole: bool = False
    grouped: bool = False

    def are_own(self, elements: Sequence[Dim]) -> bool:
        """Whether an array that is read varies along rows and along their elements."""
        below = topological(self.node.args, lambda each: () if is_reduction(each) else each.args)
        shapes = [set(each.shape) for each in below if each.op == "slot"]
        return any(not shape.isdisjoint(self.rows) and not shape.isdisjoint(elements) for shape in shapes)

    def are_long(self, length: Length, designs: Sequence[Rows] = ()) -> bool:
        """Whether rows have so many elements that these are better side by side; fewer do in strips, of ``designs``."""
        count, columns = length(self.elements), length(self.columns)
        if not self.grouped and any({*self.elements} <= {*each.rows, *each.columns} for each in designs):
            return count >= STRIPPED
        return count * columns >= (GROUPED if self.grouped else LONG) or (bool(self.columns) and count >= TALL)

    def cut(self, length: Length) -> Rows:
        """What reduces all axes as rows of the longest of these."""
        dims = (*self.rows, *self.elements, *self.columns)
        place = max(range(len(dims)), key=lambda place: length(dims[place : place + 1]))
        return replace(self, rows=dims[:place], elements=dims[place : place + 1], columns=dims[place + 1 :])


Beside = Callable[[Sequence[Rows], Mapping[str, int], int], tuple[tuple[Node, ...], tuple[Dim, ...]]]
"""Which sums of rows, at most so many, are taken side by side, and the lengths whose loops come first, in order."""


def reduced_rows(roots: Sequence[Node]) -> tuple[Rows, ...]:
    """The reductions of several rows; none where something goes through elements in order, or rows share no array."""
    nodes = list(topological(roots))
    along = {frozenset(node.shape) - {1} for node in nodes if node.op == "slot"} - {frozenset()}
    if len(along) < 2 or any(node.op in IN_ORDER for node in nodes):
        return ()
    found = [rows for node in nodes if is_reduction(node) for rows in _parted(node)]
    grouped = {dim for node in nodes if node.op == "scatter" for index in node.args[1:] for dim in index.shape}
    return tuple(replace(rows, grouped=not grouped.isdisjoint(rows.elements)) for rows in found)


def _parted(node: Node) -> Iterator[Rows]:
    """A reduction of neighbouring axes behind others, or of several that are all."""
    (source,), (axes, *_) = node.args, node.attrs
    varying = [axis for axis in range(-source.ndim, 0) if source.shape[axis] != 1]
    over = [place for place, axis in enumerate(varying) if axis in axes]
    if not over or len(varying) < 2 or over != list(range(over[0], over[-1] + 1)):
        return
    if over[0] == 0 and len(over) < len(varying):
        return  # of columns, whose rows come first as they are
    dims = tuple([source.shape[axis] for axis in varying])
    yield Rows(node, dims[: over[0]], dims[over[0] : over[-1] + 1], dims[over[-1] + 1 :], over[0] == 0)


def few_rows(
    found: Sequence[Rows], lengths: Mapping[str, int], most: int
) -> tuple[tuple[Node, ...], tuple[Dim, ...]]:
    """The sums of long rows, at most ``most`` of them, and the lengths whose loops come first, in their order."""

    def length(dims: Iterable[Dim]) -> int:
        return math.prod(length_in(dim, lengths) for dim in dims)

    parted = [each.cut(length) if each.whole else each for each in found]
    designs = _designs(parted, length)
    in_strips = bool(designs)
    few = [each for each in parted if _adds(each) and each.rows and (in_strips or length(each.rows) <= most)]
    long = [each for each in few if each.are_long(length, designs)]
    first = _first(long, parted)
    long = [each for each in long if length(each.rows) <= OWN or not each.are_own(first)]
    nests = _nests(_first(long, parted), parted)
    crowded = set().union(*(dims for dims in nests if not _has_room(dims, parted, length, in_strips)))
    long = [each for each in long if crowded.isdisjoint(each.elements)]
    first = _first(long, parted)
    taken = _taken(first, parted)
    return tuple(each.node for each in taken), (*first, *_columns_first(taken, parted, length))


def shared_rows(
    found: Sequence[Rows], lengths: Mapping[str, int], most: int
) -> tuple[tuple[Node, ...], tuple[Dim, ...]]:
    """The sums of few rows over a design of which they share each strip, and the lengths whose loops come first."""

    def length(dims: Iterable[Dim]) -> int:
        return math.prod(length_in(dim, lengths) for dim in dims)

    parted = [each.cut(length) if each.whole else each for each in found]
    designs = [each for each in parted if not each.whole and each.rows and _is_of_design(each.node)]
    few = [each for each in designs if length(each.rows) <= most and length(each.elements) >= STRIPPED]
    first = _first(few, parted)
    return tuple(each.node for each in _taken(first, parted)), first


def _is_of_design(node: Node) -> bool:
    """Whether a sum is of what columns of a design, which rows share, are multiplied by, a number of each row."""
    (source,), (axes, *_) = node.args, node.attrs
    if node.op != "sum" or source.op != "mul":
        return False
    behind = range(max(axes) + 1, 0)

    def varies(arg: Node, places: Iterable[int]) -> bool:
        return any(-place <= arg.ndim and arg.shape[place] != 1 for place in places)

    pairs = [(x, y) for x, y in (source.args, source.args[::-1]) if varies(x, behind) and not varies(y, behind)]
    return any(not varies(x, range(-x.ndim, min(axes))) for x, _ in pairs)


def rows_behind(found: Sequence[Rows], first: Sequence[Dim]) -> tuple[Dim, ...]:
    """The lengths of the rows whose loops are inside of those over ``first``."""
    return tuple(dict.fromkeys(dim for each in _taken(first, found) for dim in each.rows if dim not in first))


def in_turn_behind(found: Sequence[Rows], first: Sequence[Dim]) -> tuple[Dim, ...]:
    """The lengths whose loops follow where those over ``first`` are outermost: of rows, and of some of their columns.

    These are the columns along which what is computed varies, of sums with others besides: what is computed for a
    column then stands outside of the loop over the others.
    """
    taken = [each for each in _taken(first, found) if len(each.columns) > 1]
    parted = [(each, [dim for dim in each.columns if _is_computed_along(each.node.args[0], dim)]) for each in taken]
    wanted = [(each, ahead) for each, ahead in parted if [*each.columns[: len(ahead)]] != ahead]
    rows = dict.fromkeys(dim for each, _ in wanted for dim in each.rows if dim not in first)
    ahead = dict.fromkeys(dim for _, dims in wanted for dim in dims)
    later = {dim for each, dims in parted if dims for dim in each.columns if dim not in dims}
    return (*rows, *ahead) if later.isdisjoint(ahead) else ()


def _is_computed_along(source: Node, dim: Dim) -> bool:
    """Whether an argument that is computed varies along an axis of this length."""
    return any(dim in arg.shape and _is_computed(arg) for arg in source.args)


def _is_computed(node: Node) -> bool:
    while node.op in {"view", "cast"}:
        (node,) = node.args
    return bool(node.args)


def served(found: Sequence[Rows], lengths: Mapping[str, int], first: Collection[Dim] = ()) -> bool:
    """Whether the loop over rows comes ``first`` wherever long rows of a design are multiplied by several vectors.

    Where it is inside, a thread reads all of a row for each vector, far from what its neighbours read.
    """
    for each in found:
        if not each.whole and each.node.op == "sum" and each.node.args[0].op == "mul" and len(each.rows) == 2:
            factors = [{*arg.shape} & {*each.rows} for arg in each.node.args[0].args]
            few, many = sorted(length_in(dim, lengths) for dim in each.rows)
            apart = all(len(dims) == 1 for dims in factors) and not {*first} & {*each.rows}
            if apart and (many >= LONG or few > LANES):
                return False
    return True


def _taken(first: Sequence[Dim], every: Sequence[Rows]) -> list[Rows]:
    """The sums that loops over these lengths add to."""
    return [each for each in every if not each.whole and not set(first).isdisjoint(each.elements)]


def _nests(first: Sequence[Dim], every: Sequence[Rows]) -> list[set[Dim]]:
    """The lengths whose loops come first, those together that something is summed along."""
    nests: list[set[Dim]] = []
    for dims in ({dim}.union(*(each.elements for each in _taken([dim], every))) & set(first) for dim in first):
        apart = [nest for nest in nests if nest.isdisjoint(dims)]
        nests = [*apart, dims.union(*(nest for nest in nests if nest not in apart))]
    return nests


def _has_room(first: Collection[Dim], every: Sequence[Rows], length: Length, in_strips: bool) -> bool:
    """Whether threads have room for what a nest over these lengths adds up."""
    taken = _taken(tuple(first), every)
    columns = _columns_first(taken, every, length)
    dims = [sorted((*each.rows, *each.columns), key=lambda dim: dim not in columns) for each in taken]
    jammed = [jams(length(each.rows), length(each.columns)) for each in taken]
    if any(jammed):
        sums = [length(each.rows) * -(-length(each.columns) // LANES) for each in taken]
        return sum(count for count, own in zip(sums, jammed, strict=True) if own) <= JAMMED
    turns = [1 if in_strips else -(-length(each[:1]) // LANES) for each in dims]
    return sum(turn * length(each[1:]) for turn, each in zip(turns, dims, strict=True)) <= SLOTS


def fits(rows: int, columns: int) -> bool:
    """Whether threads have room for a sum for each column of each row, which lanes share, or strips of, and others."""
    return (rows <= MOST and columns <= SLOTS - OTHERS) or jams(rows, columns)


def jams(rows: int, columns: int) -> bool:
    """Whether a few rows are written out, as their columns are more than a thread has room for, but not than lanes."""
    return 1 < rows <= CHAINS and columns > SLOTS - OTHERS and rows * -(-columns // LANES) <= JAMMED


def _designs(found: Sequence[Rows], length: Length) -> list[Rows]:
    """What is summed along columns of a design, where rows are more than groups have lanes for, and may be in strips.

    Each row then reads all of the design; where strips of rows are side by side, what it needs is read once for many.
    """
    inner = [each for each in found if not each.whole and each.node.op == "sum" and length(each.elements) < STRIPPED]
    dims = {each.rows[:1] for each in found if not each.whole and each.rows}
    apart = [each for each in found if not each.whole and each not in inner]
    others = [each for each in apart if SHORT < length(each.elements) < STRIPPED]
    if len(dims) != 1 or others or len(inner) == len(found):
        return []
    return inner if LANES < length(next(iter(dims))) <= MOST else []


def _adds(rows: Rows) -> bool:
    return rows.whole or rows.node.op == "sum"


def _first(long: Sequence[Rows], every: Sequence[Rows]) -> tuple[Dim, ...]:
    """The lengths of long rows along which nothing but sums goes, and no rows, or what their elements hold, lie."""
    inside = {dim for each in long for dim in (*each.rows, *each.columns)}
    inside.update(dim for each in every if not _adds(each) for dim in each.elements)
    return tuple(dict.fromkeys(dim for each in long for dim in each.elements if dim not in inside))


def _columns_first(taken: Sequence[Rows], every: Sequence[Rows], length: Length) -> tuple[Dim, ...]:
    """The columns that are more than rows, where nothing reduces them: threads side by side take these."""
    reduced = {dim for each in every if not each.whole for dim in each.elements}
    wide = [dim for each in taken if length(each.columns) > length(each.rows) for dim in each.columns]
    return tuple(dict.fromkeys(dim for dim in wide if dim not in reduced))
