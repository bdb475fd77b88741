"""Loops of elements in vectors: neighbours take turns together, each as long as its own test holds.

What is carried waits in buffers of a strip.  When few elements of those that are together still go on, each of them
goes on by itself, so that one that takes long holds up nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard, final

import numpy as np

from vecdist.codegen.cpu.fission import Phase, Rows
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.spelling import scalar
from vecdist.codegen.loops import called, turn_of
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import is_seldom
from vecdist.graph.node import Node
from vecdist.kernel.code import For, If, Set, While, let
from vecdist.kernel.expressions import ZERO, Call, Constant, Element, Expr, Name, names, substituted
from vecdist.kernel.ir import Loop as Nest
from vecdist.kernel.regions import literal
from vecdist.kernel.statements import Assign, Statement, carried, reads, renamed
from vecdist.primitives.loops import Loop, local

TOGETHER = 64  # elements: vectors enough to hide how long each operation takes
FEW = 8  # elements that go on by themselves
I1, I8, SELECT = map(Name, ("i1", "i8", "select"))


def takes_turns(item: object) -> TypeGuard[Assign]:
    """Whether a statement is a loop whose turns are a straight line, which vectors can take."""
    if not isinstance(item, Assign) or not isinstance(item.op, Loop):
        return False
    turn = turn_of(item.op)
    steps = [step for step in (*turn.tested, *turn.rest) if isinstance(step, Assign)]
    return not any(is_routine(step.op) and not is_seldom(step) for step in steps)



def has_lanes(nest: Nest) -> bool:
    """Whether the body of a loop nest's loop has such a loop."""
    return any(takes_turns(item) for _, item in nest.body.items)


def apart(parts: Sequence[Phase]) -> list[Phase]:
    """Phases of which such loops have their own, with what is read of them."""
    return [new for part in parts for new in (_parted(part) if any(map(takes_turns, part.items)) else [part])]


def runs(part: Phase) -> bool:
    """Whether a phase is such a loop."""
    return any(map(takes_turns, part.items[:1]))


def _parted(part: Phase) -> Iterator[Phase]:
    waiting: list[Statement] = []
    found = {item.name: item for item in part.items if isinstance(item, Assign) and isinstance(item.op, Loop)}
    for item in part.items:
        if isinstance(item, Assign) and item.name in found:
            results = [each for each in part.items if isinstance(each, Assign) and _is_part(each, {item.name: item})]
            if takes_turns(item):
                yield from (replace(part, items=tuple(items)) for items in (waiting, [item, *results]) if items)
                waiting = []
            else:  # what it ends with is taken apart beside it: no buffer holds several values
                waiting += [item, *results]
        elif not (isinstance(item, Assign) and _is_part(item, found)):
            waiting.append(item)
    if waiting:
        yield replace(part, items=tuple(waiting))


def _is_part(item: Assign, found: Mapping[str, Assign]) -> bool:
    """Whether a statement is a part of what such a loop ends with."""
    return any(found[name].dtype.kind == "V" for name in reads(item) & found.keys())


@final
class Lanes:
    """A phase that is such a loop: its buffers, and what runs it."""

    def __init__(self, phase: Phase) -> None:
        run = phase.items[0]
        assert takes_turns(run) and isinstance(run.op, Loop)
        self.phase, self.run, self.loop = phase, run, run.op
        self.results = [each for each in phase.items[1:] if isinstance(each, Assign)]
        self.kinds = [new.dtype for new in self.loop.news]
        again = {item.name for item in phase.again if isinstance(item, Assign)}
        self.active, *self.given = run.args
        behind = range(len(self.kinds), len(self.given))
        self.copied = [place for place in behind if not again.isdisjoint(names(self.given[place]))]
        dtypes = {leaf.attrs[0]: leaf.dtype for leaf in self.loop.locals}
        self.counters = {place: step for place, new in enumerate(self.loop.news) if (step := self.step_of(place, new))}
        self.ends = [(each.name, _place(each)) for each in self.results] or [(run.name, 0)]
        wanted = {place for _, place in self.ends}
        own = [place for place in range(len(self.kinds)) if place not in self.counters or place in wanted]
        self.carried = {place: self.kinds[place] for place in own} | {place: dtypes[place] for place in self.copied}

    def step_of(self, place: int, new: Node) -> Expr | None:
        """What is added to a carry in each turn, where that, and what it begins with, is the same for all elements."""
        begin = self.given[place]
        fixed = isinstance(begin, Constant) or (isinstance(begin, Call) and isinstance(begin.args[0], Constant))
        own = new.op == "add" and new.args[0] == local(place, new.dtype) and new.args[1].is_const()
        return literal(new.args[1]) if fixed and own else None

    def name(self, part: object) -> str:
        """A name of its own."""
        return f"{self.run.name}_{part}"

    @property
    def buffers(self) -> dict[str, np.dtype]:
        """What it keeps for each element of a strip: whether that goes on, and what is carried."""
        carries = {self.name(carried(place)): dtype for place, dtype in self.carried.items()}
        return {self.name("more"): np.dtype(bool), **carries}

    def items(self, rows: Rows) -> Items:
        """The turns of all elements of a strip."""
        end, first, at = (self.name(part) for part in ("end", "first", "at"))
        count = rows.loop.stop - rows.loop.start
        starts = [(self.name("more"), self.active), *((self.name(carried(at)), self.given[at]) for at in self.carried)]
        begin = [_kept(rows.at(name), value, self.buffers[name]) for name, value in starts]
        more = Name(f"b_{self.name('more')}")
        found = [let(name, _read(rows.at(self.name(carried(place))), self.kinds[place])) for name, place in self.ends]
        return (
            rows.over((*rows.entering(self.phase), *begin)),
            let(end, (count + (TOGETHER - 1)) // TOGETHER * TOGETHER),
            For(at, Name(end), (Set(more[Name(at)], I1(ZERO)),), count),
            For(first, Name(end), self.together(rows), ZERO, Constant(TOGETHER)),
            rows.over((*rows.entering(self.phase), *found, *rows.leaving(self.phase))),
        )

    def together(self, rows: Rows) -> Items:
        """Turns of elements side by side, while many go on; then those of each that does."""
        alive, turns, at, on, end = (Name(self.name(part)) for part in ("alive", "turns", "at", "on", "all"))
        first = Name(self.name("first"))
        test = alive > FEW if self.loop.limit is None else (alive > FEW) & (turns < self.loop.limit)
        turn = For(at.id, first + TOGETHER, tuple(self.turn(rows, at)), first)
        counted = [let(self.counter(place).id, self.counter(place) + step) for place, step in self.counters.items()]
        vectors = While(test, (let(alive.id, I8(ZERO)), turn, *counted, let(turns.id, turns + 1)))
        given = [self.read(place, rows, at) for place in range(len(self.given))]
        results = [end] if len(self.kinds) == 1 else [end[place] for place in range(len(self.kinds))]
        kept = [_kept(self.at(place, at), results[place], self.kinds[place]) for _, place in self.ends]
        alone = let(end.id, called(self.loop, [Constant(True), *given], scalar, turns)), *kept
        each = let(on.id, Name(f"b_{self.name('more')}")[at].differs(0)), If(on, alone)
        rest = If(alive > 0, (For(at.id, first + TOGETHER, each, first),))
        begun = [let(self.counter(place).id, self.given[place]) for place in self.counters]
        return let(alive.id, I8(TOGETHER)), let(turns.id, I8(ZERO)), *begun, vectors, rest

    def turn(self, rows: Rows, at: Name) -> Iterator[Item]:
        """A turn of an element, without branches."""
        turn, more, alive = turn_of(self.loop), Name(self.name("more")), Name(self.name("alive"))
        steps = [step for step in (*turn.tested, *turn.rest) if isinstance(step, Assign)]
        new: dict[str, Expr] = {step.name: Name(self.name(step.name)) for step in steps}
        for place in range(len(self.given)):
            value, name = self.read(place, rows, at), carried(place).id
            new[name] = value if isinstance(value, Name | Constant | Call) else Name(self.name(name))
            if new[name] is not value:
                yield let(self.name(name), value)
        before = self.name("before")
        kept = Name(f"b_{more.id}")[at]
        yield let(before, kept.differs(0))
        yield from (_wanted(renamed(step, new), Name(before)) for step in turn.tested)
        yield let(more.id, Name(before) & substituted(turn.test, new))
        yield from (_wanted(renamed(step, new), more) for step in turn.rest)
        for place, found in enumerate(turn.news):
            if found != carried(place) and place in self.carried:
                chosen = SELECT(more, substituted(found, new), _read(self.at(place, at), self.kinds[place]))
                yield _kept(self.at(place, at), chosen, self.kinds[place])
        yield Set(kept, I1(more))
        yield let(alive.id, alive + I8(more))

    def counter(self, place: int) -> Name:
        """A carry that is the same for all that go on."""
        return Name(self.name(f"n{place}"))

    def at(self, place: int, at: Expr) -> Element:
        """The place of a carry of an element of the strip."""
        return Name(f"b_{self.name(carried(place))}")[at]

    def read(self, place: int, rows: Rows, at: Name) -> Expr:
        """What a turn reads of an element of the strip."""
        given = self.given[place]
        if place in self.counters:
            return self.counter(place)
        if place in self.carried:
            return _read(self.at(place, at), self.carried[place])
        if isinstance(given, Name) and given.id in rows.buffers:
            return _read(Name(f"b_{given.id}")[at], rows.buffers[given.id])
        return given


def _wanted(item: Statement, more: Expr) -> Statement:
    """A statement whose value, where it is seldom wanted, is not of an element that has ended."""
    if not (isinstance(item, Assign) and is_seldom(item)):
        return item
    condition, *others = item.args
    return replace(item, args=(condition & more, *others))


def _place(item: Statement) -> int:
    """Which part of what a loop ends with a statement reads."""
    (part,) = item.expressions()
    assert isinstance(part, Element) and isinstance(part.index, Constant)
    return int(part.index.value)


def _read(at: Element, dtype: np.dtype) -> Expr:
    return at.differs(0) if dtype.kind == "b" else at


def _kept(at: Element, value: Expr, dtype: np.dtype) -> Set:
    return Set(at, I1(value) if dtype.kind == "b" else value)
