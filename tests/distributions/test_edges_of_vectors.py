"""Families of vectors outside and at the edges of their support, and of parameters that are none."""

import re
from math import exp, inf, log, log1p, nan, pi, sqrt

import numpy as np
import pytest
import scipy.stats
from scipy.special import kv

import vecdist
from vecdist import logpdf, value_and_grad
from vecdist.distributions import (
    GeneralizedDirichlet,
    LogisticNormal,
    MatrixNormal,
    MultivariateHypergeometric,
    MvLaplace,
    MvLogNormal,
    NegativeMultinomial,
    PlackettLuce,
    PoissonBinomial,
    VonMisesFisher,
    ZeroSumNormal,
)


def values(distribution, x):
    return np.asarray(logpdf(distribution, np.asarray(x)))


SHARES = GeneralizedDirichlet(np.array([1.0, 2.0]), np.array([2.0, 1.0]))


@pytest.mark.parametrize(("some", "x", "wanted"), [
    (SHARES, [[0.5, 0.5, 0.5], [-0.5, 1.0, 0.5], [nan, 0.5, 0.5]], [-inf, -inf, nan]),
    (SHARES, [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [2 * log(2.0), -inf]),
    (PlackettLuce(np.array([1.0, 3.0])), [[0, 0], [0.5, 1], [1, 2], [-1, 0], [nan, 0]], [-inf] * 4 + [nan]),
    (PlackettLuce(logits=np.array([0.0, 700.0, -700.0])), [[1, 0, 2], [2, 0, 1]], [-2 * exp(-700.0), -2100.0]),
    (PlackettLuce(np.array([2.0])), [[0], [1]], [0.0, -inf]),
    (NegativeMultinomial(2.0, np.array([0.5, 0.0])), [[0, 0], [0, 1], [0.5, 0], [-1, 0], [inf, 0], [nan, 0]],
     [-2 * log(2.0), -inf, -inf, -inf, -inf, nan]),
    (MultivariateHypergeometric(np.array([2, 0, 1]), 2), [[2, 0, 0], [1, 0, 1], [1, 1, 0], [3, 0, -1], [1.5, 0, 0.5]],
     [log(1 / 3), log(2 / 3), -inf, -inf, -inf]),
    (MultivariateHypergeometric(np.array([2, 1]), 2), [[nan, 1]], [nan]),
    (MultivariateHypergeometric(np.array([0, 0]), 0), [[0, 0], [1, 0]], [0.0, -inf]),
    (PoissonBinomial(np.array([0.0, 0.5, 1.0])), [0, 1, 2, 3, 1.5, nan], [-inf, log(0.5), log(0.5), -inf, -inf, nan]),
    (PoissonBinomial(logits=np.full(3, -800.0)), [3, 0], [-2400.0, 0.0]),
    (MvLaplace(np.zeros(2), np.eye(2)), [[0.0, 0.0], [nan, 0.0], [1e200, 0.0]], [inf, nan, -inf]),
    (MvLaplace(np.zeros(1), np.eye(1)), [[0.0], [3.0]], [-0.5 * log(2.0), -0.5 * log(2.0) - 3.0 * sqrt(2.0)]),
    (MvLogNormal(np.zeros(2), np.eye(2)), [[0.0, 1.0], [-1.0, 1.0], [nan, 1.0], [1.0, 1.0]],
     [-inf, -inf, nan, -log(2 * pi)]),
    (LogisticNormal(np.zeros(1), np.eye(1)), [[0.0, 1.0], [0.5, 0.6], [-0.5, 1.5], [nan, 0.5], [0.5, 0.5]],
     [-inf, -inf, -inf, nan, 2 * log(2.0) - 0.5 * log(2 * pi)]),
    (ZeroSumNormal(1.0), [[1.0, -1.0], [1e-9, 0.0], [0.0, 0.0], [nan, 0.0]],
     [-1.0 - 0.5 * log(2 * pi), -inf, -0.5 * log(2 * pi), nan]),
    (VonMisesFisher(np.array([0.6, 0.8]), 1e-200), [[1.0, 0.0], [1.0, 1.0], [nan, 0.0]], [-log(2 * pi), -inf, nan]),
    (VonMisesFisher(np.array([0.0, 0.0, 1.0]), 1e100), [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]],
     [100 * log(10.0) - log(2 * pi), -2e100]),
    (MatrixNormal(np.zeros((1, 2)), np.eye(1), np.eye(2)), [[[nan, 0.0]], [[0.0, inf]]], [nan, -inf]),
], ids=["simplex", "its edge", "rankings", "unlike items", "one item", "counts", "kinds", "no number", "none at all",
        "trials", "unlikely trials", "vectors", "one element",
        "positive vectors", "positive proportions", "sum 0", "any direction", "one direction", "matrices"])
def test_edges(interpreter, some, x, wanted):
    np.testing.assert_allclose(values(some, x), wanted, rtol=1e-14)


@pytest.mark.parametrize(("some", "x", "names"), [
    (SHARES, [0.5, 0.5, 0.5], ("alpha", "beta")), (PlackettLuce(np.array([1.0, 3.0])), [0, 0], ("scores",)),
], ids=repr)
def test_nothing_flows_from_outside(interpreter, some, x, names):
    parameters = tuple(some.parameters[name] for name in names)
    value, slopes = value_and_grad(logpdf(some, np.array(x)), wrt=parameters)
    assert value == -inf and not any(np.asarray(slope).any() for slope in slopes)


@pytest.mark.parametrize(("some", "x", "message"), [
    (GeneralizedDirichlet(np.array([1.0, 0.0]), np.ones(2)), [0.5, 0.25, 0.25], "GeneralizedDirichlet: alpha[1] = 0.0"),
    (PlackettLuce(np.array([1.0, -1.0])), [0, 1], "PlackettLuce: scores[1] = -1.0 is invalid"),
    (NegativeMultinomial(1.0, np.array([0.5, 0.5])), [0, 1], "NegativeMultinomial: sum of q = 1.0 is invalid; wan"),
    (MultivariateHypergeometric(np.array([1, 2]), 4), [0, 1], "n = 4.0 is invalid; wanted at most the sum of popula"),
    (VonMisesFisher(np.array([1.0, 1.0]), 1.0), [1.0, 0.0], "VonMisesFisher: norm of loc = 1.414"),
    (VonMisesFisher(np.array([1.0, 0.0]), 0.0), [1.0, 0.0], "VonMisesFisher: concentration = 0.0 is invalid"),
    (ZeroSumNormal(-1.0), [1.0, -1.0], "ZeroSumNormal: scale = -1.0 is invalid"),
    (MatrixNormal(np.zeros((1, 2)), -np.eye(1), np.eye(2)), np.zeros((1, 2)), "pivot of row_covariance = -1.0 is inva"),
    (PoissonBinomial(np.array([0.5, 1.5])), 1, "PoissonBinomial: probs[1] = 1.5 is invalid"),
], ids=repr)
def test_invalid_parameters(interpreter, some, x, message):
    with pytest.raises(vecdist.InvalidParameter, match=re.escape(message)):
        values(some, x)


@pytest.mark.parametrize(("x", "wanted"), [(0, [-1.0, -1.0, -2.0]), (1, [0.0, 0.0, 2.0])])
def test_slopes_at_no_probability(interpreter, x, wanted):
    probs = np.array([0.0, 0.0, 0.5])
    _, slope = value_and_grad(logpdf(PoissonBinomial(probs), x), wrt=probs)
    np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-12)


def test_as_many_roundings_as_trials(interpreter):
    found = values(PoissonBinomial(np.full(900, 0.01)), [900, 0])
    np.testing.assert_allclose(found, [900 * log(0.01), 900 * log1p(-0.01)], rtol=900 * np.finfo(float).eps / 2)


@pytest.mark.parametrize("size", [2, 4, 20])
def test_laplace_vectors_of_other_lengths(interpreter, size):
    x, order = np.linspace(-1.0, 2.0, size), size / 2 - 1
    q = x @ x
    wanted = log(2.0) - order / 2 * log(q / 2) - size / 2 * log(2 * pi) + log(kv(order, sqrt(2 * q)))
    np.testing.assert_allclose(values(MvLaplace(loc=np.zeros(size), scale_diag=np.ones(size)), x), wanted, rtol=1e-13)


def test_lengths_that_differ_by_one():
    with pytest.raises(ValueError, match="do not fit: one more is wanted of an event"):
        values(SHARES, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"the lengths of events in .* do not fit"):
        values(MatrixNormal(np.zeros((2, 3)), np.eye(3), np.eye(3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="it wants 2 elements or more"):
        values(VonMisesFisher(np.ones(1), 1.0), np.ones(1))


@pytest.mark.parametrize("shape", [(20, 3), (2, 18)])
def test_long_matrices(interpreter, shape):
    """Of which one side is written out, and the other factored by a library."""
    rng = np.random.default_rng(4)
    x, loc, (rows, columns) = *rng.normal(size=(2, *shape)), (rng.normal(size=(n, n + 2)) for n in shape)
    rows, columns = rows @ rows.T, columns @ columns.T
    value, (slope,) = value_and_grad(logpdf(MatrixNormal(loc, rows, columns), x), wrt=(loc,))
    np.testing.assert_allclose(value, scipy.stats.matrix_normal(loc, rows, columns).logpdf(x), rtol=1e-10)
    np.testing.assert_allclose(slope, np.linalg.solve(rows, (x - loc) @ np.linalg.inv(columns)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("size", [2, 3, 30])
@pytest.mark.parametrize("concentration", [0.1, 10.0, 1e4])
def test_directions(interpreter, size, concentration):
    loc, x = np.eye(size)[0], np.full(size, size**-0.5)
    wanted = scipy.stats.vonmises_fisher(loc, concentration).logpdf(x)
    np.testing.assert_allclose(values(VonMisesFisher(loc, concentration), x), wanted, rtol=1e-12)
