"""``Vectorize`` and ``logpdf``: what they capture, and what they say of anything that does not fit."""

import numpy as np
import pytest
import scipy.stats
from interpreting import by_interpreter, nothing_computed

import vecdist
from vecdist import LazyArray, Vectorize, lazy, logpdf, logpmf, value_and_grad
from vecdist.distributions import FAMILIES, Gamma, NegativeBinomial, Normal, Poisson

A, T, X = np.array([[0.5], [2.0]]), np.array(2.0), np.array([0.5, 1.0, 4.0])


@pytest.mark.usefixtures("execution")
def test_nothing_is_computed_until_asked_for():
    with nothing_computed():
        lp = logpdf(Vectorize(Gamma, (A, T)), X)
        assert isinstance(lp, LazyArray) and lp.shape == (2, 3) and lp.dtype == np.float64
    np.testing.assert_allclose(np.asarray(lp), scipy.stats.gamma.logpdf(X, A, scale=T), rtol=1e-12)


@pytest.mark.parametrize("distribution", [
    Vectorize(Gamma, (A, T)), Vectorize(Gamma, [A, T]), Vectorize(Gamma, {"shape": A, "scale": T}),
    Vectorize(Gamma, shape=A, scale=T), Vectorize(Gamma, (A,), scale=T), Gamma(A, T), Gamma(A, scale=T),
    Vectorize(Gamma, shape=A, rate=1 / T), Gamma(mean=A * T, sd=np.sqrt(A) * T), Gamma(shape=A, rate=lazy(1 / T)),
], ids=repr)
def test_one_distribution_in_many_spellings(distribution):
    with by_interpreter():
        found = np.asarray(logpdf(distribution, X))
    np.testing.assert_allclose(found, scipy.stats.gamma.logpdf(X, A, scale=T), rtol=1e-10)


def test_one_parameter_needs_no_tuple():
    with by_interpreter():
        found = np.asarray(logpdf(Vectorize(Poisson, 3.0), np.arange(4)))
    np.testing.assert_allclose(found, scipy.stats.poisson.logpmf(np.arange(4), 3.0))
    assert logpmf is logpdf


def test_parameters_are_captured_as_they_are():
    distribution = Vectorize(Gamma, (A, T))
    assert distribution.parameters["shape"] is A and distribution.parameters["scale"] is T
    assert repr(distribution) == "Gamma(shape=float64[2, 1], scale=2.0)"


def test_parameters_may_be_expressions():
    b = np.array([0.5, -0.25])
    design = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    y = np.array([1, 0, 2])
    target = logpdf(Poisson(log_rate=design @ lazy(b)), y).sum()
    with by_interpreter():
        value, grad = value_and_grad(target, wrt=b)
    rate = np.exp(design @ b)
    np.testing.assert_allclose(value, scipy.stats.poisson.logpmf(y, rate).sum())
    np.testing.assert_allclose(grad, design.T @ (y - rate))


def test_data_may_be_an_expression():
    x = X.copy()
    with by_interpreter():
        value, grad = value_and_grad(logpdf(Normal(0.0, 2.0), np.log(lazy(x))).sum(), wrt=x)
    np.testing.assert_allclose(value, scipy.stats.norm.logpdf(np.log(x), 0, 2).sum())
    np.testing.assert_allclose(grad, -np.log(x) / 4 / x, atol=1e-15)


@pytest.mark.parametrize(("parameters", "x", "wanted"), [
    ((0.0, 1.0), X, "f8"), ((0.0, 1.0), X.astype("f4"), "f4"), ((0.0, 1.0), 2, "f8"), ((0, 1), np.arange(3), "f8"),
    ((np.float32(0), 1.0), np.arange(3), "f4"), ((T, 1.0), X.astype("f4"), "f8"), ((0, 1), np.ones(2, bool), "f8"),
])
def test_integers_and_numbers_do_not_widen(parameters, x, wanted):
    assert logpdf(Normal(*parameters), x).dtype == wanted


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.__name__)
def test_dtypes_of_every_family_are_those_of_lazy_arithmetic(family):
    """NumPy's scalars count like arrays, Python numbers do not (NEP 50); integers are data."""
    names = family.parametrisations[0].names
    single, double = np.array([0.5, 1.0], "f4"), np.array([0.5, 1.0])
    scalars = {"f4": np.float32(0.5), "f8": np.float64(0.5)}
    for verb in (logpdf, vecdist.cdf, vecdist.ppf):
        if not has(family, verb):
            continue
        for x in (single, double, scalars["f4"], scalars["f8"], 0.5):
            for given in (*scalars.values(), 0.5):
                wanted = (lazy(np.asarray(x)) * given).dtype if isinstance(x, np.ndarray) else np.result_type(x, given)
                assert verb(family(*[given] * len(names)), x).dtype == wanted, (verb.__name__, x, given)
        assert verb(family(*[scalars["f4"]] * len(names)), np.array([1, 2])).dtype == np.float32


def has(family, verb):
    try:
        verb(family(*[0.5] * len(family.parametrisations[0].names)), 0.5)
    except NotImplementedError:
        return False
    return True


def test_one_double_scalar_among_floats_makes_doubles():
    y = np.array([0.5, 1.0], "f4")
    assert logpdf(Normal(np.float64(0.1), 1.0), y).dtype == logpdf(Normal(np.array(0.1), 1.0), y).dtype == np.float64
    assert logpdf(Normal(y.mean(), y.std()), y).dtype == np.float32
    assert vecdist.mean(Normal(np.float64(0.1), np.float32(1.0))).dtype == np.float64
    assert vecdist.sample(1, Gamma(np.float32(2.0), 1.0), 3).dtype == np.float32
    assert vecdist.sample(1, Gamma(np.float64(2.0), np.float32(1.0)), 3).dtype == np.float64
    with by_interpreter():
        counts = np.array([16777217])
        assert float(logpdf(Poisson(np.float64(3.0)), counts)[0]) == float(logpdf(Poisson(3.0), 16777217))
        rounded = logpdf(Poisson(np.float32(3.0)), counts)
        assert rounded.dtype == np.float32 and rounded[0] == logpdf(Poisson(np.float32(3.0)), 16777216)


@pytest.mark.parametrize("call", [
    lambda: logpdf(Normal(10**400, 1.0), X), lambda: logpdf(Normal(0.0, 1.0), 10**400), lambda: lazy(X) + 10**400,
])
def test_integers_beyond_all_floats_are_named(call):
    with pytest.raises(OverflowError, match=r"an integer of 1329 bits is beyond all float64 numbers"):
        call()


def test_a_parameter_given_twice_in_one_target_has_one_gradient():
    mu = np.array(0.5)
    with by_interpreter():
        _, grad = value_and_grad(logpdf(Normal(mu, 1.0), X).sum() + logpdf(Normal(0.0, 1.0), mu), wrt=mu)
    np.testing.assert_allclose(grad, (X - mu).sum() - mu)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: Vectorize(Normal(0.0, 1.0), ()), r"wants a family such as Gamma, given Normal\(loc=0\.0, scale=1\.0\)"),
    (lambda: Vectorize("Gamma", (A, T)), "wants a family such as Gamma, given 'Gamma'"),
    (lambda: Vectorize(np.ndarray, (A, T)), "wants a family"),
    (lambda: logpdf(Gamma, X), r"given the family Gamma; give it parameters: Gamma\(shape, scale\)"),
    (lambda: logpdf(X, Gamma(A, T)), "wants a distribution, given ndarray"),
    (lambda: logpdf(scipy.stats.norm(), X), "wants a distribution, given rv_continuous_frozen"),
    (lambda: Gamma(1.0, 2.0, 3.0), r"takes at most 2 positional parameters \(shape, scale\), 3 were given"),
    (lambda: Gamma(1.0, shape=2.0), "shape is given twice"),
    (lambda: Gamma(1.0), r"Gamma was given \(shape\); it takes one of: Gamma\(shape, scale\); Gamma\(shape, rate\)"),
    (lambda: Gamma(), r"Gamma was given \(nothing\)"),
    (lambda: Gamma(shape=1.0, rat=2.0), r"Gamma was given \(shape, rat\)"),
    (lambda: Gamma(1.0, rate=2.0), r"Gamma was given \(shape, rate\)"),
    (lambda: Gamma(shape=1.0, scale=1.0, rate=2.0), "it takes one of"),
    (lambda: Vectorize(NegativeBinomial, {"mean": 1.0}), r"NegativeBinomial was given \(mean\)"),
    (lambda: logpdf(Normal("a", 1.0), X), "dtype <U1 cannot enter an expression"),
    (lambda: logpdf(Normal(0.0, 1.0), X * 1j), "dtype complex128"),
    (lambda: logpdf(Normal(0.0, None), X), "dtype object"),
    (lambda: logpdf(Normal(0.0, 1.0), np.array(["2020-01-01"], "M8[D]")), "dtype datetime64"),
])
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_shapes_that_do_not_broadcast_are_named_with_family_and_parameters():
    with pytest.raises(ValueError, match=r"Gamma: .* shape \(2, 1\), scale \(2,\), x \(3,\) do not broadcast"):
        logpdf(Gamma(A, np.ones(2)), X)
