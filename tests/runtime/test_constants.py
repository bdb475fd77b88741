"""What depends on data alone is known before anything is compiled, whatever these refute of what is taken of them."""

import numpy as np
import pytest
from scipy import stats

import vecdist
from vecdist import logpdf, logpmf
from vecdist.distributions import Gamma, Poisson
from vecdist.runtime import constants, pipeline

Y = np.array([0, 3, 1, 0, 7, 2, 0, 0, 4, 1])


def counts(rate):
    """Zeros that say nothing, by a choice that data make."""
    return np.where(Y_DATA == 0, -1.5, logpmf(Poisson(rate), Y_DATA)).sum() + logpdf(Gamma(2.0, 1.0), rate)


Y_DATA = vecdist.data(Y)


def test_what_data_refute_is_found_before_a_kernel_is_compiled():
    before = pipeline.compilations()
    found = vecdist.compile(counts)(2.5)
    assert pipeline.compilations() == before + 1
    wanted = np.where(Y == 0, -1.5, stats.poisson.logpmf(Y, 2.5)).sum() + stats.gamma.logpdf(2.5, 2.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("small", [0, 2**17])
def test_other_constants_are_kept(small, monkeypatch):
    monkeypatch.setattr(constants, "SMALL", small)
    plans = []
    planned = pipeline.planned
    monkeypatch.setattr(pipeline, "planned", lambda *asked: plans.append(planned(*asked)) or plans[-1])
    data = vecdist.data(Y.copy())
    rate = vecdist.lazy(np.array([2.5, 4.0])[:, None])
    found = np.asarray(np.where(data == 0, -1.5, logpmf(Poisson(rate), data)).sum(-1))
    wanted = np.where(Y == 0, -1.5, stats.poisson.logpmf(Y, [[2.5], [4.0]])).sum(-1)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert plans[-1].constants, "the factorials of data are computed once"


def test_data_outside_the_support_are_an_edge_as_before():
    data = vecdist.data(np.array([1.0, -2.0, 3.0]))
    density = vecdist.compile(lambda rate: logpdf(Gamma(2.0, rate), data).sum())
    assert density(1.5) == -np.inf
