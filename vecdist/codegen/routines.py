"""Routines as functions of generated source: written once, and called by every kernel that needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import final, get_args, get_type_hints

from vecdist.codegen import frontend
from vecdist.codegen.pruning import pruned
from vecdist.kernel.code import Function, Return, walk
from vecdist.kernel.statements import Operator
from vecdist.primitives.loops import Loop
from vecdist.primitives.table import PRIMITIVES

TYPES = {float: "f8", bool: "b1", int: "i8"}
LONG = 12  # statements: a function of more is called, one of fewer is put in the place of its calls

Tables = tuple[tuple[str, tuple], ...]
"""Tuples of numbers that functions read elements of, by name."""


@final
@dataclass(frozen=True, eq=False)
class Routine:
    """A function of float64 numbers, named by its content.

    ``parameters`` and ``results`` are types, as generated source names them; ``needs`` are the routines that it calls.
    One that is ``seldom`` called is not put in the place of its calls on a GPU, which would cost all threads registers;
    one that is ``apart`` is so nowhere, for there are many.
    """

    function: Function
    tables: Tables
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    needs: tuple[Routine, ...]
    seldom: bool = False
    apart: bool = False

    @property
    def name(self) -> str:
        return self.function.name

    def module(self, language: str, decorator: str = "") -> str:
        """The source of a module with this function alone."""
        return module((self.function,), self.tables, language, decorator)


def module(functions: Iterable[Function], tables: Tables, language: str, decorator: str) -> str:
    """The source of a module of functions, in the words of a language."""
    text = "\n\n\n".join(f"{decorator}\n{each}" if decorator else str(each) for each in functions)
    head = [f"from {language} import *", *(["import math"] if "math." in text else [])]
    return "\n".join([*head, *(f"{name} = {table!r}" for name, table in tables)]) + f"\n\n\n{text}\n"


def with_needs(routines: Iterable[Routine]) -> tuple[Routine, ...]:
    """Routines and all that they call, each once and behind what it calls."""
    found: dict[str, Routine] = {}
    for routine in routines:
        found |= {each.name: each for each in (*with_needs(routine.needs), routine)}
    return tuple(found.values())


def is_routine(op: Operator) -> bool:
    """Whether a statement of this operation becomes many."""
    return isinstance(op, Loop) or (isinstance(op, str) and op in PRIMITIVES and PRIMITIVES[op].routine is not None)


@cache
def code(function: Callable, used: frozenset[int]) -> Function:
    """What computes these results of a function."""
    found = frontend.function(function)
    returns = [item for item in walk(found.body) if isinstance(item, Return)]
    if len(returns) != 1 or found.body[-1] is not returns[0]:
        raise ValueError(f"{found.name}: a routine has one return, which comes last")
    return Function(found.name, found.parameters, pruned(found.body, used))


@cache
def is_long(function: Callable) -> bool:
    """Whether a function is worth a call."""
    return sum(1 for _ in walk(frontend.function(function).body)) + bool(function.__doc__) > LONG


def types_of(function: Callable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of a function's parameters and of all its results; float64 where nothing is said."""
    hints = get_type_hints(function)
    result = hints.get("return", float)
    parameters = [TYPES[hints.get(name, float)] for name in frontend.function(function).parameters]
    return tuple(parameters), tuple([TYPES[each] for each in get_args(result) or (result,)])
