"""Functions of Python as they are written: their syntax, where it stands, and what their names stand for."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node

Definition = ast.FunctionDef | ast.Lambda
SOURCES = 256  # functions whose syntax is kept
NUMBERS = (bool, int, float)
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@final
@dataclass(frozen=True)
class Unclear:
    """What a name has after paths that do not agree: a Problem when it is read."""

    reason: str


class Problem(Exception):
    """What cannot be made into a graph; whoever interprets the statement says where it stands."""


@final
@dataclass(frozen=True, eq=False)
class Written:
    """A function: its syntax, its file, the values of its defaults, and a look-up of names that are not its own.

    ``qualified`` is its name with that of its module, if it has one.
    """

    tree: Definition
    file: str
    look: Callable[[str], Any]
    defaults: Mapping[str, Any]
    qualified: str = ""

    @cached_property
    def name(self) -> str:
        return getattr(self.tree, "name", "a lambda")

    @cached_property
    def body(self) -> Sequence[ast.stmt]:
        """Its statements; that of a lambda returns its value."""
        if isinstance(self.tree, ast.FunctionDef):
            return self.tree.body
        return [ast.copy_location(ast.Return(self.tree.body), self.tree.body)]

    @cached_property
    def parameters(self) -> list[str]:
        arguments = self.tree.args
        return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

    @cached_property
    def own(self) -> frozenset[str]:
        """The names that it gives values to."""
        return frozenset([*self.parameters, *stored(self.body)])

    def bound(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each parameter in a call."""
        arguments = self.tree.args
        by_place = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        by_name = {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}
        if len(args) > len(by_place):
            raise Problem(f"{self.name} takes {len(by_place)} arguments by position, {len(args)} are given")
        found = dict(zip(by_place, args, strict=False))
        for word, value in keywords.items():
            if word in found or word not in by_name:
                raise Problem(f"{self.name} is given {word!r} {'twice' if word in found else ', which it has not'}")
            found[word] = value
        missing = [each for each in self.parameters if each not in found and each not in self.defaults]
        if missing:
            raise Problem(f"{self.name} is not given {', '.join(missing)}")
        return {**self.defaults, **found}

    def place(self, node: ast.AST) -> str:
        """Where something of it is written."""
        return f"{self.file}:{getattr(node, 'lineno', self.tree.lineno)}, in {self.name}"

    def refusal(self, node: ast.AST, reason: object) -> TypeError:
        """The error of what cannot be made into a graph."""
        return TypeError(f"{self.place(node)}: {reason}")


def stored(body: Sequence[ast.AST]) -> Iterator[str]:
    """The names that statements give values to, functions inside left out."""
    for node in within(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def within(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Statements and all in them, but what functions in them are made of."""
    for node in body:
        yield node
        yield from within([*ast.iter_child_nodes(node)] if not isinstance(node, INNER) else [])


def read(function: FunctionType) -> Written:
    """A function of Python as it is written; ``TypeError`` where its source is not to be had."""
    tree = _found(function.__code__, function.__code__.co_filename)
    if tree is None:
        name = function.__qualname__
        raise TypeError(f"{name}: its source is not to be had; write it in a file or a cell of a notebook")
    defaults = dict(function.__kwdefaults__ or {})
    by_place = [each.arg for each in (*tree.args.posonlyargs, *tree.args.args)]
    given = function.__defaults__ or ()
    defaults |= dict(zip(by_place[len(by_place) - len(given) :], given, strict=True))
    named = f"{function.__module__}.{function.__qualname__}" if isinstance(tree, ast.FunctionDef) else ""
    return Written(tree, function.__code__.co_filename, _look(function), defaults, named)


@lru_cache(SOURCES)
def _found(code: CodeType, file: str) -> Definition | None:
    """The definition that a code object of a file is compiled from; one of several lambdas of a line by its columns."""
    try:
        lines, _ = inspect.findsource(code)
        module = ast.parse("".join(lines))
    except (OSError, SyntaxError):
        return None
    lambdas = []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if min(each.lineno for each in (node, *node.decorator_list)) == code.co_firstlineno:
                return node
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            lambdas += [node] if _holds(node.body, code) else []
    return lambdas[0] if len(lambdas) == 1 else None


def _holds(body: ast.expr, code: CodeType) -> bool:
    """Whether all that a code object does is written in an expression."""
    found = [each for each in code.co_positions() if None not in each and each[2:] != (0, 0)]
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(first <= (line, column) and (end, behind) <= last for line, end, column, behind in found)  # type: ignore[operator]


def _look(function: FunctionType) -> Callable[[str], Any]:
    """What a name that a function does not own stands for now; ``NameError`` where it has no value yet."""

    def look(name: str) -> Any:
        if name in function.__code__.co_freevars:
            try:
                cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
                return constant(cell.cell_contents)
            except ValueError:
                raise NameError(name) from None
        for scope in (function.__globals__, vars(builtins)):
            if name in scope:
                return constant(scope[name])
        raise NameError(name)

    return look


def constant(value: Any) -> Any:
    """What stands outside of functions, as they may read it; a Problem for what they may not."""
    if isinstance(value, np.generic):
        return constant(value.item())
    if isinstance(value, list | tuple):
        return tuple([constant(each) for each in value])
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf" or not value.ndim:
                raise Problem(f"an array of dtype {value.dtype} and {value.ndim} axes is no table of numbers")
        return value
    if value is None or isinstance(value, (*NUMBERS, range, Node, ModuleType)) or callable(value):
        return value
    raise Problem(
        f"{described(value)} cannot be read here; numbers can, tuples, lists and arrays of them, functions, modules: "
        "give anything else as an argument"
    )


def described(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, Unclear):
        return value.reason
    if value is None:
        return "None"
    if isinstance(value, Node):
        return "a number that is known only when it runs"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
