"""Which rows fill vectors by themselves, and of which a vector takes neighbours, where lengths decide.

A row of many elements runs in strips and phases as outermost loops do.  Where nothing that is read lies across rows,
both ways are open; and rows of few elements are taken together even though theirs lie beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import loops_in
from vecdist.codegen.cpu.blocking import is_interchanged, is_shared, takes_columns
from vecdist.codegen.cpu.interchange import is_of_column
from vecdist.codegen.cpu.unrolling import is_unrolled
from vecdist.codegen.statements import is_seldom, lies_along
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Block, Cases, Kernel, Loop, Size
from vecdist.kernel.statements import Load, Scatter, Store

LONG = 128  # elements of a row, from which on it fills vectors better than its neighbours do
SOME = 16  # the same where no vectors compute what rows do one after another
SHORT = 12  # elements that do not fill vectors, and in steps of which reading costs less than that
SUMMED = 6  # the same where they are summed for each row: a loop of its own, and no vectors of rows wait for it


def row_sizes(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[tuple[str, Size], ...]:
    """The lengths of rows of a kernel that are long or short, and would be planned in another way if they were not."""
    outermost = [loop for _, loop in kernel.shared_nests()]
    found = [each for loop in outermost for each in _either_way(loop)]
    long = {inner.dim for inner, least in found if inner.turns(lengths) >= least}
    beside = [each for loop in outermost for each in _beside(loop, dict(kernel.fixed))]
    short = {inner.dim for inner, most in beside if 2 <= inner.turns(lengths) <= most and inner.dim in lengths}
    return (*[(dim, "long") for dim in sorted(long)], *[(dim, "short") for dim in sorted(short - long)])


def _beside(rows: Loop, fixed: Mapping[str, int]) -> Iterator[tuple[Loop, int]]:
    """Inner loops that read elements which lie beside each other, to add them up, and up to how many are few."""
    for inner in rows.body.every_loop():
        yield from _beside(inner, fixed)
        plain = not any(isinstance(item, Loop | Cases | Store) for _, item in inner.body.items)
        if plain and not (inner.sequential or is_unrolled(inner, fixed)) and any(lies_along(inner, rows)):
            yield inner, SUMMED if inner.sums(rows.body) else SHORT


def _either_way(loop: Loop) -> Iterator[tuple[Loop, int]]:
    """The inner loops of an outermost one whose elements may be neighbours in vectors, and from how many on."""
    for inner in loop.body.every_loop():
        every = [inner, *loops_in(inner)]
        fixed = any(each.sequential or any(isinstance(item, Cases) for _, item in each.body.items) for each in every)
        if fixed or loop.dim == "1" or inner.dim == "1" or _lies_across(inner, loop) or takes_columns(inner, {}):
            continue
        scatters = [item for item in inner.body.walk() if isinstance(item, Scatter)]
        if is_shared(inner, loop) or any(is_of_column(item, inner.index, inner, loop.index) for item in scatters):
            continue  # rows add to the same elements, which wait in registers or buffers meanwhile
        if len(every) > 1 or any(_is_chosen(item, loop) for item in scatters):
            yield inner, SOME
        elif is_interchanged(inner, loop) or any(is_seldom(item) for item in inner.body.walk()):
            yield inner, LONG  # in strips, each with its own version for seldom values


def _is_chosen(item: Scatter, loop: Loop) -> bool:
    """Whether data choose the element that is added to."""
    return not set(names(*item.indices)) <= {each.index for each in (loop, *loops_in(loop))}


def _lies_across(inner: Loop, rows: Loop) -> bool:
    """Whether neighbours of an array that is read or written are along the rows."""
    places = [item.indices for item in inner.body.walk() if isinstance(item, Load | Store) and len(item.indices) > 1]
    return any(rows.index in names(indices[-1]) for indices in places)


def marked(kernel: Kernel) -> Kernel:
    """A kernel with its long rows and short ones marked as such."""
    return replace(kernel, root=_Marked(kernel).block(kernel.root)) if kernel.sizes else kernel


@final
class _Marked(Copy):
    """The loop nests of a kernel again."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        outermost, fixed, sizes = [loop for _, loop in kernel.shared_nests()], dict(kernel.fixed), dict(kernel.sizes)
        long: dict[Loop, Size] = {inner: "long" for loop in outermost for inner, _ in _either_way(loop)}
        short: dict[Loop, Size] = {inner: "short" for loop in outermost for inner, _ in _beside(loop, fixed)}
        found = (long | short).items()
        self.known: dict[Loop, Size] = {inner: size for inner, size in found if sizes.get(inner.dim) == size}

    def loop(self, old: Loop, parent: Block) -> Loop:
        new = super().loop(old, parent)
        new.size = self.known.get(old, "")
        return new
