"""Calls of small matrices written out entry by entry, where no call can be made: in steps, and in one function.

It works on graphs whose lengths are known, before they are derived: formulas have derivatives of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vecdist.graph.node import Node, const, rewrite
from vecdist.primitives import entries, factorisations
from vecdist.primitives.arithmetic import square
from vecdist.primitives.calls import Call
from vecdist.primitives.entries import LONGEST, Triangle, Vector, element
from vecdist.primitives.structure import rebuilt


def by_entries(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` without calls of matrices of few rows; other calls are left."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        written = WRITTEN.get(node.attrs[0]) if node.op == "external" else None
        few = written is not None and all(int(arg.shape[-2]) <= LONGEST for arg in args)
        return written(*args) if written is not None and few else rebuilt(node, args)

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
    rows = [[element(a, i, k) for k in range(int(a.shape[-1]))] for i in range(int(a.shape[-2]))]
    inner = [
        [entries.total(x * y for x, y in zip(row, column, strict=True)) for row in rows] for column in _columns(b)
    ]
    return _matrix(inner)


WRITTEN: dict[Call, Callable[..., Node]] = {
    factorisations.CHOLESKY: _cholesky, factorisations.CHOLESKY_OR_NAN: _cholesky,
    factorisations.SOLVE_LOWER: _lower, factorisations.SOLVE_UPPER: _upper, factorisations.MATMUL: _product,
    factorisations.SOLVE_DEFINITE: _definite, factorisations.DISTANCE: _distance,
    factorisations.INVERT_DEFINITE: _inverse, factorisations.LOG_DETERMINANT: _log_determinant,
}  # fmt: skip
