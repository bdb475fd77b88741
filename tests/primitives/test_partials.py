"""Partial derivatives in units in their own last place, against differences of balls that are exact to 100 digits."""

import importlib
from collections.abc import Callable

import flint
import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, Case, points

from vecdist.graph.node import Node
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

BITS = 4000  # a step of 1e-45 relative to arguments of 1e-300 is far above the rounding of the difference
BOUND = 4.0
COUNT = 2  # points per range
MODULES = ("test_accuracy", "test_bessel", "test_logarithms")
# What is not held to the bound, and why.
AMPLIFIED = {  # the rounding of a sum or difference of arguments counts as often as that is large
    ("logaddexp", 0), ("logaddexp", 1), ("logaddexp2", 0), ("logaddexp2", 1),
    ("log_diff_exp", 0), ("log_diff_exp", 1), ("lgamma_delta", 1),
}
HIGHER = {  # a derivative of second or higher order of what families are made of
    ("tanh_slope", 0), ("digamma_delta", 0), ("k_ratio_gap", 0), ("bessel_ratio_slope", 0), ("bessel_ratio", 0),
    ("bessel_ratio_gap", 0), ("digamma_gap", 0), ("trigamma_excess", 0),
}
SIGNED = {("i1e", 0), ("log_sigmoid_slope", 0)}  # it changes its sign between the terms that it is the difference of
JUMPS = {  # a difference steps over the jumps, which lie close where a quotient is large
    ("floor_divide", 0), ("floor_divide", 1), ("remainder", 0), ("remainder", 1),
}
BOUNDS = {("log_i0e", 0): 5.0}  # it is bessel_ratio_gap, whose own case has this bound in float32
FEWER_BITS = {"test_bessel": 600}


def slope(function: Callable[..., arb], row: tuple[float, ...], place: int, bits: int) -> arb:
    """A central difference; at 0 its step is next to nothing beside the other arguments."""
    function = getattr(function, "__wrapped__", function)
    with flint.ctx.workprec(bits):
        balls = [arb(x) for x in row]
        step = arb(2) ** -150 * (abs(balls[place]) if row[place] else min(abs(x) for x in balls if x != 0))
        up, down = ([x + sign * step if i == place else x for i, x in enumerate(balls)] for sign in (1, -1))
        return ((function(*up) - function(*down)) / (2 * step)).mid()


def units(value: float, exact: arb, dtype: type) -> float:
    """The error of a value; none where the truth is beyond the format and the value is infinite."""
    kind, size = np.finfo(dtype), abs(float(exact))
    if size > float(kind.max):
        return 0.0 if np.isinf(value) else INF
    unit = max(np.spacing(dtype(size)), kind.tiny)
    return abs(float((arb(float(value)) - exact).mid())) / float(unit) if np.isfinite(value) else INF


def cases() -> list:
    found = ((module, case) for module in MODULES for case in importlib.import_module(module).CASES)
    return [pytest.param(module, case, id=f"{case.name}-{n}") for n, (module, case) in enumerate(found)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("module", "case"), cases())
def test_error_of_partials(module: str, case: Case, dtype: type) -> None:
    entry = PRIMITIVES[case.name]
    arrays = points(case.double if dtype == np.float64 else case.single, dtype, COUNT)
    leaves = [Node("slot", (), (i,), ("n0",), np.dtype(dtype)) for i in range(entry.arity)]
    rows = list(zip(*(array.tolist() for array in arrays), strict=True))
    for place, partial in enumerate(partials(entry(*leaves), leaves)):
        if (entry.name, place) in AMPLIFIED | HIGHER | SIGNED | JUMPS:
            continue
        (values,) = interpret([partial], arrays, {"n0": len(rows)})
        exact = (slope(case.truth, row, place, FEWER_BITS.get(module, BITS)) for row in rows)
        worst = max((units(value, true, dtype), row) for value, true, row in zip(values, exact, rows, strict=True))
        assert worst[0] <= BOUNDS.get((entry.name, place), BOUND), f"d/d{place}: {worst}"
