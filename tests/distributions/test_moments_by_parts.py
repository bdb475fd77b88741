"""Means and variances of censored and folded variables, against closed forms in ball arithmetic and sums."""

import math

import numpy as np
import pytest
import scipy.stats as st
from flint import arb, ctx

from vecdist import affine, censored, folded, lazy, mean, std, value_and_grad, value_and_partials, variance
from vecdist.distributions import (
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    Geometric,
    Laplace,
    Normal,
    Poisson,
    Skellam,
    StudentT,
    Uniform,
    VonMises,
)

pytestmark = pytest.mark.usefixtures("interpreter")
STEP = arb(2) ** -80


def normal(power, low, high, loc, scale):
    """The integral of x^power over an interval; the densities at its ends by integration by parts."""
    a, b = ((end - loc) / scale for end in (low, high))
    share = ((b / arb(2).sqrt()).erf() - (a / arb(2).sqrt()).erf()) / 2
    at_a, at_b = ((-(z**2) / 2).exp() / (2 * arb.pi()).sqrt() for z in (a, b))
    first = loc * share + scale * (at_a - at_b)
    second = (loc**2 + scale**2) * share + scale * ((low + loc) * at_a - (high + loc) * at_b)
    return (share, first, second)[power]


def gamma(power, low, high, shape, scale):
    low, high = (max(end, arb(0)) / scale for end in (low, high))
    return scale**power * (low.gamma_upper(shape + power) - high.gamma_upper(shape + power)) / shape.gamma()


FAMILIES = {"normal": (Normal, normal), "gamma": (Gamma, gamma)}


def moments(integral, pieces, *parameters):
    """Mean and variance by pieces of the line, each with what the variable is there: a point, or a sign of x."""
    sums = [arb(0), arb(0)]
    for start, end, value in pieces:
        for power in (1, 2):
            if isinstance(value, int):
                sums[power - 1] += value**power * integral(power, start, end, *parameters)
            else:
                sums[power - 1] += value**power * integral(0, start, end, *parameters)
    return [sums[0], sums[1] - sums[0] ** 2]


def pieces_of(wrapper, bounds):
    far = arb(500)
    if wrapper is folded:
        return [(-far, arb(0), -1), (arb(0), far, 1)]
    lower, upper = bounds
    return [(-far, lower, lower), (lower, upper, 1), (upper, far, upper)]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("wrapper", [censored, folded])
@pytest.mark.parametrize("seed", range(3))
def test_continuous_variables_and_their_slopes(name, wrapper, seed):
    """At random parameters and bounds, round ones too; slopes in all of these by differences of balls."""
    family, integral = FAMILIES[name]
    rng = np.random.default_rng(seed)
    given = [rng.choice([0.5, rng.uniform(0.6, 6.0)]), rng.choice([1.0, rng.uniform(0.3, 3.0)])]
    given += [given[0] - 0.5, given[0] + rng.uniform(0.1, 3.0)] if wrapper is censored else []
    leaves = [lazy(np.array(value)) for value in given]
    made = wrapper(family(*leaves[:2]), *leaves[2:])
    with ctx.workprec(600):

        def truth(*at):
            return moments(integral, pieces_of(wrapper, at[2:]), *at[:2])

        balls = [arb(value) for value in given]
        expected = [float(each) for each in truth(*balls)]
        slopes = []
        for place in range(len(given)):
            moved = [[at + side * STEP * (i == place) for i, at in enumerate(balls)] for side in (1, -1)]
            up, down = (truth(*each) for each in moved)
            slopes.append([float((a - b) / (2 * STEP)) for a, b in zip(up, down, strict=True)])
    for k, verb in enumerate((mean, variance)):
        value, partials = value_and_grad(verb(made), wrt=tuple(leaves))
        assert float(value) == pytest.approx(expected[k], rel=1e-11)
        largest = max(abs(each[k]) for each in slopes)
        np.testing.assert_allclose(partials, [each[k] for each in slopes], rtol=1e-9, atol=1e-10 * largest)


@pytest.mark.parametrize(("family", "oracle", "parameters"), [
    (Poisson, st.poisson.logpmf, (3.25,)), (Poisson, st.poisson.logpmf, (40.0,)),
    (Geometric, lambda k, p: k * np.log1p(-p) + np.log(p), (0.125,)),
])
@pytest.mark.parametrize("bounds", [(2, 5), (2.5, None), (None, 3.75), (0, 1), (-3, 200)])
def test_counts(family, oracle, parameters, bounds):
    """Bounds between whole numbers are values, too."""
    k = np.arange(2000.0)
    weights = np.exp(oracle(k, *parameters))
    values = np.clip(k, *bounds)
    expected = weights @ values
    made = censored(family(*parameters), *bounds)
    assert float(mean(made)) == pytest.approx(expected, rel=1e-12)
    assert float(variance(made)) == pytest.approx(weights @ (values - expected) ** 2, rel=1e-10, abs=1e-14)


def test_counts_of_either_sign():
    k, weights = np.arange(-400, 401), st.skellam.pmf(np.arange(-400, 401), 3.0, 4.5)
    for made, values in ((folded(Skellam(3.0, 4.5)), abs(k)), (censored(Skellam(3.0, 4.5), -2, 1), np.clip(k, -2, 1))):
        centre = weights @ values
        assert float(mean(made)) == pytest.approx(centre, rel=1e-11)
        assert float(variance(made)) == pytest.approx(weights @ (values - centre) ** 2, rel=1e-10)
    with pytest.raises(NotImplementedError, match="values, which are no whole numbers"):
        mean(folded(affine(Poisson(3.0), -2.5, 2.0)))


def test_arrays_of_bounds_some_infinite():
    lower, upper = np.array([-np.inf, -1.0, -np.inf, 50.0]), np.array([1.0, np.inf, np.inf, 60.0])
    made = censored(Laplace(0.25, 1.5), lower, upper)
    x = np.linspace(-70.0, 70.0, 2_800_001)
    weights = np.exp(-abs(x - 0.25) / 1.5) / 3.0 * (x[1] - x[0])
    for place, found in enumerate(np.asarray(mean(made))):
        assert found == pytest.approx(weights @ np.clip(x, lower[place], upper[place]), rel=1e-6)
    np.testing.assert_allclose(np.asarray(variance(made))[2], 4.5, rtol=1e-11)
    np.testing.assert_allclose(np.asarray(std(made)) ** 2, variance(made), rtol=1e-14)


@pytest.mark.parametrize(("made", "first", "second"), [
    (folded(Uniform(-1.0, 3.0)), 1.25, 2 + 1 / 3), (folded(Laplace(0.0, 2.0)), 2.0, 8.0),
    (folded(Exponential(2.0)), 2.0, 8.0), (folded(Beta(2.0, 3.0)), 0.4, 0.2),
    (censored(Uniform(0.0, 1.0), 2.0, 3.0), 2.0, 4.0), (censored(Uniform(0.0, 1.0), -3.0, -2.0), -2.0, 4.0),
    (censored(Uniform(0.0, 1.0), 0.5), 0.625, 0.5**3 + (1 - 0.5**3) / 3),
    (censored(Exponential(1.0), upper=1e-8), 1e-8 - 5e-17, 1e-16),
    (folded(StudentT(5.0, 0.0, 1.0)), 0.9490167245562365, 5 / 3),
])  # fmt: skip
def test_what_is_known(made, first, second):
    assert float(mean(made)) == pytest.approx(first, rel=1e-12)
    assert float(variance(made)) == pytest.approx(second - float(mean(made)) ** 2, rel=1e-8, abs=1e-15)


def test_where_all_is_at_a_bound_slopes_are_of_it_alone():
    bounds = np.array([2.0]), np.array([3.0])
    value, (of_lower, of_upper) = value_and_partials(mean(censored(Uniform(0.0, 1.0), *bounds)), bounds)
    assert (value[0], of_lower[0], of_upper[0]) == (2.0, 1.0, 0.0)


def test_there_is_none():
    assert not math.isfinite(float(mean(censored(Cauchy(0.0, 1.0), lower=0.0))))
    assert not math.isfinite(float(mean(folded(Cauchy(0.0, 1.0)))))
    with pytest.raises(NotImplementedError, match=r"mean of VonMises is not there, and folded\(VonMises\) needs it"):
        mean(folded(VonMises(0.3, 2.0)))


@pytest.mark.parametrize("wrapper", [lambda d: censored(d, np.float32(0.0)), folded])
def test_in_single_precision(wrapper):
    made = wrapper(Normal(np.float32(0.5), np.float32(1.0)))
    right = wrapper(Normal(0.5, 1.0)) if wrapper is folded else censored(Normal(0.5, 1.0), 0.0)
    assert np.asarray(variance(made)).dtype == np.float32
    assert float(variance(made)) == pytest.approx(float(variance(right)), rel=2e-6)
