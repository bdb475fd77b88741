"""Statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from vecdist.functions.callables import Range
from vecdist.functions.expressions import defined
from vecdist.functions.loops import looped
from vecdist.functions.meaning import Frame, Path, evaluate, means, run
from vecdist.functions.numbers import is_number
from vecdist.functions.source import Problem, within
from vecdist.functions.tables import picked

WORK = 128  # operations of loops of known turns that are written out
CALL = 10  # operations, about, of a function that is called


@means(ast.Assign)
def _assign(frame: Frame, node: ast.Assign) -> None:
    value = evaluate(frame, node.value)
    for target in node.targets:
        frame.bind(target, value)


@means(ast.AnnAssign)
def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        frame.bind(node.target, evaluate(frame, node.value))


@means(ast.AugAssign)
def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise Problem("only names can be given values, not elements, attributes or *rest")
    before = frame.value_of(node.target.id)
    frame.bind(node.target, frame.numbers.binary(node.op, before, evaluate(frame, node.value)))


@means(ast.Return)
def _return(frame: Frame, node: ast.Return) -> None:
    frame.results.append((frame.path, None if node.value is None else evaluate(frame, node.value)))
    frame.path = False


@means(ast.Break, ast.Continue)
def _leave(frame: Frame, node: ast.stmt) -> None:
    frame.exits.append((type(node), frame.path, frame.names))
    frame.path = False


@means(ast.Pass)
def _nothing(frame: Frame, node: ast.Pass) -> None:
    pass


@means(ast.Expr)
def _alone(frame: Frame, node: ast.Expr) -> None:
    if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # as a docstring is
        evaluate(frame, node.value)


@means(ast.FunctionDef)
def _define(frame: Frame, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        raise Problem("a function inside another one has no decorators")
    frame.names[node.name] = defined(frame, node)


@means(ast.If)
def _if(frame: Frame, node: ast.If) -> None:
    condition = frame.numbers.truth(evaluate(frame, node.test))
    frame.choose(condition, lambda: run(frame, node.body), lambda: run(frame, node.orelse))


@means(ast.While)
def _while(frame: Frame, node: ast.While) -> None:
    def test() -> Path:
        return frame.numbers.truth(evaluate(frame, node.test))

    _else(frame, node, looped(frame, node, test, lambda: run(frame, node.body)))


def _else(frame: Frame, node: ast.While | ast.For, broken: Path) -> None:
    if frame.path is not False:
        frame.choose(broken, lambda: None, lambda: run(frame, node.orelse))


@means(ast.For)
def _for(frame: Frame, node: ast.For) -> None:
    values = evaluate(frame, node.iter)
    if isinstance(values, Range):
        _counted(frame, node, values.start, values.stop, values.step, lambda place: place)
        return
    items = values if isinstance(values, range) else frame.numbers.items(values)
    if len(items) * frame.trace.copies * _work(node) <= WORK or not _numeric(items):
        _written_out(frame, node, items)
    elif isinstance(items, range):
        _counted(frame, node, items.start, items.stop, items.step, lambda place: place)
    else:
        _counted(frame, node, 0, len(items), 1, lambda place: picked(frame, items, place))


def _numeric(items: Sequence[Any]) -> bool:
    """Whether a sequence is a table of numbers, or of tuples of them."""
    return all(is_number(each) or (isinstance(each, tuple) and _numeric(each)) for each in items)


def _work(node: ast.For) -> int:
    """About how many operations a turn is."""
    inside = [*within(node.body)]
    operations = sum(isinstance(each, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign) for each in inside)
    return 1 + operations + CALL * sum(isinstance(each, ast.Call) for each in inside)


def _counted(
    frame: Frame, node: ast.For, start: Any, stop: Any, step: int, value: Callable[[Any], Any]
) -> None:
    """A loop that counts, by a name that nobody can write."""
    counter = f"turn {node.lineno}:{node.col_offset}"
    frame.names[counter] = start

    def test() -> Path:
        return frame.numbers.compare(ast.Lt() if step > 0 else ast.Gt(), frame.names[counter], stop)

    def body() -> None:
        frame.bind(node.target, value(frame.names[counter]))
        frame.names[counter] = frame.numbers.binary(ast.Add(), frame.names[counter], step)
        run(frame, node.body)

    broken = looped(frame, node, test, body, (counter,))
    del frame.names[counter]
    _else(frame, node, broken)


def _written_out(frame: Frame, node: ast.For, items: Sequence[Any]) -> None:
    """The turns of a loop one after another; behind it, paths that broke off join those that did not."""
    around, frame.exits = frame.exits, []
    frame.trace.copies *= max(len(items), 1)
    left = []
    for item in items:
        if frame.path is not False:
            frame.bind(node.target, item)
            run(frame, node.body)
        ends = [(path, names) for kind, path, names in frame.exits if kind is ast.Continue]
        left += [(path, names) for kind, path, names in frame.exits if kind is ast.Break]
        frame.exits = []
        frame.join([*ends, *([] if frame.path is False else [(frame.path, frame.names)])])
    frame.trace.copies //= max(len(items), 1)
    frame.exits = around
    run(frame, node.orelse)
    frame.join([*left, *([] if frame.path is False else [(frame.path, frame.names)])])
