"""Distributions made of others, against SciPy."""

import math

import numpy as np
import pytest
import scipy.stats as st
from interpreting import by_interpreter

import vecdist
from vecdist import (
    InvalidParameter,
    affine,
    cdf,
    censored,
    discretised,
    folded,
    hurdle,
    iid,
    interval_censored,
    logcdf,
    logpdf,
    logsf,
    mean,
    mixture,
    ppf,
    sf,
    transformed,
    truncated,
    value_and_grad,
    value_and_partials,
    variance,
    zero_inflated,
)
from vecdist.distributions import (
    FAMILIES,
    Beta,
    Binomial,
    Cauchy,
    DiscreteUniform,
    Exponential,
    Gamma,
    HurdleGamma,
    HurdlePoisson,
    Laplace,
    Logistic,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Uniform,
    ZeroInflatedPoisson,
)
from vecdist.wrappers import Bijector


@pytest.fixture
def interpreter():
    """Values are computed by NumPy from the graph; checks of parameters are left out."""
    with by_interpreter():
        yield


interpreted = pytest.mark.usefixtures("interpreter")


def computed(lazy):
    return np.asarray(lazy)


SKEW = Bijector("thrice", lambda y: 3.0 * y, lambda x: x / 3.0, lambda y, x: math.log(3.0) + 0.0 * y)
CONTINUOUS = {
    "truncated": truncated(Gamma(2.0, 1.5), 0.5, 6.0),
    "truncated below": truncated(StudentT(3.0, 0.0, 1.0), lower=0.5),
    "truncated twice": truncated(truncated(Normal(0.0, 1.0), lower=-1.0), 0.25, 2.0),
    "affine": affine(Gamma(2.0, 1.5), -1.0, 0.5),
    "truncated affine": truncated(affine(Normal(0.5, 1.0), 1.0, 2.0), 0.0, 4.0),
    "affine truncated": affine(truncated(Logistic(0.5, 1.0), upper=2.0), 1.0, 2.0),
    "folded": folded(Normal(0.5, 1.25)),
    "folded uniform": folded(Uniform(-2.0, 3.0)),
    "truncated folded": truncated(folded(Logistic(0.5, 1.0)), 0.5, 3.0),
    "transformed truncated": transformed(truncated(Normal(0.0, 1.0), lower=-1.0), "exp"),
    "truncated transformed": truncated(transformed(Normal(0.0, 1.0), "negative"), -1.0, 2.0),
    "transformed uniform": transformed(Uniform(0.5, 2.0), "reciprocal"),
    "by a function": transformed(Gamma(2.0, 1.5), SKEW),
    **{name: transformed(Normal(0.25, 0.75), name)
       for name in ("exp", "expit", "softplus", "expm1", "tanh", "sinh", "arcsinh", "negative")},
    **{name: transformed(Gamma(2.0, 1.5), name)
       for name in ("log", "logexpm1", "log1p", "sqrt", "square", "reciprocal")},
    "logit": transformed(Beta(2.0, 3.0), "logit"),
    "arctanh": transformed(affine(Beta(2.0, 3.0), -1.0, 2.0), "arctanh"),
}


@interpreted
@pytest.mark.parametrize("name", CONTINUOUS)
def test_verbs_of_continuous_distributions_belong_together(name):
    distribution, q = CONTINUOUS[name], np.linspace(0.05, 0.95, 7)
    x = np.linspace(0.6, 1.9, 7) if "folded" in name else computed(ppf(distribution, q)).copy()
    lower, (slope,) = value_and_partials(cdf(distribution, x), (x,))
    upper, (down,) = value_and_partials(sf(distribution, x), (x,))
    density = np.exp(computed(logpdf(distribution, x)))
    np.testing.assert_allclose(slope, density, rtol=1e-9)
    np.testing.assert_allclose(down, -density, rtol=1e-9)
    np.testing.assert_allclose(lower + upper, 1.0, rtol=1e-12)
    np.testing.assert_allclose(computed(logcdf(distribution, x)), np.log(lower), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(computed(logsf(distribution, x)), np.log(upper), rtol=1e-10, atol=1e-13)
    if "folded" not in name:
        np.testing.assert_allclose(lower, q, rtol=1e-9)
        ends = ppf(distribution, np.array([0.0, 1.0]))
        assert computed(cdf(distribution, ends)).tolist() == [0.0, 1.0]


DISCRETE = {
    "truncated": truncated(Poisson(3.0), 1.5, 7.25),
    "truncated above": truncated(Binomial(9, 0.4), upper=5),
    "truncated far away": truncated(Poisson(2.0), lower=60),
    "censored": censored(Poisson(3.0), 2, 6),
    "zero-inflated": zero_inflated(Poisson(2.0), gate=0.25),
    "zero-inflated by logit": zero_inflated(NegativeBinomial(2.0, 0.4), gate_logit=-1.0),
    "zero-inflated, signed": zero_inflated(DiscreteUniform(-3, 4), gate=0.25),
    "zero-inflated without zero": zero_inflated(DiscreteUniform(2, 4), gate=0.25),
    "hurdle": hurdle(Poisson(2.0), gate=0.25),
    "hurdle, signed": hurdle(DiscreteUniform(-3, 4), gate=0.25),
    "hurdle of truncated": hurdle(truncated(Poisson(2.0), upper=5), gate_logit=0.5),
    "truncated hurdle": truncated(hurdle(Poisson(2.0), gate=0.25), upper=5),
    "folded": folded(DiscreteUniform(-3, 4)),
    "discretised": discretised(Normal(2.0, 3.0)),
    "discretised, of a support": discretised(Gamma(2.0, 1.5)),
}


@interpreted
@pytest.mark.parametrize("name", DISCRETE)
def test_verbs_of_discrete_distributions_belong_together(name):
    distribution = DISCRETE[name]
    x = np.arange(-60.0, 200.0)
    p = np.exp(computed(logpdf(distribution, x)))
    total = np.cumsum(p)
    assert total[-1] == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(computed(cdf(distribution, x)), total, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(computed(sf(distribution, x)), 1.0 - total, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(np.exp(computed(logcdf(distribution, x))), total, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(np.exp(computed(logsf(distribution, x))), 1.0 - total, rtol=1e-8, atol=1e-13)
    assert (computed(cdf(distribution, x + 0.5)) == computed(cdf(distribution, x))).all()
    if name not in {"folded", "truncated far away"}:
        seen = (p > 1e-9) & (total < 1 - 1e-9)
        steps = computed(cdf(distribution, x))[seen]
        assert computed(ppf(distribution, steps)).tolist() == x[seen].tolist()
        assert computed(ppf(distribution, steps - 1e-10)).tolist() == x[seen].tolist()


@interpreted
def test_gates_are_those_of_the_families():
    x, rate, gate = np.arange(6), np.array(1.5), np.array(0.25)
    logit = np.array(math.log(1 / 3))
    pairs = [
        (zero_inflated, Poisson(rate), ZeroInflatedPoisson(gate, rate)),
        (hurdle, Poisson(rate), HurdlePoisson(gate, rate)),
        (hurdle, Gamma(2.0, rate), HurdleGamma(gate, 2.0, rate)),
    ]
    for wrap, inner, family in pairs:
        value, slopes = value_and_partials(logpdf(family, x), (gate, rate))
        found, partials = value_and_partials(logpdf(wrap(inner, gate=gate), x), (gate, rate))
        by_logit, (of_logit, _) = value_and_partials(logpdf(wrap(inner, gate_logit=logit), x), (logit, rate))
        np.testing.assert_allclose(found, value, rtol=1e-13)
        np.testing.assert_allclose(by_logit, value, rtol=1e-13)
        np.testing.assert_allclose(partials, slopes, rtol=1e-12)
        np.testing.assert_allclose(of_logit, slopes[0] * 0.25 * 0.75, rtol=1e-12)
        for verb in (mean, variance):
            assert float(verb(wrap(inner, gate=gate))) == pytest.approx(_moment(verb, family, inner, gate), rel=1e-12)


def _moment(verb, family, inner, gate):
    """A moment of gated families: their own where they state it, otherwise a sum over the mass."""
    try:
        return float(verb(family))
    except NotImplementedError:
        x = np.arange(200)
        p = np.exp(computed(logpdf(family, x)))
        return float(((x - (p * x).sum()) ** 2 * p).sum()) if verb is variance else float((p * x).sum())


@interpreted
def test_gates_at_their_ends():
    x, gate = np.array([0, 1]), np.array(0.0)
    value, (slope,) = value_and_partials(logpdf(zero_inflated(Poisson(2.0), gate=gate), x), (gate,))
    np.testing.assert_allclose(value, st.poisson(2.0).logpmf(x), rtol=1e-14)
    np.testing.assert_allclose(slope, [math.expm1(2.0), -1.0], rtol=1e-13)
    logit = np.array([-800.0, 800.0])
    counts = zero_inflated(Poisson(2.0), gate_logit=logit)
    value, (slope,) = value_and_partials(logpdf(counts, np.array([[0], [1]])), (logit,))
    np.testing.assert_allclose(value, [[-2.0, 0.0], [-2.0 + math.log(2.0), -800.0 - 2.0 + math.log(2.0)]], rtol=1e-14)
    np.testing.assert_allclose(slope, [[0.0, 0.0], [0.0, -1.0]], atol=1e-300)


@interpreted
def test_moved_families_are_families():
    x = np.array([-2.0, 0.5, 3.0])
    for moved, same in [
        (affine(Normal(0.0, 1.0), 0.5, 2.0), Normal(0.5, 2.0)),
        (affine(Uniform(0.0, 1.0), 0.5, 2.0), Uniform(0.5, 2.5)),
        (affine(StudentT(3.0, 0.0, 1.0), 0.5, 2.0), StudentT(3.0, 0.5, 2.0)),
        (transformed(Normal(0.5, 2.0), "exp"), LogNormal(0.5, 2.0)),
        (transformed(Gamma(2.0, 0.5), "reciprocal"), FAMILIES["InverseGamma"](2.0, 2.0)),
        (folded(Cauchy(0.0, 2.0)), FAMILIES["HalfCauchy"](2.0)),
        (truncated(Laplace(0.0, 2.0), lower=0.0), Exponential(2.0)),
    ]:
        np.testing.assert_allclose(computed(logpdf(moved, x)), computed(logpdf(same, x)), rtol=1e-12)
        np.testing.assert_allclose(computed(cdf(moved, x)), computed(cdf(same, x)), rtol=1e-12)
    for verb in (mean, variance, vecdist.entropy, vecdist.mode, vecdist.median):
        assert float(verb(affine(Normal(0.0, 1.0), 0.5, 2.0))) == pytest.approx(float(verb(Normal(0.5, 2.0))))


@interpreted
def test_a_folded_normal_distribution_is_scipys():
    x = np.array([0.0, 0.5, 2.0, 9.0])
    distribution, oracle = folded(Normal(0.6, 2.0)), st.foldnorm(0.3, scale=2.0)
    np.testing.assert_allclose(computed(logpdf(distribution, x)), oracle.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(computed(logcdf(distribution, x[1:])), oracle.logcdf(x[1:]), rtol=1e-11)
    np.testing.assert_allclose(computed(logsf(distribution, x)), oracle.logsf(x), rtol=1e-11, atol=1e-15)


def empty():
    above, below = np.array([0.0, 3.0]), np.array([1.0, 2.0])
    return {
        r"truncated\(Normal\): upper\[1\] = 2.0": truncated(Normal(0.0, 1.0), above, below),
        r"truncated\(Gamma\): upper\[0\] = 0.0": truncated(Gamma(2.0, 1.0), upper=above),
        r"truncated\(Beta\): lower\[1\] = 3.0": truncated(Beta(2.0, 1.0), lower=above),
        r"truncated\(Poisson\): upper = 2.75": truncated(Poisson(2.0), 2.25, 2.75),
        r"truncated\(Poisson\): lower = inf": truncated(Poisson(2.0), lower=math.inf),
        r"truncated\(Poisson\): upper = -1.0": truncated(Poisson(2.0), upper=-1),
        r"truncated\(truncated\(Normal\)\): outer_upper = 0.0":
            truncated(truncated(Normal(0.0, 1.0), upper=2.0, lower=1.0), upper=0.0),
        r"truncated\(Normal\): scale = -1.0": truncated(Normal(0.0, -1.0), lower=0.0),
        r"censored\(Normal\): upper = nan": censored(Normal(0.0, 1.0), 1.0, math.nan),
        r"interval_censored\(Normal\): upper\[1\] = 2.0": interval_censored(Normal(0.0, 1.0), above, below),
        r"zero_inflated\(Poisson\): gate = 2.0": zero_inflated(Poisson(1.0), gate=2.0),
        r"affine\(Normal\): outer_scale = 0.0": affine(Normal(0.0, 1.0), 0.0, 0.0),
    }


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("message", empty())
def test_what_is_invalid_is_named(message):
    distribution = empty()[message]
    with pytest.raises(InvalidParameter, match=message):
        logpdf(distribution, 0.5).compute()
    assert np.isnan(vecdist.compile(lambda x: logpdf(distribution, x))(np.array(0.5))).any()


def model(x, counts, lower, loc, gate):
    seen = logpdf(iid(censored(truncated(Logistic(loc, 1.5), lower=lower), upper=3.0)), x)
    return seen + logpdf(zero_inflated(Poisson(2.0), gate_logit=gate), counts).sum()


@pytest.mark.usefixtures("execution")
def test_wrappers_work_together_in_one_kernel_and_for_many_chains():
    x, counts, gates, locs = np.array([-0.5, 1.0, 3.0]), np.array([0, 0, 2]), np.zeros(2), np.array([0.25, 0.5])
    chains = vecdist.compile(model, in_axes=(None, None, None, 0, 0))
    values, (of_lower, of_loc, _) = chains.value_and_grad(x, counts, np.array(-1.0), locs, gates, wrt=(2, 3, 4))
    for chain, loc in enumerate(locs):
        start = (-1.0 - loc) / 1.5
        log_mass = st.logistic.logsf(start)
        seen = st.logistic.logpdf(x[:2], loc, 1.5).sum() + st.logistic.logsf(3.0, loc, 1.5) - 3 * log_mass
        zeros = 2 * math.log(0.5 + 0.5 * math.exp(-2.0)) + math.log(0.5) + st.poisson(2.0).logpmf(2)
        assert values[chain] == pytest.approx(seen + zeros, rel=1e-12)
        hazard, beyond = (st.logistic.cdf(z) / 1.5 for z in (start, (3.0 - loc) / 1.5))
        of_seen = (np.tanh((x[:2] - loc) / 3.0) / 1.5).sum()
        assert of_lower[chain] == pytest.approx(3 * hazard, rel=1e-10)
        assert of_loc[chain] == pytest.approx(of_seen + beyond - 3 * hazard, rel=1e-10)


@interpreted
def test_components_and_rows():
    x = np.array([[-0.5, 1.0], [2.0, -2.0]])
    two = mixture(np.array([0.25, 0.75]), truncated(Normal(np.array([0.0, 1.0]), 1.0), lower=-1.0))
    parts = [np.where(x < -1.0, 0.0, st.norm.pdf(x, m) / st.norm.sf(-1.0, m)) for m in (0.0, 1.0)]
    with np.errstate(divide="ignore"):
        wanted = np.log(0.25 * parts[0] + 0.75 * parts[1])
    np.testing.assert_allclose(computed(logpdf(two, x)), wanted, rtol=1e-13)
    np.testing.assert_allclose(computed(logpdf(iid(two), x)), wanted.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(computed(logpdf(iid(two, axes=None), x[:1])), wanted[0].sum(), rtol=1e-13)


@interpreted
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_float32_stays_float32(name):
    distribution = (CONTINUOUS | DISCRETE)[name]
    x = np.array([1.0, 2.0, 3.0])
    if name in CONTINUOUS and "folded" not in name:
        x = computed(ppf(distribution, np.array([0.25, 0.5, 0.75]))).copy()
    if name == "truncated far away":
        x = x + 60
    for verb in (logpdf, cdf, logsf):
        at = x.astype(np.float32)
        single = computed(verb(distribution, at))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, computed(verb(distribution, at.astype(float))), rtol=3e-4, atol=3e-6)


@interpreted
def test_what_a_family_has_not_is_named():
    class Unknown(vecdist.distributions.Distribution):
        parametrisations = Normal.parametrisations
        support, log_density = Normal.support, Normal.log_density

    wanted = "logsf of Unknown is not there, and truncated.Unknown. needs it"
    with pytest.raises(NotImplementedError, match=wanted):
        logpdf(truncated(Unknown(0.0, 1.0), lower=0.0), 0.5)
    with pytest.raises(NotImplementedError, match=r"ppf of folded\(Normal\) is not there: .* method quantile\(q, p\)"):
        ppf(folded(Normal(0.0, 1.0)), 0.5)
    with pytest.raises(NotImplementedError, match=r"cdf of Unknown is not there: .* static method cdf\(x, p\)"):
        cdf(Unknown(0.0, 1.0), 0.5)
    with pytest.raises(NotImplementedError, match=r"entropy of Unknown is not there: .* static method entropy\(p\)"):
        vecdist.entropy(Unknown(0.0, 1.0))

    class Drawn(vecdist.distributions.tail_sums.OfDraws, Unknown):
        """Without an urn."""

    with pytest.raises(NotImplementedError, match=r"give the family a static method urn\(p\)"):
        cdf(Drawn(0.0, 1.0), 0.5)
    with pytest.raises(NotImplementedError, match="cdf of Iid is not there"):
        cdf(iid(Normal(0.0, 1.0)), 0.5)
    with pytest.raises(ValueError, match="log takes a finite positive number"):
        logpdf(transformed(Normal(0.0, 1.0), "log"), 0.5)


def test_what_makes_no_sense_is_refused():
    two = mixture(np.array([0.5, 0.5]), Normal(np.array([0.0, 1.0]), 1.0))
    for make, message in [
        (lambda: truncated(two, lower=0.0), "wants a distribution of a family, given Mixture"),
        (lambda: truncated(Normal, lower=0.0), "given Normal"),
        (lambda: zero_inflated(Normal(0.0, 1.0), gate=0.5), "wants a discrete family"),
        (lambda: hurdle(Poisson(1.0)), "one of gate= and gate_logit=, 0 were given"),
        (lambda: hurdle(Poisson(1.0), gate=0.5, gate_logit=0.0), "2 were given"),
        (lambda: discretised(Poisson(1.0)), "wants a continuous family"),
        (lambda: transformed(Poisson(1.0), "exp"), "wants a continuous family"),
        (lambda: truncated(HurdleGamma(0.5, 2.0, 1.0), lower=0.0), "no mass at single points beside its density"),
        (lambda: affine(censored(Normal(0.0, 1.0), 0.0)), "given censored.Normal."),
        (lambda: iid(3.0), "wants a distribution, given float"),
    ]:
        with pytest.raises(TypeError, match=message):
            make()
    with pytest.raises(ValueError, match="there is no bijector 'cube'"):
        transformed(Normal(0.0, 1.0), "cube")


@interpreted
def test_what_is_made_is_a_distribution_of_no_catalogue():
    before = set(FAMILIES)
    made = censored(truncated(Normal(np.zeros(3), 1.0), lower=-1.0), upper=2.0)
    assert set(FAMILIES) == before
    assert repr(made) == "censored(truncated(Normal(loc=float64[3], scale=1.0), lower=-1.0), upper=2.0)"


@interpreted
def test_gradients_flow_into_bounds_that_are_lazy():
    lower, x = np.array(0.5), np.array([1.0, 2.0])
    _, slope = value_and_grad(logpdf(truncated(Exponential(2.0), lower=vecdist.lazy(lower) * 2.0), x).sum(), lower)
    assert float(slope) == pytest.approx(2.0)  # 2 draws, a hazard of 1/2, and a bound of twice the array
