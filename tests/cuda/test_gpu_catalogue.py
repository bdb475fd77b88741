"""On a real GPU: distribution functions, quantiles, wrappers and families of vectors, as the CPU computes them."""

import numpy as np
import pytest
from families import arrays, differentiable

import vecdist
from vecdist import cdf, lazy, logcdf, logpdf, logsf, ppf, sf, value_and_partials
from vecdist.distributions import (
    FAMILIES,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Gamma,
    GeneralizedDirichlet,
    LogisticNormal,
    MatrixNormal,
    Multinomial,
    MvLaplace,
    MvNormal,
    MvStudentT,
    NegativeBinomial,
    NegativeMultinomial,
    Normal,
    OrderedLogistic,
    PlackettLuce,
    Poisson,
    PoissonBinomial,
    StudentT,
    VonMisesFisher,
    Wishart,
)
from vecdist.verbs.tails_and_moments import known

pytestmark = pytest.mark.cuda
RNG = np.random.default_rng(20261121)
TOLERANCE = {"f4": 2e-4, "f8": 1e-10}


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def assert_close(found, wanted, dtype, loosely=1.0):
    """Equal up to rounding; below the smallest number that a format holds in full, the GPU may give 0."""
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    found, wanted = np.asarray(found.get(), np.float64), np.asarray(wanted, np.float64)
    tolerance, tiny = TOLERANCE[dtype] * loosely, np.finfo(dtype).tiny
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=max(tolerance / 10, tiny))


def check(cupy, build, *given, dtype="f8", loosely=1.0):
    """Values and partial derivatives of an expression; ``build`` gives it and where to differentiate."""
    wanted, slopes = value_and_partials(*build(*given))
    found, found_slopes = value_and_partials(*build(*map(cupy.asarray, given)))
    for mine, reference in zip((found, *found_slopes), (wanted, *slopes), strict=True):
        assert_close(mine, reference, dtype, loosely)


@pytest.mark.parametrize("verb", [cdf, logcdf, sf, logsf], ids=lambda verb: verb.__name__)
@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if known(family, "log_cdf")])
def test_distribution_functions(cupy, name, verb):
    """Both tails and their logarithms, with all derivatives."""
    x, parameters = arrays(name, "f8")
    family = FAMILIES[name]
    check(
        cupy, lambda x, *parameters: (verb(family(*parameters), x), differentiable(name, x, parameters)), x, *parameters
    )


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if known(family, "quantile")])
def test_quantiles(cupy, name):
    """Quantiles; those of numbers that are no counts with all derivatives."""
    _, parameters = arrays(name, "f8")
    family, q = FAMILIES[name], np.linspace(0.001, 0.999, parameters[0].size)
    if not family.discrete:
        check(
            cupy, lambda q, *parameters: (ppf(family(*parameters), q), differentiable(name, q, parameters)),
            q, *parameters, loosely=10.0,
        )
        return
    found = vecdist.runtime.pipeline.on_host(ppf(family(*map(cupy.asarray, parameters)), cupy.asarray(q)))
    np.testing.assert_array_equal(np.asarray(found), np.asarray(ppf(family(*parameters), q)))


WRAPPED = {
    "truncated": lambda a, b: vecdist.truncated(Normal(a, b), -0.5, 2.0),
    "censored": lambda a, b: vecdist.censored(Gamma(b, np.exp(a)), 0.1, 1.25),
    "affine": lambda a, b: vecdist.affine(StudentT(b), a, b),
    "folded": lambda a, b: vecdist.folded(Normal(a, b)),
    "zero inflated": lambda a, b: vecdist.zero_inflated(Poisson(b), gate_logit=a),
    "hurdle": lambda a, b: vecdist.hurdle(NegativeBinomial(b, 0.5), gate_logit=a),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappers(cupy, name):
    a, b, x = RNG.normal(size=64), RNG.uniform(0.5, 3.0, 64), np.arange(64) % 4 * 0.5
    x = np.floor(x) if name in {"zero inflated", "hurdle"} else x
    check(cupy, lambda a, b, x: (logpdf(WRAPPED[name](lazy(a), lazy(b)), x), (a, b)), a, b, x)


def positive_definite(size):
    root = RNG.normal(size=(size, size))
    return root @ root.T + size * np.eye(size)


COUNTS = RNG.multinomial(9, [0.2, 0.3, 0.5], 20).astype(float)
POINTS, CATEGORIES = RNG.normal(size=(20, 3)), np.arange(20.0) % 4
VECTORS = {  # a family as a function of arrays, its points, and the arrays
    "Categorical": (lambda logits: Categorical(logits=logits), CATEGORIES, [RNG.normal(size=4)]),
    "Dirichlet": (Dirichlet, RNG.dirichlet(np.ones(4), 20), [RNG.uniform(0.5, 3.0, 4)]),
    "Multinomial": (lambda logits: Multinomial(n=9.0, logits=logits), COUNTS, [RNG.normal(size=3)]),
    "DirichletMultinomial": (lambda a: DirichletMultinomial(9.0, a), COUNTS, [RNG.uniform(0.5, 3.0, 3)]),
    "MvNormal": (MvNormal, POINTS, [RNG.normal(size=3), positive_definite(3)]),
    "MvStudentT": (MvStudentT, POINTS, [np.array(5.0), RNG.normal(size=3), positive_definite(3)]),
    "GeneralizedDirichlet": (
        GeneralizedDirichlet, RNG.dirichlet(np.ones(4), 20), [RNG.uniform(0.5, 3.0, 3), RNG.uniform(0.5, 3.0, 3)]
    ),
    "LogisticNormal": (LogisticNormal, RNG.dirichlet(np.ones(4), 20), [RNG.normal(size=3), positive_definite(3)]),
    "MatrixNormal": (
        MatrixNormal, RNG.normal(size=(20, 3, 2)), [RNG.normal(size=(3, 2)), positive_definite(3), positive_definite(2)]
    ),
    "MvLaplace": (MvLaplace, POINTS, [RNG.normal(size=3), positive_definite(3)]),
    "NegativeMultinomial": (NegativeMultinomial, COUNTS, [np.array(2.5), np.array([0.1, 0.3, 0.2])]),
    "PlackettLuce": (PlackettLuce, RNG.permuted(np.tile(np.arange(4.0), (20, 1)), axis=1), [RNG.uniform(0.5, 3.0, 4)]),
    "PoissonBinomial": (PoissonBinomial, CATEGORIES, [RNG.uniform(0.1, 0.9, 6)]),
    "VonMisesFisher": (
        VonMisesFisher, POINTS / np.sqrt((POINTS**2).sum(-1, keepdims=True)), [np.array([0.6, 0.0, 0.8]), np.array(5.0)]
    ),
    "Wishart": (Wishart, positive_definite(18) / 9.0, [np.array(20.5), positive_definite(18)]),
    "OrderedLogistic": (OrderedLogistic, CATEGORIES, [np.array(0.3), np.sort(RNG.normal(size=3))]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_families_of_vectors(cupy, name):
    family, x, parameters = VECTORS[name]
    wanted, slopes = vecdist.value_and_grad(logpdf(family(*parameters), x).sum(), tuple(parameters))
    on_gpu = tuple(map(cupy.asarray, parameters))
    found, found_slopes = vecdist.value_and_grad(logpdf(family(*on_gpu), cupy.asarray(x)).sum(), on_gpu)
    for mine, reference in zip((found, *found_slopes), (wanted, *slopes), strict=True):
        np.testing.assert_allclose(mine.get(), reference, rtol=1e-10, atol=1e-12)


def test_a_covariance_that_is_not_positive_definite_names_its_place(cupy):
    covariance = cupy.asarray(np.stack([np.eye(2), -np.eye(2)]))
    density = logpdf(MvNormal(cupy.zeros(2), covariance), cupy.zeros((2, 2)))
    with pytest.raises(vecdist.InvalidParameter, match="1"):
        density.get() if hasattr(density, "get") else np.asarray(vecdist.runtime.pipeline.on_host(density))
