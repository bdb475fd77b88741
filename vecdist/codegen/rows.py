"""Loops over rows in phases, each a loop over a short stretch of rows: a vector takes as many rows as it has lanes.

What a row needs between its inner loops is computed for all rows of a stretch at once; inner loops come in phases of
their own, and what passes from one phase to the next waits in *buffers* of one element per row, in the first-level
cache.  An inner loop whose elements lie together for neighbouring rows, not along the row, is turned inside out: the
rows of the stretch are its innermost loop.

Where all inner loops are short and their lengths are known they are written out, and a row is as any other element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from vecdist.codegen.statements import PARTIAL, start, type_name
from vecdist.kernel.ir import Accumulate, Assign, Cases, Flag, Load, Loop, Output, Scatter, Statement, Store, Total

STRETCH = 256  # rows of a stretch, at most
COLUMNS = 64  # elements of each row that are added up in float32
NAME = re.compile(r"\b[va]\d+\b")
WRITTEN = 16  # elements of a row that are written out: so many are gathered from rows that lie behind each other
STATEMENTS = 512  # of a row, when they are
CHEAP = {"lt", "le", "eq", "ne", "and", "or", "not", "add", "sub", "mul", "neg", "abs", "floor"}
CHEAP_STEPS = 12  # so many of these cost less than a buffer of booleans, whose width splits the vectors of its readers

Made = Assign | Load | Total  # what gives a name to a value of each row


@final
@dataclass(frozen=True)
class Phase:
    """Statements of rows, or one inner loop of theirs with the ends of its sums.

    ``again`` are statements of earlier phases that are cheaper to repeat than to keep the value of.
    """

    items: tuple[Statement, ...] = ()
    loop: Loop | None = None
    again: tuple[Statement, ...] = ()

    def defines(self) -> dict[str, np.dtype]:
        """The names that the phase gives its rows, with their dtypes."""
        return {s.name: s.dtype for s in self.items if isinstance(s, Made)}

    def reads(self) -> set[str]:
        """Every name that its statements mention and that it does not compute again."""
        inner = [] if self.loop is None else [s for s in self.loop.body.walk() if not isinstance(s, Loop)]
        mentioned = {name for item in (*self.again, *self.items, *inner) for name in named(item)}
        return mentioned - {item.name for item in self.again if isinstance(item, Assign)}


def named(item: Statement) -> list[str]:
    """The values that a statement reads."""
    return [name for text in texts(item) for name in NAME.findall(text)]


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


def has_phases(loop: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether a loop over rows has inner loops that are not written out, or adds to elements that its data choose."""
    items = [item for _, item in loop.body.items]
    if any(isinstance(item, Cases) for item in items):
        return False
    return any(isinstance(item, Scatter) or (isinstance(item, Loop) and not is_written(item, fixed)) for item in items)


def is_written(inner: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether an inner loop is written out."""
    length, items = fixed.get(inner.dim, WRITTEN + 1), [item for _, item in inner.body.items]
    if length > WRITTEN or length * len(items) > STATEMENTS or inner.sequential:
        return False
    return not any(isinstance(item, Loop | Cases | Scatter) for item in items)


def phases(loop: Loop) -> list[Phase]:
    """The phases of the body of a loop, in order.

    A statement waits for the last phase in which it can stand, so that little has to wait in buffers; what is added to
    elements that data choose comes last of all.
    """
    found: list[Phase] = []
    waiting: list[Statement] = []
    last: list[Statement] = []
    totals = {item.accumulator: item for _, item in loop.body.items if isinstance(item, Total)}
    for level in loop.body.levels:
        for item in loop.body.statements(level):
            if not isinstance(item, Total):
                (last if isinstance(item, Scatter) else waiting).append(item)
        inner = [
            Phase(tuple(totals[item.name] for item in each.sums(loop.body) if item.name in totals), each)
            for each in loop.body.loops(level)
        ]
        if inner:
            needed = _needed(waiting, {name for phase in inner for name in phase.reads()})
            taken = set(map(id, needed))
            waiting = [item for item in waiting if id(item) not in taken]
            found += [Phase(tuple(needed))] if needed else []
            found += inner
    found += [Phase(tuple(waiting))] if waiting else []
    return list(_repeating([*found, Phase(tuple(last))] if last else found))


def _needed(items: Sequence[Statement], names: set[str]) -> list[Statement]:
    """Those of ``items`` that give one of ``names``, or what these need."""
    found: list[Statement] = []
    wanted = set(names)
    for item in reversed(items):
        if getattr(item, "name", None) in wanted and not isinstance(item, Accumulate):
            found.append(item)
            wanted.update(named(item))
    return found[::-1]


def _repeating(parts: Sequence[Phase]) -> Iterator[Phase]:
    """The phases with the booleans of earlier ones computed again, where a few cheap steps do that."""
    made: dict[str, Made] = {}
    for part in parts:
        again: dict[str, Statement] = {}
        read = sorted(part.reads() & made.keys())
        kept = {name: made[name] for name in read if made[name].dtype.kind != "b"}
        for name in read:
            if name not in kept:
                again |= _cheap_steps(name, made, kept)
        yield replace(part, again=tuple(again.values()))
        made |= {item.name: item for item in part.items if isinstance(item, Made)}


def _cheap_steps(name: str, made: Mapping[str, Made], kept: Mapping[str, Made]) -> dict[str, Statement]:
    """What computes a boolean again, by name; nothing where that takes long, or needs more than two floats."""
    steps = _steps(name, made, kept)
    ends = {read for item in steps.values() for read in named(item)} & (made.keys() - steps.keys())
    floats = all(made[end].dtype.kind == "f" for end in ends)
    return steps if len(steps) <= CHEAP_STEPS and len(ends) <= 2 and floats else {}


def _steps(name: str, made: Mapping[str, Made], kept: Mapping[str, Made]) -> dict[str, Statement]:
    """The cheap statements that lead from what is kept to a value, by what they give, in order."""
    item = made.get(name)
    if not isinstance(item, Assign) or item.op not in CHEAP or name in kept:
        return {}
    before = {step: found for read in named(item) for step, found in _steps(read, made, kept).items()}
    return {**before, name: item}


def buffers(loop: Loop, outputs: Sequence[Output]) -> dict[str, np.dtype]:
    """What waits in buffers: the names that pass from one phase to a later one, and sums that are not finished."""
    parts = phases(loop)
    reads = [part.reads() for part in parts]
    found = {
        name: dtype
        for place, part in enumerate(parts)
        for name, dtype in part.defines().items()
        if any(name in later for later in reads[place + 1 :])
    }
    for inner in (part.loop for part in parts if part.loop is not None):
        if is_turned(inner, loop):
            sums = inner.sums(loop.body)
            found |= {item.name: accumulator(item) for item in sums}
            found |= {short(item): item.dtype for item in sums if is_short(item)}
        else:
            found |= {short(item): np.dtype(np.float32) for item in short_columns(inner, loop, outputs)}
    return found


def accumulator(item: Accumulate) -> np.dtype:
    """The dtype in which a reduction accumulates; the largest and the smallest element need no wider one."""
    exact = item.op in {"max", "min"} and item.dtype.kind == "f"
    return item.dtype if exact else np.dtype(PARTIAL[item.dtype.kind])


def beginning(item: Accumulate) -> str:
    """What a reduction begins with."""
    return f"{type_name(accumulator(item))}({start(item)})" if accumulator(item) == np.float32 else start(item)


def is_short(item: Accumulate) -> bool:
    """Whether a sum is taken in float32 over short stretches, which keeps the vectors of its loop whole."""
    return item.op == "sum" and item.dtype == np.float32


def short(item: Accumulate | Scatter) -> str:
    """The name of what a short stretch adds up."""
    return f"s_{item.name}" if isinstance(item, Accumulate) else f"s_{item.value}_o{item.output}"


def short_columns(inner: Loop, loop: Loop, outputs: Sequence[Output]) -> list[Scatter]:
    """The scatters along the columns of a row that are added up in float32 over the rows of a stretch."""
    if inner.sums(loop.body) or len(inner.dims()) > 1:
        return []
    return [item for item in parts_of_turned(inner) if outputs[item.output].dtype == np.float32]


def is_turned(inner: Loop, loop: Loop) -> bool:
    """Whether the rows become the innermost loop: no element of a row lies beside the next one along it."""
    if loop.dim == "1":
        return False
    items = [item for _, item in inner.body.items]
    if any(isinstance(item, Loop | Cases) for item in items):
        return False
    arrays = [item for item in items if isinstance(item, Load | Store) and len(item.indices) > 1]
    both = [item.indices for item in arrays if any(re.search(rf"\b{loop.index}\b", index) for index in item.indices)]
    return not any(re.search(rf"\b{inner.index}\b", indices[-1]) for indices in both)


def buffer_type(dtype: np.dtype) -> str:
    """The type of a buffer's elements; booleans are kept as bytes."""
    return "i1" if dtype.kind == "b" else type_name(dtype)


def from_buffer(name: str, dtype: np.dtype, row: str, scope: str) -> str:
    text = f"load(b_{name}, {row}, {scope})"
    return f"{name} = {text} != 0" if dtype.kind == "b" else f"{name} = {text}"


def to_buffer(name: str, dtype: np.dtype, row: str, scope: str) -> str:
    value = f"i1({name})" if dtype.kind == "b" else name
    return f"store(b_{name}, {row}, {value}, {scope})"


def declared(waiting: dict[str, np.dtype]) -> Iterator[str]:
    """The lines that make the buffers."""
    for name, dtype in waiting.items():
        yield f"    b_{name} = empty({STRETCH}, {buffer_type(dtype)})"


def parts_of_turned(inner: Loop) -> list[Scatter]:
    """The scatters of an inner loop whose element is the same for all rows: they are added up in a register first."""
    return [item for item in inner.body.walk() if isinstance(item, Scatter) and set(item.indices) == {inner.index}]


