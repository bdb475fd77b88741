"""Draws of families of vectors that have others in them, with fixed keys, against SciPy and their own masses."""

import itertools

import numpy as np
import scipy.stats as st
from test_sampling import LEAST, drawn, least_p_value, uniforms

from vecdist.distributions import (
    GeneralizedDirichlet,
    MultivariateHypergeometric,
    MvLaplace,
    NegativeMultinomial,
    PlackettLuce,
    PoissonBinomial,
)


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


def test_counts_before_a_success():
    q = np.array([0.25, 0.4])
    x = drawn(NegativeMultinomial(1.5, q), 4000)
    each = [uniforms(x[:, k], st.nbinom(1.5, 0.35 / (0.35 + q[k])).cdf, True) for k in (0, 1)]
    assert least_p_value(np.stack(each, -1)) > LEAST
    assert st.kstest(uniforms(x.sum(-1), st.nbinom(1.5, 0.35).cdf, True), "uniform").pvalue > LEAST


def test_laplace_vectors():
    """Along every direction they have a Laplace distribution."""
    loc, matrix, direction = np.array([1.0, -2.0]), np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.3, -1.0])
    x = drawn(MvLaplace(loc, matrix), 4000)
    scale = np.sqrt(0.5 * direction @ matrix @ direction)
    assert st.kstest((x - loc) @ direction / scale, "laplace").pvalue > LEAST
    z = np.linalg.solve(np.linalg.cholesky(matrix), (x - loc).T)
    assert st.kstest(np.arctan2(*z), st.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEAST
