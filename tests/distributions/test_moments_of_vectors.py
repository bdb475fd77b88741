"""Means and variances of families of vectors, against SciPy and definitions."""

import numpy as np
import pytest
import scipy.stats as st

from vecdist import mean, variance
from vecdist.distributions import LKJ, Dirichlet, GeneralizedDirichlet

ALPHA, BETA = np.array([0.5, 2.0]), np.array([3.0, 1.5])


def broken(power):
    """Moments of products of independent shares and rests, by those of beta distributions."""
    shares = [st.beta(a, b).moment(power) for a, b in zip(ALPHA, BETA, strict=True)]
    rests = [st.beta(b, a).moment(power) for a, b in zip(ALPHA, BETA, strict=True)]
    return np.array([shares[0], rests[0] * shares[1], rests[0] * rests[1]])


MOMENTS = [
    (Dirichlet(ALPHA), st.dirichlet(ALPHA).mean(), st.dirichlet(ALPHA).var()),
    (GeneralizedDirichlet(ALPHA, BETA), broken(1), broken(2) - broken(1) ** 2),
]


@pytest.mark.parametrize(("some", "wanted_mean", "wanted_variance"), MOMENTS, ids=lambda some: type(some).__name__)
def test_moments(interpreter, some, wanted_mean, wanted_variance):
    np.testing.assert_allclose(np.asarray(mean(some)), wanted_mean, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(variance(some)), wanted_variance, rtol=1e-13)


def test_moments_that_are_not_stated():
    with pytest.raises(NotImplementedError, match="LKJ states no mean"):
        mean(LKJ(1.0))
