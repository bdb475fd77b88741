"""Logarithms of tails in float32 as in float64, and their slopes, from the middle to where tails are nothing.

What float32 may lose is what its inputs' last digits decide: how far float64 moves where these do.
"""

import numpy as np
import pytest
from family_cases import EVERY_FAMILY, parameters_of

import vecdist

pytestmark = pytest.mark.usefixtures("interpreter")

WITH_TAILS = [family for family in EVERY_FAMILY if hasattr(family, "cdf") and family.quantile is not None]
POINTS = 240
WITHIN = (1e-25, 1e30)  # sizes that float32 has, and those of the steps to them
CLOSE = 1e-4
MOVED = 30.0  # times what the inputs' last digits decide


def points_of(family, parameters, rng):
    """Points near the median, as far again as scales go, and of both signs or counts."""
    middle = np.asarray(vecdist.ppf(family(*parameters), rng.uniform(0.1, 0.9, POINTS)), np.float64)
    far = middle * np.exp(rng.uniform(-1.0, 9.0, POINTS)) + rng.normal(size=POINTS)
    x = np.where(rng.random(POINTS) < 0.3, middle, far)
    return np.abs(np.round(x)) if family.discrete else x


def slopes(verb, family, inputs, dtype):
    """The values, and the derivatives in every parameter and, where it is no count, in x."""
    arrays = [each.astype(dtype) for each in inputs]
    term = getattr(vecdist, verb)(family(*arrays[:-1]), arrays[-1])
    value, found = vecdist.value_and_partials(term, tuple(arrays[:-1] if family.discrete else arrays))
    return [np.asarray(each, np.float64) for each in (value, *found)]


@pytest.mark.parametrize("verb", ["logcdf", "logsf"])
@pytest.mark.parametrize("family", WITH_TAILS, ids=lambda family: family.__name__)
def test_tails_in_float32(family, verb):
    names, rng = family.parametrisations[0].names, np.random.default_rng(20261127)
    parameters = [each.astype(np.float32) for each in parameters_of(family, names, size=POINTS)]
    inputs = [*parameters, points_of(family, parameters, rng).astype(np.float32)]
    exact = [np.round(each).astype(bool) & (each == np.round(each)) for each in inputs]
    moved = [
        np.where(whole, each, np.nextafter(each, np.float32(rng.choice([-1, 1]) * np.inf)))
        for each, whole in zip(inputs, exact, strict=True)
    ]
    with np.errstate(all="ignore"):
        found, wanted = (slopes(verb, family, inputs, dtype) for dtype in (np.float32, np.float64))
        others = slopes(verb, family, moved, np.float64)
    for place, (f, w, o) in enumerate(zip(found, wanted, others, strict=True)):
        size = np.abs(w)
        with np.errstate(invalid="ignore"):
            inside = (size > WITHIN[0]) & (size < WITHIN[1]) & np.isfinite(o)
            wrong = np.flatnonzero(inside & ~(np.abs(f - w) <= CLOSE * size + MOVED * np.abs(o - w)))
        told = [f"{f[n]:.7g}, not {w[n]:.7g}, at {[float(each[n]) for each in inputs]}" for n in wrong[:5]]
        assert not wrong.size, f"{len(wrong)} of result {place} of {(*names, 'x')}:\n" + "\n".join(told)
