"""Means, variances and entropies: where they are infinite, and with all their digits at parameters of any size."""

import numpy as np
import pytest
from family_cases import EVERY_FAMILY, parameters_of

from vecdist import mean, variance
from vecdist.verbs import known

pytestmark = pytest.mark.usefixtures("interpreter")

# The parameter of a tail that falls as a power of x, and up to where the mean and the variance are infinite.
HEAVY = {
    "BetaNegativeBinomial": ("alpha", 1, 2), "BetaPrime": ("beta", 1, 2), "FisherSnedecor": ("df2", 2, 4),
    "Frechet": ("shape", 1, 2), "HalfStudentT": ("df", 1, 2), "InverseChi2": ("df", 2, 4),
    "InverseGamma": ("shape", 1, 2), "LogLogistic": ("shape", 1, 2), "Lomax": ("shape", 1, 2),
    "Pareto": ("shape", 1, 2), "ScaledInverseChi2": ("df", 2, 4), "StudentT": ("df", 1, 2),
    "YuleSimon": ("alpha", 1, 2), "Zipf": ("power", 2, 3),
}
INDEX = {"GeneralizedExtremeValue": ("shape", 1, 0.5), "GeneralizedPareto": ("shape", 1, 0.5)}  # from where on
ALWAYS = {"Cauchy": np.nan, "HalfCauchy": np.inf, "Levy": np.inf}
TAILS = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0,
                  11.0, 12.0, 13.0, 14.0, 15.0])  # one for each of what parameters_of draws


@pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
def test_moments_are_infinite_where_their_integrals_are(family):
    """Of what is positive in its tail; with two such tails a mean that is not there has no variance either: NaN."""
    name, names = family.__name__, family.parametrisations[0].names
    parameters = dict(zip(names, parameters_of(family, names, np.float64), strict=True))
    tail, *ends = {**HEAVY, **INDEX}.get(name, (None, None, None))
    if tail:
        parameters[tail] = TAILS - 1.0 if name in INDEX else TAILS
        parameters |= {"power": TAILS + 1.0} if name == "Zipf" else {}
    for verb, end in zip((mean, variance), ends, strict=True):
        if known(family, verb.__name__) is None:
            continue
        found = np.asarray(verb(family(**parameters)))
        if name in ALWAYS:
            np.testing.assert_array_equal(found, np.full(24, ALWAYS[name]))
            continue
        at = parameters.get(tail, np.zeros(24))
        infinite = np.zeros(24, bool) if end is None else at >= end if name in INDEX else at <= end
        undefined = infinite & (name == "StudentT") & ((verb is mean) | (at <= 1))
        np.testing.assert_array_equal(np.isnan(found), undefined)
        np.testing.assert_array_equal(found == np.inf, infinite & ~undefined)
