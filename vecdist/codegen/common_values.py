"""Common values: what a nest computes that one before it has computed for the same indices is read, not computed again.

The hidden values of a net are made for its value, for the gradient of the layer behind them, and for what goes back to
the one before: nests that must wait for each other.  The first of these stores what it has, and the others do without
all that nothing else of theirs needs (common subexpressions across loops, and dead code).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from vecdist.codegen.liveness import Liveness, Loads, Rewritten
from vecdist.codegen.value_numbering import Nest, Numbering, Value
from vecdist.graph.memo import Memo
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Kernel, Output
from vecdist.kernel.statements import Load, Store, Temp

SAVED = 24  # statements that are not computed, from which it is better to store a value, and to read it
_known: Memo[Kernel] = Memo(64)


def with_common_values(kernel: Kernel, lengths: Mapping[str, int], most: int) -> Kernel:
    """A kernel whose nests read what earlier ones have computed, where that is dear; itself where nothing is.

    That takes at most so many bytes in all.  Lengths of the same binary logarithm are as one, so that those that change
    need no more thought.
    """
    if len({level for level, _ in kernel.shared_nests()}) <= 1:
        return kernel
    powers = {dim: 1 << max(0, length - 1).bit_length() for dim, length in lengths.items()}
    return _known((kernel, tuple(powers.items()), most), lambda: _with_common_values(kernel, powers, most))


def _with_common_values(kernel: Kernel, lengths: Mapping[str, int], most: int) -> Kernel:
    found = _Found(kernel, lengths, most)
    for level, loop in sorted(kernel.shared_nests(), key=lambda each: each[0]):
        found.read(level, Nest(loop, found.numbering))
    if not found.outputs:
        return kernel
    root = Rewritten(found.loads, found.stores).block(kernel.root)
    return replace(kernel, root=root, outputs=(*kernel.outputs, *found.outputs))


@final
@dataclass(frozen=True)
class Known:
    """A value that a nest has at some level, in a block with loops over its indices and no others around it."""

    level: int
    nest: Nest
    value: Value

    @property
    def around(self) -> tuple[str, ...]:
        return self.nest.around[self.value.block]

    @property
    def dims(self) -> list[str]:
        """The lengths of the indices of the value, in its order."""
        return [self.nest.dims[index] for index in self.value.indices]

    def order(self, other: Value) -> list[str]:
        """The indices of the same value of another nest, in the order of the loops around this one."""
        return [other.indices[self.value.indices.index(index)] for index in self.around]


@final
class _Found:
    """What nests read of others, and what these store for that, by the bodies of nests and the names of values."""

    def __init__(self, kernel: Kernel, lengths: Mapping[str, int], most: int) -> None:
        self.lengths, self.left, self.numbering = lengths, most, Numbering(kernel)
        self.of_blocks = {loop.body for loop in kernel.block_nests()}
        self.first = len(kernel.outputs)
        self.outputs: list[Output] = []
        self.known: dict[int, Known] = {}
        self.places: dict[int, int] = {}  # among the outputs, by the numbers of values
        self.loads: dict[Block, dict[str, Load]] = {}
        self.stores: dict[Block, dict[str, Store]] = {}

    def read(self, level: int, nest: Nest) -> None:
        """Have a nest read what others have, as long as that saves enough; then others may read what it has."""
        live, loads = Liveness(nest.nest), self.loads.setdefault(nest.nest.body, {})
        needed = live.needed(loads)
        while True:
            choices = [value for value in nest.values.values() if value.item.name in needed - loads.keys()]
            choices = [value for value in choices if self._is_known(level, nest, value)]
            last = [value for value in choices if self._is_read(value, live, needed, choices)]
            saved = {value: self._saved(value, nest, live, loads, needed) for value in last}
            best = max(saved, key=lambda value: saved[value], default=None)
            if best is None or saved[best] < SAVED:
                break
            loads[best.item.name] = self._load(best)
            needed = live.needed(loads)
        for value in nest.values.values():
            own = value.block in nest.around and {*nest.around[value.block]} == {*value.indices}
            if value.item.name in needed - loads.keys() and own:
                self.known.setdefault(value.number, Known(level, nest, value))

    def _bytes(self, known: Known) -> int:
        """What it takes to store a value; nothing more where that is done."""
        stored = known.value.number in self.places
        return 0 if stored else self._turns(known.nest, known.value.block) * known.value.item.dtype.itemsize

    def _is_known(self, level: int, nest: Nest, value: Value) -> bool:
        known = self.known.get(value.number)
        if known is None or known.level >= level or known.dims != [nest.dims[index] for index in value.indices]:
            return False
        if self._bytes(known) > self.left:
            return False
        body = nest.nest.body  # a block waits for its own threads alone, which have the rows of its chain
        return known.nest.nest.body not in self.of_blocks or known.order(value)[0] == nest.around[body][0]

    def _is_read(self, value: Value, live: Liveness, needed: set[str], choices: list[Value]) -> bool:
        """Whether something needs a value that could not be read itself."""
        names = {each.item.name for each in choices}
        readers = live.readers.get(value.item.name, set()) & needed
        return value.item.name in live.effects or not readers <= names

    def _saved(self, value: Value, nest: Nest, live: Liveness, loads: Loads, needed: set[str]) -> float:
        """The statements that need not be computed for each element of a value where that is read."""
        indices = tuple(map(Name, value.indices))
        read = Load(value.item.name, Temp(0), indices, value.item.dtype)
        dead = needed - live.needed({**loads, value.item.name: read})
        places = [block for name in dead for block in live.places.get(name, ())]
        return sum(self._turns(nest, block) for block in places) / self._turns(nest, value.block)

    def _turns(self, nest: Nest, block: Block) -> int:
        """How often statements of a block are run."""
        return math.prod(int(self.lengths.get(dim, dim)) for dim in (nest.dims[index] for index in nest.around[block]))

    def _load(self, value: Value) -> Load:
        """What reads a value, which the nest that makes it is to store."""
        known = self.known[value.number]
        item = known.value.item
        self.left -= self._bytes(known)
        if value.number not in self.places:
            place = self.places[value.number] = self.first + len(self.outputs)
            shape = tuple([known.nest.dims[index] for index in known.around])
            self.outputs.append(Output(shape, item.dtype, temporary=True, common=True))
            stored = Store(place, tuple(map(Name, known.around)), Name(item.name))
            self.stores.setdefault(known.nest.nest.body, {})[item.name] = stored
        indices = tuple(map(Name, known.order(value)))
        return Load(value.item.name, Temp(self.places[value.number]), indices, item.dtype)
