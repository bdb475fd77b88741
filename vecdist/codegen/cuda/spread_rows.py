"""Rows that are too few: loops in them become rows, or one with those inside, so that more threads have work.

The gradient of a few hundred chains has a row for each chain, and in that short loops over parameters around long ones
over data.  Lanes that shared the short ones would leave most of a GPU idle, and each would go through all data alone.
A short loop that leaves nothing to its row stands apart, with what it needs of that computed again, and its turns are
rows (loop fission, rematerialisation and collapsing); one that leaves sums is one loop with what stands in it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import indices
from vecdist.codegen.cuda.grid import THREADS
from vecdist.codegen.cuda.privatisation import privatisable
from vecdist.codegen.fission import Items, Split, part_of, parts
from vecdist.kernel.copies import Copy
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load
from vecdist.passes.hoist import BUSY


def spread_rows(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel in which loops that stand in too few rows are rows, or one with those inside; itself where none do."""

    def few(rows: Loop, loop: Loop) -> bool:
        return rows.turns(lengths) * min(loop.turns(lengths), THREADS) < BUSY

    split = Split([loop for _, loop in kernel.shared_nests() if not loop.sequential], few)
    root = split.block(kernel.root)
    apart = replace(kernel, root=root) if split.found else kernel
    spread = _Spread(apart, lengths)
    root = spread.block(apart.root)
    return replace(apart, root=root, spread=tuple(spread.names)) if spread.names else apart


@final
class _Spread(Copy):
    """The loop nests of a kernel again; ``names`` are the indices of loops that are one with others."""

    def __init__(self, kernel: Kernel, lengths: Mapping[str, int]) -> None:
        super().__init__()
        self.lengths, self.names = lengths, list[str]()
        self.nests = {loop for _, loop in kernel.shared_nests() if not loop.sequential}
        self.private = privatisable(kernel)

    def put(self, new: Block, level: int, loop: Loop) -> None:
        if loop not in self.nests:
            super().put(new, level, loop)
            return
        rest: set[int] = set()
        for number, part in enumerate(parts(loop)):
            outer = self._rows(loop, part.loop)
            if len(outer) > 1:
                new.put(level, self.joined(outer, part.items, new, f"{loop.index}_r{number}"))
            else:
                rest |= {id(item) for _, item in part.items}
        if rest:
            body = self.blocks[loop.body] = Block(new, loop.index)
            self.fill(body, [each for each in loop.body.items if id(each[1]) in rest], loop.turns(self.lengths))
            new.put(level, replace(loop, body=body))

    def fill(self, body: Block, items: Items, rows: int) -> None:
        """The body of so many rows: loops of which each turn has but another are one with that where lanes are few."""
        for level, item in items:
            if not isinstance(item, Loop):
                body.put(level, self.copied(item, body))
                continue
            for number, part in enumerate(self._apart(item, rows)):
                chain = self._inside(part, rows)
                name = f"{part.index}_m{number}"
                one = self.joined(chain, part.body.items, body, name) if len(chain) > 1 else self.loop(part, body)
                body.put(level, one)

    def joined(self, outer: Sequence[Loop], items: Items, parent: Block, name: str) -> Loop:
        """The one that several loops become, whose first has these items; what stands around others is in its body."""
        self.names += [each.index for each in outer]
        body = Block(parent, name)
        self.blocks |= {each.body: body for each in outer}
        for assigned in indices(outer, name):
            body.put(0, assigned)
        for _, item in (*items, *(item for each in outer[1:-1] for item in each.body.items)):
            if not isinstance(item, Loop):
                body.put(0, self.copied(item, body))
        found = Loop("*".join(each.dim for each in outer), body)
        if parent.parent is None:
            self.fill(body, outer[-1].body.items, found.turns(self.lengths))
        else:
            for level, item in outer[-1].body.items:
                body.put(level, self.loop(item, body) if isinstance(item, Loop) else self.copied(item, body))
        return found

    def _apart(self, loop: Loop, rows: int) -> list[Loop]:
        """A loop of a row, without those of its parts that are one with what stands in them alone, and these."""
        found = [] if loop.sequential or _alone(loop) else [part for part in parts(loop) if part.loop]
        alone = [part_of(loop, number, part.items) for number, part in enumerate(found)]
        joined = [place for place, each in enumerate(alone) if len(self._inside(each, rows)) > 1]
        if not joined:
            return [loop]
        away = [found[place].loop for place in joined]
        rest = {id(item) for part in parts(loop) if part.loop not in away for _, item in part.items}
        others = [each for each in loop.body.items if id(each[1]) in rest]
        return [*([part_of(loop, len(found), others)] if others else []), *(alone[place] for place in joined)]

    def _rows(self, loop: Loop, inner: Loop | None) -> list[Loop]:
        """A loop and those inside that become its rows: each has loops, and stands in one with nothing else to do."""
        found, turns = [loop], loop.turns(self.lengths)
        while inner is not None and inner.body.every_loop() and self._joins(inner, found, turns, inner):
            found.append(inner)
            turns *= inner.turns(self.lengths)
            inner = _alone(inner)
        return found

    def _inside(self, loop: Loop, rows: int) -> list[Loop]:
        """A loop of so many rows and those that are one with it: each stands in one with nothing else to do."""
        found, turns = [loop], rows
        while (inner := _alone(found[-1])) is not None and self._joins(inner, found, turns, found[-1]):
            turns *= found[-1].turns(self.lengths)
            found.append(inner)
        return found

    def _joins(self, inner: Loop, outer: Sequence[Loop], rows: int, shared: Loop) -> bool:
        """Whether a loop is one with those around it, as lanes that share one of so many rows are too few for a GPU.

        What each thread adds up for itself has the loops that it meets as they are.
        """
        around, items = {each.body for each in outer}, list(inner.body.walk())
        sums = [item for item in items if isinstance(item, Accumulate)]
        apart = self.private.keys().isdisjoint(items) and all(item.home not in around for item in sums)
        alike = all(not each.sequential and each.step == 1 for each in (inner, *outer))
        return apart and alike and rows * min(shared.turns(self.lengths), THREADS) < BUSY


def _alone(loop: Loop) -> Loop | None:
    """The loop that stands in another, if there is no other, and nothing that must not be done in each of its turns."""
    inner, others = loop.body.every_loop(), [item for _, item in loop.body.items if not isinstance(item, Loop)]
    return inner[0] if len(inner) == 1 and all(isinstance(item, Assign | Load) for item in others) else None
