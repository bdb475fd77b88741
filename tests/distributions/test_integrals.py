"""Distribution functions by integrals, far out in both tails, and quantiles found by search: against balls."""

import functools

import numpy as np
import pytest
from ball_formulas import normal_cdf
from family_integrals import INTEGRALS
from flint import arb, ctx

import vecdist
from vecdist.distributions import FAMILIES

pytestmark = pytest.mark.usefixtures("interpreter")
BITS, STEP = 700, arb(2) ** -160


def ex_gaussian(x, loc, s, rate):
    z, ratio = (x - loc) / s, rate * s
    return normal_cdf(z) - (ratio**2 / 2 - ratio * z).exp() * normal_cdf(z - ratio)


def inverse_gaussian(x, m, k):
    root = (k / x).sqrt()
    return normal_cdf(root * (x / m - 1)) + (2 * k / m).exp() * normal_cdf(-root * (x / m + 1))


CDF = INTEGRALS | {"ExGaussian": ex_gaussian, "InverseGaussian": inverse_gaussian}
POINTS = [
    ("NormalInverseGaussian", (0.0, 1.0, 0.3, 1.0), (-60.0, 0.1, 2.0)),
    ("NormalInverseGaussian", (0.5, 10.0, -9.0, 0.125), (-4.0, 0.5)),
    ("NormalInverseGaussian", (0.0, 2.0**-10, 2.0**-11, 2.0**-10), (-1e-3, 1.0, 1e5)),
    ("NormalInverseGaussian", (0.0, 1000.0, 0.0, 4.0), (-0.0625, 0.5)),
    ("SkewNormal", (0.0, 1.0, 2.0), (-6.0, -0.25, -1e-3, 0.0, 1.0, 12.0)),
    ("SkewNormal", (0.0, 1.0, -0.5), (-15.0, -0.25, 0.25, 8.0)),
    ("SkewNormal", (0.0, 1.0, 512.0), (-0.015625, -1e-4, 1e-4, 0.5, 10.0)),
    ("VonMises", (0.0, 0.0), (-3.0, -0.5, 2.0)),
    ("VonMises", (0.0, 0.5), (-3.125, -1e-3, 1.0, 3.0)),
    ("VonMises", (0.0, 100.0), (-3.0, -0.125, 0.5, 1.5)),
    ("VonMises", (0.0, 1e6), (-0.02, -1e-3, 1e-4, 0.02)),
]
ROWS = [(name, given, x) for name, given, points in POINTS for x in points]
SEARCHED = [
    ("ExGaussian", (0.0, 1.0, 0.01)), ("ExGaussian", (0.0, 1.0, 1.0)), ("ExGaussian", (0.0, 1.0, 100.0)),
    ("InverseGaussian", (1.0, 1e-4)), ("InverseGaussian", (1.0, 1.0)), ("InverseGaussian", (1.0, 1e4)),
    ("InverseGaussian", (np.inf, 2.0)), *((name, given) for name, given, _ in POINTS),
]


def log_tails(name, at):
    """The logarithms of the lower tail and of the upper one."""
    below = CDF[name](*at)
    return below.log(), (1 - below).log()


@functools.cache  # numbers that are floats of 32 bits are asked for twice
def true_tails(name, *given):
    """The logarithms of both tails, and their derivatives in each argument, by differences."""
    with ctx.workprec(BITS):
        at, slopes = [arb(value) for value in given], []
        for place, value in enumerate(given):
            if value == 0 and place == 2:
                slopes.append(None)  # a concentration of 0 has no other side
                continue
            step = STEP * (abs(at[place]) if value != 0 else 1)
            up, down = (log_tails(name, [*at[:place], at[place] + s, *at[place + 1 :]]) for s in (step, -step))
            slopes.append([float((above - below) / (2 * step)) for above, below in zip(up, down, strict=True)])
        return [float(tail) for tail in log_tails(name, at)], slopes


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize(("name", "given", "x"), ROWS)
def test_logarithms_and_their_slopes(name, given, x, dtype):
    """A tail is known as well as its logarithm, for both of them; a slope as well as one over its argument."""
    x, *given = (np.array([value], dtype) for value in (x, *given))
    at, kind = [float(value[0]) for value in (x, *given)], np.finfo(dtype)
    tails, slopes = true_tails(name, *at)
    steep = max(1.0, *map(abs, tails))
    for side, verb in enumerate((vecdist.logcdf, vecdist.logsf)):
        value, partials = vecdist.value_and_partials(verb(FAMILIES[name](*given), x), (x, *given))
        assert abs(value[0] - tails[side]) <= 8 * steep * kind.eps * abs(tails[side]) + kind.tiny
        for place, (partial, expected) in enumerate(zip(partials, slopes, strict=True)):
            if expected is not None:
                size = abs(expected[side]) + 1e-2 / (abs(at[place]) or 1.0)
                assert abs(partial[0] - expected[side]) <= 64 * steep * kind.eps * size, place


@pytest.mark.parametrize(("name", "given"), SEARCHED)
def test_quantiles_of_both_tails(name, given):
    """The logarithm of the tail at what was found, as exact as rounding leaves it."""
    family = FAMILIES[name](*(np.array(value) for value in given))
    lower = [1e-9, 0.1, 0.3] if name == "VonMises" else [1e-40, 1e-9, 0.1, 0.3]
    q = np.array([*lower, 0.5, *(1 - np.array([0.25, 2.0**-20, 2.0**-45]))])
    x, (slopes,) = vecdist.value_and_partials(vecdist.ppf(family, q), (q,))
    with ctx.workprec(BITS):
        for at, probability, slope in zip(x, q, slopes, strict=True):
            below = arb(float(probability))
            side, wanted = (0, below.log()) if probability <= 0.5 else (1, (1 - below).log())
            error = float(log_tails(name, [arb(float(v)) for v in (at, *given)])[side] - wanted)
            rounding = np.spacing(abs(at)) / (slope * float(wanted.exp()))
            assert abs(error) <= 2e-15 * (1 - float(wanted)) + 2 * rounding


def test_the_distribution_function_of_an_angle_is_that_of_one_turn():
    x = 0.5 + np.pi * np.array([-3.0, -1.01, 0.0, 1.01, 2.0])
    np.testing.assert_array_equal(vecdist.cdf(vecdist.distributions.VonMises(0.5, 2.0), x), [0.0, 0.0, 0.5, 1.0, 1.0])
    ends = np.asarray(vecdist.ppf(vecdist.distributions.VonMises(0.5, 2.0), np.array([0.0, 0.5, 1.0])))
    np.testing.assert_array_equal(ends, [0.5 - np.pi, 0.5, 0.5 + np.pi])
