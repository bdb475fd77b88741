"""Means and variances of families of vectors, against SciPy and definitions."""

import numpy as np
import pytest
import scipy.stats as st

from vecdist import mean, variance
from vecdist.distributions import (
    LKJ,
    Dirichlet,
    DirichletMultinomial,
    GeneralizedDirichlet,
    InverseWishart,
    MatrixNormal,
    Multinomial,
    MultivariateHypergeometric,
    MvLaplace,
    MvLogNormal,
    MvNormal,
    MvStudentT,
    NegativeMultinomial,
    PoissonBinomial,
    VonMisesFisher,
    Wishart,
)

LOC, MATRIX = np.array([1.0, -2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
STDS = np.sqrt(MATRIX.diagonal())
FACTOR, Q = np.array([[1.0], [0.5]]), np.array([0.25, 0.5])
ALPHA, BETA = np.array([0.5, 2.0]), np.array([3.0, 1.5])


def broken(power):
    """Moments of products of independent shares and rests, by those of beta distributions."""
    shares = [st.beta(a, b).moment(power) for a, b in zip(ALPHA, BETA, strict=True)]
    rests = [st.beta(b, a).moment(power) for a, b in zip(ALPHA, BETA, strict=True)]
    return np.array([shares[0], rests[0] * shares[1], rests[0] * rests[1]])


MOMENTS = [
    (Dirichlet(ALPHA), st.dirichlet(ALPHA).mean(), st.dirichlet(ALPHA).var()),
    (MvNormal(LOC, MATRIX), LOC, MATRIX.diagonal()),
    (MvNormal(loc=LOC, precision=MATRIX), LOC, np.linalg.inv(MATRIX).diagonal()),
    (MvNormal(loc=LOC, cov_factor=FACTOR, cov_diag=ALPHA), LOC, ALPHA + FACTOR[:, 0] ** 2),
    (MvStudentT(np.array([[3.0], [2.0], [1.0]])[:, 0], LOC, MATRIX), [LOC, LOC, [np.nan] * 2],
     [3.0 * MATRIX.diagonal(), [np.inf] * 2, [np.nan] * 2]),
    (MvLogNormal(LOC, MATRIX), [st.lognorm(s, scale=np.exp(m)).mean() for s, m in zip(STDS, LOC, strict=True)],
     [st.lognorm(s, scale=np.exp(m)).var() for s, m in zip(STDS, LOC, strict=True)]),
    (MatrixNormal(np.eye(2), MATRIX, 2.0 * MATRIX), np.eye(2), [[8.0, 4.0], [4.0, 2.0]]),
    (MvLaplace(LOC, MATRIX), LOC, MATRIX.diagonal()),
    (Multinomial(5, [0.25, 0.75]), [1.25, 3.75], [0.9375, 0.9375]),
    (DirichletMultinomial(7, ALPHA), *(getattr(st.dirichlet_multinomial(ALPHA, 7), it)() for it in ("mean", "var"))),
    (MultivariateHypergeometric([3, 2, 5], 4),
     *(getattr(st.multivariate_hypergeom([3, 2, 5], 4), it)() for it in ("mean", "var"))),
    (MultivariateHypergeometric([1, 0], 1), [1.0, 0.0], [0.0, 0.0]),
    (NegativeMultinomial(2.0, Q), 2.0 * Q / 0.25, 2.0 * Q * (0.25 + Q) / 0.25**2),
    (Wishart(3.5, MATRIX), st.wishart(3.5, MATRIX).mean(), st.wishart(3.5, MATRIX).var()),
    (InverseWishart(7.5, MATRIX), st.invwishart(7.5, MATRIX).mean(), st.invwishart(7.5, MATRIX).var()),
    (InverseWishart(3.5, MATRIX), 2.0 * MATRIX, np.full((2, 2), np.nan)),
    (InverseWishart(23.5, np.eye(18)), np.eye(18) / 4.5, st.invwishart(23.5, np.eye(18)).var()),
    (PoissonBinomial(Q), 0.75, 0.4375),
    (GeneralizedDirichlet(ALPHA, BETA), broken(1), broken(2) - broken(1) ** 2),
]


@pytest.mark.parametrize(("some", "wanted_mean", "wanted_variance"), MOMENTS, ids=lambda some: type(some).__name__)
def test_moments(interpreter, some, wanted_mean, wanted_variance):
    np.testing.assert_allclose(np.asarray(mean(some)), wanted_mean, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(variance(some)), wanted_variance, rtol=1e-13)


def test_moments_that_are_not_stated():
    with pytest.raises(NotImplementedError, match="LKJ states no mean"):
        mean(LKJ(1.0))


@pytest.mark.parametrize("concentration", [1e-3, 2.0, 1e5])
def test_the_mean_of_directions(interpreter, concentration):
    """On a sphere coth(concentration) - 1 / concentration: Mardia and Jupp (2000), equation (9.3.9)."""
    some = VonMisesFisher(np.array([0.0, 0.6, 0.8]), concentration)
    length = 1.0 / np.tanh(concentration) - 1.0 / concentration
    np.testing.assert_allclose(np.asarray(mean(some)), length * np.array([0.0, 0.6, 0.8]), rtol=1e-9)
