"""What holds for every family: outside the support, for NaN, for invalid parameters, for integers."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from family_cases import EVERY_FAMILY, EVERY_WAY, WAY_IDS, density, parameters_of, points_of, scipys, way_of

from vecdist import InvalidParameter, logpdf, logpmf, value_and_grad
from vecdist.distributions import Binomial, Normal, Poisson, Uniform
from vecdist.runtime import pipeline

families = pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
ways = pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

ON_THE_WHOLE_LINE = {"Laplace", "Normal"}  # their formulas have the right limits at infinity


@dtypes
@ways
def test_outside_the_support(interpreter, family, names, dtype):
    parameters = parameters_of(family, names, dtype, size=4)
    lower, upper = (np.asarray(end, dtype) for end in scipys(family, names, parameters).support())
    outside = [lower - 1, upper + 1, lower - 1e6, np.full(4, -np.inf), np.full(4, np.inf)]
    if family.discrete:
        outside += [lower + 0.5, np.full(4, 0.25)]
    repeated = [np.tile(values, len(outside)) for values in parameters]
    value, partials = density(family, names, np.concatenate(outside).astype(dtype), repeated)
    np.testing.assert_array_equal(value, -np.inf)
    if family.__name__ in ON_THE_WHOLE_LINE:
        assert not np.isnan(partials).any()
    else:
        np.testing.assert_array_equal(partials, 0.0)


@dtypes
@ways
def test_nan_gives_nan(interpreter, family, names, dtype):
    parameters = parameters_of(family, names, dtype, size=4)
    value, _ = density(family, names, np.full(4, np.nan, dtype), parameters)
    assert np.isnan(value).all()


def invalid_values(constraint):
    """Values that a constraint excludes, whatever it is."""
    bad = [np.nan]
    if isinstance(constraint.lower, float) and math.isfinite(constraint.lower):
        bad += [constraint.lower - 1, -np.inf] + [constraint.lower] * constraint.open_lower
    if isinstance(constraint.upper, float) and math.isfinite(constraint.upper):
        bad += [constraint.upper + 1, np.inf] + [constraint.upper] * constraint.open_upper
    if constraint.whole:
        bad += [2.5, np.inf]
    if constraint.open_upper:
        bad += [np.inf]
    return bad


@ways
def test_invalid_parameters_are_named(interpreter, monkeypatch, family, names):
    parameters = parameters_of(family, names, size=3)
    x = points_of(family, names, parameters)
    every = []
    for place, (name, constraint) in enumerate(way_of(family, names).constraints.items()):
        for bad in invalid_values(constraint):
            broken = [values.copy() for values in parameters]
            broken[place][1] = bad
            with pytest.raises(InvalidParameter) as caught:
                density(family, names, x, broken)
            assert f"{family.__name__}: {name}[1] = " in str(caught.value)
            assert str(caught.value).endswith(f"wanted {constraint}")
            every.append(broken)
    monkeypatch.setattr(pipeline, "evaluate", partial(pipeline.evaluate, errors="nan"))  # the values beside them end
    density(family, names, np.tile(x, len(every)), list(np.concatenate(every, axis=1)))


def test_an_invalid_parameter_of_a_compiled_kernel():
    scale = np.array([[1.0, 2.0], [0.5, -3.0]])
    with pytest.raises(InvalidParameter, match=r"^Normal: scale\[1, 1\] = -3\.0 is invalid; wanted a finite positive"):
        np.asarray(logpdf(Normal(0.0, scale), 1.0))


@ways
def test_limits_of_parameters_are_no_nan(interpreter, family, names):
    """Each parameter at the ends of what its constraint allows."""
    parameters = parameters_of(family, names, size=4)
    x = points_of(family, names, parameters)
    for place, constraint in enumerate(way_of(family, names).constraints.values()):
        for bound, is_open in ((constraint.lower, constraint.open_lower), (constraint.upper, constraint.open_upper)):
            if is_open or (constraint.whole and bound == math.inf):
                continue
            given = SimpleNamespace(**dict(zip(names, parameters, strict=True)))
            end = bound(given) if callable(bound) else bound
            at_end = [np.full(4, end) if i == place else values for i, values in enumerate(parameters)]
            try:
                value, partials = density(family, names, x, at_end)
            except InvalidParameter as error:  # the end is no end for a parameter whose bounds this one sets
                if f": {names[place]}[" in str(error):
                    raise
                continue
            assert not np.isnan(value).any(), f"{names[place]} = {end}"
            assert not np.isnan(partials[1:]).any(), f"{names[place]} = {end}"


@pytest.mark.parametrize("given", [np.int64, np.int8, np.bool_, np.uint16])
def test_integers_are_data(interpreter, given):
    counts = np.array([0, 1, 1, 0], given)
    as_floats = np.asarray(logpmf(Poisson(2.5), counts.astype(float)))
    np.testing.assert_array_equal(np.asarray(logpmf(Poisson(2.5), counts)), as_floats)
    assert logpmf(Poisson(np.float32(2.5) * np.ones(4, np.float32)), counts).dtype == np.float32


def test_integer_parameters(interpreter):
    n = np.array([3, 5, 0])
    found = np.asarray(logpmf(Binomial(n, 0.25), np.array([4, 5, 0])))
    np.testing.assert_allclose(found, [-np.inf, 5 * math.log(0.25), 0.0], rtol=1e-15)


def test_bounds_that_are_no_constants_broadcast(interpreter):
    low, high = np.array([[0.0], [1.0]]), np.array([2.0, 4.0, 6.0])
    found = np.asarray(logpdf(Uniform(low, high), 3.0))
    inside = (low <= 3.0) & (high >= 3.0)
    np.testing.assert_allclose(found, np.where(inside, -np.log(high - low), -np.inf), rtol=1e-15)


def test_a_sum_over_points_outside_has_the_gradient_of_those_inside(interpreter):
    rate = np.array(2.0)
    inside, mixed = np.array([1.0, 3.0]), np.array([1.0, -1.0, 3.0, 2.5, np.inf])
    _, expected = value_and_grad(logpmf(Poisson(rate), inside).sum(), rate)
    value, found = value_and_grad(logpmf(Poisson(rate), mixed).sum(), rate)
    assert value == -np.inf and found == expected == 0.0


@families
def test_parametrisations_differ_in_their_names(family):
    names = [frozenset(way.names) for way in family.parametrisations]
    assert len(set(names)) == len(names)
