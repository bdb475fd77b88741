"""The parts of a kernel, which threads share: one function, in which they are numbered.

Part 0 is the prelude, then comes each outermost loop, and last what is left after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import final

import numpy as np

from vecdist.codegen.cpu.own_sums import sums_of_all
from vecdist.codegen.statements import type_name
from vecdist.kernel.code import Code, Do, Function, If, Set, let
from vecdist.kernel.expressions import Constant, Expr, Name, of_type
from vecdist.kernel.ir import Kernel

SHARE = ("number", "first", "last")  # which part, of which blocks
WIDE = {"doubles": "f8", "singles": "f4", "integers": "i8"}  # the arrays that the prelude leaves its values in


@final
class Hoisted:
    """The values of the prelude that loops need, with their dtypes: floats apart by their widths, and all others."""

    def __init__(self, values: Mapping[str, np.dtype], outputs: int) -> None:
        self.values, self.scope = values, (Constant(-1), Constant(outputs))
        types = {kind: home for home, kind in WIDE.items()}
        self.homes = {name: types.get(type_name(dtype), "integers") for name, dtype in values.items()}
        self.kept = {home: [name for name in values if self.homes[name] == home] for home in WIDE}

    def made(self) -> Iterator[Set]:
        """The arrays, in the memory of the function that calls the prelude."""
        for home, names in self.kept.items():
            yield let(home, Name("room")(len(names), Name(WIDE[home])))

    def stored(self) -> Iterator[Do]:
        for name, home in self.homes.items():
            yield Do(Name("store")(Name(home), self.kept[home].index(name), Name(WIDE[home])(Name(name)), *self.scope))

    def loaded(self, names: Sequence[str]) -> Iterator[Set]:
        for name in names:
            home, dtype = self.homes[name], self.values[name]
            found = Name("load")(Name(home), self.kept[home].index(name), *self.scope)
            yield let(name, self.narrow(found, dtype))

    def narrow(self, found: Expr, dtype: np.dtype) -> Expr:
        if dtype.kind == "b":
            return found.differs(0)
        return found if type_name(dtype) in WIDE.values() else of_type(dtype, found)


def part(kernel: Kernel, parameters: tuple[str, ...]) -> Function:
    """The function of a kernel's parts, whose own ``parameters`` come last."""
    sums: list[str] = []
    rows = [f"q_o{output}" for output in sums_of_all(kernel)]
    known = (*WIDE, *parameters)
    calls = [_called("prelude", *known)]
    for number, (_, loop) in enumerate(kernel.nests()):
        sums += [f"p_{item.name}" for item in loop.sums(kernel.root)]
        added = [f"q_o{output}" for output in sums_of_all(kernel, loop)]
        calls.append(_called(f"nest{number}", "first", "last", *sums, *added, *known))
    calls.append(_called("finish", *sums, *known))
    body: tuple[Code, ...] = ()
    for number, call in reversed(list(enumerate(calls))):
        body = (If(Name("number").equals(number), (call,), body),)
    return Function("part", (*SHARE, *sums, *rows, *known), body)


def _called(name: str, *arguments: str) -> Do:
    return Do(Name(name)(*map(Name, arguments)))
