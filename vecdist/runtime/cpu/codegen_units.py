"""A module of LLVM IR in codegen units, modules of their own, whose machine code is made while others are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias, final

from llvmlite import ir
from numba.core.cpu_options import FastMathOptions
from numba.core.fastmathpass import FastFloatBinOpVisitor, FastFloatCallVisitor

LEAST = 500  # instructions of a unit
CONTRACTED = FastMathOptions({"contract"})
Functions: TypeAlias = "dict[ir.Function, None]"


@final
class Units:
    """The units of a module: one for each run of functions that is long, and one of what is left."""

    def __init__(self, module: ir.Module, take: Callable[[str], object]) -> None:
        self.module, self.take = module, take  # the text of a unit
        self.given: Functions = {}
        self.open: Functions = {}  # of the unit that is the next
        self.first: list[ir.Function] = []  # of these, what others call

    def own(self, functions: Sequence[ir.Function], known: Collection[ir.Function]) -> None:
        """Take a function for the next unit, which others call, and those that it alone calls.

        Functions that are ``known`` have one body.  Others, and those that are copied to calls, are in each unit.
        """
        self.first.append(functions[0])
        self.given.update(dict.fromkeys(functions))
        inside = _with_called(functions, lambda each: each in functions or each not in known or is_copied(each))
        self.open.update(inside)
        if sum(map(length, self.open)) >= LEAST:
            self._end()

    def _end(self) -> None:
        for each in self.first:
            each.linkage = "external"
        self.take(self._text(self.open))
        self.open, self.first = {}, []

    def rest(self) -> None:
        """Make a unit of all that is in no other, once all is written."""
        outer = [each for each in self.module.functions if each.blocks and each.linkage != "internal"]
        left = [each for each in outer if each not in self.given]
        self.open, self.first = _with_called(left, lambda each: each not in self.given or each in self.open), []
        self._end()

    def _text(self, part: Functions) -> str:
        """A module of these functions, which calls others."""
        for each in part:
            _contracted(each)
        outer = [each for function in part for each in called(function) if each not in part]
        for each in outer:
            each.linkage = "external"
        shared = [str(each) for each in self.module.global_values if not getattr(each, "blocks", ())]
        types = [each.get_declaration() for each in self.module.get_identified_types().values()]
        head = f'target datalayout = "{self.module.data_layout}"', f'target triple = "{self.module.triple}"'
        written = [*map(_declaration, dict.fromkeys(outer)), *map(str, part)]
        return "\n".join([*head, *types, *shared, *written, *self.module._get_metadata_lines()])


def length(function: ir.Function) -> int:
    """The instructions of a function."""
    return sum(len(block.instructions) for block in function.blocks)


def is_copied(function: ir.Function) -> bool:
    """Whether a function is copied to all its calls."""
    return "alwaysinline" in function.attributes


def called(function: ir.Function) -> Functions:
    """The functions with a body that a function calls."""
    found = [getattr(item, "callee", None) for block in function.blocks for item in block.instructions]
    return dict.fromkeys(each for each in found if isinstance(each, ir.Function) and each.blocks)


def _with_called(functions: Iterable[ir.Function], inside: Callable[[ir.Function], bool]) -> Functions:
    """Functions, and those that they call and that are to be beside them."""
    found = dict.fromkeys(functions)
    waiting = [*found]
    for each in waiting:  # which grows meanwhile
        inner = [other for other in called(each) if other not in found and inside(other)]
        found |= dict.fromkeys(inner)
        waiting += inner
    return found


def _contracted(function: ir.Function) -> None:
    """Allow products to be added without being rounded."""
    for visitor in (FastFloatBinOpVisitor(CONTRACTED.flags), FastFloatCallVisitor(CONTRACTED.flags)):
        visitor.visit_Function(function)


def _declaration(function: ir.Function) -> str:
    """A function without its body."""
    blocks, function.blocks = function.blocks, []
    linkage, function.linkage = function.linkage, ""
    try:
        return str(function)
    finally:
        function.blocks, function.linkage = blocks, linkage
