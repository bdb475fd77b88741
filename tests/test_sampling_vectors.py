"""Draws of families of vectors that have others in them, with fixed keys, against SciPy and their own masses."""

import itertools

import numpy as np
import scipy.stats as st
from test_sampling import LEAST, drawn, least_p_value

from vecdist.distributions import GeneralizedDirichlet, PlackettLuce


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
