"""The statements of loop nests, of which ``str`` is a line to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from vecdist.kernel.expressions import Expr, Name, names, substituted
from vecdist.primitives.formulas import Formula
from vecdist.primitives.loops import Loop

if TYPE_CHECKING:
    from vecdist.kernel.ir import Block

Change = Callable[[Expr], Expr]


Operator = str | Loop | Formula
"""What a statement computes: a primitive by its name, a loop of elements, or a formula."""


@final
@dataclass(frozen=True)
class Temp:
    """The temporary output of this number, as what is read."""

    output: int


@final
@dataclass(frozen=True)
class Load:
    """``name`` is the element of a slot, or of a temporary output, at ``indices``, zero where ``guard`` is false.

    There is one index per varying axis.
    """

    name: str
    source: int | Temp
    indices: tuple[Expr, ...]
    dtype: np.dtype
    guard: Expr | None = None

    def expressions(self) -> tuple[Expr, ...]:
        return self.indices if self.guard is None else (*self.indices, self.guard)

    def mapped(self, change: Change) -> Load:
        indices = tuple([change(index) for index in self.indices])
        return replace(self, indices=indices, guard=None if self.guard is None else change(self.guard))

    def __str__(self) -> str:
        guarded = "" if self.guard is None else f" if {self.guard}"
        return f"{self.name} = {array_name(self.source)}[{_listed(self.indices)}]{guarded}"


@final
@dataclass(frozen=True)
class Assign:
    """``name`` is a primitive of ``args``; where ``op`` is ``"index"``, an expression as it stands.

    That of a loop of elements is all that is carried to its end, a tuple where that is more than one number.
    """

    name: str
    op: Operator
    args: tuple[Expr, ...]
    dtype: np.dtype

    def expressions(self) -> tuple[Expr, ...]:
        return self.args

    def mapped(self, change: Change) -> Assign:
        return replace(self, args=tuple([change(arg) for arg in self.args]))

    def __str__(self) -> str:
        return f"{self.name} = {self.args[0] if self.op == 'index' else f'{self.op}({_listed(self.args)})'}"


@final
@dataclass(frozen=True)
class Accumulate:
    """Take ``value`` into the reduction ``name`` of the block ``home``; ``op`` is sum, prod, max, min, linear or last.

    A linear one multiplies what it has found by ``factor``, and adds the value.  The last is the value itself, and
    ``start`` where there is none.
    """

    name: str
    value: Expr
    home: Block
    dtype: np.dtype
    op: str = "sum"
    factor: Expr | None = None
    start: Expr | None = None

    def expressions(self) -> tuple[Expr, ...]:
        return tuple([each for each in (self.value, self.factor, self.start) if each is not None])

    def mapped(self, change: Change) -> Accumulate:
        factor, start = (None if each is None else change(each) for each in (self.factor, self.start))
        return replace(self, value=change(self.value), factor=factor, start=start)

    def __str__(self) -> str:
        name = self.name
        if self.factor is not None:
            return f"{name} = {self.factor} * {name} + {self.value}"
        return f"{name} += {self.value}" if self.op == "sum" else f"{name} = {self.op}({name}, {self.value})"


@final
@dataclass(frozen=True)
class Total:
    """``name`` is the finished sum ``accumulator``, rounded to ``dtype``."""

    name: str
    accumulator: str
    dtype: np.dtype

    def expressions(self) -> tuple[Expr, ...]:
        return (Name(self.accumulator),)

    def mapped(self, change: Change) -> Total:
        return self

    def __str__(self) -> str:
        return f"{self.name} = total {self.accumulator}"


@final
@dataclass(frozen=True)
class Store:
    """Put ``value`` into an output at ``indices``."""

    output: int
    indices: tuple[Expr, ...]
    value: Expr

    def expressions(self) -> tuple[Expr, ...]:
        return *self.indices, self.value

    def mapped(self, change: Change) -> Store:
        return Store(self.output, tuple([change(index) for index in self.indices]), change(self.value))

    def __str__(self) -> str:
        return f"o{self.output}[{_listed(self.indices)}] = {self.value}"


@final
@dataclass(frozen=True)
class Scatter:
    """Add ``value`` to the element of a summed output at ``indices``, some of which may be data."""

    output: int
    indices: tuple[Expr, ...]
    value: Expr

    def expressions(self) -> tuple[Expr, ...]:
        return *self.indices, self.value

    def mapped(self, change: Change) -> Scatter:
        return Scatter(self.output, tuple([change(index) for index in self.indices]), change(self.value))

    def __str__(self) -> str:
        return f"o{self.output}[{_listed(self.indices)}] += {self.value}"


@final
@dataclass(frozen=True)
class Flag:
    """Raise the kernel's flag where ``value`` is true."""

    value: Expr

    def expressions(self) -> tuple[Expr, ...]:
        return (self.value,)

    def mapped(self, change: Change) -> Flag:
        return Flag(change(self.value))

    def __str__(self) -> str:
        return f"flag if {self.value}"


Statement = Load | Assign | Accumulate | Total | Store | Scatter | Flag
Made = Assign | Load | Total  # what gives a name to a value


def _listed(found: Sequence[Expr]) -> str:
    return ", ".join(map(str, found))


def carried(place: int) -> Name:
    """What a turn of a loop of elements reads: a carry, or what comes behind those."""
    return Name(f"c{place}")


def array_name(source: int | Temp) -> str:
    """The name of what a load reads."""
    return f"o{source.output}" if isinstance(source, Temp) else f"x{source}"


def reads(item: Statement) -> set[str]:
    """The names that a statement reads."""
    return set(names(*item.expressions()))


def renamed(item: Statement, meanings: Mapping[str, Expr]) -> Statement:
    """A statement that reads other expressions in the place of names, and gives its value another name."""
    changed = item.mapped(lambda each: substituted(each, meanings))
    if isinstance(changed, Made) and isinstance(new := meanings.get(changed.name), Name):
        return replace(changed, name=new.id)
    return changed
