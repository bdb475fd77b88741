"""Second derivatives of log densities made of others, of vectors and matrices, and of the Jacobians of parameters."""

import numpy as np
import pytest
from ball_formulas import logistic, normal_cdf
from family_truth import LOG_DENSITY
from flint import arb
from hessian_truth import wrong
from multivariate_truth import DISCRETE, TRUTHS

import vecdist
from vecdist import distributions, hessian, lazy, logpdf, mixture, parameters
from vecdist.distributions import Beta, Cauchy, Exponential, Logistic, Normal, Poisson, Weibull


def blocks(expr, wrt):
    """The Hessian in all elements of arrays, as one matrix."""
    found = hessian(expr.sum(), wrt=tuple(wrt))
    return np.block([[np.reshape(block, (row.size, column.size)) for block, column in zip(blocks, wrt, strict=True)]
                     for blocks, row in zip(found, wrt, strict=True)])  # fmt: skip


def assert_true(found, formula, row, active=None):
    places = wrong(found, formula, row, range(len(row)) if active is None else active, 1e-9)
    assert not places.any(), (np.argwhere(places).tolist(), found)
    finite = np.isfinite(found)
    np.testing.assert_allclose(found[finite], found.T[finite], rtol=1e-9, atol=1e-12)


normal, poisson = LOG_DENSITY["Normal"], LOG_DENSITY["Poisson"]


def normal_mass(loc, s, low=None, high=None):
    upper = arb(1) if high is None else normal_cdf((high - loc) / s)
    return upper if low is None else upper - normal_cdf((low - loc) / s)


def truncated_normal(x, loc, s, low=None, high=None):
    return normal(x, loc, s) - normal_mass(loc, s, low, high).log()


def zero_inflated(x, rate, gate):
    mass = (1 - gate) * poisson(x, rate).exp()
    return (gate + mass if x == 0 else mass).log()


def hurdle(x, rate, gate):
    return gate.log() if x == 0 else ((1 - gate) / (1 - (-rate).exp())).log() + poisson(x, rate)


def through(inverse, log_slope):
    """A normal variable of which a function is taken."""
    return lambda x, loc, s: normal(inverse(x), loc, s) - log_slope(inverse(x))


WRAPPED = [  # a name, a distribution of parameters, its log density in balls, rows of x and parameters
    ("truncated below", lambda m, s, a: vecdist.truncated(Normal(m, s), lower=a), truncated_normal,
     [(1.0, 0.0, 1.0, 0.0), (0.0, 0.0, 2.0, 0.0), (3.0, 1.0, 1.0, 2.0), (9.0, 0.0, 1.0, 8.0)]),
    ("truncated above", lambda m, s, b: vecdist.truncated(Normal(m, s), upper=b),
     lambda x, m, s, b: truncated_normal(x, m, s, high=b), [(0.0, 0.0, 1.0, 0.0), (-1.0, 0.5, 2.0, 1.0)]),
    ("truncated", lambda m, s, a, b: vecdist.truncated(Normal(m, s), a, b), truncated_normal,
     [(0.0, 0.0, 1.0, -1.0, 1.0), (0.5, 2.0, 1.0, 0.0, 1.0), (1.0, 1.0, 3.0, 1.0, 1.5)]),
    ("truncated logistic", lambda m, s, a: vecdist.truncated(Logistic(m, s), lower=a),
     lambda x, m, s, a: LOG_DENSITY["Logistic"](x, m, s) - (1 - logistic((a - m) / s)).log(),
     [(1.0, 0.0, 1.0, 0.0), (2.0, 0.5, 2.0, 1.0)]),
    ("truncated exponential", lambda s, b: vecdist.truncated(Exponential(s), upper=b),
     lambda x, s, b: LOG_DENSITY["Exponential"](x, s) - (1 - (-b / s).exp()).log(),
     [(0.5, 1.0, 1.0), (0.0, 2.0, 2.0), (1.0, 0.5, 3.0)]),
    ("censored inside", lambda m, s: vecdist.censored(Normal(m, s), upper=2.0), normal, [(1.0, 1.0, 2.0)]),
    ("censored beyond", lambda m, s, b: vecdist.censored(Normal(m, s), upper=b),
     lambda x, m, s, b: normal_cdf((m - b) / s).log(), [(2.0, 1.0, 2.0, 2.0), (0.0, 0.0, 1.0, 0.0)]),
    ("zero inflated", lambda rate, gate: vecdist.zero_inflated(Poisson(rate), gate=gate), zero_inflated,
     [(0.0, 1.0, 0.5), (2.0, 2.0, 0.25), (0.0, 2.0, 0.5)]),
    ("hurdle", lambda rate, gate: vecdist.hurdle(Poisson(rate), gate=gate), hurdle,
     [(0.0, 1.0, 0.5), (2.0, 2.0, 0.25), (1.0, 0.5, 0.5)]),
    ("folded", lambda m, s: vecdist.folded(Normal(m, s)),
     lambda x, m, s: (normal(x, m, s).exp() + normal(-x, m, s).exp()).log(),
     [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 2.0)]),
    ("affine", lambda a, b: vecdist.affine(Cauchy(0.0, 1.0), a, b), LOG_DENSITY["Cauchy"],
     [(0.0, 0.0, 1.0), (1.0, 0.0, 2.0)]),
    ("discretised", lambda m, s: vecdist.discretised(Logistic(m, s)),
     lambda x, m, s: (logistic((x + 1 - m) / s) - logistic((x - m) / s)).log(),
     [(0.0, 0.0, 1.0), (1.0, 1.5, 2.0), (0.0, 0.5, 1.0)]),
    ("interval", lambda m, s, b: vecdist.interval_censored(Normal(m, s), 0.0, b),
     lambda x, m, s, b: normal_mass(m, s, arb(0), b).log(), [(0.0, 0.0, 1.0, 1.0), (0.0, 0.5, 2.0, 1.0)]),
    ("tanh", lambda m, s: vecdist.transformed(Normal(m, s), "tanh"),
     through(lambda x: x.atanh(), lambda y: -2 * y.cosh().log()), [(0.0, 0.0, 1.0), (0.5, 1.0, 2.0)]),
    ("arctanh", lambda k: vecdist.transformed(Beta(k, 2.0), "arctanh"),
     lambda x, k: LOG_DENSITY["Beta"](x.tanh(), k, arb(2)) - 2 * x.cosh().log(), [(0.5, 2.0), (0.25, 1.0)]),
    ("sinh", lambda m, s: vecdist.transformed(Normal(m, s), "sinh"),
     through(lambda x: x.asinh(), lambda y: y.cosh().log()), [(0.0, 0.0, 1.0), (1.0, 1.0, 2.0)]),
    ("arcsinh", lambda m, s: vecdist.transformed(Normal(m, s), "arcsinh"),
     through(lambda x: x.sinh(), lambda y: -(1 + y * y).log() / 2), [(0.0, 0.0, 1.0), (1.0, 1.0, 2.0)]),
    ("expit", lambda m, s: vecdist.transformed(Normal(m, s), "expit"), LOG_DENSITY["LogitNormal"],
     [(0.5, 0.0, 1.0), (0.25, 1.0, 2.0)]),
    ("logit", lambda k: vecdist.transformed(Beta(k, 2.0), "logit"),
     lambda x, k: LOG_DENSITY["Beta"](logistic(x), k, arb(2)) + (logistic(x) * logistic(-x)).log(),
     [(0.0, 1.0), (0.0, 2.0), (1.0, 0.5)]),
    ("softplus", lambda m, s: vecdist.transformed(Normal(m, s), "softplus"),
     through(lambda x: (x.exp() - 1).log(), lambda y: logistic(y).log()), [(1.0, 0.0, 1.0), (0.5, 1.0, 2.0)]),
    ("square", lambda k: vecdist.transformed(Weibull(k, 1.0), "square"),
     lambda x, k: LOG_DENSITY["Weibull"](x.sqrt(), k, arb(1)) - (2 * x.sqrt()).log(), [(1.0, 2.0), (0.25, 1.0)]),
]
NO_X = {"censored beyond", "zero inflated", "hurdle", "discretised", "interval"}  # a count, or not of its size


@pytest.mark.parametrize(("name", "make", "formula", "rows"), WRAPPED, ids=[name for name, *_ in WRAPPED])
def test_wrappers(interpreter, name, make, formula, rows):
    for row in rows:
        x, *given = (np.array(value) for value in row)
        active = range(1 if name in NO_X else 0, len(row))
        found = blocks(logpdf(make(*given), x), [(x, *given)[i] for i in active])
        assert_true(found, formula, row, active)


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 1.0), (-np.inf, np.inf)])
def test_infinite_bounds_of_truncated_ones(interpreter, low, high):
    """Bounds that are arrays and infinite: as if they were none."""
    x, loc, scale, *bounds = (np.array(value) for value in (0.5, 0.25, 2.0, low, high))
    arguments = [x, loc, scale, *bounds]
    found = blocks(logpdf(vecdist.truncated(Normal(loc, scale), *bounds), x), arguments)
    finite = [i for i, argument in enumerate(arguments) if np.isfinite(argument)]

    def formula(x, loc, s, *own):
        own = dict(zip([key for key, end in (("low", low), ("high", high)) if np.isfinite(end)], own, strict=True))
        return truncated_normal(x, loc, s, **own)

    assert_true(found[np.ix_(finite, finite)], formula, [float(arguments[i]) for i in finite])
    rest = np.delete(np.arange(5), finite)
    np.testing.assert_array_equal(found[rest], 0.0)
    np.testing.assert_array_equal(found[:, rest], 0.0)


@pytest.mark.parametrize("row", [(0.0, 0.5, 0.5, 1.0, 1.0), (1.0, 0.25, 0.75, 0.0, 2.0), (1.0, 0.5, 0.5, -1.0, 1.0)])
def test_mixtures(interpreter, row):
    x, weights, means = np.array(row[0]), np.array(row[1:3]), np.array(row[3:])

    def formula(x, v, w, a, b):
        return (v * normal(x, a, arb(1)).exp() + w * normal(x, b, arb(1)).exp()).log()

    assert_true(blocks(logpdf(mixture(weights, Normal(means, 1.0)), x), [x, weights, means]), formula, row)


ROUND = {  # of a parameter by its name, and of a point by the family's
    "probs": [0.5, 0.5], "logits": [0.0, 0.0], "alpha": [1.0, 2.0], "n": 3.0, "eta": 0.0, "cutpoints": [-1.0, 1.0],
    "loc": [0.0, 1.0], "df": 3.0, "concentration": 1.0, "scale_diag": [1.0, 2.0], "cov_diag": [1.0, 1.0],
    "cov_factor": [[1.0], [0.0]], "scale_tril": [[1.0, 0.0], [0.5, 1.0]], "Categorical": 0, "OrderedLogistic": 1,
    "OrderedProbit": 0, "Multinomial": [1, 2], "DirichletMultinomial": [0, 3], "Dirichlet": [0.5, 0.5],
    "MvLaplace": [1.0, 1.0], "NegativeMultinomial": [1, 0], "r": 1.0, "q": [0.5, 0.25], "mean": [1.0, 2.0],
    "MultivariateHypergeometric": [1, 2], "population": [2.0, 3.0], "PoissonBinomial": 1,
    "GeneralizedDirichlet": [0.5, 0.25, 0.25], "beta": [3.0, 1.0], "PlackettLuce": [1, 0], "scores": [1.0, 2.0],
    "MvNormal": [0.0, 1.0], "MvStudentT": [0.0, 1.0], "LKJ": [[1.0, 0.5], [0.5, 1.0]],
    "Wishart": [[2.0, 1.0], [1.0, 1.0]], "LKJCholesky": [[1.0, 0.0], [0.6, 0.8]],
    "WishartCholesky": [[1.0, 0.0], [1.0, 2.0]], "InverseWishart": [[1.0, 0.0], [0.0, 1.0]],
    "InverseWishartCholesky": [[1.0, 0.0], [0.0, 1.0]],
    **{name: [[2.0, 1.0], [1.0, 2.0]] for name in ("covariance", "precision", "scale_matrix", "row_covariance")},
    "column_covariance": [[1.0, 0.0], [0.0, 4.0]], "row_tril": [[1.0, 0.0], [1.0, 2.0]],
    "column_tril": [[1.0, 0.0], [0.0, 1.0]], "MatrixNormal": [[1.0, 0.0], [0.5, 2.0]],
    ("MatrixNormal", "loc"): [[0.0, 1.0], [0.0, 0.0]], "MvLogNormal": [1.0, 2.0], "scale": 2.0,
    "LogisticNormal": [0.5, 0.25, 0.25], "ZeroSumNormal": [1.0, -1.0], "VonMisesFisher": [1.0, 0.0],
    ("VonMisesFisher", "loc"): [0.6, 0.8],
}  # fmt: skip


@pytest.mark.parametrize("way", TRUTHS, ids="-".join)
def test_vectors_and_matrices(interpreter, way):
    given = [np.array(ROUND.get((way[0], name), ROUND[name])) for name in way]
    sizes = np.cumsum([0, *(argument.size for argument in given)])
    active = [i for i, name in enumerate(way) if name != "n" and not (i == 0 and name in DISCRETE)]
    expr = logpdf(getattr(distributions, way[0])(**dict(zip(way[1:], given[1:], strict=True))), given[0])

    def formula(*elements):
        parts = [np.array(elements[start:end], object).reshape(argument.shape)
                 for start, end, argument in zip(sizes, sizes[1:], given, strict=False)]  # fmt: skip
        return TRUTHS[way](*(part[()] if part.ndim == 0 else part for part in parts))

    row = np.concatenate([argument.ravel() for argument in given])
    places = [place for i in active for place in range(sizes[i], sizes[i + 1])]
    assert_true(blocks(expr, [given[i] for i in active]), formula, row, places)


def simplex_terms(*y):
    """log x of all proportions, of the isometric log ratio of three."""
    root = arb(2).sqrt(), arb(6).sqrt()
    z = [y[0] / root[0] + y[1] / root[1], -y[0] / root[0] + y[1] / root[1], -2 * y[1] / root[1]]
    return sum(z) - 3 * sum(each.exp() for each in z).log()


def log_cosh_terms(*powers):
    return lambda *y: sum(power * each.cosh().log() for power, each in zip(powers, y, strict=True))


JACOBIANS = [  # what the terms of a parameter add up to
    (parameters.positive(2), lambda a, b: a + b),
    (parameters.interval(-1.0, 3.0, 2), lambda a, b: sum((logistic(y) * logistic(-y)).log() for y in (a, b))),
    (parameters.ordered(3), lambda a, b, c: b + c), (parameters.simplex(3), simplex_terms),
    (parameters.unit_vector(2), lambda a, b: -(a**2 + b**2) / 2),
    (parameters.cholesky_corr(3), log_cosh_terms(-2, -3, -2)), (parameters.corr_matrix(3), log_cosh_terms(-3, -3, -2)),
    (parameters.cov_matrix(2), lambda a, b, c: 3 * a + 2 * c),
]


@pytest.mark.parametrize("y", [0.0, 1.0, -0.5])
@pytest.mark.parametrize(("parameter", "formula"), JACOBIANS, ids=[repr(parameter) for parameter, _ in JACOBIANS])
def test_jacobians_of_parameters(interpreter, parameter, formula, y):
    """At 0, where a model begins."""
    free = np.full(parameter.unconstrained_shape, y)
    found = blocks(lazy(parameter.forward(lazy(free))[1]), [free])
    assert_true(found, formula, free.ravel())
