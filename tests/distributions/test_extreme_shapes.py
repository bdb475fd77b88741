"""Tails and quantiles of shapes that no data have: what they tend to, and no other number."""

import numpy as np
import pytest
import scipy.stats
from flint import arb, ctx

from vecdist import cdf, logcdf, logsf, ppf, sf, value_and_partials
from vecdist.distributions import (
    Beta,
    BetaPrime,
    FisherSnedecor,
    GeneralizedNormal,
    HalfStudentT,
    InverseChi2,
    InverseGamma,
    ScaledInverseChi2,
)

pytestmark = pytest.mark.usefixtures("interpreter")
BITS = 5000
X = np.array([0.002, 0.05, 0.9, 2.0, 1e3, 1e10, 1e100, 1e150, 1e250, 1e300])
Q = np.array([1e-3, 0.01, 0.25, 0.5, 0.75, 0.99])


@pytest.mark.parametrize("shape", [1e-300, 1e-250, 1e-150, 1e-100, 1e-20])
def test_next_to_nothing_of_an_inverse_gamma_variable_is_a_float(shape):
    """Q(shape, scale / x) and its derivative in the shape, which is the same over the shape."""
    scale, at = 2.0, np.array(shape)
    with ctx.workprec(BITS):
        truth = np.array([float((arb(scale) / arb(float(x))).gamma_upper(arb(shape), 1)) for x in X])
    distribution = InverseGamma(at, scale)
    kept = truth > 1e-300
    truth = truth[kept]
    found = [np.asarray(verb(distribution, X))[kept] for verb in (cdf, logcdf, sf, logsf)]
    for mine, expected in zip(found, (truth, np.log(truth), 1 - truth, np.log1p(-truth)), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)
    _, (slope,) = value_and_partials(cdf(distribution, X), (at,))
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(slope[kept], truth / shape, rtol=1e-12)
    for other in (InverseChi2(2 * shape), ScaledInverseChi2(2 * shape, 1e150)):
        rises = np.asarray(cdf(other, X))
        assert (np.diff(rises) >= 0).all() and rises[-1] < 1e3 * shape


def test_a_power_without_end_is_uniform():
    x = np.array([-1.1, -1.0, -0.9, -0.1, 0.0, 0.5, 1.0, 1.1])
    for power in (1e250, 1e300):
        distribution = GeneralizedNormal(0.0, 1.0, power)
        expected = np.clip((x + 1) / 2, 0, 1)
        np.testing.assert_allclose(np.asarray(cdf(distribution, x)), expected, rtol=1e-14, atol=1e-200)
        np.testing.assert_allclose(np.asarray(sf(distribution, x)), 1 - expected, rtol=1e-14, atol=1e-200)


@pytest.mark.parametrize("huge", [1e80, 1e150, 1e300])
def test_quantiles_of_one_enormous_shape_are_of_gamma_variables(huge):
    of_gamma = scipy.stats.gamma.ppf(Q, 2.0)
    for family in (Beta, BetaPrime):
        np.testing.assert_allclose(np.asarray(ppf(family(2.0, huge), Q)) * huge, of_gamma, rtol=1e-12)
    np.testing.assert_allclose(ppf(FisherSnedecor(huge, 2.0), Q), 1 / scipy.stats.gamma.isf(Q, 1.0), rtol=1e-12)
    np.testing.assert_allclose(ppf(FisherSnedecor(2.0, huge), Q), scipy.stats.gamma.ppf(Q, 1.0), rtol=1e-12)
    of_normal = np.sqrt(2 * scipy.stats.gamma.ppf(Q, 0.5))
    np.testing.assert_allclose(ppf(HalfStudentT(huge, 3.0), Q), 3 * of_normal, rtol=1e-12)
