"""Tails and quantiles of shapes that no data have: what they tend to, and no other number."""

from math import log

import numpy as np
import pytest
import scipy.stats
from flint import arb, ctx

import vecdist
from vecdist import cdf, logcdf, logpmf, logsf, ppf, sf, value_and_partials
from vecdist.distributions import (
    Beta,
    BetaPrime,
    FisherSnedecor,
    GeneralizedNormal,
    HalfStudentT,
    InverseChi2,
    InverseGamma,
    NegativeBinomial,
    Poisson,
    ScaledInverseChi2,
    ZeroInflatedNegativeBinomial,
)
from vecdist.distributions.negative_binomial import POISSON

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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_infinite_dispersion_is_poisson(dtype):
    """In all verbs and in the slope in the mean; that in the dispersion is 0.  Terms with a log(r) cancel."""
    r = POISSON[np.dtype(dtype).itemsize]
    mean, x = np.array([0.3, 2.0, 40.0, 900.0], dtype), np.array([0.0, 3.0, 44.0, 850.0], dtype)
    dispersion = np.full(4, np.inf, dtype)
    q, rtol = np.array([0.1, 0.5, 0.8, 0.99], dtype), 400 * np.finfo(dtype).eps
    poisson, none = Poisson(mean), np.zeros(4)
    for other, slope in (
        (NegativeBinomial(mean=mean, dispersion=dispersion), None),
        (NegativeBinomial(log_mean=np.log(mean), dispersion=dispersion), mean),
        (ZeroInflatedNegativeBinomial(gate=none.astype(dtype), mean=mean, dispersion=dispersion), None),
    ):
        cancelling = abs(np.asarray(logpmf(other, x)) - np.asarray(logpmf(poisson, x)))
        assert (cancelling <= 2 * np.finfo(dtype).eps * (mean + x) * log(r)).all()
        for verb in (cdf, sf, logcdf, logsf):
            np.testing.assert_allclose(verb(other, x), verb(poisson, x), rtol=rtol * (1 if slope is None else 20))
        np.testing.assert_array_equal(ppf(other, q), ppf(poisson, q))
        np.testing.assert_allclose(vecdist.mean(other), vecdist.mean(poisson), rtol=rtol)
        np.testing.assert_allclose(vecdist.variance(other), vecdist.variance(poisson), rtol=rtol)
    _, (of_mean, of_dispersion) = value_and_partials(
        logpmf(NegativeBinomial(mean=mean, dispersion=dispersion), x), (mean, dispersion)
    )
    np.testing.assert_allclose(of_mean, x / mean - 1, rtol=rtol)
    np.testing.assert_array_equal(of_dispersion, 0.0)
    with pytest.raises(vecdist.InvalidParameter):
        np.asarray(logpmf(NegativeBinomial(mean=mean, dispersion=-dispersion), x))
