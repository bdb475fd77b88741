"""Device functions on the CPU: called in functions that Numba compiles, they find what a launch finds."""

import ctypes
import gc
import pickle
import sys
import weakref

import densities
import device_samplers
import numba
import numpy as np
import pytest
import random_models
import uncompiled as spoken
from numba.core.errors import NumbaWarning, TypingError

import vecdist
from vecdist import LogDensity, device_function, lazy, logpdf
from vecdist.codegen.device.render import render
from vecdist.distributions import FAMILIES, Bernoulli, Beta, Exponential, Gamma, HalfCauchy, Normal, Poisson, StudentT
from vecdist.parameters import positive, real, simplex
from vecdist.runtime.cpu import backend as cpu

RNG = np.random.default_rng(7)
TABLE, RESPONSES = RNG.normal(size=(20, 3)), RNG.integers(0, 2, 20)


def normal(x, mu, sd):
    return logpdf(Normal(mu, sd), x)


def logistic_model(beta, scale):
    """Logistic regression with 20 rows, whose table is read backwards."""
    chance = 1.0 / (1.0 + np.exp(-(lazy(TABLE[::-1, ::2]) @ beta)))
    prior = logpdf(Normal(0.0, scale), beta).sum(), logpdf(Exponential(1.0), scale)
    return {"prior": prior, "likelihood": logpdf(Bernoulli(chance), RESPONSES)}


def logistic():
    return LogDensity(logistic_model, beta=real(2), scale=positive())


def in_python(function):
    """A device function whose source Python runs as it stands: it gives the value, and all slopes."""
    made = function.made
    source = render(made.kernel, made.returned, "cpu")
    names = cpu._meanings(source.tables, source.routines)
    density = spoken.import_source(source.name, source.text, source.functions, names, None).density

    def called(*arguments):
        given = []
        for slot in made.kernel.slots:
            leaf = made.leaves[slot.index]
            array = np.asarray(arguments[made.places[leaf]], leaf.array.dtype) if leaf in made.places else leaf.array
            flat = array if slot.layout == "strided" else array.reshape(-1)
            given.append(array[()] if slot.layout == "number" else flat)
            given += [array.strides[axis] for axis in slot.axes if slot.layout == "strided"]
        filled = [np.full(each.shape, np.nan, each.dtype) for each in made.filled]
        with np.errstate(all="ignore"):
            value, *slopes = density(*given, *[each.reshape(-1) for each in filled])
        slopes, arrays = iter(slopes), iter(filled)
        return value, [next(arrays if each.shape else slopes) for each in made.derived]

    return called


@pytest.mark.parametrize("family", [
    pytest.param(family, id=name, marks=[] if place % 4 == 0 else [pytest.mark.slow])
    for place, (name, family) in enumerate(FAMILIES.items())
])  # fmt: skip
def test_every_family(uncompiled, family):
    """The value and all partial derivatives of scalars, as its source is run by Python, are those of a launch."""
    from family_cases import parameters_of, points_of

    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, size=3)

    def density(x, *given):
        return logpdf(family(**dict(zip(names, given, strict=True))), x)

    told = eval(f"lambda x, {', '.join(names)}: density(x, {', '.join(names)})", {"density": density})
    function = in_python(device_function(told, gradient=True))
    for row in zip(points_of(family, names, parameters), *parameters, strict=True):
        arrays = [np.array(each) for each in row]
        wanted, partials = vecdist.value_and_partials(density(*arrays), wrt=tuple(arrays))
        value, slopes = function(*row)
        np.testing.assert_allclose([value, *slopes], [wanted, *partials], rtol=1e-15, equal_nan=True)


def families_of_one_line(a, b, c, d, e):
    mixed = logpdf(Normal(a, 1.5), b) + logpdf(Gamma(shape=c, rate=d), e) + logpdf(StudentT(4.0, a, c), b)
    return mixed + logpdf(Beta(c, d), 0.3) + logpdf(Poisson(e), 3) + logpdf(HalfCauchy(d), e)


def test_compiled_functions_find_what_launches_do(uncompiled):
    function = device_function(families_of_one_line, gradient=True)
    plain = device_function(families_of_one_line)

    @numba.njit
    def both(a, b, c, d, e):
        return plain(a, b, c, d, e), function(a, b, c, d=d, e=e)

    for _ in range(3):
        given = [*RNG.normal(size=2), *RNG.gamma(3.0, size=3)]
        arrays = [np.array(each) for each in given]
        wanted, partials = vecdist.value_and_grad(families_of_one_line(*arrays), wrt=tuple(arrays))
        alone, (value, slopes) = both(*given)
        np.testing.assert_allclose([alone, value, *slopes], [wanted, wanted, *partials], rtol=2e-15)
        assert function(*given) == (value, slopes), "Python calls it, too"


MODELS = [densities.schools, densities.regression, densities.recurrence, logistic]


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_log_densities(uncompiled, make):
    """Value and gradient; where there is no value it is -inf."""
    density = make()
    function, slopes = device_function(density, gradient=True), np.empty(density.ndim)
    for x in np.random.default_rng(0).normal(size=(3, density.ndim)):
        value, gradient = density.logdensity_and_gradient(x)
        assert function(x, slopes) == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(slopes, gradient, rtol=1e-12, atol=1e-14)
    assert function(np.full(density.ndim, np.nan), slopes) == -np.inf


def test_a_log_density_in_float32_and_a_function_of_numbers(uncompiled):
    density = densities.schools(dtype=np.float32)
    x, slopes = np.linspace(-1.0, 1.0, 10, dtype=np.float32), np.empty(10, np.float32)
    value, gradient = density.logdensity_and_gradient(x)
    assert device_function(density, gradient=True)(x, slopes) == pytest.approx(value, rel=2e-7)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-5, atol=1e-6)
    value, (slope,) = device_function(densities.square_root, gradient=True)(2.0)
    assert value == pytest.approx(2.0**0.5, rel=1e-14) and slope == pytest.approx(0.125**0.5, rel=1e-14)


def test_threads_and_c_find_the_same():
    """In a loop of threads, one by one, and at the address of a C function."""
    density = logistic()
    function = device_function(density, gradient=True)

    @numba.njit(parallel=True)
    def all_of(points, slopes):
        values = np.empty(len(points))
        for place in numba.prange(len(points)):
            values[place] = function(points[place], slopes[place])
        return values

    points = np.random.default_rng(0).normal(size=(300, density.ndim))
    slopes, own = np.empty_like(points), np.empty(density.ndim)
    values = all_of(points, slopes)
    by_c = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(function.address)
    for x, value, slope in zip(points, values, slopes, strict=True):
        assert function(x, own) == value and np.array_equal(own, slope)
        assert by_c(x.ctypes.data, own.ctypes.data) == value and np.array_equal(own, slope)


def test_c_functions_of_numbers():
    function = device_function(normal, gradient=["x", 2])
    entry, slopes = function.ctypes, [ctypes.c_double(), ctypes.c_double()]
    value = entry(0.5, 1.0, 2.0, *map(ctypes.byref, slopes))
    assert (value, tuple(each.value for each in slopes)) == function(0.5, 1.0, 2.0)
    assert [str(each) for each in function.signature.args] == ["float64"] * 3


def test_matrices_and_all_that_models_hold(uncompiled):
    """Products of matrices, gathers, prefix sums, masks and constants of data, without a launch and without memory."""
    z, group, mask = RNG.normal(size=(6, 4)), np.array([0, 2, 1, 1, 0, 2]), RNG.random(6) < 0.5

    def model(weights, level, shares):
        product = lazy(z) @ (weights @ np.eye(3))
        rows = np.cumsum(product, axis=0).sum(axis=1) + level[group]
        prior = logpdf(Normal(0.0, 1.0), weights).sum() + logpdf(Normal(0.0, 2.0), level).sum()
        seen = logpdf(Normal(rows, 1.0), vecdist.data(z[:, 0])).sum() + logpdf(Gamma(2.0, 1.0), shares).sum()
        return prior, seen, np.where(mask, rows, 0.0).sum(), np.exp(rows - rows.mean()).sum() * 0.01

    density = LogDensity(model, weights=real((4, 3)), level=real(3), shares=simplex(3))
    function = device_function(density, gradient=True)
    x, slopes = RNG.normal(size=density.ndim) * 0.3, np.empty(density.ndim)
    value, gradient = density.logdensity_and_gradient(x)
    assert function(x, slopes) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", [
    pytest.param(seed, marks=[] if seed < 5 else [pytest.mark.slow]) for seed in range(40)
])  # fmt: skip
def test_random_models(uncompiled, seed):
    """Whole models, as their source is run by Python: parameters are arguments, data are held."""
    drawn = random_models.model(seed, lengths=(1, 2, 7, 33), terms=2)
    arrays = {name: each.on(np) for name, each in drawn.given.items()}
    parameters = [arrays[name] for name in drawn.parameters]
    function = device_function(drawn.function(arrays), parameters, gradient=True)
    wanted, gradients = vecdist.value_and_grad(drawn.density(arrays), wrt=tuple(parameters))
    value, slopes = in_python(function)(*parameters)
    close = {"f8": 1e-12, "f4": 2e-5}[drawn.dtype.str[1:]]
    np.testing.assert_allclose(value, wanted, rtol=close)
    for found, slope in zip(slopes, gradients, strict=True):
        np.testing.assert_allclose(found, slope, rtol=close, atol=close * max(1.0, abs(slope).max(initial=0.0)))


def test_data_may_be_arguments(uncompiled):
    """Matrices, counts, indices and masks beside parameters, some of which are derived in."""
    table, counts = RNG.normal(size=(20, 3)), RNG.integers(0, 5, 20).astype("i4")
    group, mask = RNG.integers(0, 4, 20), RNG.random(20) < 0.5

    def density(weights, level, x, y, group, mask, scale):
        each = logpdf(Poisson(np.exp(lazy(x) @ weights + lazy(level)[group])), y)
        return (each * mask).sum() + logpdf(Normal(0.0, scale), weights).sum()

    arrays = [np.full(3, 0.1), np.full(4, 0.2), table, counts, group, mask]
    function = device_function(density, [*arrays, "float64"], gradient=["scale", "weights", 1])
    slopes, scale = [np.empty(3), np.empty(4)], np.array(1.3)
    value, (in_scale,) = function(*arrays, 1.3, *slopes)
    wanted, gradients = vecdist.value_and_grad(density(*arrays, scale), wrt=(scale, arrays[0], arrays[1]))
    assert value == pytest.approx(wanted, rel=1e-14) and in_scale == pytest.approx(gradients[0], rel=1e-13)
    for found, gradient in zip(slopes, gradients[1:], strict=True):
        np.testing.assert_allclose(found, gradient, rtol=1e-12, atol=1e-14)


def test_callers_flags_are_their_own():
    """Fast mathematics of who calls it knows no NaN, and its division by zero raises: here there is both."""
    function = device_function(lambda x, sd: logpdf(Normal(0.0, sd), x) + 0.0 / (x - 1.0))
    for options in ({"fastmath": True}, {"error_model": "python"}):
        called = numba.njit(**options)(lambda x, sd: function(x, sd))
        assert np.isnan(called(0.0, -1.0)) and np.isnan(called(1.0, 1.0)) and called(0.0, 1.0) < 0.0


def test_float32_is_added_up_in_float64():
    """Many small numbers behind a large one: in float32 they would be lost."""
    count = 2**14
    function = device_function(lambda x, level: (x + level).sum(), (np.zeros(count, "f4"), "float32"), gradient=True)
    slopes = np.empty(count, np.float32)
    value, (slope,) = function(np.full(count, 1e-3, np.float32), np.float32(1000.0), slopes)
    assert str(function.signature.return_type) == "Tuple(float32, UniTuple(float32 x 1))"
    assert value == np.float32((np.full(count, 1e-3, np.float32) + np.float32(1000.0)).sum(dtype=float))
    assert slope == count and (slopes == 1.0).all()
    columns = device_function(lambda w: (lazy(np.ones((count, 2), "f4")) * w).sum(), [np.ones(2, "f4")], gradient=True)
    slopes = np.empty(2, np.float32)
    assert columns(np.array([1000.0, 1e-3], np.float32), slopes) == pytest.approx(count * 1000.001)
    assert (slopes == count).all()


def test_draws_have_keys_as_arguments(uncompiled):
    draw = device_function(lambda key, mu: vecdist.sample(key, Normal(mu, 1.0)), (np.int64, np.float64))
    assert draw(3, 1.0) == pytest.approx(float(vecdist.sample(3, Normal(np.array(1.0), 1.0))), rel=1e-15)


def test_arrays_that_it_holds_are_read_by_every_call_and_live_as_long_as_code():
    held = np.arange(4.0)
    left = weakref.ref(held)
    function = device_function(lambda x: (lazy(held) * x).sum())

    @numba.njit
    def twice(x):
        return 2.0 * function(x)

    assert twice(1.0) == 12.0
    held[0] = 10.0
    assert twice(1.0) == 32.0, "what the array holds now"
    function = held = None
    gc.collect()
    assert twice(1.0) == 32.0 and left() is not None, "compiled code reads it still"


def test_arrays_of_other_shapes_have_no_value():
    function = device_function(lambda x, y: (x * y).sum(), (np.zeros(3), np.zeros((3, 3))), gradient=["x"])
    slopes = np.full(3, 5.0)
    for x, columns, given in ((np.ones(2), 3, slopes), (np.ones(3), 2, slopes), (np.ones(3), 3, slopes[:2])):
        assert np.isnan(function(x, np.ones((3, columns)), given)) and (slopes == 5.0).all()
    assert function(np.ones(3), np.ones((3, 3)), slopes) == 9.0 and (slopes == 3.0).all()
    assert np.isnan(device_function(normal)(0.0, 0.0, -1.0)), "as invalid parameters have none"


def test_errors_of_calls_name_the_signature():
    function = device_function(normal)
    with pytest.raises(TypingError, match="missing a required argument: 'sd'"):
        numba.njit(lambda: function(0.0, 1.0))()
    with pytest.raises(TypingError, match=r"\(float64, float64, float64\) -> float64"):
        numba.njit(lambda: function(0.0, 1.0, "a"))()
    vector = device_function(lambda x: x.sum(), [np.zeros(3)])
    with pytest.raises(TypingError, match=r"Array\(float64, 1, 'C'"):
        numba.njit(lambda: vector(1.0))()


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: device_function(3.0), TypeError, "wants a function of lazy arrays or a LogDensity, given 3.0"),
        (lambda: device_function(lambda x: 1.0), TypeError, "gives a lazy scalar; <lambda> gave float"),
        (lambda: device_function(lambda x: lazy(np.ones(3)) * x), ValueError, "gave an array of shape .3,.: sum it"),
        (lambda: device_function(normal, [np.float64]), TypeError, "the arguments are x, mu, sd; 1 are described"),
        (lambda: device_function(abs, ["complex128"]), TypeError, "arrays of dtype complex128 cannot enter"),
        (lambda: device_function(abs, [np.zeros((2, 2)).T[:1]]), ValueError, "x: arrays are C-contiguous and"),
        (lambda: device_function(lambda *x: x[0]), TypeError, r"one for each parameter; given one with \*x"),
        (lambda: device_function(normal, gradient=["s"]), TypeError, "gradient names 's', which is no floating-point"),
        (lambda: device_function(abs, ["int64"], gradient=[0]), TypeError, "gradient names 0, which is no floating-po"),
        (lambda: device_function(lambda x: x * 2 if x > 0 else x), TypeError, "the value of an expression of"),
        (lambda: device_function(logistic(), [np.zeros(3)]), TypeError, "the one argument of a LogDensity is its vec"),
        (lambda: device_function(densities.schools(errors="raise")), ValueError, "compiled code cannot raise Invalid"),
        (
            lambda: device_function(lambda x: np.exp(np.cumsum(x)[::-1] - x.sum()).sum(), [np.zeros(10000)]),
            ValueError, "<lambda> keeps 80008 bytes from one loop to the next, and a thread has room for 65536",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_has_a_reason(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_copies_and_files(tmp_path, monkeypatch):
    """It is pickled as what it was made of; Numba keeps code in files that holds no arrays, and warns of other."""
    function = device_function(normal, gradient=True)
    assert pickle.loads(pickle.dumps(function))(0.5, 1.0, 2.0) == function(0.5, 1.0, 2.0)
    (tmp_path / "cached_user.py").write_text(
        "import numba, numpy as np\nfrom vecdist import device_function, lazy\n"
        "held, ones = device_function(lambda x: (lazy(np.ones(3)) * x).sum()), device_function(lambda x: x + 1.0)\n"
        "@numba.njit(cache=True)\ndef with_array(x):\n    return held(x)\n"
        "@numba.njit(cache=True)\ndef with_none(x):\n    return ones(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for turn in range(2):
        sys.modules.pop("cached_user", None)
        user = __import__("cached_user")
        with pytest.warns(NumbaWarning, match="Cannot cache compiled function"):
            assert user.with_array(2.0) == 6.0
        assert user.with_none(2.0) == 3.0
        assert sum(user.with_none.stats.cache_hits.values()) == turn


def test_samplers_written_by_hand_find_the_moments():
    target, draws = device_samplers.target(), device_samplers.drawn(20000)
    x, moments = device_samplers.MEANS.copy(), np.zeros((2, 2))
    device_samplers.metropolis(numba.njit, device_function(target))(x, np.empty(2), 1.0, draws, moments)
    device_samplers.check(moments, len(draws), close=0.1)
    x, moments = device_samplers.MEANS.copy(), np.zeros((2, 2))
    walk = device_samplers.hamiltonian(numba.njit, device_function(target, gradient=True))
    walk(x, np.empty((3, 2)), 0.4, 5, draws, moments)
    device_samplers.check(moments, len(draws), close=0.03)


def test_it_is_an_argument_of_compiled_functions():
    twice = numba.njit(lambda function, x: 2.0 * function(x, 1.0, 2.0))
    assert twice(device_function(normal), 0.5) == 2.0 * device_function(normal)(0.5, 1.0, 2.0)
