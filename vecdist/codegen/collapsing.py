"""Loop collapsing, fission and interchange: loops that stand in each other alone are the rows of one.

An array of a few large axes would keep as many threads as its first axis is long.  Its outer loops become one over all
rows, where indices are found once for each, and several that share an outer one alone have one each; loops in a row
that stand in each other alone may be turned around.  Which are is for a target to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from vecdist.codegen.routines import is_routine
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Expr, Name, joined, length
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Assign, Load, Scatter

INDEX = np.dtype(np.int64)
Chains = Callable[[Loop], Sequence[Sequence[Loop]]]
Outer = Callable[[Loop], Sequence[Loop]]


def rearranged(kernel: Kernel, outer: Outer, turned: Chains) -> Kernel:
    """A kernel where the loops are one that ``outer`` finds in a nest, and the chains that ``turned`` finds in its rows
    have their innermost loop first; itself where there are none.
    """
    plain = [loop for _, loop in kernel.shared_nests() if is_plain(loop)]
    changed = {loop for loop in plain if any(outer(part) or turned(part) for part in parts(loop))}
    return replace(kernel, root=_Rearranged(changed, outer, turned).block(kernel.root)) if changed else kernel


def is_plain(loop: Loop) -> bool:
    """Whether nothing in a nest depends on which loop is which: sums by index, sides and steps in order do."""
    every = [loop, *loops_in(loop)]
    if any(each.sequential or any(isinstance(item, Cases) for _, item in each.body.items) for each in every):
        return False
    return not any(isinstance(item, Scatter) for item in loop.body.walk())


def loops_in(loop: Loop) -> list[Loop]:
    return [item for item in loop.body.walk() if isinstance(item, Loop)]


def has_pieces(loop: Loop) -> bool:
    """Whether a loop in it goes through a piece of a length."""
    return any(each.step > 1 for each in loops_in(loop))


def are_values(items: Iterable[object], most: int) -> bool:
    """Whether statements give at most so many values, none by a long function, which pieces of a row may find again."""
    short = [isinstance(item, Load) or (isinstance(item, Assign) and not is_routine(item.op)) for item in items]
    return len(short) <= most and all(short)


def parts(loop: Loop) -> list[Loop]:
    """A loop for each of those in its body, where nothing but these is there, and they need not wait for each other."""
    items = loop.body.items
    if len(items) < 2 or any(not isinstance(item, Loop) or level != items[0][0] for level, item in items):
        return [loop]
    return [replace(loop, body=Block(loop.body.parent, loop.index, [item])) for item in items]


def chain(loop: Loop) -> list[Loop]:
    """A loop, and those of which each is all that the one before has in its body."""
    found = [loop]
    while len(found[-1].body.items) == 1 and isinstance(found[-1].body.items[0][1], Loop):
        found.append(found[-1].body.items[0][1])
    return found


@final
class _Rearranged(Copy):
    """The loop nests of a kernel again, those that are ``changed`` with other loops around the same statements."""

    def __init__(self, changed: set[Loop], outer: Outer, turned: Chains) -> None:
        super().__init__()
        self.changed, self.outer, self.chains = changed, outer, turned

    def put(self, new: Block, level: int, loop: Loop) -> None:
        several = parts(loop) if loop in self.changed else []
        for number, part in enumerate(several):
            name = f"{loop.index}_{number}" if len(several) > 1 or self.outer(part) else loop.index
            new.put(level, self.collapsed(part, new, name))
        if not several:
            super().put(new, level, loop)

    def collapsed(self, loop: Loop, parent: Block, name: str) -> Loop:
        """A nest with its outer loops as one, whose index has this name, and chains along its rows turned around."""
        outer, chains = self.outer(loop), {each[0]: each for each in self.chains(loop)}
        last = outer[-1] if outer else loop
        body = self.blocks[last.body] = Block(parent, name)
        for assigned in indices(outer or [loop], name) if name != loop.index else ():
            body.put(0, assigned)
        for item in (item for each in outer[:-1] for _, item in each.body.items if not isinstance(item, Loop)):
            body.put(0, self.at_home(item))  # type: ignore[arg-type]
        for level, item in last.body.items:
            if not isinstance(item, Loop):
                body.put(level, self.at_home(item))  # type: ignore[arg-type]
            else:
                body.put(level, self.turned(chains[item], body) if item in chains else self.loop(item, body))
        return Loop("*".join(each.dim for each in outer) if outer else loop.dim, body)

    def turned(self, loops: Sequence[Loop], parent: Block) -> Loop:
        """A chain of loops whose innermost comes first."""
        found: list[Loop] = []
        for loop in (loops[-1], *loops[:-1]):
            body = Block(found[-1].body if found else parent, loop.index)
            found.append(replace(loop, body=body))
        for around, inside in zip(found, found[1:], strict=False):
            around.body.put(0, inside)
        self.blocks[loops[-1].body] = found[-1].body
        for level, item in loops[-1].body.items:
            new = self.loop(item, found[-1].body) if isinstance(item, Loop) else self.at_home(item)  # type: ignore[arg-type]
            found[-1].body.put(level, new)
        return found[0]


def indices(loops: Sequence[Loop], index: str) -> Iterator[Assign]:
    """The index of each loop, from that of all of them together."""
    for place, loop in enumerate(loops):
        value: Expr = Name(index)
        inside = [length(dim_of(each)) for each in loops[place + 1 :]]
        value = value // joined("*", inside) if inside else value
        value = value % length(dim_of(loop)) if place else value
        yield Assign(loop.index, "index", (value,), INDEX)


def dim_of(loop: Loop) -> str | int:
    """The length of a loop over one axis, as that of an axis."""
    return int(loop.dim) if loop.dim.isdigit() else loop.dim
