"""Routines put in the place of their calls: a CUDA kernel that calls another device function needs a driver to compile.

A call is a line ``name = type(routine(arguments))``.  In its place come the statements of the routine, in float64 and
with names of their own, and in the place of each call in those the statements of the function called.  What functions
of the same arguments computed is used again, where that is certain to come after it.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any, final

from vecdist.codegen.statements import INDENT
from vecdist.primitives import PRIMITIVES


def inlined(texts: Iterable[str]) -> list[str]:
    """Generated source without calls of routines; the first line imports, and what routines need comes after it."""
    writer = _Writer()
    first, *rest = [line for text in texts for line in text.split("\n")]
    body = [line for text in rest for line in writer.line(text)]
    if not writer.calls:
        return [first, *body]
    return [first, "import math", *(f"{name} = {value!r}" for name, value in writer.tables.items()), *body]


def is_routine(op: str) -> bool:
    """Whether a statement of this operation becomes many."""
    return op in PRIMITIVES and PRIMITIVES[op].routine is not None


@cache
def _source(function: Callable) -> str:
    return inspect.getsource(function)


def _definition(function: Callable) -> ast.FunctionDef:
    """The syntax tree of a function, a new one each time."""
    (definition,) = ast.parse(_source(function)).body
    assert isinstance(definition, ast.FunctionDef)
    returns = [node for node in ast.walk(definition) if isinstance(node, ast.Return)]
    if returns != definition.body[-1:]:
        raise ValueError(f"{definition.name}: a routine has one return, which comes last")
    return definition


@final
@dataclass
class _Writer:
    """What has been written: how many calls, the tables in use, and by depth the results that may be used again."""

    calls: int = 0
    tables: dict[str, tuple] = field(default_factory=dict)
    known: list[tuple[int, dict[tuple, ast.expr]]] = field(default_factory=list)

    def line(self, text: str) -> Iterator[str]:
        """A line, or the statements of the routine that it calls."""
        code = text.lstrip()
        depth = len(text) - len(code)
        while code and self.known and self.known[-1][0] > depth:
            self.known.pop()
        words = code.replace("(", " ").split()
        if len(words) < 4 or words[1] != "=" or not is_routine(words[3]):
            yield text
            return
        if not self.known or self.known[-1][0] < depth:
            self.known.append((depth, {}))
        (assign,) = ast.parse(code).body
        assert isinstance(assign, ast.Assign) and isinstance(assign.value, ast.Call)
        (call,) = assign.value.args
        assert isinstance(call, ast.Call)
        routine = PRIMITIVES[words[3]].routine
        assert routine is not None
        body = _Body(self, routine, [f"f8({ast.unparse(argument)})" for argument in call.args])
        yield from (text[:depth] + line for line in body.lines)
        yield f"{text[:depth]}{words[0]} = {words[2]}({ast.unparse(body.result)})"

    def prefix(self) -> str:
        """What the names of one call begin with."""
        self.calls += 1
        return f"r{self.calls}_"

    def table(self, name: str, value: tuple) -> None:
        if self.tables.setdefault(name, value) != value:
            raise ValueError(f"two tables of routines are called {name}")


class _Body(ast.NodeTransformer):
    """The statements of one call, as lines, and the expression that it returns.

    ``tables`` are the arguments that are tables; ``certain`` says that the call runs whenever its line is reached.
    """

    def __init__(
        self,
        writer: _Writer,
        function: Callable,
        arguments: Sequence[str],
        tables: dict[str, tuple] | None = None,
        certain: bool = True,
    ) -> None:
        definition = _definition(function)
        self.writer = writer
        self.certain = certain
        self.constants: ChainMap[str, Any] = ChainMap(dict(tables or {}), function.__globals__)
        self.lines: list[str] = []
        self.pad = ""
        self.versions = 0
        self.prefix = writer.prefix()
        parameters = [argument.arg for argument in definition.args.args if argument.arg not in (tables or {})]
        stored = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and _is_stored(node)}
        given = dict(zip(parameters, arguments, strict=True))
        self.sources = {name: text for name, text in given.items() if name not in stored}
        self.names = {name: self.prefix + name for name in (*parameters, *sorted(stored))}
        for name, text in given.items():
            if name in self.sources and text.isidentifier():
                self.names[name] = text
            else:
                self.lines.append(f"{self.names[name]} = {text}")
        *statements, last = definition.body
        self.block(item for item in statements if not _is_docstring(item))
        assert isinstance(last, ast.Return) and last.value is not None
        self.result: ast.expr = self.visit(last.value)

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for item in statements:
            match item:
                case ast.If(test, body, orelse):
                    self.within(f"if {self.text(test)}:", body)
                    if orelse:
                        self.within("else:", orelse)
                case ast.Assign(targets, ast.IfExp(test, yes, no)):
                    first, second = (ast.Assign([*targets], value, lineno=0) for value in (yes, no))
                    self.block([ast.If(test, [first], [second])])
                case ast.While(test, body, []):
                    before = len(self.lines)
                    self.within(f"while {self.text(test)}:", body)
                    assert self.lines[before].startswith(f"{self.pad}while"), "the test of a loop calls no function"
                case ast.For(ast.Name(name), ast.Name(table), body, []) if self.is_table(table):
                    self.unrolled(name, self.constants[table], body)
                case ast.For(target, series, body, []):
                    self.within(f"for {self.text(target)} in {self.text(series)}:", body)
                case ast.Assign([ast.Tuple()], _):
                    self.several(self.visit(item))
                case _:
                    self.lines.append(self.pad + self.text(item))

    def several(self, item: ast.Assign) -> None:
        """An assignment to several names: one by one where none is read, for Numba is slow at tuples."""
        (names,), value = item.targets, item.value
        assert isinstance(names, ast.Tuple)
        read, written = ({node.id for node in ast.walk(side) if isinstance(node, ast.Name)} for side in (value, names))
        if not isinstance(value, ast.Tuple) or read & written:
            self.lines.append(self.pad + ast.unparse(item))
            return
        for name, part in zip(names.elts, value.elts, strict=True):
            if not ast.unparse(name).endswith("__"):  # what is called _ is not needed
                self.lines.append(f"{self.pad}{ast.unparse(name)} = {ast.unparse(part)}")

    def text(self, item: ast.AST) -> str:
        return ast.unparse(self.visit(item))

    def within(self, head: str, body: Iterable[ast.stmt]) -> None:
        self.lines.append(self.pad + head)
        self.pad += INDENT
        self.block(body)
        self.pad = self.pad[: -len(INDENT)]

    def unrolled(self, name: str, values: Sequence[float], body: Sequence[ast.stmt]) -> None:
        """A loop over a table, written out: its elements are constants of the program.

        Where nothing else changes the order, each copy has names of its own: Numba is slow at names with many values.
        """
        own = not self.pad and all(isinstance(item, ast.Assign) for item in body)
        copies = [ast.parse(ast.unparse(list(body))).body for _ in values]  # type: ignore[arg-type]
        del self.names[name]
        for value, copy in zip(values, copies, strict=True):
            self.constants[name] = value
            for item in copy:
                match item:
                    case ast.Assign([ast.Name(target)], expression) if own:
                        self.renamed(target, self.visit(expression))
                    case _:
                        self.block([item])

    def renamed(self, name: str, value: ast.expr) -> None:
        """A variable under a new name from here on."""
        self.versions += 1
        self.names[name] = f"{self.prefix}{name}__{self.versions}"
        self.lines.append(f"{self.names[name]} = {ast.unparse(value)}")

    def is_table(self, name: str) -> bool:
        return name not in self.names and isinstance(self.constants.get(name), tuple)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return ast.Name(self.names[node.id])
        value = self.constants.get(node.id)
        if isinstance(value, tuple):
            self.writer.table(node.id, value)
        elif isinstance(value, float | int):
            return ast.parse(_number(value), mode="eval").body
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = self.constants.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(function, FunctionType):
            return self.called(function, node.args)
        in_math = isinstance(function, BuiltinFunctionType)
        name = ast.Attribute(ast.Name("math"), function.__name__) if in_math else node.func
        return ast.Call(name, [self.visit(argument) for argument in node.args], [])

    def called(self, function: FunctionType, arguments: Sequence[ast.expr]) -> ast.expr:
        """The result of another function: one that is known, where its arguments are those of the routine itself."""
        named = [argument.id if isinstance(argument, ast.Name) else "" for argument in arguments]
        parameters = function.__code__.co_varnames
        tables = {p: self.constants[n] for p, n in zip(parameters, named, strict=False) if n and self.is_table(n)}
        values = [a for a, n in zip(arguments, named, strict=True) if not (n and self.is_table(n))]
        key = (function, *(self.sources.get(name) for name in named))
        known = [found[key] for _, found in self.writer.known if key in found]
        if known:
            return known[0]
        certain = self.certain and not self.pad
        inner = _Body(self.writer, function, [self.text(value) for value in values], tables, certain)
        if None not in key and certain:
            self.writer.known[-1][1][key] = inner.result
        self.lines += [self.pad + line for line in inner.lines]
        return inner.result


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_docstring(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def _number(value: float) -> str:
    """A number as text, infinite or not."""
    if math.isnan(value):
        return "math.nan"
    return repr(value) if abs(value) < math.inf else f"{'-' if value < 0 else ''}math.inf"
