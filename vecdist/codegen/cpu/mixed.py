"""What stands in a loop nest between plan and code: statements of nests among structured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from vecdist.codegen import statements
from vecdist.kernel.expressions import Element, Expr
from vecdist.kernel.statements import Load, Scatter


@final
@dataclass(frozen=True, slots=True)
class Add:
    """Add to an element of a buffer."""

    target: Element
    value: Expr

    def expressions(self) -> tuple[Expr, ...]:
        return self.target, self.value

    def __str__(self) -> str:
        return f"{self.target} += {self.value}"


@final
@dataclass(frozen=True, slots=True)
class Product:
    """A product of rows of a matrix, from an element on, with a vector, by a word of the language.

    ``gemv`` puts a number of each row into a buffer; ``gemv_transposed`` adds one for each column to an output.
    """

    word: str
    matrix: Load | Element
    step: Expr
    vector: Load | Element
    rows: Expr
    columns: Expr
    target: Element | Scatter

    def expressions(self) -> tuple[Expr, ...]:
        return *_read(self.matrix), self.step, *_read(self.vector), self.rows, self.columns, *_read(self.target)

    def __str__(self) -> str:
        return f"{self.target} = {self.word}({self.matrix}, {self.vector})"


@final
@dataclass(frozen=True, slots=True)
class Pack:
    """Copy rows of a matrix, from an element on, to where each begins a line of the cache."""

    matrix: Load
    step: Expr
    rows: Expr
    columns: Expr
    target: Element
    width: Expr
    room: Expr  # elements of the target at most

    def expressions(self) -> tuple[Expr, ...]:
        return *_read(self.matrix), self.step, self.rows, self.columns, self.target, self.width, self.room

    def __str__(self) -> str:
        return f"{self.target} = rows from {self.matrix}"


def _read(item: Load | Scatter | Element) -> tuple[Expr, ...]:
    return (item,) if isinstance(item, Element) else item.indices


Item = statements.Item | Add | Product | Pack
Items = tuple[Item, ...]


def scatters(item: object) -> bool:
    """Whether an item adds to an output."""
    return isinstance(item, Scatter) or (isinstance(item, Product) and isinstance(item.target, Scatter))
