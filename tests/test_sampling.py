"""Draws of every family against distribution functions of SciPy, with fixed keys; parameters at their edges."""

import contextlib
import functools
import itertools
import time
from unittest import mock

import numba
import numpy as np
import pytest
import scipy.stats as st
from family_cases import DEFECTIVE, EVERY_FAMILY, parameters_of
from family_cdfs import cdf_of
from interpreting import by_interpreter, nothing_computed

import vecdist
from vecdist import InvalidParameter, lazy, random, sample, value_and_grad
from vecdist.distributions import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Dirac,
    Exponential,
    Gamma,
    Geometric,
    Hypergeometric,
    InverseGaussian,
    NegativeBinomial,
    Normal,
    Poisson,
    Soliton,
    StudentT,
    VonMises,
    Zipf,
)
from vecdist.distributions.base import Distribution, parametrisation
from vecdist.graph.node import topological
from vecdist.primitives import PRIMITIVES
from vecdist.runtime import pipeline
from vecdist.special import draws, log_concave_draws, passage_draws, polya_gamma_draws

OF_LOOPS = (draws, log_concave_draws, passage_draws, polya_gamma_draws)
LEAST = 1e-6  # of a p-value
LAST = 2000.0
MIXED = {"HurdleGamma", "HurdleLogNormal", "WienerFirstPassage"}  # a density, and mass at 0 or at infinity
FARTHEST = 1e6  # a number beyond which there is nothing else


ONE_OF_EACH_LOOP = {"Binomial", "Gamma", "Hypergeometric", "Poisson", "Soliton", "VonMises", "Zipf"}
COMPILED = dict.fromkeys(ONE_OF_EACH_LOOP, 20_000) | {"LogSeries": 5_000, "PolyaGamma": 2_000}  # these two search


def many_draws(distribution, name):
    """Draws in their thousands; Python is slow at those found by loops, and each loop is compiled for one family."""
    loops = any(node.op.endswith("_draw") for node in topological((sample(5, distribution).node,)))
    if name in COMPILED:
        return np.asarray(sample(5, distribution, COMPILED[name]))
    return drawn(distribution, 2_000 if loops else 5_000, key=5)


def few_draws(distribution, name):
    """Draws in their hundreds; to compile the longest search takes less time than to make it in Python."""
    return np.asarray(sample(5, distribution, 200)) if name == "PolyaGamma" else drawn(distribution, 200, key=5)


def drawn(distribution, shape=(), key=1):
    """Draws by the interpreter, with their bits by a compiled function: half of the time would go to these."""
    with by_interpreter(), contextlib.ExitStack() as stack:
        for module in OF_LOOPS:
            stack.enter_context(mock.patch.object(module, "uniforms", quick_uniforms()))
        return np.asarray(sample(key, distribution, shape))


@functools.cache
def quick_uniforms():
    """The same numbers as ``draws.uniforms`` gives, which Philox of NumPy judges."""
    return numba.njit(draws.uniforms)


def uniforms(x, cdf, discrete, mixed=False):
    """What the distribution function makes of draws: uniform numbers, drawn from the steps where it has steps."""
    upper = np.asarray(cdf(x))
    if not (discrete or mixed):
        return upper
    at_points = np.where(x == 0, -1.0, np.where(x == np.inf, FARTHEST, x))
    lower = cdf(at_points if mixed else x - 1)
    return lower + np.random.default_rng(0).uniform(size=x.shape) * (upper - lower)


def least_p_value(u):
    """Of all numbers together, and of each column, which are so many chances: of columns by the farthest of them."""
    assert ((u >= 0) & (u <= 1)).all()
    columns = st.kstwo.sf(farthest(u), len(u)) * u.shape[1] if u.ndim == 2 else 1.0
    return min(st.kstwo.sf(farthest(u.reshape(-1, 1)), u.size), columns, 1.0)


def farthest(u):
    """How far from the diagonal the distribution functions of columns are, at most: the statistic of Kolmogorov."""
    steps = np.arange(len(u) + 1)[:, None] / len(u)
    u = np.sort(u, axis=0)
    return max((u - steps[:-1]).max(), (steps[1:] - u).max())


@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("family", [f for f in EVERY_FAMILY if f is not Dirac], ids=lambda family: family.__name__)
def test_draws_of_every_family(family, many):
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names)
    distribution = family(*parameters)
    x = (many_draws if many else few_draws)(distribution, family.__name__)
    assert x.shape[1:] == (24,) and x.dtype == np.float64
    cdf = np.errstate(over="ignore")(cdf_of(family, names, parameters))  # of branches that SciPy does not take
    if family.discrete:  # where tails are long all of them is one step, for SciPy adds up masses
        steps = uniforms(np.minimum(x, LAST), lambda at: np.where(at < LAST, cdf(np.minimum(at, LAST)), 1.0), True)
        assert least_p_value(steps) > LEAST
    else:
        assert least_p_value(uniforms(x, cdf, False, family.__name__ in MIXED)) > LEAST


def test_compiled_uniform_numbers_are_those_of_python():
    for turn, place in enumerate((0, 7, 2**32 - 1, 2**32, 2**53 - 1)):
        given = (2.0**32 - 1 - turn, 5.0, float(place), float(turn % 3), 64.0 * turn)
        assert quick_uniforms()(*given) == draws.uniforms(*given)


def test_a_single_value():
    np.testing.assert_array_equal(drawn(Dirac(np.array([0.5, 2.0])), 3), [[0.5, 2.0]] * 3)


@pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
def test_draws_in_float32(family):
    names = family.parametrisations[0].names
    x = drawn(family(*parameters_of(family, names, np.float32)), 20)
    assert x.dtype == np.float32 and (np.isfinite(x) | (x == np.inf) & (family.__name__ in DEFECTIVE)).all()


# Compiled kernels, generated source run by Python and the interpreter draw the same.
ALIKE = {
    "Beta": Beta(np.array([0.01, 2.0]), 3.0), "BetaBinomial": BetaBinomial(np.array([3, 500]), 2.0, 3.0),
    "Binomial": Binomial(np.array([5, 400]), np.array([0.25, 0.9])), "InverseGaussian": InverseGaussian(2.0, 3.0),
    "Hypergeometric": Hypergeometric(np.array([30, 900]), 500, 400), "Poisson": Poisson(np.array([3.0, 40.0])),
    "Soliton": Soliton(50, 10, 0.5), "StudentT": StudentT(np.array([0.5, 4.0])), "VonMises": VonMises(0.5, 2.0),
    "Zipf": Zipf(np.array([1.5, 3.0])),
}


@pytest.mark.parametrize("name", ALIKE)
def test_draws_are_the_same_however_they_are_computed(name, execution):
    found = np.asarray(sample(3, ALIKE[name], 4))
    np.testing.assert_allclose(found, drawn(ALIKE[name], 4, key=3), rtol=1e-13)


def test_a_draw_is_a_function_of_its_key_and_place(uncompiled):
    scales = np.array([1.0, 2.0, 3.0])
    before = None
    found = []
    for key in (1, 2, 2**63 + 1):
        found.append(np.asarray(sample(key, Exponential(scales), 4)) / scales)
        assert before is None or pipeline.compilations() == before
        before = pipeline.compilations()
    assert len(np.unique(found)) == 36
    np.testing.assert_array_equal(np.asarray(sample(1, Exponential(scales), 4)) / scales, found[0])
    keys = np.array([1, 2])
    each = np.asarray(sample(keys[:, None], Exponential(scales)))
    np.testing.assert_array_equal(each, [np.asarray(sample(int(key), Exponential(scales))) for key in keys])


def test_shapes_are_known_before_anything_is_computed():
    with nothing_computed():
        assert sample(1, Normal(0.0, 1.0)).shape == ()
        assert sample(1, Normal(np.zeros((3, 1)), np.ones(4)), (5, 2)).shape == (5, 2, 3, 4)
        assert sample(np.arange(6)[:, None], Gamma(2.0, 1.0), 7).shape == (6, 7)
        assert sample(random.fold_in(1, 2), Normal(np.float32(0), np.float32(1)), 0).dtype == np.float32


def test_gamma_of_a_tiny_shape_is_not_rounded_away():
    """Half of the draws are below all floats, and of a beta distribution half are next to either end."""
    x = drawn(Gamma(1e-3, 1.0), 4000)
    positive = x > 0
    least = st.gamma.cdf(5e-324, 1e-3)
    assert st.binomtest(int((~positive).sum()), x.size, least).pvalue > LEAST
    u = (st.gamma.cdf(x[positive & (x > 1e-300)], 1e-3) - st.gamma.cdf(1e-300, 1e-3)) / st.gamma.sf(1e-300, 1e-3)
    assert st.kstest(u, "uniform").pvalue > LEAST
    x = drawn(Beta(1e-3, 1e-3), 4000)
    assert np.isfinite(x).all()
    assert st.binomtest(int((x < 0.5).sum()), x.size, 0.5).pvalue > LEAST
    assert st.binomtest(int(((x > 1e-10) & (x < 0.99)).sum()), x.size,
                        st.beta.cdf(0.99, 1e-3, 1e-3) - st.beta.cdf(1e-10, 1e-3, 1e-3)).pvalue > LEAST


@pytest.mark.parametrize(("distribution", "oracle"), [
    (Poisson(1e9), st.poisson(1e9)), (Poisson(10.0), st.poisson(10.0)), (Poisson(9.999), st.poisson(9.999)),
    (Poisson(1e-3), st.poisson(1e-3)), (Binomial(10**9, 0.25), st.binom(10**9, 0.25)),
    (Binomial(10**9, 1e-9), st.binom(10**9, 1e-9)), (Binomial(20, 0.5), st.binom(20, 0.5)),
    (Binomial(10**6, 0.999), st.binom(10**6, 0.999)), (NegativeBinomial(1e-2, 0.01), st.nbinom(1e-2, 0.01)),
    (NegativeBinomial(1e6, 0.5), st.nbinom(1e6, 0.5)), (Hypergeometric(5, 5, 5), st.hypergeom(10, 5, 5)),
    (Hypergeometric(10**6, 10**6, 1000), st.hypergeom(2 * 10**6, 10**6, 1000)),
    (Hypergeometric(60, 40, 80), st.hypergeom(100, 60, 80)), (Geometric(1e-6), st.geom(1e-6, -1)),
    (BetaBinomial(1000, 0.1, 0.1), st.betabinom(1000, 0.1, 0.1)), (Zipf(20.0), st.zipf(20.0)),
], ids=lambda value: repr(value) if isinstance(value, Distribution) else "")
def test_counts_of_every_size(distribution, oracle):
    x = drawn(distribution, 4000)
    assert (x == np.floor(x)).all()
    assert least_p_value(uniforms(x, oracle.cdf, discrete=True)) > LEAST


@pytest.mark.parametrize(("distribution", "oracle"), [
    (Gamma(1e9, 1.0), st.gamma(1e9)), (Gamma(1e16, 1.0), st.norm(1e16, 1e8)), (Gamma(1.0, 1e300), st.expon(0, 1e300)),
    (StudentT(np.inf), st.norm), (StudentT(0.1), st.t(0.1)), (InverseGaussian(np.inf, 1.0), st.levy),
    (InverseGaussian(1e6, 1.0), st.invgauss(1e6)), (VonMises(0.0, 0.0), st.uniform(-np.pi, 2 * np.pi)),
    (VonMises(0.0, 1e9), st.norm(0, 1e-9**0.5)), (Beta(1e6, 3.0), st.beta(1e6, 3.0)),
], ids=lambda value: repr(value) if isinstance(value, Distribution) else "")
def test_extreme_parameters(distribution, oracle):
    assert least_p_value(oracle.cdf(drawn(distribution, 4000))) > LEAST


@pytest.mark.parametrize(("loc", "concentration"), [(1.0, 0.0), (-9.0, 0.5), (3.0, 4.0), (100.0, 0.0)])
def test_draws_of_an_angle_are_of_the_turn_of_its_distribution_function(loc, concentration):
    x = drawn(VonMises(loc, concentration), 4000)
    assert (abs(x - loc) <= np.pi).all()
    with by_interpreter():
        u = np.asarray(vecdist.cdf(VonMises(loc, concentration), x))
    assert st.kstest(u, "uniform").pvalue > LEAST


@pytest.mark.parametrize(("distribution", "only"), [
    (Bernoulli(np.array([0.0, 1.0])), [0, 1]), (Binomial(7, np.array([0.0, 1.0])), [0, 7]), (Binomial(0, 0.5), [0]),
    (Poisson(0.0), [0]), (Geometric(1.0), [0]), (NegativeBinomial(3.0, 1.0), [0]),
    (Hypergeometric(np.array([0, 5, 5]), np.array([4, 0, 4]), np.array([2, 2, 9])), [0, 2, 5]),
], ids=repr)
def test_what_is_certain(distribution, only):
    assert (drawn(distribution, 20) == only).all()


SIZES = [0.0, 5e-324, 1e-10, 0.3, 1.0, 9.99, 10.0, 1e3, 1e16, 1e300, 1.7e308, np.inf, -1.0, -np.inf, np.nan]
LOGARITHMS = [0.0, -1e-300, -0.1, -0.7, -40.0, -800.0, -np.inf, 1.0, 700.0, np.nan]


@pytest.mark.parametrize("name", sorted(name for name in PRIMITIVES if name.endswith("_draw")))
def test_no_parameter_hangs_or_raises(name):
    """Pure Python raises where compiled code goes on, so that what passes here divides by zero nowhere."""
    entry = PRIMITIVES[name]
    several = {"binomial_draw": [SIZES, LOGARITHMS, LOGARITHMS]}.get(name, [SIZES] * (entry.arity - 4))
    for parameters in itertools.product(*several):
        start = time.perf_counter()
        found = entry.routine(12345.0, 678.0, 3.0, 1.0, *parameters)
        assert isinstance(found, float) and time.perf_counter() - start < 2.0, parameters


@pytest.mark.parametrize("family", [Normal, Gamma], ids=lambda family: family.__name__)
def test_invalid_parameters(family, uncompiled):
    with pytest.raises(InvalidParameter, match=rf"{family.__name__}: scale\[1\] = -1.0 is invalid"):
        np.asarray(sample(1, family(2.0, np.array([1.0, -1.0])), 3))
    quiet = vecdist.compile(lambda scale: sample(1, family(2.0, scale), 3))
    np.testing.assert_array_equal(np.isnan(quiet(np.array([1.0, -1.0]))), [[False, True]] * 3)


def test_derivatives_of_what_is_moved_and_stretched(uncompiled):
    loc, scale = np.array(1.0), np.array(2.0)
    total, (of_loc, of_scale) = value_and_grad(sample(4, Normal(loc, scale), 5).sum(), wrt=(loc, scale))
    assert of_loc == 5 and of_scale == pytest.approx((total - 5) / 2)
    value, of_scale = value_and_grad(sample(4, Exponential(scale)), wrt=scale)
    assert of_scale == pytest.approx(value / 2)
    value, of_scale = value_and_grad(sample(4, Gamma(3.0, scale)), wrt=scale)
    assert of_scale == pytest.approx(value / 2)


@pytest.mark.parametrize(("family", "what"), [(Gamma, "gamma"), (Poisson, "poisson"), (VonMises, "von mises")])
def test_derivatives_of_what_is_accepted_or_rejected(family, what):
    parameter = np.array(3.0)
    given = {Gamma: (parameter, 1.0), Poisson: (parameter,), VonMises: (1.0, parameter)}[family]
    with pytest.raises(NotImplementedError, match=f"{what} draws have no derivative in their parameters"):
        value_and_grad(sample(4, family(*given)), parameter)


def test_draws_in_a_compiled_function(uncompiled):
    step = vecdist.compile(lambda key, x: x + 0.1 * sample(key, StudentT(5.0), x.shape))
    found = step(np.uint64(3), np.ones(4))
    np.testing.assert_allclose(found, 1 + 0.1 * np.asarray(sample(3, StudentT(5.0), 4)), rtol=1e-15)


def test_what_is_drawn_is_used_in_the_same_kernel(uncompiled):
    """A mean by simulation: draws are never stored."""
    shape = np.array(2.0)
    mean = np.exp(-sample(3, Exponential(shape), 200)).mean()
    kernel, = vecdist.explain(mean).kernels
    assert kernel.launches == 1 and kernel.bytes_written == 8
    assert float(mean) == pytest.approx(np.exp(-np.asarray(sample(3, Exponential(shape), 200))).mean(), rel=1e-14)


def test_a_family_without_a_formula():
    class Opaque(Distribution):
        """Nothing but a density."""

        @parametrisation(rate=vecdist.constraints.positive)
        @staticmethod
        def by_rate(rate):
            return {"rate": rate}

        support = Exponential.support

        @staticmethod
        def log_density(x, p):
            return -x * p.rate

    with pytest.raises(NotImplementedError, match="sample of Opaque is not there: the family states neither draws"):
        sample(1, Opaque(1.0))


@pytest.mark.parametrize(("key", "given"), [
    (np.random.default_rng(0), "Generator"), (np.random.SeedSequence(0), "SeedSequence"), (None, "NoneType"),
    (1.5, "float64"), (True, "bool"), ("1", "<U1"), (np.array([0.5]), "float64"), (lazy(np.array([0.5])), "float64"),
])
def test_what_is_no_key_is_named(key, given):
    with pytest.raises(TypeError, match=rf"a key is an integer.*given {given}; .*rng\.integers\(2\*\*63\)"):
        sample(key, Normal(0.0, 1.0), 3)


@pytest.mark.parametrize("wrong", [Normal, 3.0, None, lazy(np.ones(2))], ids=repr)
def test_what_is_no_distribution(wrong):
    with pytest.raises(TypeError, match="sample wants a distribution"):
        sample(1, wrong)
