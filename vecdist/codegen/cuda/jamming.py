"""Unroll and jam: the turns of a loop written out, which go together through the loops inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import final

from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Constant, Expr, Name, names, substituted
from vecdist.kernel.ir import Block, Loop
from vecdist.kernel.statements import Accumulate, Assign, Flag, Made, Statement, Total, renamed


@final
class Jammed(Copy):
    """The loop nests of a kernel again, with some loops written out so many times, at most one of each block."""

    def __init__(self, counts: Mapping[Loop, int]) -> None:
        super().__init__()
        self.counts = counts

    def block(self, old: Block, parent: Block | None = None) -> Block:
        found = [(level, item) for level, item in old.items if isinstance(item, Loop) and item in self.counts]
        if not found:
            return super().block(old, parent)
        ((at, loop),) = found
        new = self.blocks[old] = self.blocks[loop.body] = Block(parent, old.index)
        later = len(loop.body.levels) - 1
        for level, item in old.items:
            place = level if level <= at else level + later
            if isinstance(item, Loop):
                new.items += [] if item is loop else [(place, self.loop(item, new))]
            else:
                new.put(place, self.copied(item, new))
        self.together(loop.body, new, at, _Turns(loop, self.counts[loop]))
        return new

    def together(self, old: Block, new: Block, first: int, turns: _Turns) -> None:
        """Enter what a block does in all turns, from a level on; so do the loops in it, each of them once."""
        for level in old.levels:
            sides = [case.long for case in old.cases(level)]  # lanes of a group go through all that there is
            self.blocks |= dict.fromkeys(sides, new)
            rare = (item for side in sides for item in side.walk() if isinstance(item, Statement))
            for item in (*old.statements(level), *rare):
                for copy in turns.of(item):
                    new.put(first + level, self.at_home(copy))
            for loop in old.loops(level):
                body = self.blocks[loop.body] = Block(new, loop.index)
                self.together(loop.body, body, 0, turns)
                new.put(first + level, replace(loop, body=body))


@final
class _Turns:
    """The statements of a loop in each of its turns."""

    def __init__(self, loop: Loop, count: int) -> None:
        self.body = loop.body
        self.meanings: list[dict[str, Expr]] = [{loop.index: Constant(turn)} for turn in range(count)]

    def of(self, item: Statement) -> Iterator[Statement]:
        """A statement in every turn, or once, where all that it does is to compute the same in each."""
        varying = self.meanings[0].keys()
        if isinstance(item, Made | Flag) and varying.isdisjoint(names(*item.expressions())):
            yield item
            return
        if isinstance(item, Accumulate) and item.home is not self.body:
            yield from self.of_all(item)
            return
        own = isinstance(item, Made | Accumulate)
        for turn, known in enumerate(self.meanings):
            if own:
                known[item.name] = Name(f"{item.name}_{turn}")
            yield _in_turn(item, known)

    def of_all(self, item: Accumulate) -> Iterator[Statement]:
        """What all turns add to a sum of the whole kernel, in one addition."""
        whole = substituted(item.value, self.meanings[0])
        for turn, known in enumerate(self.meanings[1:], 1):
            name = f"{item.name}_to_{turn}"
            yield Assign(name, "add", (whole, substituted(item.value, known)), item.dtype)
            whole = Name(name)
        yield replace(item, value=whole)


def _in_turn(item: Statement, known: Mapping[str, Expr]) -> Statement:
    """A statement with what names mean in a turn."""
    changed = renamed(item, known)
    if isinstance(item, Total):
        return replace(changed, accumulator=_name(item.accumulator, known))
    return replace(changed, name=_name(item.name, known)) if isinstance(item, Accumulate) else changed


def _name(name: str, known: Mapping[str, Expr]) -> str:
    found = known.get(name)
    return found.id if isinstance(found, Name) else name
