"""Modified Bessel functions of any order, their logarithms, and their derivatives in order and argument."""

from collections.abc import Callable

import numpy as np
import pytest
from flint import acb, arb
from scipy import special
from ulps import INF, NAN, Case, assert_accurate, evaluate, precisely

from vecdist import LazyArray, lazy, value_and_partials
from vecdist.graph.node import Node
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

BITS = 700


def log_kve(v: arb, x: arb) -> arb:
    return acb(x).bessel_k(acb(v), True).real.log()


def log_ive(v: arb, x: arb) -> arb:
    return acb(x).bessel_i(acb(v), True).real.log()


def log_ive_below(m: arb, x: arb) -> arb:
    return log_ive(m - 1, x)


def slope(function: Callable[[arb, arb], arb], place: int) -> Callable[[arb, arb], arb]:
    """A central difference over a step so small that it is exact to 50 digits."""

    def found(v: arb, x: arb) -> arb:
        h = arb(2) ** -100 * (x if place else 1)
        up, down = ((v, x + h), (v, x - h)) if place else ((v + h, x), (v - h, x))
        return (function(*up) - function(*down)) / (2 * h)

    return precisely(found, BITS)


def bend(function: Callable[[arb, arb], arb], place: int) -> Callable[[arb, arb], arb]:
    """The second difference in the order, and in that and the argument."""

    def found(v: arb, x: arb) -> arb:
        first, h = slope(function, place), arb(2) ** -100
        return (first(v + h, x) - first(v - h, x)) / (2 * h)

    return precisely(found, BITS)


def one(*_: arb) -> arb:
    return arb(1)


def width(v: arb, x: arb) -> arb:
    """The standard deviation of the integrand, whose rounding does not cancel."""
    return 1 / (v * v + x * x + 1).sqrt().sqrt() + (v / x)


def size_of_slope(m: arb, x: arb) -> arb:
    """That of the order over the argument, and of the scaling."""
    return 1 / x + 1


def size_of_ratio(v: arb, x: arb) -> arb:
    """Nothing more than its own, in the series."""
    return arb(1) if x > 20 else arb(0)


BELOW = [((1e-3, 1.0), (1e-3, 1.0)), ((1e-3, 1.0), (1.0, 20.0)), ((1e-3, 1.0), (20.0, 100.0))]
RANGES = [((0.01, 2.0), (1e-6, 1.0)), ((0.01, 10.0), (1.0, 20.0)), ((0.01, 10.0), (20.0, 100.0)),
          ((10.0, 100.0), (1e-2, 20.0)), ((10.0, 100.0), (20.0, 100.0))]
LOW_ORDERS = [((1e-2, 3.0), (1e-2, 100.0))]
CASES = [
    Case("log_kve", precisely(log_kve, BITS), RANGES, RANGES, (6.0, 0.6), one),
    Case("log_kve_dv", slope(log_kve, 0), RANGES, RANGES, (12.0, 0.6), width),
    Case("log_kve_dx", slope(log_kve, 1), RANGES, RANGES, (24.0, 0.6)),
    Case("log_ive", precisely(log_ive, BITS), RANGES, RANGES, (4.0, 0.6), one),
    Case("log_ive_dv", slope(log_ive, 0), RANGES, RANGES, (8.0, 0.6), one),
    Case("log_ive_dx", slope(log_ive, 1), RANGES, RANGES, (8.0, 0.6), one),
    Case("log_iv_dx", lambda v, x: slope(log_ive, 1)(v, x) + 1, RANGES, RANGES, (8.0, 0.6), size_of_ratio),
    Case("log_ive_below", precisely(log_ive_below, BITS), BELOW, BELOW, (4.0, 0.6), one),
    Case("log_ive_below_dm", slope(log_ive_below, 0), BELOW, BELOW, (4.0, 0.6), one),
    Case("log_ive_below_dx", slope(log_ive_below, 1), BELOW, BELOW, (4.0, 0.6), size_of_slope),
    Case("log_kve_dvdv", bend(log_kve, 0), RANGES, RANGES, (12.0, 0.6), width),
    Case("log_kve_dvdx", bend(log_kve, 1), RANGES, RANGES, (14.0, 0.6), width),  # by how a processor rounds logarithms
    Case("log_ive_dvdv", bend(log_ive, 0), RANGES, RANGES, (12.0, 0.6), one),
    Case("log_ive_dvdx", bend(log_ive, 1), RANGES, RANGES, (12.0, 0.6), size_of_slope),
    Case("log_ive_below_dmdm", bend(log_ive_below, 0), BELOW, BELOW, (12.0, 0.6), one),
    Case("log_ive_below_dmdx", bend(log_ive_below, 1), BELOW, BELOW, (12.0, 0.6), size_of_slope),
    Case("kve", precisely(lambda v, x: log_kve(v, x).exp(), BITS), LOW_ORDERS, LOW_ORDERS, (20.0, 0.6)),
    Case("ive", precisely(lambda v, x: log_ive(v, x).exp(), BITS), LOW_ORDERS, LOW_ORDERS, (24.0, 12.0)),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case) -> None:
    assert_accurate(case, np.float64, 4)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES[-2:]])
def test_error_in_units_in_the_last_place_of_float32(case: Case) -> None:
    assert_accurate(case, np.float32, 4)


@pytest.mark.parametrize(("name", "v", "x", "value"), [
    ("log_ive", 0.0, 0.0, 0), ("log_ive", 2.0, 0.0, -INF), ("log_ive", -0.5, 0.0, INF), ("log_ive", 1.0, INF, -INF),
    ("log_ive", -1.5, 1.0, NAN), ("log_ive", 1.0, -1.0, NAN), ("log_ive", 1.0, NAN, NAN), ("log_kve", 0.0, 0.0, INF),
    ("log_kve", 1.0, INF, -INF), ("log_kve", 1.0, -1.0, NAN), ("log_kve", NAN, 1.0, NAN), ("kve", 3.0, 1e-200, INF),
    ("log_ive_dx", 0.0, 0.0, -1), ("log_ive_dx", 1.0, INF, 0), ("log_kve_dv", 0.0, 2.0, 0),
])
def test_edges(name: str, v: float, x: float, value: float) -> None:
    np.testing.assert_array_equal(evaluate(name, [np.array([v]), np.array([x])]), [value])


def test_the_least_arguments_end_soon_and_right() -> None:
    v, x = np.array([0.0, 0.3, 2.5, 100.0]), np.array([1e-300, 1e-300, 5e-324, 1e-300])
    expected = [np.log(-np.log(5e-301) - np.euler_gamma), special.gammaln(0.3) - 0.3 * np.log(5e-301) - np.log(2)]
    np.testing.assert_allclose(evaluate("log_kve", [v, x])[:2], expected, rtol=1e-14)
    assert np.isfinite(evaluate("log_kve", [v, x])).all()
    assert np.isfinite(evaluate("log_kve_dv", [v, x])).all()


def test_half_integer_orders_are_elementary() -> None:
    """K(1/2, x) exp(x) is sqrt(pi / (2 x)), and negative orders of K are its positive ones, DLMF 10.39.2, 10.27.3."""
    x = np.geomspace(1e-3, 1e6, 30)
    half = np.full_like(x, 0.5)
    np.testing.assert_allclose(evaluate("kve", [half, x]), np.sqrt(np.pi / (2 * x)), rtol=3e-15)
    np.testing.assert_array_equal(evaluate("log_kve", [-half, x]), evaluate("log_kve", [half, x]))
    cosh = (1 + np.exp(-2 * x)) / np.sqrt(2 * np.pi * x)
    np.testing.assert_allclose(evaluate("ive", [-half, x]), cosh, rtol=5e-15)


@pytest.mark.parametrize("name", ["log_ive", "log_kve"])
def test_second_derivatives_in_the_argument(name: str) -> None:
    """Against differences of the first; the order, which has none, must not be asked for its own."""
    v, x = (Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(2))
    (first,) = partials(PRIMITIVES[name](v, x), [x])
    (second,) = partials(first, [x])
    orders, points = np.repeat([0.0, 0.7, 3.0], 6), np.tile([0.3, 1.0, 4.0, 12.0, 30.0, 80.0], 3)
    h = 1e-4 * points
    up, down = (interpret([first], [orders, points + sign * h], {"n0": 18})[0] for sign in (1, -1))
    (found,) = interpret([second], [orders, points], {"n0": 18})
    np.testing.assert_allclose(found, (up - down) / (2 * h), rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["log_kve", "log_ive"])
def test_a_function_of_a_kernel_is_that_of_the_interpreter(name: str, execution: None) -> None:
    x, v = np.geomspace(0.01, 300.0, 12), np.linspace(0.0, 6.0, 12)
    value, slope = value_and_partials(LazyArray(PRIMITIVES[name](lazy(v).node, lazy(x).node)), wrt=x)
    leaves = [Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(2)]
    node = PRIMITIVES[name](*leaves)
    expected = interpret([node, *partials(node, leaves[1:])], [v, x], {"n0": 12})
    np.testing.assert_allclose(np.asarray(value), expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.asarray(slope), expected[1], rtol=1e-12, atol=1e-12)
