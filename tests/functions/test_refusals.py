"""What cannot be made into a graph is refused with its place and the reason when it is defined."""

import contextlib

import numpy as np
import pytest
import scipy.stats
from marked import place_of

import vecdist

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


@pytest.mark.parametrize("function", WHEN_DEFINED, ids=lambda function: function.__name__)
def test_it_is_refused_when_it_is_defined(function):
    marked = odd if function is even else function
    with pytest.raises(TypeError, match=place_of(marked) + ".*: .{12,}"):
        vecdist.function(function)


def test_what_is_called_is_read_too():
    with pytest.raises(TypeError, match=place_of(prints) + "prints: print cannot be called"):
        vecdist.function(helped)


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
        vecdist.function(steps=0)(odd)
