"""What cannot be made into a graph is refused with its place and the reason: when it is defined, or when called."""

import contextlib
import inspect
import math
import re

import numpy as np
import pytest
import scipy.stats
from interpreting import by_interpreter

import vecdist
from vecdist.primitives import primitive

STATE = {"a": 1.0}
SCALE = vecdist.lazy(np.array(2.0))


class Shape:
    radius = 2.0

    def area(self, x):
        return x * self.radius


SHAPE = Shape()


def again(x):
    return x * again(x - 1.0) if x > 0 else 1.0  # here


def even(x):
    return odd(x - 1)


def odd(x):
    return even(x - 1)  # here


def a_string(x):
    return "no"  # here


def a_format(x):
    return f"{x}"  # here


def prints(x):
    print(x)  # here
    return x


def opens(x):
    with contextlib.nullcontext():  # here
        return x


def tries(x):
    try:  # here
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def raises(x):
    if x < 0:
        raise ValueError  # here
    return x


def asserts(x):
    assert x > 0  # here
    return x


def yields(x):
    yield x  # here


def changes_outside(x):
    global STATE  # noqa: PLW0603 # here
    STATE = x
    return x


def deletes(x):
    del x  # here


def builds_a_list(x):
    found = []
    found.append(x)  # here
    return x


def comprehends(x):
    return max({x * k for k in (1, 2)})  # here


def appends(x):
    found = [x]
    return found + [x].append(x)  # here


def a_dict(x):
    return {"a": x}  # here


def a_set(x):
    return {x, 1}  # here


def of_a_dict(x):
    return x * STATE["a"]  # here


def an_object(x):
    return x * SHAPE.radius  # here


def a_class(x):
    return Shape().area(x)  # here


def a_method(x):
    return x.sum()  # here


def an_attribute(x):
    return (x + 1).real  # here


def a_lazy_array(x):
    return x * SCALE  # here


def an_unknown_function(x):
    return np.linalg.norm(x)  # here


def an_unknown_ufunc(x):
    return np.gcd(x, x)  # here


def of_scipy_stats(x):
    return scipy.stats.norm.pdf(x)  # here


def a_builtin(x):
    return isinstance(x, float)  # here


def sets_an_element(x):
    table = (1.0, 2.0)
    table[0] = x  # here
    return x


def sets_an_attribute(x):
    SHAPE.radius = x  # here
    return x


def matches(x):
    match x:  # here
        case 1:
            return 2
    return x


def imports(x):
    import cmath  # here

    return cmath.exp(x)


def a_class_inside(x):
    class Inner:  # here
        pass

    return x


def walrus(x):
    return (y := x) + y  # here


def many(*x):  # here
    return x


def named(**x):  # here
    return x


def starred_keywords(x):
    return pow(x, **STATE)  # here


def unpacks(x):
    first, *others = (x, 1.0, 2.0)  # here
    return first + len(others)


def complex_number(x):
    return x * 1j  # here


def waits(x):
    async def inner():  # here
        return x

    return inner


def nested_again(x):
    def inner(y):  # here
        return inner(y - 1)

    return inner(x)


def nested_nonlocal(x):
    total = 0.0

    def add(y):
        nonlocal total  # here
        total += y
        return total

    return add(x)


def decorated_inside(x):
    @staticmethod
    def inner(y):  # here
        return y

    return inner(x)


def helped(x):
    return prints(x) * 2.0


WHEN_DEFINED = [
    again, even, a_string, a_format, prints, opens, tries, raises, asserts, yields, changes_outside, deletes,
    builds_a_list, comprehends, appends, a_dict, a_set, of_a_dict, an_object, a_class, a_method, an_attribute,
    a_lazy_array, an_unknown_function, an_unknown_ufunc, of_scipy_stats, a_builtin, sets_an_element, sets_an_attribute,
    matches, imports, a_class_inside, walrus, many, named, starred_keywords, unpacks, complex_number, waits,
    nested_again, nested_nonlocal, decorated_inside,
]  # fmt: skip


def place_of(function):
    """The place of the line that is marked in a function, or in one that it calls."""
    lines, first = inspect.getsourcelines(function)
    (line,) = (first + count for count, text in enumerate(lines) if "# here" in text)
    return re.escape(f"{__file__}:{line}, in ")


@pytest.mark.parametrize("function", WHEN_DEFINED, ids=lambda function: function.__name__)
def test_it_is_refused_when_it_is_defined(function):
    marked = odd if function is even else function
    with pytest.raises(TypeError, match=place_of(marked) + ".*: .{12,}"):
        vecdist.function(function)


def test_what_is_called_is_read_too():
    with pytest.raises(TypeError, match=place_of(prints) + "prints: print cannot be called"):
        vecdist.function(helped)


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


def test_a_function_without_a_source_is_refused():
    scope = {}
    exec("def nowhere(x): return x", scope)
    with pytest.raises(TypeError, match="nowhere: its source is not to be had"):
        vecdist.function(scope["nowhere"])


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="wants a function written in Python, given <ufunc 'exp'>"):
        vecdist.function(np.exp)


def test_steps_are_a_number_of_turns():
    with pytest.raises(ValueError, match="steps is a number of turns"):
        vecdist.function(steps=0)(pair)


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
