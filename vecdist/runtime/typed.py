"""The types of generated code: what Numba's tables say of each expression, found in one walk over its statements.

Generated code has few words: assignments, choices, loops over ranges and while something holds, and calls.  Each name
has one type in a function, and so has each expression; they are known by identity, as functions hold them.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, final

from numba.core import types
from numba.core.extending import _Intrinsic

from vecdist.kernel.code import Code, Do, For, Function, If, Note, Return, Set, While
from vecdist.kernel.expressions import (
    ONE,
    ZERO,
    Attribute,
    Call,
    Choice,
    Constant,
    Element,
    Expr,
    Name,
    Operation,
    Several,
    spine,
)
from vecdist.runtime.integers import is_own, own_signature

OPERATORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "neg": operator.neg, "~": operator.invert, "not": operator.not_,
}  # fmt: skip
INSTRUCTIONS = {each for name, each in OPERATORS.items() if name not in {"//", "%", "**"}}
QUIET = {abs, math.isfinite, *INSTRUCTIONS}  # what is written in the place of its calls, and raises nothing
IN_TURN = {"and", "or"}  # which compute no more than they need

Type = Any  # of Numba, whose kinds of types have attributes of their own


@final
@dataclass(eq=False)
class Written:
    """A function of generated code, and what its names mean.

    ``merged`` ones are put in the place of their calls, ``apart`` ones never.  ``made`` is what it is for the types
    that it was last compiled for.
    """

    function: Function
    names: Mapping[str, Any]
    merged: bool = False
    apart: bool = False
    made: Any = None

    def typed(self, context: Any, arguments: Sequence[Type]) -> Typed:
        """The function for arguments of these types, by the tables of a target."""
        self.made = Types(context).function(self, arguments)
        return self.made

    def meaning(self, name: str) -> Any:
        """What a name means that is none of its own; of a function of generated code, what was written."""
        found = self.names[name] if name in self.names else getattr(builtins, name)
        return getattr(found, "written", found)


@final
@dataclass(eq=False)
class Exports:
    """Functions of one module that C calls at addresses, by symbols, with their types.

    The last arguments of all may be ``shared`` ones, which every function of these ``names`` finds where they lie.
    """

    functions: Mapping[str, tuple[Written, Sequence[Type]]]
    names: Mapping[str, Any]
    shared: Mapping[str, Type] = field(default_factory=dict)

    def typed(self, context: Any) -> dict[str, Typed]:
        """The functions by the tables of a target."""
        found = Types(context)
        return {symbol: found.function(written, given) for symbol, (written, given) in self.functions.items()}


def _is_plain(called: Any) -> bool:
    """Whether something that is called is an operation that Numba has no function for."""
    return called.is_plain if isinstance(called, Typed) else called[0] in INSTRUCTIONS


def _is_quiet(called: Any) -> bool:
    """Whether something that is called is written in the place of its call, or is quiet itself."""
    if isinstance(called, Typed):
        return called.is_quiet
    function, signature = called
    key = getattr(function, "typing_key", function)
    if key in {operator.getitem, operator.setitem}:
        return isinstance(signature.args[0], types.Array)
    return isinstance(key, _Intrinsic) or key in QUIET or is_own(key, signature)


@final
@dataclass(eq=False)
class Typed:
    """A function for arguments of certain types: the types of its names and expressions, and what its calls call.

    Expressions go by their ``id``: they live as long as the function.  An element may be read, and stored to elsewhere.
    """

    written: Written
    arguments: tuple[Type, ...]
    names: dict[str, Type]
    kinds: dict[int, Type] = field(default_factory=dict)
    calls: dict[int, Any] = field(default_factory=dict)
    stores: dict[int, Any] = field(default_factory=dict)
    result: Type = types.none

    @cached_property
    def is_quiet(self) -> bool:
        """Whether nothing in it is a function of Numba's, which tells of errors."""
        return all(map(_is_quiet, (*self.calls.values(), *self.stores.values())))

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a function of numbers that computes with instructions alone, of which none raises anything."""
        results: Any = getattr(self.result, "types", (self.result,))  # of a tuple
        numbers = all(isinstance(each, types.Number | types.Boolean) for each in (*results, *self.arguments))
        whole = self.written.apart or self.written.merged
        return whole and numbers and not self.stores and all(map(_is_plain, self.calls.values()))

    def of(self, item: Expr | For) -> Type:
        """The type of an expression, or of the index of a loop."""
        return self.kinds[id(item)]

    def called(self, item: Expr) -> Any:
        """What is called here: another such function, or one of Numba with its signature; ``None`` for conversions."""
        return self.calls.get(id(item))

    def stored(self, item: Element) -> Any:
        """What is called to store to an element."""
        return self.stores[id(item)]


@final
class Types:
    """The types of functions, by Numba's tables of one target."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._functions: dict[tuple[Written, tuple[Type, ...]], Typed] = {}

    def function(self, written: Written, arguments: Sequence[Type]) -> Typed:
        """A function for arguments of these types."""
        key = written, tuple(map(types.unliteral, arguments))
        if key not in self._functions:
            names = dict(zip(written.function.parameters, key[1], strict=True))
            self._functions[key] = _Walk(self, Typed(*key, names)).typed()
        return self._functions[key]

    def signature(self, function: Any, arguments: tuple[Type, ...]) -> Any:
        """The types that a function takes and gives, where it is called with these."""
        found = _signature(self.context, function, arguments)
        if found is None:
            raise TypeError(f"{function} does not take ({', '.join(map(str, arguments))})")
        return found


@lru_cache(maxsize=4096)
def _signature(context: Any, function: Any, arguments: tuple[Type, ...]) -> Any:
    """What Numba takes long to find, and finds for each kernel."""
    return own_signature(context, function, arguments) or context.resolve_function_type(function, arguments, {})


@final
class _Walk:
    """Statements in order, again while a name turns out to have a wider type."""

    def __init__(self, types_: Types, made: Typed) -> None:
        self.types, self.made = types_, made
        self.widened = False
        self.meanings: dict[str, Type] = {}  # the types of what is named and not its own

    def typed(self) -> Typed:
        self.widened = True
        while self.widened:
            self.widened = False
            self.made.kinds.clear()
            self.block(self.made.written.function.body)
        return self.made

    def expression(self, item: Expr) -> Type:
        kinds = self.made.kinds
        if id(item) not in kinds:
            for each in spine(item) if isinstance(item, Operation) else (item,):
                kinds[id(each)] = TABLE[type(each)](self, each)
        return kinds[id(item)]

    def several(self, items: Sequence[Expr]) -> tuple[Type, ...]:
        return tuple([self.expression(item) for item in items])

    def called(self, item: Expr, function: Any, arguments: tuple[Type, ...]) -> Type:
        signature = self.types.signature(function, arguments)
        self.made.calls[id(item)] = function, signature
        return signature.return_type

    def named(self, name: str, kind: Type) -> None:
        """A name that takes values of a type, beside those that it takes elsewhere; a number of its own is known."""
        kind = kind if isinstance(kind, types.IntegerLiteral) else types.unliteral(kind)
        before = self.made.names.get(name)
        if before is None:
            self.made.names[name] = kind
        elif before != kind:
            both = self.types.context.unify_types(before, kind)
            if both is None:
                raise TypeError(f"{name} is {before} and {kind} in {self.made.written.function.name}")
            self.widened |= both != before
            self.made.names[name] = both

    # statements

    def block(self, items: Sequence[Code]) -> None:
        for item in items:
            match item:
                case Set(Several(targets), Several(values)):
                    for target, kind in zip(targets, self.several(values), strict=True):
                        self.stored(target, kind)
                case Set(target, value):
                    self.stored(target, self.expression(value))
                case Do(call):
                    self.expression(call)
                case If(test, body, orelse):
                    self.expression(test)
                    self.block(body)
                    self.block(orelse)
                case While(test, body):
                    self.expression(test)
                    self.block(body)
                case For():
                    self.loop(item)
                case Return(value):
                    self.made.result = types.none if value is None else types.unliteral(self.expression(value))
                case Note():
                    pass
                case _:
                    raise TypeError(f"{item} is no code")

    def stored(self, target: Expr, kind: Type) -> None:
        match target:
            case Name(name):
                self.named(name, kind)
            case Several(targets):
                for each, part in zip(targets, kind.types, strict=True):
                    self.stored(each, part)
            case Element(array, index):
                given = self.expression(array), types.unliteral(self.expression(index)), types.unliteral(kind)
                self.made.stores[id(target)] = operator.setitem, self.types.signature(operator.setitem, given)

    def loop(self, item: For) -> None:
        each = tuple(map(types.unliteral, self.several(bounds(item))))
        given = each if item.step is not None else each[1:2] if item.start == ZERO else each[:2]
        series = self.types.signature(self.types.context.resolve_value_type(range), given)
        self.made.kinds[id(item)] = kind = series.return_type.dtype
        self.named(item.index, kind)
        self.block(item.body)

    # expressions

    def constant(self, item: Constant) -> Type:
        return types.maybe_literal(item.value) or self.types.context.resolve_value_type(item.value)

    def name(self, item: Name) -> Type:
        found = self.made.names.get(item.id) or self.meanings.get(item.id)
        if found is None:
            meaning = self.made.written.meaning(item.id)
            found = self.meanings[item.id] = self.types.context.resolve_value_type(meaning)
        return found

    def attribute(self, item: Attribute) -> Type:
        found = self.types.context.resolve_getattr(self.expression(item.of), item.name)
        if found is None:
            raise TypeError(f"{item} has no type")
        return found

    def tuple_of(self, item: Several) -> Type:
        return types.BaseTuple.from_types([types.unliteral(each) for each in self.several(item.items)])

    def operation(self, item: Operation) -> Type:
        given = self.several(item.args)
        if item.op in IN_TURN:
            return types.boolean
        if item.op == "neg" and isinstance(given[0], types.IntegerLiteral):
            return types.literal(-given[0].literal_value)
        return self.called(item, OPERATORS[item.op], tuple(map(types.unliteral, given)))

    def choice(self, item: Choice) -> Type:
        self.expression(item.test)
        yes, no = map(types.unliteral, self.several((item.yes, item.no)))
        both = self.types.context.unify_types(yes, no)
        if both is None:
            raise TypeError(f"{item} is {yes} or {no}")
        return both

    def element(self, item: Element) -> Type:
        array, index = self.expression(item.array), self.expression(item.index)
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return elements(array)[index.literal_value]
        return self.called(item, operator.getitem, (array, types.unliteral(index)))

    def call(self, item: Call) -> Type:
        given = self.several(item.args)
        if isinstance(item.function, Name) and item.function.id not in self.made.names:
            meaning = self.made.written.meaning(item.function.id)
            if isinstance(meaning, Written):
                inner = self.types.function(meaning, given)
                self.made.calls[id(item)] = inner
                return inner.result
        function = self.expression(item.function)
        if isinstance(function, types.NumberClass):
            return function.instance_type
        return self.called(item, function, given)


TABLE: dict[type[Expr], Callable[[_Walk, Any], Type]] = {
    Constant: _Walk.constant, Name: _Walk.name, Attribute: _Walk.attribute, Several: _Walk.tuple_of,
    Operation: _Walk.operation, Choice: _Walk.choice, Element: _Walk.element, Call: _Walk.call,
}  # fmt: skip


def bounds(loop: For) -> tuple[Expr, Expr, Expr]:
    """Where a loop starts, where it stops, and its step."""
    return loop.start, loop.stop, loop.step or ONE


def forget(names: Mapping[str, Any]) -> None:
    """Let go of what compiling functions needs: several megabytes, which are found again from their statements."""
    for value in names.values():
        written = getattr(value, "written", value)
        if isinstance(written, Written):
            written.made = None


def elements(kind: Type) -> tuple[Type, ...]:
    """The types of the elements of a tuple."""
    return kind.types
