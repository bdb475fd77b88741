"""Log densities and their slopes wherever floats can be: x over all their range, parameters of the size of problems'.

What is a float, with some room to the largest one, has to come out as that: no square or product on the way to it may
overflow or underflow.
"""

import math

import numpy as np
import pytest
from balls import certified
from family_cases import FAMILIES, parameters_of, scipys
from family_truth import LOG_DENSITY, true_density
from flint import arb

from vecdist import logpdf, value_and_partials
from vecdist.distributions import InverseGaussian

pytestmark = pytest.mark.usefixtures("interpreter")

COUNT = 12
# The largest float and the square of the least one are as many apart as the last of them; few points need these.
BITS = {8: (1800, 5000), 4: (900,)}
OF_COUNTS = (400,)
CERTAIN = 30  # bits of what is compared
LARGEST_COUNT = 1e6
PERIODS = 30.0  # what angles are between
GATED = 1e-29  # numbers below are zeros to the formula of what is gated
ROOM = 64.0
WHOLE = ("n", "draws", "successes", "failures", "low", "high")
CLOSE = {8: 1e-6, 4: 1e-3}


def truth(family, names, row, bits):
    """The value and the partial derivatives as floats; NaN where the formula does not know them."""
    at = [arb(float(v)) for v in row]

    def balls():
        found = [true_density(family, names, at[0], at[1:])]
        for place, v in enumerate(at):
            step = arb(2) ** (-bits[-1] // 4) * abs(v)
            up, down = (
                true_density(family, names, *split([w + s * (i == place) for i, w in enumerate(at)]))
                for s in (step, -step)
            )
            found.append((up - down) / (2 * step))
        return found

    found = certified(balls, CERTAIN + 1, bits)
    return [float(v) if v.rel_accuracy_bits() > CERTAIN or abs(v) < arb(2) ** -1100 else math.nan for v in found]


def split(at):
    return at[0], at[1:]


def points(family, names, parameters, dtype):
    """Any size as likely as any other, of both signs where the support has both."""
    rng = np.random.default_rng(len(names))
    information = np.finfo(dtype)
    least, most = np.log(float(information.tiny)), np.log(float(information.max) / ROOM)
    if family.discrete:
        least, most = 0.0, np.log(LARGEST_COUNT)
    if "gate" in names and not family.discrete:
        least = np.log(GATED)
    if family.__name__ == "VonMises":
        most = np.log(PERIODS)
    x = np.exp(rng.uniform(least, most, COUNT))
    x = np.rint(x) if family.discrete else x
    lower, upper = (np.broadcast_to(end, COUNT) for end in scipys(family, names, parameters).support())
    x = np.where((lower < -x) & (rng.uniform(size=COUNT) < 0.5), -x, x)
    return x.astype(dtype), (lower < x) & (x < upper)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", [family for name, family in FAMILIES.items() if name in LOG_DENSITY])
def test_what_is_a_float_is_found(family, dtype):
    names = family.parametrisations[0].names
    parameters = [each.astype(dtype) for each in parameters_of(family, names, size=COUNT)]
    x, inside = points(family, names, parameters, dtype)
    value, slopes = value_and_partials(logpdf(family(**dict(zip(names, parameters, strict=True))), x), (x, *parameters))
    most, least = float(np.finfo(dtype).max) / ROOM, float(np.finfo(dtype).tiny)
    size = np.dtype(dtype).itemsize
    held = ("x", *WHOLE) if family.discrete else ()
    for place in np.flatnonzero(inside):
        row = [float(each[place]) for each in (x, *parameters)]
        true = truth(family, names, row, OF_COUNTS if family.discrete else BITS[size])
        if not abs(true[0]) < most:
            continue
        for name, found, expected in zip(("value", "x", *names), (value, *slopes), true, strict=True):
            if abs(expected) < most and name not in held:
                got, scale = float(found[place]), max(abs(expected), 1.0 if name == "value" else 0.0)
                assert abs(got - expected) <= CLOSE[size] * scale + least, (name, row, got, expected)


@pytest.mark.parametrize(("dtype", "x"), [(np.float64, 9.86e-305), (np.float32, 5.5e-38)])
def test_a_slope_of_which_x_has_no_part(dtype, x):
    """In the mean that of an inverse Gaussian density is shape (x - mean) / mean^3, where x is next to nothing too."""
    mean, shape, x = (np.array(each, dtype) for each in (919.6, 6.0, x))
    _, (slope,) = value_and_partials(logpdf(InverseGaussian(mean, shape), x), (mean,))
    np.testing.assert_allclose(slope, -float(shape) / float(mean) ** 2, rtol=4 * np.finfo(dtype).eps)
