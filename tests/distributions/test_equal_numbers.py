"""Derivatives of log densities where numbers are equal or round: maxima, absolute values and choices are tied there.

The truth is in differences of balls, from either side: where both agree there is a derivative, and no side to be taken.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from family_cases import EVERY_WAY, WAY_IDS, density, way_of
from family_truth import true_density
from flint import arb, ctx

import vecdist
from vecdist.distributions import FAMILIES
from vecdist.graph.node import Node
from vecdist.parameters import positive
from vecdist.runtime.interpreter import interpret

POINTS = (0.0, 0.5, 1.0, 2.0, 3.0, 0.25)
POSITIVE, SHARES, COUNTS, REAL = (1.0, 0.5, 2.0), (0.5, 0.25, 0.75), (1.0, 2.0, 3.0), (0.0, 1.0, 0.5, -1.0, 2.0)
MOST = 8  # rows of each parametrisation
CLOSE = 1e-9
STEP = -100  # the logarithm to the base 2


def values_of(name, constraint):
    if name == "sd":
        return (*POSITIVE, 0.25)
    if constraint.lower == 0 and constraint.upper == 1:
        return SHARES
    return COUNTS if constraint.whole else POSITIVE if constraint.lower == 0 else REAL


def allowed(constraints, given):
    """Whether parameters are valid, by bounds that may depend on each other."""
    for name, constraint in constraints.items():
        own = constraint.among(SimpleNamespace(**given))
        low, high = (float(interpret([b], [], {})[0]) if isinstance(b, Node) else b for b in (own.lower, own.upper))
        inside = low <= given[name] <= high
        if not inside or (own.open_lower and given[name] == low) or (own.open_upper and given[name] == high):
            return False
    return True


def tied_rows(family, names):
    """Rows of x and parameters, and the partial derivatives there: parameters are equal, or x is one of them."""
    constraints = way_of(family, names).constraints
    given = [row for row in itertools.product(*(values_of(*item) for item in constraints.items()))
             if allowed(constraints, dict(zip(names, row, strict=True)))]
    rows = [(x, *row) for row in given for x in POINTS]
    by_parameters, by_x = (sorted(rows, key=of) for of in (lambda row: len(set(row[1:])), lambda row: len(set(row))))
    rows = np.array([*dict.fromkeys(itertools.chain(*zip(by_parameters, by_x, strict=True)))][: 4 * MOST])
    x, *parameters = (np.ascontiguousarray(column) for column in rows.T)
    value, partials = density(family, names, x, parameters)
    inside = np.flatnonzero(np.isfinite(value))[:MOST]
    return rows[inside], np.array(partials)[:, inside]


def slopes_of_balls(family, names, row):
    """The slopes to the right and to the left in each argument."""
    ctx.prec = 400
    at = [arb(float(number)) for number in row]

    def moved(place, step):
        x, *parameters = (number + step * (place == i) for i, number in enumerate(at))
        return true_density(family, names, x, parameters)

    step, middle = arb(2) ** STEP, moved(0, 0)
    return [[float((moved(i, way * step) - middle) / (way * step)) for way in (1, -1)] for i in range(len(at))]


@pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
def test_slopes_at_ties(interpreter, family, names):
    rows, partials = tied_rows(family, names)
    true = np.array([slopes_of_balls(family, names, row) for row in rows])
    right, left = true[..., 0].T, true[..., 1].T
    with np.errstate(invalid="ignore"):
        smooth = abs(right - left) <= CLOSE * (1 + abs(right))
    smooth[0] &= not family.discrete
    wrong = smooth & ~(abs(partials - right) <= CLOSE * (1 + abs(right)))
    found = [(f"d/d{('x', *names)[i]} at {rows[j]}", partials[i][j], right[i, j]) for i, j in np.argwhere(wrong)]
    assert not found
    assert smooth[1:].any() or family.__name__ == "Dirac"


MEAN = np.array([0.5, 1.0, 2.0, 10.2])
STEP_OF_FLOATS = 1e-5


def slopes_of_floats(function):
    """The slopes in the mean and in the dispersion where both are equal, by differences of both from either side."""
    sides = [[function(*(MEAN + way * STEP_OF_FLOATS * (place == i) for i in (0, 1))) for way in (1, -1)]
             for place in (0, 1)]
    return [(up - down) / (2 * STEP_OF_FLOATS) for up, down in sides]


NAMED = {
    "mean": vecdist.mean, "variance": vecdist.variance, "log_cdf": lambda d: vecdist.logcdf(d, 3.0),
    "log_sf": lambda d: vecdist.logsf(d, 3.0), "cdf": lambda d: vecdist.cdf(d, 1.0),
    "logpdf": lambda d: vecdist.logpdf(d, 3.0),
    "zero_inflated": lambda d: vecdist.logpdf(vecdist.zero_inflated(d, gate=0.25), 3.0),
    "hurdle": lambda d: vecdist.logpdf(vecdist.hurdle(d, gate=0.25), 3.0),
    "truncated": lambda d: vecdist.logpdf(vecdist.truncated(d, upper=4.0), 3.0),
}
WAYS = {
    "its own": lambda m, r: FAMILIES["NegativeBinomial"](mean=m, dispersion=r),
    "Stan's": lambda m, r: vecdist.from_stan("neg_binomial_2", m, r),
    "PyMC's": lambda m, r: vecdist.from_pymc("NegativeBinomial", mu=m, alpha=r),
    "NumPyro's": lambda m, r: vecdist.from_numpyro("NegativeBinomial2", m, r),
}


@pytest.mark.parametrize(("name", "way"), [
    *((name, "its own") for name in NAMED), *(("logpdf", way) for way in [*WAYS][1:]),
])
def test_slopes_of_a_negative_binomial_whose_mean_is_its_dispersion(interpreter, name, way):
    verb, make = NAMED[name], WAYS[way]
    mean, dispersion = MEAN.copy(), MEAN.copy()
    _, found = vecdist.value_and_partials(verb(make(mean, dispersion)), (mean, dispersion))
    wanted = slopes_of_floats(lambda m, r: np.asarray(verb(WAYS["its own"](m, r))))
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


def test_a_density_at_the_zero_vector_where_all_positive_parameters_are_one(uncompiled):
    """Each is 1 there: the gradient is that of differences."""
    seen = vecdist.data(np.array([0.0, 3.0, 1.0, 4.0]))

    def model(mu, phi):
        return vecdist.logpdf(FAMILIES["NegativeBinomial"](mean=mu, dispersion=phi), seen).sum()

    density = vecdist.LogDensity(model, mu=positive(), phi=positive())
    found = density.logdensity_and_gradient(np.zeros(2))[1]
    steps = STEP_OF_FLOATS * np.eye(2)
    wanted = [(density.logdensity(step) - density.logdensity(-step)) / (2 * STEP_OF_FLOATS) for step in steps]
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


BOUNDS = [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0), (0.5, 0.5)]  # of the location, and where x, or the bound, is


@pytest.mark.parametrize("name", ["cdf", "sf", "log_cdf", "log_sf"])
def test_slopes_of_truncated_tails_at_a_bound_are_those_from_inside(interpreter, name):
    """No half of them is lost to the bound that keeps probabilities below 1."""
    verb = {"cdf": vecdist.cdf, "sf": vecdist.sf, "log_cdf": vecdist.logcdf, "log_sf": vecdist.logsf}[name]
    for loc, bound in BOUNDS:
        x = np.array(bound)
        at_upper, at_lower = (
            vecdist.truncated(FAMILIES["Normal"](loc, 1.0), **{side: bound}) for side in ("upper", "lower")
        )
        for distribution, finite in ((at_upper, "cdf log_cdf sf"), (at_lower, "sf log_sf cdf")):
            if name in finite.split():
                density = np.exp(float(vecdist.logpdf(distribution, bound)))
                slope = vecdist.value_and_partials(verb(distribution, x), x)[1]
                np.testing.assert_allclose(abs(slope), density, rtol=1e-12)
