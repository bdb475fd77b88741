"""Loop collapsing, fission and interchange: loops that stand in each other alone are the rows of one.

An array of a few large axes would keep as many threads as its first axis is long.  Its outer loops become one over all
rows, where indices are found once for each, and several that share an outer one alone have one each; of loops in a row
that stand in each other alone, as those of a sum over windows, the innermost, whose elements lie together, comes first,
where lanes share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np

from vecdist.kernel.expressions import Expr, Name, joined, length, names
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Statement

INDEX = np.dtype(np.int64)


def collapsed(kernel: Kernel) -> Kernel:
    """A kernel whose rows are those of all outer loops; itself where no loops stand in each other alone."""
    plain = [loop for _, loop in kernel.shared_nests() if _is_plain(loop)]
    changed = {loop for loop in plain if any(_outer(part) or _inner_chains(part) for part in _parts(loop))}
    return replace(kernel, root=_Copy(changed).block(kernel.root)) if changed else kernel


def _is_plain(loop: Loop) -> bool:
    """Whether nothing in a nest depends on which loop is which: sums by index, sides and steps in order do."""
    if any(isinstance(item, Scatter) or (isinstance(item, Loop) and item.sequential) for item in loop.body.walk()):
        return False
    return not loop.sequential and not any(_has_cases(each.body) for each in (loop, *_loops(loop)))


def _loops(loop: Loop) -> list[Loop]:
    return [item for item in loop.body.walk() if isinstance(item, Loop)]


def _has_cases(block: Block) -> bool:
    return any(isinstance(item, Cases) for _, item in block.items)


def _parts(loop: Loop) -> list[Loop]:
    """A loop for each of those in its body, where nothing but these is there, and they need not wait for each other."""
    items = loop.body.items
    if len(items) < 2 or any(not isinstance(item, Loop) or level != items[0][0] for level, item in items):
        return [loop]
    return [Loop(loop.dim, Block(loop.body.parent, loop.index, [item])) for item in items]


def _chain(loop: Loop) -> list[Loop]:
    """A loop, and those of which each is all that the one before has in its body."""
    found = [loop]
    while len(found[-1].body.items) == 1 and isinstance(found[-1].body.items[0][1], Loop):
        found.append(found[-1].body.items[0][1])
    return found


def _outer(loop: Loop) -> list[Loop]:
    """The outer loops whose turns become rows; none where these are two levels as they stand."""
    chain = _chain(loop)
    if len(chain) < 3:
        return []
    return chain[:-1] if not chain[-1].body.every_loop() or _is_of_columns(chain[-1]) else chain


def _is_of_columns(loop: Loop) -> bool:
    """Whether neighbours in memory are those along a loop, and not along those inside it."""
    loads = [item for item in loop.body.walk() if isinstance(item, Load) and item.indices]
    along = [set(names(item.indices[-1])) for item in loads]
    inner = {each.index for each in _loops(loop)}
    return any(loop.index in each for each in along) and not any(inner & each for each in along)


def _inner_chains(loop: Loop) -> list[list[Loop]]:
    """The chains of several loops along a row, of which the innermost is to come first."""
    outer = _outer(loop)
    rows = outer[-1].body if outer else loop.body
    chains = [_chain(each) for each in rows.every_loop()]
    return [chain for chain in chains if len(chain) > 1 and _lies_along(chain[-1])]


def _lies_along(loop: Loop) -> bool:
    """Whether neighbours in memory are those along a loop of more than a few elements."""
    loads = [item for _, item in loop.body.items if isinstance(item, Load) and item.indices]
    return any(loop.index in names(item.indices[-1]) for item in loads)


@final
class _Copy:
    """The loop nests of a kernel again, those that are ``changed`` with other loops around the same statements."""

    def __init__(self, changed: set[Loop]) -> None:
        self.changed, self.blocks = changed, dict[Block, Block]()

    def block(self, old: Block, parent: Block | None = None) -> Block:
        new = self.blocks[old] = Block(parent, old.index)
        for level, item in old.items:
            if isinstance(item, Loop) and item in self.changed:
                for part in _parts(item):
                    new.put(level, self.collapsed(part, new))
            elif isinstance(item, Loop):
                new.put(level, self.loop(item, new))
            elif isinstance(item, Cases):
                new.put(level, Cases(item.condition, self.block(item.short, new), self.block(item.long, new)))
            else:
                new.put(level, self.at_home(item))
        return new

    def at_home(self, item: Statement) -> Statement:
        return replace(item, home=self.blocks[item.home]) if isinstance(item, Accumulate) else item

    def loop(self, old: Loop, parent: Block) -> Loop:
        return Loop(old.dim, self.block(old.body, parent), old.sequential)

    def collapsed(self, loop: Loop, parent: Block) -> Loop:
        """A nest with its outer loops as one, and chains along its rows turned around."""
        outer, chains = _outer(loop), {chain[0]: chain for chain in _inner_chains(loop)}
        last = outer[-1] if outer else loop
        body = self.blocks[last.body] = Block(parent, f"{loop.index}_" if outer else loop.index)
        for assigned in _indices(outer, body.index):
            body.put(0, assigned)
        for level, item in last.body.items:
            if not isinstance(item, Loop):
                body.put(level, self.at_home(item))  # type: ignore[arg-type]
            else:
                body.put(level, self.turned(chains[item], body) if item in chains else self.loop(item, body))
        return Loop("*".join(each.dim for each in outer) if outer else loop.dim, body)

    def turned(self, chain: Sequence[Loop], parent: Block) -> Loop:
        """A chain of loops whose innermost comes first."""
        found: list[Loop] = []
        for loop in (chain[-1], *chain[:-1]):
            body = Block(found[-1].body if found else parent, loop.index)
            found.append(Loop(loop.dim, body))
        for around, inside in zip(found, found[1:], strict=False):
            around.body.put(0, inside)
        self.blocks[chain[-1].body] = found[-1].body
        for level, item in chain[-1].body.items:
            new = self.loop(item, found[-1].body) if isinstance(item, Loop) else self.at_home(item)  # type: ignore[arg-type]
            found[-1].body.put(level, new)
        return found[0]


def _indices(loops: Sequence[Loop], index: str) -> list[Assign]:
    """The index of each loop, from that of all of them together."""
    found: list[Assign] = []
    for place, loop in enumerate(loops):
        value: Expr = Name(index)
        inside = [length(_dim(each)) for each in loops[place + 1 :]]
        value = value // joined("*", inside) if inside else value
        value = value % length(_dim(loop)) if place else value
        found.append(Assign(loop.index, "index", (value,), INDEX))
    return found


def _dim(loop: Loop) -> str | int:
    return int(loop.dim) if loop.dim.isdigit() else loop.dim
