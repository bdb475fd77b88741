"""Primitives as users define and call them: on arrays, again and again, with derivatives or without."""

import math
import re
from unittest import mock

import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import special

from vecdist import LazyArray, hessian, lazy, value_and_grad, value_and_partials, vjp
from vecdist.graph.node import Node, const
from vecdist.primitives import PRIMITIVES, flat, primitive
from vecdist.primitives.portable import check_routine

X = np.array([0.5, 2.0])


@pytest.fixture(autouse=True)
def own_table():
    """What these tests define, no other test finds."""
    with mock.patch.dict(PRIMITIVES):
        yield


def cube_of(name="tests_cube"):
    return primitive(name, expand=lambda x: x * x * x, partials=lambda x, out: (3.0 * x * x,), floating=True)


def total_and_slope(entry, array):
    return value_and_grad(entry(array).sum(), wrt=array)


def test_it_is_called_on_arrays_as_on_nodes():
    cube = cube_of()
    with by_interpreter():
        for x in (X, lazy(X), X.tolist(), np.array([1, 2]), np.float32(2.0), lazy(2.0)):
            found = cube(x)
            assert isinstance(found, LazyArray)
            np.testing.assert_array_equal(found, np.asarray(x) ** 3)
        value, slope = total_and_slope(cube, X)
    assert value == (X**3).sum() and slope.tolist() == (3 * X**2).tolist()
    assert isinstance(cube(const(2.0)), Node)
    with pytest.raises(TypeError, match=r"takes nodes.*or arrays"):
        primitive("tests_product", 2, expand=lambda x, y: x * y)(const(2.0), X)


def test_arrays_and_numbers_broadcast_and_are_promoted_together():
    ratio = primitive("tests_ratio", 2, expand=lambda x, y: x / y, partials=lambda x, y, out: (1 / y, -out / y),
                      floating=True)
    with by_interpreter():
        assert ratio(X[:, None], lazy(X)).shape == (2, 2)
        assert ratio(X.astype("f4"), 2.0).dtype == np.float32
        np.testing.assert_array_equal(ratio(np.array([1, 2]), 4), [0.25, 0.5])
    with pytest.raises(ValueError, match=r"tests_ratio: the shapes \(2,\) and \(3,\) do not broadcast"):
        ratio(X, np.ones(3))
    with pytest.raises(TypeError, match="takes 2 arguments, 1 were given"):
        ratio(X)


def test_one_without_derivatives_has_none_rather_than_zero(uncompiled):
    def routine(x):
        return x * x

    bare = primitive("tests_bare", routine=routine, floating=True)
    step = primitive("tests_step", expand=lambda x: x * 0.0, partials=flat, floating=True)
    np.testing.assert_array_equal(bare(X), X**2)
    for derivative in (lambda: value_and_grad(bare(X).sum(), wrt=X), lambda: value_and_partials(bare(X), wrt=X),
                       lambda: vjp(bare(lazy(X)) * 2.0, X, np.ones(2))):
        with pytest.raises(NotImplementedError, match=r"tests_bare has no derivatives.*partials="):
            derivative()
    assert total_and_slope(step, X)[1].tolist() == [0.0, 0.0]


def test_its_second_derivative_is_that_of_its_partials():
    inner = primitive("tests_slope", expand=lambda x: 2.0 * x, floating=True)
    outer = primitive("tests_square", expand=lambda x: x * x, partials=lambda x, out: (inner(x),), floating=True)
    x = np.array(3.0)
    with by_interpreter():
        assert value_and_grad(outer(x), wrt=x)[1] == 6.0
        with pytest.raises(NotImplementedError, match="tests_slope has no derivatives"):
            hessian(outer(x), wrt=x)


def test_defined_again_it_is_another(uncompiled):
    """What was compiled of the first, routine or not, is not used for the second; what was made of it stays."""
    found = []
    for factor in (2.0, 5.0):
        scaled = primitive("tests_scaled", expand=lambda x, factor=factor: factor * x,
                           partials=lambda x, out, factor=factor: (factor,), floating=True)
        found.append((scaled, scaled(X)))
        value, slope = total_and_slope(scaled, X)
        assert value == factor * X.sum() and slope.tolist() == [factor, factor]
    assert [entry.name for entry, _ in found] == ["tests_scaled", "tests_scaled_2"]
    assert np.asarray(found[0][1]).tolist() == (2.0 * X).tolist()


def first(x):
    return 2.0 * x


def second(x):
    return 5.0 * x


def test_a_routine_defined_again_is_another(uncompiled):
    for routine in (first, second):
        np.testing.assert_array_equal(primitive("tests_routine", routine=routine, floating=True)(X), routine(X))


def test_what_vecdist_has_is_not_replaced():
    for name in ("exp", "where", "maximum"):
        with pytest.raises(ValueError, match=f"'{name}' is in the table already, by vecdist"):
            primitive(name, expand=lambda x: x)
    assert not [op for op, entry in PRIMITIVES.items() if entry.module.startswith("vecdist")
                and re.sub(r"_\d+$", "", op) in PRIMITIVES and re.search(r"_\d+$", op)]


FROM_OUTSIDE, TABLE = [1.0, 2.0], (1.0, 2.0)
sqrt = np.sqrt


def helped(x):
    return 1.0 + by_numpy(x)


def by_numpy(x):
    return np.sqrt(x)


def by_alias(x):
    return sqrt(x)


def by_constant(x):
    return x * np.pi


def by_scipy(x):
    return special.gammaln(x)


def by_where(x):
    return np.where(x > 0.0, x, 0.0)


def by_list(x):
    both = [x, 2.0 * x]
    return both[0]


def by_comprehension(x):
    return sum([x * each for each in (1.0, 2.0)])


def by_dict(x):
    return {True: x, False: -x}[x > 0.0]


def by_table(x):
    return x * FROM_OUTSIDE[1]


def factorial(x):
    return x * factorial(x - 1.0) if x > 1.0 else 1.0


def there(x):
    return 1.0 + back(x)


def back(x):
    return there(x - 1.0) if x > 0.0 else 0.0


def around(table):
    def routine(x):
        return x * table[0]

    return routine


@pytest.mark.parametrize(("routine", "message"), [
    (by_numpy, r"uses np\.sqrt, which kernels of GPUs do not know; write math\.sqrt"),
    (helped, r"uses np\.sqrt, .* write math\.sqrt"),
    (by_alias, r"uses sqrt, .* write math\.sqrt"),
    (by_constant, r"uses np\.pi, .* write math\.pi"),
    (by_scipy, r"uses special\.gammaln, .* write functions of math"),
    (by_where, r"uses np\.where, .* write functions of math"),
    (by_list, "makes a list, .* write numbers, or a tuple"),
    (by_comprehension, "makes a list"),
    (by_dict, "makes a dict"),
    (by_table, "reads FROM_OUTSIDE, of type list; make it a tuple of numbers"),
    (around(np.ones(1)), "reads table, of type ndarray; make it a tuple"),
    (factorial, "calls factorial from factorial itself; write a loop"),
    (there, "calls there from there itself; write a loop"),
    (lambda x: x * x, "is a lambda, .* write it with def"),
], ids=lambda case: getattr(case, "__name__", ""))
def test_a_routine_for_the_cpu_alone_is_refused_where_it_is_defined(routine, message):
    with pytest.raises(ValueError, match=f"primitive 'tests_refused': its routine {message}"):
        primitive("tests_refused", routine=routine, floating=True)
    assert "tests_refused" not in PRIMITIVES


def by_math(x):
    """The name of NumPy's function around it is not what this one calls."""
    total = 0.0
    for each in TABLE:
        total = total + math.sqrt(x * each)
    return first(total) if x > 0.0 else abs(min(x, math.pi))


@pytest.mark.parametrize("name", [name for name, entry in PRIMITIVES.items() if entry.routine])
def test_our_routines_are_for_every_device(name):
    check_routine(name, PRIMITIVES[name].routine)


def test_a_routine_of_portable_words_is_taken(uncompiled):
    found = primitive("tests_portable", routine=by_math, floating=True)(X)
    np.testing.assert_array_equal(found, [by_math(x) for x in X])
