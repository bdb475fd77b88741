"""Functions that several families share: powers and logarithms whose exponent may be 0."""

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)

SMALL, ONE = (1e-12, 1e-3), (1e-3, 2.0)
BELOW = (-0.9, -1e-3)


def log1p_over(a: arb, z: arb) -> arb:
    return (a * z).log1p() / a


def expm1_over(a: arb, y: arb) -> arb:
    return (a * y).expm1() / a


def log_inflated(gate: arb, y: arb) -> arb:
    return (gate + (1 - gate) * y.exp()).log()


WITH_EXPONENT = [(SMALL, (1e-6, 100.0)), (ONE, (1e-6, 1.0)), (ONE, (1.0, 1e6)), (BELOW, (1e-6, 1.0))]
GATES = [((0.01, 0.9), (-30.0, -0.1)), ((0.01, 0.999), (-0.1, -1e-9)), ((0.9, 0.999), (-3.0, -0.1))]
CASES = [
    Case("log1p_over", precisely(log1p_over), WITH_EXPONENT, WITH_EXPONENT, (4.0, 4.0)),
    Case("expm1_over", precisely(expm1_over), WITH_EXPONENT[:2] + WITH_EXPONENT[3:],
         WITH_EXPONENT[:2] + WITH_EXPONENT[3:], (4.0, 4.0), lambda a, y: abs(y) * (1 + abs((a * y).exp()))),
    # an error of the logarithm, which is as large as its value, is one of the power relative to it
    Case("power_tail", precisely(lambda a, z: (-log1p_over(a, z)).exp()), WITH_EXPONENT, WITH_EXPONENT, (4.0, 4.0),
         lambda a, z: (-log1p_over(a, z)).exp() * (1 + abs(log1p_over(a, z)))),
    Case("log_inflated", precisely(log_inflated), [*GATES, ((1e-12, 1e-3), (-10.0, -1.0))],
         [*GATES, ((1e-9, 1e-3), (-10.0, -1.0))], (4.0, 4.0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "a", "z", "wanted"), [
    ("log1p_over", 0.0, 3.0, 3.0), ("log1p_over", -0.5, 2.0, INF), ("log1p_over", 2.0, INF, INF),
    ("expm1_over", 0.0, 3.0, 3.0), ("expm1_over", 2.0, 0.0, 0.0), ("expm1_over", NAN, 1.0, NAN),
    ("power_tail", 0.0, 0.0, 1.0), ("power_tail", -0.5, 2.0, 0.0), ("power_tail", 1.0, INF, 0.0),
    ("log_inflated", 0.0, -2.0, -2.0), ("log_inflated", 1.0, -2.0, 0.0), ("log_inflated", 0.0, -INF, -INF),
])
def test_edges(name: str, a: float, z: float, wanted: float, dtype: type) -> None:
    np.testing.assert_array_equal(evaluate(name, [np.array([a], dtype), np.array([z], dtype)]), [wanted])
