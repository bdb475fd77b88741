"""Sums in float32 of a few elements, which are then taken into those in float64: a conversion for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.reductions import begun, combined
from vecdist.codegen.cuda.tiling import looped
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, let, replaced
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, operation, word
from vecdist.kernel.ir import Block, Loop
from vecdist.kernel.statements import Accumulate

INFINITY = word("np.inf")
NEUTRAL = {"sum": ZERO, "max": operation("neg", INFINITY), "min": INFINITY}  # where sums in float32 begin
FEW = 8  # elements that are added up in float32


def narrowed(loop: Loop, home: Block, body: Items, whole: bool = True) -> tuple[list[Code], Items, list[Code]]:
    """What comes before a loop of few elements, its body, and what comes behind it; ``home`` is the block around it.

    Where the loop is not the ``whole`` of what is added up there, sums have begun before.
    """
    sums = loop.sums(home)
    others = [item for item in loop.body.walk() if isinstance(item, Accumulate) and item not in sums]
    narrow = [] if loop.dims()[1:] else [item for item in (*sums, *others) if _is_narrow(item)]
    few = {item.name: item for item in narrow}
    starts: list[Code] = [let(_narrow(item).id, cuda.F4(NEUTRAL[item.op])) for item in few.values()]
    ends: list[Code] = []
    for item in few.values():
        found: Expr = cuda.F8(_narrow(item))
        alone = whole and item in sums
        ends.append(let(item.name, found if alone else combined(item.op, "f", Name(item.name), found)))
    return starts, _added(body, few), ends


def _is_narrow(item: Accumulate) -> bool:
    return item.dtype == np.float32 and item.op in NEUTRAL


def _narrow(item: Accumulate) -> Name:
    """What the elements of a lane add up to in float32."""
    return Name(f"s_{item.name}")


def _added(items: Items, sums: Mapping[str, Accumulate]) -> Items:
    """Statements that take values into float32."""

    def rule(item: Item) -> Sequence[Item] | None:
        if not (isinstance(item, Accumulate) and item.name in sums):
            return None
        narrow = _narrow(item)
        return (let(narrow.id, combined(item.op, item.dtype.kind, narrow, item.value)),)

    return replaced(items, rule)


def by_one_lane(loop: Loop, home: Block, length: int, body: Items) -> Items:
    """A loop of known length that one lane goes through, a few elements at a time; the compiler writes these out."""
    if loop.sequential:
        return looped(loop, home, body)
    starts, body, ends = narrowed(loop, home, body, whole=False)
    found: list[Item] = [*begun(loop.sums(home))]
    step = FEW if starts else length
    for first in range(0, length, step):
        few = For(loop.index, Constant(min(length, first + step)), body, Constant(first))
        found += (*starts, few, *ends)
    return tuple(found)
