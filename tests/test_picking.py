"""Indexing by arrays of whole numbers: NumPy's elements, gradients that add up, and errors for what is not there."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, integer_array_indices
from interpreting import by_interpreter, nothing_computed
from loop_executor import run_loops

from vecdist import InvalidIndex, InvalidParameter, hessian, lazy, value_and_grad
from vecdist import compile as compile_function
from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.primitives.structure import rebuilt
from vecdist.runtime import pipeline

X = np.arange(60.0).reshape(3, 4, 5) ** 1.5
A = np.array([2, 0, 0, -1])
B = np.array([1, -4, 3, 3])
PAIRS = np.array([[0, 1], [-1, 2], [0, 0]])
ALL = slice(None)
KEYS = {
    "an array": A,
    "a list": [2, 0, -1],
    "a list of lists": [[0, 1], [2, -3]],
    "a range": range(0, 3, 2), "ranges": (range(3), range(3)), "tuples": ((0, 2), slice(None), (1, -1)),
    "an array of two axes": PAIRS,
    "an empty array": np.zeros(0, "i8"),
    "an empty array of two axes": np.zeros((2, 0), "i4"),
    "an empty list": [],
    "no axes": np.array(2),
    "no axes, negative": np.array(-3, "i1"),
    "one element": np.array([1]),
    "int8": A.astype("i1"),
    "int16": A.astype("i2"),
    "int32": A.astype("i4"),
    "uint8": np.array([2, 0, 1, 2], "u1"),
    "uint32": np.array([2, 0, 1, 2], "u4"),
    "uint64": np.array([2, 0, 1, 2], "u8"),
    "strided": np.array([0, 9, 2, 9, 1, 9])[::2],
    "second axis": (ALL, B),
    "last axis": (..., B),
    "last axis by a list": (..., [0, -1]),
    "second axis, two axes": (ALL, PAIRS),
    "adjacent": (A, B),
    "adjacent, at the end": (ALL, B, np.array([0, 4, -5, 2])),
    "all axes": (A, B, np.array([0, 4, -5, 2])),
    "adjacent, other dtypes": (A.astype("i1"), B.astype("i4")),
    "adjacent lists": ([0, 1], [2, 3]),
    "outer product": (A[:, None], B[:3]),
    "outer product of three": (A[:, None, None], B[:2, None], np.array([0, 2, 4])),
    "broadcast axis of one": (PAIRS, np.array([[1, 2]])),
    "array and no axes": (A, np.array(1)),
    "parted": (A, ALL, np.array([0, 4, -5, 2])),
    "parted, two axes": (PAIRS, ALL, PAIRS),
    "parted by a new axis": (A, None, B),
    "parted by an ellipsis": (A, ..., np.array([0, 4, -5, 2])),
    "parted by a slice with a step": (A, slice(None, None, -2), A),
    "with a number before": (1, B),
    "with a number behind": (A, -1),
    "with a number between": (A, 2, A),
    "with a number far away": (1, ALL, B),
    "with a number far behind": (A, ALL, 3),
    "with a NumPy integer": (np.int64(1), B),
    "with numbers on both sides": (1, B, 2),
    "slice before": (slice(1, None), B),
    "slice behind": (A, slice(3, 0, -2)),
    "slices around": (slice(1, None), B, slice(None, None, 2)),
    "empty slice behind": (A, slice(2, 2)),
    "new axis in front": (None, A),
    "new axis behind": (A, None),
    "new axes everywhere": (None, A, None, ..., None),
    "new axis, slice, array": (None, ALL, B, None),
    "ellipsis in front": (..., A),
    "ellipsis of nothing": (A, B, ..., A),
    "number, new axis, array": (0, None, B),
}


def in_loops(result, *wrt):
    """The value and gradient as the loops compute them, which leave no array."""
    roots = (result.node, *map(leaf, wrt))
    bound = bind(roots)
    kernel = pipeline.lower(bound, gradient_of, "nan")[1]
    return run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)[0]


@pytest.mark.parametrize("name", KEYS)
def test_indexing_is_numpys(name):
    key = KEYS[name]
    with nothing_computed():
        found = lazy(X)[key]
    assert found.shape == X[key].shape and found.dtype == X.dtype
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(found), X[key])
        np.testing.assert_array_equal(np.asarray((lazy(X) * 2)[key] + 1), X[key] * 2 + 1)


@pytest.mark.parametrize("name", KEYS)
def test_gradients_add_up(name):
    """The weights of all that was picked, added to where it came from."""
    key = KEYS[name]
    weights = np.arange(1.0, X[key].size + 1).reshape(X[key].shape)
    wanted = np.zeros(X.shape)
    np.add.at(wanted, key, weights)
    with by_interpreter():
        value, slope = value_and_grad((lazy(X)[key] * weights).sum(), X)
        _, squares = value_and_grad((lazy(X)[key] ** 2).sum(), X)
    np.testing.assert_allclose(value, (X[key] * weights).sum(), rtol=1e-13)
    np.testing.assert_array_equal(slope, wanted)
    counts = np.zeros(X.shape)
    np.add.at(counts, key, 1.0)
    np.testing.assert_allclose(squares, 2 * X * counts, rtol=1e-13)


@st.composite
def keys(draw):
    """A shape and a key that mixes index arrays, numbers, slices, new axes and an ellipsis."""
    shape = draw(array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    picked = draw(integer_array_indices(shape, result_shape=array_shapes(min_dims=0, max_dims=2, max_side=3)))
    key = []
    for length, index in zip(shape, picked, strict=True):
        kind = draw(st.sampled_from(("array", "array", "number", "slice", "all")))
        slices = slice(draw(st.integers(-length, length)), None, draw(st.sampled_from((1, -1, 2))))
        number = draw(st.integers(-length, length - 1))
        key += [None] if draw(st.integers(0, 5)) == 0 else []
        key.append({"array": index, "number": number, "slice": slices, "all": ALL}[kind])
    whole = [place for place, item in enumerate(key) if isinstance(item, slice) and item == ALL]
    if whole and draw(st.booleans()):
        key[draw(st.sampled_from(whole))] = Ellipsis
    return shape, tuple(key)


@settings(max_examples=150)
@given(keys())
def test_random_keys_are_numpys(pair):
    shape, key = pair
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    found = lazy(x)[key]
    assert found.shape == np.shape(x[key])
    wanted = np.zeros(shape)
    np.add.at(wanted, key, 2 * x[key])
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(found), x[key])
        np.testing.assert_array_equal(value_and_grad((found * found).sum(), x)[1], wanted)


@pytest.mark.parametrize("shape", [(1, 2, 1), (2, 1, 2), (1, 1, 2), (2, 1, 1), (1, 2), (2, 1), (1, 1)], ids=str)
def test_axes_of_one_element_are_no_others(shape):
    """All keys of these, in an array of any lengths of 1: which axis has been picked is not told by its length."""
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    for key in itertools.product((np.array(0), [0], 0, ALL), repeat=x.ndim):
        wanted = np.zeros(shape)
        np.add.at(wanted, key, 2 * x[key])
        found = lazy(x)[key]
        value, slope = in_loops((found * found).sum(), x)
        np.testing.assert_array_equal(value, (x[key] ** 2).sum())
        np.testing.assert_array_equal(slope.reshape(shape), wanted)
        with by_interpreter():
            np.testing.assert_array_equal(value_and_grad((found * found).sum(), x)[1], wanted)


@pytest.mark.parametrize("index", [A, 1, [2, 0], PAIRS, np.array(-1), np.zeros(0, "i4")], ids=repr)
def test_take_is_numpys(index):
    with by_interpreter():
        for axis in (None, 0, 1, -1):
            wanted = np.take(X, index, axis=axis)
            found = np.take(lazy(X), index, axis=axis), lazy(X).take(index, axis)
            for each in found:
                assert each.shape == wanted.shape
                np.testing.assert_array_equal(np.asarray(each), wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u2", "?"])
def test_elements_of_every_dtype(dtype):
    x = np.array([0, 1, 3]).astype(dtype)
    with by_interpreter():
        found = np.asarray(lazy(x)[A])
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, x[A])


def test_a_lazy_index_is_an_index():
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(lazy(X)[lazy(A), lazy(B) * 0]), X[A, B * 0])
        np.testing.assert_array_equal(np.asarray(lazy(X)[lazy(A) - 1]), X[A - 1])
        np.testing.assert_array_equal(np.asarray(lazy(X[:, 0, 0])[lazy(A)][lazy(B[2:] - 4)]), X[A[B[2:] - 4], 0, 0])


def test_an_index_has_no_derivative():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    with by_interpreter():
        _, slope = value_and_grad((lazy(weights)[np.array([0, 0])] * lazy(weights)[np.array([1, 3])]).sum(), weights)
    np.testing.assert_array_equal(slope, [6.0, 1.0, 0.0, 1.0])


def test_second_derivatives_of_repeated_indices():
    x, index = np.array([0.5, -1.0, 2.0]), np.array([0, 2, 2, -1])
    wanted = np.diag(6 * x * np.bincount(index % 3, minlength=3))
    with by_interpreter():
        np.testing.assert_allclose(hessian((lazy(x)[index] ** 3).sum(), x), wanted, rtol=1e-13)


def test_groups_without_members_have_no_derivative():
    mu, group, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([3, 1, 1]), np.array([1.0, 2.0, 4.0])
    value, slope = in_loops(((lazy(mu)[group] - y) ** 2).sum(), mu)
    np.testing.assert_allclose(value, 0.6**2 + 1.8**2 + 3.8**2, rtol=1e-14)
    np.testing.assert_allclose(slope, [0.0, -11.2, 0.0, -1.2], rtol=1e-14)
    nothing, flat = in_loops(((lazy(mu)[group[:0]] - y[:0]) ** 2).sum(), mu)
    assert nothing == 0.0 and flat.tolist() == [0.0] * 4


def test_compiled_kernels_pick_and_add():
    """One kernel for indices of any number: repeated, negative, of two axes, before and behind a slice."""
    x, u, v = X.copy(), np.array([0, 2, -1, 0, 0]), np.array([3, -4, 1, 3, 3])
    weights = np.arange(1.0, 26.0).reshape(5, 5)

    def total(x, u, v, w):
        return (x[u, v] * w).sum() + (x[u, :, v] ** 2).sum()

    function = compile_function(total)
    for count in (5, 3, 1):
        arguments = x, u[:count], v[:count], weights[:count]
        value, slope = function.value_and_grad(*arguments, wrt=0)
        with by_interpreter():
            wanted, reference = value_and_grad(total(lazy(x), *map(lazy, arguments[1:])), x)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        np.testing.assert_allclose(value, total(*arguments), rtol=1e-13)
        np.testing.assert_allclose(slope, reference, rtol=1e-13)


SINGLE = {
    "of no axes": (np.array([1.0, 2.0, 3.0]), lambda x: x[np.array(1)] ** 2, [0.0, 4.0, 0.0]),
    "of one": (np.array([1.0, 2.0, 3.0]), lambda x: (x[np.array([1])] ** 2).sum(), [0.0, 4.0, 0.0]),
    "of no axes, from one": (np.array([3.0]), lambda x: (x[np.array(0)] + x * np.ones(3)).sum(), [6.0]),
    "of one, from one": (np.array([3.0]), lambda x: (x[np.array([0])] * np.ones(3) + x * np.ones(3)).sum(), [6.0]),
    "of two, from one": (np.array([3.0]), lambda x: x[np.array([0, 0])].sum() + (x * np.ones(3)).sum(), [5.0]),
}


@pytest.mark.parametrize("name", SINGLE)
def test_gradients_of_a_single_pick(name):
    """Nothing varies along a loop: the one element is added all the same."""
    x, function, wanted = SINGLE[name]
    value, slope = in_loops(function(lazy(x)), x)
    assert value == function(x) and np.ravel(slope).tolist() == wanted


@pytest.mark.usefixtures("execution")
def test_a_compiled_gradient_of_a_single_pick():
    x, function, wanted = SINGLE["of no axes"]
    value, slope = value_and_grad(function(lazy(x)), x)
    assert value == function(x) and slope.tolist() == wanted


def test_many_elements_of_few_groups_are_added_exactly():
    """More than one block of rows, and more than one thread's share."""
    rng = np.random.default_rng(0)
    mu, group, weights = np.zeros(7), rng.integers(-7, 7, 50_000), rng.integers(-9, 9, 50_000).astype("f8")
    _, slope = value_and_grad((lazy(mu)[group] * weights).sum(), mu)
    np.testing.assert_array_equal(slope, np.bincount(group % 7, weights, 7))


@pytest.mark.usefixtures("execution")
def test_other_indices_and_tables_are_not_compiled_for_again():
    def picked(table, index):
        return value_and_grad((lazy(table)[index] * 3.0).sum(), table)[1]

    picked(np.zeros(4), np.array([1, 2]))
    before = pipeline.compilations()
    for length, count in itertools.product((1, 5, 40), (1, 7, 300)):
        index = np.arange(count) % length
        np.testing.assert_array_equal(picked(np.zeros(length), index), 3.0 * np.bincount(index, minlength=length))
    assert pipeline.compilations() == before


@pytest.mark.parametrize(("key", "message"), [
    (np.array([0.0, 1.0]), "whole numbers.*float64"),
    ([0.5], "whole numbers.*float64"),
    (np.array([True, False]), r"mask of shape \(2,\) does not fit axis 0"),
    (lambda: lazy(X) > 3, "booleans.*np.where"),
    ([True, False, True, True], r"mask of shape \(4,\)"),
    ((A, A, A, A), "4 indices for an array of 3 axes"),
    ((..., A, ...), "more than one"),
    ((A, np.array([0, 1, 2])), r"\(4,\), \(3,\), do not broadcast"),
    ((PAIRS, ALL, A), r"\(3, 2\), \(4,\), do not broadcast"),
    ((A, "a"), "not str"),
    ((A, 7), "index 7 is out of range for axis 1 of length 4"),
    ((7, A), "index 7 is out of range for axis 0 of length 3"),
])
def test_keys_that_are_none(key, message):
    with nothing_computed(), pytest.raises(IndexError, match=message):
        lazy(X)[key() if callable(key) else key]


@pytest.mark.parametrize(("index", "message"), [
    (np.array([0, 3, -5]), r"index\[1\] = 3 is invalid; wanted -3 to 2"),
    (np.array([2, -4, 9]), r"index\[1\] = -4 is invalid; wanted -3 to 2"),
    (np.array([0, -(2**63), 1]), rf"index\[1\] = {-2**63} is invalid"),
    (np.array([2**63 - 1, 0, 0]), rf"index\[0\] = {2**63 - 1} is invalid"),
    (np.array([0, 1, 2**64 - 1], "u8"), rf"index\[2\] = {2**64 - 1} is invalid"),
    (np.array([0, 1, 255], "u1"), r"index\[2\] = 255 is invalid"),
    (np.array([0, 1, -128], "i1"), r"index\[2\] = -128 is invalid"),
    (np.array(3), "index = 3 is invalid"),
    (np.array([[0, 1], [2, -4]]), r"index\[1, 1\] = -4 is invalid"),
], ids=str)
def test_the_first_index_that_is_out_of_range_is_named(index, message):
    raises(lazy(np.array([1.0, 2.0, 3.0]))[index], rf"indexing axis 0 of length 3: {message}")


def raises(picked, message):
    """Finding what is invalid raises an error with this message."""
    with by_interpreter(), pytest.raises(InvalidIndex, match=message):
        pipeline.raise_invalid((picked.node,))


def test_an_invalid_index_is_an_index_error_and_an_invalid_parameter():
    assert issubclass(InvalidIndex, IndexError) and issubclass(InvalidIndex, InvalidParameter)


@pytest.mark.parametrize(("key", "message"), [
    ((np.array([[0], [-3]]), np.array([[0, 1], [4, 9]])), r"axis 1 of length 4: index\[1, 0\] = 4 .* -4 to 3"),
    ((A, ALL, np.array([0, 1, 2, 5])), r"axis 2 of length 5: index\[3\] = 5"),
    ((ALL, ALL, np.array([0, 5])), r"axis 2 of length 5: index\[1\] = 5"),
    ((1, ALL, np.array([0, 5])), r"axis 2 of length 5: index\[1\] = 5"),
    ((1, np.array([0, 5])), r"axis 1 of length 4: index\[1\] = 5"),
    ((None, np.array([0, 5])), r"axis 0 of length 3: index\[1\] = 5"),
], ids=str)
def test_the_axis_that_is_named_is_that_of_the_array(key, message):
    raises(lazy(X)[key], message)


@pytest.mark.usefixtures("execution")
def test_compiled_functions_give_nan_or_raise():
    x, index = np.array([1.0, 2.0, 3.0]), np.array([0, 3, -4, 2])
    quiet = compile_function(lambda x, index: x[index] * 2)
    np.testing.assert_array_equal(quiet(x, index), [2.0, np.nan, np.nan, 6.0])
    loud = compile_function(quiet.function, errors="raise")
    with pytest.raises(InvalidIndex, match=r"index\[1\] = 3"):
        loud(x, index)
    np.testing.assert_array_equal(loud(x, index % 3), x[index % 3] * 2)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_loops_never_leave_the_array(dtype):
    info, x = np.iinfo(dtype), np.arange(1000.0, 1012.0)[4:8]
    index = np.array([info.max, info.min or info.max - 1, 4, 5, 1], dtype)
    value, slope = in_loops(np.where(lazy(x)[index] > 0, lazy(x)[index], 0.0).sum(), x)
    assert value == 1005.0 and slope.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_an_empty_array_has_no_element_to_pick():
    empty = np.zeros(0)
    with pytest.raises(IndexError, match="axis 0 has length 0"):
        lazy(empty)[np.array([0, 1])]
    assert lazy(empty)[np.zeros(0, int)].shape == (0,)


def test_an_empty_slice_of_one_element_has_no_derivative():
    x, beside = np.array([3.0]), np.array([7.0, 8.0])
    value, slope = in_loops((lazy(x)[::-1][1:] * beside[:0]).sum(), x)
    assert value == 0.0 and slope.tolist() == [0.0]


def test_an_element_that_is_not_there_spoils_no_other_derivative():
    """The value is NaN; the gradient in the elements that are there is theirs."""
    x = np.array([1.0, 2.0, 3.0])
    value, slope = in_loops((lazy(x)[np.array([1, 9])] ** 2).sum(), x)
    assert np.isnan(value) and slope[1:].tolist() == [4.0, 0.0]


def test_kernels_never_leave_the_array():
    """Indices far outside of memory would end the process, and those just outside find what lies beside the array."""
    x = np.arange(1000.0, 1012.0)[4:8]
    index = np.array([2**63 - 1, -(2**63), 4, -5, 2**61, 1])
    function = compile_function(lambda x, index: np.where(x[index] > 0, x[index], 0.0).sum())
    slope = np.full(8, 7.0)
    value, _ = function.value_and_grad(x, index, wrt=0, out=(np.empty(()), slope[2:6]))
    assert value == 1005.0 and slope.tolist() == [7.0, 7.0, 0.0, 1.0, 0.0, 0.0, 7.0, 7.0]


def test_an_index_into_nothing_is_out_of_range():
    empty = np.zeros((0, 4))
    with by_interpreter():
        assert np.asarray(lazy(empty)[np.zeros(0, "i8")]).shape == (0, 4)
        assert np.asarray(lazy(empty)[:, A % 4]).shape == (0, 4)
    with pytest.raises(IndexError, match="axis 0 has length 0"):
        lazy(empty)[np.array([0])]


def test_the_length_of_an_axis_is_a_number_whatever_is_put_in_its_place():
    """Picks from what was picked before ask for the length of a checked array, whose check is taken out."""
    x, other = (lazy(np.ones((4, 3))).node, lazy(np.zeros((4, 3))).node)
    length = Node("extent", (x,), ((-2,),), (), np.dtype(np.float64))
    assert rebuilt(length, (other,)).shape == ()
