"""Gaussian processes: covariances by NumPy, densities by SciPy, slopes by differences."""

import numpy as np
import pytest
from scipy import special, stats

import vecdist
from vecdist import gp, lazy

rng = np.random.default_rng(3)


def distances(x, y, scale):
    rows = [each[:, None] if each.ndim == 1 else each for each in (x, y)]
    return np.sqrt((((rows[0][:, None] - rows[1]) / scale) ** 2).sum(axis=-1))


def matern(r, nu):
    """By the modified Bessel function, Rasmussen and Williams (4.14)."""
    s = np.sqrt(2.0 * nu) * np.maximum(r, 1e-10)
    return 2.0 ** (1.0 - nu) / special.gamma(nu) * s**nu * special.kv(nu, s)


WANTED = {
    "squared_exponential": lambda x, y, a, s: a**2 * np.exp(-0.5 * distances(x, y, s) ** 2),
    "periodic": lambda x, y, a, s: a**2 * np.exp(
        -2.0 * (np.sin(np.pi * (x.reshape(len(x), -1)[:, None] - y.reshape(len(y), -1)) / 1.7) ** 2 / s**2).sum(axis=-1)
    ),
    "linear": lambda x, y, a, s: a**2 * (0.25 + x.reshape(len(x), -1) / s @ (y.reshape(len(y), -1) / s).T),
}  # fmt: skip
OPTIONS = {"periodic": {"period": 1.7}, "linear": {"bias": 0.5}}
POINTS = [(rng.normal(size=5), rng.normal(size=3)), (rng.normal(size=(4, 2)), rng.normal(size=(6, 2)))]


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize(("x", "y"), POINTS, ids=["line", "plane"])
def test_covariances_are_what_their_formulas_say(name, x, y, uncompiled):
    function, options = getattr(gp, name), OPTIONS.get(name, {})
    found = function(x, y, amplitude=1.3, length_scale=0.8, **options).compute()
    np.testing.assert_allclose(found, WANTED[name](x, y, 1.3, 0.8), rtol=1e-12)
    alone = function(x, amplitude=1.3, length_scale=0.8, **options).compute()
    np.testing.assert_allclose(alone, WANTED[name](x, x, 1.3, 0.8), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
@pytest.mark.parametrize(("x", "y"), POINTS, ids=["line", "plane"])
def test_matern_covariances_are_bessel_functions(nu, x, y, uncompiled):
    found = gp.matern(x, y, nu=nu, amplitude=0.7, length_scale=1.4).compute()
    np.testing.assert_allclose(found, 0.49 * matern(distances(x, y, 1.4), nu), rtol=1e-10)
    np.testing.assert_allclose(np.diag(gp.matern(x, nu=nu).compute()), 1.0)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_slopes_are_finite_where_points_meet(nu, uncompiled):
    x, scale = np.array([0.0, 0.0, 1.0]), lazy(np.array(0.9), "scale")

    def total(length):
        return np.exp(gp.matern(x, nu=nu, length_scale=length)).sum()

    _, slope = vecdist.value_and_grad(total(scale), "scale")
    assert slope == pytest.approx((float(total(0.9 + 1e-6)) - float(total(0.9 - 1e-6))) / 2e-6, rel=1e-7)


@pytest.mark.usefixtures("execution")
def test_marginal_and_conditional_are_those_of_normal_vectors():
    x, new, y = np.linspace(0.0, 2.0, 20), np.linspace(0.1, 1.9, 4), rng.normal(size=20)
    covariance, cross = gp.squared_exponential(x), gp.squared_exponential(new, x)
    inner, outer = covariance.compute() + 0.09 * np.eye(20), cross.compute()
    wanted = stats.multivariate_normal.logpdf(y, np.full(20, 0.2), inner)
    assert gp.marginal(covariance, y, 0.3, 0.2).compute() == pytest.approx(wanted, rel=1e-11)
    mean, explained = gp.conditional(covariance, cross, y, 0.3, jitter=0.0)
    np.testing.assert_allclose(mean.compute(), outer @ np.linalg.solve(inner, y), rtol=1e-9)
    np.testing.assert_allclose(explained.compute(), np.diag(outer @ np.linalg.solve(inner, outer.T)), rtol=1e-9)


def test_latent_values_have_the_covariance():
    x, white = np.linspace(0.0, 2.0, 18), rng.normal(size=18)
    covariance = gp.matern(x, nu=0.5)
    factor = np.linalg.cholesky(covariance.compute() + 1e-6 * np.eye(18))
    np.testing.assert_allclose(gp.latent(covariance, white).compute(), factor @ white, rtol=1e-10)


@pytest.mark.usefixtures("execution")
def test_a_model_of_a_process_has_a_gradient():
    """In the logarithms of amplitude, length scale and noise, beside differences."""
    x, y = np.linspace(0.0, 3.0, 25), rng.normal(size=25)

    def model(amplitude, length, noise):
        kernel = gp.matern(x, nu=2.5, amplitude=np.exp(amplitude), length_scale=np.exp(length))
        return gp.marginal(kernel, y, np.exp(noise))

    names = ("amplitude", "length", "noise")
    density = vecdist.LogDensity(model, **{name: vecdist.parameters.real() for name in names})
    point = np.array([0.1, -0.4, -0.3])
    _, slope = density.logdensity_and_gradient(point)
    for place, step in enumerate(1e-6 * np.eye(3)):
        difference = (density(point + step) - density(point - step)) / 2e-6
        assert slope[place] == pytest.approx(difference, rel=1e-6, abs=1e-6)


def test_float32_stays_float32(uncompiled):
    x = np.linspace(0.0, 1.0, 4, dtype=np.float32)
    covariance = gp.squared_exponential(x, amplitude=1.2, length_scale=0.4)
    assert covariance.dtype == np.float32
    assert gp.marginal(covariance, x, 0.5).dtype == gp.latent(covariance, x).dtype == np.float32


@pytest.mark.parametrize(("made", "said"), [
    (lambda: gp.matern(np.ones(3), nu=2.0), "nu of 0.5, 1.5 and 2.5, not for 2.0"),
    (lambda: gp.linear(np.ones((3, 2)), np.ones((3, 1))), r"shapes \(3, 2\) and \(3, 1\) do not fit"),
    (lambda: gp.linear(np.ones((3, 2, 1))), "wanted"),
], ids=["nu", "axes", "rank"])  # fmt: skip
def test_what_is_refused(made, said):
    with pytest.raises(ValueError, match=said):
        made()
