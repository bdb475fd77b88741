"""Which statements of a loop nest anything needs, where some of its values are read from memory instead."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import final

from vecdist.kernel.copies import Copy
from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import Accumulate, Load, Made, Store, reads

Loads = Mapping[str, Load]  # by the names of the values that they are in the place of


@final
class Liveness:
    """What the values of a nest are needed for."""

    def __init__(self, nest: Loop) -> None:
        self.places: dict[str, list[Block]] = {}  # of all that makes a name
        self.readers: dict[str, set[str]] = {}  # the names that are made of one
        self.reads: dict[str, set[str]] = {}  # those that one is made of
        self.effects: set[str] = set()  # what is read by that which is seen outside
        self._enter(nest.body, nest.body.chain()[:-1])

    def _enter(self, block: Block, outside: Collection[Block]) -> None:
        for _, item in block.items:
            if isinstance(item, Loop):
                self._enter(item.body, outside)
            elif isinstance(item, Cases):
                self.effects |= {item.condition.id, *_reads_of(item.short), *_reads_of(item.long)}
            elif isinstance(item, Made) or (isinstance(item, Accumulate) and item.home not in outside):
                self.places.setdefault(item.name, []).append(block)
                own = reads(item)
                self.reads.setdefault(item.name, set()).update(own)
                for name in own:
                    self.readers.setdefault(name, set()).add(item.name)
            else:
                self.effects |= reads(item)

    def needed(self, loads: Loads) -> set[str]:
        """The names of what is needed, where loads are in the place of some."""
        found, waiting = set(self.effects), [*self.effects]
        while waiting:
            name = waiting.pop()
            new = (reads(loads[name]) if name in loads else self.reads.get(name, set())) - found
            found |= new
            waiting += new
        return found


def _reads_of(block: Block) -> Iterator[str]:
    for item in block.walk():
        if not isinstance(item, Loop):
            yield from reads(item)
            yield from [item.name] if isinstance(item, Made | Accumulate) else []


@final
class Rewritten(Copy):
    """Loop nests again, with loads and stores in them, by the bodies of nests; what these do not need is left out."""

    def __init__(self, loads: Mapping[Block, Loads], stores: Mapping[Block, Mapping[str, Store]]) -> None:
        super().__init__()
        self.all_loads, self.all_stores = loads, stores
        self.loads: Loads = {}
        self.stores: Mapping[str, Store] = {}
        self.needed: set[str] | None = None

    def put(self, new: Block, level: int, loop: Loop) -> None:
        if new.parent is None:
            self.loads, self.stores = self.all_loads.get(loop.body, {}), self.all_stores.get(loop.body, {})
            self.needed = Liveness(loop).needed(self.loads) if self.loads else None
        body = self.loop(loop, new)
        if body.body.items:
            new.put(level, body)

    def block(self, old: Block, parent: Block | None = None) -> Block:
        new = self.blocks[old] = Block(parent, old.index)
        for level, item in old.items:
            if isinstance(item, Loop):
                self.put(new, level, item)
            elif parent is None or not isinstance(item, Made | Accumulate) or self._is_needed(item):
                name = item.name if parent is not None and isinstance(item, Made) else ""
                new.put(level, self.loads[name] if name in self.loads else self.copied(item, new))
                if name in self.stores:
                    new.put(level, self.stores[name])
        return new

    def _is_needed(self, item: Made | Accumulate) -> bool:
        return self.needed is None or item.name in self.needed or self._is_of_all(item)

    def _is_of_all(self, item: Made | Accumulate) -> bool:
        """Whether something is added up over all of a nest."""
        return isinstance(item, Accumulate) and item.home.parent is None
