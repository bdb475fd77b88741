"""Loops over rows in phases, each a loop over a short stretch of rows: a vector takes as many rows as it has lanes.

What a row needs between its inner loops is computed for all rows of a stretch at once; inner loops come in phases of
their own, and what passes from one phase to the next waits in *buffers* of one element per row, in the first-level
cache.  An inner loop whose elements lie together for neighbouring rows, not along the row, is turned inside out: the
rows of the stretch are its innermost loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.statements import PARTIAL, type_name
from vecdist.kernel import Accumulate, Assign, Cases, Flag, Load, Loop, Scatter, Statement, Store, Total

STRETCH = 256  # rows of a stretch, at most
NAME = re.compile(r"\b[va]\d+\b")


@final
@dataclass(frozen=True)
class Phase:
    """Statements of rows, or one inner loop of theirs."""

    items: tuple[Statement, ...] = ()
    loop: Loop | None = None

    def defines(self, body: Loop) -> dict[str, np.dtype]:
        """The names that the phase gives its rows, with their dtypes."""
        if self.loop is not None:
            return {s.name: np.dtype(PARTIAL[s.dtype.kind]) for s in self.loop.sums(body.body)}
        return {s.name: s.dtype for s in self.items if isinstance(s, Assign | Load | Total)}

    def reads(self) -> set[str]:
        """Every name that its statements mention."""
        items = self.items if self.loop is None else [s for s in self.loop.body.walk() if not isinstance(s, Loop)]
        return {name for item in items for text in texts(item) for name in NAME.findall(text)}


def texts(item: Statement) -> Sequence[str]:
    """The texts in which a statement may name values."""
    match item:
        case Assign(_, _, args):
            return args
        case Load(_, _, indices, _, guard):
            return (*indices, guard or "")
        case Store(_, indices, value) | Scatter(_, indices, value):
            return (*indices, value)
        case Accumulate(_, value) | Flag(value):
            return (value,)
        case Total(_, accumulator):
            return (accumulator,)


def has_phases(loop: Loop) -> bool:
    """Whether a loop over rows has inner loops, or adds to elements that its data choose."""
    items = [item for _, item in loop.body.items]
    return any(isinstance(i, Loop | Scatter) for i in items) and not any(isinstance(i, Cases) for i in items)


def phases(loop: Loop) -> list[Phase]:
    """The phases of the body of a loop, in order.

    A statement waits for the last phase in which it can stand, so that little has to wait in buffers; what is added to
    elements that data choose comes last of all.
    """
    found: list[Phase] = []
    waiting: list[Statement] = []
    last: list[Statement] = []
    for level in loop.body.levels:
        for item in loop.body.statements(level):
            (last if isinstance(item, Scatter) else waiting).append(item)
        inner = [Phase(loop=inner) for inner in loop.body.loops(level)]
        if inner:
            needed = _needed(waiting, {name for phase in inner for name in phase.reads()})
            waiting = [item for item in waiting if item not in needed]
            found += [Phase(tuple(needed))] if needed else []
            found += inner
    found += [Phase(tuple(waiting))] if waiting else []
    return [*found, Phase(tuple(last))] if last else found


def _needed(items: Sequence[Statement], names: set[str]) -> list[Statement]:
    """Those of ``items`` that give one of ``names``, or what these need."""
    found: list[Statement] = []
    wanted = set(names)
    for item in reversed(items):
        if getattr(item, "name", None) in wanted and not isinstance(item, Accumulate):
            found.append(item)
            wanted |= {name for text in texts(item) for name in NAME.findall(text)}
    return found[::-1]


def buffers(loop: Loop) -> dict[str, np.dtype]:
    """The names that pass from one phase to a later one."""
    parts = phases(loop)
    return {
        name: dtype
        for place, part in enumerate(parts)
        for name, dtype in part.defines(loop).items()
        if any(name in later.reads() for later in parts[place + 1 :]) or part.loop is not None
    }


def is_turned(inner: Loop, rows: str) -> bool:
    """Whether the rows become the innermost loop: no element of a row lies beside the next one along it."""
    items = [item for _, item in inner.body.items]
    if any(isinstance(item, Loop | Cases) for item in items):
        return False
    arrays = [item for item in items if isinstance(item, Load | Store) and len(item.indices) > 1]
    both = [item.indices for item in arrays if any(re.search(rf"\b{rows}\b", index) for index in item.indices)]
    return not any(re.search(rf"\b{inner.index}\b", indices[-1]) for indices in both)


def buffer_type(dtype: np.dtype) -> str:
    """The type of a buffer's elements; booleans are kept as bytes."""
    return "np.int8" if dtype.kind == "b" else f"np.{dtype.name}"


def from_buffer(name: str, dtype: np.dtype, row: str, scope: str) -> str:
    text = f"load(b_{name}, {row}, {scope})"
    return f"{name} = {text} != 0" if dtype.kind == "b" else f"{name} = {text}"


def to_buffer(name: str, dtype: np.dtype, row: str, scope: str) -> str:
    value = f"i1({name})" if dtype.kind == "b" else name
    return f"store(b_{name}, {row}, {value}, {scope})"


def declared(waiting: dict[str, np.dtype]) -> Iterator[str]:
    """The lines that make the buffers."""
    for name, dtype in waiting.items():
        yield f"    b_{name} = np.empty({STRETCH}, {buffer_type(dtype)})"


def parts_of_turned(inner: Loop) -> list[Scatter]:
    """The scatters of a turned loop whose element is the same for all rows: they are added up in a register first."""
    return [item for item in inner.body.walk() if isinstance(item, Scatter) and set(item.indices) == {inner.index}]


def zero(dtype: np.dtype) -> str:
    return f"{type_name(np.dtype(PARTIAL[dtype.kind]))}(0)"
