"""Long rows: a row of many elements fills vectors by itself, in strips and phases as outermost loops do.

Which way pays depends on lengths where nothing that is read lies across rows: of short rows a vector takes neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import loops_in
from vecdist.codegen.cpu.blocking import is_interchanged, takes_columns
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Load, Scatter, Store

LONG = 128  # elements of a row that fill vectors


def long_rows(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[str, ...]:
    """The lengths of the rows of a kernel that are long, and would be planned in another way if they were not."""
    found = [inner for _, loop in kernel.shared_nests() for inner in _either_way(loop)]
    return tuple(sorted({inner.dim for inner in found if inner.turns(lengths) >= LONG}))


def _either_way(loop: Loop) -> Iterator[Loop]:
    """The inner loops of an outermost one whose elements may be neighbours in vectors, and so may its rows."""
    for inner in loop.body.every_loop():
        every = [inner, *loops_in(inner)]
        fixed = any(each.sequential or any(isinstance(item, Cases) for _, item in each.body.items) for each in every)
        if fixed or loop.dim == "1" or inner.dim == "1" or _lies_across(inner, loop) or takes_columns(inner, {}):
            continue
        scatters = any(isinstance(item, Scatter) for item in inner.body.walk())
        if len(every) > 1 or scatters or is_interchanged(inner, loop):
            yield inner


def _lies_across(inner: Loop, rows: Loop) -> bool:
    """Whether neighbours of an array that is read or written are along the rows."""
    places = [item.indices for item in inner.body.walk() if isinstance(item, Load | Store) and len(item.indices) > 1]
    return any(rows.index in names(indices[-1]) for indices in places)


def marked(kernel: Kernel) -> Kernel:
    """A kernel with its long rows marked as such."""
    return replace(kernel, root=_Marked(kernel).block(kernel.root)) if kernel.long else kernel


@final
class _Marked(Copy):
    """The loop nests of a kernel again."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        found = [inner for _, loop in kernel.shared_nests() for inner in _either_way(loop)]
        self.long = {inner for inner in found if inner.dim in kernel.long}

    def loop(self, old: Loop, parent: Block) -> Loop:
        new = super().loop(old, parent)
        new.long = old in self.long
        return new
