"""Routines put in the place of their calls, down to functions that are long enough to be called.

A call is a line ``name = type(routine(arguments))``.  In its place come the statements of the routine, in float64 and
with names of their own, and in the place of each call in those the statements of the function called, or a call of it
as a function of its own, which is shorter to read and, on CUDA, compiled once for all kernels.  What functions of the
same arguments computed is used again, where that is certain to come after it.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, final

from vecdist.codegen.pruning import UNUSED, pruned
from vecdist.codegen.routines import Routine, definition, is_long, is_routine, result_types, types_of
from vecdist.codegen.statements import INDENT
from vecdist.primitives.table import PRIMITIVES

Made = TypeVar("Made")

ALONE = frozenset({0})  # the one result of most functions


def inlined(texts: Iterable[str]) -> tuple[list[str], tuple[Routine, ...]]:
    """Generated source without calls of primitives' routines, and the functions that it calls instead.

    The first line imports, and what routines need comes after it.
    """
    first, *rest = [line for text in texts for line in text.split("\n")]
    writer, body = _settled(lambda writer: [line for text in rest for line in writer.line(text)])
    if not writer.calls:
        return [first, *body], ()
    return [first, "import math", *writer.table_lines(), *body], tuple(writer.routines.values())


@cache
def routine(function: Callable, used: frozenset[int], seldom: bool = False) -> Routine:
    """A function as one of generated source, with these of its results."""
    tree = definition(function)
    parameters = types_of({argument.arg: argument.annotation for argument in tree.args.args})
    writer, body = _settled(lambda writer: _Body(writer, function, list(parameters), used=used))
    lines = [*body.lines, f"return {', '.join(ast.unparse(body.results[place]) for place in sorted(used))}"]
    text = "\n".join([f"({', '.join(parameters)}):", *(INDENT + line for line in lines)])
    tables = tuple(writer.table_lines())
    name = f"{tree.name.strip('_')}_{hashlib.sha256(repr((text, tables, seldom)).encode()).hexdigest()[:12]}"
    results = tuple(kind for place, kind in enumerate(result_types(function)) if place in used)
    needs = tuple(writer.routines.values())
    return Routine(name, tables, f"def {name}{text}", tuple(parameters.values()), results, needs, seldom)


def _settled(write: Callable[[_Writer], Made]) -> tuple[_Writer, Made]:
    """What is written where each call is known to give all that any of its users needs of it."""
    wanted: dict[tuple, frozenset[int]] = {}
    while True:
        writer = _Writer(wanted, dict(wanted))
        made = write(writer)
        if writer.asked == wanted:
            return writer, made
        wanted = writer.asked


@final
@dataclass
class _Writer:
    """What has been written: how many calls, the tables and functions in use, and by depth results to be used again.

    ``wanted`` says which results of a function of these arguments are used, ``asked`` that and what was found beside.
    """

    wanted: dict[tuple, frozenset[int]]
    asked: dict[tuple, frozenset[int]]
    calls: int = 0
    tables: dict[str, tuple] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    known: list[tuple[int, dict[tuple, dict[int, ast.expr]]]] = field(default_factory=lambda: [(-1, {})])

    def line(self, text: str) -> Iterator[str]:
        """A line, or the statements of the routine that it calls."""
        code = text.lstrip()
        depth = len(text) - len(code)
        while code and self.known[-1][0] > depth:
            self.known.pop()
        words = code.replace("(", " ").split()
        if len(words) < 4 or words[1] != "=" or not is_routine(words[3]):
            yield text
            return
        if self.known[-1][0] < depth:
            self.known.append((depth, {}))
        (assign,) = ast.parse(code).body
        assert isinstance(assign, ast.Assign)
        match assign.value:
            case ast.IfExp(test, ast.Call(_, [ast.Call(_, arguments)]), usual):
                yield f"{text[:depth]}if {ast.unparse(test)}:"
                yield from self.put(words, arguments, text[:depth] + INDENT, certain=False)
                yield f"{text[:depth]}else:"
                yield f"{text[:depth]}{INDENT}{words[0]} = {ast.unparse(usual)}"
            case ast.Call(_, [ast.Call(_, arguments)]):
                yield from self.put(words, arguments, text[:depth])

    def put(self, words: Sequence[str], arguments: Sequence[ast.expr], pad: str, certain: bool = True) -> Iterator[str]:
        """The statements of a call, in the place of a line of these words."""
        function = PRIMITIVES[words[3]].routine
        assert function is not None
        given = [f"f8({ast.unparse(argument)})" for argument in arguments]
        lines, results = self.computed(function, given, ALONE, certain, seldom=not certain)
        yield from (pad + line for line in lines)
        yield f"{pad}{words[0]} = {words[2]}({ast.unparse(results[0])})"

    def computed(
        self, function: Callable, arguments: Sequence[str], used: frozenset[int], certain: bool = True,
        seldom: bool = False,
    ) -> tuple[list[str], dict[int, ast.expr]]:
        """The lines that compute a function, and its results; one that is seldom wanted keeps its registers apart."""
        if not (seldom or is_long(function)):
            body = _Body(self, function, arguments, used=used, certain=certain)
            return body.lines, body.results
        called = routine(function, used, seldom)
        self.routines[called.name] = called
        prefix = self.prefix()
        names = {place: f"{prefix}{place}" for place in sorted(used)}
        line = f"{', '.join(names.values())} = {called.name}({', '.join(arguments)})"
        return [line], {place: ast.Name(name, ast.Load()) for place, name in names.items()}

    def prefix(self) -> str:
        """What the names of one call begin with."""
        self.calls += 1
        return f"r{self.calls}_"

    def table(self, name: str, value: tuple) -> None:
        if self.tables.setdefault(name, value) != value:
            raise ValueError(f"two tables of routines are called {name}")

    def table_lines(self) -> Iterator[str]:
        return (f"{name} = {value!r}" for name, value in self.tables.items())


class _Body(ast.NodeTransformer):
    """The statements of one call, as lines, and the expressions that it returns, by place.

    ``tables`` are the arguments that are tables; ``certain`` says that the call runs whenever its line is reached.
    """

    def __init__(
        self,
        writer: _Writer,
        function: Callable,
        arguments: Sequence[str],
        tables: dict[str, tuple] | None = None,
        used: frozenset[int] = ALONE,
        certain: bool = True,
    ) -> None:
        tree = pruned(definition(function), used)
        self.writer = writer
        self.certain = certain
        outer = dict(inspect.getclosurevars(function).nonlocals)
        self.constants: ChainMap[str, Any] = ChainMap(dict(tables or {}), outer, function.__globals__)
        self.lines: list[str] = []
        self.pad = ""
        self.versions = 0
        self.prefix = writer.prefix()
        parameters = [argument.arg for argument in tree.args.args if argument.arg not in (tables or {})]
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_stored(node)}
        given = dict(zip(parameters, arguments, strict=True))
        self.sources = {name: text for name, text in given.items() if name not in stored}
        self.names = {name: self.prefix + name for name in (*parameters, *sorted(stored))}
        for name, text in given.items():
            if name in self.sources and text.isidentifier():
                self.names[name] = text
            else:
                self.lines.append(f"{self.names[name]} = {text}")
        *statements, last = tree.body
        self.block(item for item in statements if not _is_docstring(item))
        assert isinstance(last, ast.Return) and last.value is not None
        parts = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        self.results: dict[int, ast.expr] = {place: self.visit(parts[place]) for place in used}

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
                case ast.Assign([ast.Tuple(names)], ast.Call(ast.Name(), arguments) as call):
                    self.unpacked(names, call, arguments)
                case ast.Assign([ast.Tuple()], _):
                    self.several(self.visit(item))
                case _:
                    self.lines.append(self.pad + self.text(item))

    def several(self, item: ast.Assign) -> None:
        """An assignment to several names: one by one where none is read, as they are read best."""
        (names,), value = item.targets, item.value
        assert isinstance(names, ast.Tuple)
        read, written = ({node.id for node in ast.walk(side) if isinstance(node, ast.Name)} for side in (value, names))
        if not isinstance(value, ast.Tuple) or (read & written and len(names.elts) > 1):
            self.lines.append(self.pad + ast.unparse(item))
            return
        for name, part in zip(names.elts, value.elts, strict=True):
            self.lines.append(f"{self.pad}{ast.unparse(name)} = {ast.unparse(part)}")

    def unpacked(self, places: Sequence[ast.expr], call: ast.Call, arguments: Sequence[ast.expr]) -> None:
        """An assignment of a function's results to several names; what is called _ is not needed."""
        names = [place.id for place in places if isinstance(place, ast.Name)]
        function = self.function(call)
        assert function is not None and len(names) == len(places), ast.unparse(call)
        used = frozenset(place for place, name in enumerate(names) if name != UNUSED)
        results = self.called(function, arguments, used)
        targets: list[ast.expr] = [ast.Name(self.names[names[place]], ast.Store()) for place in sorted(used)]
        value = ast.Tuple([results[place] for place in sorted(used)])
        self.several(ast.Assign(targets=[ast.Tuple(targets)], value=value, lineno=0))

    def text(self, item: ast.AST) -> str:
        return ast.unparse(self.visit(item))

    def within(self, head: str, body: Iterable[ast.stmt]) -> None:
        self.lines.append(self.pad + head)
        self.pad += INDENT
        self.block(body)
        self.pad = self.pad[: -len(INDENT)]

    def unrolled(self, name: str, values: Sequence[float], body: Sequence[ast.stmt]) -> None:
        """A loop over a table, written out: its elements are constants of the program.

        Where nothing else changes the order, each copy has names of its own, and each name one value.
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

    def function(self, node: ast.Call) -> FunctionType | None:
        """The function of ours that is called."""
        found = self.constants.get(node.func.id) if isinstance(node.func, ast.Name) else None
        return found if isinstance(found, FunctionType) else None

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = self.function(node)
        if function is not None:
            return self.called(function, node.args, ALONE)[0]
        found = self.constants.get(node.func.id) if isinstance(node.func, ast.Name) else None
        in_math = isinstance(found, BuiltinFunctionType)
        name = ast.Attribute(ast.Name("math"), found.__name__) if in_math else node.func
        return ast.Call(name, [self.visit(argument) for argument in node.args], [])

    def called(
        self, function: FunctionType, arguments: Sequence[ast.expr], used: frozenset[int]
    ) -> dict[int, ast.expr]:
        """The results of another function: known ones, where its arguments are those of the routine itself."""
        named = [argument.id if isinstance(argument, ast.Name) else "" for argument in arguments]
        parameters = function.__code__.co_varnames
        tables = {p: self.constants[n] for p, n in zip(parameters, named, strict=False) if n and self.is_table(n)}
        values = [a for a, n in zip(arguments, named, strict=True) if not (n and self.is_table(n))]
        key = (function, *(self.sources.get(name) for name in named))
        certain = self.certain and not self.pad
        if None not in key:
            self.writer.asked[key] = used | self.writer.asked.get(key, frozenset())
            used = used | self.writer.wanted.get(key, frozenset())
            known = [found[key] for _, found in self.writer.known if used <= found.get(key, {}).keys()]
            if known:
                return known[0]
        given = [self.text(value) for value in values]
        if tables:
            inner = _Body(self.writer, function, given, tables, used, certain)
            lines, results = inner.lines, inner.results
        else:
            lines, results = self.writer.computed(function, given, used, certain)
        if None not in key and certain:
            self.writer.known[-1][1][key] = results
        self.lines += [self.pad + line for line in lines]
        return results


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_docstring(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def _number(value: float) -> str:
    """A number as text, infinite or not."""
    if math.isnan(value):
        return "math.nan"
    return repr(value) if abs(value) < math.inf else f"{'-' if value < 0 else ''}math.inf"
