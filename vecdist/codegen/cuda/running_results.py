"""Running results: what elements do to them, in parts that an associative law joins, and what a lane knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.cuda.grid import parts
from vecdist.codegen.cuda.reductions import combined
from vecdist.codegen.statements import ACCUMULATOR, Items, start
from vecdist.kernel.code import Set
from vecdist.kernel.expressions import Choice, Constant, Expr, Name, joined, operation, word
from vecdist.kernel.statements import Accumulate

INFINITY = word("np.inf")


@final
@dataclass(frozen=True)
class Change:
    """What some elements make of a running result: they add a value, which they multiply by a factor first if linear.

    Its parts, the value and the factor, have names that begin with ``kind``.
    """

    item: Accumulate
    kind: str

    @property
    def parts(self) -> tuple[Name, ...]:
        return tuple(map(Name, parts(self.item, self.kind)))

    @property
    def none(self) -> tuple[Expr, ...]:
        """The parts of what changes nothing."""
        return (start(self.item), Constant(1.0))[: len(self.parts)]

    def set(self, parts: Sequence[Expr]) -> Items:
        """Give it these parts."""
        return tuple([Set(name, part) for name, part in zip(self.parts, parts, strict=True)])

    def after(self, before: Sequence[Expr]) -> tuple[Expr, ...]:
        """The parts of this change behind another one, or the value of a result that is changed."""
        value, *factor = self.parts
        if not factor:
            return (combined(self.item.op, self.item.dtype.kind, before[0], value),)
        found = Choice(_gone(before[0], factor[0]), Constant(0.0), factor[0] * before[0]) + value
        return found, *(_times(factor[0], other) for other in before[1:])

    def to_memory(self) -> list[Expr]:
        return [as_number(self.item, part) for part in self.parts]

    def from_memory(self, found: Sequence[Expr]) -> Items:
        return self.set([of_number(self.item, part) for part in found])


def as_number(item: Accumulate, value: Expr) -> Expr:
    """A number as shuffles and shared memory take it, which is as float64."""
    return value if item.dtype.kind == "f" else word("as_f8")(word("i8")(value))


def of_number(item: Accumulate, found: Expr) -> Expr:
    return found if item.dtype.kind == "f" else Name(ACCUMULATOR[item.dtype.kind])(word("as_i8")(found))


def _gone(zero: Expr, factor: Expr) -> Expr:
    """Whether a factor is infinite, perhaps as a product that overflows, of what is 0."""
    return operation("and", zero.equals(0), word("abs")(factor).equals(INFINITY))


def _times(one: Expr, other: Expr) -> Expr:
    """The product of two factors, 0 where one of them is that and the other one infinite."""
    found = one * other
    gone = joined("and", [operation("!=", found, found), one.equals(one), other.equals(other)])
    return Choice(gone, Constant(0.0), found)


@final
@dataclass(frozen=True)
class Lane:
    """What a lane knows of one running result: of a tile, of its own elements, and what another lane knows."""

    item: Accumulate

    @property
    def all(self) -> Change:
        """What the elements of all lanes make of it, as far as they are known."""
        return Change(self.item, "all")

    @property
    def before(self) -> Change:
        """What those before the lane's own make of it."""
        return Change(self.item, "before")

    @property
    def other(self) -> Change:
        return Change(self.item, "other")

    def read(self, number: int) -> Change:
        """What an element does to it that the lane has read."""
        return Change(self.item, f"read{number}")

    def own(self, number: int) -> Change:
        """What the first elements do to it of those that the lane runs up, up to and with one."""
        return Change(self.item, f"own{number}")
