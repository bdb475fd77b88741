"""Lanes that share loops deep in a row: together they go through a short loop, or steps in order, and share the inside.

Each turn of such a loop ends with results that lanes find together.  Shared as it stands, a loop over a few groups
would leave most lanes idle, and steps that follow one another, as those of a model of hidden states, be one lane's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import final

from vecdist.codegen.cuda.grid import GROUP, THREADS, statements, worth_a_block
from vecdist.codegen.cuda.privatisation import privatisable
from vecdist.codegen.statements import lies_along
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Load, Total
from vecdist.passes.hoist import BUSY

LONG = 64  # elements of a loop inside that lanes had better read side by side
APART = {8: 4, 4: 2}  # times as long as lanes take that read memory each for itself, by the bytes of its numbers
MEETING = 60  # statements that lanes compute in the time that they take to find a result together
BETTER = 1.5  # times as fast as by shares of the loop itself, at least


def with_deep_lanes(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel that knows which loops of its rows lanes go through together."""
    private = set(privatisable(kernel).values())
    nests = [loop for _, loop in kernel.shared_nests() if loop not in private and not loop.sequential]
    deep = [index for loop in nests for index in _Rows(loop, lengths).deep]
    short = [loop for loop in nests if _is_known(loop, dict(kernel.fixed))]
    deep += [loop.index for loop in short if worth_a_block(loop.turns(lengths), loop.body.every_loop(), lengths)]
    return replace(kernel, deep=tuple(deep)) if deep else kernel


def _is_known(rows: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether a program knows the lengths of all loops in rows."""
    inner = [each for each in rows.body.walk() if isinstance(each, Loop)]
    return all(dim in fixed for each in inner for dim in each.dim.split("*"))


@final
class _Rows:
    """A loop over rows; ``deep`` are the indices of the loops in these that lanes are best to go through together."""

    def __init__(self, rows: Loop, lengths: Mapping[str, int]) -> None:
        self.lengths = lengths
        self.lanes = max(1, min(THREADS, BUSY // max(1, rows.turns(lengths))))
        self.deep: list[str] = []
        for loop in rows.body.every_loop():
            self.deep += self._found(loop, rows.body)[1]

    def _found(self, loop: Loop, home: Block) -> tuple[float, list[str]]:
        """How long lanes take for a loop, and through which of those in it they go together."""
        turns, work = loop.turns(self.lengths), statements(loop.body, self.lengths)
        shares = turns * work if loop.sequential else -(-turns // self.lanes) * work
        inner = loop.body.every_loop()
        if not inner or not _may_be_deep(loop, home):
            return shares, []
        each = [self._found(other, loop.body) for other in inner]
        totals = sum(isinstance(item, Total) for _, item in loop.body.items)
        own = len(loop.body.items) + MEETING * (totals + (len(inner) if loop.sequential else 0))
        deep = turns * (own + sum(time for time, _ in each))
        if all(self._reads_along(other, loop) for other in inner):
            lanes = max(self.lanes, GROUP)
            shared = [(-(-other.turns(self.lengths) // lanes), statements(other.body, self.lengths)) for other in inner]
            inside = sum(count * work for count, work in shared)
            deep, shares = turns * (own + inside) * lanes / self.lanes, shares * _apart(loop)
        if deep * BETTER >= shares:
            return shares, []
        return deep, [loop.index, *(index for _, found in each for index in found)]

    def _reads_along(self, loop: Loop, rows: Loop) -> bool:
        """Whether lanes that go through a long loop together read neighbours in memory, and a sector each if alone."""
        long = loop.turns(self.lengths) >= LONG and not loop.sequential and not loop.body.every_loop()
        return long and any(lies_along(loop, rows))


def _apart(loop: Loop) -> int:
    """How much longer lanes take for the loads in a loop that they do not go through together."""
    sizes = [item.dtype.itemsize for item in loop.body.walk() if isinstance(item, Load)]
    return APART.get(max(sizes, default=1), 1)


def _may_be_deep(loop: Loop, home: Block) -> bool:
    """Whether lanes can go through a loop together: of steps in order, all that is added up outside is their own."""
    if any(isinstance(item, Cases) for _, item in loop.body.items):
        return False
    if not loop.sequential:
        return True
    own = [item for _, item in loop.body.items if isinstance(item, Accumulate)]
    inside = {loop.body, *(each.body for each in loop.body.walk() if isinstance(each, Loop))}
    others = [item for item in loop.body.walk() if isinstance(item, Accumulate) and item not in own]
    return all(item.home is home for item in own) and all(item.home in inside for item in others)
