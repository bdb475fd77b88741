"""Modified Bessel functions, scaled."""

import numpy as np
import pytest
from flint import acb, arb
from ulps import DTYPES, INF, NAN, Case, Ranges, assert_accurate, evaluate, one, precisely


def i(order: int, x: arb, scaled: bool = True) -> arb:
    return acb(x).bessel_i(order, scaled).real


def ratio(x: arb) -> arb:
    return i(1, x) / i(0, x)


def k(order: int, x: arb, scaled: bool = True) -> arb:
    """Of order 0 from the orders 1 and 2, DLMF 10.29.1: the integral of order 0 fails at large arguments."""
    if order == 0:
        return k(2, x, scaled) - 2 / x * k(1, x, scaled)
    return acb(x).bessel_k(order, scaled).real


SECOND = one((1e-10, 1e-3), (1e-3, 1.0), (0.9, 1.1), (1.0, 2.1), (2.0, 10.0), (10.0, 1e6))
UNSCALED = one((1e-10, 0.5), (0.5, 1.1), (1.0, 2.1), (2.0, 80.0))
SIZES = one((1e-8, 1e-2), (1e-2, 1.0), (1.0, 4.2), (3.8, 6.2), (5.8, 8.2), (7.8, 12.2), (12.0, 100.0), (100.0, 1e8))


def upto(most: float) -> list[Ranges]:
    return one((1e-8, 1.0), (1.0, 6.2), (5.8, 12.2), (12.0, most))


CASES = [
    Case("i0e", precisely(lambda x: i(0, x)), SIZES, SIZES, (4.0, 4.0)),
    Case("i1e", precisely(lambda x: i(1, x)), SIZES, SIZES, (4.0, 4.0)),
    Case("i0", precisely(lambda x: i(0, x, False)), upto(713.0), upto(91.0), (4.0, 4.0)),
    Case("i1", precisely(lambda x: i(1, x, False)), upto(713.0), upto(91.0), (4.0, 4.0)),
    Case("k0e", precisely(lambda x: k(0, x), 300), SECOND, SECOND, (4.0, 4.0)),
    Case("k1e", precisely(lambda x: k(1, x), 300), SECOND, SECOND, (4.0, 4.0)),
    Case("k0", precisely(lambda x: k(0, x, False), 300), UNSCALED, UNSCALED, (4.0, 4.0)),
    Case("k1", precisely(lambda x: k(1, x, False), 300), UNSCALED, UNSCALED, (4.0, 4.0)),
    Case("k_ratio_gap", precisely(lambda x: k(1, x) / k(0, x) - 1, 300), SECOND, SECOND, (4.0, 4.0)),
    Case("log_xk1", precisely(lambda x: (x * k(1, x, False)).log(), 300), UNSCALED, UNSCALED, (4.0, 4.0)),
    Case("log_xk1e", precisely(lambda x: (x * k(1, x)).log(), 300), SECOND, SECOND, (5.0, 4.0)),
    Case("log_i0", precisely(lambda x: i(0, x, False).log()), SIZES, SIZES, (4.0, 4.0)),
    Case("log_i0e", precisely(lambda x: i(0, x).log()), SIZES, SIZES, (4.0, 4.0)),
    Case("bessel_ratio", precisely(ratio), SIZES, SIZES, (4.0, 4.0)),
    Case("bessel_ratio_gap", precisely(lambda x: 1 - ratio(x)), SIZES, SIZES, (6.0, 5.0)),
    Case("bessel_ratio_slope", precisely(lambda x: 1 - ratio(x) ** 2 - ratio(x) / x), SIZES, SIZES, (6.0, 5.0)),
]
EDGES = {
    "i0e": [(0.0, 1), (INF, 0), (-INF, 0), (NAN, NAN)],
    "i1e": [(0.0, 0), (INF, 0), (NAN, NAN)],
    "i0": [(0.0, 1), (INF, INF), (-INF, INF), (800.0, INF), (NAN, NAN)],
    "i1": [(0.0, 0), (INF, INF), (-INF, -INF), (-800.0, -INF), (NAN, NAN)],
    "k0e": [(0.0, INF), (INF, 0), (-1.0, NAN), (NAN, NAN)],
    "k1e": [(0.0, INF), (INF, 0), (-1.0, NAN), (NAN, NAN)],
    "k0": [(0.0, INF), (INF, 0), (800.0, 0), (-1.0, NAN), (NAN, NAN)],
    "k1": [(0.0, INF), (INF, 0), (800.0, 0), (-1.0, NAN), (NAN, NAN)],
    "k_ratio_gap": [(0.0, INF), (INF, 0), (NAN, NAN)],
    "log_xk1": [(0.0, 0), (INF, -INF), (-1.0, NAN), (NAN, NAN)],
    "log_i0": [(0.0, 0), (INF, INF), (-INF, INF), (NAN, NAN)],
    "log_xk1e": [(0.0, 0), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log_i0e": [(0.0, 0), (INF, -INF), (NAN, NAN)],
    "bessel_ratio": [(0.0, 0), (INF, 1), (-INF, -1), (NAN, NAN)],
    "bessel_ratio_gap": [(INF, 0), (NAN, NAN)],
    "bessel_ratio_slope": [(0.0, 0.5), (INF, 0), (NAN, NAN)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.name}-{n}") for n, case in enumerate(CASES)])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, dtype: type) -> None:
    *arguments, expected = np.array(EDGES[name], dtype).T
    np.testing.assert_array_equal(evaluate(name, arguments), expected)


@pytest.mark.parametrize("name", ["i0e", "i0", "log_i0e", "bessel_ratio_gap", "bessel_ratio_slope"])
def test_even_functions(name: str) -> None:
    x = np.geomspace(1e-3, 1e3, 50)
    np.testing.assert_array_equal(evaluate(name, [x]), evaluate(name, [-x]))
