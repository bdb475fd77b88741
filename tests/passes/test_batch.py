"""A batched expression is the expression, once for each row of its leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import assert_same, numbered

from vecdist import lazy
from vecdist.backends.interpreter import interpret
from vecdist.expr import Node
from vecdist.leaves import leaf
from vecdist.passes.batch import batch

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
    together = interpret(batch(roots, many), changed, {})
    alone = []
    for copy in range(COPIES):
        own = list(arrays)
        for node in slots:
            own[node.attrs[0]] = changed[many[node].attrs[0]][copy]
        alone.append(interpret(roots, own, {}))
    return together, [np.stack(rows) for rows in zip(*alone, strict=True)]


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
}


@pytest.mark.parametrize("name", CASES)
def test_batched_expressions(name):
    root = CASES[name](lazy(X), lazy(Y)).node
    for leaves in ((leaf(X),), (leaf(Y),), (leaf(X), leaf(Y))):
        together, alone = batched((root,), leaves)
        assert_same(together, alone, rtol=1e-15)


@settings(max_examples=60)
@given(programs(dtypes=("f8",), lengths=(1, 2, 3), most_steps=6))
def test_batched_random_programs(program):
    together, alone = batched(program.roots, tuple(leaf(array) for array in program.arrays[:1]))
    assert_same(together, alone)
