"""The gamma family below 0."""

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, one

NEGATIVE = one((-1e-3, -1e-6), (-1.0, -1e-3), (-1.999, -1.001), (-10.3, -10.0), (-100.0, -10.0))
BOTH = NEGATIVE + one((1e-3, 2.0), (2.0, 100.0))


def largest_term(x: arb) -> arb:
    """Sine and lgamma of 1 - x may cancel."""
    return abs((1 - x).lgamma()).max(arb(2)) if x < 0 else arb(0)


def cotangent(x: arb) -> arb:
    return arb.pi() * abs(x.cot_pi()) + 2 if x < 0 else arb(0)


CASES = [
    Case("log_abs_gamma", lambda x: abs(x.gamma()).log(), BOTH, BOTH, (4.0, 4.0), largest_term),
    Case("digamma_real", arb.digamma, BOTH, BOTH, (6.0, 6.0), cotangent),
    Case("trigamma_real", lambda x: arb(2).zeta(x) if x > 0 else arb.pi() ** 2 / x.sin_pi() ** 2 - arb(2).zeta(1 - x),
         BOTH, BOTH, (6.0, 6.0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 60)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "x", "value"), [
    ("log_abs_gamma", 0.0, INF), ("log_abs_gamma", -1.0, INF), ("log_abs_gamma", -7.0, INF),
    ("log_abs_gamma", INF, INF), ("log_abs_gamma", -INF, INF), ("log_abs_gamma", NAN, NAN),
    ("digamma_real", -2.0, NAN), ("digamma_real", INF, INF),
    ("trigamma_real", -2.0, INF), ("trigamma_real", INF, 0), ("trigamma_real", NAN, NAN),
])
def test_edges(name: str, x: float, value: float, dtype: type) -> None:
    np.testing.assert_array_equal(evaluate(name, [np.array([x], dtype)]), [value])
