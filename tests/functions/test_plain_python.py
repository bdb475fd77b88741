"""Users' functions: what they take and give, and where they may be called."""

import linecache
import math
import pickle

import numpy as np
import pytest
import scipy.special
from elementwise import X, each
from interpreting import by_interpreter

import vecdist
from vecdist.constraints import real
from vecdist.distributions import Distribution, Normal, parametrisation
from vecdist.graph.node import Node, const

LONG = np.sqrt(np.arange(100.0))
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
