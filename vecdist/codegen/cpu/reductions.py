"""Reductions: what they begin with, and sums of float32 taken in float32 over short runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.statements import PARTIAL, start, type_name
from vecdist.kernel.code import Set, let, replaced
from vecdist.kernel.expressions import Expr, Name
from vecdist.kernel.statements import Accumulate

F4, F8 = Name("f4"), Name("f8")


def accumulator(item: Accumulate) -> np.dtype:
    """The dtype in which a reduction accumulates; the largest and the smallest element need no wider one."""
    exact = item.op in {"max", "min"} and item.dtype.kind == "f"
    return item.dtype if exact else np.dtype(PARTIAL[item.dtype.kind])


def beginning(item: Accumulate) -> Expr:
    """What a reduction begins with."""
    return Name(type_name(accumulator(item)))(start(item)) if accumulator(item) == np.float32 else start(item)


def begun(item: Accumulate) -> Set:
    return let(item.name, beginning(item))


def is_narrow(item: object) -> bool:
    """Whether a sum is taken in float32 over short runs, which keeps the vectors of its loop whole."""
    return isinstance(item, Accumulate) and item.op == "sum" and item.dtype == np.float32


def narrow(item: Accumulate) -> str:
    """The name of what a short run adds up."""
    return f"s_{item.name}"


def narrow_begun(item: Accumulate) -> Set:
    return let(narrow(item), F4(0))


def renamed_sums(items: Sequence[Item], sums: Sequence[Accumulate]) -> Items:
    """Statements that add to the narrow sums instead."""
    names = {item.name for item in sums if is_narrow(item)}

    def rule(item: Item) -> Items | None:
        return (replace(item, name=narrow(item)),) if isinstance(item, Accumulate) and item.name in names else None

    return replaced(items, rule)


def narrowed(items: Items, sums: Sequence[Item]) -> Items:
    """A short run, whose sums of float32 are taken in float32: that keeps its vectors whole."""
    found = [item for item in sums if isinstance(item, Accumulate) and is_narrow(item)]
    ends = [let(item.name, Name(item.name) + F8(Name(narrow(item)))) for item in found]
    return (*map(narrow_begun, found), *renamed_sums(items, found), *ends)
