"""Unroll and jam of chains: a few chains over a wide design, all of them together for each row.

A loop over rows has one over chains inside, and that has loops over columns: to multiply a row by the coefficients of a
chain, and to add to the gradient in these.  Where columns are too many for the registers of a thread, lanes share them;
the chains are written out, so that each loop over columns reads its row once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import final

from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Constant, Expr, Name, names, substituted
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Flag, Made, Statement, Total, renamed
from vecdist.passes.few_rows import jams


def jammed_chains(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose few chains over wide rows are written out; itself where there are none."""
    found, known = dict[Loop, int](), dict(kernel.fixed)
    for _, rows in kernel.shared_nests():
        chains = _chains(rows, lengths)
        if chains is not None:
            found[chains] = lengths[chains.dim]
            known |= {each.dim: lengths[each.dim] for each in chains.body.every_loop()}
    return replace(kernel, root=_Jammed(found).block(kernel.root), fixed=tuple(known.items())) if found else kernel


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


@final
class _Jammed(Copy):
    """The loop nests of a kernel again, with some loops written out so many times."""

    def __init__(self, counts: Mapping[Loop, int]) -> None:
        super().__init__()
        self.counts = counts

    def block(self, old: Block, parent: Block | None = None) -> Block:
        chains = [(level, item) for level, item in old.items if isinstance(item, Loop) and item in self.counts]
        if not chains:
            return super().block(old, parent)
        ((at, loop),) = chains
        new = self.blocks[old] = self.blocks[loop.body] = Block(parent, old.index)
        later = len(loop.body.levels) - 1
        for level, item in old.items:
            if not isinstance(item, Loop):
                new.put(level if level <= at else level + later, self.copied(item, new))
        self.together(loop.body, new, at, _Turns(loop, self.counts[loop]))
        return new

    def together(self, old: Block, new: Block, first: int, turns: _Turns) -> None:
        """Enter what a block does in all turns, from a level on; so do the loops in it, each of them once."""
        for level in old.levels:
            sides = [case.long for case in old.cases(level)]  # lanes of a group go through all that there is
            self.blocks |= dict.fromkeys(sides, new)
            rare = (item for side in sides for item in side.walk() if isinstance(item, Statement))
            for item in (*old.statements(level), *rare):
                for copy in turns.of(item):
                    new.put(first + level, self.at_home(copy))
            for loop in old.loops(level):
                body = self.blocks[loop.body] = Block(new, loop.index)
                self.together(loop.body, body, 0, turns)
                new.put(first + level, Loop(loop.dim, body, loop.sequential, loop.size))


@final
class _Turns:
    """The statements of a loop in each of its turns."""

    def __init__(self, loop: Loop, count: int) -> None:
        self.body = loop.body
        self.meanings: list[dict[str, Expr]] = [{loop.index: Constant(turn)} for turn in range(count)]

    def of(self, item: Statement) -> Iterator[Statement]:
        """A statement in every turn, or once, where all that it does is to compute the same in each."""
        varying = self.meanings[0].keys()
        if isinstance(item, Made | Flag) and varying.isdisjoint(names(*item.expressions())):
            yield item
            return
        if isinstance(item, Accumulate) and item.home is not self.body:
            yield from self.of_all(item)
            return
        own = isinstance(item, Made | Accumulate)
        for turn, known in enumerate(self.meanings):
            if own:
                known[item.name] = Name(f"{item.name}_{turn}")
            yield _in_turn(item, known)

    def of_all(self, item: Accumulate) -> Iterator[Statement]:
        """What all turns add to a sum of the whole kernel, in one addition."""
        whole = substituted(item.value, self.meanings[0])
        for turn, known in enumerate(self.meanings[1:], 1):
            name = f"{item.name}_to_{turn}"
            yield Assign(name, "add", (whole, substituted(item.value, known)), item.dtype)
            whole = Name(name)
        yield replace(item, value=whole)


def _in_turn(item: Statement, known: Mapping[str, Expr]) -> Statement:
    """A statement with what names mean in a turn."""
    changed = renamed(item, known)
    if isinstance(item, Total):
        return replace(changed, accumulator=_name(item.accumulator, known))
    return replace(changed, name=_name(item.name, known)) if isinstance(item, Accumulate) else changed


def _name(name: str, known: Mapping[str, Expr]) -> str:
    found = known.get(name)
    return found.id if isinstance(found, Name) else name
