"""Vectors and matrices of more rows than are written out: densities, gradients, draws, factors and solutions."""

import numpy as np
import pytest
from scipy import linalg as reference
from scipy import stats

import vecdist
from vecdist import lazy, linalg, logpdf
from vecdist.distributions import MvNormal, MvStudentT, Normal

rng = np.random.default_rng(5)
LENGTHS = (9, 17, 40)


def scale(*shape):
    a = rng.normal(size=shape)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def ways(loc, matrix):
    """One distribution, by all of its parametrisations."""
    factor = np.linalg.cholesky(matrix)
    above = np.triu(np.full(matrix.shape, 7.0), 1)  # which nothing reads
    by_precision = MvNormal(loc=loc, precision=np.linalg.inv(matrix))
    return MvNormal(loc, matrix), MvNormal(loc=loc, scale_tril=factor + above), by_precision


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("length", LENGTHS)
def test_densities_of_long_vectors(length):
    loc, matrix, x = rng.normal(size=length), scale(length, length), rng.normal(size=(4, length))
    wanted = stats.multivariate_normal.logpdf(x, loc, matrix)
    for distribution in ways(loc, matrix):
        np.testing.assert_allclose(logpdf(distribution, x), wanted, rtol=1e-11)
    student = logpdf(MvStudentT(3.5, loc, matrix), x)
    np.testing.assert_allclose(student, stats.multivariate_t.logpdf(x, loc, matrix, 3.5), rtol=1e-11)


@pytest.mark.usefixtures("execution")
def test_each_event_may_have_a_matrix_of_its_own():
    loc, matrices, x = rng.normal(size=(2, 20)), scale(2, 20, 20), rng.normal(size=(3, 2, 20))
    found = logpdf(MvNormal(loc, matrices), x).compute()
    wanted = [stats.multivariate_normal.logpdf(x[:, k], loc[k], matrices[k]) for k in range(2)]
    np.testing.assert_allclose(found, np.stack(wanted, axis=1), rtol=1e-11)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("length", LENGTHS)
def test_gradients_in_location_and_covariance(length):
    loc, matrix, x = rng.normal(size=length), scale(length, length), rng.normal(size=(3, length))
    density = logpdf(MvNormal(lazy(loc, "loc"), lazy(matrix, "matrix")), x).sum()
    of_loc, of_matrix = vecdist.value_and_grad(density, ("loc", "matrix"))[1]
    inverse = np.linalg.inv(matrix)
    weighted = (x - loc) @ inverse
    np.testing.assert_allclose(of_loc, weighted.sum(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(of_matrix, 0.5 * (weighted.T @ weighted - 3.0 * inverse), rtol=1e-8, atol=1e-12)


def test_draws_have_the_covariance():
    loc, matrix = rng.normal(size=18), scale(18, 18)
    for distribution in ways(loc, matrix):
        draws = np.asarray(vecdist.sample(11, distribution, 20_000))
        apart = np.linalg.solve(np.linalg.cholesky(matrix), (draws - loc).T)
        assert np.abs(np.cov(apart) - np.eye(18)).max() < 0.06
        assert np.abs(apart.mean(axis=1)).max() < 0.04


@pytest.mark.usefixtures("execution")
def test_divergences_of_long_vectors():
    first, second = scale(18, 18), scale(18, 18)
    loc = rng.normal(size=18)
    trace, apart = np.trace(np.linalg.solve(second, first)), loc @ np.linalg.solve(second, loc)
    wanted = 0.5 * (trace + apart - 18.0 + np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1])
    for one in ways(np.zeros(18), first):
        found = vecdist.kl_divergence(one, MvNormal(loc, second)).compute()
        assert found == pytest.approx(wanted, rel=1e-10)


@pytest.mark.usefixtures("execution")
def test_a_matrix_that_is_not_definite_is_told():
    bad = np.eye(20)
    bad[3, 3] = -1.0
    with pytest.raises(vecdist.InvalidParameter, match="pivot of covariance"):
        logpdf(MvNormal(np.zeros(20), bad), np.zeros(20)).compute()
    factor = np.eye(20)
    factor[2, 2] = 0.0
    with pytest.raises(vecdist.InvalidParameter, match="diagonal of scale_tril"):
        logpdf(MvNormal(loc=np.zeros(20), scale_tril=factor), np.zeros(20)).compute()
    assert np.isnan(linalg.cholesky(bad).compute()).all()


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("length", [3, *LENGTHS])
def test_factors_and_solutions(length):
    matrix, b = scale(length, length), rng.normal(size=(2, length))
    factor = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(linalg.cholesky(matrix).compute(), factor, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(linalg.log_determinant(matrix).compute(), np.linalg.slogdet(matrix)[1], rtol=1e-12)
    for transposed in (False, True):
        found = linalg.solve_triangular(factor, b.T, trans=int(transposed), lower=True).compute()
        wanted = reference.solve_triangular(factor, b.T, trans=int(transposed), lower=True)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    found = linalg.cho_solve((factor, True), b.T).compute()
    np.testing.assert_allclose(found, np.linalg.solve(matrix, b.T), rtol=1e-8, atol=1e-11)


def test_a_gaussian_process_is_a_log_density():
    """Its gradient in a length scale and the latent vector, beside differences."""
    place, y = np.linspace(0.0, 1.0, 30), rng.normal(size=30)

    def model(log_length, latent):
        apart = (place[:, None] - place) / np.exp(log_length)
        kernel = np.exp(-0.5 * apart**2) + 1e-2 * np.eye(30)
        return logpdf(MvNormal(np.zeros(30), kernel), latent) + logpdf(Normal(latent, 0.5), y).sum()

    density = vecdist.LogDensity(model, log_length=vecdist.parameters.real(), latent=vecdist.parameters.real(30))
    x = np.concatenate([[-1.5], 0.1 * y])
    value, slope = density.logdensity_and_gradient(x)
    assert np.isfinite(value)
    for place_of in (0, 1, 17):
        step = np.zeros(31)
        step[place_of] = 1e-6
        difference = (density(x + step) - density(x - step)) / 2e-6
        assert slope[place_of] == pytest.approx(difference, rel=1e-5, abs=1e-4)
