"""What cannot be made into a graph for the arguments at hand is refused with place and reason when it is called."""

import math

import numpy as np
import pytest
from interpreting import by_interpreter
from marked import place_of

import vecdist
from vecdist.primitives import primitive


def no_return(x):  # noqa: RET503
    if x > 0:
        return x


def two_kinds(x):
    return (x, x) if x > 0 else x


def no_value(x):
    if x > 0:
        y = 1.0
    return y  # here


def no_value_in_a_loop(x):
    while x > 1:
        y = x
        x = x / 2
    return y  # here


def a_float_for_a_range(x):
    total = 0.0
    for k in range(x):  # here
        total += k
    return total


def a_float_as_an_index(x):
    return (1.0, 2.0)[x]  # here


def changes_its_kind(x):
    y = None
    while x > 1:  # here
        x, y = x / 2, x
    return y


def too_few_arguments(x):
    return pair(x)  # here


def pair(x, y):
    return x + y


def too_many_names(x):
    a, b = (x, x, x)  # here
    return a + b


def long_table_in_a_loop(x):
    total = 0.0
    while x > 1:
        total += LONG[int(x)]  # here
        x = x / 2
    return total


def a_comprehension_of_unknown_length(x):
    return sum([k for k in (1.0, 2.0) if k > x])  # here


def a_long_comprehension(x):
    return sum(x**k for k in range(100))  # here


def too_many_for_a_sine(x):
    return math.sin(x, x)  # here


def sorts_by_a_key(x):
    return max(x, 1.0, key=abs)  # here


def divides_by_a_known_zero(x):
    return x + 1 / 0  # here


def a_known_logarithm(x):
    return x + math.log(-1.0)  # here


LONG = np.arange(1000.0)

WHEN_CALLED = [
    no_value, no_value_in_a_loop, a_float_for_a_range, a_float_as_an_index, changes_its_kind, too_few_arguments,
    too_many_names, long_table_in_a_loop, a_comprehension_of_unknown_length, a_long_comprehension,
    too_many_for_a_sine, sorts_by_a_key, divides_by_a_known_zero, a_known_logarithm,
]  # fmt: skip


@pytest.mark.parametrize("function", WHEN_CALLED, ids=lambda function: function.__name__)
def test_it_is_refused_when_it_is_called(function):
    made = vecdist.function(function)
    with pytest.raises(TypeError, match=place_of(function) + ".*: .{12,}"):
        made(np.array([1.5, 2.0]))


@pytest.mark.parametrize("function", [no_return, two_kinds], ids=lambda function: function.__name__)
def test_paths_give_one_kind_of_result(function):
    with pytest.raises(TypeError, match=f"in {function.__name__}: .*on one.*on another"):
        vecdist.function(function)(np.array([1.0]))


def squared(x):
    return x * x


blind = primitive("blind", routine=squared)


def straight(x):
    return blind(x) + x


def turning(x):
    while x < 10:
        x = blind(x) + x
    return x


@pytest.mark.parametrize(("function", "wanted"), [(straight, [2, 6]), (turning, [42, 42])], ids=["straight", "turning"])
def test_a_derivative_that_is_not_there_is_an_error(function, wanted):
    """Not a zero: neither of a primitive without one, nor of one inside a loop."""
    x = np.array([1.0, 2.0])
    with by_interpreter():
        np.testing.assert_array_equal(vecdist.function(function)(x), wanted)
    with pytest.raises(NotImplementedError, match="blind has no derivatives"):
        vecdist.value_and_partials(vecdist.function(function)(x), wrt=x)
