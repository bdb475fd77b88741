"""Compiled functions: traced once for each kind of arguments, then called with arrays."""

import gc
import threading
import weakref

import numpy as np
import pytest
from interpreting import nothing_computed

from vecdist import Compiled, InvalidParameter, LogDensity, compile, lazy, logpdf, value_and_grad  # noqa: A004
from vecdist.distributions import Normal
from vecdist.parameters import real
from vecdist.runtime import pipeline

X, Y = np.array([0.5, 1.5, -2.0]), np.array([1.0, 2.0, 3.0])


def product(a, b):
    """A product, summed."""
    return (a * b).sum()


class Traced:
    """A function that counts how often it is run."""

    def __init__(self, function):
        self.function, self.runs = function, 0

    def __call__(self, *arrays):
        self.runs += 1
        return self.function(*arrays)


def test_a_compiled_function_is_called_with_arrays():
    f = compile(product)
    assert f(X, Y) == (X * Y).sum() and isinstance(f(X, Y), np.float64)
    assert isinstance(f, Compiled) and f.__doc__ == product.__doc__ and f.__name__ == "product"
    assert repr(f) == "<vecdist.compile of product>"
    assert isinstance(compile(lambda a: a * 2)(X), np.ndarray)


def test_one_trace_for_each_shape_and_dtype_one_kernel_for_each_structure():
    traced = Traced(product)
    f = compile(traced)
    f(X, Y)
    before = pipeline.compilations()
    for _ in range(3):
        f(X + 1, Y)
    assert traced.runs == 1
    for length in (5, 1, 0):
        x = np.arange(float(length))
        assert f(x, x) == (x * x).sum()
    assert traced.runs == 4 and pipeline.compilations() == before


def test_dtypes_and_layouts_of_one_shape():
    f = compile(product)
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(2):
        for a in (x, x.astype("f4"), np.asfortranarray(x), x[::-1], x.astype(">f8"), x.tolist()):
            found = f(a, x + 1)
            assert found == (np.asarray(a) * (x + 1)).sum() and found.dtype == np.float64
    bytes_ = np.zeros(8 * 6 + 1, "u1")
    crooked = bytes_[1:].view("f8").reshape(2, 3)
    crooked[...] = x
    assert not crooked.flags.aligned and f(crooked, x) == (x * x).sum()


def test_numbers_as_arguments():
    f = compile(product)
    for number in (2, 2.5, np.int64(3), np.float64(2.5), np.array(3.5), np.array(2), 4, 4.5, np.float32(0.5), 1.5):
        assert f(X, number) == (X * number).sum(), repr(number)


def test_other_libraries_are_read_by_their_arrays():
    class Frame:
        shape = (3,)

        def __array__(self, dtype=None, copy=None):
            return Y

    f = compile(product)
    assert f(X, Frame()) == f(X, lazy(Y)) == f(X, Y)


def test_the_gradient():
    f = compile(product)
    value, grads = f.value_and_grad(X, Y)
    assert value == (X * Y).sum() and isinstance(grads, tuple)
    np.testing.assert_array_equal(grads[0], Y)
    np.testing.assert_array_equal(grads[1], X)
    for wrt in (1, -1, "b", Y):
        for _ in range(2):
            np.testing.assert_array_equal(f.value_and_grad(X, Y, wrt=wrt)[1], X)
    for wrt in ((1, 0), ("b", "a"), ["b", 0], (Y, X), (Y, "a")):
        _, (d_b, d_a) = f.value_and_grad(X, Y, wrt=wrt)
        np.testing.assert_array_equal(d_b, X)
        np.testing.assert_array_equal(d_a, Y)
    assert f.value_and_grad(X, Y, wrt=())[1] == ()


@pytest.mark.usefixtures("execution")
def test_without_wrt_the_gradient_is_in_all_floating_point_arguments():
    f = compile(product)
    value, grads = f.value_and_grad(X, np.array([1, 2, 3]))
    assert len(grads) == 1 and value == (X * [1, 2, 3]).sum()
    np.testing.assert_array_equal(grads[0], [1, 2, 3])
    _, (d_x, d_number) = f.value_and_grad(X, 2.0)
    assert d_number == X.sum() and list(d_x) == [2, 2, 2]


@pytest.mark.usefixtures("execution")
def test_partials():
    f = compile(lambda a, b: a * b)
    value, (d_a, d_b) = f.value_and_partials(X[:, None], Y)
    np.testing.assert_array_equal(value, np.outer(X, Y))
    np.testing.assert_array_equal(d_a, np.broadcast_to(Y, (3, 3)))
    np.testing.assert_array_equal(d_b, np.broadcast_to(X[:, None], (3, 3)))


@pytest.mark.usefixtures("execution")
def test_one_array_in_two_places_is_two_arguments():
    f = compile(product)
    value, (d_a, d_b) = f.value_and_grad(X, X)
    assert value == (X * X).sum()
    np.testing.assert_array_equal(d_a, X)
    np.testing.assert_array_equal(d_b, X)
    with pytest.raises(ValueError, match="given twice, as a and b; name one by position or name"):
        f.value_and_grad(X, X, wrt=X)


@pytest.mark.usefixtures("execution")
def test_a_closure_is_read_where_it_lies():
    data, weights = Y.copy(), lazy(Y) * 2
    f = compile(lambda a: (a * data + a * weights * 0.5).sum())
    assert f(X) == (2 * X * Y).sum()
    data[0] = 10.0
    assert f(X) == (X * data + X * Y).sum()


def test_results_own_their_memory():
    f = compile(lambda a: a * 2)
    first = f(X)
    kept = first.copy()
    second = f(X + 1)
    np.testing.assert_array_equal(first, kept)
    assert not np.shares_memory(first, second)
    _, grads = compile(product).value_and_grad(X, Y)
    assert not any(np.shares_memory(grad, given) for grad in grads for given in (X, Y))
    first[0] = 7.0
    np.testing.assert_array_equal(f(X), kept)


def test_arguments_are_not_kept():
    class Array(np.ndarray):
        pass

    f = compile(product)
    f(X, Y)
    given = Y.copy().view(Array)
    alive = weakref.ref(given)
    assert f(X, given) == (X * Y).sum()
    del given
    gc.collect()
    assert alive() is None


def test_many_threads_may_call():
    f = compile(lambda a, b: np.exp(a * b).sum())
    arrays = [np.full(10 + n, 0.01 * n) for n in range(16)]
    alone = [compile(f.function).value_and_grad(x, x) for x in arrays]
    failures, start = [], threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(20):
            for x, (wanted, (gradient, _)) in zip(arrays, alone, strict=True):
                value, (found, _) = f.value_and_grad(x, x)
                if value != wanted or not np.array_equal(found, gradient):
                    failures.append(x)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def density(scale, x):
    return logpdf(Normal(0.0, scale), x).sum()


@pytest.mark.usefixtures("execution")
def test_invalid_parameters_are_nan():
    f = compile(density)
    assert np.isnan(f.value_and_grad(np.array(-1.0), X)[0]) and np.isfinite(f.value_and_grad(1.0, X)[0])


@pytest.mark.usefixtures("execution")
def test_invalid_parameters_raise_where_wanted():
    traced = Traced(density)
    f = compile(traced, errors="raise")
    assert np.isfinite(f(np.array(1.0), X)) and traced.runs == 1
    with pytest.raises(InvalidParameter, match=r"Normal: scale = -1\.0 is invalid; wanted a finite positive number"):
        f(np.array(-1.0), X)
    with pytest.raises(InvalidParameter, match=r"scale = nan"):
        f.value_and_grad(np.array(np.nan), X)


@pytest.mark.parametrize("error", [KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError])
def test_errors_of_the_function_are_its_own(error):
    def fails(a):
        raise error("mine")

    traced = Traced(fails)
    f = compile(traced)
    for call in (f, f.value_and_grad, f.value_and_partials):
        traced.runs = 0
        with pytest.raises(error, match="mine") as caught:
            call(X)
        assert traced.runs == 1
        assert caught.value.__context__ is None, "how arguments are looked up is nobody's concern"


@pytest.mark.usefixtures("execution")
def test_a_function_that_failed_may_be_called_again():
    def positive(a):
        if a.shape[0] > 3:
            raise ValueError("too long")
        return a.sum()

    f = compile(positive)
    with pytest.raises(ValueError, match="too long"):
        f(np.ones(4))
    assert f(X) == 0


@pytest.mark.parametrize(("function", "instead"), [
    (lambda a: a if a.sum() > 0 else -a, r"np\.where"), (lambda a: a * float(a[0]), "NumPy's functions"),
    (lambda a: a * np.asarray(a), "leave a lazy array as it is"), (lambda a: a * int(a[0]), "NumPy's functions"),
    (lambda a: a * a[0].item(), r"np\.where"), (lambda a: value_and_grad(a.sum(), a)[0] * a, r"np\.where"),
    (lambda a: np.array_equal(a, a) * a, r"np\.where"),
], ids=["if", "float", "asarray", "int", "item", "gradient", "array_equal"])
def test_values_are_not_there_while_a_function_is_compiled(function, instead):
    with pytest.raises(TypeError, match=rf"of a was asked for while its function is being compiled.*{instead}"):
        compile(function)(X)


@pytest.mark.parametrize("listed", [lambda m: [m[0], m[1]], lambda m: (m[0], 1.0), lambda m: np.array([m[0], m[1]])])
def test_a_list_of_lazy_arrays_is_no_array(listed):
    message = r"of [mx] was asked for .* for a list of lazy arrays write np\.stack\(\[a, b\]\)"
    with pytest.raises(TypeError, match=message):
        compile(lambda m: logpdf(Normal(listed(m), 1.0), Y).sum())(X)
    with pytest.raises(TypeError, match=message):
        LogDensity(lambda m: logpdf(Normal(listed(m), 1.0), Y).sum(), m=real(2)).logdensity(np.zeros(2))


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: compile(3), TypeError, "compile wants a function of lazy arrays, given 3"),
    (lambda: compile(product, errors="ignore"), ValueError, "errors is \"nan\" or \"raise\", given 'ignore'"),
    (lambda: compile(lambda a: 3.0)(X), TypeError, "returns a lazy array; <lambda> returned float"),
    (lambda: compile(lambda a: (a, a))(X), TypeError, "returned tuple"),
    (lambda: compile(lambda a: None)(X), TypeError, "returned NoneType"),
    (lambda: compile(product)(X), TypeError, "missing 1 required positional argument"),
    (lambda: compile(product)(X, "a"), TypeError, "dtype <U1 cannot enter"),
    (lambda: compile(product)(X, X * 1j), TypeError, "dtype complex128 cannot enter"),
    (lambda: compile(product)(X, Y[:2]), ValueError, r"shapes \(3,\) and \(2,\) do not broadcast"),
    (lambda: compile(lambda a: a)(X[:, None]).value_and_grad, AttributeError, "value_and_grad"),
    (lambda: compile(lambda a: a * 2).value_and_grad(X), ValueError, r"wants a scalar.*\(3,\).*value_and_partials"),
    (lambda: compile(product).value_and_grad(X, Y, wrt=2), ValueError, "wrt names 2, .* its arguments: a, b"),
    (lambda: compile(product).value_and_grad(X, Y, wrt="c"), ValueError, "wrt names 'c', .* its arguments: a, b"),
    (lambda: compile(product).value_and_grad(X, Y, wrt=X.copy()), ValueError, r"an array of shape \(3,\)"),
    (lambda: compile(product).value_and_grad(X, np.arange(3), wrt=1), TypeError, "b is of dtype int64"),
])
def test_wrong_use(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call()


@pytest.mark.usefixtures("execution")
def test_results_in_given_arrays():
    f = compile(lambda a, b: a[:, None] * b)
    out = np.full((3, 3), np.nan)
    assert f(X, Y, out=out) is out
    np.testing.assert_array_equal(out, np.outer(X, Y))
    f(X + 1, Y, out=out)
    np.testing.assert_array_equal(out, np.outer(X + 1, Y))
    part = np.zeros((4, 3, 3))
    f(X, Y, out=part[2])
    np.testing.assert_array_equal(part[2], np.outer(X, Y))
    assert not part[[0, 1, 3]].any()


@pytest.mark.usefixtures("execution")
def test_derivatives_in_given_arrays():
    value, of_a, of_b = np.empty(()), np.empty(3), np.empty(3)
    f = compile(product)
    found, grads = f.value_and_grad(X, Y, out=(value, of_a, of_b))
    assert found is value and grads[0] is of_a and grads[1] is of_b and value == (X * Y).sum()
    np.testing.assert_array_equal(of_a, Y)
    np.testing.assert_array_equal(of_b, X)
    found, grad = f.value_and_grad(X, 2.0, wrt="a", out=[value, of_a])
    assert grad is of_a and value == 2 * X.sum() and of_a.tolist() == [2, 2, 2]
    values = np.empty(3)
    compile(lambda a, b: np.sin(a) * b).value_and_partials(X, Y, wrt=0, out=(values, of_a))
    np.testing.assert_allclose(values, np.sin(X) * Y, rtol=1e-15)
    np.testing.assert_allclose(of_a, np.cos(X) * Y, rtol=1e-15)


@pytest.mark.usefixtures("execution")
def test_invalid_parameters_raise_with_given_arrays():
    out = np.empty(())
    f = compile(density, errors="raise")
    assert f(np.array(1.0), X, out=out) is out and np.isfinite(out)
    with pytest.raises(InvalidParameter, match=r"scale = -1\.0"):
        f(np.array(-1.0), X, out=out)


HELD, READ_ONLY, BOTH = np.arange(3.0), np.zeros(3), np.zeros(6)
READ_ONLY.flags.writeable = False


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("out", "error", "message"), [
    (np.empty(2), ValueError, r"out has shape \(2,\) and dtype float64, the result shape \(3,\) and dtype float64"),
    (np.empty(3, "f4"), ValueError, "dtype float32, the result shape"),
    (np.empty(6)[::2], ValueError, "out is not C-contiguous"),
    (READ_ONLY, ValueError, "out is read-only"),
    (np.zeros(25, "u1")[1:].view("f8"), ValueError, "not aligned"),
    ([0.0, 0.0, 0.0], TypeError, "out is list, but the result is a NumPy array"),
    (X, ValueError, r"out\[0\] shares memory with a, "),
    (HELD, ValueError, "shares memory with an array that the function holds"),
])
def test_arrays_that_cannot_be_written_to(out, error, message):
    before = np.array(out)
    with pytest.raises(error, match=message):
        compile(lambda a, b: a * b + HELD)(X, Y, out=out)
    np.testing.assert_array_equal(out, before)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("out", "error", "message"), [
    ((np.empty(()), BOTH[:3]), TypeError, "out is a tuple of 3 arrays, one for each result in order; given 2 of them"),
    (np.empty(3), TypeError, "out is a tuple of 3 arrays, .* given ndarray"),
    ((np.empty(()), BOTH[:3], BOTH[2:5]), ValueError, r"out\[2\] shares memory with out\[1\]"),
    ((np.empty(()), BOTH[:3], Y), ValueError, r"out\[2\] shares memory with b"),
    ((np.empty(1), BOTH[:3], BOTH[3:]), ValueError, r"out\[0\] has shape \(1,\)"),
])
def test_arrays_that_derivatives_cannot_be_written_to(out, error, message):
    with pytest.raises(error, match=message):
        compile(product).value_and_grad(X, Y, out=out)


def test_graphs_are_of_launches_on_a_gpu():
    with pytest.raises(TypeError, match="graph=True wants CuPy arrays"):
        compile(product, graph=True)(X, Y)
    with pytest.raises(TypeError, match="graph=True wants CuPy arrays"):
        compile(product, graph=True).value_and_grad(X, Y)
    with pytest.raises(ValueError, match='graph=True wants errors="nan"'):
        compile(product, errors="raise", graph=True)
    with pytest.raises(ValueError, match="out is for functions compiled without graph=True"):
        compile(product, graph=True)(X, Y, out=np.empty(()))
