"""Lambert's W on both branches."""

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, one, precisely

from vecdist.special.lambert_w import INVERSE_E

NEGATIVE = one((-0.1, -1e-6), (-0.3, -0.1), (-0.36, -0.3))
EDGE = one((-0.3678794, -0.36))

CASES = [
    Case("lambertw", precisely(arb.lambertw, 600),
         one((1e-300, 1e-6), (1e-6, 1.0), (1.0, 100.0), (100.0, 1e300)) + NEGATIVE + EDGE,
         one((1e-36, 1e-6), (1e-6, 1.0), (1.0, 100.0), (100.0, 1e36)) + NEGATIVE, (3.0, 0.51)),
    Case("lambertw_lower", precisely(lambda x: x.lambertw(-1), 600), one((-1e-6, -1e-300)) + NEGATIVE + EDGE,
         one((-1e-6, -1e-36)) + NEGATIVE, (3.0, 0.51)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 30)


@pytest.mark.parametrize(("name", "x", "value"), [
    ("lambertw", 0.0, 0.0), ("lambertw", INF, INF), ("lambertw", -0.4, NAN), ("lambertw", NAN, NAN),
    ("lambertw", -INVERSE_E[0], -1.0), ("lambertw", 5e-324, 5e-324), ("lambertw_lower", -INVERSE_E[0], -1.0),
    ("lambertw_lower", 0.0, -INF), ("lambertw_lower", 0.1, NAN), ("lambertw_lower", -0.4, NAN),
])
def test_edges(name: str, x: float, value: float) -> None:
    np.testing.assert_array_equal(evaluate(name, [np.array([x])]), [value])
