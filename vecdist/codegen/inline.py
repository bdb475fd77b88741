"""Routines put in the place of their calls, down to functions that are long enough to be called.

A call is a statement ``name = type(routine(arguments))``.  In its place come the statements of the routine, in float64
and with names of their own, and in the place of each call in those the statements of the function called, or a call of
it as a function of its own, which is shorter to read and, on CUDA, compiled once for all kernels.  What functions of
the same arguments computed is used again, where that is certain to come after it.
"""

from __future__ import annotations

import hashlib
from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, final

from vecdist.codegen.pruning import UNUSED
from vecdist.codegen.routines import Routine, Tables, code, is_long, is_routine, types_of
from vecdist.kernel.code import Code, For, Function, If, Note, Return, Set, While, assigned, let, mapped, with_bodies
from vecdist.kernel.expressions import (
    Call,
    Choice,
    Constant,
    Element,
    Expr,
    Name,
    Several,
    names,
    rewritten,
    word,
)
from vecdist.primitives.table import PRIMITIVES

Made = TypeVar("Made")

ALONE = frozenset({0})  # the one result of most functions


def inlined(functions: Sequence[Function]) -> tuple[tuple[Function, ...], Tables, tuple[Routine, ...]]:
    """Functions without calls of primitives' routines, and the tables and functions that they need instead."""
    writer, bodies = _settled(lambda writer: [writer.block(each.body) for each in functions])
    made = [Function(each.name, each.parameters, body) for each, body in zip(functions, bodies, strict=True)]
    return tuple(made), tuple(writer.tables.items()), tuple(writer.routines.values())


@cache
def routine(function: Callable, used: frozenset[int], seldom: bool = False) -> Routine:
    """A function as one of generated source, with these of its results."""
    parameters = code(function, used).parameters
    writer, body = _settled(lambda writer: _Body(writer, function, [*map(Name, parameters)], used=used))
    results = tuple([body.results[place] for place in sorted(used)])
    items = (*body.items, Return(results[0] if len(results) == 1 else Several(results)))
    tables = tuple(writer.tables.items())
    told = repr((str(Function("", parameters, items)), tables, seldom))
    name = f"{function.__name__.strip('_')}_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    given, kinds = types_of(function)
    wanted = tuple([kind for place, kind in enumerate(kinds) if place in used])
    return Routine(Function(name, parameters, items), tables, given, wanted, tuple(writer.routines.values()), seldom)


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
    """What has been written: how many calls, the tables and functions in use, and by block results to be used again.

    ``wanted`` says which results of a function of these arguments are used, ``asked`` that and what was found beside.
    """

    wanted: dict[tuple, frozenset[int]]
    asked: dict[tuple, frozenset[int]]
    calls: int = 0
    tables: dict[str, tuple] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    known: list[dict[tuple, dict[int, Expr]]] = field(default_factory=lambda: [{}])

    def block(self, items: Sequence[Code]) -> tuple[Code, ...]:
        """Statements, with those of routines in the place of what calls them."""
        self.known.append({})
        found = [new for item in items for new in self.statement(item)]
        self.known.pop()
        return tuple(found)

    def statement(self, item: Code) -> Sequence[Code]:
        match item:
            case Set(Name(name), Call(kind, (Call(Name(op), arguments),))) if is_routine(op):
                return self.put(name, kind, op, arguments)
            case Set(Name(name), Choice(test, Call(kind, (Call(Name(op), arguments),)), usual)) if is_routine(op):
                return [If(test, tuple(self.put(name, kind, op, arguments, certain=False)), (let(name, usual),))]
        return [with_bodies(item, self.block)]

    def put(self, name: str, kind: Expr, op: str, arguments: Sequence[Expr], certain: bool = True) -> list[Code]:
        """The statements of a call."""
        function = PRIMITIVES[op].routine
        assert function is not None
        given = [word("f8")(argument) for argument in arguments]
        items, results = self.computed(function, given, ALONE, certain, seldom=not certain)
        return [*([Note(op)] if items else []), *items, let(name, kind(results[0]))]

    def computed(
        self, function: Callable, arguments: Sequence[Expr], used: frozenset[int], certain: bool = True,
        seldom: bool = False,
    ) -> tuple[Sequence[Code], dict[int, Expr]]:
        """What computes a function, and its results; one that is seldom wanted keeps its registers apart."""
        if not (seldom or is_long(function)):
            body = _Body(self, function, arguments, used=used, certain=certain)
            return body.items, body.results
        called = routine(function, used, seldom)
        self.routines[called.name] = called
        prefix = self.prefix()
        results: dict[int, Expr] = {place: Name(f"{prefix}{place}") for place in sorted(used)}
        first, *others = results.values()
        target = Several((first, *others)) if others else first
        return [_given(target, Call(Name(called.name), tuple(arguments)))], results

    def prefix(self) -> str:
        """What the names of one call begin with."""
        self.calls += 1
        return f"r{self.calls}_"

    def table(self, name: str, value: tuple) -> None:
        if self.tables.setdefault(name, value) != value:
            raise ValueError(f"two tables of routines are called {name}")


@final
class _Body:
    """The statements of one call, and the expressions that it returns, by place.

    ``tables`` are the arguments that are tables; ``certain`` says that the call runs whenever its line is reached.
    """

    def __init__(
        self,
        writer: _Writer,
        function: Callable,
        arguments: Sequence[Expr],
        tables: dict[str, tuple] | None = None,
        used: frozenset[int] = ALONE,
        certain: bool = True,
    ) -> None:
        tables, written = tables or {}, code(function, used)
        self.writer = writer
        self.certain = certain
        outer = {name: cell.cell_contents for name, cell in _closure(function)}
        self.constants: ChainMap[str, Any] = ChainMap(tables, outer, function.__globals__)
        self.elements: dict[Expr, Expr] = {}  # of tables, in loops that are written out
        self.items: list[Code] = []
        self.whole = self.items
        self.versions = 0
        self.prefix = writer.prefix()
        parameters = [name for name in written.parameters if name not in tables]
        stored = assigned(written.body)
        given = dict(zip(parameters, arguments, strict=True))
        self.sources = {name: value for name, value in given.items() if name not in stored}
        self.names: dict[str, Expr] = {name: Name(self.prefix + name) for name in (*parameters, *stored)}
        for name, value in given.items():
            if name in self.sources and isinstance(value, Name):
                self.names[name] = value
            else:
                self.items.append(_given(self.names[name], value))
        *statements, last = written.body
        self.block(statements)
        assert isinstance(last, Return) and last.value is not None
        parts = last.value.items if isinstance(last.value, Several) else [last.value]
        self.results: dict[int, Expr] = {place: self.expression(parts[place]) for place in used}

    def block(self, items: Sequence[Code]) -> None:
        for item in items:
            match item:
                case If(test, body, orelse):
                    self.items.append(If(self.expression(test), self.inside(body), self.inside(orelse)))
                case Set(target, Choice(test, yes, no)):
                    self.block([If(test, (Set(target, yes),), (Set(target, no),))])
                case While(test, body):
                    before, test = len(self.items), self.expression(test)
                    assert len(self.items) == before, "the test of a loop calls no function"
                    self.items.append(While(test, self.inside(body)))
                case For(index, Call(Name("len"), (Name(table),)), body) if self.is_table(table):
                    self.unrolled(Element(Name(table), Name(index)), self.constants[table], body)
                case For(index, stop, body, start, step, masked):
                    start, stop = self.expression(start), self.expression(stop)
                    step = None if step is None else self.expression(step)
                    self.items.append(For(self.prefix + index, stop, self.inside(body), start, step, masked))
                case Set(Several(targets), Call(Name(), arguments) as call):
                    self.unpacked(targets, call, arguments)
                case Set(Several(targets), Several(values)):
                    self.several([*map(self.expression, targets)], [*map(self.expression, values)])
                case _:
                    self.items.append(mapped(item, self.expression))

    def inside(self, items: Sequence[Code]) -> tuple[Code, ...]:
        """A block inside a statement."""
        outer, self.items = self.items, []
        self.block(items)
        found, self.items = self.items, outer
        return tuple(found)

    def several(self, targets: Sequence[Expr], values: Sequence[Expr]) -> None:
        """An assignment to several names: one by one where none is read, as they are read best."""
        if len(targets) > 1 and not {*names(*targets)}.isdisjoint(names(*values)):
            self.items.append(Set(Several(tuple(targets)), Several(tuple(values))))
        else:
            self.items += map(_given, targets, values)

    def unpacked(self, places: Sequence[Expr], call: Call, arguments: Sequence[Expr]) -> None:
        """An assignment of a function's results to several names; what is called _ is not needed."""
        function = self.function(call)
        assert function is not None, str(call)
        used = frozenset(place for place, name in enumerate(places) if name != Name(UNUSED))
        if not used:
            return  # nobody asks for what it returns
        results = self.called(function, arguments, used)
        self.several([self.expression(places[place]) for place in sorted(used)], [results[p] for p in sorted(used)])

    def unrolled(self, element: Element, values: Sequence[float], body: Sequence[Code]) -> None:
        """A loop over a table, written out: its elements are constants of the program.

        Where nothing else changes the order, each copy has names of its own, and each name one value.
        """
        own = self.items is self.whole and all(isinstance(item, Set) for item in body)
        for value in values:
            self.elements[element] = Constant(value)
            for item in body:
                match item:
                    case Set(Name(target), expression) if own:
                        self.renamed(target, self.expression(expression))
                    case _:
                        self.block([item])

    def renamed(self, name: str, value: Expr) -> None:
        """A variable under a new name from here on."""
        self.versions += 1
        self.names[name] = new = Name(f"{self.prefix}{name}__{self.versions}")
        self.items.append(Set(new, value))

    def expression(self, whole: Expr) -> Expr:
        return rewritten(whole, self.meaning)

    def meaning(self, part: Expr) -> Expr | None:
        """What stands for a part of an expression."""
        match part:
            case Name(name):
                return self.names.get(name) or self.constant(name)
            case Element():
                return self.elements.get(part)
            case Call(Name(name), arguments):
                function = self.function(part)
                if function is not None:
                    return self.called(function, arguments, ALONE)[0]
                found = self.constants.get(name)
                called = word(f"math.{found.__name__}") if isinstance(found, BuiltinFunctionType) else Name(name)
                return Call(called, tuple(map(self.expression, arguments)))
        return None

    def constant(self, name: str) -> Expr:
        """A number from around the function; a table is read from where the functions of a kernel find it."""
        value = self.constants.get(name)
        if isinstance(value, tuple):
            self.writer.table(name, value)
        return Constant(value) if isinstance(value, float | int) else Name(name)

    def is_table(self, name: str) -> bool:
        return name not in self.names and isinstance(self.constants.get(name), tuple)

    def function(self, call: Call) -> FunctionType | None:
        """The function of ours that is called."""
        found = self.constants.get(call.function.id) if isinstance(call.function, Name) else None
        return found if isinstance(found, FunctionType) else None

    def called(self, function: FunctionType, arguments: Sequence[Expr], used: frozenset[int]) -> dict[int, Expr]:
        """The results of another function: known ones, where its arguments are those of the routine itself."""
        named = [argument.id if isinstance(argument, Name) else "" for argument in arguments]
        parameters = zip(function.__code__.co_varnames, named, strict=False)
        tables = {parameter: self.constants[name] for parameter, name in parameters if self.is_table(name)}
        key = (function, *map(self.sources.get, named))
        certain, writer = self.certain and self.items is self.whole, self.writer
        if None not in key:
            writer.asked[key] = used | writer.asked.get(key, frozenset())
            used = used | writer.wanted.get(key, frozenset())
            for known in writer.known:
                if used <= known.get(key, {}).keys():
                    return known[key]
        given = [self.expression(a) for a, name in zip(arguments, named, strict=True) if not self.is_table(name)]
        if tables:
            inner = _Body(writer, function, given, tables, used, certain)
            items, results = inner.items, inner.results
        else:
            items, results = writer.computed(function, given, used, certain)
        if None not in key and certain:
            writer.known[-1][key] = results
        self.items += items
        return results


def _given(target: Expr, value: Expr) -> Set:
    assert isinstance(target, Name | Element | Several)
    return Set(target, value)


def _closure(function: Callable) -> list[tuple[str, Any]]:
    found: Any = function
    return list(zip(found.__code__.co_freevars, found.__closure__ or (), strict=True))
