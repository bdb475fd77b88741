"""Marcum functions and their derivatives against sums of incomplete gamma functions in ball arithmetic."""

import itertools
import math
import time
from functools import cache

import flint
import numpy as np
import pytest
import scipy.stats
from flint import arb

from vecdist import lazy, value_and_partials
from vecdist.graph.node import Node
from vecdist.lazy.array import LazyArray
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

INF, NAN = math.inf, math.nan
BITS = 700
STEP = arb(2) ** -150

# m, x and y: where sums are used and where the circle is, in both tails, far and near, next to where they change.
POINTS = [
    (0.01, 0.3, 0.002), (0.02, 13.5, 12.5), (0.3, 0.0, 0.1), (0.5, 2.0, 1.0), (1.0, 1e-8, 3.0), (1.0, 0.5, 40.0),
    (1.0, 30.0, 1e-3), (2.5, 2.5, 5.0), (2.5, 2.5, 4.999999), (7.0, 12.0, 5.0), (11.9, 8.0, 17.9), (12.1, 9.0, 21.5),
    (0.7, 60.0, 45.0), (1.0, 50.0, 80.0), (31.0, 0.1, 33.0), (31.0, 0.1, 29.0), (40.0, 40.0, 80.00001),
    (5.0, 150.0, 200.0), (1.0, 200.0, 110.0), (120.0, 3.0, 60.0), (60.0, 300.0, 365.0), (300.0, 0.0, 350.0),
    (1.5, 12.5, 14.0), (26.0, 4.0, 30.0), (26.1, 4.3, 30.4),
]
NAMES = {  # the tail, whether its logarithm, and of what argument the derivative
    "marcum_q": ("q", False, None), "marcum_p": ("p", False, None),
    "log_marcum_q": ("q", True, None), "log_marcum_p": ("p", True, None),
    "marcum_q_dm": ("q", False, 0), "marcum_q_dx": ("q", False, 1), "marcum_density": ("p", False, 2),
    "log_marcum_q_dm": ("q", True, 0), "log_marcum_q_dx": ("q", True, 1), "log_marcum_q_dy": ("q", True, 2),
    "log_marcum_p_dm": ("p", True, 0), "log_marcum_p_dx": ("p", True, 1), "log_marcum_p_dy": ("p", True, 2),
}


def evaluate(name, *columns):
    arrays = [np.asarray(column, float) for column in columns]
    slots = [Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(len(arrays))]
    (found,) = interpret([PRIMITIVES[name](*slots)], arrays, {"n0": len(arrays[0])})
    return found


@cache
def tails(m, x, y):
    """Q and P: sums over n of the Poisson probability of n times the tails of m + n, which have a recurrence."""
    most = int(2 * float((x * y).sqrt()) + float(x)) + 250
    mass, step, q, tail = (-x).exp(), (m * y.log() - y - (m + 1).lgamma()).exp(), arb(0), y.gamma_upper(m, 1)
    for n in range(most):
        q += mass * tail
        mass, tail, step = mass * x / (n + 1), tail + step, step * y / (m + n + 1)
    return q, 1 - q


def quantity(tail, logarithm, point):
    value = tails(*point)["qp".index(tail)]
    return value.log() if logarithm else value


def change(tail, logarithm, point, place):
    h = STEP * (point[place] if point[place] != 0 else 1)
    ends = [quantity(tail, logarithm, (*point[:place], point[place] + s * h, *point[place + 1 :])) for s in (1, -1)]
    return (ends[0] - ends[1]) / (2 * h)


@cache
def condition(point):
    """1, and by how much more the lesser tail changes than its arguments do."""
    lesser = "p" if point[2] < point[0] + point[1] else "q"
    return 1 + sum(abs(float((change(lesser, True, point, k) * point[k]).mid())) for k in range(3) if point[k] > 0)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives_are_those_of_the_sums(name):
    tail, logarithm, place = NAMES[name]
    points = [point for point in POINTS if place != 1 or point[1] > 0]
    found, errors = evaluate(name, *zip(*points, strict=True)), []
    with flint.ctx.workprec(BITS):
        for value, point in zip(found, points, strict=True):
            at = tuple(map(arb, point))
            exact = quantity(tail, logarithm, at) if place is None else change(tail, logarithm, at, place)
            error = abs(float((arb(float(value)) / exact - 1).mid())) * 2.0**53
            errors.append((error / condition(at), point))
    assert max(errors)[0] <= (4.0 if place is None else 10.0), max(errors)


def test_large_arguments_are_those_of_the_normal_distribution_of_the_root():
    """Sankaran (1963): a power of the variable is nearly normal; the error is known to fall as 1 / (m + x)."""
    x, z = np.array([1e8, 1e12, 1e15]), 1.5
    y = x + 1.0 + z * np.sqrt(1.0 + 2.0 * x)
    found = evaluate("marcum_q", np.ones(3), x, y)
    np.testing.assert_allclose(found, scipy.stats.norm.sf(z), atol=2 / np.sqrt(x).min())
    assert (abs(found - scipy.stats.norm.sf(z)) * np.sqrt(x) < 2).all()


@pytest.mark.parametrize("name", ["marcum_p_inverse", "marcum_q_inverse"])
def test_the_inverse_is_one(name):
    rng = np.random.default_rng(4)
    m, x = np.exp(rng.uniform(-3, 6, 120)), np.exp(rng.uniform(-5, 7, 120))
    p = np.concatenate([np.exp(rng.uniform(-200, 0, 60)), rng.uniform(0.001, 0.999, 60)])
    y = evaluate(name, m, x, p)
    shown = (y > 1e-280) & (y < INF)
    assert shown.mean() > 0.9
    m, x, p, y = (each[shown] for each in (m, x, p, y))
    back = evaluate(name.removesuffix("_inverse"), m, x, y)
    condition = evaluate("marcum_density", m, x, y) * y / p
    assert (abs(back / p - 1) <= 2**-53 * (20 + 20 * condition + 40 * abs(np.log(p)))).all()


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("marcum_q", (1.0, 2.0, 0.0), 1), ("marcum_q", (1.0, 2.0, INF), 0), ("marcum_p", (1.0, 2.0, 0.0), 0),
    ("marcum_p", (1.0, 2.0, INF), 1), ("log_marcum_q", (1.0, 2.0, 0.0), 0), ("log_marcum_p", (1.0, 2.0, 0.0), -INF),
    ("log_marcum_q", (1.0, 2.0, INF), -INF), ("marcum_q", (0.0, 2.0, 1.0), NAN), ("marcum_q", (-1.0, 2.0, 1.0), NAN),
    ("marcum_q", (1.0, -2.0, 1.0), NAN), ("marcum_q", (1.0, 2.0, -1.0), NAN), ("marcum_q", (NAN, 2.0, 1.0), NAN),
    ("marcum_q", (1.0, NAN, 1.0), NAN), ("marcum_q", (1.0, 2.0, NAN), NAN), ("marcum_q", (INF, 2.0, 1.0), NAN),
    ("marcum_density", (1.0, 2.0, 0.0), math.exp(-2)), ("marcum_density", (0.5, 2.0, 0.0), INF),
    ("marcum_density", (2.0, 2.0, 0.0), 0), ("marcum_q_dm", (1.0, 2.0, 0.0), 0), ("marcum_q_dx", (1.0, 2.0, 0.0), 0),
    ("log_marcum_p_dx", (1.0, 2.0, 0.0), -1), ("log_marcum_p_dm", (1.0, 2.0, 0.0), -INF),
    ("log_marcum_q_dy", (1.0, 2.0, 0.0), -math.exp(-2)), ("marcum_p_inverse", (1.0, 2.0, 0.0), 0),
    ("marcum_p_inverse", (1.0, 2.0, 1.0), INF), ("marcum_p_inverse", (1.0, 2.0, 1.5), NAN),
    ("marcum_q_inverse", (1.0, 2.0, 0.0), INF), ("marcum_q_inverse", (1.0, 2.0, 1.0), 0),
])
def test_edges(name, arguments, expected):
    (found,) = evaluate(name, *([x] for x in arguments))
    assert found == pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)


SIZES = [0.0, 5e-324, 1e-300, 1e-10, 0.3, 1.0, 24.0, 1e3, 1e8, 1e16, 1e100, 1e300, INF, -1.0, NAN]


@pytest.mark.parametrize("name", sorted(name for name in PRIMITIVES if "marcum" in name))
def test_no_argument_hangs_or_raises(name):
    last = [0.0, 5e-324, 1e-100, 0.3, 0.5, 1.0 - 1e-16, 1.0, 1.5, NAN] if name.endswith("inverse") else SIZES
    for arguments in itertools.product(SIZES, SIZES, last):
        start = time.perf_counter()
        assert isinstance(PRIMITIVES[name].routine(*arguments), float), arguments
        assert time.perf_counter() - start < 1.0, arguments


def test_derivatives_in_the_order_end():
    m, x, y = (Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(3))
    with pytest.raises(NotImplementedError, match="marcum_density has no derivative in the order: leave out of wrt"):
        partials(PRIMITIVES["marcum_density"](m, x, y), [m])


@pytest.mark.usefixtures("execution")
def test_a_kernel_has_the_function_and_its_derivatives():
    m, x, y = (np.array(column) for column in zip(*POINTS, strict=True))
    expr = LazyArray(PRIMITIVES["marcum_q"](lazy(m).node, lazy(x).node, lazy(y).node))
    value, slopes = value_and_partials(expr, (m, x, y))
    np.testing.assert_allclose(value, evaluate("marcum_q", m, x, y), rtol=1e-11)
    wanted = evaluate("marcum_q_dm", m, x, y), evaluate("marcum_q_dx", m, x, y), -evaluate("marcum_density", m, x, y)
    for slope, expected in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-300)
