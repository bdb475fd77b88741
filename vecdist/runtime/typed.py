"""The types of generated source: what Numba's tables say of each expression, found in one walk over its statements.

Generated source has few words: assignments, choices, loops over ranges and while something holds, and calls.  Each name
has one type in a function.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, final

from numba.core import types

from vecdist.runtime.sources import TEXT

OPERATORS: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Not: operator.not_,
}  # fmt: skip


Type = Any  # of Numba, whose kinds of types have attributes of their own
TREES = "__trees__"  # the name of its functions' statements in a module of generated source


@final
@dataclass(eq=False)
class Written:
    """A function of generated source; ``merged`` ones are put in the place of their calls, ``apart`` ones never.

    ``made`` is what it is for the types that it was last compiled for.
    """

    function: Callable[..., Any]
    merged: bool = False
    apart: bool = False
    made: Any = None

    def typed(self, context: Any, arguments: Sequence[Type]) -> Typed:
        """The function for arguments of these types, by the tables of a target."""
        self.made = Types(context).function(self, arguments)
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
    def body(self) -> list[ast.stmt]:
        """Its statements; a module is parsed once."""
        found = self.names.get(TREES)
        if found is None:
            items = ast.parse(self.names[TEXT]).body
            found = self.names[TREES] = {item.name: item.body for item in items if isinstance(item, ast.FunctionDef)}
        return found[self.name]


@final
@dataclass(eq=False)
class Typed:
    """A function for arguments of certain types: the types of its names and expressions, and what its calls call."""

    written: Written
    arguments: tuple[Type, ...]
    names: dict[str, Type]
    of: dict[ast.AST, Type] = field(default_factory=dict)
    calls: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
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
class _Walk(ast.NodeVisitor):
    """Statements in order, again while a name turns out to have a wider type."""

    def __init__(self, types_: Types, made: Typed) -> None:
        self.types, self.made = types_, made
        self.widened = False

    def typed(self) -> Typed:
        self.widened = True
        while self.widened:
            self.widened = False
            for item in self.made.written.body:
                self.visit(item)
        return self.made

    def expression(self, node: ast.AST) -> Type:
        found = self.made.of[node] = self.visit(node)
        return found

    def several(self, nodes: Sequence[ast.AST]) -> tuple[Type, ...]:
        return tuple(self.expression(node) for node in nodes)

    def called(self, node: Any, function: Any, arguments: tuple[Type, ...]) -> Type:
        signature = self.types.signature(function, arguments)
        self.made.calls[node] = function, signature
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

    # statements

    def visit_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for each, kind in zip(target.elts, self.several(node.value.elts), strict=True):
                self.stored(each, kind)
            return
        self.stored(target, self.expression(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        given = tuple(map(types.unliteral, self.several((node.target, node.value))))
        self.stored(node.target, self.called(node, OPERATORS[type(node.op)], given))

    def stored(self, target: ast.AST, kind: Type) -> None:
        match target:
            case ast.Name(name):
                self.named(name, kind)
            case ast.Tuple(targets):
                assert isinstance(kind, types.BaseTuple)
                for each, part in zip(targets, elements(kind), strict=True):
                    self.stored(each, part)
            case ast.Subscript(array, index):
                given = self.expression(array), types.unliteral(self.expression(index)), types.unliteral(kind)
                self.called(target, operator.setitem, given)
            case _:
                raise SyntaxError(f"generated source does not store to {ast.unparse(target)}")

    def visit_Expr(self, node: ast.Expr) -> None:
        self.expression(node.value)

    def visit_If(self, node: ast.If) -> None:
        self.expression(node.test)
        for item in (*node.body, *node.orelse):
            self.visit(item)

    def visit_While(self, node: ast.While) -> None:
        self.expression(node.test)
        for item in node.body:
            self.visit(item)

    def visit_For(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        series = self.types.signature(self.types.context.resolve_value_type(range),
                                      tuple(map(types.unliteral, self.several(node.iter.args))))
        self.made.of[node] = kind = series.return_type.dtype
        self.named(node.target.id, kind)
        for item in node.body:
            self.visit(item)

    def visit_Return(self, node: ast.Return) -> None:
        self.made.result = types.none if node.value is None else types.unliteral(self.expression(node.value))

    def visit_Pass(self, node: ast.Pass) -> None:
        """Nothing."""

    # expressions

    def visit_Constant(self, node: ast.Constant) -> Type:
        return types.maybe_literal(node.value) or self.types.context.resolve_value_type(node.value)

    def visit_Name(self, node: ast.Name) -> Type:
        if node.id in self.made.names:
            return self.made.names[node.id]
        meaning = self.meaning(node.id)
        return self.types.context.resolve_value_type(meaning)

    def meaning(self, name: str) -> Any:
        names = self.made.written.names
        return meaning_of(names[name] if name in names else getattr(builtins, name))

    def visit_Attribute(self, node: ast.Attribute) -> Type:
        found = self.types.context.resolve_getattr(self.expression(node.value), node.attr)
        if found is None:
            raise TypeError(f"{ast.unparse(node)} has no type")
        return found

    def visit_Tuple(self, node: ast.Tuple) -> Type:
        return types.BaseTuple.from_types([types.unliteral(each) for each in self.several(node.elts)])

    def visit_BinOp(self, node: ast.BinOp) -> Type:
        given = self.several((node.left, node.right))
        return self.called(node, OPERATORS[type(node.op)], tuple(map(types.unliteral, given)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Type:
        given = self.expression(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(given, types.IntegerLiteral):
            return types.literal(-given.literal_value)
        given = types.unliteral(given)
        return self.called(node, OPERATORS[type(node.op)], (given,))

    def visit_Compare(self, node: ast.Compare) -> Type:
        given = [types.unliteral(each) for each in self.several((node.left, *node.comparators))]
        for place, (op, pair) in enumerate(zip(node.ops, pairwise(given), strict=True)):
            self.called((node, place), OPERATORS[type(op)], pair)
        return types.boolean

    def visit_BoolOp(self, node: ast.BoolOp) -> Type:
        self.several(node.values)
        return types.boolean

    def visit_IfExp(self, node: ast.IfExp) -> Type:
        self.expression(node.test)
        yes, no = map(types.unliteral, self.several((node.body, node.orelse)))
        both = self.types.context.unify_types(yes, no)
        if both is None:
            raise TypeError(f"{ast.unparse(node)} is {yes} or {no}")
        return both

    def visit_Subscript(self, node: ast.Subscript) -> Type:
        array, index = self.expression(node.value), self.expression(node.slice)
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return elements(array)[index.literal_value]
        return self.called(node, operator.getitem, (array, types.unliteral(index)))

    def visit_Call(self, node: ast.Call) -> Type:
        given = self.several(node.args)
        if isinstance(node.func, ast.Name) and node.func.id not in self.made.names:
            meaning = self.meaning(node.func.id)
            if isinstance(meaning, Written):
                inner = self.types.function(meaning, given)
                self.made.calls[node] = inner, inner
                return inner.result
        function = self.expression(node.func)
        if isinstance(function, types.NumberClass):
            return function.instance_type
        return self.called(node, function, given)

    def generic_visit(self, node: ast.AST) -> Any:
        raise SyntaxError(f"generated source has no {type(node).__name__}: {ast.unparse(node)}")


def forget(names: dict[str, Any]) -> None:
    """Let go of what compiling a module needs: several megabytes, which are found again from its text."""
    names.pop(TREES, None)
    for value in map(meaning_of, names.values()):
        if isinstance(value, Written):
            value.made = None


def elements(kind: Type) -> tuple[Type, ...]:
    """The types of the elements of a tuple."""
    return kind.types


def meaning_of(value: Any) -> Any:
    """A function of generated source as what was written, where it is known."""
    return getattr(value, "written", value)
