"""Modes and Laplace's approximation, against SciPy's minimiser, grids and exact results."""

import numpy as np
import pytest
from posteriors import (
    COVARIANCE,
    MEAN,
    GammaRegression,
    Gaussian,
    gamma_regression_grid,
    gamma_regression_log_posterior,
)
from scipy import optimize, stats

from vecdist.samplers import find_map, laplace


def rosenbrock(x):
    return -(100.0 * (x[1] - x[0] * x[0]) ** 2 + (1.0 - x[0]) ** 2)


def test_the_mode_of_a_narrow_valley(uncompiled):
    mode = find_map(rosenbrock, [-1.2, 1.0])
    np.testing.assert_allclose(mode.position, [1.0, 1.0], rtol=1e-7)
    assert mode.converged and mode.evaluations < 100 and abs(mode.gradient).max() < 1e-4


def test_a_gaussian_is_its_own_approximation(uncompiled):
    fit = laplace(Gaussian())
    np.testing.assert_allclose(fit.mean, MEAN, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance, COVARIANCE, rtol=1e-9, atol=1e-9)
    wanted = 0.5 * np.linalg.slogdet(2 * np.pi * COVARIANCE)[1]
    np.testing.assert_allclose(fit.log_evidence, wanted, rtol=1e-9)
    whitened = np.linalg.solve(np.linalg.cholesky(COVARIANCE), (fit.draws(300, key=1) - MEAN).T)
    assert stats.kstest(whitened.ravel(), stats.norm.cdf).pvalue > 1e-4
    assert (abs(np.corrcoef(whitened) - np.eye(3)) < 4.5 / np.sqrt(300)).all()


@pytest.mark.slow
def test_a_gamma_regression():
    found = optimize.minimize(lambda x: -gamma_regression_log_posterior(x[None])[0], np.zeros(3), tol=1e-10)
    mode = find_map(GammaRegression())
    np.testing.assert_allclose(mode.position, found.x, atol=2e-5)
    np.testing.assert_allclose(mode.log_density, -found.fun, rtol=1e-10)
    fit = laplace(GammaRegression(), mode=mode)
    bends, signs = 1e-4 * np.eye(3), np.array([1.0, -1.0])
    corners = mode.position + signs[:, None, None, None, None] * bends[:, None] + signs[:, None, None, None] * bends
    values = gamma_regression_log_posterior(corners.reshape(-1, 3)).reshape(2, 2, 3, 3)
    hessian = np.einsum("s,t,stij->ij", signs, signs, values) / 4e-8
    np.testing.assert_allclose(np.linalg.inv(fit.covariance), -hessian, rtol=1e-4, atol=1e-3)
    mean, scale, evidence = gamma_regression_grid([0.4, 0.8, 0.9], [0.15, 0.15, 0.25])
    assert abs(fit.log_evidence - evidence) < 0.1
    assert (abs(fit.mean - mean) < 0.5 * scale).all()


def test_what_has_no_mode(uncompiled):
    saddle = find_map(lambda x: x[0] * x[0] - x[1] * x[1], [0.0, 1.0])
    with pytest.raises(ValueError, match="not negative definite"):
        laplace(lambda x: x[0] * x[0] - x[1] * x[1], mode=saddle)
    with pytest.raises(ValueError, match="no mode was found"):
        laplace(lambda x: (x + np.exp(x)).sum(), [0.0, 0.0])
    with pytest.raises(ValueError, match="not finite at the initial point"):
        find_map(lambda x: np.log(x).sum(), [-1.0, 1.0])
