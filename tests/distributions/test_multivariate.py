"""Families of vectors and matrices against ball arithmetic: values, gradients, batches, edges and errors."""

import re
from math import inf, nan

import numpy as np
import pytest
import scipy.stats
from multivariate_truth import DISCRETE, TRUTHS, truth

import vecdist
from vecdist import distributions, lazy, logpdf, logpmf, value_and_grad
from vecdist.distributions import (
    LKJ,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    LKJCholesky,
    Multinomial,
    MvNormal,
    MvStudentT,
    OrderedLogistic,
    OrderedProbit,
    Wishart,
)
from vecdist.multivariate import MULTIVARIATE

K = 3
WAYS = list(TRUTHS)
WAY_IDS = ["-".join(way) for way in WAYS]


def definite(rng):
    root = rng.normal(size=(K, K))
    return root @ root.T + np.eye(K)


def correlation(rng):
    a = definite(rng)
    return a / np.sqrt(np.outer(a.diagonal(), a.diagonal()))


def unit(rng):
    x = rng.normal(size=K)
    return x / np.sqrt(x @ x)


def counts(rng):
    return rng.multinomial(5, np.ones(K) / K)


DRAWS = {  # of a parameter by its name
    "probs": lambda rng: rng.dirichlet(np.full(K, 3.0)),
    "logits": lambda rng: rng.normal(size=K),
    "alpha": lambda rng: rng.uniform(0.3, 4.0, K),
    **dict.fromkeys(("beta", "scores"), lambda rng: rng.uniform(0.3, 4.0, K)),
    "r": lambda rng: rng.uniform(0.5, 5.0),
    "q": lambda rng: rng.dirichlet(np.full(K + 1, 3.0))[:K],
    "mean": lambda rng: rng.uniform(0.3, 4.0, K),
    "population": lambda rng: rng.integers(5, 9, K).astype(float),
    "n": lambda rng: np.array(5.0),
    "eta": lambda rng: rng.normal(),
    "cutpoints": lambda rng: np.sort(rng.normal(size=K)) + np.arange(K),
    "loc": lambda rng: rng.normal(size=K),
    "df": lambda rng: rng.uniform(3.5, 9.0),
    "concentration": lambda rng: rng.uniform(0.5, 3.0),
    "scale_diag": lambda rng: rng.uniform(0.5, 2.0, K),
    "cov_diag": lambda rng: rng.uniform(0.5, 2.0, K),
    "cov_factor": lambda rng: rng.normal(size=(K, 2)),
    **dict.fromkeys(("covariance", "precision", "scale_matrix", "row_covariance", "column_covariance"), definite),
    **dict.fromkeys(("scale_tril", "row_tril", "column_tril"), lambda rng: np.linalg.cholesky(definite(rng))),
    "scale": lambda rng: rng.uniform(0.5, 2.0),
    ("MatrixNormal", "loc"): lambda rng: rng.normal(size=(K, K)),  # of one family
    ("VonMisesFisher", "loc"): unit,
}
EVENTS = {  # of a family
    "Categorical": lambda rng: rng.integers(0, K),
    "OrderedLogistic": lambda rng: rng.integers(0, K + 1),
    "OrderedProbit": lambda rng: rng.integers(0, K + 1),
    "Multinomial": counts,
    "DirichletMultinomial": counts,
    "Dirichlet": lambda rng: rng.dirichlet(np.full(K, 3.0)),
    "GeneralizedDirichlet": lambda rng: rng.dirichlet(np.full(K + 1, 3.0)),
    "NegativeMultinomial": counts,
    "MultivariateHypergeometric": counts,
    "PoissonBinomial": lambda rng: rng.integers(0, K + 1),
    "MvLaplace": lambda rng: rng.normal(size=K),
    "MvLogNormal": lambda rng: rng.uniform(0.5, 3.0, K),
    "LogisticNormal": lambda rng: rng.dirichlet(np.full(K + 1, 3.0)),
    "MatrixNormal": lambda rng: rng.normal(size=(K, K)),
    "VonMisesFisher": unit,
    "ZeroSumNormal": lambda rng: np.array([1.0, 1.0, -2.0]) * rng.normal(),
    "PlackettLuce": lambda rng: rng.permutation(K),
    "MvNormal": lambda rng: rng.normal(size=K),
    "MvStudentT": lambda rng: rng.normal(size=K),
    "LKJ": correlation,
    "LKJCholesky": lambda rng: np.linalg.cholesky(correlation(rng)),
    "Wishart": definite,
    "WishartCholesky": lambda rng: np.linalg.cholesky(definite(rng)),
    "InverseWishart": definite,
    "InverseWishartCholesky": lambda rng: np.linalg.cholesky(definite(rng)),
}


def drawn(way, dtype, events=2, sets=3):
    """Events along the last batch axis, and sets of parameters along the one before."""
    rng = np.random.default_rng(len("".join(way)))
    x = np.stack([EVENTS[way[0]](rng) for _ in range(events)])
    draws = [DRAWS.get((way[0], name)) or DRAWS[name] for name in way[1:]]
    parameters = [np.stack([draw(rng) for _ in range(sets)])[:, None].astype(dtype) for draw in draws]
    return (x if x.dtype.kind == "i" else x.astype(dtype)), parameters


def distribution(way, parameters):
    return getattr(distributions, way[0])(**dict(zip(way[1:], parameters, strict=True)))


def true(way, x, parameters):
    """Values for each set of parameters and each event, and the derivatives of their sum."""
    values = np.empty((len(parameters[0]), len(x)))
    slopes = [np.zeros(array.shape) for array in (x, *parameters)]
    for i, j in np.ndindex(values.shape):
        values[i, j], found = truth(way, [x[j], *(parameter[i, 0] for parameter in parameters)])
        for place, total, slope in zip([j, *[(i, 0)] * len(parameters)], slopes, found, strict=True):
            total[place] += slope
    return values, slopes


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
def test_values_and_gradients(interpreter, way, dtype):
    x, parameters = drawn(way, dtype)
    smooth = [*([] if way[0] in DISCRETE else [x]), *parameters]
    density = logpdf(distribution(way, parameters), x)
    assert density.shape == (3, 2) and density.dtype == dtype
    value, slopes = np.asarray(density), value_and_grad(density.sum(), wrt=tuple(smooth))[1]
    true_value, true_slopes = true(way, x, parameters)
    units = 400 * np.finfo(dtype).eps
    np.testing.assert_allclose(value, true_value, rtol=units, atol=units)
    assert {slope.dtype for slope in slopes} == {np.dtype(dtype)}
    for name, slope, wanted in zip((["x", *way[1:]])[-len(smooth) :], slopes, true_slopes[-len(smooth) :], strict=True):
        if name != "n":
            np.testing.assert_allclose(slope, wanted, rtol=units, atol=units * abs(wanted).max(), err_msg=name)


def test_every_family_in_every_way_is_tested():
    ways = {(name, *way.names) for name, family in MULTIVARIATE.items() for way in family.parametrisations}
    assert ways == set(TRUTHS)


def test_families_are_where_all_families_are():
    assert distributions.Dirichlet is MULTIVARIATE["Dirichlet"]
    with pytest.raises(AttributeError, match=r"no attribute 'Dirichlett'; there are .*Dirichlet"):
        _ = distributions.Dirichlett


def test_vectorize_takes_them(interpreter):
    alpha, x = np.array([1.0, 2.0, 0.5]), np.array([0.25, 0.25, 0.5])
    wanted = scipy.stats.dirichlet.logpdf(x, alpha)
    assert float(logpdf(vecdist.Vectorize(Dirichlet, (alpha,)), x)) == pytest.approx(wanted, rel=1e-14)


def values(distribution, x):
    return np.asarray(logpdf(distribution, x)).tolist()


def test_categories_that_do_not_exist(interpreter):
    probs, cutpoints = np.array([0.25, 0.75]), np.array([0.0])
    x = np.array([-1.0, 0.5, 2.0, inf, -inf, nan])
    for some in (Categorical(probs), Categorical(logits=probs), OrderedLogistic(0.3, cutpoints),
                 OrderedProbit(0.3, cutpoints)):
        np.testing.assert_array_equal(values(some, x), [-inf] * 5 + [nan])
    _, slope = value_and_grad(logpmf(Categorical(probs), x[:5]).sum(), wrt=probs)
    assert slope.tolist() == [0.0, 0.0]


def test_categories_of_no_probability(interpreter):
    assert values(Categorical(np.array([1.0, 0.0])), np.array([0, 1])) == [0.0, -inf]
    assert values(Categorical(logits=np.array([5.0, -inf])), np.array([0, 1])) == [0.0, -inf]


def test_counts_of_no_probability(interpreter):
    probs = np.array([1.0, 0.0])
    assert values(Multinomial(2, probs), np.array([[2, 0], [1, 1]])) == [0.0, -inf]
    assert values(Multinomial(n=2, logits=np.array([1.0, -inf])), np.array([[2, 0], [1, 1]])) == [0.0, -inf]
    _, slope = value_and_grad(logpmf(Multinomial(2, probs), np.array([2, 0])), wrt=probs)
    assert slope.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("some", [Multinomial(3, np.array([0.5, 0.5])), DirichletMultinomial(3, np.array([0.5, 2.0]))])
def test_vectors_that_are_no_counts(interpreter, some):
    x = np.array([[1.0, 1.0], [4.0, -1.0], [1.5, 1.5], [inf, 0.0], [nan, 1.0], [3.0, 0.0]])
    found = np.asarray(logpdf(some, x))
    np.testing.assert_array_equal(found[:5], [-inf] * 4 + [nan])
    assert np.isfinite(found[5])
    parameter = some.parameters["probs" if isinstance(some, Multinomial) else "alpha"]
    value, slope = value_and_grad(logpdf(some, x[:4]).sum(), wrt=parameter)
    assert value == -inf and slope.tolist() == [0.0, 0.0]


def test_no_counts(interpreter):
    none = np.zeros(2, dtype=int)
    assert values(Multinomial(0, np.array([0.5, 0.5])), none) == 0.0
    alpha = np.array([0.5, 2.0])
    value, slope = value_and_grad(logpmf(DirichletMultinomial(0, alpha), none), wrt=alpha)
    assert value == 0.0 and slope.tolist() == [0.0, 0.0]


def test_the_edge_of_the_simplex(interpreter):
    x = np.array([0.0, 0.25, 0.75])
    assert values(Dirichlet(np.array([2.0, 2.0, 2.0])), x) == -inf
    assert values(Dirichlet(np.array([0.5, 2.0, 2.0])), x) == inf
    flat = values(Dirichlet(np.array([1.0, 1.0, 2.0])), x)
    assert flat == pytest.approx(np.log(6 * 0.75), rel=1e-14)


def test_outside_the_simplex(interpreter):
    alpha, x = np.array([1.0, 2.0]), np.array([[0.5, 0.4], [-0.5, 1.5], [nan, 0.5]])
    np.testing.assert_array_equal(values(Dirichlet(alpha), x), [-inf, -inf, nan])
    _, slopes = value_and_grad(logpdf(Dirichlet(alpha), x[:2]).sum(), wrt=alpha)
    assert slopes.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("x", [0, 1, 2])
@pytest.mark.parametrize(("family", "far"), [(OrderedLogistic, 600.0), (OrderedProbit, 60.0)])
def test_both_tails_of_ordered_families(interpreter, family, far, x):
    for eta in (far, -far):
        given, cutpoints = np.array(eta), np.array([-1.0, 1.5])
        value, slopes = value_and_grad(logpmf(family(given, cutpoints), x), wrt=(given, cutpoints))
        wanted, (_, *true_slopes) = truth((family.__name__, "eta", "cutpoints"), [x, given, cutpoints], bits=4000)
        assert float(value) == pytest.approx(wanted, rel=1e-13, abs=1e-300)
        for slope, true_slope in zip(slopes, true_slopes, strict=True):
            np.testing.assert_allclose(slope, true_slope, rtol=1e-12, atol=1e-290)


def test_matrices_outside_the_support(interpreter):
    singular, positive = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[2.0, 0.5], [0.5, 2.0]])
    skew, far = np.array([[1.0, 0.5], [-0.5, 1.0]]), np.array([[1.0, 0.0], [0.8, 0.8]])
    assert values(LKJ(2.0), np.stack([singular, positive, skew])) == [-inf] * 3
    assert values(LKJCholesky(2.0), np.stack([far, -np.eye(2)])) == [-inf] * 2
    df, factor = np.array(3.0), np.eye(2)
    value, slopes = value_and_grad(logpdf(Wishart(df=df, scale_tril=factor), singular), wrt=(df, factor, singular))
    assert value == -inf and not any(slope.any() for slope in slopes)
    assert np.isnan(values(LKJ(2.0), np.full((2, 2), nan)))


def test_one_row(interpreter):
    one = np.ones((1, 1))
    assert values(LKJ(2.0), one) == values(LKJCholesky(2.0), one) == 0.0
    wanted = scipy.stats.gamma.logpdf(2.5, 1.5, scale=2 * 0.7)
    assert values(Wishart(3.0, 0.7 * one), 2.5 * one) == pytest.approx(wanted, rel=1e-14)


def test_events_of_any_length(interpreter):
    rng = np.random.default_rng(1)
    loc, scale, x = rng.normal(size=40), rng.uniform(0.5, 2.0, 40), rng.normal(size=40)
    factor = rng.normal(size=(40, 3))
    for some, covariance in (
        (MvNormal(loc=loc, scale_diag=scale), np.diag(scale**2)),
        (MvNormal(loc=loc, cov_factor=factor, cov_diag=scale), np.diag(scale) + factor @ factor.T),
    ):
        assert values(some, x) == pytest.approx(scipy.stats.multivariate_normal(loc, covariance).logpdf(x), rel=1e-12)


def test_second_derivatives(interpreter):
    loc, covariance = np.array([0.5, -1.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    hessian = vecdist.hessian(logpdf(MvNormal(loc, covariance), np.array([1.0, 2.0])), wrt=loc)
    np.testing.assert_allclose(hessian, -np.linalg.inv(covariance), rtol=1e-14)


INVALID = [
    (Categorical(np.array([[0.5, 0.5], [0.2, 0.2]])), 0, "Categorical: sum of probs[1] = 0.4 is invalid; wanted 1"),
    (Categorical(np.array([1.5, -0.5])), 0, "Categorical: probs[1] = -0.5 is invalid; wanted a finite number of at"),
    (Categorical(logits=np.array([1.0, nan])), 0, "Categorical: logits[1] = nan is invalid"),
    (Dirichlet(np.array([1.0, 0.0])), [0.5, 0.5], "Dirichlet: alpha[1] = 0.0 is invalid; wanted a finite positive"),
    (Multinomial(1.5, np.array([0.5, 0.5])), [1, 0], "Multinomial: n = 1.5 is invalid; wanted a whole number"),
    (OrderedProbit(0.0, np.array([0.0, 2.0, 1.0])), 0, "OrderedProbit: step of cutpoints[1] = -1.0 is invalid; wanted"),
    (MvNormal(np.zeros(2), np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]]])), np.zeros(2),
     "MvNormal: pivot of covariance[1] = -3.0 is invalid; wanted positive, of a positive definite matrix"),
    (MvStudentT(df=3.0, loc=np.zeros(2), scale_tril=-np.eye(2)), np.zeros(2),
     "MvStudentT: diagonal of scale_tril = -1.0 is invalid; wanted positive"),
    (MvNormal(loc=np.zeros(2), scale_tril=np.array([np.eye(2), [[1.0, 9.0], [inf, 1.0]]])), np.zeros(2),
     "MvNormal: sum below the diagonal of scale_tril[1] = inf is invalid; wanted a finite number"),
    (Wishart(np.array([3.0, 0.5]), np.eye(2)), np.eye(2), "Wishart: df[1] = 0.5 is invalid; wanted a finite number ab"),
]


@pytest.mark.parametrize(("some", "x", "message"), INVALID, ids=[text.partition(" is")[0] for *_, text in INVALID])
def test_invalid_parameters(interpreter, some, x, message):
    with pytest.raises(vecdist.InvalidParameter, match=re.escape(message)):
        np.asarray(logpdf(some, np.asarray(x)))


@pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
def test_nan_is_invalid_wherever_a_parameter_is_read(interpreter, way):
    x, parameters = drawn(way, np.float64, events=1, sets=1)
    for number, parameter in enumerate(parameters):
        for place in np.ndindex(parameter.shape[2:]):
            if not way[number + 1].endswith("tril") or place[0] >= place[1]:
                spoiled = parameter.copy()
                spoiled[(0, 0, *place)] = nan
                given = [*parameters[:number], spoiled, *parameters[number + 1 :]]
                with pytest.raises(vecdist.InvalidParameter, match=f"{way[number + 1]}.* = nan is invalid"):
                    np.asarray(logpdf(distribution(way, given), x))


@pytest.mark.parametrize(("some", "x", "error", "message"), [
    (MvNormal(np.zeros(3), np.eye(2)), np.zeros(3), ValueError, "MvNormal: the lengths of events in loc (3,), cova"),
    (MvNormal(np.zeros((2, 2)), np.eye(2)), np.zeros((3, 2)), ValueError, "MvNormal: the batch axes of loc (2, 2), c"),
    (MvNormal(0.0, np.eye(2)), np.zeros(2), ValueError, "MvNormal: loc of shape () wants 1 last axis"),
    (LKJ(1.0), np.zeros((2, 3)), ValueError, "LKJ: the lengths of events in concentration (), x (2, 3) do not fit"),
], ids=["lengths", "batch", "axes", "square"])
def test_shapes_that_do_not_fit(some, x, error, message):
    with pytest.raises(error, match=re.escape(message)):
        logpdf(some, x)


def test_of_a_batch_what_is_invalid_is_nan(uncompiled):
    covariance = np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]], 4.0 * np.eye(2)])
    fast = vecdist.compile(lambda a: logpdf(MvNormal(np.zeros(2), a), np.ones(2)))
    found = np.asarray(fast(covariance))
    wanted = [scipy.stats.multivariate_normal(np.zeros(2), covariance[place]).logpdf(np.ones(2)) for place in (0, 2)]
    np.testing.assert_allclose(found[[0, 2]], wanted, rtol=1e-14)
    assert np.isnan(found[1])


SEEN = np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5]])
POINT = np.array([0.5, -0.5]), np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([0.2, 0.3, 0.5])


def joint(loc, factor, probs):
    """A density of two families: one expression, and so one kernel."""
    of_vectors = logpdf(MvNormal(loc=loc, scale_tril=factor), SEEN).sum()
    return of_vectors + logpmf(Categorical(probs), np.array([0, 2, 2, 1])).sum()


def true_joint(loc, factor, probs):
    normal = scipy.stats.multivariate_normal(loc, factor @ factor.T)
    return float(normal.logpdf(SEEN).sum() + np.log(probs[[0, 2, 2, 1]]).sum())


@pytest.mark.usefixtures("execution")
def test_one_kernel_for_value_and_gradient():
    total = joint(*map(lazy, POINT))
    assert vecdist.explain(total, wrt=POINT).kernels[0].launches == 1
    value, (of_loc, of_factor, of_probs) = value_and_grad(total, wrt=POINT)
    assert float(value) == pytest.approx(true_joint(*POINT), rel=1e-13)
    residual, inverse = SEEN - POINT[0], np.linalg.inv(POINT[1])
    white = residual @ inverse.T
    np.testing.assert_allclose(of_loc, (white @ inverse).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(of_factor, np.tril((white @ inverse).T @ white - 3 * inverse.T), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(of_probs, [1, 1, 2] / POINT[2], rtol=1e-12)


def test_chains(uncompiled):
    many = vecdist.compile(joint, in_axes=(0, None, None))
    loc = np.array([[0.5, -0.5], [1.0, 2.0]])
    wanted = [true_joint(each, *POINT[1:]) for each in loc]
    np.testing.assert_allclose(np.asarray(many(loc, *POINT[1:])), wanted, rtol=1e-13)


def test_data(uncompiled):
    x, loc, covariance = SEEN.copy(), np.array([0.5, -0.5]), np.array([[2.0, 0.5], [0.5, 1.0]])
    total = logpdf(MvNormal(loc, covariance), vecdist.data(x)).sum()
    value, slope = value_and_grad(total, wrt=loc)
    assert float(value) == pytest.approx(scipy.stats.multivariate_normal(loc, covariance).logpdf(x).sum(), rel=1e-13)
    np.testing.assert_allclose(slope, np.linalg.solve(covariance, (x - loc).sum(axis=0)), rtol=1e-12)


def test_the_truth_knows_scipy():
    """Of the truths: a slip of theirs would be looked for in the families."""
    scale, x = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.25], [0.25, 3.0]])
    value, _ = truth(("Wishart", "df", "scale_matrix"), [x, np.array(3.5), scale])
    assert value == pytest.approx(scipy.stats.wishart.logpdf(x, 3.5, scale), rel=1e-13)
    value, _ = truth(("InverseWishart", "df", "scale_matrix"), [x, np.array(3.5), scale])
    assert value == pytest.approx(scipy.stats.invwishart.logpdf(x, 3.5, scale), rel=1e-13)
