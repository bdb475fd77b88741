"""Draws of families of vectors that have others in them, with fixed keys, against SciPy and their own masses."""

import itertools

import numpy as np
import pytest
import scipy.stats as st
from test_sampling import LEAST, drawn, least_p_value, uniforms

from vecdist.distributions import (
    GeneralizedDirichlet,
    LogisticNormal,
    MatrixNormal,
    Multinomial,
    MultivariateHypergeometric,
    MvLaplace,
    MvLogNormal,
    NegativeMultinomial,
    PlackettLuce,
    PoissonBinomial,
    VonMisesFisher,
    ZeroSumNormal,
)

LOC, MATRIX = np.array([1.0, -2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])


def white(x):
    """Standard normal variables, where x are normal ones around LOC of covariance MATRIX."""
    return np.linalg.solve(np.linalg.cholesky(MATRIX), (x - LOC).T)


def test_normal_logarithms():
    x, parts = drawn(MvLogNormal(LOC, MATRIX), 4000), drawn(LogisticNormal(LOC, MATRIX), 4000)
    assert least_p_value(st.norm.cdf(white(np.log(x)).T)) > LEAST
    np.testing.assert_allclose(parts.sum(-1), 1.0, rtol=1e-14)
    assert least_p_value(st.norm.cdf(white(np.log(parts[:, :2] / parts[:, 2:])).T)) > LEAST


def test_normal_matrices():
    loc, factor = np.arange(6.0).reshape(2, 3), np.array([[1.0, 9.0, 9.0], [0.5, 2.0, 9.0], [-1.0, 0.3, 0.7]])
    x = drawn(MatrixNormal(loc=loc, row_tril=np.linalg.cholesky(MATRIX), column_tril=factor), 4000)
    z = np.linalg.inv(np.linalg.cholesky(MATRIX)) @ (x - loc) @ np.linalg.inv(np.tril(factor)).T
    assert least_p_value(st.norm.cdf(z.reshape(-1, 6))) > LEAST
    assert least_p_value(st.norm.cdf((z[:, 0] + z[:, 1]) / np.sqrt(2.0))) > LEAST


def test_normal_vectors_of_sum_zero():
    x = drawn(ZeroSumNormal(np.array([1.0, 3.0])), (4000, 3))
    assert x.shape == (4000, 2, 3)
    np.testing.assert_allclose(x.sum(-1), 0.0, atol=1e-14)
    basis = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    assert least_p_value(st.norm.cdf((x @ basis.T / [[1.0], [3.0]]).reshape(-1, 4))) > LEAST


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("concentration", [1e-3, 2.0, 1e6])
def test_directions(size, concentration):
    """The distance from the mean direction by its density; other coordinates are as likely on both sides."""
    loc = np.full(size, size**-0.5)
    x = drawn(VonMisesFisher(loc, concentration), 2000)
    np.testing.assert_allclose((x * x).sum(-1), 1.0, rtol=1e-9)
    away = ((x - loc) ** 2).sum(-1) / 2
    at = np.linspace(0.0, np.pi, 200_001) * min(1.0, 30.0 * (size / concentration) ** 0.5)  # angles
    mass = np.sin(at) ** (size - 2) * np.exp(-2.0 * concentration * np.sin(at / 2) ** 2)
    cdf = np.cumsum(mass) / mass.sum()
    assert st.kstest(np.interp(2.0 * np.arcsin(np.sqrt(away / 2)), at, cdf), "uniform").pvalue > LEAST
    assert st.binomtest(int((x[:, 0] > x[:, 1]).sum()), 2000).pvalue > LEAST


def test_shares_of_what_is_left():
    alpha, beta = np.array([0.5, 2.0, 1.5]), np.array([1.0, 0.7, 3.0])
    x = drawn(GeneralizedDirichlet(alpha, beta), 4000)
    assert x.shape == (4000, 4)
    np.testing.assert_allclose(x.sum(-1), 1.0, rtol=1e-14)
    shares = x[:, :3] / np.cumsum(x[:, ::-1], -1)[:, :0:-1]
    assert least_p_value(st.beta.cdf(shares, alpha, beta)) > LEAST
    assert st.spearmanr(shares[:, 0], shares[:, 1]).pvalue > LEAST


def test_rankings():
    scores = np.array([1.0, 0.2, 3.0])
    x = drawn(PlackettLuce(scores), 4000)
    orders = [list(order) for order in itertools.permutations(range(3))]
    found = [(x == order).all(-1).sum() for order in orders]
    masses = [scores[i] / scores.sum() * scores[j] / (scores[j] + scores[k]) for i, j, k in orders]
    assert sum(found) == 4000 and st.chisquare(found, 4000 * np.array(masses)).pvalue > LEAST


def test_sums_of_unlike_trials():
    probs = np.array([0.5, 0.0, 0.2, 0.9, 1.0])
    x = drawn(PoissonBinomial(probs), 4000)
    masses = np.array([1.0])
    for p in probs:
        masses = np.convolve(masses, [1.0 - p, p])
    found = np.bincount(x.astype(int), minlength=6)
    possible = masses > 0.0
    assert found[possible].sum() == 4000
    assert st.chisquare(found[possible], 4000 * masses[possible]).pvalue > LEAST


def test_kinds_drawn_without_replacement():
    population, n = np.array([6, 0, 9, 4]), 7
    x = drawn(MultivariateHypergeometric(population, n), 4000)
    assert (x.sum(-1) == n).all() and (x >= 0).all() and (x <= population).all()
    ones = [uniforms(x[:, k], st.hypergeom(19, population[k], n).cdf, True) for k in (0, 2, 3)]
    assert least_p_value(np.stack(ones, -1)) > LEAST
    assert st.kstest(uniforms(x[:, 0] + x[:, 2], st.hypergeom(19, 15, n).cdf, True), "uniform").pvalue > LEAST


@pytest.mark.parametrize("kinds", [17, 32])
def test_many_kinds(kinds):
    """Of which halves are drawn first."""
    probs, population = np.arange(kinds) / np.arange(kinds).sum(), np.arange(kinds) % 5
    x, y = drawn(Multinomial(40, probs), (1000,)), drawn(MultivariateHypergeometric(population, 30), 1000)
    assert (x.sum(-1) == 40).all() and (y.sum(-1) == 30).all() and (y <= population).all() and (y >= 0).all()
    total = population.sum()
    for places in ([3], [kinds - 1], [2, 8, 16]):
        one = uniforms(x[:, places].sum(-1), st.binom(40, probs[places].sum()).cdf, True)
        other = uniforms(y[:, places].sum(-1), st.hypergeom(total, population[places].sum(), 30).cdf, True)
        assert least_p_value(np.stack([one, other], -1)) > LEAST


def test_counts_before_a_success():
    q = np.array([0.25, 0.4])
    x = drawn(NegativeMultinomial(1.5, q), 4000)
    each = [uniforms(x[:, k], st.nbinom(1.5, 0.35 / (0.35 + q[k])).cdf, True) for k in (0, 1)]
    assert least_p_value(np.stack(each, -1)) > LEAST
    assert st.kstest(uniforms(x.sum(-1), st.nbinom(1.5, 0.35).cdf, True), "uniform").pvalue > LEAST


def test_laplace_vectors():
    """Along every direction they have a Laplace distribution."""
    direction, x = np.array([0.3, -1.0]), drawn(MvLaplace(LOC, MATRIX), 4000)
    scale = np.sqrt(0.5 * direction @ MATRIX @ direction)
    assert st.kstest((x - LOC) @ direction / scale, "laplace").pvalue > LEAST
    z = white(x)
    assert st.kstest(np.arctan2(*z), st.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEAST
