"""Generalised harmonic numbers."""

import numpy as np
import pytest
from flint import arb
from test_zeta import zeta_ds
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, precisely


def harmonic(s: arb, n: arb) -> arb:
    """Up to the whole number in ``n``, which the routine takes for any number of steps of its own."""
    return s.zeta() - s.zeta(n.floor() + 1)


def harmonic_ds(s: arb, n: arb) -> arb:
    return zeta_ds(s, arb(1)) - zeta_ds(s, n.floor() + 1)


FEW, FEW_SINGLE = [((1.0001, 1.5), (1.0, 10.0)), ((1.5, 60.0), (1.0, 10.0))], [((1.01, 20.0), (1.0, 10.0))]
# whole numbers, in either format
MANY, MANY_SINGLE = [((1.0 + 1e-9, 3.0), (1e16, 1e300))], [((1.01, 3.0), (2e7, 1e30))]
CASES = [
    Case("harmonic", precisely(harmonic), FEW + MANY, FEW_SINGLE + MANY_SINGLE, (4.0, 0.51)),
    Case("harmonic_ds", precisely(harmonic_ds), FEW + MANY, FEW_SINGLE + MANY_SINGLE, (8.0, 0.51)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 8)


@pytest.mark.parametrize("n", [11.0, 12.0, 64.0, 65.0, 1000.0])
@pytest.mark.parametrize("s", [1.000001, 1.5, 3.0, 55.5, 300.0])
def test_sums(s: float, n: float) -> None:
    k = np.arange(n, 0.0, -1.0)
    np.testing.assert_allclose(evaluate("harmonic", [np.array([s]), np.array([n])]), (k**-s).sum(), rtol=1e-15)
    slope = -(np.log(k) * k**-s).sum()
    np.testing.assert_allclose(evaluate("harmonic_ds", [np.array([s]), np.array([n])]), slope, rtol=4e-15)


def test_edges() -> None:
    rows = [(2.0, 0.0, 0), (2.0, 1.0, 1), (1.0, 3.0, NAN), (2.0, -1.0, NAN), (NAN, 1.0, NAN), (2.0, NAN, NAN)]
    *arguments, expected = np.array(rows).T
    np.testing.assert_array_equal(evaluate("harmonic", arguments), expected)
    np.testing.assert_allclose(evaluate("harmonic", [np.array([2.0]), np.array([INF])]), np.pi**2 / 6, rtol=4e-16)
