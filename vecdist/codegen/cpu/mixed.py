"""What stands in a loop nest between plan and code: statements of nests among structured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from vecdist.codegen import statements
from vecdist.kernel.expressions import Element, Expr


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


Item = statements.Item | Add
Items = tuple[Item, ...]
