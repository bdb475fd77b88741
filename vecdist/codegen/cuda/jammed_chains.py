"""Unroll and jam of chains: a few chains over a wide design, all of them together for each row.

A loop over rows has one over chains inside, and that has loops over columns: to multiply a row by the coefficients of a
chain, and to add to the gradient in these.  Where columns are too many for the registers of a thread, lanes share them;
the chains are written out, so that each loop over columns reads its row once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vecdist.codegen.cuda.jamming import Jammed
from vecdist.kernel.ir import Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Statement
from vecdist.passes.few_rows import jams


def jammed_chains(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose few chains over wide rows are written out; itself where there are none."""
    found, known = dict[Loop, int](), dict(kernel.fixed)
    for _, rows in kernel.shared_nests():
        chains = _chains(rows, lengths)
        if chains is not None:
            found[chains] = chains.turns(lengths)
            known |= {each.dim: each.turns(lengths) for each in chains.body.every_loop()}
    return replace(kernel, root=Jammed(found).block(kernel.root), fixed=tuple(known.items())) if found else kernel


def _chains(rows: Loop, lengths: Mapping[str, int]) -> Loop | None:
    """The loop over few chains inside one over rows, where there is such a one alone and its own loops are wide."""
    inner = rows.body.every_loop()
    if len(inner) != 1 or rows.sequential:
        return None
    (chains,) = inner
    deep = chains.body.every_loop()
    plain = not any(each.sequential or each.body.every_loop() for each in deep)
    if not plain or chains.sequential or not deep or not all(map(_is_flat, (chains, *deep))):
        return None
    sums = [item for item in chains.body.walk() if isinstance(item, Accumulate)]
    apart = all(item.home is not rows.body and (item.op == "sum" or item.home is chains.body) for item in sums)
    wide = max(lengths.get(each.dim, 0) for each in deep)
    return chains if apart and jams(lengths.get(chains.dim, 0), wide) else None


def _is_flat(loop: Loop) -> bool:
    """Whether sides that a loop has for rare cases are nothing but statements."""
    sides = [item.long for _, item in loop.body.items if isinstance(item, Cases)]
    return all(isinstance(item, Statement) for side in sides for _, item in side.items)
