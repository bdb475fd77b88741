"""Draws of vectors, matrices, mixtures and of what wrappers make, with fixed keys, against SciPy."""

import numpy as np
import pytest
import scipy.stats as st
from interpreting import by_interpreter
from test_sampling import LEAST, drawn, least_p_value, uniforms

import vecdist
from vecdist import InvalidParameter, sample
from vecdist.distributions import (
    LKJ,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Exponential,
    Gamma,
    InverseWishart,
    InverseWishartCholesky,
    LKJCholesky,
    Multinomial,
    MvNormal,
    MvStudentT,
    Normal,
    OrderedLogistic,
    OrderedProbit,
    Poisson,
    StudentT,
    Wishart,
    WishartCholesky,
)
from vecdist.multivariate import MULTIVARIATE, Multivariate

LOC = np.array([1.0, -2.0, 0.5])
MATRIX = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
FACTOR = np.linalg.cholesky(MATRIX)
ALPHA = np.array([0.5, 2.0, 3.0])
PROBS = np.array([0.2, 0.0, 0.5, 0.3, 0.0])
CUTS = np.array([-1.0, 0.5, 2.0])
DIRECTION = np.array([0.3, -1.0, 0.6])


def p_of_counts(found, probs):
    """The p-value of counts of categories; what has no probability is never found."""
    assert (found[probs == 0] == 0).all()
    return st.chisquare(found[probs > 0], found.sum() * probs[probs > 0]).pvalue if (probs > 0).sum() > 1 else 1.0


@pytest.mark.parametrize(("distribution", "probs"), [
    (Categorical(PROBS), PROBS), (Categorical(logits=np.log(np.array([1.0, 2.0, 3.0]))), np.array([1, 2, 3]) / 6),
    (Categorical(np.array([0.0, 1.0])), np.array([0.0, 1.0])),
    (OrderedLogistic(0.3, CUTS), np.diff([0, *st.logistic.cdf(CUTS - 0.3), 1])),
    (OrderedProbit(0.3, CUTS), np.diff([0, *st.norm.cdf(CUTS - 0.3), 1])),
], ids=repr)
def test_categories(distribution, probs):
    x = drawn(distribution, 20_000)
    assert x.dtype == np.float64 and x.shape == (20_000,)
    assert p_of_counts(np.bincount(x.astype(int), minlength=len(probs)), probs) > LEAST


def test_batches_of_categories():
    probs = np.array([[0.2, 0.8], [0.9, 0.1]])
    x = drawn(Categorical(probs), (3000, 1))
    assert x.shape == (3000, 1, 2)
    for column, row in zip(x[:, 0].T, probs, strict=True):
        assert p_of_counts(np.bincount(column.astype(int), minlength=2), row) > LEAST


def test_dirichlet():
    x = drawn(Dirichlet(ALPHA), 4000)
    np.testing.assert_allclose(x.sum(-1), 1.0, rtol=1e-14)
    assert least_p_value(np.stack([st.beta.cdf(x[:, k], a, ALPHA.sum() - a) for k, a in enumerate(ALPHA)], -1)) > LEAST
    share = x[:, 0] / (x[:, 0] + x[:, 1])  # independent of the third
    assert st.kstest(share, st.beta(ALPHA[0], ALPHA[1]).cdf).pvalue > LEAST
    assert st.spearmanr(share, x[:, 2]).pvalue > LEAST


def test_dirichlet_of_tiny_alpha():
    x = drawn(Dirichlet(np.full(4, 1e-3)), 4000)
    np.testing.assert_allclose(x.sum(-1), 1.0, rtol=1e-14)
    assert st.chisquare((x > 0.5).sum(axis=0)).pvalue > LEAST


def test_multinomial():
    for n in (7, 200):
        x = drawn(Multinomial(n, PROBS), 4000)
        assert (x.sum(-1) == n).all()
        steps = [uniforms(x[:, k], st.binom(n, PROBS[k]).cdf, True) for k in (0, 2, 3)]
        assert least_p_value(np.stack(steps, -1)) > LEAST
        both = uniforms(x[:, 0] + x[:, 3], st.binom(n, PROBS[0] + PROBS[3]).cdf, True)
        assert st.kstest(both, "uniform").pvalue > LEAST


def test_dirichlet_multinomial():
    x = drawn(DirichletMultinomial(20, ALPHA), 4000)
    assert (x.sum(-1) == 20).all()
    steps = [uniforms(x[:, k], st.betabinom(20, a, ALPHA.sum() - a).cdf, True) for k, a in enumerate(ALPHA)]
    assert least_p_value(np.stack(steps, -1)) > LEAST


COV_FACTOR, COV_DIAG = np.array([[1.0, 0.2], [0.5, -1.0], [0.0, 0.3]]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize(("distribution", "covariance"), [
    (MvNormal(LOC, MATRIX), MATRIX), (MvNormal(loc=LOC, scale_tril=FACTOR), MATRIX),
    (MvNormal(loc=LOC, precision=np.linalg.inv(MATRIX)), MATRIX),
    (MvNormal(loc=LOC, scale_diag=np.array([1.0, 2.0, 3.0])), np.diag([1.0, 4.0, 9.0])),
    (MvNormal(loc=LOC, cov_factor=COV_FACTOR, cov_diag=COV_DIAG), COV_FACTOR @ COV_FACTOR.T + np.diag(COV_DIAG)),
], ids=repr)
def test_normal_vectors(distribution, covariance):
    """In several directions, and by the distance."""
    x = drawn(distribution, 4000) - LOC
    directions = np.array([*np.eye(3), DIRECTION])
    scales = np.sqrt(np.einsum("di,ij,dj->d", directions, covariance, directions))
    assert least_p_value(st.norm.cdf(x @ directions.T / scales)) > LEAST
    assert st.kstest(np.einsum("ni,ij,nj->n", x, np.linalg.inv(covariance), x), st.chi2(3).cdf).pvalue > LEAST


def test_student_vectors():
    x = drawn(MvStudentT(2.5, LOC, MATRIX), 4000) - LOC
    assert st.kstest(x @ DIRECTION / np.sqrt(DIRECTION @ MATRIX @ DIRECTION), st.t(2.5).cdf).pvalue > LEAST
    distance = np.einsum("ni,ij,nj->n", x, np.linalg.inv(MATRIX), x)
    assert st.kstest(distance / 3, st.f(3, 2.5).cdf).pvalue > LEAST


def test_wishart():
    """Quadratic forms of it and of its inverse in a direction, Muirhead (1982), section 3.2; the determinant."""
    x = drawn(Wishart(4.5, MATRIX), 4000)
    np.testing.assert_array_equal(x, x.swapaxes(-1, -2))
    a, inverse = DIRECTION, np.linalg.inv(MATRIX)
    assert st.kstest(a @ x @ a / (a @ MATRIX @ a), st.chi2(4.5).cdf).pvalue > LEAST
    assert st.kstest(a @ inverse @ a / (a @ np.linalg.inv(x) @ a), st.chi2(2.5).cdf).pvalue > LEAST
    wanted = st.wishart(5, MATRIX).rvs(4000, random_state=1)
    found = drawn(Wishart(5.0, MATRIX), 4000)
    assert st.ks_2samp(np.linalg.det(found), np.linalg.det(wanted)).pvalue > LEAST
    assert st.ks_2samp(found[:, 0, 1], wanted[:, 0, 1]).pvalue > LEAST


def test_inverse_wishart():
    x = drawn(InverseWishart(4.5, MATRIX), 4000)
    np.testing.assert_array_equal(x, x.swapaxes(-1, -2))
    a, inverse = DIRECTION, np.linalg.inv(MATRIX)
    assert st.kstest(a @ np.linalg.inv(x) @ a / (a @ inverse @ a), st.chi2(4.5).cdf).pvalue > LEAST
    assert st.kstest(a @ MATRIX @ a / (a @ x @ a), st.chi2(2.5).cdf).pvalue > LEAST
    wanted = st.invwishart(5, MATRIX).rvs(4000, random_state=1)
    found = drawn(InverseWishart(5.0, MATRIX), 4000)
    assert st.ks_2samp(found[:, 0, 1], wanted[:, 0, 1]).pvalue > LEAST


@pytest.mark.parametrize("concentration", [0.7, 1.0, 4.0])
def test_correlations(concentration):
    """Each has a beta distribution: Lewandowski, Kurowicka and Joe (2009), theorem 1; so has the determinant."""
    x = drawn(LKJ(concentration), (3000, 4, 4))
    np.testing.assert_array_equal(x, x.swapaxes(-1, -2))
    np.testing.assert_allclose(x[:, range(4), range(4)], 1.0, rtol=1e-14)
    pairs = x[:, *np.tril_indices(4, -1)]
    shape = concentration + 1.0
    assert least_p_value(st.beta.cdf(0.5 + 0.5 * pairs, shape, shape)) > LEAST
    rng = np.random.default_rng(1)  # ∏ (1 - r²) of partial correlations, each beta distributed
    parts = [rng.beta(concentration + 0.5 * (3 - i), 0.5 * i, 3000) for i in (1, 2, 3)]
    assert st.ks_2samp(np.linalg.det(x), np.prod(parts, axis=0)).pvalue > LEAST


@pytest.mark.parametrize(("matrices", "factors", "shape"), [
    (Wishart(4.5, MATRIX), WishartCholesky(4.5, MATRIX), 50),
    (InverseWishart(4.5, MATRIX), InverseWishartCholesky(4.5, MATRIX), 50),
    (LKJ(2.0), LKJCholesky(2.0), (50, 4, 4)), (LKJ(np.array([1.0, 3.0])), LKJCholesky(np.array([1.0, 3.0])), (5, 3, 3)),
], ids=repr)
def test_factors_are_those_of_the_matrices(matrices, factors, shape):
    """Of one key, and with a positive diagonal and nothing above it."""
    whole, factor = drawn(matrices, shape), drawn(factors, shape)
    np.testing.assert_allclose(factor @ factor.swapaxes(-1, -2), whole, rtol=1e-12, atol=1e-12)
    assert (np.triu(factor, 1) == 0).all() and (np.diagonal(factor, axis1=-2, axis2=-1) > 0).all()


OTHERS = {  # in test_sampling_vectors.py
    "GeneralizedDirichlet", "LogisticNormal", "MatrixNormal", "MultivariateHypergeometric", "MvLaplace", "MvLogNormal",
    "NegativeMultinomial", "PlackettLuce", "PoissonBinomial", "VonMisesFisher", "ZeroSumNormal",
}


def test_every_family_of_vectors_is_here():
    tested = {
        "Categorical", "Dirichlet", "DirichletMultinomial", "InverseWishart", "InverseWishartCholesky", "LKJ",
        "LKJCholesky", "Multinomial", "MvNormal", "MvStudentT", "OrderedLogistic", "OrderedProbit", "Wishart",
        "WishartCholesky", *OTHERS,
    }
    assert {name for name, family in MULTIVARIATE.items() if family.draw is not Multivariate.draw} == tested


def test_shapes_of_events():
    batch = MvNormal(np.zeros((4, 1, 3)), MATRIX)
    assert sample(1, batch, 5).shape == (5, 4, 1, 3)
    assert sample(np.arange(2)[:, None], MvNormal(LOC, MATRIX), 5).shape == (2, 5, 3)
    assert sample(1, MvNormal(LOC, MATRIX)).shape == (3,)
    assert sample(1, LKJ(np.ones(2)), (5, 3, 3)).shape == (5, 2, 3, 3)
    for shape in ((), 3, (2, 3), (0, 0)):
        with pytest.raises(ValueError, match="LKJ: no parameter has the length of an event, and the shape must end"):
            sample(1, LKJ(1.0), shape)


def test_invalid_parameters_of_vectors(uncompiled):
    with pytest.raises(InvalidParameter, match="Dirichlet: alpha"):
        np.asarray(sample(1, Dirichlet(np.array([1.0, -1.0]))))
    quiet = vecdist.compile(lambda alpha: sample(1, Dirichlet(alpha), 2))
    found = quiet(np.array([[1.0, 1.0], [1.0, -1.0]]))
    assert np.isnan(found[:, 1]).all() and np.isfinite(found[:, 0]).all()


def test_draws_of_vectors_in_a_kernel(execution):
    for distribution in (MvNormal(LOC, MATRIX), Categorical(PROBS), Dirichlet(ALPHA)):
        found = np.asarray(sample(3, distribution, 4))
        np.testing.assert_allclose(found, drawn(distribution, 4, key=3), rtol=1e-13)


MU, SD = np.array([-1.0, 2.0, 5.0]), np.array([1.0, 0.5, 2.0])


def test_mixtures():
    weights = np.array([0.2, 0.5, 0.3])
    x = drawn(vecdist.mixture(weights, Normal(MU, SD)), 4000)
    assert st.kstest(x, lambda at: (weights * st.norm.cdf(at[:, None], MU, SD)).sum(-1)).pvalue > LEAST
    rows = drawn(vecdist.mixture(np.array([[1.0, 0.0], [0.0, 1.0]]), Normal(np.array([-50.0, 50.0]), 1.0)), (10, 1))
    assert (rows[..., 0] < 0).all() and (rows[..., 1] > 0).all()
    alike = drawn(vecdist.mixture(np.array([0.5, 0.5]), Exponential(2.0)), 2000)
    assert st.kstest(alike, st.expon(0, 2).cdf).pvalue > LEAST


GAMMA = st.gamma(2)
WRAPPED = {
    "truncated": (vecdist.truncated(Gamma(2.0, 1.0), 1.0, 3.0),
                  lambda x: (GAMMA.cdf(x) - GAMMA.cdf(1)) / (GAMMA.cdf(3) - GAMMA.cdf(1))),
    "truncated far away": (
        vecdist.truncated(Normal(0.0, 1.0), lower=20.0), lambda x: 1 - st.norm.sf(x) / st.norm.sf(20)
    ),
    "truncated where little is": (
        vecdist.truncated(Gamma(2.0, 1.0), lower=90.0), lambda x: 1 - GAMMA.sf(x) / GAMMA.sf(90)
    ),
    "affine": (vecdist.affine(Gamma(2.0, 1.0), 1.0, 3.0), st.gamma(2, 1, 3).cdf),
    "transformed": (vecdist.transformed(StudentT(3.0), "exp"), lambda x: st.t.cdf(np.log(x), 3)),
    "turned round": (vecdist.transformed(Gamma(2.0, 1.0), "negative"), lambda x: GAMMA.sf(-x)),
    "folded": (vecdist.folded(StudentT(3.0, 0.5)), lambda x: st.t.cdf(x - 0.5, 3) - st.t.cdf(-x - 0.5, 3)),
    "both": (vecdist.affine(vecdist.folded(Normal(0.0, 1.0)), 2.0, 3.0), st.halfnorm(2, 3).cdf),
}
WRAPPED_COUNTS = {
    "discretised": (vecdist.discretised(Gamma(2.0, 3.0)), lambda x: st.gamma.cdf(x + 1, 2, scale=3)),
    "zero_inflated": (vecdist.zero_inflated(Poisson(2.0), gate=0.3),
                      lambda x: np.where(x < 0, 0, 0.3 + 0.7 * st.poisson.cdf(x, 2))),
    "hurdle": (vecdist.hurdle(Poisson(2.0), gate=0.3),
               lambda x: np.where(x < 0, 0, 0.3 + 0.7 * (st.poisson.cdf(x, 2) - np.exp(-2)) / (1 - np.exp(-2)))),
    "truncated": (vecdist.truncated(Poisson(2.0), 1, 4),
                  lambda x: np.clip((st.poisson.cdf(x, 2) - np.exp(-2)) / (st.poisson.cdf(4, 2) - np.exp(-2)), 0, 1)),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappers(name):
    distribution, cdf = WRAPPED[name]
    assert least_p_value(cdf(drawn(distribution, 3000))) > LEAST


@pytest.mark.parametrize("name", WRAPPED_COUNTS)
def test_wrappers_of_counts(name):
    distribution, cdf = WRAPPED_COUNTS[name]
    assert least_p_value(uniforms(drawn(distribution, 3000), cdf, True)) > LEAST


def test_what_lies_at_single_points():
    x = drawn(vecdist.censored(Normal(0.0, 1.0), -1.0, 0.5), 4000)
    assert st.binomtest(int((x == -1).sum()), x.size, st.norm.cdf(-1)).pvalue > LEAST
    assert st.binomtest(int((x == 0.5).sum()), x.size, st.norm.sf(0.5)).pvalue > LEAST
    x = drawn(vecdist.hurdle(Gamma(2.0, 1.0), gate_logit=1.0), 4000)
    assert st.binomtest(int((x == 0).sum()), x.size, st.logistic.cdf(1)).pvalue > LEAST
    assert st.kstest(x[x > 0], GAMMA.cdf).pvalue > LEAST


def test_iid_draws_have_the_axes_of_their_event():
    rows = vecdist.iid(Normal(LOC, 1.0))
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(sample(2, rows, 5)), np.asarray(sample(2, Normal(LOC, 1.0), 5)))


def test_what_has_no_draws():
    with pytest.raises(NotImplementedError, match="sample of interval_censored"):
        sample(1, vecdist.interval_censored(Normal(0.0, 1.0), 0.0, 1.0))
