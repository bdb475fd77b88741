"""Reductions: what they begin with, and sums of float32 by narrow partial sums: in float32 over short runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vecdist.codegen.cpu.blocking import STRIP, strip_mined
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.statements import PARTIAL, start, type_name
from vecdist.kernel.code import For, Set, let, replaced
from vecdist.kernel.expressions import Expr, Name
from vecdist.kernel.statements import Accumulate

F4, F8 = Name("f4"), Name("f8")


def accumulator(item: Accumulate) -> np.dtype:
    """The dtype in which a reduction accumulates; the largest and the smallest element need no wider one."""
    exact = item.op == "last" or (item.op in {"max", "min"} and item.dtype.kind == "f")
    return item.dtype if exact else np.dtype(PARTIAL[item.dtype.kind])


def beginning(item: Accumulate) -> Expr:
    """What a reduction begins with."""
    narrow = accumulator(item) == np.float32 and item.start is None
    return Name(type_name(accumulator(item)))(start(item)) if narrow else start(item)


def begun(item: Accumulate) -> Set:
    return let(item.name, beginning(item))


def is_narrow(item: object) -> bool:
    """Whether a sum has narrow partial sums, which keep the vectors of its loop whole."""
    return isinstance(item, Accumulate) and item.op == "sum" and item.dtype == np.float32


def narrow(item: Accumulate) -> str:
    """The name of a partial sum."""
    return f"s_{item.name}"


def narrowed(items: Items, sums: Sequence[Item]) -> Items:
    """A short run, with partial sums of its own: one for all copies of a statement that is written out."""
    narrow_ones = {item.name: item for item in sums if isinstance(item, Accumulate) and is_narrow(item)}
    found = [*narrow_ones.values()]
    ends = [let(item.name, Name(item.name) + F8(Name(narrow(item)))) for item in found]
    return (*[let(narrow(item), F4(0)) for item in found], *_to_narrow(items, found), *ends)


def reduced(items: Items, sums: Sequence[Accumulate]) -> Items:
    """A short run that is all that its sums add up."""
    starts = [let(narrow(item), F4(0)) if is_narrow(item) else begun(item) for item in sums]
    found = [item for item in sums if is_narrow(item)]
    return (*starts, *_to_narrow(items, found), *[let(item.name, F8(Name(narrow(item)))) for item in found])


def _to_narrow(items: Items, sums: Sequence[Accumulate]) -> Items:
    """Statements that add to partial sums instead."""
    names = {item.name for item in sums}

    def rule(item: Item) -> Items | None:
        return (replace(item, name=narrow(item)),) if isinstance(item, Accumulate) and item.name in names else None

    return replaced(items, rule)


def in_narrow_strips(loop: For[Item], sums: Sequence[Item], first: str, last: str = "") -> For[Item]:
    """A loop in strips with partial sums of their own, where it has such sums."""
    if not any(map(is_narrow, sums)):
        return loop
    return strip_mined(loop, STRIP, first, last, lambda turns: narrowed((turns,), sums))
