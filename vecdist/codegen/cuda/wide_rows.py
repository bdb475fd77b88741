"""Wide rows: those of up to a few thousand elements, of which each lane takes a number that its program knows.

What a row is made of and leaves for the loops behind it, and what is added up column by column, then lies in registers,
and the next row is on its way while one is computed: a softmax, or the gradient of a regression with many columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from vecdist.codegen.cuda.collapsing import AMPLE
from vecdist.codegen.cuda.grid import are_columns
from vecdist.codegen.cuda.privatisation import private_sums
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Assign, Load

MOST = 40 * 1024  # bytes of a row: 40 registers for each thread of a block, and as many for the next one
ROWS = 2048  # rows from which groups of lanes have several


def with_wide_rows(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel that knows how wide the rows are that add to sums of their columns, or are read several times."""
    summed = {each.loop for each in private_sums(kernel, {}, 1)}
    found = [loop for _, loop in kernel.shared_nests() if loop in summed or _is_read_again(loop)]
    dims = {dim for loop in found for dim in _width(loop, lengths)}
    known = dict(kernel.fixed)
    return replace(kernel, fixed=(*kernel.fixed, *((dim, lengths[dim]) for dim in sorted(dims - known.keys()))))


def _is_read_again(rows: Loop) -> bool:
    """Whether several loops of a row read elements of it from one array."""
    times: Counter[object] = Counter()
    own = {rows.index, *(item.name for _, item in rows.body.items if isinstance(item, Assign | Load))}
    for loop in rows.body.every_loop():
        loads = [item for item in loop.body.walk() if isinstance(item, Load)]
        used = [(item.source, {*names(*item.indices)}) for item in loads]
        times.update({source for source, indices in used if loop.index in indices and not own.isdisjoint(indices)})
    return max(times.values(), default=0) > 1


def _width(rows: Loop, lengths: Mapping[str, int]) -> set[str]:
    """The length of all loops of a row, where it is one, and rows are many."""
    inner = rows.body.every_loop()
    dims = {loop.dim for loop in inner}
    plain = not any(loop.sequential or loop.step > 1 or loop.body.every_loop() for loop in inner)
    loads = [item.dtype.itemsize for loop in inner for item in loop.body.walk() if isinstance(item, Load)]
    wide = len(dims) == 1 and 0 < lengths.get(min(dims), 0) * max(loads, default=8) <= MOST
    many = rows.turns(lengths) >= (AMPLE if are_columns(inner, rows) else ROWS)  # columns are one thread's each
    return dims if plain and wide and many else set()
