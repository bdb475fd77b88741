"""Derivatives as expressions: their values by the interpreter, against NumPy, finite differences and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import assert_same, interpreted, ops, slot

from vecdist import lazy
from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node, const, topological, where
from vecdist.passes.differentiate import depending, gradient, partials, pushforward
from vecdist.passes.expand import expand
from vecdist.passes.simplify import simplify
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.structure import pad, summed, view

X = slot(0, ("n",))
Y = slot(1, ("n",))
A = slot(2)
exp, log, sqrt, lgamma = (PRIMITIVES[name] for name in ("exp", "log", "sqrt", "lgamma"))


def numeric(function, array, eps=1e-6):
    """The gradient of a scalar function by central differences."""
    result = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        up, down = array.copy(), array.copy()
        up[index] += eps
        down[index] -= eps
        result[index] = (function(up) - function(down)) / (2 * eps)
    return result


POINTS = np.array([[0.4, 1.3, 2.2], [3.1, 0.7, 1.9]])
DIRECTION = np.array([[1.0, -0.5, 0.25], [0.75, 2.0, -1.0]])

SCALARS = {
    "elementwise": lambda x: (x * np.exp(-x)).sum(),
    "broadcast scalar": lambda x: (x[0, 0] * np.log(x)).sum(),
    "broadcast row": lambda x: (x[0] * x[:, :1] ** 2).sum(),
    "row sums used again": lambda x: (x / x.sum(axis=1, keepdims=True)).sum(axis=0)[1] * x.sum(),
    "softmax": lambda x: (np.log(np.exp(x).sum(axis=-1)) * np.array([2.0, 3.0])).sum(),
    "slices": lambda x: (x[:, 1:] * x[:, :-1]).sum() + x[::-1, ::2].sum() * x[1, 2],
    "transpose": lambda x: (x.T[:2] * x[:, :2]).sum(),
    "reshape": lambda x: (x.reshape(3, 2)[0] * x.reshape(6)[4:]).sum(),
    "broadcast_to": lambda x: (np.broadcast_to(x[:, :1], (2, 4)) * np.arange(8.0).reshape(2, 4)).sum(),
    "where": lambda x: np.where(x > 1.5, np.log(x), x * x).sum(),
    "mean": lambda x: ((x - x.mean(axis=0)) ** 2).mean(),
    "overlap": lambda x: (x[:, :2] + 2.0 * x[:, 1:]).sum() * x[0, 1],
    "repeated scalar": lambda x: x[0, 1] * 7.0 + 0.0 * x.sum(),
}


def slope_of(roots):
    """The gradient of the first root in the second."""
    return gradient(roots[0], roots[1:2])


@pytest.mark.parametrize("name", SCALARS)
def test_gradients_are_those_of_finite_differences(name):
    function, x = SCALARS[name], POINTS.copy()
    (found,) = interpreted((function(lazy(x)).node, leaf(x)), slope_of)
    assert found.shape == x.shape
    wanted = numeric(lambda point: interpreted((function(lazy(point)).node,))[0], x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SCALARS)
def test_the_pass_applied_twice_gives_second_derivatives(name):
    function, x = SCALARS[name], POINTS.copy()

    def twice(roots):
        scalar, node, direction = roots
        along = summed(gradient(scalar, (node,))[0] * direction, (-2, -1))
        return gradient(along, (node,))

    (found,) = interpreted((function(lazy(x)).node, leaf(x), leaf(DIRECTION)), twice)
    wanted = numeric(
        lambda point: (interpreted((function(lazy(point)).node, leaf(point)), slope_of)[0] * DIRECTION).sum(), x
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", SCALARS)
def test_pushforward_is_the_gradient_along_a_direction(name):
    function, x = SCALARS[name], POINTS.copy()

    def both(roots):
        scalar, node, direction = roots
        return pushforward(scalar, {node: direction}), *gradient(scalar, (node,))

    along, slope = interpreted((function(lazy(x)).node, leaf(x), leaf(DIRECTION)), both)
    np.testing.assert_allclose(along, (slope * DIRECTION).sum(), rtol=1e-12, atol=1e-12)


@settings(max_examples=60)
@given(programs(dtypes=("f8",), lengths=(1, 2, 3), most_steps=5))
def test_forward_and_reverse_rules_agree(program):
    """The pushforward along a direction is the gradient's product with it, but for rounding, for random programs."""
    leaves = tuple(leaf(array) for array in program.arrays)
    directions = [np.arange(array.size, dtype=float).reshape(array.shape) % 3 - 1 for array in program.arrays]

    def both(roots):
        scalar, *nodes = roots
        nodes, along = nodes[: len(leaves)], nodes[len(leaves) :]
        return pushforward(scalar, dict(zip(nodes, along, strict=True))), *gradient(scalar, nodes)

    along, *slopes = interpreted((program.scalar().node, *leaves, *map(leaf, directions)), both)
    terms = [slope * v for slope, v in zip(slopes, directions, strict=True)]
    size = sum(abs(term).sum() for term in terms)
    assert float(along) == pytest.approx(sum(term.sum() for term in terms), rel=1e-14, abs=1e-14 * size)


def common(primitive):
    """Points that both arguments of a function may be."""
    low, high = max(ends[0] for ends in primitive.domain), min(ends[1] for ends in primitive.domain)
    return np.linspace(low, high, 5)[1:-1] if low < high else ()


OF_TWO = {name: each for name, each in PRIMITIVES.items() if each.partials and len(each.domain) == 2}
PAIRS = {name: each for name, each in OF_TWO.items() if len(common(each))}


@pytest.mark.parametrize("name", PAIRS)
def test_an_argument_that_is_given_twice_has_both_derivatives(name):
    points = common(PAIRS[name])
    x, y = leaf(points), leaf(points.copy())

    def slopes(roots):
        once, twice, first, second = roots
        return *gradient(once, (first, second)), *gradient(twice, (first,))

    roots = (summed(PAIRS[name](x, y), (-1,)), summed(PAIRS[name](x, x), (-1,)), x, y)
    of_first, of_second, of_both = interpreted(roots, slopes)
    np.testing.assert_allclose(of_both, of_first + of_second, rtol=1e-9, atol=1e-12 * np.abs(of_first).max())


def test_a_region_is_dual_numbers_not_a_backward_pass():
    """Within a broadcast each value carries its partials; the only sums are those of the repeated axes."""
    root = summed(exp(A * X) * X, (-1,))
    (in_a,) = gradient(root, (A,))
    assert sum(node.op == "sum" for node in topological((in_a,))) == 1
    assert "pad" not in ops((in_a,))


def test_absent_derivatives_are_absent():
    (zero,) = gradient(summed(X * 2.0, (-1,)), (A,))
    assert simplify((zero,))[0].is_const(0)
    assert depending(X * A, (A,)) == {A, X * A}
    assert gradient(const(3.0), (X,))[0].shape == X.shape


def test_constant_factors_do_not_meet_the_derivative_of_what_they_do_not_depend_on():
    """d/dx of x + f(y) must not contain f'(y): 0 * nan is nan."""
    y = np.array([-1.0, 0.0])
    x = np.array([1.0, 2.0])
    root = summed(leaf(x) * 3.0 + log(leaf(y)), (-1,))
    (found,) = interpreted(gradient(root, (leaf(x),)))
    np.testing.assert_array_equal(found, [3.0, 3.0])


def test_where_selects_tangents():
    """The branch not taken has an infinite or missing derivative, and none of it is seen."""
    x = np.array([0.0, 4.0, -1.0])
    node = leaf(x)
    root = summed(where(node <= 0, 5.0 * node, sqrt(node) + log(node)), (-1,))
    (found,) = interpreted(gradient(root, (node,)))
    np.testing.assert_array_equal(found, [5.0, 0.5 / 2 + 0.25, 5.0])
    both = where(node <= 0, 0.0, log(node))
    (found,) = interpreted(partials(both, (node,)))
    np.testing.assert_array_equal(found, [0.0, 0.25, 0.0])


def test_conditions_have_no_derivative():
    (found,) = gradient(summed(where(X < Y, 1.0, 2.0), (-1,)), (X,))
    assert simplify((found,))[0].op in {"const", "view"} and "lt" not in ops(simplify((found,)))


def test_a_repeated_scalar_counts_its_elements():
    """The derivative of sum(a) repeated n times is n, with nothing added up."""
    a = np.array(2.0)
    root = summed(view(leaf(a), (), (6,)), (-1,))
    (found,) = gradient(root, (leaf(a),))
    assert interpreted((found,))[0] == 6


def test_pads_and_views_are_transposes():
    entries, values = ((0, 2, 3), (None, 1, 1)), np.arange(1.0, 4.0)
    put = pad(leaf(values), entries, (12, 2))
    weights = np.arange(24.0).reshape(12, 2)
    (found,) = interpreted(gradient(summed(put * leaf(weights), (-2, -1)), (leaf(values),)))
    np.testing.assert_array_equal(found, weights[2:9:3, 1])
    (back,) = gradient(summed(view(leaf(weights), entries, (3,)) * leaf(values), (-1,)), (leaf(weights),))
    assert_same(interpreted((back,)), interpreted((put,)))


def test_a_cotangent_seeds_the_gradient():
    c = slot(3, ("n",))
    (found,) = gradient(X * X, (X,), cotangent=c)
    assert found.shape == X.shape and c in set(topological((found,)))
    assert gradient(X, (X,), cotangent=c) == (c,)


def test_dtypes_stay_with_their_leaves():
    x, y = np.ones(3, "f4"), np.ones(3)
    root = summed(leaf(x) * leaf(y) * 2.0, (-1,))
    found = interpreted(gradient(root, (leaf(x), leaf(y))))
    assert [array.dtype for array in found] == [np.float32, np.float64]
    assert all((array == 2).all() for array in found)


def test_partials_of_an_elementwise_expression():
    (in_a, in_x) = partials(A * X * X, (A, X))
    assert in_a.shape == in_x.shape == ("n",)
    a, x = np.array(3.0), np.array([1.0, 2.0])
    found = interpreted(partials(leaf(a) * leaf(x) * leaf(x), (leaf(a), leaf(x))))
    np.testing.assert_array_equal(found, [[1.0, 4.0], [6.0, 12.0]])


def test_partials_do_not_cross_a_sum():
    with pytest.raises(ValueError, match="sum stands between"):
        partials(X * summed(X, (-1,)), (X,))


def test_integers_and_booleans_carry_no_derivative():
    n = slot(3, ("n",), np.int64)
    root = summed(X * Node("cast", (n,), (), n.shape, np.dtype(float)), (-1,))
    (found,) = gradient(root, (X,))
    assert n in set(topological((found,)))
    cut = Node("cast", (Node("cast", (X,), (), X.shape, np.dtype("i8")),), (), X.shape, np.dtype("f8"))
    assert simplify(gradient(summed(cut, (-1,)), (X,)))[0].op in {"const", "view"}


def test_derivatives_come_before_expansions():
    """The derivative of lgamma is digamma, never the derivative of a polynomial."""
    (slope,) = gradient(summed(lgamma(X), (-1,)), (X,))
    assert "digamma" in ops((slope,)) and "digamma" not in ops(expand((slope,)))
