"""Families of matrices with more rows than are written out, against SciPy, ball arithmetic and known marginals."""

import numpy as np
import pytest
import scipy.stats as st
from flint import arb
from multivariate_truth import lkj_normaliser
from test_sampling import LEAST, drawn

import vecdist
from vecdist import logpdf, value_and_grad
from vecdist.distributions import (
    LKJ,
    InverseWishart,
    InverseWishartCholesky,
    LKJCholesky,
    Wishart,
    WishartCholesky,
)

K = 18
ROWS = np.arange(K)
RNG = np.random.default_rng(5)


def definite():
    root = RNG.normal(size=(K, K + 5))
    return root @ root.T / K + np.eye(K)


X, SCALE, DF = definite(), definite(), np.array(K + 2.5)
SPREAD = np.sqrt(X.diagonal())
R = np.where(np.eye(K, dtype=bool), 1.0, X / np.outer(SPREAD, SPREAD))
FACTOR, OF_R = np.linalg.cholesky(X), np.linalg.cholesky(R)
JACOBIAN = K * np.log(2.0) + (K - ROWS) @ np.log(FACTOR.diagonal())
CONCENTRATION = np.array(1.7)
EYE = np.eye(K)


def changed(matrix, *places, by):
    matrix = matrix.copy()
    for place in places:
        matrix[place] += by
    return matrix


@pytest.mark.parametrize(("family", "of_factors", "known"), [
    (Wishart, WishartCholesky, st.wishart), (InverseWishart, InverseWishartCholesky, st.invwishart),
], ids=lambda family: getattr(family, "__name__", ""))
def test_values(interpreter, family, of_factors, known):
    wanted, tril = known(float(DF), SCALE).logpdf(X), np.linalg.cholesky(SCALE)
    for ways in ({"scale_matrix": SCALE}, {"scale_tril": tril + np.triu(np.ones((K, K)), 1)}):
        assert float(logpdf(family(df=DF, **ways), X)) == pytest.approx(wanted, rel=1e-12)
        assert float(logpdf(of_factors(df=DF, **ways), FACTOR)) == pytest.approx(wanted + JACOBIAN, rel=1e-12)


def test_slopes(interpreter):
    """Of log |X| (df - K - 1) / 2 - tr(V^-1 X) / 2 - df log |V| / 2."""
    _, (_, of_scale, of_x) = value_and_grad(logpdf(Wishart(DF, SCALE), X), wrt=(DF, SCALE, X))
    inverse, of_scale_inverse = np.linalg.inv(X), np.linalg.inv(SCALE)
    np.testing.assert_allclose(of_x, (DF - K - 1) / 2 * inverse - of_scale_inverse / 2, rtol=1e-9, atol=1e-12)
    wanted = (of_scale_inverse @ X @ of_scale_inverse - DF * of_scale_inverse) / 2
    np.testing.assert_allclose(of_scale, wanted, rtol=1e-9, atol=1e-12)


def test_correlations(interpreter):
    normaliser = float(lkj_normaliser(arb(1.7), K))
    value, (slope,) = value_and_grad(logpdf(LKJ(CONCENTRATION), R), wrt=(R,))
    assert value == pytest.approx(0.7 * np.linalg.slogdet(R)[1] - normaliser, rel=1e-12)
    np.testing.assert_allclose(slope, 0.7 * np.linalg.inv(R), rtol=1e-9, atol=1e-12)
    powers = np.where(ROWS > 0, K - ROWS - 3 + 3.4, 0.0)
    value, (slope,) = value_and_grad(logpdf(LKJCholesky(CONCENTRATION), OF_R), wrt=(OF_R,))
    assert value == pytest.approx(powers @ np.log(OF_R.diagonal()) - normaliser, rel=1e-12)
    np.testing.assert_allclose(slope, np.diag(powers / OF_R.diagonal()), rtol=1e-12)


@pytest.mark.parametrize(("some", "inside", "outside"), [
    (Wishart(DF, SCALE), X, [-EYE, changed(X, (1, 0), (0, 1), by=9.0)]),
    (WishartCholesky(DF, SCALE), FACTOR, [-EYE, changed(FACTOR, (3, 3), by=-9.0)]),
    (LKJ(CONCENTRATION), R, [2.0 * EYE, changed(R, (1, 0), by=0.1), changed(R, (1, 0), (0, 1), by=1.0)]),
    (LKJCholesky(CONCENTRATION), OF_R, [-EYE, changed(OF_R, (1, 0), by=0.1)]),
], ids=lambda some: type(some).__name__)
def test_edges(interpreter, some, inside, outside):
    given = tuple(some.parameters.values())
    total = logpdf(some, np.stack(outside))
    assert (np.asarray(total) == -np.inf).all()
    assert not any(np.asarray(slope).any() for slope in value_and_grad(total.sum(), wrt=given)[1])
    unknown = changed(inside, (2, 1), by=np.nan)
    found = np.asarray(logpdf(some, np.stack([unknown, inside])))
    assert np.isnan(found[0]) and np.isfinite(found[1])


def test_small_factors_with_a_nan(interpreter):
    assert np.isnan(float(logpdf(LKJCholesky(2.0), np.array([[1.0, 0.0], [np.nan, 0.8]]))))


def test_invalid_parameters(interpreter):
    with pytest.raises(vecdist.InvalidParameter, match=r"Wishart: pivot of scale_matrix.* is invalid"):
        np.asarray(logpdf(Wishart(DF, -SCALE), X))
    with pytest.raises(vecdist.InvalidParameter, match=r"Wishart: df = 16.0 is invalid; wanted a finite number ab"):
        np.asarray(logpdf(Wishart(16.0, SCALE), X))


def test_draws_of_wishart():
    """Quadratic forms are chi-squared variables: Muirhead (1982), theorems 3.2.5 to 3.2.12."""
    a, wanted = np.linspace(-1.0, 1.0, K), DF - K + 1
    x, y = drawn(Wishart(DF, SCALE), 1000), drawn(InverseWishart(DF, SCALE), 1000)
    np.testing.assert_array_equal(x, x.swapaxes(-1, -2))
    by_inverse = a @ np.linalg.inv(SCALE) @ a
    assert st.kstest(a @ x @ a / (a @ SCALE @ a), st.chi2(DF).cdf).pvalue > LEAST
    assert st.kstest(by_inverse / (a @ np.linalg.inv(x) @ a), st.chi2(wanted).cdf).pvalue > LEAST
    assert st.kstest(a @ SCALE @ a / (a @ y @ a), st.chi2(wanted).cdf).pvalue > LEAST
    assert st.kstest(a @ np.linalg.inv(y) @ a / by_inverse, st.chi2(DF).cdf).pvalue > LEAST


def test_draws_of_correlations():
    """Each has a beta distribution: Lewandowski, Kurowicka and Joe (2009), theorem 1."""
    x = drawn(LKJ(CONCENTRATION), (1000, K, K))
    np.testing.assert_allclose(x[:, ROWS, ROWS], 1.0, rtol=1e-14)
    shape = CONCENTRATION + 0.5 * (K - 2)
    for place in ((1, 0), (9, 3), (17, 0), (17, 16)):
        assert st.kstest(0.5 + 0.5 * x[:, *place], st.beta(shape, shape).cdf).pvalue > LEAST


@pytest.mark.parametrize(("matrices", "factors", "shape"), [
    (Wishart(DF, SCALE), WishartCholesky(DF, SCALE), 20), (LKJ(2.0), LKJCholesky(2.0), (20, K, K)),
    (InverseWishart(DF, SCALE), InverseWishartCholesky(DF, SCALE), 20),
], ids=repr)
def test_factors_are_those_of_the_matrices(matrices, factors, shape):
    whole, factor = drawn(matrices, shape), drawn(factors, shape)
    np.testing.assert_allclose(factor @ factor.swapaxes(-1, -2), whole, rtol=1e-12, atol=1e-12)
    assert (np.triu(factor, 1) == 0).all() and (np.diagonal(factor, axis1=-2, axis2=-1) > 0).all()
