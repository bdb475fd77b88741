"""Powers of two leave products without changing them."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import assert_same, numbered, slot

from vecdist.graph.leaves import leaf
from vecdist.graph.node import const
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.powers import powers
from vecdist.primitives.arithmetic import square
from vecdist.runtime.interpreter import interpret

X, Y = slot(0, ("n",)), slot(1, ("n",))


@pytest.mark.parametrize(("product", "wanted"), [
    (0.5 * (Y * (2.0 * X)), Y * X),
    (-0.5 * (2.0 * X), -X),
    ((-X) * (-Y), X * Y),
    (-((4.0 * X) * Y), (X * Y) * const(-4.0)),
    ((0.25 * X) * (8.0 * Y), (X * Y) * const(2.0)),
], ids=str)
def test_powers_of_two_and_signs_meet(product, wanted):
    assert powers((product,)) == (wanted,)


@pytest.mark.parametrize("product", [3.0 * X, X * Y, X * 2.0**-60, square(X) * 0.1, -X, X * const(2.0)], ids=str)
def test_other_products_stay(product):
    assert powers((product,)) == (product,)


@settings(max_examples=100)
@given(programs(dtypes=("f8", "f4"), lengths=(1, 2, 3), most_steps=6))
def test_values_and_gradients_stay(program):
    graph, arrays = numbered((program.scalar().node, *(leaf(array) for array in program.parameters)))
    roots = (*graph, *gradient_of(graph))
    assert_same(interpret(powers(roots), arrays, {}), interpret(roots, arrays, {}))


def test_nothing_overflows_that_did_not():
    largest = np.array([1.5e308])
    (found,) = interpret(powers((0.5 * (X * 2.0),)), [largest], {"n": 1})
    assert found == largest
