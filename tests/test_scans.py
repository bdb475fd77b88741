"""Running sums and products: NumPy's values along every axis, gradients and second derivatives."""

import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from interpreting import by_interpreter
from reference import assert_same, interpreted

import vecdist as vd
from vecdist import lazy
from vecdist.graph.node import topological
from vecdist.kernel.ir import Loop
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline

X = np.random.default_rng(5).uniform(0.5, 1.5, (3, 5, 4))
NAMES = ("cumsum", "cumprod")


def jacobian(function, x):
    """Central differences of a function of one array: the axes of its result, then those of ``x``."""
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-6
    columns = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    return np.moveaxis(np.array(columns), 0, -1).reshape((*np.shape(columns[0]), *x.shape))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", NAMES)
def test_values_along_every_axis(uncompiled, name, axis):
    check_values(name, axis)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [None, 1])
def test_compiled_values(axis):
    check_values("cumsum", axis)


def check_values(name, axis):
    numpy = getattr(np, name)
    for x in (X, X[:1], X[:, :1], X[:0], X[:, :0], X[::2, ::-1], X.T):
        np.testing.assert_allclose(np.asarray(numpy(lazy(x), axis)), numpy(x, axis), rtol=1e-14)
        np.testing.assert_allclose(np.asarray(getattr(lazy(x), name)(axis)), numpy(x, axis), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_numpys(uncompiled, name, dtype):
    check_dtype(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["?", "i2", "u8", "f4"])  # one of each kind
@pytest.mark.parametrize("name", NAMES)
def test_compiled_dtypes_are_numpys(name, dtype):
    check_dtype(name, dtype)


def check_dtype(name, dtype):
    x = np.array([3, 1, 0, 1, 2, 3, 1, 2]).reshape(2, 4).astype(dtype)
    for axis in (None, 0, 1):
        found, wanted = getattr(np, name)(lazy(x), axis=axis), getattr(np, name)(x, axis=axis)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(found), wanted)
    assert getattr(lazy(x), name)(0, dtype="f4").dtype == np.float32


@pytest.mark.usefixtures("execution")
def test_numbers_and_short_arrays():
    assert np.cumsum(lazy(np.array(2.5))).shape == (1,)
    np.testing.assert_array_equal(np.asarray(np.cumprod(lazy(np.array([2.5])))), [2.5])
    with pytest.raises(ValueError, match="axis 1"):
        lazy(np.ones(3)).cumsum(1)


def test_float32_runs_in_float64():
    x = np.full(200_000, 0.1, "f4")
    assert abs(np.asarray(lazy(x).cumsum())[-1] / (200_000 * float(x[0])) - 1) < 1e-7


EXPRESSIONS = {
    "of an expression": lambda x: np.exp(-lazy(x)).cumsum(1) * 2.0,
    "of a scan": lambda x: lazy(x).cumsum(0).cumsum(1),
    "of a reduction": lambda x: (lazy(x) - 0.5 * lazy(x).mean(axis=1, keepdims=True)).cumsum(1),
    "of repeated elements": lambda x: (lazy(x)[:, :1] + np.zeros((1, 6))).cumsum(1),
    "both": lambda x: lazy(x).cumsum(1) / lazy(x).cumprod(1),
    "extremes": lambda x: np.maximum.accumulate(lazy(x), 1) - np.minimum.accumulate(lazy(x)[::-1], 0),
    "sliced": lambda x: lazy(x).cumsum(1)[:, ::-1][:, 1:] - lazy(x)[:, :-1],
    "reduced": lambda x: lazy(x).cumsum(0).max(axis=0),
    "indexed": lambda x: lazy(x).cumsum(1)[:, np.array([0, 2, 2])],
    "broadcast": lambda x: lazy(x)[0].cumsum() * lazy(x),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_within_expressions(uncompiled, name, dtype):
    check_expression(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_within_compiled_expressions(name):
    check_expression(name, "f4")


def check_expression(name, dtype):
    for shape in ((3, 5), (300, 7), (2, 300), (1, 4), (4, 1)):
        x = np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(dtype)
        if name == "indexed" and shape[1] < 3:
            continue
        result = EXPRESSIONS[name](x)
        (wanted,) = interpreted((result.node,))
        assert_same([np.asarray(result)], [wanted], rtol=1e-12 if dtype == "f8" else 1e-5)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_gradients(name, axis):
    x = X[0].copy()
    weights = np.random.default_rng(2).normal(size=x.size)

    def numpy(x):
        return (np.sin(getattr(np, name)(x, axis).ravel()) * weights).sum()

    value, (slope,) = vd.value_and_grad((np.sin(getattr(lazy(x), name)(axis).ravel()) * weights).sum(), (x,))
    np.testing.assert_allclose(value, numpy(x))
    np.testing.assert_allclose(slope, jacobian(numpy, x), rtol=1e-6, atol=1e-8)


KEYS = (
    (...,), (slice(None, None, -1),), (..., slice(None, None, -1)), (slice(None, None, -1),) * 2,
    (..., slice(None, 0, -1)), (..., slice(None, None, -2)), (..., slice(3, None, -1)), (..., slice(None, None, 2)),
)  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_turned_around_runs_backwards(name, axis):
    """Turned before and behind, wholly, in part or along the other axis: NumPy's values and slopes."""
    weights = np.random.default_rng(2).normal(size=(5, 4))
    for before, behind in itertools.product(KEYS, KEYS):
        for x in (X[0], X[0, :, :1], X[0, :1]):

            def numpy(x, before=before, behind=behind):
                found = getattr(np, name)(x[before], axis)[behind]
                return (found * weights[: found.shape[0], : found.shape[1]]).sum()

            with by_interpreter():
                value, slope = vd.value_and_grad(numpy(lazy(x)), x)
            np.testing.assert_allclose(value, numpy(x), rtol=1e-12)
            np.testing.assert_allclose(slope, jacobian(numpy, x), rtol=1e-6, atol=1e-7)


def test_a_sum_from_the_end_is_one_operation():
    nodes = topological((np.cumsum(lazy(X)[:, ::-1], axis=1)[:, ::-1].node,))
    assert [(node.op, *node.attrs[:2]) for node in nodes if node.args] == [("cumsum", (-2,), True)]


def test_what_is_taken_in_order_is_computed_before():
    """Exponentials side by side, and only their sums one after another."""
    _, kernel = pipeline.lower(bind((np.cumsum(np.exp(lazy(X[0])), axis=1).node,)), pipeline.values)
    loops = [loop for _, loop in kernel.nests()]
    inside = [{each.sequential for each in loop.body.every_loop()} for loop in loops]
    assert inside == [{False}, {True}]
    statements = [sum(not isinstance(item, Loop) for item in loop.body.walk()) for loop in loops]
    assert statements[0] > 10 * statements[1]


def products_without(x, weights, *places):
    """The weighted sum of the running products that have all of ``places``, without these factors: exact."""
    factors = [Fraction(1) if place in places else Fraction(int(each)) for place, each in enumerate(x)]
    products = itertools.accumulate(factors, operator.mul)
    return sum(int(w) * p for t, (w, p) in enumerate(zip(weights, products, strict=True)) if t >= max(places))


def exact_derivatives(x, weights):
    """The gradient and the Hessian of a weighted sum of running products, which are of degree 1 in each element."""
    places = range(len(x))
    slope = [float(products_without(x, weights, i)) for i in places]
    return slope, [[float(products_without(x, weights, i, j) * (i != j)) for j in places] for i in places]


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("zeros", range(7))
def test_products_of_zeros(zeros, backwards):
    """Gradients, tangents and second derivatives, of whole numbers: exact."""
    rng = np.random.default_rng(zeros)
    x, weights = rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], 6), rng.integers(-5, 6, 6)
    x[rng.permutation(6)[:zeros]] = 0.0
    slope, second = exact_derivatives(x, weights)
    turn = slice(None, None, -1 if backwards else 1)
    given = x[turn].copy()
    target = (lazy(given)[turn].cumprod() * weights.astype(float)).sum()
    np.testing.assert_array_equal(vd.value_and_grad(target, (given,))[1][0][turn], slope)
    np.testing.assert_array_equal(np.asarray(vd.hessian(target, given))[turn, turn], second)
    for e, column in zip(np.eye(6), second, strict=True):
        np.testing.assert_array_equal(np.asarray(vd.hvp(target, given, e[turn]))[turn], column)
    tangents = [np.asarray(vd.jvp(lazy(x).cumprod(), (x,), (e,))[1]) @ weights for e in np.eye(6)]
    np.testing.assert_array_equal(tangents, slope)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("zeros", range(5))
def test_whole_products_of_zeros(zeros):
    x = np.array([2.0, -3.0, 1.0, 5.0])
    x[[1, 3, 0, 2][:zeros]] = 0.0
    slope, second = exact_derivatives(x, [0, 0, 0, 1])
    target = lazy(x).prod()
    np.testing.assert_allclose(vd.value_and_grad(target, (x,))[1][0], slope, rtol=1e-15)
    np.testing.assert_allclose(np.asarray(vd.hessian(target, x)), second, rtol=1e-15, atol=1e-14)  # quotients


@pytest.mark.usefixtures("execution")
def test_slopes_of_products_divide_by_no_factor():
    """Quotients of these would lose digits, or be infinite."""
    x = np.array([1e-310, 3.0, 1e300, 1e-200, 1e300, 1e-310])
    _, (slope,) = vd.value_and_grad(lazy(x).cumprod()[3], (x,))
    np.testing.assert_allclose(slope[:4], [3e100, 1e-210, 3e-310 * 1e-200, 3e-10], rtol=1e-9)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_threads(name, threads):
    x = np.random.default_rng(3).uniform(0.9, 1.1, (70, 300))
    for axis in (0, 1):
        found = np.asarray(getattr(lazy(x), name)(axis) * 1.0)
        np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.usefixtures("execution")
def test_hessians_of_many_rows():
    """Which give every scan a leading axis."""
    x = X[0].copy()
    found = vd.hessian(np.square(lazy(x).cumsum(1)).sum(), x)
    later = np.minimum.outer(4 - np.arange(4), 4 - np.arange(4))
    np.testing.assert_allclose(np.asarray(found), np.einsum("ik,jl->ijkl", np.eye(5), 2.0 * later), atol=1e-12)


def test_nothing_is_compiled_again_for_another_length():
    before = None
    for length in (50, 30, 7):
        x = np.random.default_rng(length).normal(size=length)
        vd.value_and_grad(lazy(x).cumsum().sum(), (x,))
        before = before or pipeline.compilations()
    assert pipeline.compilations() == before
