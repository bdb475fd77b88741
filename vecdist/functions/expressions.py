"""Expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

from vecdist.functions.callables import known_call
from vecdist.functions.meaning import Frame, Names, Path, evaluate, inlined, means
from vecdist.functions.source import NUMBERS, Definition, Problem, Written, constant, described, read
from vecdist.functions.tables import picked
from vecdist.graph.node import Node

VALUES = 64  # of a comprehension, which are all written out


@means(ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> Any:
    if node.value is None or isinstance(node.value, NUMBERS):
        return node.value
    raise Problem(f"{described(node.value)} is no number")


@means(ast.Name)
def _name(frame: Frame, node: ast.Name) -> Any:
    return frame.value_of(node.id)


@means(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> Any:
    value = evaluate(frame, node.value)
    if not isinstance(value, ModuleType):
        raise Problem(f"an attribute, .{node.attr}, of {described(value)}; only modules have some here")
    try:
        return constant(getattr(value, node.attr))
    except AttributeError as error:
        raise Problem(str(error)) from None


@means(ast.Tuple, ast.List)
def _tuple(frame: Frame, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
    return tuple(_several(frame, node.elts))


@means(ast.ListComp, ast.GeneratorExp)
def _comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> tuple[Any, ...]:
    """As many values as are known by now."""
    names = frame.names
    found = tuple(_turns(frame, node.elt, node.generators))
    frame.names = names
    return found


def _turns(frame: Frame, element: ast.expr, generators: Sequence[ast.comprehension]) -> Iterator[Any]:
    if not generators:
        yield evaluate(frame, element)
        return
    first, *others = generators
    items, names = frame.numbers.items(evaluate(frame, first.iter)), frame.names
    if len(items) > VALUES:
        raise Problem(f"{len(items)} values at once are too many, more than {VALUES}; write a loop")
    for item in items:
        frame.names = dict(names)
        frame.bind(first.target, item)
        tests = [frame.numbers.truth(evaluate(frame, test)) for test in first.ifs]
        if any(isinstance(test, Node) for test in tests):
            raise Problem("how many values there are must be known by now; write a loop, or choose by if and else")
        if all(tests):
            yield from _turns(frame, element, others)


def _several(frame: Frame, nodes: Sequence[ast.expr]) -> Iterator[Any]:
    """Values that are written one by one, or as ``*values``."""
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from frame.numbers.items(evaluate(frame, node.value))
        else:
            yield evaluate(frame, node)


@means(ast.BinOp)
def _binary(frame: Frame, node: ast.BinOp) -> Any:
    return frame.numbers.binary(node.op, evaluate(frame, node.left), evaluate(frame, node.right))


@means(ast.UnaryOp)
def _unary(frame: Frame, node: ast.UnaryOp) -> Any:
    return frame.numbers.unary(node.op, evaluate(frame, node.operand))


@means(ast.Compare)
def _compare(frame: Frame, node: ast.Compare) -> Any:
    found: Path = True
    left = evaluate(frame, node.left)
    for op, each in zip(node.ops, node.comparators, strict=True):
        right = evaluate(frame, each)
        found = frame.numbers.both(found, frame.numbers.compare(op, left, right))
        left = right
    return found


@means(ast.BoolOp)
def _junction(frame: Frame, node: ast.BoolOp) -> Any:
    """The value that decides, as in Python: one that is known by now may spare the others."""
    numbers, path, goes_on = frame.numbers, frame.path, isinstance(node.op, ast.And)
    value = evaluate(frame, node.values[0])
    for each in node.values[1:]:
        truth = numbers.truth(value)
        if not isinstance(truth, Node):
            value = evaluate(frame, each) if truth is goes_on else value
            continue
        frame.path = numbers.both(frame.path, truth if goes_on else numbers.negated(truth))
        other = evaluate(frame, each)
        if isinstance(value, Node) and value is truth and isinstance(other, bool | Node) and _is_condition(other):
            value = numbers.both(value, other) if goes_on else numbers.either(value, other)
        else:
            value = numbers.merged(truth, *((other, value) if goes_on else (value, other)))
    frame.path = path
    return value


def _is_condition(value: bool | Node) -> bool:
    return not isinstance(value, Node) or value.dtype.kind == "b"


@means(ast.IfExp)
def _either(frame: Frame, node: ast.IfExp) -> Any:
    numbers, path = frame.numbers, frame.path
    condition = numbers.truth(evaluate(frame, node.test))
    if not isinstance(condition, Node):
        return evaluate(frame, node.body if condition else node.orelse)
    frame.path = numbers.both(path, condition)
    yes = evaluate(frame, node.body)
    frame.path = numbers.both(path, numbers.negated(condition))
    no = evaluate(frame, node.orelse)
    frame.path = path
    return numbers.merged(condition, yes, no)


@means(ast.Subscript)
def _element(frame: Frame, node: ast.Subscript) -> Any:
    value = evaluate(frame, node.value)
    if isinstance(node.slice, ast.Slice):
        bounds = [each and evaluate(frame, each) for each in (node.slice.lower, node.slice.upper, node.slice.step)]
        if any(isinstance(each, Node) for each in bounds):
            raise Problem("a slice with bounds that are not known by now")
        return frame.numbers.items(value)[slice(*bounds)]
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for each in places:
        value = picked(frame, value, evaluate(frame, each))
    return value


@means(ast.Lambda)
def _lambda(frame: Frame, node: ast.Lambda) -> Written:
    return defined(frame, node)


def defined(frame: Frame, tree: Definition) -> Written:
    """A function inside another one: its defaults are those of now, its other names are looked up when it is called."""
    arguments = tree.args
    by_place = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][-len(arguments.defaults) or None :]
    by_name = [each.arg for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    values = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
    names = [*(by_place if arguments.defaults else []), *by_name]
    defaults = {name: evaluate(frame, value) for name, value in zip(names, values, strict=True)}
    return Written(tree, frame.written.file, frame.value_of, defaults)


@means(ast.Call)
def _call(frame: Frame, node: ast.Call) -> Any:
    callee = evaluate(frame, node.func)
    args = [*_several(frame, node.args)]
    keywords = {each.arg: evaluate(frame, each.value) for each in node.keywords if each.arg}
    return called(frame, callee, args, keywords)


def called(frame: Frame, callee: Any, args: list[Any], keywords: Names) -> Any:
    """What a function gives."""
    callee = getattr(callee, "py_func", callee)  # Numba's functions have the one of Python, too
    if hasattr(callee, "traced"):
        return callee.traced(frame.trace, args, keywords, frame.active)
    if isinstance(callee, FunctionType) and known_call(callee) is None:
        callee = read(callee)
    if isinstance(callee, Written):
        return inlined(frame.trace, callee, callee.bound(args, keywords), frame.active)
    known, name = known_call(callee), getattr(callee, "__name__", described(callee))
    if known is None:
        raise Problem(f"{name} cannot be called here")
    try:
        return known(frame.numbers, *args, **keywords)
    except TypeError as error:  # as of too many arguments
        raise Problem(f"{name}: {error}") from None
