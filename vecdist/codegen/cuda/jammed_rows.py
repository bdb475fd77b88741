"""Unroll and jam of rows: sums of products over the same elements, as gradients of small matrices are.

Where a block takes a chain, the gradient in a matrix of parameters has a row for each of its elements, and each row a
sum over all data of two numbers that it loads.  The turns of the innermost loop over rows are written out: what does
not vary along it is loaded once for all of them, and a group of lanes adds up several sums where it added up one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vecdist.codegen.cuda.jamming import Jammed
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Store, Total

MOST = 16  # rows that are written out, each with a sum in registers
LEAST = 4  # groups that are left for a block at least
LONG = 32  # elements of a row, from which on lanes share it


def jammed_rows(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose blocks add up several rows together, where rows share what they load; itself where none do."""
    nests = [loop for _, loop in kernel.shared_nests() if loop in kernel.block_nests()] if kernel.by_block else []
    fixed = dict(kernel.fixed)
    found = {rows: fixed[rows.dim] for loop in nests for rows in _rows(loop.body, 1, fixed) if _shares(rows, lengths)}
    return replace(kernel, root=Jammed(found).block(kernel.root)) if found else kernel


def _rows(block: Block, groups: int, fixed: Mapping[str, int]) -> Iterator[Loop]:
    """The innermost loops over rows of known lengths, one of each block, where groups are enough without them."""
    for loop in block.every_loop():
        if loop.sequential or loop.dim not in fixed:
            continue
        if _is_of_sums(loop.body) and groups >= LEAST and 1 < fixed[loop.dim] <= MOST:
            yield loop
            return
        yield from _rows(loop.body, groups * fixed[loop.dim], fixed)


def _is_of_sums(row: Block) -> bool:
    """Whether a row is nothing but sums of one loop, and what is stored of them."""
    inner, own = row.every_loop(), [item for _, item in row.items if not isinstance(item, Loop)]
    if len(inner) != 1 or inner[0].sequential or not all(isinstance(i, Assign | Load | Store | Total) for i in own):
        return False
    items = [item for _, item in inner[0].body.items]
    sums = [item for item in items if isinstance(item, Accumulate)]
    plain = all(isinstance(item, Assign | Load | Accumulate) for item in items)
    return plain and bool(sums) and all(item.op == "sum" and item.home is row for item in sums)


def _shares(rows: Loop, lengths: Mapping[str, int]) -> bool:
    """Whether elements of a row are many, and some of what is loaded for them is the same for all rows."""
    (inner,) = rows.body.every_loop()
    loads = [item for _, item in inner.body.items if isinstance(item, Load)]
    return inner.turns(lengths) >= LONG and any(rows.index not in names(*item.indices) for item in loads)
