"""Correlations of long arrays, as calls between kernels: arrays are packed, and sums taken by machine code in tiles.

An array is packed with all zeros that windows meet at its ends, one plane for each remainder of an index by a step, so
that every element of a window is a fixed distance ahead of its first.  Sums then run over rows and the ends of rows
alike, in vectors; what belongs to no result is left out.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, rewrite
from vecdist.passes.correlations import Correlation, Found, Move, correlation, cropped, reshaped
from vecdist.passes.order import Derived
from vecdist.primitives.calls import Call, called
from vecdist.primitives.structure import rebuilt
from vecdist.runtime.base import length_of
from vecdist.runtime.cpu.correlation_code import ACROSS, ALONG, Tile, compiled, tile
from vecdist.runtime.cpu.crew import Job
from vecdist.runtime.cpu.packing import ENTRY
from vecdist.runtime.cpu.processors import thread_count
from vecdist.runtime.cpu.threads import SHARES, crew, may_pay

LEAST, LEAST_IN_GROUPS = 2**18, 2**12  # products from which a call pays: loops of a kernel divide indices of groups
EACH = 12  # products for each element that is packed, or written
FEW = 2  # filters that a kernel has quick loops for, where windows end with the array
WASTE = 3  # products that are computed, at most, for each that is wanted
RATE = 3e10  # products of float32 in a second, roughly
STRETCH = 128  # vectors that are added up in a register
FAR = 2**62


def with_correlations(found: Derived, lengths: Mapping[str, int]) -> Derived:
    """A graph with calls in the place of correlations that are long enough."""
    if not found.moving:
        return found
    made: dict[Node, Found] = {}

    def length(dim: Any) -> int:
        return length_of(dim, lengths)

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        new = rebuilt(node, args)
        if args and args[0] in made and node.op in {"view", "reshape"}:
            part = (cropped if node.op == "view" else reshaped)(made[args[0]], node, length)
        else:
            part = correlation(new, length)
        if part is None or not pays(part.kind):
            return new
        (result,) = called(call(part.kind), part.args, ((node.shape, node.dtype),))
        made[result] = part
        return result

    roots = rewrite(found.all, rule)
    return replace(found, roots=roots[: len(found.roots)], flags=roots[len(found.roots) :]) if made else found


def pays(kind: Correlation) -> bool:
    """Whether a call is quicker than a loop of a kernel, which need not pack arrays, and keeps what it computes."""
    own = Packed(kind)
    if kind.groups == 1 and all(move.inside for move in kind.moves):
        if kind.outputs <= FEW and not kind.along:
            return False
        if kind.outputs == kind.inputs == len(kind.moves) == 1:
            return False
    moved = kind.batch * kind.groups * (kind.inputs * math.prod(move.length for move in kind.moves)
                                        + kind.outputs * own.steps)  # fmt: skip
    if kind.groups > 1:
        return kind.work >= LEAST_IN_GROUPS
    return kind.work >= max(LEAST, moved * EACH) and own.positions <= WASTE * own.steps


@functools.lru_cache(256)
def call(kind: Correlation) -> Call:
    """The call of a correlation: the same one for the same lengths."""
    return Call("correlation", Correlating(kind), writes=True)


@final
class Packed:
    """Where a packed array has its elements: ``starts`` are those of rows of steps, ``places`` those of a window."""

    def __init__(self, kind: Correlation) -> None:
        self.moves, self.inputs = kind.moves, kind.inputs
        self.low = [min(move.offset, move.offset + move.spacing * (move.places - 1)) for move in self.moves]
        reach = [abs(move.spacing) * (move.places - 1) + move.step * (move.steps - 1) for move in self.moves]
        self.lengths = [each // move.step + 1 for each, move in zip(reach, self.moves, strict=True)]
        self.planes = [move.step for move in self.moves]
        self.plane = math.prod(self.lengths)
        self.size = math.prod(self.planes) * self.plane
        self.strides = [math.prod(self.lengths[n + 1 :]) for n in range(len(self.moves))]
        self.width = self.moves[-1].steps
        self.steps = math.prod(move.steps for move in self.moves)
        self.positions = sum(
            stride * (move.steps - 1) for stride, move in zip(self.strides, self.moves, strict=True)
        ) + 1  # fmt: skip

    def starts(self) -> np.ndarray:
        """Where rows begin."""
        outer = zip(self.strides[:-1], self.moves[:-1], strict=True)
        return _summed([np.arange(move.steps) * stride for stride, move in outer])

    def places(self) -> np.ndarray:
        """Where the elements of a window are, of all inputs in turn."""
        found = [np.arange(self.inputs) * self.size]
        plane = self.size
        for move, low, planes, stride in zip(self.moves, self.low, self.planes, self.strides, strict=True):
            plane //= planes
            ahead = move.offset + move.spacing * np.arange(move.places) - low
            found.append(ahead % move.step * plane + ahead // move.step * stride)
        return _summed(found)

    def fill(self, room: np.ndarray, x: np.ndarray) -> None:
        """Write an array to where its elements are wanted; the rest is zero."""
        room = room.reshape(*room.shape[:3], *self.planes, *self.lengths)
        for plane in itertools.product(*map(range, self.planes)):
            sides = [_ranges(*each) for each in zip(self.moves, self.low, self.lengths, plane, strict=True)]
            target, source = zip(*sides, strict=True)
            room[(slice(None), slice(None), slice(None), *plane, *target)] = x[(..., *source)]


def _summed(each: Sequence[np.ndarray]) -> np.ndarray:
    """The sums of one of each, in order."""
    total = np.zeros(1, np.int64)
    for one in each:
        total = (total[:, None] + one).reshape(-1)
    return total


def _ranges(move: Move, low: int, length: int, plane: int) -> tuple[slice, slice]:
    """Which elements of a plane are there, and which of the array these are."""
    if move.apart > 1:
        first, last = max(0, -(-low // move.apart)), min(move.length - 1, (low + length - 1) // move.apart)
        begin, end = move.apart * first - low, move.apart * last - low + 1
        return (slice(begin, end, move.apart), slice(first, last + 1)) if first <= last else (slice(0), slice(0))
    first = max(0, -((plane + low) // move.step))
    last = min(length - 1, (move.length - 1 - plane - low) // move.step)
    if first > last:
        return slice(0), slice(0)
    begin = move.step * first + plane + low
    return slice(first, last + 1), slice(begin, move.step * (last - first) + begin + 1, move.step)


@final
class Correlating:
    """A correlation as a function of its arrays."""

    def __init__(self, kind: Correlation) -> None:
        self.kind, self.packed = kind, Packed(kind)
        self.type = "float" if kind.dtype == np.float32 else "double"
        self.rooms: list[dict[str, np.ndarray]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Correlating, (self.kind,)

    def __call__(self, x: np.ndarray, w: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        kind, packed = self.kind, self.packed
        try:
            room = self.rooms.pop()
        except IndexError:
            room = self._room()
        arrays = kind.batch * kind.groups * kind.inputs
        held = room["x"][: arrays * packed.size].reshape(kind.batch, kind.groups, kind.inputs, packed.size)
        lengths = [move.length for move in kind.moves]
        x, w = x.reshape(kind.shapes[0]).transpose(kind.x), w.reshape(kind.shapes[1]).transpose(kind.w)
        packed.fill(held, x.reshape(kind.batch, kind.groups, kind.inputs, *lengths))
        found = self._along(room, w) if kind.along else self._across(room, w, out if self.straight else None)
        self.rooms.append(room)
        if found is out:
            return found
        found = found.reshape([kind.shapes[2][axis] for axis in kind.result]).transpose(np.argsort(kind.result))
        if out is None:
            return np.ascontiguousarray(found.reshape(kind.shape))
        out[...] = found.reshape(kind.shape)
        return out

    @functools.cached_property
    def straight(self) -> bool:
        """Whether the axes of the result have the order of those of the formula."""
        own = [axis for axis in self.kind.result if self.kind.shapes[2][axis] != 1]
        return own == sorted(own)

    @functools.cached_property
    def tile(self) -> Tile:
        kind, packed = self.kind, self.packed
        if kind.along:
            return tile(self.type, kind.outputs, kind.inputs * math.prod(move.places for move in kind.moves))
        return tile(self.type, kind.outputs).cut(packed.positions)

    @functools.cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """What the machine code looks up."""
        kind, packed, own = self.kind, self.packed, self.tile
        places, starts = packed.places(), packed.starts()
        if kind.along:
            vectors = -(-packed.positions // own.lanes)
            many, long = max(1, STRETCH // vectors), min(vectors, STRETCH) * own.lanes
            runs = [(b, min(b + many, kind.batch), e, min(e + long, vectors * own.lanes))
                    for b in range(0, kind.batch, many) for e in range(0, vectors * own.lanes, long)]  # fmt: skip
            more = -len(places) % own.columns
            return {"places": np.pad(places, (0, more), "edge"), "runs": np.array(runs, np.int64)}
        blocks = np.arange(-(-packed.positions // own.block)) * own.block
        rows = np.searchsorted(starts + packed.width, blocks, side="right")
        return {"places": places, "starts": np.append(starts, FAR), "rows": rows}

    def _room(self) -> dict[str, np.ndarray]:
        """Memory for one call at a time."""
        kind, packed, own = self.kind, self.packed, self.tile
        behind = int(packed.places().max()) + packed.positions + own.block + own.lanes
        arrays = kind.batch * kind.groups * kind.inputs
        room: dict[str, np.ndarray] = {"x": np.zeros(arrays * packed.size + behind, kind.dtype)}
        if kind.along:
            sets, vectors = -(-kind.outputs // own.rows), -(-packed.positions // own.lanes)
            shape = (kind.batch, kind.groups, sets * own.rows, vectors * own.lanes)
            room["z"] = np.zeros(shape, kind.dtype)
        return room

    def _across(self, room: Mapping[str, np.ndarray], w: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        kind, packed, own = self.kind, self.packed, self.tile
        terms, sets = len(self.tables["places"]), -(-kind.outputs // own.rows)
        weights = np.zeros((kind.groups, sets * own.rows, terms), kind.dtype)
        weights[:, : kind.outputs] = w.reshape(kind.groups, kind.outputs, terms)
        weights = np.ascontiguousarray(weights.reshape(kind.groups, sets, own.rows, terms).swapaxes(2, 3))
        y = np.empty((kind.batch, kind.groups, kind.outputs, packed.steps), kind.dtype) if out is None else out
        blocks = len(self.tables["rows"])
        self._run("across", ACROSS, kind.batch * kind.groups * blocks, {
            **room, **self.tables, "w": weights, "y": y, "groups": kind.groups, "blocks": blocks,
            "size": kind.inputs * packed.size, "terms": terms, "filters": kind.outputs, "width": packed.width,
            "elements": packed.steps,
        })  # fmt: skip
        return y

    def _along(self, room: Mapping[str, np.ndarray], w: np.ndarray) -> np.ndarray:
        kind, packed, own, z = self.kind, self.packed, self.tile, room["z"]
        strides = [each * z.itemsize for each in packed.strides]
        steps = [move.steps for move in kind.moves]
        shape = (kind.batch, kind.groups, kind.outputs, *steps)
        np.lib.stride_tricks.as_strided(z, shape, (*z.strides[:3], *strides))[...] = w.reshape(shape)
        terms, sets = len(self.tables["places"]), z.shape[2] // own.rows
        tiles = terms // own.columns
        y = np.zeros((kind.groups, sets * own.rows, terms))
        shares = min(tiles, max(1, 16 // (kind.groups * sets)))
        self._run("along", ALONG, kind.groups * sets * shares, {
            **room, **self.tables, "y": y, "groups": kind.groups, "size": kind.inputs * packed.size, "sets": sets,
            "row_size": z.shape[3], "tiles": tiles, "shares": shares, "stretches": len(self.tables["runs"]),
        })  # fmt: skip
        wanted = kind.inputs * math.prod(move.places for move in kind.moves)
        return y[:, : kind.outputs, :wanted].astype(kind.dtype)

    def _run(self, name: str, names: Sequence[str], items: int, given: Mapping[str, Any]) -> None:
        """Machine code over all items, by several threads where that pays."""
        address, _ = compiled(name, self.tile)
        each = [value.ctypes.data if isinstance(value, np.ndarray) else value for value in map(given.get, names)]
        words = np.array([0, 0, items, *each], np.int64)
        seconds = self.kind.work / RATE * self.kind.dtype.itemsize / 4
        threads = thread_count()
        if not may_pay(seconds) or not crew(threads).share(address, words, 0, Job(items, threads, SHARES)):
            ENTRY(address)(words.ctypes.data)
