"""Loop fission: a loop over rows as phases, each a loop over a strip of rows: a vector takes as many as it has lanes.

What a row needs between its inner loops is computed for all rows of a strip at once; inner loops come in phases of
their own, and what passes from one phase to the next waits in *buffers* of one element per row, in the first-level
cache: scalar expansion.  Where all inner loops are unrolled a row is as any other element.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np

from vecdist.codegen.cpu.blocking import STRIP
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.unrolling import is_unrolled
from vecdist.codegen.statements import type_name
from vecdist.graph.memo import cached_property
from vecdist.kernel.code import For, Set, let
from vecdist.kernel.expressions import Element, Expr, Name, names
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate, Assign, Made, Scatter, Statement, Total, reads

CHEAP = {"lt", "le", "eq", "ne", "and", "or", "not", "add", "sub", "mul", "neg", "abs", "floor"}
LONG, SHORT = 4000, 1000  # statements of a line that LLVM takes long for: twice as long is four times the time
CHEAP_STEPS = 12  # so many of these cost less than a buffer of booleans, whose width splits the vectors of its readers


@final
@dataclass(frozen=True)
class Phase:
    """Statements of rows, or one inner loop of theirs with the ends of its sums.

    ``again`` are statements of earlier phases that are cheaper to repeat than to keep the value of.
    """

    items: tuple[Statement, ...] = ()
    loop: Loop | None = None
    again: tuple[Statement, ...] = ()

    @cached_property
    def defines(self) -> dict[str, np.dtype]:
        """The names that the phase gives its rows, with their dtypes."""
        return {s.name: s.dtype for s in self.items if isinstance(s, Made)}

    @cached_property
    def reads(self) -> set[str]:
        """Every name that its statements mention and that it does not compute again."""
        inside = [] if self.loop is None else [self.loop, *self.loop.body.walk()]
        inner = [item for item in inside if not isinstance(item, Loop)]
        mentioned = {name for item in (*self.again, *self.items, *inner) for name in reads(item)}
        mentioned.update(*(names(item.start) for item in inside if isinstance(item, Loop)))
        return mentioned - {item.name for item in self.again if isinstance(item, Assign)}


def scatters_alone(phase: Phase) -> bool:
    """Whether a phase does nothing but add to elements that data choose."""
    return phase.loop is None and all(isinstance(item, Scatter) for item in phase.items)


def has_phases(loop: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether a loop over rows has inner loops that are not unrolled, scatters, or is long."""
    items = [item for _, item in loop.body.items]
    loops = any(isinstance(item, Loop) and not is_unrolled(item, fixed) for item in items)
    return loops or len(items) > LONG or any(isinstance(item, Scatter) for item in items)


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
            needed = _needed(waiting, {name for phase in inner for name in phase.reads})
            taken = set(map(id, needed))
            waiting = [item for item in waiting if id(item) not in taken]
            found += [Phase(tuple(needed))] if needed else []
            found += inner
    found += [Phase(tuple(waiting))] if waiting else []
    whole = [*found, Phase(tuple(last))] if last else found
    return list(_repeating([part for phase in whole for part in _short(phase)]))


def _short(phase: Phase) -> list[Phase]:
    """The parts of a phase that is long; all that reads what a loop of elements carries stays in one part with it."""
    items = phase.items
    if phase.loop is not None or len(items) <= LONG:
        return [phase]
    runs = {item.name for item in items if isinstance(item, Assign) and item.dtype.kind == "V"}
    last = {name: at for at, item in enumerate(items) for name in reads(item) & runs}
    cuts, open_until = [0], 0
    for at, item in enumerate(items):
        if at - cuts[-1] >= SHORT and at > open_until:
            cuts.append(at)
        open_until = max(open_until, last.get(getattr(item, "name", ""), 0))
    return [Phase(items[first:stop]) for first, stop in pairwise([*cuts, len(items)])]


def _needed(items: Sequence[Statement], given: Collection[str]) -> list[Statement]:
    """Those of ``items`` that give one of ``given``, or what these need; all of a loop of elements that is run."""
    wanted = set(given)
    while True:
        found = _leading_to(wanted, items)
        runs = {item.name for item in found if isinstance(item, Assign) and item.dtype.kind == "V"}
        parts = {item.name for item in items if isinstance(item, Assign) and not runs.isdisjoint(reads(item))}
        if parts <= wanted:
            return found
        wanted |= parts


def _leading_to(given: Collection[str], items: Sequence[Statement]) -> list[Statement]:
    found: list[Statement] = []
    wanted = set(given)
    for item in reversed(items):
        if getattr(item, "name", None) in wanted and not isinstance(item, Accumulate):
            found.append(item)
            wanted |= reads(item)
    return found[::-1]


def _repeating(parts: Sequence[Phase]) -> Iterator[Phase]:
    """The phases with the booleans of earlier ones computed again, where a few cheap steps do that."""
    made: dict[str, Made] = {}
    for part in parts:
        again: dict[str, Statement] = {}
        read = sorted(part.reads & made.keys())
        kept = {name: made[name] for name in read if made[name].dtype.kind != "b"}
        for name in read:
            if name not in kept:
                again |= _cheap_steps(name, made, kept)
        yield replace(part, again=tuple(again.values()))
        made |= {item.name: item for item in part.items if isinstance(item, Made)}


def _cheap_steps(name: str, made: Mapping[str, Made], kept: Mapping[str, Made]) -> dict[str, Statement]:
    """What computes a boolean again, by name; nothing where that takes long, or needs more than two floats."""
    steps = _steps(name, made, kept)
    ends = {read for item in steps.values() for read in reads(item)} & (made.keys() - steps.keys())
    floats = all(made[end].dtype.kind == "f" for end in ends)
    return steps if len(steps) <= CHEAP_STEPS and len(ends) <= 2 and floats else {}


def _steps(name: str, made: Mapping[str, Made], kept: Mapping[str, Made]) -> dict[str, Statement]:
    """The cheap statements that lead from what is kept to a value, by what they give, in order."""
    item = made.get(name)
    if not isinstance(item, Assign) or item.op not in CHEAP or name in kept:
        return {}
    before = {step: found for read in names(*item.expressions()) for step, found in _steps(read, made, kept).items()}
    return {**before, name: item}


def passed(parts: Sequence[Phase]) -> dict[str, np.dtype]:
    """The names that pass from one phase to a later one, with their dtypes."""
    reads = [part.reads for part in parts]
    return {
        name: dtype
        for place, part in enumerate(parts)
        for name, dtype in part.defines.items()
        if any(name in later for later in reads[place + 1 :])
    }


def declared(buffers: Mapping[str, np.dtype]) -> Iterator[Set]:
    """What makes the buffers; booleans are kept as bytes."""
    for name, dtype in buffers.items():
        yield let(f"b_{name}", Name("empty")(STRIP, Name("i1" if dtype.kind == "b" else type_name(dtype))))


@final
@dataclass(frozen=True)
class Rows:
    """The loop over the rows of a strip, whatever stands in it, and the buffers in which their values wait."""

    loop: For[Item]
    buffers: Mapping[str, np.dtype]

    def over(self, body: Items) -> For[Item]:
        return replace(self.loop, body=body)

    def at(self, name: str) -> Element:
        """The place of a row's value in its buffer."""
        return Name(f"b_{name}")[Name(self.loop.index) - self.loop.start]

    def filled(self, name: str, value: Expr) -> For[Item]:
        """A loop that fills the buffer of a name."""
        return self.over((Set(self.at(name), value),))

    def expanded(self, phase: Phase, body: Items) -> For[Item]:
        """A loop over the rows, with what the phase takes from buffers and leaves there."""
        return self.over((*self.entering(phase), *body, *self.leaving(phase)))

    def entering(self, phase: Phase) -> Items:
        """What a row takes from buffers, or computes again."""
        wanted, given = phase.reads, phase.defines
        return *(self._taken(name) for name in self.buffers if name in wanted and name not in given), *phase.again

    def leaving(self, phase: Phase) -> Items:
        """What a row leaves in buffers."""
        return tuple([self._left(name) for name in self.buffers if name in phase.defines])

    def _taken(self, name: str) -> Set:
        return let(name, self.at(name).differs(0) if self.buffers[name].kind == "b" else self.at(name))

    def _left(self, name: str) -> Set:
        return Set(self.at(name), Name("i1")(Name(name)) if self.buffers[name].kind == "b" else Name(name))
