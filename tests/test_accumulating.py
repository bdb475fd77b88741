"""Logarithms of running sums of exponentials, and the methods of ufuncs: values, dtypes and derivatives."""

import numpy as np
import pytest
from flint import arb, ctx
from interpreting import by_interpreter, nothing_computed
from scipy import special

import vecdist
from vecdist import LogDensity, add_at, hessian, lazy, logcumsumexp, value_and_grad
from vecdist.parameters import real
from vecdist.runtime import pipeline

RNG = np.random.default_rng(0)
INF, NAN = np.inf, np.nan
TINY = float(np.finfo(float).tiny)
POINTS = {
    "near": RNG.normal(size=(3, 20)),
    "apart": RNG.normal(size=(3, 20)) * 1e3,
    "largest": RNG.normal(size=(4, 9)) * 3e307,
    "next to 0": np.array([1e-20, -50.0, 3e-300, -1e-200]),
    "rising": np.arange(30.0) * 400,
    "falling": np.arange(30.0) * -400,
    "of nothing": np.array([-INF, -INF, -5000.0, 3.0, -INF, 1e3, 2.0]),
    "infinite": np.array([-INF, 1.0, INF, -3.0, INF, -INF]),
    "not a number": np.array([1.0, NAN, INF, 2.0]),
    "one": np.array([[2.5], [-INF], [INF], [NAN]]),
    "none": np.ones((2, 0)),
}


def of_prefixes(x, axis):
    """What SciPy finds of each prefix by itself, in float64."""
    rows = np.moveaxis(np.asarray(x, np.float64), axis, 0)
    with np.errstate(all="ignore"):
        found = [special.logsumexp(rows[: t + 1], axis=0) for t in range(len(rows))]
    return np.moveaxis(np.array(found).reshape(rows.shape), 0, axis)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", POINTS)
def test_running_sums_are_those_of_prefixes(name, dtype):
    with np.errstate(over="ignore"):
        x = POINTS[name].astype(dtype)
    for axis in range(-1, x.ndim):
        found = logcumsumexp(x, axis)
        assert found.shape == x.shape and found.dtype == dtype
        unit = np.finfo(dtype).eps
        np.testing.assert_allclose(np.asarray(found), of_prefixes(x, axis), rtol=8 * unit, atol=8 * np.finfo(float).eps)
        by_numpy = np.logaddexp.accumulate(lazy(x), axis)
        np.testing.assert_array_equal(np.asarray(by_numpy), np.asarray(found))


def test_the_first_is_as_it_is():
    x = np.array([1e-20, -1.0, TINY, 1e308, -1e308, 0.1])
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(logcumsumexp(x[:, None])), x[:, None])
        np.testing.assert_allclose(np.asarray(logcumsumexp(x))[0], x[0], rtol=1e-15)


def slopes_of(x, weights):
    """sum_{t >= i} w_t exp(x_i - y_t), by balls of 200 bits."""
    ctx.prec = 200
    powers, totals, total = [arb(float(each)).exp() for each in x], [], arb(0)
    for each in powers:
        total += each
        totals.append(total)
    shares = [arb(float(w)) / total for w, total in zip(weights, totals, strict=True)]
    return [float(power * sum(shares[place:], arb(0))) for place, power in enumerate(powers)]


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", ["near", "apart", "rising", "falling"])
def test_slopes(name):
    x = np.atleast_2d(POINTS[name]).copy()
    weights = RNG.uniform(0.5, 1.0, x.shape)
    for turn in (slice(None), slice(None, None, -1)):
        _, slope = value_and_grad((logcumsumexp(lazy(x)[:, turn]) * weights[:, turn]).sum(), wrt=x)
        for row, w, found in zip(x, weights, slope, strict=True):
            np.testing.assert_allclose(found[turn], slopes_of(row[turn], w[turn]), rtol=1e-11, atol=1e-300)


@pytest.mark.usefixtures("execution")
def test_slopes_at_the_ends():
    """What sums nothing has the slope 0, and what is behind an infinite element none that is not 0."""
    x = POINTS["of nothing"].copy()
    np.testing.assert_array_equal(value_and_grad(logcumsumexp(lazy(x))[2:].sum(), wrt=x)[1], [0, 0, 1, 2, 0, 2, 0])
    np.testing.assert_array_equal(value_and_grad(logcumsumexp(lazy(x))[:2].sum(), wrt=x)[1], np.zeros(7))
    x = np.array([1.0, 1.0, INF, -3.0])
    slope = value_and_grad(logcumsumexp(lazy(x)).sum(), wrt=x)[1]
    np.testing.assert_allclose(slope[[0, 1, 3]], [1.5, 0.5, 0.0])


def test_second_derivatives(uncompiled):
    x = RNG.normal(size=4)
    found = np.asarray(hessian((logcumsumexp(lazy(x)) ** 2).sum(), x))
    steps = 1e-5 * np.eye(4)
    slopes = [[value_and_grad((logcumsumexp(lazy(at)) ** 2).sum(), wrt=at)[1] for at in (x + h, x - h)] for h in steps]
    np.testing.assert_allclose(found, [(up - down) / 2e-5 for up, down in slopes], rtol=1e-7, atol=1e-9)


def test_a_partial_likelihood_of_cox(uncompiled):
    """Times in falling order, so that those at risk are the ones before; against a sum of each risk set by itself."""
    rows, seen = RNG.normal(size=(12, 2)), RNG.random(12) < 0.7

    def model(beta):
        risk = rows @ beta
        return ((risk - np.logaddexp.accumulate(risk)) * seen.astype(float)).sum()

    def by_hand(beta):
        risk = rows @ beta
        return sum(risk[i] - special.logsumexp(risk[: i + 1]) for i in np.flatnonzero(seen))

    density, beta = LogDensity(model, beta=real(2)), np.array([0.3, -0.8])
    value, slope = density.logdensity_and_gradient(beta)
    assert value == pytest.approx(by_hand(beta), rel=1e-13)
    wanted = [(by_hand(beta + h) - by_hand(beta - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(slope, wanted, rtol=1e-7)
    many = np.stack([beta, -beta, 3 * beta])
    np.testing.assert_allclose(density.logdensity_and_gradient(many)[0], [by_hand(each) for each in many], rtol=1e-13)


def test_integers_and_axes():
    with by_interpreter():
        assert logcumsumexp(np.array([1, 2, 3])).dtype == np.float64
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        logcumsumexp(np.ones(3), 1)
    with pytest.raises(ValueError, match="axis -1 is out of bounds"):
        logcumsumexp(1.0)


def test_another_length_is_the_same_program():
    found = []
    for length in (50, 30, 7):
        x = RNG.normal(size=length)
        value_and_grad(logcumsumexp(lazy(x)).sum(), wrt=x)
        found.append(pipeline.compilations())
    assert found[0] == found[-1]


PAIRS = sorted({name for name in np.__all__ if isinstance(u := getattr(np, name), np.ufunc) and u.__name__ == name
                and (u.nin, u.nout) == (2, 1) and u.signature is None} - {"gcd", "lcm", "ldexp"})  # fmt: skip
METHODS = [
    *(("reduce", axes) for axes in ({}, {"axis": 1}, {"axis": None}, {"axis": (0, 2)}, {"axis": -1, "keepdims": True})),
    *(("accumulate", axes) for axes in ({}, {"axis": 1}, {"axis": -1})), ("outer", {}),
]


def example(dtype):
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 1.5, (2, 3, 4)) if dtype[0] == "f" else rng.integers(1, 4, (2, 3, 4))
    return x > 1 if dtype == "?" else x.astype(dtype)


def numpys_own(name, method, *given, **axes):
    """What NumPy's method gives.

    Of neighbours, those of arctan2 and power are wrong where it has AVX-512 code for them (2.4.6): they are taken pair
    by pair.
    """
    with np.errstate(all="ignore"):
        found = getattr(getattr(np, name), method)(*given, **axes)
        if name not in {"arctan2", "power"}:
            return found
        pairs = np.frompyfunc(lambda a, b: getattr(np, name)(a, b), 2, 1)
        return getattr(pairs, method)(*(each.astype(object) for each in given), **axes).astype(found.dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
@pytest.mark.parametrize("name", PAIRS)
def test_methods_of_ufuncs_are_numpys(name, dtype):
    ufunc, x = getattr(np, name), example(dtype)
    if (name == "power" and dtype[0] != "f") or (name == "nextafter" and dtype == "?"):  # refused, and of float16
        return
    for method, axes in METHODS:
        others = (x[0, 0],) if method == "outer" else ()
        try:
            wanted = numpys_own(name, method, x, *others, **axes)
        except (TypeError, ValueError) as error:
            with nothing_computed(), pytest.raises(type(error)):
                getattr(ufunc, method)(lazy(x), *others, **axes)
            continue
        with nothing_computed():
            found = getattr(ufunc, method)(lazy(x), *others, **axes)
        dtype_of = np.dtype("f4") if wanted.dtype == "f2" else wanted.dtype
        assert found.shape == wanted.shape and found.dtype == dtype_of
        tolerance = 1e-2 if wanted.dtype == "f2" else 1e-5 if dtype_of == "f4" else 1e-13
        with by_interpreter():
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
@pytest.mark.parametrize("name", ["logaddexp", "maximum", "multiply", "logical_xor"])
def test_compiled_methods(name, dtype):
    ufunc, x = getattr(np, name), example(dtype)
    for method in ("reduce", "accumulate"):
        wanted = getattr(ufunc, method)(x, axis=1)
        np.testing.assert_allclose(np.asarray(getattr(ufunc, method)(lazy(x), axis=1)), wanted, rtol=1e-2)


@pytest.mark.parametrize("call", [
    np.add.accumulate, np.multiply.accumulate, np.maximum.accumulate, np.minimum.accumulate, np.logaddexp.accumulate,
    np.logaddexp.reduce, np.logaddexp2.reduce, np.hypot.reduce, np.subtract.accumulate, np.divide.accumulate,
    np.fmax.reduce, lambda x: np.subtract.outer(x, x), lambda x: np.add.reduceat(x, [0, 3, 1], axis=1),
])
def test_slopes_of_methods(uncompiled, call):
    x = RNG.uniform(0.5, 1.5, (3, 4))
    weights = RNG.normal(size=call(x).shape)
    _, slope = value_and_grad((np.sin(call(lazy(x))) * weights).sum(), wrt=x)
    steps = 1e-6 * np.eye(12).reshape(12, 3, 4)
    wanted = [((np.sin(call(x + h)) - np.sin(call(x - h))) * weights).sum() / 2e-6 for h in steps]
    np.testing.assert_allclose(slope.ravel(), wanted, rtol=1e-6, atol=1e-8)


def test_elements_that_share_a_running_extreme_share_its_derivative(uncompiled):
    x = np.array([2.0, 1.0, 2.0, 2.0])
    _, slope = value_and_grad(np.maximum.accumulate(lazy(x)).sum(), wrt=x)
    assert slope.sum() == 4.0 and slope[1] == 0.0 and slope[0] >= 2.0


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
@pytest.mark.parametrize("places", [[0, 2], [0, 2, 1], [3], [1, 1, 3, 0], [0, 1, 2, 3]], ids=str)
def test_sums_of_pieces(places, dtype):
    x = example(dtype)
    for axis in (-1, 2):
        wanted = np.add.reduceat(x, places, axis)
        found = np.add.reduceat(lazy(x), places, axis)
        with by_interpreter():
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)
        assert found.dtype == wanted.dtype


X, NONE = np.ones(4), np.ones((0, 2))


def test_no_elements():
    with by_interpreter():
        for ufunc in (np.add, np.multiply, np.logaddexp, np.hypot, np.logical_and):
            np.testing.assert_array_equal(np.asarray(ufunc.reduce(lazy(NONE))), ufunc.reduce(NONE))
        assert np.logaddexp.accumulate(lazy(NONE)).shape == (0, 2)
    for ufunc, message in ((np.maximum, "has no value"), (np.subtract, "no identity")):
        with pytest.raises(ValueError, match=message):
            ufunc.reduce(lazy(NONE))



@pytest.mark.parametrize(("call", "message"), [
    (lambda x: np.add.at(x, [0], 1.0), r"np\.add\.at writes.*a = vecdist\.add_at\(a, indices, b\)"),
    (lambda x: np.add.at(np.zeros(3), [0, 1, 2, 1], x), r"np\.add\.at writes.*vecdist\.add_at"),
    (lambda x: np.subtract.at(x, [0], 1.0), r"vecdist\.add_at\(a, indices, -b\)"),
    (lambda x: np.maximum.at(x, [0], 1.0), r"np\.maximum\.at writes.*np\.where"),
    (lambda x: np.maximum.reduceat(x, [0, 2]), r"np\.maximum\.reduceat has no lazy form.*np\.stack of np\.maximum"),
    (lambda x: np.add.reduceat(x, lazy(np.array([0, 2]))), "wants indices that are known; vecdist.add_at"),
    (lambda x: np.lcm.outer(x, 2), "lcm"),
    (lambda x: np.add.reduce(x, initial=2.0), r"np\.add\.reduce of a lazy array: .*'initial'; it takes a, axis, dtype"),
    (lambda x: np.logaddexp.accumulate(x, out=np.zeros(4)), "cannot write a lazy array into another"),
    (lambda x: np.exp(x, where=X > 0), r"np\.exp of a lazy array takes no where: .*np\.where\(condition, np\.exp\(x\)"),
    (lambda x: np.exp(x, dtype="f4"), r"takes no dtype: .*np\.exp\(x\.astype\(dtype\)\)"),
    (lambda x: np.divmod(x, 2.0, dtype="f4"), r"np\.divmod of a lazy array: .*'dtype'"),
])
def test_what_is_refused(call, message):
    with nothing_computed(), pytest.raises(TypeError, match=message):
        call(lazy(X))


def test_what_add_at_gives_instead():
    with by_interpreter():
        wanted = np.zeros(3)
        np.add.at(wanted, [0, 1, 2, 1], X)
        np.testing.assert_array_equal(np.asarray(add_at(np.zeros(3), np.array([0, 1, 2, 1]), lazy(X))), wanted)


def test_inside_a_step_of_a_scan(uncompiled):
    """Of what a step is given, not of what it carries."""
    x = RNG.normal(size=(5, 3))
    last, _ = vecdist.scan(lambda total, row: (total + logcumsumexp(row).sum(), None), 0.0, lazy(x))
    assert float(last) == pytest.approx(of_prefixes(x, 1).sum(), rel=1e-13)
