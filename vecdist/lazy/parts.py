"""Views of what was joined are views of the parts: an element of a stack is what was stacked there.

Joined arrays are choices by place between parts that are zero elsewhere.  A view that takes all of one part needs no
choice, and so do functions of it, however often they are joined and taken apart again, as systems of differential
equations are in each step.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from vecdist.graph.node import Node, const, topological
from vecdist.graph.shapes import Dim, Shape
from vecdist.primitives.structure import Entry, full, joined, rebuilt, view
from vecdist.primitives.table import PRIMITIVES

BY_PLACE = {"view", "lt", "le", "eq", "add", "sub", "mul", "and", "or", "not"}  # what places are compared by
MOST = 16  # places of what is taken apart: of more a view is a loop, and what it is a function of is computed once


@final
class _Kind:
    """Whether a node depends on nothing but where an element stands, whether it is made of parts, and its views."""

    __slots__ = ("by_place", "joined", "views")

    def __init__(self, by_place: bool, joined: bool) -> None:
        self.by_place, self.joined = by_place, joined
        self.views: dict[tuple[Sequence[Entry], Shape], Node | None] = {}


_kinds: weakref.WeakKeyDictionary[Node, _Kind] = weakref.WeakKeyDictionary()


@final
class _View(NamedTuple):
    """What a view takes of a node."""

    node: Node
    entries: Sequence[Entry]
    shape: Shape

    def of(self, arg: Node) -> _View:
        """The same of an argument of an elementwise node, with length 1 along axes on which it does not vary."""
        if arg.shape == self.node.shape and 1 not in arg.shape:
            return _View(arg, self.entries, self.shape)
        own = self.entries[self.node.ndim - arg.ndim :]
        entries = tuple([(None, 0, 1) if dim == 1 else entry for entry, dim in zip(own, arg.shape, strict=True)])
        covered = {axis for axis, _, _ in entries}
        return _View(arg, entries, tuple([dim if axis in covered else 1 for axis, dim in enumerate(self.shape)]))

    @property
    def known(self) -> Node | None:
        return _kinds[self.node].views[self.entries, self.shape]

    @property
    def is_known(self) -> bool:
        return (self.entries, self.shape) in _kind(self.node).views


def part(node: Node) -> Node:
    """A view of parts where ``node`` is a view of what they were joined to, and itself otherwise."""
    if node.op != "view" or node.args[0].op == "leaf" or not _kind(node.args[0]).joined:
        return node
    asked = _View(node.args[0], node.attrs[0], node.shape)
    todo = [(asked, _needs(asked))]
    while todo:
        each, needed = todo[-1]
        missing = [(inner, _needs(inner)) for inner in needed if not inner.is_known]
        if missing:
            todo += missing
        else:
            _kinds[each.node].views[each.entries, each.shape] = _taken(each, needed)
            todo.pop()
    return node if asked.known is None else full(asked.known, node.shape)


def _kind(node: Node) -> _Kind:
    known = _kinds.get(node)
    if known is not None:
        return known
    for each in topological((node,), lambda below: [arg for arg in below.args if arg not in _kinds]):
        if each not in _kinds:
            _kinds[each] = _classified(each)
    return _kinds[node]


def _classified(node: Node) -> _Kind:
    if node.op == "leaf":
        (leaf,) = node.attrs
        return _Kind(leaf.kind == "number" and not leaf.traced, False)
    if node.op in {"const", "position"}:
        return _Kind(True, False)
    if node.op not in PRIMITIVES and node.op != "view":
        return _Kind(False, node.op == "pad" and _is_short(_padded(node)))
    args = [_kinds[arg] for arg in node.args]
    by_place = all(arg.by_place for arg in args) and node.op in BY_PLACE
    chosen = node.op == "where" and args[0].by_place and _is_short(node.args[0].shape)
    return _Kind(by_place, not by_place and (chosen or any(arg.joined for arg in args)))


def _padded(node: Node) -> list[Dim]:
    """The axes along which there are zeros."""
    (source,) = node.args
    every = zip(node.attrs[0], node.shape, strict=True)
    return [dim for (axis, *_), dim in every if axis is None or source.shape[axis] != dim]


def _is_short(shape: Sequence[Dim]) -> bool:
    return math.prod(map(int, shape)) <= MOST


def _needs(asked: _View) -> list[_View]:
    """The views that a view of parts is made of."""
    node = asked.node
    if not _kind(node).joined:
        return []
    if node.op in {"view", "pad"}:
        inner = _through(asked)
        return [inner] if isinstance(inner, _View) else []
    side = _side(asked) if node.op == "where" else None
    return [asked.of(arg) for arg in (node.args if side is None else (side,))]


def _taken(asked: _View, needed: Sequence[_View]) -> Node | None:
    """What a view is without the choice, where there is less to it."""
    node = asked.node
    if node.op == "pad" and _through(asked) is False:
        return const(0, node.dtype)
    found = [each.known for each in needed]
    if node.op == "view" and found:
        return found[0]
    one = bool(found) and (node.op == "pad" or len(found) < len(node.args))
    if not one and all(known is None for known in found):
        return None
    views = [joined(view(*each)) if known is None else known for each, known in zip(needed, found, strict=True)]
    return views[0] if one else rebuilt(node, tuple(views))


def _side(asked: _View) -> Node | None:
    """The side of a choice that a view takes all of its elements of."""
    condition, *sides = asked.node.args
    shown = asked.of(condition)
    if not _kind(condition).by_place or not _is_short(shown.shape):
        return None
    holds = _evaluated(shown)
    return sides[0] if holds.all() else None if holds.any() else sides[1]


def _evaluated(asked: _View) -> np.ndarray:
    """A view of what depends on places alone."""
    node = asked.node
    match node.op:
        case "const":
            return np.array(node.value, node.dtype)
        case "leaf":
            return node.attrs[0].array
        case "view":
            inner = _through(asked)
            assert isinstance(inner, _View)
            return _evaluated(inner)
        case "position":
            return _places(asked)
    meaning = PRIMITIVES[node.op].meaning
    assert meaning is not None
    return np.asarray(meaning(*[_evaluated(asked.of(arg)) for arg in node.args]))


def _places(asked: _View) -> np.ndarray:
    """A view of the places of elements."""
    place = np.zeros((1,) * len(asked.shape), np.int64)
    for (at, start, step), dim in zip(asked.entries, asked.node.shape, strict=True):
        count = 1 if at is None else int(asked.shape[at])
        along = [count if axis == at else 1 for axis in range(len(asked.shape))]
        place = place * int(dim) + (int(start) + step * np.arange(count)).reshape(along)
    return place


def _through(asked: _View) -> _View | bool | None:
    """A view of a view or of a pad as one of its source; ``False`` of the zeros around that, ``None`` of some of each.

    A view of a view that cannot be one has no such source either.
    """
    node = asked.node
    (source,) = node.args
    if node.op == "view":
        whole = joined(view(*asked))
        if whole.op == "view":
            return None if whole.args[0] is node else _View(whole.args[0], whole.attrs[0], whole.shape)
        return _View(whole, tuple([(axis, 0, 1) for axis in range(whole.ndim)]), whole.shape)
    entries: list[Entry] = [(None, 0, 1)] * source.ndim
    for (axis, start, step), (at, first, stride), dim in zip(node.attrs[0], asked.entries, node.shape, strict=True):
        length = 1 if axis is None else int(source.shape[axis])
        if axis is not None and (start, step, length) == (0, 1, dim):
            entries[axis] = (at, first, stride)
            continue
        count = 1 if at is None else int(asked.shape[at])
        offset = int(first) - int(start) + stride * np.arange(count)
        there = (offset % step == 0) & (offset // step >= 0) & (offset // step < length)
        if not there.all():
            return None if there.any() else False
        if axis is not None and length != 1:
            entries[axis] = at, int(offset[0]) // step, stride // step
    return _View(source, tuple(entries), asked.shape)
