"""Worst points of quantiles that were mended: the distribution function at them, and derivatives by its own.

A quantile is where the distribution function has its probability: dx/dq = 1/f and dx/dp = -F_p / f.
"""

from typing import Any

import numpy as np
import pytest

import vecdist
from vecdist.distributions import FAMILIES

POINTS = [
    ("StudentT", {"df": 262.6103, "loc": 0.51, "scale": 1.28483}, 0.683065),
    ("StudentT", {"df": 0.0632, "loc": -3.5, "scale": 0.2065}, 1 - 2.0**-40),
    ("HalfStudentT", {"df": 0.00518, "scale": 1.4916}, 0.728561),
    ("FisherSnedecor", {"df1": 237.712, "df2": 0.0202}, 0.814226),
    ("BetaPrime", {"alpha": 0.00768, "beta": 0.0241}, 0.728561),
    ("Beta", {"alpha": 421.1, "beta": 0.5}, 0.47091),
    ("Semicircle", {"radius": 7.85707}, 0.432631),
    ("Biweight", {"loc": -299.0, "scale": 87.9}, 0.511066),
    ("Arcsine", {"low": 0.027897, "high": 11.5003}, 0.99),
    ("LogUniform", {"low": 0.406205, "high": 403.714}, 0.999),
    ("AsymmetricLaplace", {"loc": 0.272842, "scale": 6.34598, "asymmetry": 9.8}, 0.99),
    ("Lindley", {"shape": 0.00418552}, 1.05222e-06),
    ("Lindley", {"shape": 374.574}, 0.0919159),
    ("ContinuousBernoulli", {"p": 0.906845}, 1 - 2.0**-20),
    ("Weibull", {"shape": 5.72889, "scale": 18.1196}, 0.633184),
    ("TruncatedCauchy", {"loc": 0.25, "scale": 3.42748, "low": -72.75, "high": -72.5}, 0.683065),
    ("TruncatedNormal", {"loc": 0.00301762, "scale": 0.214505, "low": 17.3918, "high": 17.8301}, 0.00299869),
    ("TruncatedNormal", {"loc": -33.2358, "scale": 7.98451, "low": 0.00424994, "high": 217.19}, 0.814226),
    ("TruncatedNormal", {"loc": 47.58, "scale": 0.25, "low": -0.0012, "high": 35.8}, 0.339),
]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point[0])
def test_derivatives_are_those_of_the_distribution_function(interpreter: Any, point: Any) -> None:
    name, given, q = point
    probability, *row = (np.array([each]) for each in (q, *given.values()))
    distribution = FAMILIES[name](**dict(zip(given, row, strict=True)))
    at = vecdist.value_and_partials(vecdist.ppf(distribution, probability), (probability, *row))
    x = np.asarray(at[0])
    below = vecdist.value_and_partials(vecdist.cdf(distribution, x), (x, *row))
    np.testing.assert_allclose(below[0], q, rtol=1e-6)
    slope = np.asarray(below[1][0])
    np.testing.assert_allclose(at[1][0], 1 / slope, rtol=1e-6)
    for mine, partial in zip(at[1][1:], below[1][1:], strict=True):
        np.testing.assert_allclose(mine, -np.asarray(partial) / slope, rtol=1e-5, atol=1e-9 * float(abs(x[0])))


@pytest.mark.parametrize(
    ("name", "given"), [("StudentT", {"df": 0.0012}), ("BetaPrime", {"alpha": 9.0, "beta": 0.001})]
)
def test_quantiles_beyond_floats_are_infinite(interpreter: Any, name: str, given: dict[str, float]) -> None:
    probability, *row = (np.array([each]) for each in (0.99999, *given.values()))
    lazy = vecdist.ppf(FAMILIES[name](**dict(zip(given, row, strict=True))), probability)
    value, partials = vecdist.value_and_partials(lazy, (probability, *row))
    np.testing.assert_array_equal(value, np.inf)
    np.testing.assert_array_equal(np.abs([np.asarray(each) for each in partials]), np.inf)
