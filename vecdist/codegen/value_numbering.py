"""Value numbering: which statements of loop nests compute the same of their indices, whatever these are called.

A value has a number, and the indices that it varies with in the order in which it meets them: two values of the same
number are the same function of these.  What sums have added up over loops of their own is such a value as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.collapsing import indices
from vecdist.kernel.expressions import Expr, Name, names, substituted
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Made, Store, Temp, Total


@final
@dataclass(frozen=True)
class Value:
    """What a statement of a nest makes: its number, and the indices that it is a function of."""

    number: int
    indices: tuple[str, ...]
    item: Made
    block: Block


@final
class Numbering:
    """The numbers of the values of all nests of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.numbers: dict[object, int] = {}
        self.in_order = {number for _, loop in kernel.nests() for number in _stored_in_order(loop)}

    def number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


def _stored_in_order(loop: Loop) -> set[int]:
    """The arrays whose elements are written again and again."""
    if not loop.sequential:
        return {number for each in loop.body.every_loop() for number in _stored_in_order(each)}
    return {item.output for item in loop.body.walk() if isinstance(item, Store)}


@final
class Nest:
    """The values of a nest by their names; ``dims`` are the lengths of its indices, and ``around`` those of blocks."""

    def __init__(self, nest: Loop, numbering: Numbering) -> None:
        self.nest, self.numbering = nest, numbering
        self.values: dict[str, Value] = {}
        self.dims: dict[str, str] = {}
        self.around: dict[Block, tuple[str, ...]] = {}
        self.loops: dict[Block, Loop] = {}
        self.added: dict[str, list[tuple[Accumulate, Block]]] = {}
        self._enter(nest, ())

    def _enter(self, loop: Loop, around: tuple[str, ...], anew: bool = False) -> None:
        """Number what a loop has in its body; what is made ``anew`` in each step of one around it is like no other."""
        known = self._indices(loop)
        self.dims |= known
        self.around[loop.body], self.loops[loop.body] = (*around, *known), loop
        self._visit(loop.body, self.around[loop.body], anew or loop.sequential)

    def _visit(self, block: Block, around: tuple[str, ...], anew: bool) -> None:
        for level in block.levels:
            for item in block.statements(level):
                if isinstance(item, Accumulate):
                    self.added.setdefault(item.name, []).append((item, block))
                elif isinstance(item, Made) and item.name not in self.dims:
                    self.values[item.name] = self._unlike(item, block) if anew else self._value(item, block)
            for case in block.cases(level):
                for item in (*case.short.walk(), *case.long.walk()):  # what is made in one of two ways
                    if isinstance(item, Made):
                        self.values[item.name] = self._unlike(item, case.short)
            for loop in block.loops(level):
                self._enter(loop, around, anew)

    def _indices(self, loop: Loop) -> dict[str, str]:
        """The indices of a loop, or of those that it is made of, with their lengths."""
        dims = loop.dim.split("*")
        if len(dims) == 1:
            return {loop.index: loop.dim}
        found = [item for _, item in loop.body.items if isinstance(item, Assign) and item.op == "index"][: len(dims)]
        made = [Loop(dim, Block(None, item.name)) for dim, item in zip(dims, found, strict=False)]
        if len(made) < len(dims) or [*indices(made, loop.index)] != found:
            return {loop.index: loop.dim}
        return {item.name: dim for dim, item in zip(dims, found, strict=True)}

    def _unlike(self, item: Made, block: Block) -> Value:
        return Value(self.numbering.number(object()), (), item, block)

    def _value(self, item: Made, block: Block) -> Value:
        if isinstance(item, Total):
            return self._total(item, block)
        if isinstance(item, Load) and isinstance(item.source, Temp) and item.source.output in self.numbering.in_order:
            return self._unlike(item, block)
        key, met = self._told(item.expressions(), {})
        what = (item.source, item.guard is None) if isinstance(item, Load) else item.op
        return Value(self.numbering.number((what, item.dtype, key)), met, item, block)

    def _total(self, item: Total, block: Block) -> Value:
        """What several loops have added up, as a function of the indices around them."""
        keys: list[object] = []
        met: list[str] = []
        for added, place in self.added.get(item.accumulator, ()):
            inner = [*self._between(place, added.home)]
            if added.home is not block or any(loop.sequential or loop.step > 1 for loop in inner):
                return self._unlike(item, block)
            bound = [index for loop in inner for index in self._indices(loop)]
            dims = tuple([self.dims[index] for index in bound])
            key, own = self._told(added.expressions(), {index: f"+{place}" for place, index in enumerate(bound)}, met)
            keys.append((added.op, added.dtype, added.factor is None, added.start is None, dims, key))
            met = [*own]
        return Value(self.numbering.number(("total", item.dtype, tuple(keys))), tuple(met), item, block)

    def _between(self, block: Block, home: Block) -> Iterator[Loop]:
        """The loops around a block, inside of another, the outermost first."""
        inside = [each for each in block.chain() if each in self.loops]
        return (self.loops[each] for each in inside if home in each.chain()[:-1])

    def _told(
        self, exprs: Sequence[Expr], bound: dict[str, str], before: Sequence[str] = ()
    ) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
        """Expressions by numbers and by places of indices, in the order in which they are met, and these indices."""
        met = [*before]

        def place(index: str) -> str:
            if index in bound:
                return bound[index]
            if index not in met:
                met.append(index)
            return f"#{met.index(index)}"

        meanings: dict[str, Expr] = {}
        for name in names(*exprs):
            if name in self.dims:
                meanings[name] = Name(place(name))
            elif name in self.values:
                value = self.values[name]
                meanings[name] = Name(f"{value.number}({','.join(map(place, value.indices))})")
        return tuple([substituted(each, meanings) for each in exprs]), tuple(met)

