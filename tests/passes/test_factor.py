"""Work moves out of sums without changing them."""

import numpy as np
from hypothesis import given, settings
from programs import programs
from reference import assert_same, numbered, slot

from vecdist.graph.leaves import leaf
from vecdist.graph.node import topological, where
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.factor import factor
from vecdist.primitives.structure import summed
from vecdist.runtime.interpreter import interpret

X, A, C = slot(0, ("n",)), slot(1), slot(2, ("k", 1))


def added_up(root):
    """What stands inside the sums of a graph, after the pass."""
    return {node.args[0] for node in topological(factor((root,))) if node.op == "sum"}


def test_factors_that_do_not_vary_are_applied_once():
    assert added_up(summed(A * X, (-1,))) == {X}
    assert added_up(summed(-(X * A), (-1,))) == {X}
    assert added_up(summed(C * (A * X), (-1,))) == {X}


def test_factors_that_vary_stay():
    assert added_up(summed(X * (X + A), (-1,))) == {X * (X + A)}


def test_conditions_that_do_not_vary_choose_between_sums():
    (found,) = factor((summed(where(A < 0, X, X * A), (-1,)),))
    assert found.op == "where" and {node.args[0] for node in topological((found,)) if node.op == "sum"} == {X}


def test_a_condition_that_varies_stays():
    inside = where(X < 0, X, A)
    assert added_up(summed(inside, (-1,))) == {inside}


def test_integer_sums_are_left_alone():
    n = slot(3, ("n",), np.int64)
    root = summed(n * 2, (-1,))
    assert factor((root,)) == (root,)


@settings(max_examples=100)
@given(programs(dtypes=("f8", "f8", "i8"), lengths=(1, 2, 3, 0), most_steps=6))
def test_values_and_gradients_stay(program):
    graph, arrays = numbered((program.scalar().node, *(leaf(array) for array in program.parameters)))
    roots = (*graph, *gradient_of(graph))
    assert_same(interpret(factor(roots), arrays, {}), interpret(roots, arrays, {}))
