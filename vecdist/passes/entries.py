"""Calls of small matrices and short vectors written out, where no call can be made: in steps, and in one function.

It works on graphs whose lengths are known, before they are derived: formulas have derivatives of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from vecdist.graph.node import Node, cast, const, rewrite, where
from vecdist.primitives import elimination, entries, factorisations, orders
from vecdist.primitives.arithmetic import eq, isnan, square
from vecdist.primitives.calls import Call
from vecdist.primitives.entries import LONGEST, MOST, Triangle, Vector, element
from vecdist.primitives.factorisations import as_column, as_row
from vecdist.primitives.structure import drop_axes, position, rebuilt, summed


def by_entries(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` without calls of matrices of few rows, and of few elements in order; other calls are left."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        written = WRITTEN.get(node.attrs[0]) if node.op == "external" else None
        if written is None or any(int(arg.shape[written.axis]) > written.most for arg in args):
            return rebuilt(node, args)
        found = written.function(*args)
        return found[node.attrs[1]] if isinstance(found, tuple) else found

    return rewrite(roots, rule)


def _columns(b: Node) -> list[list[Node]]:
    """The columns of matrices."""
    return [[element(b, i, j) for i in range(int(b.shape[-2]))] for j in range(int(b.shape[-1]))]


def _matrix(columns: Sequence[Vector]) -> Node:
    """A matrix of its columns."""
    rows = len(columns[0])
    numbers = np.arange(rows * len(columns)).reshape(len(columns), rows).T
    return entries.placed([entry for column in columns for entry in column], numbers)


def _each_column(solve: Callable[[Triangle, Vector], Vector], factor: Node, b: Node) -> Node:
    rows = entries.lower(factor)
    return _matrix([solve(rows, column) for column in _columns(b)])


def _cholesky(a: Node) -> Node:
    return entries.stacked(entries.valid(entries.factored(entries.lower(a))))


def _lower(factor: Node, b: Node) -> Node:
    return _each_column(entries.solved, factor, b)


def _upper(factor: Node, b: Node) -> Node:
    return _each_column(entries.solved_transposed, factor, b)


def _definite(a: Node, factor: Node, b: Node) -> Node:
    return _upper(factor, _lower(factor, b))


def _distance(a: Node, factor: Node, b: Node) -> Node:
    rows = entries.lower(factor)
    found = [entries.total(square(z) for z in entries.solved(rows, column)) for column in _columns(b)]
    return entries.placed(found, np.arange(len(found)))


def _inverse(a: Node, factor: Node) -> Node:
    rows, columns = entries.lower(factor), []
    for first in range(len(rows)):
        unit = [const(float(place == 0), a.dtype) for place in range(len(rows) - first)]
        zeros = [const(0.0, a.dtype)] * first
        columns.append(entries.solved_transposed(rows, [*zeros, *entries.solved(rows, unit)]))
    return _matrix(columns)


def _log_determinant(a: Node, factor: Node) -> Node:
    return 2.0 * entries.log_diagonal(entries.lower(factor))


def _product(a: Node, b: Node) -> Node:
    rows = _rows(a)
    inner = [
        [entries.total(x * y for x, y in zip(row, column, strict=True)) for row in rows] for column in _columns(b)
    ]
    return _matrix(inner)


def _rows(a: Node) -> list[list[Node]]:
    """Every entry of matrices."""
    return [[element(a, i, j) for j in range(int(a.shape[-1]))] for i in range(int(a.shape[-2]))]


def _stacked(rows: list[list[Node]]) -> Node:
    """A matrix of all its entries."""
    return entries.placed([x for row in rows for x in row], np.arange(len(rows) * len(rows[0])).reshape(len(rows), -1))


def _general_inverse(a: Node) -> Node:
    unit = [[const(float(i == j), a.dtype) for j in range(int(a.shape[-1]))] for i in range(int(a.shape[-1]))]
    return _stacked(elimination.solved(_rows(a), unit))


def _place(x: Node) -> Node:
    """The place that each element along the last axis has in ascending order: how many come before it."""
    one, other = as_column(x), as_row(x)
    count = x.shape[-1]
    ties = (eq(other, one) | (isnan(other) & isnan(one))) & (position(1, count) < position(count, 1))
    return _over_last(cast((other < one) | (isnan(one) & ~isnan(other)) | ties, np.int64))


def _in_order(x: Node) -> Node:
    """The elements along the last axis in ascending order, NaN last."""
    here = eq(as_row(_place(x)), position(x.shape[-1], 1))
    return _over_last(where(here, as_row(x), 0))


def _order(x: Node) -> Node:
    """The places of elements in ascending order."""
    count = x.shape[-1]
    return _over_last(where(eq(as_row(_place(x)), position(count, 1)), position(1, count), 0))


def _over_last(x: Node) -> Node:
    return drop_axes(summed(x, (-1,)), (-1,))


class Written(NamedTuple):
    """What a call computes as a formula, for as many rows, or elements along another axis, as that is short for."""

    function: Callable[..., Node | tuple[Node, ...]]
    most: int = LONGEST
    axis: int = -2


WRITTEN: dict[Call, Written] = {
    factorisations.CHOLESKY: Written(_cholesky),
    factorisations.SOLVE_LOWER: Written(_lower), factorisations.SOLVE_UPPER: Written(_upper),
    factorisations.MATMUL: Written(_product), factorisations.SOLVE_DEFINITE: Written(_definite),
    factorisations.DISTANCE: Written(_distance), factorisations.INVERT_DEFINITE: Written(_inverse),
    factorisations.LOG_DETERMINANT: Written(_log_determinant),
    factorisations.SOLVE: Written(lambda a, b: _stacked(elimination.solved(_rows(a), _rows(b))), MOST),
    factorisations.SOLVE_TRANSPOSED: Written(
        lambda a, b: _stacked(elimination.solved([list(each) for each in zip(*_rows(a), strict=True)], _rows(b))), MOST
    ),
    factorisations.INVERSE: Written(_general_inverse, MOST),
    factorisations.DETERMINANT: Written(lambda a: elimination.sign_and_log_determinant(_rows(a)), MOST),
    orders.SORT: Written(_in_order, axis=-1), orders.ORDER: Written(_order, axis=-1),
}  # fmt: skip
