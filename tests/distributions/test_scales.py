"""Densities at any scale, next to 0 and far out: those at a scale of 1, though the scale squared be no number."""

import numpy as np
import pytest
from family_cases import EVERY_FAMILY
from limits import round_parameters

from vecdist import logcdf, logpdf, value_and_partials
from vecdist.distributions import (
    Cauchy,
    ExGaussian,
    Frechet,
    GeneralizedNormal,
    HalfStudentT,
    Levy,
    LogLogistic,
    Normal,
    RelaxedBernoulli,
    SkewedExponentialPower,
    StudentT,
    Weibull,
)

OF_LOGARITHM = {"HurdleLogNormal", "LogNormal", "LogitNormal"}  # loc and scale are those of a logarithm
OF_ROOT = {"ScaledInverseChi2"}  # the scale is that of the square root of x
SCALED = [
    f for f in EVERY_FAMILY
    if "scale" in f.parametrisations[0].names and not f.discrete and f.__name__ not in OF_LOGARITHM | OF_ROOT
]  # fmt: skip
LENGTHS = {"loc": 1, "scale": 1, "low": 1, "high": 1, "nu": 1, "rate": -1}  # the power of a length that each is
# Those that have not yet all slopes: a distance or a scale squared is none.
LATE = {"Rice"}
SCALES = (-1000, -600, -300, 300, 600, 1000)


def rows_of(family):
    """Exponents of z and of the scale, signs of z, and the parameters at a scale of 1."""
    sums = [(z, s) for z in range(-1070, 1500, 171) for s in SCALES if -1074 <= z + s <= 1023]
    steps = [(*both, sign) for both in sums for sign in (1, -1)]
    z, scale, sign = (np.tile(column, 2) for column in np.array(steps).T)
    half = len(steps)
    unit = {name: np.repeat(values[[0, 1]], half) for name, values in round_parameters(family).items()}
    unit |= {"scale": np.ones(2 * half)} | ({"loc": np.zeros(2 * half)} if "loc" in unit else {})
    return z, scale, sign, unit


def log_densities(family, x, parameters):
    value, partials = value_and_partials(logpdf(family(**parameters), x), (x, *parameters.values()))
    return value, dict(zip(("x", *parameters), partials, strict=True))


def marks(family):
    return [pytest.mark.xfail(strict=True)] if family.__name__ in LATE else []


@pytest.mark.parametrize("family", [pytest.param(f, marks=marks(f), id=f.__name__) for f in SCALED])
def test_densities_at_any_scale(interpreter, family):
    z, scale, sign, unit = rows_of(family)
    powers = {"x": 1} | {name: LENGTHS.get(name, 0) for name in unit}
    given = {name: np.ldexp(values, scale * powers[name]) for name, values in unit.items()}
    value, slopes = log_densities(family, np.ldexp(1.0 * sign, z + scale), given)
    assert not np.isnan([value, *slopes.values()]).any()
    known = abs(z) < 1000
    at_one, of_one = log_densities(family, np.ldexp(1.0 * sign, np.clip(z, -999, 999)), unit)
    told = known & np.isfinite(at_one)
    np.testing.assert_array_equal(value[known & ~told], at_one[known & ~told])
    expected = at_one[told] - scale[told] * np.log(2.0)
    assert (abs(value[told] - expected) <= 1e-12 + 1e-15 * (abs(scale[told]) + abs(at_one[told]))).all()
    for name, found in slopes.items():
        told = known & np.isfinite(of_one[name]) & (abs(of_one[name]) > 1e-150)
        with np.errstate(over="ignore", under="ignore"):
            expected = np.ldexp(of_one[name], -scale * powers[name])[told]
        np.testing.assert_allclose(found[told], expected, rtol=1e-11, atol=5e-324, err_msg=name)


LEAST, MOST = 5e-324, np.finfo(np.float64).max
# Slopes in closed form: the verb, the distribution, x, and the partials in x and in each parameter.
EXACT = [
    (logpdf, Weibull, (1.0, 2.0), LEAST, (-0.5,)),
    (logpdf, Weibull, (1.0, 1e200), 1e-150, (-1e-200,)),
    (logpdf, Weibull, (2.0, 1.0), LEAST, (np.inf,)),
    (logpdf, Weibull, (9.0, 1.0), 2.0**-1022, (np.inf,)),
    (logpdf, Weibull, (1.25, 1.0), 2.0**-1022, (2.0**1020,)),
    (logpdf, Frechet, (3.0, 1.0), LEAST, (np.inf,)),
    (logpdf, Frechet, (9.0, 2.0**-1000), 2.0**1000, (-10.0 * 2.0**-1000,)),
    (logpdf, Levy, (0.0, 1.0), LEAST, (np.inf, -np.inf)),
    (logpdf, GeneralizedNormal, (0.0, 2.0, 1.0), LEAST, (-0.5, 0.5, -0.5)),
    (logpdf, GeneralizedNormal, (0.0, 1e100, 1.0), 1e-250, (-1e-100, 1e-100, -1e-100)),
    (logpdf, GeneralizedNormal, (0.0, 2.0, 2.0), -1e-200, (5e-201, -5e-201, -0.5)),
    (logpdf, GeneralizedNormal, (0.0, 1.0, 0.5), 1e-320, (-0.5 / np.sqrt(1e-320), 0.5 / np.sqrt(1e-320), -1.0)),
    (logpdf, SkewedExponentialPower, (0.0, 2.0, 1.0, 0.25), -LEAST, (1.0, -1.0, -0.5)),
    (logpdf, SkewedExponentialPower, (0.0, 1.0, 2.0, 0.5), 1e-200, (-1e-200, 1e-200, -1.0)),
    (logpdf, LogLogistic, (2.0, 1.0), LEAST, (-1.0, -0.5)),
    (logpdf, LogLogistic, (1e200, 1.0), 1e-150, (-2e-200, -1e-200)),
    (logpdf, LogLogistic, (1.0, 2.0), LEAST, (np.inf, -2.0)),
    (logpdf, RelaxedBernoulli, (1.0, 0.25), LEAST, (-4.0,)),
    (logpdf, RelaxedBernoulli, (2.0, 0.25), LEAST, (np.inf,)),
    (logpdf, RelaxedBernoulli, (9.0, 0.25), 2.0**-1022, (np.inf,)),
    (logpdf, RelaxedBernoulli, (1.25, 0.25), 2.0**-1022, (2.0**1020,)),
    (logpdf, LogLogistic, (1.0, 9.0), 2.0**-1022, (np.inf,)),
    (logpdf, ExGaussian, (0.0, 0.5, 0.5), -MOST, (np.inf, -np.inf, np.inf, 2.0)),
    (logpdf, ExGaussian, (0.0, 0.5, 0.5), MOST, (-0.5, 0.5, 0.125, -MOST)),
    (logcdf, ExGaussian, (0.0, 0.5, 0.5), -MOST, (np.inf, -np.inf, np.inf, 2.0)),
    (logcdf, ExGaussian, (0.0, 1.0, 1e-20), -1e150, (1e150, -1e150, 1e300, 1e20)),
    (logpdf, Cauchy, (0.0, 1e-300), 1e300, (-2e-300, 2e-300, 1e300)),
    (logpdf, Normal, (0.0, 1e-200), 1e-230, (-1e170, 1e170, -1e200)),
]


@pytest.mark.parametrize("case", EXACT, ids=lambda case: f"{case[0].__name__}-{case[1].__name__}-{case[2]}-{case[3]:g}")
def test_exact_slopes(interpreter, case):
    verb, family, parameters, x, expected = case
    at = [np.array([value]) for value in (x, *parameters)]
    value, found = value_and_partials(verb(family(*at[1:]), at[0]), at)
    assert not np.isnan([value, *found]).any()
    np.testing.assert_allclose([slope[0] for slope in found][: len(expected)], expected, rtol=1e-12)


@pytest.mark.parametrize("given", [(StudentT, {"loc": 0.0}), (HalfStudentT, {})], ids=["StudentT", "HalfStudentT"])
def test_slopes_in_a_precision(interpreter, given):
    family, more = given
    x, precision, df = np.array([[1.0, 1e80, 1.0], [2.0, 0.25, 3.0], [3e-150, 1e300, 2.0], [1.0, 1e-300, 1.0]]).T.copy()
    _, (found,) = value_and_partials(logpdf(family(df=df, precision=precision, **more), x), (precision,))
    u = x * x * precision / df
    np.testing.assert_allclose(found, (0.5 - (0.5 * df + 0.5) * (u / (1.0 + u))) / precision, rtol=1e-12)
