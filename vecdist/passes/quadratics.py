"""Sums over rows of squares of lines in data, such as (y - X b - a)^2, as quadratic forms in what is no data.

A line is an offset and multiples of data: numbers times vectors of rows, d, and vectors b times matrices, X b.  With
means m in two parts, as float64 has them and what its rounding left, r, and sums S of products of what lies apart from
m, sum(u v) over n rows is n mean(u) mean(v) plus a form in S: nothing is left to read of rows.  Data say where that is
safe (``runtime/cross_products.py``); checks of whole lines become checks of their means, which are finite as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from vecdist.graph.node import Node, cast, const, rewrite, topological, where
from vecdist.graph.shapes import Dim
from vecdist.passes.partial_evaluation import WIDE, scalar
from vecdist.primitives.reductions import reduced
from vecdist.primitives.structure import STRUCTURE, drop_axes, extent, full, joined, rebuilt, reshape, summed, view

NOTHING = const(0, WIDE)


@final
@dataclass(frozen=True)
class Line:
    """``offset`` and multiples of data: numbers by vectors of rows, and vectors by matrices."""

    offset: Node = NOTHING
    terms: Mapping[Node, Node] = field(default_factory=dict)

    def plus(self, other: Line) -> Line:
        terms = dict(self.terms)
        for data, factor in other.terms.items():
            terms[data] = terms[data] + factor if data in terms else factor
        return Line(self.offset + other.offset, terms)

    def times(self, factor: Node) -> Line:
        by_columns = reshape(factor, (*factor.shape, 1)) if factor.ndim else factor
        by_axes = {1: factor, 2: by_columns}
        return Line(self.offset * factor, {data: each * by_axes[data.ndim] for data, each in self.terms.items()})


@final
@dataclass(frozen=True)
class Quadratics:
    """``roots`` in which statistics have slots: the means of data, what rounding left of them, and sums of products.

    They stand for the sums over ``rows`` where all of ``tests`` hold, which are of data alone.
    """

    roots: tuple[Node, ...]
    rows: Dim
    means: Mapping[Node, Node]
    rests: Mapping[Node, Node]
    products: Mapping[tuple[Node, Node], Node]
    tests: tuple[Node, ...]


def quadratics(roots: Sequence[Node], data: Collection[int], slots: int) -> Quadratics | None:
    """``roots`` with sums over rows collapsed, of matrices among the slots in ``data``; ``None`` where there are none.

    All are of the rows that the first is of; there are ``slots`` slots before the new ones.
    """
    state = _State(frozenset(data), slots)
    found = rewrite(roots, state.rule)
    if not any(item.ndim == 2 for item in state.means):
        return None
    return Quadratics(found, state.rows, state.means, state.rests, state.products, tuple(state.tests))


@final
class _State:
    """What has been asked of data so far."""

    def __init__(self, data: frozenset[int], slots: int) -> None:
        self.data, self.slots = data, slots
        self.rows: Dim = 1
        self.means: dict[Node, Node] = {}
        self.rests: dict[Node, Node] = {}
        self.products: dict[tuple[Node, Node], Node] = {}
        self.tests: dict[Node, None] = {}
        self.known: dict[Node, bool] = {}
        self.multiplied: dict[Node, bool] = {}

    def rule(self, node: Node, args: tuple[Node, ...]) -> Node:
        node = rebuilt(node, args)
        if node.op != "sum" or node.dtype != WIDE or node.attrs[0] != (-1,):
            return node
        (source,), before = node.args, self.rows
        length = source.shape[-1]
        if length == 1 or before not in (1, length) or length in source.shape[:-1] or not self.reads_matrices(source):
            return node
        kept = dict(self.means), dict(self.rests), dict(self.products), dict(self.tests), self.slots
        self.rows = length
        total = self.total(source)
        if total is None:
            self.means, self.rests, self.products, self.tests, self.slots = kept
            self.rows = before
            return node
        return full(reshape(total, (*total.shape, 1)), node.shape)

    def reads_matrices(self, source: Node) -> bool:
        """Whether a product, perhaps of a matrix, is a part of an expression."""
        for each in topological((source,), lambda each: [arg for arg in each.args if arg not in self.multiplied]):
            own = each.op == "product" or (each.op == "mul" and each.ndim > 1)
            self.multiplied[each] = own or any(self.multiplied[arg] for arg in each.args)
        return self.multiplied[source]

    def is_data(self, node: Node) -> bool:
        """Whether a node depends on data, and on nothing else."""
        for each in topological((node,), lambda each: [arg for arg in each.args if arg not in self.known]):
            own = each.op == "slot" and each.attrs[0] in self.data
            below = [self.known[arg] for arg in each.args if not arg.is_const()]
            self.known[each] = own or (bool(below) and all(below) and each.op not in {"position", "extent"})
        return self.known[node]

    def varies(self, node: Node) -> bool:
        return self.rows in node.shape

    # sums

    def total(self, node: Node) -> Node | None:
        """The sum over the rows; ``None`` where it takes more than means and products."""
        if not self.varies(node):
            return _one(node) * extent([self.rows])
        match node.op, node.args:
            case ("add" | "sub") as op, (x, y):
                first, second = self.total(x), self.total(y)
                return None if first is None or second is None else first + second if op == "add" else first - second
            case "neg", (x,):
                return _by(self.total(x), const(-1, WIDE))
            case ("mul" | "times"), (x, y) if not self.varies(y):
                return _by(self.total(x), _one(y))
            case ("mul" | "times"), (x, y) if not self.varies(x):
                return _by(self.total(y), _one(x))
            case "div", (x, y) if not self.varies(y):
                return _by(self.total(x), 1.0 / _one(y))
            case "square", (x,):
                return self.product(self.line(x), self.line(x))
            case "mul", (x, y):
                return self.product(self.line(x), self.line(y))
            case "where", (test, x, y) if y.is_const() and np.isnan(y.value):
                held, value = self.condition(test), self.total(x)
                return None if held is None or value is None else where(held, value, const(np.nan, WIDE))
            case "where", (test, x, y) if self.is_data(test) and y.is_const():
                self.tests[test] = None
                return self.total(x)
            case "checked", (value, *pairs):
                return self.checked(node, self.total(value), pairs)
        line = self.line(node)
        return None if line is None else self.mean(line) * extent([self.rows])

    def checked(self, node: Node, total: Node | None, pairs: Sequence[Node]) -> Node | None:
        """A sum whose checks are of lines, and of data that hold them."""
        found: list[Node] = []
        for valid, parameter in zip(pairs[::2], pairs[1::2], strict=True):
            held, line = self.condition(valid), self.line(parameter)
            if held is None or line is None:
                return None
            if not (self.is_data(valid) or valid.is_const()):
                found += [held, self.mean(line)]
        return None if total is None else Node("checked", (total, *found), (), total.shape, total.dtype)

    def condition(self, node: Node) -> Node | None:
        """Whether a condition holds in all rows; ``None`` where neither data nor means of lines say so."""
        if not self.varies(node):
            return _one(node)
        if self.is_data(node):
            self.tests[node] = None
            return const(True, np.bool_)
        match node.op, node.args:
            case "and", (x, y):
                first, second = self.condition(x), self.condition(y)
                return None if first is None or second is None else first & second
            case "lt", (x, y) if (x.is_const() and np.isinf(x.value)) or (y.is_const() and np.isinf(y.value)):
                first, second = self.line(x), self.line(y)
                return None if first is None or second is None else self.mean(first) < self.mean(second)
        return None

    # lines

    def line(self, node: Node) -> Line | None:
        """A value as a line in data; ``None`` where it is none."""
        if not self.varies(node):
            return Line(_one(node))
        if node.dtype == WIDE and self.is_data(node):
            data = self.table(node, 1)
            return None if data is None else Line(terms={data: const(1, WIDE)})
        match node.op, node.args:
            case ("add" | "sub") as op, (x, y):
                first, second = self.line(x), self.line(y)
                if first is None or second is None:
                    return None
                return first.plus(second if op == "add" else second.times(const(-1, WIDE)))
            case "neg", (x,):
                return _times(self.line(x), const(-1, WIDE))
            case ("mul" | "times"), (x, y) if not self.varies(y):
                return _times(self.line(x), _one(y))
            case ("mul" | "times"), (x, y) if not self.varies(x):
                return _times(self.line(y), _one(x))
            case "div", (x, y) if not self.varies(y):
                return _times(self.line(x), 1.0 / _one(y))
            case "view", (x,) if x.op == "sum" and x.attrs[0] == (-1,) and x.args[0].op == "mul":
                return self.by_matrix(x.args[0]) if node is drop_axes(x, (-1,)) else None
            case "view", (x,):
                return self.of_product(node, _without_views(node))
        return None

    def of_product(self, node: Node, product: Node) -> Line | None:
        """B X^T for many vectors, the rows of B, as one product of matrices."""
        if product.op != "product" or product.ndim != 2 or product.shape[1] != self.rows:
            return None
        many, turned = product.args
        if self.varies(many):
            return None
        if turned.dtype != WIDE or many.dtype != WIDE or not self.is_data(turned) or turned.shape[0] in (1, self.rows):
            return None
        data = joined(view(turned, [(1, 0, 1), (0, 0, 1)], turned.shape[::-1]))
        return Line(terms={data: reshape(many, (*node.shape[:-1], many.shape[1]))})

    def by_matrix(self, node: Node) -> Line | None:
        """X b, of the product that is summed."""
        width = node.shape[-1]
        for matrix, b in (node.args, node.args[::-1]):
            if not matrix.dtype == b.dtype == WIDE or self.varies(b) or b.shape[-1:] != (width,) or width == 1:
                continue
            data = self.table(matrix, 2) if self.is_data(matrix) else None
            if data is not None and data.shape == (self.rows, width):
                return Line(terms={data: drop_axes(b, (-2,)) if b.ndim > 1 else b})
        return None

    def table(self, node: Node, axes: int) -> Node | None:
        """Data of so many axes, the first of rows, where others in front have length 1; ``None`` for any other."""
        before, own = node.shape[:-axes], node.shape[-axes:]
        if own.count(self.rows) != 1 or own[0] != self.rows or any(dim != 1 for dim in before):
            return None
        return drop_axes(node, tuple(range(-node.ndim, -axes))) if before else node

    # statistics

    def slot(self, shape: tuple[Dim, ...]) -> Node:
        self.slots += 1
        return Node("slot", (), (self.slots - 1, "dense" if shape else "number", ()), shape, WIDE)

    def mean(self, line: Line, rest: bool = False) -> Node:
        """The mean of a line at the means of data, or what their rounding leaves of it."""
        found = NOTHING if rest else line.offset
        for data, factor in line.terms.items():
            if data not in self.means:
                self.means[data], self.rests[data] = self.slot(data.shape[1:]), self.slot(data.shape[1:])
            found = found + _dot((self.rests if rest else self.means)[data], factor)
        return found

    def product(self, first: Line | None, second: Line | None) -> Node | None:
        """The sum of the products of two lines."""
        if first is None or second is None:
            return None
        (x, y), (left, right) = ([self.mean(line, rest) for line in (first, second)] for rest in (False, True))
        found = (x * y + (x * right + y * left)) * extent([self.rows])
        for one, factor in first.terms.items():
            for other, by_other in second.terms.items():
                found = found + self.form(one, factor, other, by_other)
        return found

    def form(self, x: Node, by_x: Node, y: Node, by_y: Node) -> Node:
        """A term of the form in products."""
        if (y, x) in self.products or (x.ndim, y.ndim) == (1, 2):
            x, by_x, y, by_y = y, by_y, x, by_x
        if (x, y) not in self.products:
            self.products[x, y] = self.slot((*x.shape[1:], *y.shape[1:]))
        whole = self.products[x, y]
        if y.ndim == 1:
            return _dot(whole, by_x) * by_y
        inner = drop_axes(summed(whole * reshape(by_y, (*by_y.shape[:-1], 1, by_y.shape[-1])), (-1,)), (-1,))
        return _dot(inner, by_x)


def _dot(x: Node, y: Node) -> Node:
    """The products of the last axis of data with factors of them, summed; of what has none, the product."""
    return drop_axes(summed(x * y, (-1,)), (-1,)) if x.ndim else x * y


def _without_views(node: Node) -> Node:
    """What a node is a view of that differs in axes of length 1 alone."""
    while node.op == "view":
        (inner,), (entries,) = node.args, node.attrs
        kept = [axis for axis, start, step in entries if axis is not None and (start, step) == (0, 1)]
        if kept != sorted(kept) or [dim for dim in inner.shape if dim != 1] != [dim for dim in node.shape if dim != 1]:
            break
        node = inner
    return node


def _one(node: Node) -> Node:
    """A value that is the same in all rows, without their axis; views of conditions, which have no slopes, are none."""
    if node.dtype.kind == "b" and node.args and node.op not in STRUCTURE:
        return rebuilt(node, tuple(map(_one, node.args)))
    found = drop_axes(node, (-1,)) if node.ndim else node
    return found if found.dtype.kind == "b" else cast(found, WIDE)


def _by(total: Node | None, factor: Node) -> Node | None:
    return None if total is None else total * factor


def _times(line: Line | None, factor: Node) -> Line | None:
    return None if line is None else line.times(factor)


def moments_of(found: Quadratics) -> tuple[Node, ...]:
    """The means of all data, over the rows."""
    return tuple([_over_rows(data) / extent([found.rows]) for data in found.means])


def products_of(found: Quadratics) -> tuple[Node, ...]:
    """What is left of means, and all products, of data whose means have slots."""
    apart = {data: data - _beside(mean) for data, mean in found.means.items()}
    rests = [_over_rows(each) / extent([found.rows]) for each in apart.values()]
    return (*rests, *(_over_rows(_outer(apart[x], apart[y])) for x, y in found.products))


def test_of(node: Node) -> Node:
    """Whether a condition holds everywhere, as a number."""
    return scalar(reduced("min", cast(node, np.int8), tuple(range(-node.ndim, 0))))


def _beside(mean: Node) -> Node:
    return view(mean, [(1, 0, 1)], (1, *mean.shape)) if mean.ndim else mean


def _outer(x: Node, y: Node) -> Node:
    """The products of columns of each row, (n, columns of x, columns of y)."""
    rows, p, q = x.shape[0], x.shape[1:], y.shape[1:]
    if not q:
        return x * (view(y, [(0, 0, 1)], (rows, 1)) if p else y)
    return view(x, [(0, 0, 1), (1, 0, 1)], (rows, *p, 1)) * view(y, [(0, 0, 1), (2, 0, 1)], (rows, 1, *q))


def _over_rows(x: Node) -> Node:
    found = summed(x, (-x.ndim,))
    return view(found, [(None if axis == 0 else axis - 1, 0, 1) for axis in range(x.ndim)], x.shape[1:])


