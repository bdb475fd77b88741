"""Loop fission: which parts of a loop's body may stand in loops of their own.

Statements and loops that need nothing of each other are different parts.  What several of them compute from the same
loads is computed in each (rematerialisation); what adds up, or is stored, belongs to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, final

from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Name, names, substituted
from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import (
    Accumulate,
    Assign,
    Load,
    Made,
    Scatter,
    Statement,
    Store,
    Temp,
    reads,
    renamed,
)

Item = Statement | Loop | Cases
Items = Sequence[tuple[int, Item]]


@final
class Part(NamedTuple):
    """Items of a body with all that they need of it; ``loop`` is all of them that is not computed in others, too."""

    items: Items
    loop: Loop | None


def parts(loop: Loop) -> list[Part]:
    """The parts of a loop's body."""
    items = sorted(loop.body.items, key=lambda each: (each[0], isinstance(each[1], Loop)))
    needs = _needs(items, loop.body)
    free: set[int] = set()  # what each part may compute for itself
    for place, (_, item) in enumerate(items):
        free |= {place} if isinstance(item, Assign | Load) and needs[place] <= free else set()
    groups: list[set[int]] = []
    for place in (place for place in range(len(items)) if place not in free):
        own = {place, *(needs[place] - free)}
        met = [group for group in groups if not group.isdisjoint(own)]
        groups = [*(group for group in groups if group not in met), own.union(*met)]
    return [Part([items[place] for place in sorted(_closed(group, needs))], _alone(group, items)) for group in groups]


def _needs(items: Items, home: Block) -> list[set[int]]:
    """What each item of a body needs of the others, by their places."""
    made: dict[object, set[int]] = {}
    for place, (_, item) in enumerate(items):
        for name in _made(item, home):
            made.setdefault(name, set()).add(place)
    wanted = ([made[name] for name in _read(item) if name in made] for _, item in items)
    return [set().union(*each) - {place} for place, each in enumerate(wanted)]


def _closed(group: Iterable[int], needs: Sequence[set[int]]) -> set[int]:
    """Items with all that these need."""
    found, stack = set(group), list(group)
    while stack:
        new = needs[stack.pop()] - found
        found |= new
        stack += new
    return found


def _alone(group: set[int], items: Items) -> Loop | None:
    first = items[min(group)][1]
    return first if len(group) == 1 and isinstance(first, Loop) else None


def statements(item: Item) -> list[Statement]:
    """An item that is a statement, or those inside."""
    if isinstance(item, Statement):
        return [item]
    every = [*item.short.walk(), *item.long.walk()] if isinstance(item, Cases) else item.body.walk()
    return [each for each in every if isinstance(each, Statement)]


def _made(item: Item, home: Block) -> set[object]:
    """What others may need of an item of a block: names, the block's sums, and memory."""
    every = statements(item)
    found: set[object] = {Temp(each.output) for each in every if isinstance(each, Store | Scatter)}
    found |= {each.name for each in every if isinstance(each, Accumulate) and each.home is home}
    return found if isinstance(item, Loop) else found | {each.name for each in every if isinstance(each, Made)}


def _loops(item: Item) -> list[Loop]:
    """A loop, and those inside."""
    return [item, *(each for each in item.body.walk() if isinstance(each, Loop))] if isinstance(item, Loop) else []


def _read(item: Item) -> set[object]:
    every = statements(item)
    found: set[object] = {each.source for each in every if isinstance(each, Load) and isinstance(each.source, Temp)}
    found |= {item.condition.id} if isinstance(item, Cases) else set()
    return found.union(*map(reads, every), *(names(loop.start) for loop in _loops(item)))


def part_of(loop: Loop, number: int, items: Items) -> Loop:
    """A loop again, with some of what it has; what others have, too, has names of its own."""
    own = [loop.index, *(item.name for _, item in items if isinstance(item, Assign | Load))]
    new = {name: Name(f"{name}_p{number}") for name in own}
    body, copy = Block(loop.body.parent, new[loop.index].id), _Renaming(new)
    copy.blocks |= {block: block for block in loop.body.chain()[:-1]} | {loop.body: body}
    for level, item in items:
        body.put(level, copy.loop(item, body) if isinstance(item, Loop) else copy.copied(item, body))
    return replace(loop, body=body)


@final
class Split(Copy):
    """Loop nests again, where loops of certain ``rows`` have those of their parts apart that these need nothing of."""

    def __init__(self, rows: Iterable[Loop], wanted: Callable[[Loop, Loop], bool] = lambda rows, loop: True) -> None:
        super().__init__()
        self.wanted, self.found = wanted, False
        self.rows: dict[Block | None, Loop] = {each.body: each for each in rows}

    def put(self, new: Block, level: int, loop: Loop) -> None:
        rows = self.rows.get(loop.body.parent)
        for each in self._parts(loop, rows) if rows else [loop]:
            super().put(new, level, each)

    def _parts(self, loop: Loop, rows: Loop) -> list[Loop]:
        """A loop with what leaves sums to its row, and one for each of its other loops; itself where it has but one."""
        several = [] if loop.sequential or not loop.body.every_loop() or loop.scatters() else parts(loop)
        apart = [part.items for part in several if has_loops(part.items) and _leaves_nothing(part.items, rows)]
        if not apart or len(several) == 1 or not self.wanted(rows, loop):
            return [loop]
        self.found = True
        kept = [part.items for part in several if part.items not in apart]
        groups = [*([kept] if kept else []), *([each] for each in apart)]
        return [part_of(loop, number, in_order(loop, each)) for number, each in enumerate(groups)]


def has_loops(items: Items) -> bool:
    return any(isinstance(item, Loop) for _, item in items)


def _leaves_nothing(items: Items, rows: Loop) -> bool:
    """Whether nothing adds up to sums of a row, or of all."""
    inside, outside = [each for _, item in items for each in statements(item)], {*rows.body.chain()}
    return not any(isinstance(each, Accumulate) and each.home in outside for each in inside)


def in_order(loop: Loop, groups: Sequence[Items]) -> Items:
    """What stands in any of several groups of the items of a loop, once."""
    wanted = {id(item) for items in groups for _, item in items}
    return [each for each in loop.body.items if id(each[1]) in wanted]


@final
class _Renaming(Copy):
    """Statements again, with other names."""

    def __init__(self, names: Mapping[str, Name]) -> None:
        super().__init__()
        self.names = names

    def copied(self, item: Statement | Cases, new: Block) -> Statement | Cases:
        found = super().copied(item, new)
        if isinstance(found, Cases):
            return Cases(self.names.get(found.condition.id, found.condition), found.short, found.long)
        return found

    def at_home(self, item: Statement) -> Statement:
        return renamed(super().at_home(item), self.names)

    def loop(self, old: Loop, parent: Block) -> Loop:
        return replace(super().loop(old, parent), start=substituted(old.start, self.names))
