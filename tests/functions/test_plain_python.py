"""Users' functions: what they take and give, and where they may be called."""

import linecache
import math
import pickle

import numpy as np
import pytest
import scipy.special
from interpreting import by_interpreter

import vecdist
from vecdist.constraints import real
from vecdist.distributions import Distribution, Normal, parametrisation
from vecdist.graph.node import Node, const

TABLE = (1.0, 2.5, -4.0)
LONG = np.sqrt(np.arange(100.0))
WHOLE = [3, 1, 4, 1, 5]
SCALE = 2.0


@pytest.fixture(autouse=True)
def _without_a_compiler():
    with by_interpreter():
        yield


@vecdist.function
def huber(x, k=1.5):
    if abs(x) <= k:
        return x * x / 2
    return k * (abs(x) - k / 2)


@vecdist.function
def halvings(x):
    """How often x is halved until it is at most 1, and what is left."""
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return count, x


def each(function, *arrays):
    """A function of numbers, element by element."""
    return np.array([function(*row) for row in zip(*(np.asarray(array).tolist() for array in arrays), strict=True)])


X = np.array([-3.0, -0.25, 0.0, 0.5, 1.5, 4.0])


def test_numbers_give_what_the_plain_function_gives():
    assert huber(2.0) == 1.875 and isinstance(huber(2.0), float)
    assert huber(2) == 1.875 and halvings(9.0) == (4, 0.5625)
    assert isinstance(huber(np.float64(0.5)), np.float64)


def test_arrays_give_lazy_arrays():
    found = huber(X, k=1.0)
    assert isinstance(found, vecdist.LazyArray)
    np.testing.assert_array_equal(found, each(lambda x: huber(x, 1.0), X))
    np.testing.assert_array_equal(huber([1.0, 3.0]), [0.5, 3.375])


def test_arrays_broadcast():
    k = np.array([[0.5], [2.0]])
    found = huber(vecdist.lazy(X), k)
    assert found.shape == (2, 6)
    np.testing.assert_array_equal(found, [[huber(x, float(b)) for x in X.tolist()] for b in k.ravel()])
    with pytest.raises(ValueError, match=r"huber: the shapes \(6,\) and \(2,\) do not broadcast"):
        huber(X, np.ones(2))


def test_several_results_are_a_tuple_of_the_shape_of_all():
    count, left = halvings(np.array([[9.0], [0.5]]))
    assert (count.shape, count.dtype) == ((2, 1), np.int64)
    np.testing.assert_array_equal(np.asarray(count), [[4], [0]])
    np.testing.assert_array_equal(np.asarray(left), [[0.5625], [0.5]])
    one, first = vecdist.function(lambda x, y: (1, x))(X, np.ones((2, 1)))
    assert one.shape == first.shape == (2, 6) and np.all(np.asarray(one) == 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_have_the_dtype_of_the_arguments_that_are_floats(dtype):
    @vecdist.function
    def mean_of_powers(x, n):
        total = 0
        for k in range(n):
            total += x**k / (k + 1) * LONG[n] * math.exp(1)
        return total, n, total > 0

    x, n = np.array([0.5, 2.0], dtype), np.array([3, 40])
    floats, whole, test = mean_of_powers(x, n)
    assert (floats.dtype, whole.dtype, test.dtype) == (dtype, np.int64, bool)
    wanted = each(lambda *row: mean_of_powers(*row)[0], x, n)
    np.testing.assert_allclose(np.asarray(floats), wanted, rtol=1e-5 if dtype == np.float32 else 1e-13)


def test_python_floats_beside_arrays_do_not_widen_them_and_are_no_part_of_what_is_compiled():
    found = huber(X.astype(np.float32), 0.3)
    assert found.dtype == np.float32
    assert [node.attrs[0].array for node in leaves(found) if node.shape == ()] == [np.float32(0.3)]


def leaves(array):
    from vecdist.graph.node import topological

    return [node for node in topological((array.node,)) if node.op == "leaf"]


def test_whole_numbers_beside_arrays_are_known():
    @vecdist.function
    def power_sum(x, n, f):
        if n == 0:
            return f(x)
        return sum((x, x * x, x**3)[:n])

    np.testing.assert_allclose(power_sum(X, 2, math.cos), X + X * X)
    np.testing.assert_allclose(power_sum(X, 0, math.cos), np.cos(X))


def test_names_from_outside_are_those_of_now():
    scale = 3.0

    @vecdist.function
    def scaled(x):
        return x * scale * SCALE

    np.testing.assert_array_equal(scaled(X), X * 6)
    scale = 0.5
    np.testing.assert_array_equal(scaled(X), X)


def test_lambdas_are_found_by_their_columns():
    made = [
        lambda x: (x if x > 1 else -x), lambda x: x + 1,
        lambda x: each_of((lambda y: (y if y > 0 else y * x), half), x),
    ]  # fmt: skip
    for function in [*made, lambda x: (
        x * x if x > 0
        else x / 2
    )]:
        np.testing.assert_array_equal(vecdist.function(function)(X), each(function, X))


def half(x):
    return x / 2


def run_cell(text, place, scope):
    """Run text as a notebook runs a cell: its source is in memory alone."""
    name = f"/tmp/ipykernel_0/{place}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), scope)


def test_cells_of_a_notebook_run_again():
    scope = {"__name__": "cells", "vecdist": vecdist}
    for place, factor in enumerate((2, 2, 3)):
        run_cell(f"@vecdist.function\ndef scaled(x):\n    return x * {factor}", place, scope)
        np.testing.assert_array_equal(scope["scaled"](X), X * factor)
    with pytest.raises(TypeError, match=r"ipykernel_0/4.py:3, in scaled: scaled calls itself"):
        run_cell("@vecdist.function\ndef scaled(x):\n    return scaled(x)", 4, scope)


def each_of(functions, x):
    for function in functions:
        x = function(x)
    return x


def test_lambdas_of_one_line_are_told_apart():
    one, other = vecdist.function(lambda x: x + 1), vecdist.function(lambda x: each_of((lambda y: y * x, half), x))
    np.testing.assert_array_equal(one(X), X + 1)
    np.testing.assert_array_equal(other(X), X * X / 2)


def test_functions_of_numba_are_read():
    import numba

    @numba.njit
    def helper(x):
        return x * x

    np.testing.assert_array_equal(vecdist.function(lambda x: helper(x) + 1)(X), X * X + 1)
    np.testing.assert_array_equal(vecdist.function(helper)(X), X * X)


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


def test_slopes_of_functions_made_of_others():
    """Against their closed forms."""
    y, x = np.array([1.0, -2.0, 0.5, -0.1]), np.array([2.0, 0.3, -0.5, -3.0])
    square = x * x + y * y
    _, slopes = vecdist.value_and_partials(vecdist.function(lambda y, x: math.atan2(y, x))(y, x), wrt=(y, x))
    np.testing.assert_allclose(slopes, [x / square, -y / square], rtol=1e-14)
    _, slope = vecdist.value_and_partials(vecdist.function(math_cbrt)(x), wrt=x)
    np.testing.assert_allclose(slope, np.cbrt(x) / (3 * x), rtol=1e-14)
    value, slope = vecdist.value_and_partials(vecdist.function(lambda x: math.gamma(x))(x), wrt=x)
    np.testing.assert_allclose(value[:3], scipy.special.gamma(x[:3]), rtol=1e-14)
    np.testing.assert_allclose(slope[:3], (scipy.special.gamma(x) * scipy.special.psi(x))[:3], rtol=1e-13)


def math_cbrt(x):
    return math.cbrt(x)


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


def test_second_derivatives_through_loops():
    """x**n by products: n (n - 1) x**(n - 2)."""

    @vecdist.function
    def power(x, n):
        value = 1
        for _ in range(n):
            value *= x
        return value

    x, n = np.array([0.5, 2.0, 0.0]), np.array([5, 40, 2])
    found = vecdist.hvp(power(x, n).sum(), x, np.ones(3))
    np.testing.assert_allclose(found, n * (n - 1) * x ** (n - 2.0), rtol=1e-14)


class TestOwnDerivatives:
    x = np.array([0.5, 2.0])

    def test_of_one_value(self):
        lifted = vecdist.function(lambda x, k: x * k, partials=lambda x, k, out: (10 * math.sin(x) + out, None))
        k = np.array([3.0, 4.0])
        value, (slope, none) = vecdist.value_and_partials(lifted(self.x, k), wrt=(self.x, k))
        np.testing.assert_array_equal(value, self.x * k)
        np.testing.assert_allclose(slope, 10 * np.sin(self.x) + self.x * k)
        np.testing.assert_array_equal(none, 0)

    def test_second_derivatives_follow_from_the_rule(self):
        """That of ``out`` is the rule once more: f' = f + c x, so f'' = f + c x + c."""
        made = vecdist.function(lambda x, c: math.floor(x) * 1.0, partials=lambda x, c, out: (out + c * x, 0))
        found = vecdist.hvp(made(self.x, 3.0).sum(), self.x, np.ones(2))
        np.testing.assert_allclose(found, np.floor(self.x) + 3 * self.x + 3)

    def test_of_several_values(self):
        @vecdist.function(partials=lambda x, y, out: ((1.0, out[1]), (x, y)))
        def two(x, y):
            return x + y, x * y

        y = np.array([3.0, 5.0])
        first, second = two(self.x, y)
        np.testing.assert_array_equal(vecdist.value_and_partials(first, wrt=(self.x, y))[1], [[1, 1], self.x * y])
        np.testing.assert_array_equal(vecdist.value_and_partials(second, wrt=(self.x, y))[1], [self.x, y])

    def test_inside_loops_and_other_functions(self):
        step = vecdist.function(lambda x: float(round(x)), partials=lambda x, out: (2.0,))

        @vecdist.function
        def three(x):
            for _ in range(40):
                x = step(x)
                if x > 1:
                    break
                x = x + 1
            return x

        value, slope = vecdist.value_and_partials(three(self.x), wrt=self.x)
        np.testing.assert_array_equal(value, [2.0, 2.0])
        np.testing.assert_array_equal(slope, [8.0, 2.0])

    def test_a_row_has_a_number_for_each_argument(self):
        wrong = vecdist.function(lambda x, y: x * y, partials=lambda x, y, out: (y,))
        with pytest.raises(TypeError, match="partials gives 1 derivatives for 2 arguments"):
            wrong(self.x, self.x)


def test_a_function_in_a_family():
    class Huber(Distribution):
        @parametrisation(loc=real)
        @staticmethod
        def by_loc(loc):
            return {"loc": loc}

        @staticmethod
        def support(p):
            return real

        @staticmethod
        def log_density(x, p):
            return -huber(x - p.loc, 1.0)

    loc = np.array(0.3)
    value, slope = vecdist.value_and_grad(vecdist.logpdf(Huber(loc), X).sum(), wrt=loc)
    np.testing.assert_allclose(value, -each(lambda x: huber(x - 0.3, 1.0), X).sum())
    np.testing.assert_allclose(slope, np.clip(X - 0.3, -1, 1).sum())


def test_nodes_give_nodes():
    x = const(3.0)
    assert isinstance(huber(x), Node) and huber(x).dtype == np.float64
    with pytest.raises(TypeError, match="not both at once"):
        huber(x, X)


def test_it_is_pickled_by_name_and_what_it_gives_as_data():
    assert pickle.loads(pickle.dumps(huber)) is huber
    node = halvings(const(9.0))[0]
    assert pickle.loads(pickle.dumps(node)) is node


def test_it_says_what_it_is():
    assert repr(huber) == "<vecdist.function huber(x, k=1.5)>"
    assert halvings.__doc__ == "How often x is halved until it is at most 1, and what is left."


def test_priors_and_derivatives_of_a_model():
    target = vecdist.LogDensity(
        lambda theta: vecdist.logpdf(Normal(0.0, 1.0), theta) - huber(theta, 0.5), theta=vecdist.parameters.real()
    )
    value, slope = target.logdensity_and_gradient(np.array([2.0]))
    np.testing.assert_allclose(value, -2.0 - 0.5 * math.log(2 * math.pi) - 0.875)
    np.testing.assert_allclose(slope, [-2.5])
