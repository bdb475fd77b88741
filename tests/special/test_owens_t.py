"""Owen's T function."""

import numpy as np
import pytest
from flint import acb, arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, precisely


def upper(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def wedge(h: arb, a: arb) -> arb:
    """The integral of exp(-h**2 (1 + x**2) / 2) / (1 + x**2) over 0 < x < a, divided by 2 pi."""
    square = acb(h) ** 2
    return acb.integral(lambda x, _: (-square * (1 + x * x) / 2).exp() / (1 + x * x), 0, acb(a)).real / (2 * arb.pi())


def owens_t(h: arb, a: arb) -> arb:
    if -1 <= a <= 1:
        return wedge(h, a)
    g, b = abs(h), abs(a)
    y = (upper(g) + upper(g * b)) / 2 - upper(g) * upper(g * b) - wedge(g * b, 1 / b)
    return y if a > 0 else -y


SMALL = [((1e-3, 1.0), (1e-3, 1.0)), ((1e-3, 2.0), (1.0, 50.0)), ((0.1, 2.0), (-3.0, -0.1)), ((1e-3, 1.0), (0.9, 1.1)),
         ((-2.0, -0.1), (0.1, 1.0))]
# exp(-h**2 / 2) carries the rounding of h**2.
LARGE = [((2.0, 6.0), (0.1, 1.0)), ((6.0, 15.0), (0.01, 1.0)), ((2.0, 10.0), (1.0, 5.0))]

CASES = [
    Case("owens_t", precisely(owens_t, 700), SMALL, SMALL, (6.0, 0.51)),
    Case("owens_t", precisely(owens_t, 700), LARGE, LARGE[:1], (120.0, 0.51)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.name}-{n}") for n, case in enumerate(CASES)])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 8)


def test_edges() -> None:
    rows = [(0.0, 1.0, 0.125), (INF, 1.0, 0), (1.0, 0.0, 0), (40.0, 2.0, 0), (NAN, 1.0, NAN), (1.0, NAN, NAN),
            (0.0, INF, 0.25), (0.0, -INF, -0.25), (INF, INF, 0)]
    *arguments, expected = np.array(rows).T
    np.testing.assert_allclose(evaluate("owens_t", arguments), expected, rtol=4e-16)
