"""A batched expression is the expression, once for each row of its leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import assert_same, numbered

from vecdist import LazyArray, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.graph.leaves import Leaf, leaf
from vecdist.graph.node import Node, topological
from vecdist.passes.vmap import vmap, vmap_aligned
from vecdist.runtime.interpreter import interpret

COPIES = 3


def batched(roots, leaves):
    """The values of ``roots`` for several values of ``leaves`` at once, and one after the other."""
    graph, arrays = numbered((*roots, *leaves))
    roots, slots = graph[: len(roots)], graph[len(roots) :]
    many, changed = {}, list(arrays)
    for node in slots:
        (number, *rest) = node.attrs
        rows = np.stack([arrays[number] * (copy + 1) for copy in range(COPIES)])
        many[node] = Node("slot", (), (len(changed), *rest), (COPIES, *node.shape), node.dtype)
        changed.append(rows)
    together = interpret(vmap(roots, many), changed, {})
    alone = []
    for copy in range(COPIES):
        own = list(arrays)
        for node in slots:
            own[node.attrs[0]] = changed[many[node].attrs[0]][copy]
        alone.append(interpret(roots, own, {}))
    return together, [np.stack(rows) for rows in zip(*alone, strict=True)]


TABLE = lazy(np.array([3.0, -1.0, 0.5, 8.0]))
X, Y = np.arange(1.0, 7.0).reshape(2, 3), np.array([2.0, 5.0, 7.0])

CASES = {
    "elementwise": lambda x, y: x * y + 1.0,
    "sum": lambda x, y: x.sum(axis=0) * y,
    "scalar": lambda x, y: (x * y).sum(),
    "fewer axes": lambda x, y: x[0, 1] * y,
    "view": lambda x, y: x[::-1, 1:] * y[1:],
    "transpose": lambda x, y: x.T[1] + y.sum(),
    "reshape": lambda x, y: x.reshape(3, 2) * 2.0,
    "where": lambda x, y: np.where(y < 6.0, x, y),
    "untouched": lambda x, y: y * 2.0,
    "more axes beside": lambda x, y: (x * 2.0).sum() * y,
    "mean": lambda x, y: (x - x.mean(axis=1, keepdims=True)) * y.mean(),
    "mean of one": lambda x, y: x.mean() + y,
    "broadcast": lambda x, y: np.broadcast_to(y, (2, 3)) - x,
    "reshape and transpose": lambda x, y: x.reshape(6)[::2] * x.T[0, 1] + y,
    "density": lambda x, y: logpdf(Normal(y, np.abs(x)), x[0]),
    "picked": lambda x, y: x[:, np.array([2, 0, 0, -1])].sum(axis=0) * y[np.array([0, 1, 1, 2])],
    "picked by the expression": lambda x, y: x[np.array([[0], [1]]), y.astype("i8") % 3] + y,
    "table that is the same for all": lambda x, y: TABLE[(x.astype("i8") + 1) % 4] * y,
    "extremes": lambda x, y: x.max(axis=1).min() + np.prod(y),
}


@pytest.mark.parametrize("name", CASES)
def test_batched_expressions(name):
    root = CASES[name](lazy(X), lazy(Y)).node
    for leaves in ((leaf(X),), (leaf(Y),), (leaf(X), leaf(Y))):
        together, alone = batched((root,), leaves)
        assert_same(together, alone, rtol=1e-15)


def test_aligned_results_have_equally_many_axes():
    x, y = leaf(X), leaf(Y)
    root = ((lazy(X) * Y).sum() * Y).node
    many = Node("leaf", (), (object(),), (COPIES, 3), y.dtype)
    value, row = vmap_aligned((root, y), {y: many})
    assert value.shape == row.shape == (COPIES, 1, 3) and x in set(topological((value,)))
    assert {node.op for node in topological((value,))} >= {"sum", "mul"}


@settings(max_examples=60)
@given(programs(dtypes=("f8",), lengths=(1, 2, 3), most_steps=6))
def test_batched_random_programs(program):
    together, alone = batched(program.roots, tuple(leaf(array) for array in program.arrays[:1]))
    assert_same(together, alone)


@pytest.mark.parametrize(("rows", "count", "kind", "together"), [
    (29, 2, "numpy", False), (29, 8, "numpy", True), (400, 2, "numpy", True), (29, 64, "cupy", False),
    (400, 2, "cupy", False), (400, 4000, "cupy", False), (400, 40_000, "cupy", True),
])
def test_which_vectors_are_multiplied_by_a_matrix_together(rows, count, kind, together):
    """On the CPU small matrices too: their sums inside of rows inside of chains would leave its vectors unused."""
    matrix = Node("leaf", (), (Leaf(None, np.zeros((rows, 3)), kind),), (rows, 3), np.dtype(float))
    one, many = (Node("variable", (), (0,), shape, np.dtype(float)) for shape in ((3,), (count, 3)))
    (found,) = vmap(((LazyArray(matrix) @ LazyArray(one)).sum().node,), {one: many})
    assert any(node.op == "product" for node in topological((found,))) == together
