"""Verbs beside ``logpdf`` as kernels compute them: with routines, choices and bounds in one loop."""

import numpy as np
import pytest
import scipy.stats

from vecdist import cdf, logsf, ppf, value_and_grad
from vecdist.distributions import Gamma, Normal, Poisson, Triangular


@pytest.mark.usefixtures("execution")
def test_several_verbs_in_one_kernel():
    loc, shape, rate = np.array(0.5), np.array([0.7, 2.0, 30.0]), np.array([0.3, 4.0, 900.0])
    x, q = np.array([-1.0, 0.25, 3.0]), np.array([0.001, 0.5, 0.999])
    tails = logsf(Normal(loc, 2.0), x).sum() + cdf(Triangular(-2.0, 4.0, loc), x).sum()
    quantiles = ppf(Gamma(shape, 2.0), q).sum() + ppf(Poisson(rate), q).sum()
    value, (of_loc, of_shape) = value_and_grad(tails + quantiles, wrt=(loc, shape))
    triangle = scipy.stats.triang((loc + 2) / 6, -2, 6)
    expected = (
        scipy.stats.norm.logsf(x, loc, 2.0).sum() + triangle.cdf(x).sum()
        + scipy.stats.gamma.ppf(q, shape, scale=2.0).sum() + scipy.stats.poisson.ppf(q, rate).sum()
    )
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    step = 1e-5
    up, down = (scipy.stats.gamma.ppf(q, shape + d, scale=2.0) for d in (step, -step))
    np.testing.assert_allclose(of_shape, (up - down) / (2 * step), rtol=1e-6)
    hazard = scipy.stats.norm.pdf(x, loc, 2.0) / scipy.stats.norm.sf(x, loc, 2.0)
    in_peak = [scipy.stats.triang((loc + d + 2) / 6, -2, 6).cdf(x).sum() for d in (step, -step)]
    np.testing.assert_allclose(of_loc, hazard.sum() + (in_peak[0] - in_peak[1]) / (2 * step), rtol=1e-8)
