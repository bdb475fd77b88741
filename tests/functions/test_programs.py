"""Programs at random: values, first and second derivatives, against Python on numbers that carry derivatives."""

import numpy as np
import pytest
from functions.jets import Jet, Math
from functions.programs_at_random import Writer, made
from interpreting import by_interpreter

import vecdist


def points(seed, count=8):
    random = np.random.default_rng(seed)
    return random.uniform(-2, 2, count), random.uniform(-2, 2, count), random.integers(0, 6, count)


def truth(text, name, x, y, n):
    """What a program gives: for each point, and each of the two floats, its value and derivatives; the whole number."""
    program = made(text, f"<{name} of jets>", Math)
    rows = []
    for u, v, k in zip(x.tolist(), y.tolist(), n.tolist(), strict=True):
        *floats, whole = program(Jet(u, (1.0, 0.0)), Jet(v, (0.0, 1.0)), k)
        jets = [each if isinstance(each, Jet) else Jet(each) for each in floats]
        rows.append([*(part for each in jets for part in (each.v, *each.g, *each.h)), whole])
    return np.array(rows).T


def found(text, name, x, y, n):
    program = vecdist.function(made(text, f"<{name}>"))
    rows = []
    one, other = np.ones_like(x), np.zeros_like(x)
    *floats, whole = program(vecdist.lazy(x), vecdist.lazy(y), n)
    for result in floats:
        each = result + 0.0 * (vecdist.lazy(x) + vecdist.lazy(y))  # of both, whatever the program reads
        value, slopes = vecdist.value_and_partials(each, wrt=(x, y))
        along_x = vecdist.hvp(each.sum(), (x, y), (one, other))
        along_y = vecdist.hvp(each.sum(), (x, y), (other, one))
        rows += [value, *slopes, *along_x, along_y[1]]
    return np.array([*rows, np.asarray(whole)])


def agree(seed):
    text = Writer(seed).text()
    given = points(seed)
    wanted = truth(text, f"program {seed}", *given)
    np.testing.assert_allclose(found(text, f"program {seed}", *given), wanted, rtol=1e-8, atol=1e-8, err_msg=text)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 6, 7, 10, 11])  # those of few turns
def test_a_program_means_what_python_means(seed):
    with by_interpreter():
        agree(seed)


@pytest.mark.parametrize("seed", [3, 5])
def test_a_program_means_the_same_compiled(seed):
    """Values and first derivatives of both floats of a program from one kernel."""
    text = Writer(seed).text()
    x, y, n = points(seed, 64)
    wanted = truth(text, f"program {seed}", x, y, n)
    first, second, _ = vecdist.function(made(text, f"<compiled {seed}>"))(vecdist.lazy(x), vecdist.lazy(y), n)
    weight = np.linspace(0.5, 2.0, len(x))
    value, slopes = vecdist.value_and_grad(((first + 0.3 * second) * weight).sum(), wrt=(x, y))
    np.testing.assert_allclose(value, ((wanted[0] + 0.3 * wanted[6]) * weight).sum(), rtol=1e-9)
    for place, slope in enumerate(slopes):
        np.testing.assert_allclose(slope, (wanted[1 + place] + 0.3 * wanted[7 + place]) * weight, rtol=1e-8, atol=1e-10)


def nested(x, n):
    total, count = 0.0, 0
    for i in range(n):
        u = x + i
        while u > 0.4:
            u = 0.5 * u
            count += 1
        total += u
    y = x
    while y > 0.1:
        y = 0.7 * y
    return total + y * count


def test_loops_in_loops_stand_beside_loops_that_vectors_take():
    x, n = np.linspace(0.2, 3, 64), np.arange(64) % 5
    wanted = [nested(Jet(u, (1.0, 0.0)), k) for u, k in zip(x.tolist(), n.tolist(), strict=True)]
    value, slope = vecdist.value_and_partials(vecdist.function(nested)(x, n), wrt=x)
    np.testing.assert_allclose(value, [each.v for each in wanted], rtol=1e-14)
    np.testing.assert_allclose(slope, [each.g[0] for each in wanted], rtol=1e-14)
