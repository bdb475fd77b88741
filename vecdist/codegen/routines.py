"""Routines as functions of generated source: written once, and called by every kernel that needs it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import final

from vecdist.primitives.table import PRIMITIVES

TYPES = {"float": "f8", "bool": "b1", "int": "i8"}
LONG = 12  # statements: a function of more is called, one of fewer is put in the place of its calls


@final
@dataclass(frozen=True)
class Routine:
    """A function of float64 numbers, named by its content; ``tables`` are lines that its text needs before it.

    ``parameters`` and ``results`` are types, as generated source names them; ``needs`` are the routines that it calls.
    One that is ``seldom`` called is not put in the place of its calls on a GPU, which would cost all threads registers.
    """

    name: str
    tables: tuple[str, ...]
    text: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    needs: tuple[Routine, ...]
    seldom: bool = False

    def module(self, language: str, decorator: str = "") -> str:
        """The source of a module with this function alone."""
        head = [f"from {language} import *", "import math", *self.tables]
        return "\n".join([*head, "\n", *([decorator] if decorator else []), self.text]) + "\n"


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
def _source(function: Callable) -> str:
    return textwrap.dedent(inspect.getsource(function))


def definition(function: Callable) -> ast.FunctionDef:
    """The syntax tree of a function, a new one each time."""
    (found,) = ast.parse(_source(function)).body
    assert isinstance(found, ast.FunctionDef)
    returns = [node for node in ast.walk(found) if isinstance(node, ast.Return)]
    if returns != found.body[-1:]:
        raise ValueError(f"{found.name}: a routine has one return, which comes last")
    return found


@cache
def is_long(function: Callable) -> bool:
    """Whether a function is worth a call."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(definition(function))) - 1 > LONG


def types_of(annotations: Mapping[str, ast.expr | None]) -> dict[str, str]:
    """The types of annotated names; float64 where nothing is said."""
    return {name: TYPES[ast.unparse(each)] if each else "f8" for name, each in annotations.items()}


def result_types(function: Callable) -> tuple[str, ...]:
    """The types of all results of a function."""
    match definition(function).returns:
        case ast.Subscript(_, ast.Tuple(parts)):
            return tuple(TYPES[ast.unparse(part)] for part in parts)
        case annotation:
            return (types_of({"": annotation})[""],)
