"""Scores, information and the derivatives that they are made of, by differences of SciPy's and by quadrature."""

import math

import numpy as np
import pytest
import scipy.stats as st
from family_cases import parameters_of
from interpreting import counted_launches

import vecdist
from vecdist import fisher_information, hessian, hessian_diagonal, jacobian, lazy, logpdf, score, value_and_partials
from vecdist.distributions import FAMILIES, Exponential, Gamma, Gumbel, MvNormal, Normal, Pareto, Poisson, Weibull
from vecdist.verbs.information import INFORMATION

pytestmark = pytest.mark.usefixtures("interpreter")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
LINE, UNIT = {"Cauchy", "Gumbel", "Laplace", "Logistic", "Normal"}, {"Beta", "LogitNormal"}


def places(name, loc):
    """Points and weights: of Gauss's quadrature in t, where x is loc + sinh(t), exp(t), 1 / (1 + exp(-t)) or t."""
    far = np.pi if name == "VonMises" else 60.0 if name in LINE else 35.0 if name in UNIT else 200.0
    ends, half = np.linspace(-far, far, 801), far / 800
    t, weights = ((ends[1:] + ends[:-1])[:, None] / 2 + half * NODES).ravel(), np.tile(half * WEIGHTS, 800)
    if name in LINE:
        return loc + np.sinh(t), weights * np.cosh(t)
    if name in UNIT:
        return 1.0 / (1.0 + np.exp(-t)), weights * np.exp(-t) / (1.0 + np.exp(-t)) ** 2
    return (t, weights) if name == "VonMises" else (np.exp(t), weights * np.exp(t))


def mean_outer(family, way, parameters):
    """The mean of the outer product of the derivatives of the log density, which other tests compare with truths."""
    leaves = {name: np.asarray(value) for name, value in parameters.items()}
    wrt = tuple(leaves[name] for name, constraint in way.constraints.items() if not constraint.whole)
    if family.discrete:
        x, weights = np.arange(2000.0), np.ones(2000)
    else:
        x, weights = places(family.__name__, parameters.get("loc", 0.0))
    lp, slopes = value_and_partials(logpdf(family(**leaves), x), wrt)
    mass = np.exp(lp) * weights
    kept = mass > 1e-30
    outer = np.array(slopes)[:, kept]
    return (outer * mass[kept]) @ outer.T


WAYS = [(name, way) for name in INFORMATION for way in FAMILIES[name].parametrisations]


@pytest.mark.parametrize(("name", "way"), WAYS, ids=[f"{name}-{'-'.join(way.names)}" for name, way in WAYS])
def test_expected_information_is_the_mean_of_outer_products(name, way):
    """In every parametrisation, at random parameters."""
    family = FAMILIES[name]
    drawn = [float(values[3]) for values in parameters_of(family, way.names)]
    if name in {"Beta", "BetaPrime", "Frechet", "InverseGamma"} and way is family.parametrisations[0]:
        drawn = [0.8 + abs(value) for value in drawn]
    if way.names == ("mean", "sd") and name == "Beta":
        drawn[1] *= 0.4
    parameters = dict(zip(way.names, drawn, strict=True))
    found = np.asarray(fisher_information(family(**parameters)))
    expected = mean_outer(family, way, parameters)
    np.testing.assert_allclose(found, expected, rtol=2e-8, atol=2e-8 * abs(expected).max())


def test_expected_information_of_many():
    scale = np.array([[1.0], [2.0]])
    found = fisher_information(Normal(np.zeros(3, np.float32), scale.astype(np.float32)))
    assert (found.shape, found.dtype) == ((2, 3, 2, 2), np.float32)
    np.testing.assert_allclose(np.asarray(found)[1], np.tile([[0.25, 0.0], [0.0, 0.5]], (3, 1, 1)))
    same = np.array(2.0)  # one array in both places
    np.testing.assert_allclose(np.asarray(fisher_information(Normal(same, same))), [[0.25, 0.0], [0.0, 0.5]])
    chi2 = np.asarray(fisher_information(FAMILIES["Chi2"](4.0)))
    np.testing.assert_allclose(chi2, [[0.25 * (math.pi**2 / 6 - 1)]], rtol=1e-13)
    slope = jacobian(fisher_information(Poisson(lazy(same))), same)
    np.testing.assert_allclose(slope, [[-0.25]], rtol=1e-13)


def test_scores_are_slopes_of_scipys_log_densities():
    """Per observation, in scalars and in vectors that parameters are computed from."""
    rng = np.random.default_rng(4)
    rows, beta, shape, y = rng.normal(size=(6, 3)), np.array([0.2, -0.4, 0.1]), np.array(1.7), rng.gamma(2.0, size=6)

    def truth(beta, shape):
        return st.gamma.logpdf(y, shape, scale=np.exp(rows @ beta))

    found = score(Gamma(shape, np.exp(rows @ lazy(beta))), y, (beta, shape))
    assert [each.shape for each in found] == [(6, 3), (6,)]
    step = 1e-5
    moved = [(truth(beta + step * e, shape) - truth(beta - step * e, shape)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found[0], np.transpose(moved), rtol=1e-8, atol=1e-9)
    of_shape = (truth(beta, shape + step) - truth(beta, shape - step)) / (2 * step)
    np.testing.assert_allclose(found[1], of_shape, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[0].sum(axis=0), vecdist.value_and_grad(
        logpdf(Gamma(shape, np.exp(rows @ lazy(beta))), y).sum(), beta
    )[1], rtol=1e-12)


def test_scores_outside_the_support_are_nothing():
    scale = np.array(2.0)
    np.testing.assert_array_equal(score(Exponential(scale), np.array([-1.0, 2.0]), scale), [0.0, 0.0])
    loc = np.zeros(2)
    found = score(MvNormal(loc, np.diag([1.0, 4.0])), np.array([[1.0, 1.0], [0.0, 8.0], [2.0, 0.0]]), loc)
    np.testing.assert_allclose(found, [[1.0, 0.25], [0.0, 2.0], [2.0, 0.0]], rtol=1e-14)


def test_observed_and_empirical_information():
    rng = np.random.default_rng(9)
    shape, scale, x = np.array(1.3), np.array(2.0), rng.weibull(1.5, (4, 50)) + 0.01
    given = (Weibull(shape, scale), x, (shape, scale))
    observed = fisher_information(*given, kind="observed")
    blocks = hessian(logpdf(Weibull(shape, scale), x).sum(), (shape, scale))
    np.testing.assert_array_equal(np.array(observed), -np.array(blocks))
    outer = np.array(fisher_information(*given, kind="empirical"))
    scores = np.array([each.ravel() for each in score(*given)])
    np.testing.assert_allclose(outer, scores @ scores.T / 200, rtol=1e-12)
    many = rng.normal(1.0, 2.0, 200_000)  # all three agree, at the parameters that these data come of
    mu, sd = np.array(1.0), np.array(2.0)
    expected = np.asarray(fisher_information(Normal(mu, sd)))
    for kind, count in (("observed", many.size), ("empirical", 1)):
        found = np.array(fisher_information(Normal(mu, sd), many, (mu, sd), kind)) / count
        np.testing.assert_allclose(found, expected, atol=0.01)


def test_empirical_information_of_a_vector():
    rows, beta = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 1.0]]), np.array([0.5, 0.25])
    y = np.array([1.0, 2.0, 0.0])
    found = fisher_information(Normal(rows @ lazy(beta), 1.0), y, beta, "empirical")
    scores = (y - rows @ beta)[:, None] * rows
    np.testing.assert_allclose(found, scores.T @ scores / 3, rtol=1e-14)
    both = fisher_information(Normal(rows @ lazy(beta), 1.0), y, (beta,), "empirical")
    np.testing.assert_allclose(both[0][0], found, rtol=1e-15)


def test_diagonals_of_hessians():
    rng = np.random.default_rng(2)
    rows, beta, sd, y = rng.normal(size=(5, 3)), rng.normal(size=3), np.array(1.5), rng.normal(size=5)
    total = logpdf(Normal(rows @ lazy(beta), sd), y).sum() - (lazy(beta) ** 4).prod()
    blocks = hessian(total, (beta, sd))
    found = hessian_diagonal(total, (beta, sd))
    assert [each.shape for each in found] == [(3,), ()]
    np.testing.assert_allclose(found[0], np.diag(blocks[0][0]), rtol=1e-13)
    np.testing.assert_allclose(found[1], blocks[1][1], rtol=1e-13)
    np.testing.assert_array_equal(hessian_diagonal(total, beta), found[0])
    edge = np.array([0.0, 1.0])  # an infinite second derivative is on the diagonal alone
    np.testing.assert_array_equal(hessian_diagonal((np.sqrt(lazy(edge))).sum(), edge), [-np.inf, -0.25])


def test_jacobians():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(2.0, np.float32)
    of_a, of_b = jacobian((lazy(a) * b).sum(axis=1), (a, b))
    np.testing.assert_array_equal(of_a, [[[2.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [2.0, 2.0]]])
    np.testing.assert_array_equal(of_b, [3.0, 7.0])
    float32 = np.ones(3, np.float32)
    assert jacobian(lazy(float32) * 2.0, float32).dtype == np.float32
    with pytest.raises(ValueError, match=r"is not in the expression"):
        jacobian(lazy(a) * 2.0, b)


@pytest.mark.usefixtures("uncompiled")
def test_one_launch():
    loc, x = np.array([0.1, 0.2]), np.arange(4.0)
    with counted_launches() as launches:
        score(Normal(lazy(loc).sum(), 1.0), x, loc)
        hessian_diagonal(logpdf(Normal(lazy(loc).sum(), 1.0), x).sum(), loc)
    assert launches.call_count == 2


def test_what_is_not_there_is_named():
    with pytest.raises(NotImplementedError, match=r"^fisher_information of Pareto is not there"):
        fisher_information(Pareto(1.0, 2.0))
    with pytest.raises(NotImplementedError, match=r"^fisher_information of MvNormal is not there"):
        fisher_information(MvNormal(np.zeros(2), np.eye(2)))
    with pytest.raises(ValueError, match=r"is expected, observed or empirical, not 'mean'"):
        fisher_information(Gumbel(0.0, 1.0), kind="mean")
    with pytest.raises(TypeError, match=r"observed wants observations, and arrays in wrt"):
        fisher_information(Gumbel(0.0, 1.0), kind="observed")
    with pytest.raises(vecdist.InvalidParameter, match=r"^Normal: scale = -1.0 is invalid"):
        np.asarray(fisher_information(Normal(0.0, -1.0)))
