"""What may stand in users' functions: tables, loops, whole numbers, and the functions of math, NumPy and SciPy."""

import math

import numpy as np
import pytest
import scipy.special
from elementwise import X, each
from interpreting import by_interpreter

import vecdist

TABLE = (1.0, 2.5, -4.0)
LONG = np.sqrt(np.arange(100.0))
WHOLE = [3, 1, 4, 1, 5]


@pytest.fixture(autouse=True)
def _without_a_compiler():
    with by_interpreter():
        yield


@vecdist.function
def elements(k):
    return TABLE[k], LONG[k], WHOLE[k], (TABLE, TABLE[::-1])[1][k]


def test_tables_are_read_at_any_place():
    found = elements(np.array([0, 2, -1, -3, 3, -4]))
    inside = np.array([0, 2, -1, -3])
    np.testing.assert_array_equal(found[0], [*np.array(TABLE)[inside], np.nan, np.nan])
    np.testing.assert_array_equal(np.asarray(found[1])[:4], LONG[inside])
    np.testing.assert_array_equal(np.asarray(found[2])[:4], np.array(WHOLE)[inside])
    np.testing.assert_array_equal(found[3], [*np.array(TABLE)[::-1][inside], np.nan, np.nan])
    np.testing.assert_array_equal(elements(np.array([99, -100, 100, -101]))[1], [LONG[99], 0.0, np.nan, np.nan])


def test_tables_of_more_axes():
    grid = np.arange(6.0).reshape(2, 3)
    pick = vecdist.function(lambda i, j: grid[i, j] + grid[i][j])
    i, j = np.array([0, 1, 1]), np.array([2, 0, -1])
    np.testing.assert_array_equal(pick(i, j), 2 * grid[i, j])


def test_loops_walk_through_tables():
    @vecdist.function
    def polynomial(x):
        total = 0.0
        for place, factor in enumerate(LONG):
            if place > 60:
                break
            total = total * x + factor
        return total, place

    values, places = polynomial(X / 4)
    np.testing.assert_allclose(np.asarray(values), each(lambda x: polynomial(x)[0], X / 4), rtol=1e-13)
    assert np.all(np.asarray(places) == 61)


def test_comprehensions_over_what_is_known():
    @vecdist.function
    def polynomials(x):
        k = 10.0
        one = sum(c * x**k for k, c in enumerate(TABLE))
        other = sum([a * x + b for a in (1, 2) for b in TABLE if a < b])
        return one * k, other, max(abs(x - c) for c in TABLE)

    one, other, far = polynomials(X)
    np.testing.assert_allclose(np.asarray(one), 10 * np.polynomial.Polynomial(TABLE)(X), rtol=1e-14)
    np.testing.assert_allclose(np.asarray(other), 3 * X + 5, rtol=1e-14)
    np.testing.assert_array_equal(np.asarray(far), np.abs(X - np.array(TABLE)[:, None]).max(axis=0))


def integers(k, m):
    return (
        k // m, k % m, k // 4, k % 8, k // 3, (-1) ** k, k**3, k << 2, k >> 1, k & 3, k | 5, k ^ m, ~k, -k, abs(k),
        k + True, *divmod(k, m), max(*(k, m)), min(k, m, 1), k in (1, 2, 7), 1 < k < 8, not k, k or m, k and m,
        7 if k == m else k, bool(k), int(k), round(k), math.floor(k),
    )  # fmt: skip


def test_whole_numbers_are_those_of_python():
    k, m = (part.ravel() for part in np.meshgrid(np.arange(-9, 10), [-4, -1, 2, 3]))
    for found, wanted in zip(vecdist.function(integers)(k, m), each(integers, k, m).T, strict=True):
        assert found.dtype.kind in "bi"
        np.testing.assert_array_equal(np.asarray(found), wanted)


def mixed(x, k):
    return (
        k / 4, x // 0.7, x % 0.7, x // -0.7, x % -0.7, -7 // x, 7 % x, k * x, x**2, x**3, x**0, k**-2, 2.0**k, 2**k,
        x > k, x == k, x != k, x or k, x and k, float(k), int(x), round(x), math.floor(x), math.ceil(x), math.trunc(x),
        abs(x), max(x, k), min(x, 0.5, k), +x, -x, pow(x, 2), x if x > 0 else k, bool(x), k in (x, 1), sum((x, k)),
        any((x > 0, k)),
        all((x > 0, k)),
    )  # fmt: skip


def test_numbers_of_both_kinds():
    x = np.array([-2.5, -2.1, -0.5, 0.3, 1.5, 2.5])
    for place, found in enumerate(vecdist.function(mixed)(x, np.array([-3, 1, 2, -1, 4, 7]))):
        wanted = [mixed(*row)[place] for row in zip(x.tolist(), (-3, 1, 2, -1, 4, 7), strict=True)]
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15, err_msg=str(place))


OF_MATH = {
    "acos": (-0.7,), "acosh": (1.7,), "asin": (-0.7,), "asinh": (-2.0,), "atan": (-2.0,), "atan2": (-1.0, -2.0),
    "atanh": (0.3,), "cbrt": (-5.0,), "ceil": (-1.2,), "copysign": (2.0, -0.0), "cos": (2.0,), "cosh": (2.0,),
    "degrees": (2.0,), "erf": (0.4,), "erfc": (2.5,), "exp": (1.5,), "exp2": (1.5,), "expm1": (1e-5,), "fabs": (-2.0,),
    "floor": (-1.2,), "fmod": (-7.5, 2.0), "gamma": (-1.3,), "hypot": (3.0, 4.0, 12.0), "isclose": (1.0, 1.0 + 1e-10),
    "isfinite": (2.0,), "isinf": (-math.inf,), "isnan": (math.nan,), "ldexp": (0.7, 5), "lgamma": (-0.3,),
    "log": (8.0, 3.0), "log10": (5.0,), "log1p": (1e-5,), "log2": (5.0,), "pow": (2.0, 0.3), "radians": (2.0,),
    "sin": (2.0,), "sinh": (2.0,), "sqrt": (2.0,), "tan": (2.0,), "tanh": (0.3,), "trunc": (-1.7,),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATH)
def test_functions_of_math(name):
    function = getattr(math, name)
    found = vecdist.function(
        (lambda x: function(x), lambda x, y: function(x, y), lambda x, y, z: function(x, y, z))[len(OF_MATH[name]) - 1]
    )(*map(np.array, OF_MATH[name]))
    np.testing.assert_allclose(np.asarray(found), function(*OF_MATH[name]), rtol=1e-15)


ANGLES = [0.0, -0.0, 1.0, -2.0, 3.0, math.inf, -math.inf]


def test_angles_of_all_quadrants():
    y, x = (part.ravel() for part in np.meshgrid(ANGLES, ANGLES))
    found = np.asarray(vecdist.function(lambda y, x: math.atan2(y, x))(y, x))
    np.testing.assert_allclose(found, np.arctan2(y, x), rtol=3e-16)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.arctan2(y, x)))


def test_functions_of_numpy_and_scipy():
    from vecdist.primitives.elementary import softplus

    @vecdist.function
    def several(x):
        low = np.where(x > 0, np.log1p(np.abs(x)), -x)
        high = scipy.special.gammaln(x + 4) + scipy.special.loggamma(x + 5.0) + np.arctan2(x, 2)
        return low + np.clip(x, -1, 1) + np.maximum(x, 0) + scipy.special.expit(x), high, softplus(x)

    low, high, soft = several(X)
    wanted = np.where(X > 0, np.log1p(np.abs(X)), -X) + np.clip(X, -1, 1) + np.maximum(X, 0) + scipy.special.expit(X)
    np.testing.assert_allclose(np.asarray(low), wanted, rtol=1e-14)
    np.testing.assert_allclose(
        np.asarray(high), scipy.special.gammaln(X + 4) + scipy.special.gammaln(X + 5) + np.arctan2(X, 2), rtol=1e-13
    )
    np.testing.assert_allclose(np.asarray(soft), np.logaddexp(0, X), rtol=1e-14)


def test_the_first_of_equal_ones_and_nan_are_as_in_python():
    extremes = vecdist.function(lambda x, y: (max(x, y), min(x, y)))
    x, y = np.array([math.nan, 1.0, 0.0]), np.array([1.0, math.nan, -0.0])
    for found, plain in zip(extremes(x, y), (max, min), strict=True):
        np.testing.assert_array_equal(np.asarray(found), each(plain, x, y))
        np.testing.assert_array_equal(np.signbit(np.asarray(found)), np.signbit(each(plain, x, y)))
    _, slope = vecdist.value_and_partials(vecdist.function(lambda x: max(x, 0.0))(x), wrt=x)
    np.testing.assert_array_equal(slope, [1.0, 1.0, 1.0])


def test_an_element_that_takes_too_many_turns_is_nan():
    @vecdist.function(steps=50)
    def down(x):
        while x > 1:
            x = x - 1
        return x

    x = np.array([3.5, 40.5, 60.5, math.nan, math.inf])
    np.testing.assert_array_equal(down(x), [0.5, 0.5, math.nan, math.nan, math.nan])


def test_loops_stand_where_their_branch_is_taken():
    @vecdist.function(steps=100)
    def twice(x, n):
        if n > 0:
            while x > 1:  # without end where n is 0
                x = x - n
            return x
        return -x

    x, n = np.array([5.5, 2.0, 9.25]), np.array([2, 0, 3])
    np.testing.assert_array_equal(twice(x, n), each(twice, x, n))
