"""Python's syntax as loop IR: what primitives' code, and functions written in Python, say."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from vecdist.kernel.code import Code, Do, For, Function, If, Return, Set, While, mapped
from vecdist.kernel.expressions import (
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
    joined,
    substituted,
)

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "neg", ast.Invert: "~",
}  # fmt: skip


@cache
def parsed(text: str) -> Expr:
    """The expression that a text says."""
    return expression(ast.parse(text, mode="eval").body)


@cache
def function(written: Callable) -> Function:
    """A function of Python."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(written))).body
    assert isinstance(found, ast.FunctionDef)
    return definition(found)


def definition(node: ast.FunctionDef) -> Function:
    return Function(node.name, tuple([argument.arg for argument in node.args.args]), statements(node.body))


def expression(node: ast.expr) -> Expr:
    """An expression of Python; ``SyntaxError`` where the IR has none like it."""
    match node:
        case ast.Name(name):
            return Name(name)
        case ast.Constant(bool() | int() | float() as value):
            return Constant(value)
        case ast.BinOp(left, op, right):
            return Operation(OPERATORS[type(op)], (expression(left), expression(right)))
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return Constant(-value)
        case ast.UnaryOp(op, operand):
            return Operation(OPERATORS[type(op)], (expression(operand),))
        case ast.BoolOp(op, values):
            return joined(OPERATORS[type(op)], [expression(value) for value in values])
        case ast.Compare(left, ops, others):
            sides = [expression(each) for each in (left, *others)]
            pairs = zip(ops, sides, sides[1:], strict=False)
            return joined("&", [Operation(OPERATORS[type(op)], (a, b)) for op, a, b in pairs])
        case ast.IfExp(test, yes, no):
            return Choice(expression(test), expression(yes), expression(no))
        case ast.Call(called, args, []):
            return Call(expression(called), tuple([expression(arg) for arg in args]))
        case ast.Subscript(array, index):
            return Element(expression(array), expression(index))
        case ast.Attribute(of, name):
            return Attribute(expression(of), name)
        case ast.Tuple(items):
            return Several(tuple([expression(item) for item in items]))
    raise SyntaxError(f"generated code has no {type(node).__name__}: {ast.unparse(node)}")


def statements(body: Sequence[ast.stmt]) -> tuple[Code, ...]:
    """Statements of Python; ``SyntaxError`` where the IR has none like them."""
    return tuple([found for item in body for found in _statement(item)])


def _statement(item: ast.stmt) -> Iterator[Code]:
    match item:
        case ast.Assign([target], value):
            yield Set(_target(target), expression(value))
        case ast.AugAssign(target, op, value):
            yield Set(_target(target), Operation(OPERATORS[type(op)], (expression(target), expression(value))))
        case ast.Expr(ast.Constant(str())) | ast.Pass():
            return
        case ast.Expr(value):
            yield Do(expression(value))
        case ast.If(test, body, orelse):
            yield If(expression(test), statements(body), statements(orelse))
        case ast.While(test, body, []):
            yield While(expression(test), statements(body))
        case ast.For(ast.Name(index), ast.Call(ast.Name("range"), args), body, []):
            bounds = [expression(arg) for arg in args]
            start, stop = bounds[:2] if len(bounds) > 1 else (ZERO, *bounds)
            yield For(index, stop, statements(body), start, bounds[2] if len(bounds) > 2 else None)
        case ast.For(ast.Name(index), ast.Name(table), body, []):
            element = {index: Element(Name(table), Name(index))}
            inside = [mapped(each, lambda whole: substituted(whole, element)) for each in statements(body)]
            yield For(index, Call(Name("len"), (Name(table),)), tuple(inside))
        case ast.Return(value):
            yield Return(None if value is None else expression(value))
        case _:
            raise SyntaxError(f"generated code has no {type(item).__name__}: {ast.unparse(item)}")


def _target(node: ast.expr) -> Name | Element | Several:
    found = expression(node)
    if isinstance(found, Name | Element | Several):
        return found
    raise SyntaxError(f"nothing is assigned to {found}")
