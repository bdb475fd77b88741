"""Sines, cosines and tangents next to multiples of a quarter turn and of far angles, in units in the last place."""

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx
from ulps import DTYPES, Case, assert_accurate, at_least_one, both, errors, precisely

FAR, FAR_SINGLE = both((2.0**20, 2.0**60), (2.0**60, 1.7e308)), both((2.0**13, 2.0**30), (2.0**30, 3.4e38))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "truth"), [("sin", arb.sin), ("cos", arb.cos), ("tan", arb.tan)])
def test_circular_functions_next_to_multiples_of_a_quarter_turn(name: str, truth: Callable, dtype: type) -> None:
    """There a reduction in too few parts loses every digit."""
    most = 2**20 if dtype == np.float64 else 2**13
    turns = np.unique(np.random.default_rng(3).integers(1, int(most / 1.6), 300))
    nearest = (turns * np.longdouble("1.57079632679489661923132169163975144")).astype(dtype)
    x = np.concatenate([nearest, np.nextafter(nearest, dtype(0)), -np.nextafter(nearest, dtype(most))])
    assert errors(name, truth, [x], lambda *_: arb(0)).max() <= 3.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "truth"), [("sin", arb.sin), ("cos", arb.cos), ("tan", arb.tan)])
def test_circular_functions_of_the_floats_nearest_to_multiples_of_a_quarter_turn(
    name: str, truth: Callable, dtype: type
) -> None:
    """Those of the continued fraction of each power of two over pi/2, among them 6381956970095103 * 2**797."""
    kind = np.finfo(dtype)
    x = nearest_to_quarter_turns(kind.nmant + 1, kind.maxexp)
    assert dtype == np.float32 or 6381956970095103 * 2.0**797 in x
    x = np.concatenate([x, -x, [kind.max]]).astype(dtype)
    assert errors(name, precisely(truth), [x], lambda *_: arb(0)).max() <= 2.0


def nearest_to_quarter_turns(digits: int, exponents: int) -> np.ndarray:
    """Of every fourth binade the float of so many digits that is next to a multiple of pi/2 (Kahan 1983)."""
    found = []
    with ctx.workprec(2 * exponents + 200):
        for exponent in range(1, exponents - digits, 4):
            rest, (before, now) = 2**exponent / (arb.pi() / 2), (0, 1)
            while now < 2**digits:  # denominators of convergents
                whole = rest.floor().unique_fmpz()
                rest = 1 / (rest - whole)
                before, now = now, now * int(rest.floor().unique_fmpz()) + before
            found.append(float(before) * 2.0**exponent)
    return np.array(found)


FAR_ANGLES = [  # so far that no difference of two angles makes a derivative
    Case("sin", precisely(arb.sin), FAR, FAR_SINGLE, (1.5, 1.5)),
    Case("cos", precisely(arb.cos), FAR, FAR_SINGLE, (1.5, 1.5)),
    Case("tan", precisely(arb.tan), FAR, FAR_SINGLE, (2.5, 2.5)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", FAR_ANGLES, ids=lambda case: case.name)
def test_circular_functions_of_far_angles(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_far_angles_are_known_with_what_rounding_took_from_them(dtype: type) -> None:
    kind = np.finfo(dtype)
    x = np.geomspace(2.0**21, kind.max / 2, 60).astype(dtype)
    rest = (0.25 * np.spacing(x)).astype(dtype)
    for name, truth in (
        ("sin_of_parts", lambda x, rest: (x + rest).sin()),
        ("cos_of_parts", lambda x, rest: (x + rest).cos()),
        ("cos_less_one", lambda x, rest: (x + rest).cos() - 1),
    ):
        assert errors(name, precisely(truth, 3000), [x, rest], at_least_one).max() <= 3.0, name
