"""Long rows: a row of many elements fills vectors by itself, in strips and phases as outermost loops do.

Which way pays depends on lengths where nothing that is read lies across rows: of short rows a vector takes neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import loops_in
from vecdist.codegen.cpu.blocking import is_interchanged, takes_columns
from vecdist.codegen.cpu.interchange import is_of_column
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Load, Scatter, Store

LONG = 128  # elements of a row, from which on it fills vectors better than its neighbours do
SOME = 16  # the same where no vectors compute what rows do one after another


def long_rows(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[str, ...]:
    """The lengths of the rows of a kernel that are long, and would be planned in another way if they were not."""
    found = [each for _, loop in kernel.shared_nests() for each in _either_way(loop)]
    return tuple(sorted({inner.dim for inner, least in found if inner.turns(lengths) >= least}))


def _either_way(loop: Loop) -> Iterator[tuple[Loop, int]]:
    """The inner loops of an outermost one whose elements may be neighbours in vectors, and from how many on."""
    for inner in loop.body.every_loop():
        every = [inner, *loops_in(inner)]
        fixed = any(each.sequential or any(isinstance(item, Cases) for _, item in each.body.items) for each in every)
        if fixed or loop.dim == "1" or inner.dim == "1" or _lies_across(inner, loop) or takes_columns(inner, {}):
            continue
        scatters = [item for item in inner.body.walk() if isinstance(item, Scatter)]
        if any(is_of_column(item, inner.index, inner, loop.index) for item in scatters):
            continue  # rows add to the same elements, which wait in registers or buffers meanwhile
        if len(every) > 1 or any(_is_chosen(item, loop) for item in scatters):
            yield inner, SOME
        elif is_interchanged(inner, loop):
            yield inner, LONG


def _is_chosen(item: Scatter, loop: Loop) -> bool:
    """Whether data choose the element that is added to."""
    return not set(names(*item.indices)) <= {each.index for each in (loop, *loops_in(loop))}


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
        found = [inner for _, loop in kernel.shared_nests() for inner, _ in _either_way(loop)]
        self.long = {inner for inner in found if inner.dim in kernel.long}

    def loop(self, old: Loop, parent: Block) -> Loop:
        new = super().loop(old, parent)
        new.long = old in self.long
        return new
