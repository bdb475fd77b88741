"""Data that never change: the same results from what is computed once, and nothing read twice."""

import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import stats

from vecdist import compile as compile_function
from vecdist import data, explain, lazy, logpdf, value_and_grad
from vecdist.distributions import (
    Bernoulli,
    Beta,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    LogNormal,
    Normal,
    Poisson,
    StudentT,
    Weibull,
)

RNG = np.random.default_rng(20240607)
POSITIVE, REAL = RNG.gamma(3.0, 1.5, 1000), RNG.normal(2.0, 3.0, 1000)
COUNTS, UNIT = RNG.poisson(3.0, 1000), RNG.beta(2.0, 3.0, 1000)
CASES = {
    "Gamma": (Gamma, (2.5, 1.25), POSITIVE),
    "Normal": (Normal, (0.5, 2.0), REAL),
    "Exponential": (Exponential, (2.0,), POSITIVE),
    "LogNormal": (LogNormal, (0.5, 1.5), POSITIVE),
    "Poisson": (Poisson, (2.5,), COUNTS),
    "Bernoulli": (Bernoulli, (0.3,), (COUNTS > 2).astype("i8")),
    "Beta": (Beta, (1.5, 2.0), UNIT),
    "StudentT": (StudentT, (4.0, 0.0, 1.0), REAL),
    "Weibull": (Weibull, (1.5, 2.0), POSITIVE),
}
STATISTICS = ("Gamma", "Normal", "LogNormal", "Poisson", "Beta")


def both(name, dtype):
    """A sum over plain arrays and over data, with the parameters."""
    family, parameters, x = CASES[name]
    given = tuple(np.asarray(parameter, dtype) for parameter in parameters)
    x = x.astype(dtype) if x.dtype.kind == "f" else x
    return logpdf(family(*given), x).sum(), logpdf(family(*given), data(x)).sum(), given


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", CASES)
def test_results_differ_by_rounding_alone(uncompiled, name, dtype):
    check_case(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype"), [("Gamma", "f8"), ("Normal", "f4"), ("Poisson", "f8")])
def test_compiled_results_differ_by_rounding_alone(name, dtype):
    """Three of them: a kernel of each takes seconds to compile, and Python runs the sources of all above."""
    check_case(name, dtype)


def check_case(name, dtype):
    plain, once, parameters = both(name, dtype)
    (wanted, slopes), (found, found_slopes) = (value_and_grad(each, wrt=parameters) for each in (plain, once))
    scale = 1e-12 if dtype == "f8" else 1e-5
    assert abs(found - wanted) <= scale * abs(wanted)
    for mine, reference in zip(found_slopes, slopes, strict=True):
        assert abs(mine - reference) <= scale * max(abs(reference), len(POSITIVE))


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", STATISTICS)
def test_sufficient_statistics_are_all_that_is_read(name):
    _, once, parameters = both(name, "f8")
    (kernel,) = explain(once, wrt=parameters).kernels
    assert kernel.bytes_read < 200


@pytest.mark.usefixtures("execution")
def test_dear_terms_are_computed_once():
    """lgamma(y + 1) of a Poisson regression depends on the counts alone."""
    table, slopes = RNG.normal(size=(1000, 2)) / 5, np.array([0.1, -0.2])
    target = logpdf(Poisson(log_rate=table @ lazy(slopes)), data(COUNTS)).sum()
    (kernel,) = explain(target, wrt=(slopes,)).kernels
    assert "lgamma" not in kernel.outline
    wanted, slope = value_and_grad(logpdf(Poisson(log_rate=table @ lazy(slopes)), COUNTS).sum(), wrt=slopes)
    found, found_slope = value_and_grad(target, wrt=slopes)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_allclose(found_slope, slope, rtol=1e-11)


@pytest.mark.usefixtures("execution")
def test_means_are_centred():
    """Far from zero the mean is no float64; what its rounding leaves is carried along."""
    x, mean = 1e8 + RNG.normal(size=1000), np.array(1e8 + 0.5)
    wanted, slope = value_and_grad(logpdf(Normal(mean, 1.0), x).sum(), wrt=mean)
    found, found_slope = value_and_grad(logpdf(Normal(mean, 1.0), data(x)).sum(), wrt=mean)
    np.testing.assert_allclose([found, found_slope], [wanted, slope], rtol=1e-13)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("outlier", [-1.0, np.nan, 0.0, np.inf])
def test_data_with_edges_are_computed_element_by_element(outlier):
    x, shape = POSITIVE.copy(), np.array(2.5)
    x[7] = outlier
    wanted = value_and_grad(logpdf(Gamma(shape, 1.5), x).sum(), wrt=shape)
    np.testing.assert_array_equal(value_and_grad(logpdf(Gamma(shape, 1.5), data(x)).sum(), wrt=shape), wanted)


def test_compiled_functions_hold_data():
    f = compile_function(lambda mean, sd: logpdf(Normal(mean, sd), data(REAL)).sum())
    for mean, sd in ((0.0, 1.0), (2.0, 3.0)):
        value, (of_mean, of_sd) = f.value_and_grad(np.array(mean), np.array(sd))
        z = (REAL - mean) / sd
        np.testing.assert_allclose(value, (-0.5 * z**2 - np.log(sd) - 0.5 * np.log(2 * np.pi)).sum(), rtol=1e-12)
        np.testing.assert_allclose([of_mean, of_sd], [(z / sd).sum(), ((z**2 - 1) / sd).sum()], rtol=1e-9)


@pytest.mark.usefixtures("execution")
def test_other_parameters_compute_nothing_again():
    x = data(POSITIVE)
    for shape in (1.5, 2.5, 3.5):
        float(logpdf(Gamma(np.array(shape), 1.0), x).sum())
    assert len(x.node.attrs[0].derived) == 1


@pytest.mark.usefixtures("execution")
def test_errors():
    x = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="marked as data"):
        value_and_grad((data(x) * 2.0).sum(), wrt=(x,))
    with pytest.raises(TypeError, match="an array that is there"):
        compile_function(lambda x: data(x).sum())(x)
    with pytest.raises(ValueError, match="scale = -1"):
        value_and_grad(logpdf(Normal(lazy(np.array(0.0), "m"), np.array(-1.0)), data(x)).sum(), wrt="m")


@pytest.mark.usefixtures("execution")
def test_unnormalised_densities_differ_by_a_constant():
    def model(a, s):
        rate = Poisson(log_rate=a + 0.1 * data(REAL))
        return logpdf(rate, data(COUNTS)).sum() + logpdf(Normal(0.0, s), a) + logpdf(HalfNormal(2.0), s)

    whole, short = compile_function(model), compile_function(model, unnormalised=True)
    dropped = []
    for a, s in ((0.3, 0.5), (1.2, 2.0), (-1.0, 0.1)):
        value, slopes = whole.value_and_grad(np.array(a), np.array(s))
        less, same = short.value_and_grad(np.array(a), np.array(s))
        np.testing.assert_allclose(same, slopes, rtol=1e-12)
        dropped.append(value - less)
    np.testing.assert_allclose(dropped, dropped[0], rtol=1e-11)
    assert abs(dropped[0]) > 1.0


X = np.array([0.3, 0.2, 0.9])
ONE = np.array([3.0])
OF_STATISTICS = {
    "a function of a sum": (lambda m, d: np.tanh(d(X).sum()) * m, np.tanh(X.sum()) * 0.4),
    "a function of a mean in a family": (
        lambda m, d: logpdf(Normal(np.log(d(X).mean()), 1.0), m), stats.norm(np.log(X.mean())).logpdf(0.4),
    ),
    "functions of functions": (
        lambda m, d: np.exp(np.tanh(d(X).sum()) + np.sqrt(d(X).mean())) * m,
        np.exp(np.tanh(X.sum()) + X.mean() ** 0.5) * 0.4,
    ),
    "an empirical prior": (
        lambda m, d: logpdf(Normal(d(X).mean(), np.sqrt(((d(X) - d(X).mean()) ** 2).mean())), m),
        stats.norm(X.mean(), X.std()).logpdf(0.4),
    ),
    "a standardised regressor": (
        lambda m, d: ((d(X) - d(X).mean()) / np.sqrt(((d(X) - d(X).mean()) ** 2).mean()) * m + X).sum(), X.sum(),
    ),
    "an offset": (
        lambda m, d: (np.log(d(X) / d(X).sum()) * m).sum(), np.log(X / X.sum()).sum() * 0.4,
    ),
    "a scalar that is checked": (
        lambda m, d: logpdf(Normal(m, d(np.array(0.5))), 0.7), stats.norm(0.4, 0.5).logpdf(0.7),
    ),
    "a scalar that is checked, beside an array": (
        lambda m, d: logpdf(StudentT(d(np.array(0.5))), m * np.ones(3)).sum(), 3 * stats.t(0.5).logpdf(0.4),
    ),
    "one element beside more axes": (
        lambda m, d: np.tanh(m * np.ones((2, 1)) * np.log(d(ONE))).sum(), 2 * np.tanh(0.4 * np.log(3.0)),
    ),
    "one count": (
        lambda m, d: logpdf(Poisson(np.exp(m * np.ones((2, 1)))), d(ONE)).sum(),
        2 * stats.poisson(np.exp(0.4)).logpmf(3),
    ),
    "no element, beside a condition on each": (
        lambda m, d: logpdf(Poisson(np.exp(m)), d(np.zeros(0))).sum() + (m * d(X)).sum(), 0.4 * X.sum(),
    ),
    "no element at all": (lambda m, d: logpdf(Gumbel(m, 2.0), d(np.zeros(0))).sum() + m, 0.4),
    "one element of two axes": (lambda m, d: (m * np.log(d(np.array([[3.0]])))).sum(), 0.4 * np.log(3.0)),
}


@pytest.mark.parametrize("errors", ["raise", "nan"])
@pytest.mark.parametrize("name", OF_STATISTICS)
def test_functions_of_statistics(uncompiled, name, errors):
    """What is computed of data alone may be computed of its sums, and of data of one element."""
    build, wanted = OF_STATISTICS[name]
    m = np.array(0.4)
    found = compile_function(lambda m: build(m, data), errors=errors)(m)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    value, slope = value_and_grad(build(lazy(m), data), wrt=m)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(slope, interpreted_slope(build, m), rtol=1e-12, atol=1e-14)


def interpreted_slope(build, m):
    """The derivative where nothing is data, by the interpreter."""
    with by_interpreter():
        return value_and_grad(build(lazy(m), lazy), wrt=m)[1]
