"""Elements of constant tables at places that are known when the function runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.functions.meaning import Frame
from vecdist.functions.numbers import is_number, kind
from vecdist.functions.source import Problem, constant
from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node, const, where
from vecdist.primitives.indexing import gather

CHOICES = 32  # elements of a table that is a tree of choices; a longer one is read from memory
CHOICES_IN_LOOPS = 256  # where no memory can be read
BEYOND = {"b": False, "i": -(2**63), "f": np.nan}  # what is there beyond the ends of a table


def picked(frame: Frame, table: Any, index: Any) -> Any:
    """The element of a sequence at an index, from the end where that is negative; NaN beyond its ends."""
    items = table if isinstance(table, np.ndarray) and table.ndim == 1 else frame.numbers.items(table)
    if not isinstance(index, Node):
        try:
            return constant(items[index])
        except (IndexError, TypeError) as error:
            raise Problem(str(error)) from None
    if not len(items):
        raise Problem("an empty tuple has no elements")
    (place,) = frame.numbers.whole(index)
    place = where(place < 0, place + len(items), place)
    if frame.trace.inside and len(items) > CHOICES_IN_LOOPS:
        raise Problem(f"a table inside a loop has at most {CHOICES_IN_LOOPS} elements, this one {len(items)}")
    short = frame.trace.inside or len(items) <= CHOICES
    if short or not all(is_number(each) and not isinstance(each, Node) for each in items):
        found = _chosen(frame, frame.numbers.items(table), place, 0)
    else:
        found = _gathered(frame, items, place)
    return _within(frame, (place >= 0) & (place < len(items)), found)


def _chosen(frame: Frame, items: Sequence[Any], place: Node, first: int) -> Any:
    """A tree of choices, whose leaves stand at ``first`` and behind it."""
    if len(items) == 1:
        return items[0]
    half = len(items) // 2
    low = _chosen(frame, items[:half], place, first)
    return frame.numbers.merged(place < first + half, low, _chosen(frame, items[half:], place, first + half))


def _gathered(frame: Frame, items: Sequence[Any] | np.ndarray, place: Node) -> Node:
    letter = kind(np.asarray(items)[0])
    table = leaf(np.asarray(items, frame.numbers.dtype(letter)))
    safe = where((place >= 0) & (place < len(items)), place, 0)
    return gather(table, [safe], safe.shape)


def _within(frame: Frame, inside: Node, value: Any) -> Any:
    """A value, of a table perhaps of tuples, where an index is within its ends."""
    if isinstance(value, tuple):
        return tuple([_within(frame, inside, each) for each in value])
    if not is_number(value):
        return value
    return where(inside, frame.numbers.node(value), const(BEYOND[kind(value)], frame.numbers.dtype(kind(value))))
