"""Bounds on distributions, against SciPy, and against the same formulas in ball arithmetic."""

import math

import numpy as np
import pytest
import scipy.stats as st
from family_cases import EVERY_FAMILY, parameters_of, scipys
from flint import arb, ctx
from interpreting import by_interpreter

from vecdist import (
    affine,
    cdf,
    censored,
    discretised,
    interval_censored,
    logcdf,
    logpdf,
    logsf,
    ppf,
    sf,
    transformed,
    truncated,
    value_and_partials,
)
from vecdist.distributions import Cauchy, Exponential, Gamma, Gumbel, Logistic, LogNormal, Normal, Pareto, Rice, Weibull
from vecdist.verbs.tails_and_moments import FALLBACKS, stated


@pytest.fixture
def interpreter():
    """Values are computed by NumPy from the graph; checks of parameters are left out."""
    with by_interpreter():
        yield


interpreted = pytest.mark.usefixtures("interpreter")


def computed(lazy):
    return np.asarray(lazy)


TRUTH = {  # in balls: densities and distribution functions of a number and parameters
    Normal: (
        lambda x, m, s: (-(((x - m) / s) ** 2) / 2).exp() / s / (2 * arb.pi()).sqrt(),
        lambda x, m, s: (-(x - m) / s / arb(2).sqrt()).erfc() / 2,
    ),
    LogNormal: (
        lambda x, m, s: (-(((x.log() - m) / s) ** 2) / 2).exp() / s / x / (2 * arb.pi()).sqrt(),
        lambda x, m, s: (-(x.log() - m) / s / arb(2).sqrt()).erfc() / 2,
    ),
    Logistic: (
        lambda x, m, s: 1 / (((x - m) / s / 2).exp() + (-(x - m) / s / 2).exp()) ** 2 / s,
        lambda x, m, s: 1 / (1 + (-(x - m) / s).exp()),
    ),
    Cauchy: (
        lambda x, m, s: 1 / (1 + ((x - m) / s) ** 2) / s / arb.pi(),
        lambda x, m, s: ((x - m) / s).atan() / arb.pi() + arb(1) / 2,
    ),
    Weibull: (
        lambda x, k, s: k / s * (x / s) ** (k - 1) * (-((x / s) ** k)).exp(),
        lambda x, k, s: 1 - (-((x / s) ** k)).exp(),
    ),
    Gamma: (
        lambda x, a, s: (x / s) ** (a - 1) * (-x / s).exp() / s / a.gamma(),
        lambda x, a, s: 1 - (x / s).gamma_upper(a, regularized=1),
    ),
}


def truth(formula, *values):
    """A formula in balls and its derivative in each of ``values``, from differences far below all rounding."""
    with ctx.workprec(4000):
        exact = [arb(float(value)) if math.isfinite(value) else value for value in values]
        step = arb(2) ** -1000
        slopes = []
        for place, value in enumerate(exact):
            if isinstance(value, float):
                slopes.append(0.0)
                continue
            up, down = ([*exact[:place], value + h, *exact[place + 1 :]] for h in (step, -step))
            slopes.append(float((formula(*up) - formula(*down)) / (2 * step)))
        return float(formula(*exact)), slopes


def mass(family, lower, upper, *parameters):
    """P(lower < X < upper), where bounds may be infinite floats."""
    _, distribution = TRUTH[family]
    high = arb(1) if isinstance(upper, float) else distribution(upper, *parameters)
    return high - (arb(0) if isinstance(lower, float) else distribution(lower, *parameters))


def check_against(formula, lazy, places, arrays, rtol, slope_rtol):
    """Values and partial derivatives of an expression of arrays, element by element."""
    value, partials = value_and_partials(lazy, tuple(arrays))
    for place in np.ndindex(np.shape(places[0])):
        wanted, slopes = truth(formula, *(float(np.broadcast_to(each, places[0].shape)[place]) for each in places))
        np.testing.assert_allclose(value[place], wanted, rtol=rtol, atol=1e-300)
        found = [np.broadcast_to(partial, places[0].shape)[place] for partial in partials]
        cancelled = 1e-15 * max(1.0, *np.abs(slopes))
        np.testing.assert_allclose(found, slopes, rtol=slope_rtol, atol=cancelled)


# Bounds and a point between them: both ends, each end alone, in the middle and far away.
BETWEEN = {
    Normal: ((0.25, 2.0), [
        (-1.0, 0.5, 2.0), (-math.inf, 0.5, 2.0), (-1.0, 0.5, math.inf), (80.25, 80.5, math.inf), (80.25, 80.5, 82.0),
        (-math.inf, -80.5, -80.25), (-82.0, -80.5, -80.25), (-math.inf, 0.0, math.inf), (1.0, 1.0, 1.0 + 2.0**-30),
    ]),
    LogNormal: ((0.25, 0.5), [
        (0.5, 1.0, 3.0), (-math.inf, 1.0, 3.0), (4.0, 5.0, math.inf), (2.0**20, 2.0**20 + 1, math.inf),
        (2.0**-30, 2.0**-29, 2.0**-28),
    ]),
    Logistic: ((0.25, 1.5), [
        (-1.0, 0.5, 2.0), (-math.inf, 0.5, 2.0), (60.25, 60.5, math.inf), (300.0, 301.0, 302.0),
        (-902.0, -901.0, -900.0),
    ]),
    Cauchy: ((0.25, 1.5), [(-1.0, 0.5, 2.0), (1e8, 2e8, math.inf), (-4e8, -3e8, -1e8)]),
    Weibull: ((1.5, 2.0), [
        (0.5, 1.0, 2.0), (40.0, 41.0, math.inf), (40.0, 41.0, 42.0), (2.0**-40, 2.0**-39, 2.0**-38),
    ]),
    Gamma: ((2.5, 0.75), [(0.5, 1.0, 2.0), (60.0, 60.5, math.inf), (60.0, 60.5, 62.0), (2.0**-30, 2.0**-29, 2.0**-28)]),
}
families = pytest.mark.parametrize("family", BETWEEN, ids=lambda family: family.__name__)


def arrays_of(family):
    parameters, places = BETWEEN[family]
    lower, x, upper = (np.array(column) for column in zip(*places, strict=True))
    return [np.array(value) for value in parameters], lower, x, upper


@interpreted
@families
def test_truncated_is_the_density_over_the_mass_between_the_bounds(family):
    parameters, lower, x, upper = arrays_of(family)
    found = logpdf(truncated(family(*parameters), lower, upper), x)

    def formula(at, low, high, *rest):
        return (TRUTH[family][0](at, *rest) / mass(family, low, high, *rest)).log()

    check_against(formula, found, (x, lower, upper, *parameters), (x, lower, upper, *parameters), 1e-11, 2e-8)


@interpreted
@families
def test_the_tails_of_a_truncated_distribution(family):
    parameters, lower, x, upper = arrays_of(family)

    def below(at, low, high, *rest):
        return (mass(family, low, at, *rest) / mass(family, low, high, *rest)).log()

    def above(at, low, high, *rest):
        return (mass(family, at, high, *rest) / mass(family, low, high, *rest)).log()

    inside = x > lower  # at the bound itself the logarithm has no derivative
    places = (x[inside], lower[inside], upper[inside], *parameters)
    distribution = truncated(family(*parameters), places[1], places[2])
    check_against(below, logcdf(distribution, places[0]), places, places, 1e-10, 2e-8)
    check_against(above, logsf(distribution, places[0]), places, places, 1e-10, 2e-8)
    np.testing.assert_allclose(computed(cdf(distribution, places[0]) + sf(distribution, places[0])), 1.0, rtol=1e-10)


@interpreted
@families
def test_the_mass_of_an_interval(family):
    parameters, lower, x, upper = arrays_of(family)
    found = logpdf(interval_censored(family(*parameters), lower, upper), x)

    def formula(low, high, *rest):
        return mass(family, low, high, *rest).log()

    check_against(formula, found, (lower, upper, *parameters), (lower, upper, *parameters), 1e-10, 2e-8)
    outside = logpdf(interval_censored(family(*parameters), lower, upper), np.nextafter(upper, np.inf))
    assert (computed(outside)[np.isfinite(upper)] == -np.inf).all()


@interpreted
@families
def test_censored_has_the_mass_beyond_at_its_bounds(family):
    parameters, lower, x, upper = arrays_of(family)
    distribution = censored(family(*parameters), lower, upper)

    def at_lower(low, *rest):
        return mass(family, -math.inf, low, *rest).log()

    def at_upper(high, *rest):
        return mass(family, high, math.inf, *rest).log()

    for formula, bound in ((at_lower, lower), (at_upper, upper)):
        there = np.isfinite(bound)
        parts = censored(family(*parameters), lower[there], upper[there])
        places = (bound[there].copy(), *parameters)
        values, partials = value_and_partials(logpdf(parts, places[0]), tuple(parameters))
        wanted = [truth(formula, at, *map(float, parameters)) for at in bound[there].tolist()]
        np.testing.assert_allclose(values, [value for value, _ in wanted], rtol=1e-10)
        for k, partial in enumerate(partials):
            np.testing.assert_allclose(partial, [slopes[k + 1] for _, slopes in wanted], rtol=2e-8, atol=1e-13)
    inner = (lower < x) & (x < upper)
    np.testing.assert_array_equal(
        computed(logpdf(distribution, x))[inner], computed(logpdf(family(*parameters), x))[inner]
    )
    assert computed(cdf(distribution, upper)).tolist() == [1.0] * upper.size
    assert (computed(logpdf(distribution, np.nextafter(lower, -np.inf))) == -np.inf)[np.isfinite(lower)].all()


@interpreted
def test_a_truncated_normal_distribution_is_scipys():
    loc, scale, lower, upper = 0.5, 2.0, np.array([-1.0, 3.0, -np.inf, 20.0]), np.array([2.0, np.inf, -7.0, np.inf])
    distribution = truncated(Normal(loc, scale), lower, upper)
    oracle = st.truncnorm((lower - loc) / scale, (upper - loc) / scale, loc, scale)
    q = np.array([0.125, 0.5, 0.75, 0.99])
    x = computed(ppf(distribution, q))
    np.testing.assert_allclose(x, oracle.ppf(q), rtol=1e-11)
    np.testing.assert_allclose(computed(logpdf(distribution, x)), oracle.logpdf(x), rtol=1e-10)
    np.testing.assert_allclose(computed(cdf(distribution, x)), q, rtol=1e-10)
    assert computed(ppf(distribution, 0.0)).tolist() == lower.tolist()
    assert computed(ppf(distribution, 1.0)).tolist() == upper.tolist()


@interpreted
def test_quantiles_far_in_a_tail():
    """There is a quantile where it is known, and NaN where the family has none for its upper tail."""
    q = np.array([0.25, 0.5, 0.9])
    for far in (
        truncated(Normal(0.0, 1.0), lower=60.0),
        truncated(Normal(0.0, 1.0), upper=-60.0),
        truncated(LogNormal(0.0, 0.5), lower=1e12),
        truncated(affine(Normal(0.0, 1.0), 1.0, 2.0), lower=90.0),
        truncated(transformed(Normal(0.0, 1.0), "negative"), lower=60.0),
        truncated(Gamma(2.0, 1.0), lower=60.0),
        truncated(Exponential(2.0), lower=1e3),
        truncated(Weibull(0.5, 2.0), lower=1e6),
        truncated(Pareto(20.0, 2.0), lower=1e3),
        truncated(Gumbel(0.0, 1.0), lower=60.0),
    ):
        np.testing.assert_allclose(computed(cdf(far, ppf(far, q))), q, rtol=1e-8)
    assert np.isnan(computed(ppf(truncated(Rice(1.0, 1.0), lower=60.0), q))).all()
    near = truncated(Gamma(2.0, 1.0), lower=5.0)
    np.testing.assert_allclose(computed(cdf(near, ppf(near, q))), q, rtol=1e-12)


@interpreted
def test_discretised_has_the_mass_of_each_step():
    x, width, loc = np.array([0.3, -1.2, 12.1, -40.4, 40.1]), np.array(0.1), np.array(0.5)
    steps = np.rint(x / width)

    def formula(step, wide, where):
        return mass(Normal, step * wide, (step + 1) * wide, where, arb(1)).log()

    found = logpdf(discretised(Normal(loc, 1.0), width), x)
    value, partials = value_and_partials(found, (width, loc))
    for place, step in enumerate(steps):
        wanted, (_, *slopes) = truth(formula, step, 0.1, 0.5)
        np.testing.assert_allclose(value[place], wanted, rtol=1e-12)
        np.testing.assert_allclose([partial[place] for partial in partials], slopes, rtol=1e-10)
    assert (computed(logpdf(discretised(Normal(loc, 1.0), width), x + 0.05)) == -np.inf).all()


@interpreted
def test_bounds_that_are_absent_are_no_parameters():
    assert truncated(Normal(0.0, 1.0), -math.inf, math.inf).parameters.keys() == {"loc", "scale"}
    assert censored(Normal(0.0, 1.0), None, 2.0).parameters.keys() == {"loc", "scale", "upper"}
    x, loc = np.array([-1.0, 2.0]), np.array(0.5)
    for wrap in (truncated, censored):
        value, (slope,) = value_and_partials(logpdf(wrap(Normal(loc, 2.0)), x), (loc,))
        np.testing.assert_array_equal(value, computed(logpdf(Normal(loc, 2.0), x)))
        np.testing.assert_allclose(slope, (x - 0.5) / 4.0)


def those_with_tails():
    """Families with both tails that SciPy has, and no mass beside their density."""
    for family in EVERY_FAMILY:
        both = all((stated(family, name) or FALLBACKS[name](family)) is not None for name in ("log_cdf", "log_sf"))
        if both and family.oracle and not family.mixed:
            yield pytest.param(family, id=family.__name__)


@interpreted
@pytest.mark.parametrize("family", [*those_with_tails()])
def test_bounds_of_any_family(family):
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, size=4)
    distribution, oracle = family(*parameters), scipys(family, names, parameters)
    lower, x, upper = (oracle.ppf(q) for q in (0.3, 0.55, 0.8))
    lower = np.where(lower == upper, upper - 1.0, lower)
    before, beyond = (lower - 1.0, upper - 1.0) if family.discrete else (lower, upper)
    log_mass = np.log(oracle.cdf(upper) - oracle.cdf(before))
    found = {wrap: computed(logpdf(wrap(distribution, lower, upper), at))
             for wrap, at in ((truncated, x), (interval_censored, x), (censored, upper))}
    np.testing.assert_allclose(found[interval_censored], log_mass, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found[censored], np.log(oracle.sf(beyond)), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found[truncated] + log_mass, computed(logpdf(distribution, x)), rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@interpreted
@pytest.mark.parametrize("family", [*those_with_tails()])
def test_infinite_bounds_of_any_family_change_nothing(family):
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, size=4)
    distribution, x = family(*parameters), scipys(family, names, parameters).ppf(0.55)
    value, partials = value_and_partials(logpdf(distribution, x), tuple(parameters))
    lower, upper = np.full(4, -np.inf), np.full(4, np.inf)
    for wrap in (truncated, censored):
        wrapped = logpdf(wrap(distribution, lower, upper), x)
        found, (*slopes, of_lower, of_upper) = value_and_partials(wrapped, (*parameters, lower, upper))
        np.testing.assert_allclose(found, value, rtol=1e-13)
        np.testing.assert_allclose(slopes, partials, rtol=1e-12, atol=1e-14)
        assert not of_lower.any() and not of_upper.any()
