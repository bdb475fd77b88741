"""Routines as functions of generated code: written once, and called by every kernel that needs it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import final

from vecdist.codegen.frontend import expression, statements
from vecdist.kernel.code import Code, Function, walk
from vecdist.kernel.expressions import Expr
from vecdist.primitives.table import PRIMITIVES

TYPES = {"float": "f8", "bool": "b1", "int": "i8", "tuple[float, ...]": "table"}
LONG = 12  # statements: a function of more is called, one of fewer is put in the place of its calls

Table = tuple[str, tuple[float, ...]]


@final
@dataclass(frozen=True)
class Routine:
    """A function of float64 numbers, named by its content; ``tables`` are what its text needs before it.

    ``parameters`` and ``results`` are types, as generated code names them; ``needs`` are the routines that it calls.
    One that is ``seldom`` called is not put in the place of its calls on a GPU, which would cost all threads registers.
    """

    function: Function
    tables: tuple[Table, ...]
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    needs: tuple[Routine, ...]
    seldom: bool = False

    @property
    def name(self) -> str:
        return self.function.name


@final
@dataclass(frozen=True)
class Definition:
    """What a function of Python floats says: its parameters and results with their types, and its statements."""

    name: str
    parameters: dict[str, str]
    body: tuple[Code, ...]
    results: tuple[Expr, ...]
    types: tuple[str, ...]


def with_needs(routines: Iterable[Routine]) -> tuple[Routine, ...]:
    """Routines and all that they call, each once and behind what it calls."""
    found: dict[Routine, None] = {}
    for routine in routines:
        found |= dict.fromkeys((*with_needs(routine.needs), routine))
    return tuple(found)


def is_routine(op: str) -> bool:
    """Whether a statement of this operation becomes many."""
    return op in PRIMITIVES and PRIMITIVES[op].routine is not None


@cache
def definition(function: Callable) -> Definition:
    """What a function says, read from its source; its one return comes last."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(found, ast.FunctionDef)
    returns = [node for node in ast.walk(found) if isinstance(node, ast.Return)]
    if returns != found.body[-1:]:
        raise ValueError(f"{found.name}: a routine has one return, which comes last")
    value = returns[0].value
    assert value is not None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    parameters = {each.arg: _type(each.annotation) for each in found.args.args}
    match found.returns:
        case ast.Subscript(_, ast.Tuple(each)):
            types = tuple([_type(part) for part in each])
        case annotation:
            types = (_type(annotation),)
    return Definition(found.name, parameters, statements(found.body[:-1]), tuple(map(expression, parts)), types)


def _type(annotation: ast.expr | None) -> str:
    """The type of an annotated name; float64 where nothing is said."""
    return TYPES[ast.unparse(annotation)] if annotation else "f8"


@cache
def is_long(function: Callable) -> bool:
    """Whether a function is worth a call."""
    return sum(1 for _ in walk(definition(function).body)) + 1 > LONG
