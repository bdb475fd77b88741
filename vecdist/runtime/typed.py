"""The types of generated code: what Numba's tables say of each expression, found in one walk over its statements.

Each name has one type in a function.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from numba.core import types

from vecdist.codegen.frontend import statements
from vecdist.kernel.code import Code, Do, For, If, Note, Return, Set, While
from vecdist.kernel.expressions import (
    Attribute,
    Call,
    Choice,
    Constant,
    Element,
    Expr,
    Name,
    Operation,
    Several,
)
from vecdist.runtime.sources import CODE, TEXT

OPERATORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "neg": operator.neg, "~": operator.invert, "not": operator.not_,
}  # fmt: skip


Type = Any  # of Numba, whose kinds of types have attributes of their own


@final
@dataclass(eq=False)
class Written:
    """A function of generated code; ``merged`` ones are put in the place of their calls, ``apart`` ones never.

    ``exports`` are functions of the same module that can be called at an address, by symbols, with their types.
    ``made`` is what it is for the types that it was last compiled for, and ``exported`` what those are.
    """

    function: Callable[..., Any]
    merged: bool = False
    apart: bool = False
    exports: dict[str, tuple[Written, Sequence[Type]]] = field(default_factory=dict)
    made: Any = None
    exported: dict[str, Typed] = field(default_factory=dict)

    def typed(self, context: Any, arguments: Sequence[Type]) -> Typed:
        """The function for arguments of these types, by the tables of a target, and what is exported beside it."""
        found = Types(context)
        self.made = found.function(self, arguments)
        self.exported = {symbol: found.function(each, given) for symbol, (each, given) in self.exports.items()}
        return self.made

    def __call__(self, *arguments: Any) -> Any:
        """What Python makes of it."""
        return self.function(*arguments)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def names(self) -> dict[str, Any]:
        """What its names mean."""
        return self.function.__globals__

    @property
    def parameters(self) -> list[str]:
        code = self.function.__code__
        return [*code.co_varnames[: code.co_argcount]]

    @property
    def body(self) -> tuple[Code, ...]:
        """Its statements; those of a module that is nothing but text are read once."""
        found: dict[str, tuple[Code, ...]] = self.names.setdefault(CODE, {})
        if self.name not in found:
            items = ast.parse(self.names[TEXT]).body
            (own,) = [item for item in items if isinstance(item, ast.FunctionDef) and item.name == self.name]
            found[self.name] = statements(own.body)
        return found[self.name]


@final
@dataclass(eq=False)
class Typed:
    """A function for arguments of certain types: the types of its names and expressions, and what its calls call.

    Expressions go by their ``id``: they live as long as the function.  What they call goes by its arguments, too, of
    which storing to an element has one more than reading it.
    """

    written: Written
    arguments: tuple[Type, ...]
    names: dict[str, Type]
    of: dict[int, Type] = field(default_factory=dict)
    calls: dict[tuple[int, int], tuple[Any, Any]] = field(default_factory=dict)
    result: Type = types.none


@final
class Types:
    """The types of functions, by Numba's tables of one target."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._functions: dict[tuple[Written, tuple[Type, ...]], Typed] = {}
        self._signatures: dict[tuple[Any, tuple[Type, ...]], Any] = {}

    def function(self, written: Written, arguments: Sequence[Type]) -> Typed:
        """A function for arguments of these types."""
        key = written, tuple(map(types.unliteral, arguments))
        if key not in self._functions:
            self._functions[key] = _Walk(self, Typed(*key, dict(zip(written.parameters, key[1], strict=True)))).typed()
        return self._functions[key]

    def signature(self, function: Any, arguments: tuple[Type, ...]) -> Any:
        """The types that a function takes and gives, where it is called with these."""
        key = function, arguments
        if key not in self._signatures:
            found = self.context.resolve_function_type(function, arguments, {})
            if found is None:
                raise TypeError(f"{function} does not take ({', '.join(map(str, arguments))})")
            self._signatures[key] = found
        return self._signatures[key]


@final
class _Walk:
    """Statements in order, again while a name turns out to have a wider type."""

    def __init__(self, types_: Types, made: Typed) -> None:
        self.types, self.made = types_, made
        self.widened = False

    def typed(self) -> Typed:
        self.widened = True
        while self.widened:
            self.widened = False
            self.block(self.made.written.body)
        return self.made

    def called(self, node: object, function: Any, arguments: tuple[Type, ...]) -> Type:
        signature = self.types.signature(function, arguments)
        self.made.calls[id(node), len(arguments)] = function, signature
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
                raise TypeError(f"{name} is {before} and {kind} in {self.made.written.name}")
            self.widened |= both != before
            self.made.names[name] = both

    def block(self, body: Sequence[Code]) -> None:
        for item in body:
            self.statement(item)

    def statement(self, item: Code) -> None:
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
            case For(index, stop, body, start, step):
                bounds = (start, stop) if step is None else (start, stop, step)
                series = self.types.signature(self.types.context.resolve_value_type(range), self.plain(bounds))
                self.made.of[id(item)] = kind = series.return_type.dtype
                self.named(index, kind)
                self.block(body)
            case Return(value):
                self.made.result = types.none if value is None else types.unliteral(self.expression(value))
            case Note():
                return

    def stored(self, target: Expr, kind: Type) -> None:
        match target:
            case Name(name):
                self.named(name, kind)
            case Several(targets):
                assert isinstance(kind, types.BaseTuple)
                for each, part in zip(targets, elements(kind), strict=True):
                    self.stored(each, part)
            case Element(array, index):
                given = self.expression(array), types.unliteral(self.expression(index)), types.unliteral(kind)
                self.called(target, operator.setitem, given)
            case _:
                raise SyntaxError(f"generated code does not store to {target}")

    def expression(self, node: Expr) -> Type:
        found = self.made.of[id(node)] = self._expression(node)
        return found

    def several(self, nodes: Sequence[Expr]) -> tuple[Type, ...]:
        return tuple([self.expression(node) for node in nodes])

    def plain(self, nodes: Sequence[Expr]) -> tuple[Type, ...]:
        """The types of expressions, of numbers that are known, too."""
        return tuple([types.unliteral(each) for each in self.several(nodes)])

    def _expression(self, node: Expr) -> Type:
        match node:
            case Name(name):
                known = self.made.names.get(name)
                return self.types.context.resolve_value_type(self.meaning(name)) if known is None else known
            case Constant(value):
                return types.maybe_literal(value) or self.types.context.resolve_value_type(value)
            case Operation("and" | "or", args):
                self.several(args)
                return types.boolean
            case Operation(op, args):
                return self.called(node, OPERATORS[op], self.plain(args))
            case Call():
                return self._call(node)
            case Choice(test, yes, no):
                return self._choice(test, yes, no)
            case Element(array, index):
                return self._element(node, self.expression(array), self.expression(index))
            case Several(items):
                return types.BaseTuple.from_types(self.plain(items))
            case Attribute(of, name):
                found = self.types.context.resolve_getattr(self.expression(of), name)
                if found is None:
                    raise TypeError(f"{node} has no type")
                return found
        raise SyntaxError(f"generated code has no {type(node).__name__}")

    def _choice(self, test: Expr, yes: Expr, no: Expr) -> Type:
        self.expression(test)
        kinds = self.plain((yes, no))
        both = self.types.context.unify_types(*kinds)
        if both is None:
            raise TypeError(f"{Choice(test, yes, no)} is {' or '.join(map(str, kinds))}")
        return both

    def _element(self, node: Element, array: Type, index: Type) -> Type:
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return elements(array)[index.literal_value]
        return self.called(node, operator.getitem, (array, types.unliteral(index)))

    def _call(self, node: Call) -> Type:
        given = self.several(node.args)
        if isinstance(node.function, Name) and node.function.id not in self.made.names:
            meaning = self.meaning(node.function.id)
            if isinstance(meaning, Written):
                inner = self.types.function(meaning, given)
                self.made.calls[id(node), len(given)] = inner, inner
                return inner.result
        function = self.expression(node.function)
        if isinstance(function, types.NumberClass):
            return function.instance_type
        return self.called(node, function, given)

    def meaning(self, name: str) -> Any:
        known = self.made.written.names
        return meaning_of(known[name] if name in known else getattr(builtins, name))


def forget(names: dict[str, Any]) -> None:
    """Let go of what compiling a module needs: several megabytes, which are found again from its text."""
    names.pop(CODE, None)
    for value in map(meaning_of, names.values()):
        if isinstance(value, Written):
            value.made, value.exported = None, {}


def elements(kind: Type) -> tuple[Type, ...]:
    """The types of the elements of a tuple."""
    return kind.types


def meaning_of(value: Any) -> Any:
    """A function of generated source as what was written, where it is known."""
    return getattr(value, "written", value)
