"""Routines put in the place of their calls, down to functions that are long enough to be called.

In the place of a call come the statements of the routine, in float64 and with names of their own, and in the place of
each call in those the statements of the function called, or a call of it as a function of its own, which is shorter to
read and, on CUDA, compiled once for all kernels.  What functions of the same arguments computed is used again, where
that is certain to come after it.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, final

from vecdist.codegen.pruning import UNUSED, pruned
from vecdist.codegen.routines import Definition, Routine, Table, definition, is_long, is_routine
from vecdist.kernel.code import Code, Each, For, Function, If, Return, Set, While, assigned, let, lines
from vecdist.kernel.expressions import Call, Choice, Constant, Expr, Name, Several, names, rewritten, word
from vecdist.primitives.table import PRIMITIVES

Made = TypeVar("Made")

ALONE = frozenset({0})  # the one result of most functions
FLOAT = Name("f8")

Results = dict[int, Expr]


def inlined(functions: Iterable[Function]) -> tuple[tuple[Function, ...], tuple[Table, ...], tuple[Routine, ...]]:
    """Functions without calls of primitives' routines, and the tables and functions that they need instead."""
    given = tuple(functions)
    writer, found = _settled(lambda writer: tuple([replace(f, body=writer.block(f.body)) for f in given]))
    return found, tuple(writer.tables.items()), tuple(writer.routines.values())


@cache
def routine(function: Callable, used: frozenset[int], seldom: bool = False) -> Routine:
    """A function as one of generated code, with these of its results."""
    whole = definition(function)
    given = [Name(name) for name in whole.parameters]
    writer, body = _settled(lambda writer: _Body(writer, function, given, used=used))
    results = [body.results[place] for place in sorted(used)]
    items = (*body.items, Return(results[0] if len(results) == 1 else Several(tuple(results))))
    tables, needs = tuple(writer.tables.items()), tuple(writer.routines.values())
    told = repr((*whole.parameters.values(), *lines(items), tables, seldom))
    name = f"{whole.name.strip('_')}_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    types = tuple(kind for place, kind in enumerate(whole.types) if place in used)
    made = Function(name, tuple(whole.parameters), items)
    return Routine(made, tables, tuple(whole.parameters.values()), types, needs, seldom)


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
    tables: dict[str, tuple[float, ...]] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    known: list[dict[tuple, Results]] = field(default_factory=lambda: [{}])

    def block(self, body: Sequence[Code]) -> tuple[Code, ...]:
        """Statements with those of routines in the place of their calls."""
        self.known.append({})
        found = tuple([new for item in body for new in self.statement(item)])
        self.known.pop()
        return found

    def statement(self, item: Code) -> Sequence[Code]:
        match item:
            case If(_, body, orelse):
                return (replace(item, body=self.block(body), orelse=self.block(orelse)),)
            case While(_, body) | For(_, _, body):
                return (replace(item, body=self.block(body)),)
            case Set(Name(name), Call(Name() as kind, (Call(Name(op), args),))) if is_routine(op):
                return self.put(name, kind, op, args)
            case Set(Name(name), Choice(test, Call(Name() as kind, (Call(Name(op), args),)), usual)) if is_routine(op):
                self.known.append({})
                wanted = self.put(name, kind, op, args, certain=False)
                self.known.pop()
                return (If(test, tuple(wanted), (let(name, usual),)),)
        return (item,)

    def put(self, name: str, kind: Name, op: str, args: Sequence[Expr], certain: bool = True) -> list[Code]:
        """The statements of a call."""
        function = PRIMITIVES[op].routine
        assert function is not None
        items, results = self.computed(function, [FLOAT(arg) for arg in args], ALONE, certain, seldom=not certain)
        return [*items, let(name, kind(results[0]))]

    def computed(
        self, function: Callable, arguments: Sequence[Expr], used: frozenset[int], certain: bool = True,
        seldom: bool = False,
    ) -> tuple[list[Code], Results]:
        """The statements that compute a function, and its results; one that is seldom wanted keeps registers apart."""
        if not (seldom or is_long(function)):
            body = _Body(self, function, arguments, used=used, certain=certain)
            return body.items, body.results
        called = routine(function, used, seldom)
        self.routines[called.name] = called
        prefix = self.prefix()
        given = {place: Name(f"{prefix}{place}") for place in sorted(used)}
        target = Several(tuple(given.values())) if len(given) > 1 else next(iter(given.values()))
        return [Set(target, Name(called.name)(*arguments))], {**given}

    def prefix(self) -> str:
        """What the names of one call begin with."""
        self.calls += 1
        return f"r{self.calls}_"

    def table(self, name: str, value: tuple[float, ...]) -> None:
        if self.tables.setdefault(name, value) != value:
            raise ValueError(f"two tables of routines are called {name}")


class _Body:
    """The statements of one call, and the expressions that it returns, by place.

    ``tables`` are the arguments that are tables; ``certain`` says that the call runs whenever its block is reached.
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
        whole: Definition = definition(function)
        wanted = {place: whole.results[place] for place in used}
        body = pruned(whole.body, tuple(wanted.values()))
        self.writer, self.certain = writer, certain
        outer = dict(inspect.getclosurevars(function).nonlocals)
        self.constants: ChainMap[str, Any] = ChainMap(dict(tables or {}), outer, function.__globals__)
        self.items: list[Code] = []
        self.depth = self.versions = 0
        self.prefix = writer.prefix()
        parameters = [name for name in whole.parameters if name not in (tables or {})]
        stored = assigned(body)
        given = dict(zip(parameters, arguments, strict=True))
        self.sources = {name: value for name, value in given.items() if name not in stored}
        self.names: dict[str, Name] = {name: Name(self.prefix + name) for name in (*parameters, *sorted(stored))}
        for name, value in given.items():
            if name in self.sources and isinstance(value, Name):
                self.names[name] = value
            else:
                self.items.append(Set(self.names[name], value))
        self.block(body)
        self.results: Results = {place: self.visit(wanted[place]) for place in used}

    def block(self, body: Iterable[Code]) -> None:
        for item in body:
            self.statement(item)

    def statement(self, item: Code) -> None:
        match item:
            case If(test, body, orelse):
                test = self.visit(test)
                self.items.append(If(test, self.within(body), self.within(orelse)))
            case Set(target, Choice(test, yes, no)):
                self.statement(If(test, (Set(target, yes),), (Set(target, no),)))
            case While(test, body):
                before = len(self.items)
                test = self.visit(test)
                assert len(self.items) == before, "the test of a loop calls no function"
                self.items.append(While(test, self.within(body)))
            case Each(index, Name(table), body):
                self.unrolled(index, self.constants[table], body)
            case For(index, stop, body, start, step):
                start, stop = self.visit(start), self.visit(stop)
                step = None if step is None else self.visit(step)
                self.items.append(For(self.names[index].id, stop, self.within(body), start, step))
            case Set(Several(targets), Call(Name(), arguments) as call):
                self.unpacked(targets, call, arguments)
            case Set(Several() as targets, value):
                self.several(self.renaming(targets), self.visit(value))
            case Set(Name() as target, value):
                self.items.append(Set(self.renaming(target), self.visit(value)))
            case _:
                raise SyntaxError(f"a routine has no {type(item).__name__}")

    def renaming(self, target: Expr) -> Any:
        return rewritten(target, lambda part: self.names.get(part.id, part) if isinstance(part, Name) else None)

    def several(self, targets: Several, value: Expr) -> None:
        """An assignment to several names: one by one where none is read, as they are read best."""
        if not isinstance(value, Several) or (len(targets.items) > 1 and {*names(targets)} & {*names(value)}):
            self.items.append(Set(targets, value))
            return
        for target, part in zip(targets.items, value.items, strict=True):
            assert isinstance(target, Name)
            self.items.append(Set(target, part))

    def unpacked(self, targets: Sequence[Expr], call: Call, arguments: Sequence[Expr]) -> None:
        """An assignment of a function's results to several names; what is called _ is not needed."""
        given = [target.id for target in targets if isinstance(target, Name)]
        function = self.function(call)
        assert function is not None and len(given) == len(targets), str(call)
        used = frozenset(place for place, name in enumerate(given) if name != UNUSED)
        results = self.called(function, arguments, used)
        targets, values = zip(*[(self.names[given[place]], results[place]) for place in sorted(used)], strict=True)
        self.several(Several(targets), Several(values))

    def within(self, body: Iterable[Code]) -> tuple[Code, ...]:
        outside, self.items = self.items, []
        self.depth += 1
        self.block(body)
        self.depth -= 1
        inside, self.items = self.items, outside
        return tuple(inside)

    def unrolled(self, name: str, table: Sequence[float], body: Sequence[Code]) -> None:
        """A loop over a table, written out: its elements are constants of the program.

        Where nothing else changes the order, each copy has names of its own, and each name one value.
        """
        own = not self.depth and all(isinstance(item, Set) for item in body)
        del self.names[name]
        for value in table:
            self.constants[name] = value
            for item in body:
                match item:
                    case Set(Name(target), expression) if own:
                        self.renamed(target, self.visit(expression))
                    case _:
                        self.statement(item)

    def renamed(self, name: str, value: Expr) -> None:
        """A variable under a new name from here on."""
        self.versions += 1
        self.names[name] = Name(f"{self.prefix}{name}__{self.versions}")
        self.items.append(Set(self.names[name], value))

    def is_table(self, name: str) -> bool:
        return name not in self.names and isinstance(self.constants.get(name), tuple)

    def visit(self, whole: Expr) -> Expr:
        """An expression in the names of this call; functions that it calls come before."""
        return rewritten(whole, self.part)

    def part(self, part: Expr) -> Expr | None:
        match part:
            case Name(name) if name in self.names:
                return self.names[name]
            case Name(name):
                value = self.constants.get(name)
                if isinstance(value, tuple):
                    self.writer.table(name, value)
                return _number(value) if isinstance(value, float | int) else part
            case Call(Name(name), args):
                function = self.function(part)
                if function is not None:
                    return self.called(function, args, ALONE)[0]
                found = self.constants.get(name)
                called = word(f"math.{found.__name__}") if isinstance(found, BuiltinFunctionType) else part.function
                return Call(called, tuple([self.visit(arg) for arg in args]))
        return None

    def function(self, call: Call) -> FunctionType | None:
        """The function of ours that is called."""
        found = self.constants.get(call.function.id) if isinstance(call.function, Name) else None
        return found if isinstance(found, FunctionType) else None

    def called(self, function: FunctionType, arguments: Sequence[Expr], used: frozenset[int]) -> Results:
        """The results of another function: known ones, where its arguments are those of the routine itself."""
        named = [argument.id if isinstance(argument, Name) else "" for argument in arguments]
        parameters = function.__code__.co_varnames
        tables = {p: self.constants[n] for p, n in zip(parameters, named, strict=False) if n and self.is_table(n)}
        values = [a for a, n in zip(arguments, named, strict=True) if not (n and self.is_table(n))]
        key = (function, *(self.sources.get(name) for name in named))
        certain = self.certain and not self.depth
        if None not in key:
            self.writer.asked[key] = used | self.writer.asked.get(key, frozenset())
            used = used | self.writer.wanted.get(key, frozenset())
            known = [found[key] for found in self.writer.known if used <= found.get(key, {}).keys()]
            if known:
                return known[0]
        given = [self.visit(value) for value in values]
        if tables:
            inner = _Body(self.writer, function, given, tables, used, certain)
            items, results = inner.items, inner.results
        else:
            items, results = self.writer.computed(function, given, used, certain)
        if None not in key and certain:
            self.writer.known[-1][key] = results
        self.items += items
        return results


def _number(value: float) -> Expr:
    """A constant of a program, infinite or not."""
    if math.isfinite(value):
        return Constant(value)
    name = word("math.nan" if math.isnan(value) else "math.inf")
    return -name if value < 0 else name
