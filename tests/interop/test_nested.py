"""A log density as likelihood and prior, for dynesty."""

import numpy as np
import pytest
import targets
from clients import CLIENT
from scipy import stats

from vecdist import LogDensity, logpdf
from vecdist.distributions import Normal
from vecdist.interop import nested
from vecdist.parameters import real


def gaussian(**options):
    return LogDensity(lambda mu: logpdf(Normal(0.0, 1.0), mu).sum(), mu=real(2), **options)


@pytest.mark.usefixtures("uncompiled")
def test_prior_and_likelihood_make_the_log_density():
    reference = stats.norm([0.0, 1.0], [2.0, 3.0])
    loglikelihood, prior_transform = nested.functions(gaussian(), reference)
    u = np.random.default_rng(0).uniform(size=(5, 2))
    x = prior_transform(u)
    np.testing.assert_allclose(x, stats.norm.ppf(u) * [2.0, 3.0] + [0.0, 1.0], rtol=1e-12)
    prior = stats.norm.logpdf(x, [0.0, 1.0], [2.0, 3.0]).sum(axis=1)
    wanted = stats.norm.logpdf(x).sum(axis=1)
    np.testing.assert_allclose(loglikelihood(x) + prior, wanted, rtol=1e-12)
    assert loglikelihood(x[0]) == pytest.approx(wanted[0] - prior[0], rel=1e-12)


@pytest.mark.usefixtures("uncompiled")
def test_what_cannot_be_a_reference():
    with pytest.raises(ValueError, match="unnormalised"):
        nested.functions(gaussian(unnormalised=True), stats.norm())
    with pytest.raises(ValueError, match=r"length 2 gives arrays of shape \(3,\)"):
        nested.functions(gaussian(), Three())


class Three:
    """A distribution of three numbers."""

    def ppf(self, q):
        return np.zeros(3)

    logpdf = ppf


@pytest.mark.parametrize("name", [pytest.param(name, marks=CLIENT) for name in ("gamma", "logistic")])
def test_dynesty(name):
    import dynesty

    target = targets.TARGETS[name]()
    _, _, evidence = getattr(targets, f"{name}_grid")()
    reference = stats.t(5, loc=target.mean, scale=1.5 * target.scale)
    loglikelihood, prior_transform = nested.functions(target.density, reference)
    rng = np.random.default_rng(5)
    ndim = target.density.ndim
    sampler = dynesty.NestedSampler(loglikelihood, prior_transform, ndim, nlive=150, rstate=rng, sample="rwalk")
    sampler.run_nested(print_progress=False, dlogz=0.1)
    found = sampler.results
    assert abs(found.logz[-1] - evidence) < 4.5 * found.logzerr[-1]
    target.check(found.samples_equal(rng)[None])
