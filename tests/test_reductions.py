"""Products, extremes, sums of exponentials and Einstein sums, against NumPy and SciPy, with their derivatives."""

import itertools
import warnings

import numpy as np
import pytest
from interpreting import by_interpreter, nothing_computed
from scipy import special, stats

from vecdist import LazyArray, lazy, log_mix, log_softmax, logpdf, logsumexp, mixture, softmax, value_and_grad
from vecdist import compile as compile_function
from vecdist.distributions import Exponential, Normal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4))
AXES = [None, 0, -1, np.int64(1), (), (0,), (0, 2), (-1, 0), (0, 1, 2)]
REDUCTIONS = {
    np.max: np.maximum, np.min: np.minimum, np.prod: np.multiply, np.any: np.logical_or, np.all: np.logical_and,
}
NAN, INF = np.nan, np.inf


def assert_same(found, wanted, scale=0.0):
    """Equal shapes and dtypes; values to a few units of rounding of their own, or of terms as large as ``scale``."""
    wanted = np.asarray(wanted)
    assert isinstance(found, LazyArray) and found.shape == wanted.shape and found.dtype == wanted.dtype
    unit = np.finfo(wanted.dtype).eps if wanted.dtype.kind == "f" else 0.0
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=16 * unit, atol=4 * unit * scale)


def quietly(function, *args, **keywords):
    """What NumPy or SciPy computes, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **keywords)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda function: function.__name__)
def test_reductions_are_numpys(function, axis, keepdims):
    with by_interpreter():
        for dtype in ("f8", "f4", "i8", "i4", "i1", "u8", "u2", "?"):
            x = (X * 3).astype(dtype) if dtype[0] != "u" else np.abs(X * 3).astype(dtype)
            wanted = function(x, axis=axis, keepdims=keepdims)
            assert_same(function(lazy(x), axis=axis, keepdims=keepdims), wanted)
            assert_same(getattr(lazy(x), function.__name__)(axis, keepdims=keepdims), wanted)
            if axis is not None:
                assert_same(REDUCTIONS[function].reduce(lazy(x), axis=axis, keepdims=keepdims), wanted)


def test_the_reduction_of_a_ufunc_is_over_the_first_axis():
    with by_interpreter():
        for function, ufunc in REDUCTIONS.items():
            assert_same(ufunc.reduce(lazy(X)), function(X, axis=0))
        assert_same(np.amax(lazy(X), 1), np.max(X, 1))
        assert_same(np.amin(lazy(X), 1), np.min(X, 1))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_products_in_another_dtype(dtype):
    x = np.array([[1.5, 2.0], [4.0, 5.0]])
    with by_interpreter():
        assert_same(np.prod(lazy(x), axis=0, dtype=dtype), np.prod(x, axis=0, dtype=dtype))
        assert_same(lazy(x).prod(1, dtype), np.prod(x, axis=1, dtype=dtype))


SPECIAL = np.array([
    [1.0, 2.0, 2.0], [NAN, 1.0, 5.0], [1.0, 5.0, NAN], [INF, 1.0, 0.0], [-INF, -INF, -INF], [-INF, 3.0, INF],
    [0.0, -0.0, 0.0], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 1.0, INF], [NAN, NAN, NAN], [1e300, 1e300, 1.0],
    [-1.0, 2.0, -1.0], [INF, INF, 1.0],
])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values_that_are_not_finite(dtype):
    x = quietly(SPECIAL.astype, dtype)
    with by_interpreter():
        for function in REDUCTIONS:
            assert_same(function(lazy(x), axis=1), quietly(function, x, axis=1))
            assert_same(function(lazy(x), axis=0), quietly(function, x, axis=0))
        assert_same(logsumexp(x, axis=1), quietly(special.logsumexp, x, axis=1))


def test_compiled_values_that_are_not_finite():
    """The kernel's extremes are NumPy's, and so is what is made of them."""
    rows, number = lazy(SPECIAL), np.arange(3)
    found = np.where(number == 0, rows.max(axis=1)[:, None], rows.min(axis=1)[:, None])
    found = np.where(number == 2, logsumexp(rows, axis=1, keepdims=True), found)
    wanted = SPECIAL.max(axis=1), SPECIAL.min(axis=1), quietly(special.logsumexp, SPECIAL, axis=1)
    np.testing.assert_allclose(np.asarray(found), np.transpose(wanted), rtol=1e-14)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["i8", "u8", "i1"])
def test_compiled_extremes_of_integers(dtype):
    info = np.iinfo(dtype)
    x = np.array([[info.min, info.min], [info.max, info.min], [info.max, info.max], [3, 7]], dtype)
    assert_same(lazy(x).max(axis=1) - lazy(x).min(axis=1), quietly(lambda: x.max(axis=1) - x.min(axis=1)))


@pytest.mark.parametrize("length", [1, 256, 4096, 10_000])
def test_compiled_reductions_of_long_arrays(length):
    """More than one block: each has partial results of its own."""
    x = np.random.default_rng(length).normal(size=length)
    for place, odd in ((0, None), (length // 2, NAN), (length - 1, 50.0)):
        y = x.copy()
        y[place] = y[place] if odd is None else odd
        total = lazy(y).max() * 3.0 + lazy(y).min() + (1.0 + lazy(y) * 1e-3).prod() + logsumexp(y)
        value, slope = value_and_grad(total, y)
        product, largest = np.prod(1.0 + y * 1e-3), np.exp(y - special.logsumexp(y))
        wanted = y.max() * 3.0 + y.min() + product + special.logsumexp(y)
        reference = 3.0 * (y == y.max()) + (y == y.min()) + product / (1.0 + y * 1e-3) * 1e-3 + largest
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        if odd is not NAN:
            np.testing.assert_allclose(slope, reference, rtol=1e-11, atol=1e-15)


def test_reductions_of_nothing():
    empty = np.zeros((0, 3))
    with by_interpreter():
        for function, axis in itertools.product((np.prod, np.any, np.all), (None, 0, (0, 1), 1)):
            assert_same(function(lazy(empty), axis=axis), function(empty, axis=axis))
            assert_same(function(lazy(empty), axis=axis, keepdims=True), function(empty, axis=axis, keepdims=True))
        for function in (np.max, np.min):
            assert_same(function(lazy(empty), axis=1), function(empty, axis=1))
        assert_same(logsumexp(empty, axis=0), np.full(3, -INF))
        assert_same(logsumexp(empty), -INF)
        assert_same(logsumexp(empty, axis=1), np.zeros(0))
        assert_same(logsumexp(empty, axis=0, keepdims=True), np.full((1, 3), -INF))
    for function, axis in itertools.product((np.max, np.min), (None, 0, (0, 1))):
        with nothing_computed(), pytest.raises(ValueError, match=r"over an axis of length 0.*shape \(0, 3\)"):
            function(lazy(empty), axis=axis)


@pytest.mark.usefixtures("execution")
def test_compiled_reductions_of_nothing():
    function = compile_function(lambda x: x.prod(axis=0) * 2.0 + x.any(axis=0) + x.all(axis=0))
    np.testing.assert_array_equal(function(np.zeros((0, 3))), [3.0, 3.0, 3.0])


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_logsumexp_is_scipys(axis, keepdims):
    with by_interpreter():
        for x in (X, X * 500.0, X - 1e4, X.astype("f4"), (X * 3).astype("i4")):
            whole = isinstance(axis, tuple) and not axis  # nothing is added up
            reference = np.asarray(x) if whole else special.logsumexp(x, axis=axis, keepdims=keepdims)
            wanted, scale = np.asarray(reference, "f4" if x.dtype == "f4" else "f8"), np.abs(x).max()
            assert_same(logsumexp(lazy(x), axis=axis, keepdims=keepdims), wanted, scale)
            assert_same(logsumexp(x, axis, keepdims), wanted, scale)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), None], ids=repr)
def test_softmax_is_scipys(axis):
    with by_interpreter():
        for x in (X, X - 50.0, X.astype("f4")):
            scale = np.abs(x).max()
            assert_same(softmax(lazy(x), axis=axis), special.softmax(x, axis=axis), scale)
            assert_same(log_softmax(lazy(x), axis=axis), special.log_softmax(x, axis=axis), scale)
        assert_same(softmax(X), special.softmax(X, axis=-1), scale=1.0)
        assert_same(log_softmax(X), special.log_softmax(X, axis=-1), scale=1.0)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_softmax_far_from_zero_is_as_exact_as_near_it(dtype):
    """What all elements have in common changes nothing: the largest is taken off before anything is rounded."""
    far, near = np.array([8192.0, 8191.0, 8192.0], dtype), np.array([1.0, 0.0, 1.0], dtype)
    with by_interpreter():
        assert_same(softmax(far), special.softmax(near))
        assert_same(log_softmax(far), special.log_softmax(near))
        _, slope = value_and_grad(logsumexp(lazy(far)), far)
    np.testing.assert_allclose(slope, special.softmax(near), rtol=16 * np.finfo(dtype).eps)


SIDES = [(-1.0, 2.0), (800.0, -3.0), (-INF, 0.0), (-INF, -INF), (5.0, -INF)]


@pytest.mark.parametrize("theta", [0.0, 1e-300, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(("first", "second"), SIDES)
def test_log_mix_of_two_as_in_stan(theta, first, second):
    """log(theta exp(first) + (1 - theta) exp(second)), and its derivatives, that in theta at its ends too."""
    arrays = [np.array(theta), np.array(first), np.array(second)]
    with by_interpreter():
        value, (of_theta, *of_sides) = value_and_grad(log_mix(*map(lazy, arrays)), wrt=tuple(arrays))
    with np.errstate(divide="ignore"):
        wanted = np.logaddexp(np.log(theta) + first, np.log1p(-theta) + second)
    np.testing.assert_allclose(value, wanted, rtol=1e-14, atol=1e-16)
    if wanted > -INF and max(first, second) - value < 700.0:  # else the slope is too large for any number
        up, down = np.exp([first - value, second - value])
        np.testing.assert_allclose(of_sides, [theta * up, (1 - theta) * down], rtol=1e-12)
        np.testing.assert_allclose(of_theta, up - down, rtol=1e-11)


def test_log_mix_of_two_broadcasts():
    theta, first, second = np.array([[0.1], [0.9]]), np.array([1.0, 2.0, 3.0]), np.float64(-1.0)
    wanted = np.log(theta * np.exp(first) + (1 - theta) * np.exp(second))
    with by_interpreter():
        assert_same(log_mix(theta, lazy(first), second), wanted)
        assert_same(log_mix(lazy(theta), first, lazy(second)), wanted)
        assert_same(log_mix(0.5, [1.0, 2.0], [0.0, 1.0]), np.logaddexp([1.0, 2.0], [0.0, 1.0]) - np.log(2.0))
        given = [each.astype("f4") for each in (theta, first, second)]
        assert_same(log_mix(*given), np.log(given[0] * np.exp(given[1]) + (1 - given[0]) * np.exp(given[2])))


def test_log_mix():
    weights, densities = np.array([0.2, 0.5, 0.3]), np.exp(RNG.normal(size=(4, 3)))
    with by_interpreter(), np.errstate(divide="ignore"):
        assert_same(log_mix(np.log(weights), np.log(densities)), np.log(densities @ weights))
        assert_same(log_mix(np.log(weights), lazy(np.log(densities.T)).T), np.log(densities @ weights))
        columns = np.log(weights)[:, None]
        assert_same(log_mix(lazy(columns), np.log(densities.T), axis=0), np.log(densities @ weights))
        nothing = np.log(np.array([0.0, 1.0, 0.0]))
        assert_same(log_mix(nothing, np.array([NAN, 0.5, -INF])[1:2]), 0.5)
        assert_same(log_mix(nothing, np.array([-INF, 0.5, -INF])), 0.5)
        assert_same(log_mix(nothing, np.array([1.0, -INF, 2.0])), -INF)


MU, SIGMA, WEIGHTS = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 1.0, 2.0]), np.array([0.2, 0.5, 0.3])
Y = np.array([-3.0, 0.0, 0.7, 10.0])


def mixed(weights, y=Y):
    return np.log(np.sum(weights * stats.norm.pdf(np.asarray(y)[..., None], MU, SIGMA), axis=-1))


def test_mixtures():
    each = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 0.4, 0.6], [0.3, 0.3, 0.4]])
    with by_interpreter():
        assert_same(logpdf(mixture(WEIGHTS, Normal(MU, SIGMA)), Y), mixed(WEIGHTS))
        square = Y.reshape(2, 2)
        assert_same(logpdf(mixture(lazy(WEIGHTS), Normal(lazy(MU), SIGMA)), square), mixed(WEIGHTS, square))
        assert_same(logpdf(mixture(each, Normal(MU, SIGMA)), Y), mixed(each))
        assert_same(logpdf(mixture(WEIGHTS, Normal(MU, SIGMA)), 0.5), mixed(WEIGHTS, 0.5))
        assert_same(logpdf(mixture(WEIGHTS, Normal(0.0, 1.0)), Y), stats.norm.logpdf(Y))
        weights, scales = np.array([0.25, 0.75]), np.array([1.0, 3.0])
        found = logpdf(mixture(weights, Exponential(scale=scales)), np.array([-1.0, 2.0]))
        assert_same(found, [-INF, np.log(weights @ stats.expon.pdf(2.0, scale=scales))])


def test_a_component_of_weight_zero_has_no_part():
    weights, mu = np.array([0.0, 1.0, 0.0]), MU.copy()
    with by_interpreter():
        value, (of_mu,) = value_and_grad(logpdf(mixture(weights, Normal(mu, SIGMA)), Y).sum(), (mu,))
    np.testing.assert_allclose(value, stats.norm.logpdf(Y, 0.5).sum(), rtol=1e-13)
    np.testing.assert_allclose(of_mu, [0.0, (Y - 0.5).sum(), 0.0], rtol=1e-13)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: mixture(WEIGHTS, Normal), TypeError, "wants a distribution"),
    (lambda: mixture(WEIGHTS[:2], Normal(MU, SIGMA)), ValueError, r"shape \(2,\) and components of shape \(3,\)"),
    (lambda: mixture(0.5, Normal(MU, SIGMA)), ValueError, r"shape \(\)"),
    (lambda: log_mix(WEIGHTS, np.zeros((3, 2))), ValueError, "do not broadcast"),
    (lambda: log_mix(0.3, -1.0), ValueError, r"log_mix takes arrays with .*log_mix\(theta, l1, l2\)"),
    (lambda: log_mix(0.3, lazy(-1.0), 0), ValueError, r"log_mix takes arrays with .*log_mix\(theta, l1, l2\)"),
    (lambda: log_mix(0.3, np.zeros(3), np.zeros(2)), ValueError, "shape mismatch"),
    (lambda: log_mix(WEIGHTS, np.zeros((2, 3)), axis=2), ValueError, "axis 2"),
])
def test_mixtures_that_are_none(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call()


EINSUMS = [
    "i,i->", "ij,j->i", "ij,jk->ik", "ij,kj->ik", "i,j->ij", "i,j->ji", "ij,ij->i", "ij,ij->j", "ij,ij", "ij,jk",
    "ij,j", "ij->", "ij->ji", "ij->j", "ij->i", "ji", "ij", "i->i", "ijk,kl->ijl", "ijk,j->ki", " i j , j -> i ",
    ",i->i", "i,->i", "ij,kl->iljk", "jA,A->j", "ijk->kij",
]


@pytest.mark.parametrize("subscripts", EINSUMS)
def test_einsum_is_numpys(subscripts):
    lengths = {"i": 2, "j": 3, "k": 4, "l": 5, "A": 2}
    terms = subscripts.replace(" ", "").split("->")[0].split(",")
    for dtype in ("f8", "f4", "i4"):
        rng = np.random.default_rng(1)
        arrays = [(rng.normal(size=[lengths[letter] for letter in term]) * 4).astype(dtype) for term in terms]
        arrays = [np.asarray(array, dtype) for array in arrays]
        with by_interpreter():
            wanted, scale = np.einsum(subscripts, *arrays), np.einsum(subscripts, *map(np.abs, arrays)).max()
            assert_same(np.einsum(subscripts, *map(lazy, arrays)), wanted, scale)
            assert_same(np.einsum(subscripts, lazy(arrays[0]), *arrays[1:]), wanted, scale)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.einsum("ij,jk->ik", x, np.ones((3, 2))), ValueError, "lengths 4 and 3 of the axis 'j' differ"),
    (lambda x: np.einsum("ij,j->i", x, x), ValueError, r"'j' names 1 axes of an array of shape \(3, 4\)"),
    (lambda x: np.einsum("i->", x), ValueError, "names 1 axes"),
    (lambda x: np.einsum("ii->i", x), ValueError, "lengths 3 and 4 of the axis 'i' differ"),
    (lambda x: np.einsum("ij->k", x), ValueError, "output letters"),
    (lambda x: np.einsum("ij->ii", x), ValueError, "output letters"),
    (lambda x: np.einsum("...i->i", x), ValueError, "subscripts"),
    (lambda x: np.einsum("ij,j->i", x), ValueError, "of 1 arrays"),
    (lambda x: np.einsum("ij,j,k->i", x, x[0], x), ValueError, "'k' names 1 axes"),
    (lambda x: np.einsum(x, [0, 1]), TypeError, "subscripts as text"),
    (lambda x: np.inner(x, np.ones(3)), ValueError, "inner lengths differ"),
    (lambda x: np.dot(x, np.ones(3)), ValueError, r"inner lengths differ.*\(3, 4\) and \(3,\)"),
    (lambda x: np.ones((2, 2)) @ x, ValueError, "inner lengths differ"),
    (lambda x: np.matmul(np.ones((2, 5, 3)), np.stack([x, x, x])), ValueError, r"np.matmul: .*\(2,\) and \(3,\)"),
    (lambda x: np.matmul(x, 2.0), ValueError, "1 axis or more"),
    (lambda x: x.max(axis=2), ValueError, "axis 2 is out of bounds"),
    (lambda x: x.min(axis=-3), ValueError, "axis -3 is out of bounds"),
    (lambda x: x.prod(axis=(0, 0)), ValueError, "repeated axis"),
    (lambda x: np.any(x, axis=2), ValueError, "axis 2 is out of bounds"),
    (lambda x: np.all(x, axis=(0, -2)), ValueError, "repeated axis"),
    (lambda x: x.max(axis=1.5), TypeError, "float"),
    (lambda x: logsumexp(x, axis=2), ValueError, "axis 2 is out of bounds"),
    (lambda x: softmax(x, axis=-3), ValueError, "axis -3 is out of bounds"),
    (lambda x: log_softmax(x, axis=(1, -1)), ValueError, "repeated"),
    (lambda x: np.max(x, initial=3.0), TypeError, "initial"),
    (lambda x: np.maximum.reduce(x, where=X[0] > 0), TypeError, "where"),
    (lambda x: np.prod(x, out=np.zeros(())), TypeError, "out"),
    (lambda x: np.subtract.reduce(x, axis=None), ValueError, "'subtract' is not reorderable"),
])
def test_wrong_arguments(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X[0].T.copy().T))


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f4"), ("f4", "f8"), ("i4", "i4"), ("i4", "f4"), ("?", "i8")])
def test_products_of_two_arrays(dtypes):
    rng = np.random.default_rng(3)
    m, v = ((rng.normal(size=shape) * 3).astype(dtypes[0]) for shape in ((3, 4), 4))
    n, u, w = ((rng.normal(size=shape) * 3).astype(dtypes[1]) for shape in ((3, 4), 4, 3))
    pairs = {
        np.outer: [(v, w), (m, w), (v, n)],
        np.inner: [(v, u), (m, u), (v, n), (m, n), (v, np.asarray(w[0])), (np.asarray(w[0]), m)],
        np.dot: [(v, u), (m, u), (v, n.T), (m, n.T)],
        np.matmul: [(v, u), (m, u), (v, n.T), (m, n.T)],
    }
    with by_interpreter():
        for function, arguments in pairs.items():
            for a, b in arguments:
                wanted, scale = function(a, b), np.max(function(np.abs(a), np.abs(b)))
                assert_same(function(lazy(a), b), wanted, scale)
                assert_same(function(a, lazy(b)), wanted, scale)


@pytest.mark.usefixtures("execution")
def test_compiled_products_of_two_arrays():
    a, b = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 4))

    def total(a, b):
        return (np.einsum("ij,jk->ki", a, b) ** 2).sum()

    value, (of_a, of_b) = compile_function(total).value_and_grad(a, b)
    np.testing.assert_allclose(value, ((a @ b) ** 2).sum(), rtol=1e-13)
    np.testing.assert_allclose(of_a, 2 * a @ b @ b.T, rtol=1e-12)
    np.testing.assert_allclose(of_b, 2 * a.T @ a @ b, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "least"), [("f4", -87.0), ("f8", -708.0)])
def test_shares_are_normal_numbers_or_none(dtype, least, execution):
    x = np.array([0.0, least + 0.1, least, least - 0.1, least - 10.0, -np.inf], dtype)
    shares = np.asarray(softmax(lazy(x)))
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(shares[:3], np.exp(x[:3].astype("f8")), rtol=2e-6 if dtype == "f4" else 2e-14)
    assert shares[:3].min() >= np.finfo(dtype).tiny
    assert (shares[3:] == 0.0).all()
    assert float(logsumexp(lazy(x))) == 0.0
    _, (slopes,) = value_and_grad(logsumexp(lazy(x)), wrt=(x,))
    np.testing.assert_array_equal(slopes, shares)
