"""Every family in every parametrisation against SciPy, ball arithmetic and the integral of its own density."""

import itertools

import numpy as np
import pytest
from family_cases import (
    DEFECTIVE,
    EVERY_FAMILY,
    EVERY_WAY,
    WAY_IDS,
    density,
    integration,
    parameters_of,
    points_of,
    scipys,
    way_of,
)
from family_truth import truths

from vecdist import logpdf
from vecdist.distributions import NegativeBinomial, StudentT

UNITS = 100  # in the last place, of the largest of: the number itself, 1, and for a derivative 1 / parameter

families = pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
ways = pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def assert_true(family, names, x, parameters):
    """The value and every partial derivative are those of ball arithmetic, and of the dtype of the arguments."""
    value, slopes = density(family, names, x, parameters)
    true_value, true_slopes = truths(family, names, x, parameters)
    close(value, true_value, 1.0, "value")
    triples = list(zip(("x", *names), (x, *parameters), slopes, true_slopes, strict=True))
    for name, at, partial, true in triples[1:] if family.discrete else triples:
        with np.errstate(divide="ignore"):
            close(partial, true, np.maximum(1.0, np.where(at == 0, 1.0, 1.0 / abs(at))), f"d/d{name}")
    assert {array.dtype for array in (value, *slopes)} == {x.dtype}


def close(found, true, scale, what):
    bound = UNITS * np.finfo(found.dtype).eps * np.maximum(abs(true), scale)
    worst = np.argmax(abs(found - true) / bound)
    assert (abs(found - true) <= bound).all(), f"{what}[{worst}]: {found[worst]!r}, not {true[worst]!r}"


@dtypes
@ways
def test_value_and_partials(interpreter, family, names, dtype):
    parameters = parameters_of(family, names, dtype)
    assert_true(family, names, points_of(family, names, parameters), parameters)


def check_kernel(family, dtype):
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, dtype)
    assert_true(family, names, points_of(family, names, parameters), parameters)


@pytest.mark.parametrize(("family", "dtype"), [*zip(EVERY_FAMILY, itertools.cycle((np.float64, np.float32)))])
def test_value_and_partials_of_the_kernel(uncompiled, family, dtype):
    """In one format each: the interpreter has them in both."""
    check_kernel(family, dtype)


EVERY_DAY = [(NegativeBinomial, np.float64), (StudentT, np.float32)]  # with special functions, in either format
COMPILED = [each for each in zip(EVERY_FAMILY, itertools.cycle((np.float64, np.float32))) if each not in EVERY_DAY]


@pytest.mark.parametrize(("family", "dtype"), [
    *EVERY_DAY, *(pytest.param(*case, marks=pytest.mark.slow) for case in COMPILED),
])
def test_value_and_partials_of_the_compiled_kernel(family, dtype):
    check_kernel(family, dtype)


@ways
def test_log_density_is_scipys(interpreter, family, names):
    parameters = parameters_of(family, names)
    x = points_of(family, names, parameters)
    oracle = scipys(family, names, parameters)
    expected = oracle.logpmf(x) if family.discrete else oracle.logpdf(x)
    found = np.asarray(logpdf(family(**dict(zip(names, parameters, strict=True))), x))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("family", [f for f in EVERY_FAMILY if f.__name__ != "Arcsine"], ids=lambda f: f.__name__)
def test_density_integrates_to_one(interpreter, family):
    """Not of the arcsine distribution, whose mass lies where floats cannot tell x from an end."""
    parameters, x, weights = integration(family)
    total = (np.exp(np.asarray(logpdf(family(**parameters), x))) * weights).sum(axis=0)
    share = DEFECTIVE[family.__name__](parameters) if family.__name__ in DEFECTIVE else 1.0
    np.testing.assert_allclose(total, share, rtol=1e-8)


@ways
def test_parameters_broadcast(interpreter, family, names):
    parameters = parameters_of(family, names, size=3)
    x = points_of(family, names, parameters)
    rows = family(**{name: values[:, None] for name, values in zip(names, parameters, strict=True)})
    found = np.asarray(logpdf(rows, x))
    assert found.shape == (3, 3)
    alone = np.asarray(logpdf(family(**dict(zip(names, parameters, strict=True))), x))
    np.testing.assert_array_equal(np.diagonal(found), alone)


@ways
def test_float32_parameters_keep_a_float32_density(interpreter, family, names):
    parameters = parameters_of(family, names, np.float32)
    x = points_of(family, names, parameters)
    counts = x.astype(np.int64) if family.discrete else x
    lp = logpdf(family(**dict(zip(names, parameters, strict=True))), counts)
    assert lp.dtype == np.float32
    assert np.asarray(lp).dtype == np.float32


@families
def test_every_parameter_is_described(family):
    for names in (way.names for way in family.parametrisations):
        way = way_of(family, names)
        assert all(str(constraint) for constraint in way.constraints.values())
        assert "\n" in (family.__doc__ or "") and all(name in family.__doc__ for name in names)
