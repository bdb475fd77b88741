"""Lazy arrays: known without computing, computed once, and read wherever a NumPy array is."""

import gc
import math
import weakref

import numpy as np
import pytest
from interpreting import by_interpreter, counted_launches, nothing_computed

from vecdist import LazyArray, lazy, logpdf, value_and_grad
from vecdist.distributions import Normal
from vecdist.graph.node import topological
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline

X = np.arange(6.0).reshape(2, 3)


def layouts(array):
    """The same elements in other places of memory."""
    readonly = array.copy()
    readonly.flags.writeable = False
    wide = np.zeros([2 * n for n in array.shape], array.dtype)[(slice(None, None, 2),) * array.ndim]
    wide[...] = array
    return {
        "dense": array.copy(), "readonly": readonly, "fortran": np.asfortranarray(array), "strided": wide,
        "reversed": array[::-1].copy()[::-1], "transposed": array.T.copy().T, "foreign": array.astype(">f8"),
    }


def test_all_that_is_known_is_known_without_computing():
    with nothing_computed():
        y = np.exp(lazy(X) + np.ones((4, 1, 1), "f4")).sum(axis=1)
        assert (y.shape, y.dtype, y.ndim, y.size, y.device, len(y)) == ((4, 3), np.float64, 2, 12, "cpu", 4)
        assert (np.shape(y), np.ndim(y), np.size(y), np.size(y, 1), np.result_type(y, "f4")) == ((4, 3), 2, 12, 3, "f8")
        assert y.T.shape == (3, 4) and y.ravel().shape == (12,) and y.astype("f4").dtype == np.float32
        assert [row.shape for row in y] == [(3,)] * 4
        assert "(4, 3)" in repr(y) and "float64" in repr(y)


@pytest.mark.usefixtures("execution")
def test_a_value_is_computed_once():
    with counted_launches() as launches:
        y = lazy(X) * 2
        first = np.asarray(y)
        assert np.asarray(y) is first and y.compute() is first
        assert np.array_equal(y, 2 * X) and list(np.asarray(y, "f4")[0]) == [0, 2, 4]
        assert launches.call_count == 1
        total = y.sum()
        assert float(total) == total.item() == int(total) == 30 and bool(total)
        assert launches.call_count == 2


@pytest.mark.usefixtures("execution")
def test_copies():
    y = lazy(X) + 0.5
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(y)[0] = 1  # it is kept, and would be wrong when it is asked for again
    kept = np.array(y, copy=False)
    copied = np.array(y, copy=True)
    assert np.shares_memory(kept, y.compute()) and not np.shares_memory(copied, kept)
    with pytest.raises(ValueError, match="copy"):
        np.array(y, dtype="f4", copy=False)


@pytest.mark.usefixtures("execution")
def test_computing_does_not_lend_the_input():
    x = np.ones(3)
    assert not np.shares_memory(np.asarray(lazy(x)), x)


@pytest.mark.usefixtures("execution")
def test_exchange_by_dlpack():
    y = lazy(X) * 2
    found = np.from_dlpack(y)
    np.testing.assert_array_equal(found, 2 * X)
    assert np.shares_memory(found, y.compute()) and y.__dlpack_device__() == (1, 0)
    assert not hasattr(y, "__cuda_array_interface__")


def test_conversions_to_python():
    with by_interpreter():
        assert float(lazy(np.array([2.5])).sum()) == 2.5 and isinstance(float(lazy(2.5)), float)
        assert int(lazy(np.array(3))) == 3 and isinstance(lazy(np.array(3)).item(), int)
        assert bool(lazy(np.array([[True]]))) and not lazy(np.array(0.0))
        assert lazy(X)[1, 2].item() == 5 and [float(v) for v in lazy(X)[0]] == [0, 1, 2]
        assert sum(lazy(np.ones(3))).item() == 3


PLACELESS = pytest.mark.parametrize("number", [2.5, -0.5, 1234.5678, 3, 0.0])


@PLACELESS
def test_an_array_without_axes_is_written_as_its_number(number):
    x, wanted = lazy(np.array(number)), np.array(number)
    with by_interpreter():
        for spec in (".2f", ">10.3e", "+.1f", "g"):
            assert format(x, spec) == format(wanted, spec) == f"{x:{spec}}"
        assert f"{x}" == str(x) == repr(x)


@PLACELESS
def test_an_array_without_axes_is_rounded_and_converted_as_numpys_number(number):
    x, wanted = lazy(np.array(number)), np.asarray(number)[()]
    with by_interpreter():
        found = [round(x), round(x, 2), int(x), float(x), complex(x), bool(x), math.floor(x), math.ceil(x)]
    assert found == [
        round(wanted), round(wanted, 2), int(wanted), float(wanted), complex(wanted), bool(wanted), math.floor(wanted),
        math.ceil(wanted),
    ]
    assert [type(each) for each in found[:2]] == [int, type(wanted.item())]


def test_whole_numbers_are_indices():
    with by_interpreter():
        assert [10, 20, 30][lazy(np.array(1))] == 20 and list(range(lazy(np.array(3, "u2")))) == [0, 1, 2]
        assert np.arange(5)[lazy(np.array(2))] == 2
    for array in (np.array(1.0), np.array([1]), np.array(True)):
        with pytest.raises(TypeError, match="an index is a whole number, not an array of shape"):
            [10, 20][lazy(array)]


def test_many_elements_have_no_format():
    with pytest.raises(TypeError, match=r"no number, but an array of shape \(2, 3\).*'\.2f'"):
        format(lazy(X), ".2f")


@pytest.mark.parametrize("convert", [float, int, LazyArray.item])
def test_only_one_element_is_a_number(convert):
    with nothing_computed(), pytest.raises(ValueError, match=r"one element is a number; this one has shape \(2, 3\)"):
        convert(lazy(X))


def test_the_truth_of_many_elements_is_ambiguous():
    with nothing_computed(), pytest.raises(ValueError, match=r"shape \(2, 3\) is ambiguous.*np\.where"):
        assert lazy(X) > 0


def test_arrays_of_no_axes_have_no_length():
    for ask in (len, list):
        with pytest.raises(TypeError, match="no axes"):
            ask(lazy(np.array(1.0)))


def test_lazy_of_lazy_is_itself():
    x = lazy(X)
    assert lazy(x) is x and lazy(X).node is x.node


def test_lazy_arrays_are_hashed_by_identity():
    x, y = lazy(X), lazy(X)
    assert len({x, y, x}) == 2


def test_lists_and_numbers_become_lazy_arrays():
    with by_interpreter():
        assert (lazy([1, 2, 3]) * 2).sum().item() == 12
        assert (lazy(2) * 3).item() == 6 and lazy(2).dtype == np.int64 and lazy(True).dtype == bool
        assert lazy(np.float32(2)).dtype == np.float32


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("layout", layouts(X))
def test_every_layout_is_read(layout):
    array = layouts(X)[layout]
    weights = np.arange(1.0, 4.0)
    value, (grad,) = value_and_grad((np.square(lazy(array)) * weights).sum(), wrt=(array,))
    assert value == (X**2 * weights).sum()
    np.testing.assert_array_equal(grad, 2 * X * weights)
    assert grad.dtype.isnative and grad.flags.c_contiguous


@pytest.mark.parametrize("layout", ["fortran", "strided", "reversed", "transposed"])
def test_other_layouts_are_read_in_place(layout):
    array = layouts(X)[layout]
    bound = bind(((lazy(array) * 2.0).sum().node,))
    (slot,) = [node for node in topological(bound.roots) if node.op == "slot" and node.shape]
    assert slot.attrs[1] == "strided"
    assert any(np.shares_memory(leaf.array, array) and leaf.array.strides == array.strides for leaf in bound.leaves)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("shape", [(), (1,), (0,), (1, 1), (0, 3), (3, 0), (1, 3)])
def test_small_shapes(shape):
    array = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)
    value, grad = value_and_grad((lazy(array) ** 2).sum(), wrt=array)
    assert value == (array**2).sum() and grad.shape == shape
    np.testing.assert_array_equal(grad, 2 * array)
    np.testing.assert_array_equal(np.asarray(lazy(array) ** 2), array**2)


def test_float32_stays_float32():
    x, n = np.linspace(0.5, 2, 5, dtype="f4"), np.arange(5)
    mu = np.array(0.5, "f4")
    target = logpdf(Normal(mu, 2.0), x) * 2.0 + np.log(lazy(x)) / 3
    assert target.dtype == target.sum().dtype == target.mean().dtype == np.float32
    assert (lazy(x) * n).dtype == np.float64, "as NumPy promotes"
    assert logpdf(Normal(mu, 1), n).dtype == np.float32, "integers are data"
    with by_interpreter():
        value, (d_mu, d_x) = value_and_grad(target.sum(), wrt=(mu, x))
        assert {value.dtype, d_mu.dtype, d_x.dtype, np.asarray(target).dtype} == {np.dtype("f4")}


def test_float32_is_added_up_in_float64():
    x = np.full(2**20, 0.1, "f4")
    np.testing.assert_allclose(lazy(x).sum().item(), x.astype("f8").sum(), rtol=1e-7)


@pytest.mark.usefixtures("execution")
def test_the_gradient_of_a_mixed_expression_has_each_arrays_dtype():
    a, b = np.ones(3, "f4"), np.ones(3)
    _, grads = value_and_grad((lazy(a) * b).sum(), wrt=(a, b))
    assert [grad.dtype for grad in grads] == [np.float32, np.float64]


def test_other_data_and_lengths_do_not_compile_again():
    def both(rows, columns):
        rng = np.random.default_rng(rows)
        x, y = rng.normal(size=(rows, columns)), rng.uniform(1, 2, columns)
        expr = (lazy(x) * y + np.exp(lazy(y))).sum(axis=1)
        wanted = (x * y + np.exp(y)).sum(axis=1)
        np.testing.assert_allclose(np.asarray(expr), wanted, rtol=1e-12)
        value, (grad,) = value_and_grad(expr.sum(), wrt=(y,))
        np.testing.assert_allclose(value, wanted.sum(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(grad, x.sum(axis=0) + rows * np.exp(y), rtol=1e-12)

    for columns in (4, 1, 17, 40):  # up to 16 of them are written out; rows that are not short run in another way
        both(10, columns)
    before = pipeline.compilations()
    for shape in ((3, 4), (4, 4), (7, 18), (7, 24), (100, 50), (2, 0)):
        both(*shape)
    assert pipeline.compilations() == before
    for shape in ((1, 1), (1, 4), (0, 1), (1, 17)):
        both(*shape)
    assert pipeline.compilations() == before, "lengths 1 and 0 are lengths like any other"


@pytest.mark.usefixtures("execution")
def test_numbers_are_arguments_of_the_program():
    def compute(scale):
        return np.asarray(np.exp(lazy(X) * scale))

    compute(0.5)
    before = pipeline.compilations()
    np.testing.assert_allclose(compute(0.25), np.exp(X * 0.25))
    assert pipeline.compilations() == before


def test_values_that_nobody_holds_are_forgotten():
    class Array(np.ndarray):
        pass

    x = np.ones(3).view(Array)
    alive = weakref.ref(x)
    y = lazy(x) * 2
    with by_interpreter():
        y.compute()
    del x, y
    gc.collect()
    assert alive() is None
