"""Sums of vectors: what loops that stand in each other alone add up waits in an element for each turn of the last one.

A short run that is added up many times would be made one number each time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from vecdist.codegen.collapsing import chain
from vecdist.codegen.cpu.blocking import FEW, STRIP, strip_mined, turns_of
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.reductions import F4, F8, begun, is_narrow
from vecdist.kernel.code import For, Set, let
from vecdist.kernel.expressions import Name, names
from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load

TERMS = 64  # that are added up in float32


def is_vector_sum(loop: Loop, home: Block, fixed: Mapping[str, int]) -> bool:
    """Whether loops do nothing but add up elements that lie together along the last of them, which is not short."""
    loops = chain(loop)
    last, items = loops[-1], [item for _, item in loops[-1].body.items]
    if len(loops) < 2 or any(each.sequential for each in loops) or fixed.get(last.dim, FEW) < FEW:
        return False
    sums = [item for item in items if isinstance(item, Accumulate)]
    if not all(isinstance(item, Assign | Load | Accumulate) for item in items) or not sums:
        return False
    if any(item.home is not home or item.op != "sum" or item.dtype.kind != "f" for item in sums):
        return False
    loads = [item for item in items if isinstance(item, Load) and last.index in names(*item.indices)]
    return bool(loads) and all(last.index in names(item.indices[-1]) for item in loads)


def buffers(loop: Loop, fixed: Mapping[str, int]) -> dict[str, np.dtype]:
    """What such sums of a nest wait in."""
    found: dict[str, np.dtype] = {}
    for home in [loop, *(item for item in loop.body.walk() if isinstance(item, Loop))]:
        for inner in home.body.every_loop():
            if is_vector_sum(inner, home.body, fixed):
                found |= {_own(item): np.dtype(item.dtype) for item in inner.sums(home.body)}
    return found


def _own(item: Accumulate) -> str:
    return f"v_{item.name}"


def vector_sum(loop: Loop, sums: Sequence[Accumulate], fixed: Mapping[str, int]) -> Items:
    """The loops in strips of the last one, each with an element of every sum for each of its turns."""
    first, *others, last = chain(loop)
    turns, around = turns_of(last), turns_of(first)
    width = max(1, TERMS // math.prod([fixed.get(each.dim, TERMS) for each in others]))

    def strip(few: For[Item]) -> Items:
        parts = _Parts(few, sums)
        if not any(map(is_narrow, sums)):
            return parts.begun(), parts.added(around, others, last), parts.ended()
        rest = strip_mined(around, width, f"first_{first.index}", "", lambda some: (
            parts.begun(), parts.added(some, others, last), parts.ended(),
        ))  # fmt: skip
        return (rest,)

    return (*map(begun, sums), strip_mined(turns, STRIP, f"first_{last.index}", "", strip))


@final
class _Parts:
    """What is done for the turns of a strip."""

    def __init__(self, few: For[Item], sums: Sequence[Accumulate]) -> None:
        self.few, self.sums = few, sums
        self.places = {item.name: Name(f"b_{_own(item)}")[Name(few.index) - few.start] for item in sums}

    def begun(self) -> For[Item]:
        zeros = {True: F4(0), False: F8(0)}
        return replace(self.few, body=tuple([Set(self.places[i.name], zeros[is_narrow(i)]) for i in self.sums]))

    def added(self, around: For[Item], others: Sequence[Loop], last: Loop) -> For[Item]:
        """All terms of each element of a strip."""
        body: list[Item] = [let(_own(item), self.places[item.name]) for item in self.sums]
        for _, item in last.body.items:
            assert not isinstance(item, Loop | Cases)
            body.append(replace(item, name=_own(item)) if isinstance(item, Accumulate) else item)
        body += [Set(self.places[item.name], Name(_own(item))) for item in self.sums]
        found = replace(self.few, body=tuple(body))
        for each in reversed(others):
            found = turns_of(each, (found,))
        return replace(around, body=(found,))

    def ended(self) -> For[Item]:
        ends = [replace(item, value=F8(self.places[item.name])) for item in self.sums]
        return replace(self.few, body=tuple(ends))
