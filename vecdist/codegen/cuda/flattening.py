"""Flattening: loops over the axes of arrays, with nothing but elements or columns inside, become one over all of them.

Where the elements of all arrays lie in that order, none of them asks for its indices.  Elsewhere indices are found by
divisions, by numbers that the program knows: a group would leave many of its lanes idle at the end of each short row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import final

from vecdist.codegen.collapsing import INDEX, are_values, dim_of, has_pieces, is_plain
from vecdist.codegen.cuda.collapsing import AMPLE
from vecdist.codegen.cuda.grid import are_columns, elements
from vecdist.codegen.cuda.tiling import has_routines
from vecdist.codegen.statements import varying
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import ZERO, Expr, Name, length, names
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Assign, Load, Statement, Store, renamed

FEW = 4  # values of a row that each of its elements may find again
SEVERAL = 16  # those that each piece of a row may
CHEAP = {"index", "cast", "neg", "add", "sub", "mul"}
MANY = 2**20  # elements that are worth a program that knows lengths
UNCUT = 32  # elements of outputs that are summed, up to which every thread has room for all of them
U8 = Name("u8")


def flattened(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel with one loop in the place of several that have nothing but elements inside, where that is shorter.

    None where blocks may take strips of all loops, to add up for themselves.
    """
    summed = [elements(output.shape, lengths) for output in kernel.outputs if output.summed]
    found = _Flattened(kernel, lengths) if max(summed, default=0) <= UNCUT else None
    if found is None or not found.changed:
        return kernel
    return replace(kernel, root=found.block(kernel.root), flat=tuple(found.flat))


@final
class _Flattened(Copy):
    def __init__(self, kernel: Kernel, lengths: Mapping[str, int]) -> None:
        super().__init__()
        self.kernel, self.lengths, self.fixed = kernel, lengths, dict(kernel.fixed)
        nests = [(loop, _chain(loop)) for _, loop in kernel.shared_nests() if loop not in kernel.block_nests()]
        self.flat: list[tuple[str, tuple[tuple[str, int], ...], bool]] = []
        self.changed = {loop: loops for loop, loops in nests if len(loops) > 1 and self._is_shorter(loops)}

    def _is_shorter(self, loops: Sequence[Loop]) -> bool:
        if not is_plain(loops[0]) or any(map(has_routines, loops)):
            return False
        count = math.prod(each.turns(self.lengths) for each in loops)
        if columns := loops[-1].body.every_loop():
            return has_pieces(loops[-1]) or (count >= AMPLE and are_columns(columns, loops[-1]))
        own = {each.index for each in loops}
        asks = any(not own.isdisjoint(_used(item)) and not self.lies_in_order(item, loops) for _, item in _items(loops))
        return not asks or count >= MANY or all(each.dim in self.fixed for each in loops[1:])

    def lies_in_order(self, item: Statement, loops: Sequence[Loop]) -> bool:
        """Whether an element is read, or written, at the place where these loops are."""
        if not isinstance(item, Load | Store) or (isinstance(item, Load) and item.guard is not None):
            return False
        own, dims = tuple([Name(each.index) for each in loops]), [length(dim_of(each)) for each in loops]
        return item.indices == own and self._shape(item) == dims

    def _shape(self, item: Load | Store) -> list[Expr]:
        """The lengths of the array of a load or a store, if its elements lie in order."""
        if isinstance(item, Store):
            return varying(self.kernel.outputs[item.output].shape)
        slot = self.kernel.slot_of(item.source)
        return [] if slot.layout == "strided" else varying(slot.shape)

    def put(self, new: Block, level: int, loop: Loop) -> None:
        if loop not in self.changed:
            super().put(new, level, loop)
            return
        loops, name = self.changed[loop], f"{loop.index}_f"
        body = Block(new, name)
        self.blocks |= {each.body: body for each in loops}
        place: dict[str, Expr] = {**{each.index: ZERO for each in loops}, loops[-1].index: Name(name)}
        items = [(at, renamed(e, place) if self.lies_in_order(e, loops) else e) for at, e in _items(loops)]
        inside = [item for each in loops[-1].body.every_loop() for item in (each, *each.body.walk())]
        used = {each for item in (*(item for _, item in items), *inside) for each in _used(item)}
        found = [(index, value) for index, value in self.indices(loops, Name(name)) if index in used]
        for index, value in found:
            body.put(0, Assign(index, "index", (value,), INDEX))
        known = tuple((each.dim, each.turns(self.lengths)) for each in loops[1:]) if found else ()
        self.flat.append((name, known, bool(known) and self.are_few(loops)))
        for at, item in items:
            body.put(at, self.at_home(item))
        for at, item in loops[-1].body.items:
            if isinstance(item, Loop):
                body.put(at, self.loop(item, body))
        new.put(level, replace(loop, dim="*".join(each.dim for each in loops), body=body))

    def are_few(self, loops: Sequence[Loop]) -> bool:
        """Whether places of elements have 32 bits, which are divided sooner."""
        return math.prod(loop.turns(self.lengths) for loop in loops) < 2**32

    def indices(self, loops: Sequence[Loop], place: Expr) -> Iterator[tuple[str, Expr]]:
        """The index of each loop by the place of an element, and the lengths of all loops but the first."""
        sizes = [loop.turns(self.lengths) for loop in loops[1:]]
        for number, loop in enumerate(loops):
            value = U8(Name("u4")(place) if self.are_few(loops) else place)
            value = value // U8(math.prod(sizes[number:])) if number < len(sizes) else value
            yield loop.index, Name("i8")(value % U8(sizes[number - 1]) if number else value)


def _chain(loop: Loop) -> list[Loop]:
    """A loop, and those of which each is the only one in the one before, beside few statements that come before it."""
    found, again = [loop], partial(are_values, most=SEVERAL) if has_pieces(loop) else _is_cheap
    while len(inner := found[-1].body.every_loop()) == 1:
        body, others = found[-1].body, [item for _, item in found[-1].body.items if not isinstance(item, Loop)]
        if len(body.levels) > 1 or not again(others):
            break
        found += inner
    return found


def _is_cheap(items: Sequence[object]) -> bool:
    """Whether values of a row may be found again for each of its elements."""
    cheap = [isinstance(item, Load) or (isinstance(item, Assign) and item.op in CHEAP) for item in items]
    return len(items) <= FEW and all(cheap)


def _items(loops: Sequence[Loop]) -> list[tuple[int, Statement]]:
    """The statements of loops that stand in each other, in order."""
    return [(at, item) for loop in loops for at, item in loop.body.items if isinstance(item, Statement)]


def _used(item: Statement | Loop) -> Iterator[str]:
    return names(item.start) if isinstance(item, Loop) else names(*item.expressions())
