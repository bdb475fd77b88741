"""emcee and zeus take a log density as it is: a function of many vectors at once."""

import numpy as np
import pytest
import targets
from clients import CLIENT, counted

pytestmark = CLIENT
WALKERS = 32


def starts(target):
    return np.stack([target.density.initial_point(seed) for seed in range(WALKERS)])


@pytest.mark.parametrize("name", ["gamma", "logistic"])
def test_emcee(name, monkeypatch):
    import emcee

    target = targets.TARGETS[name]()
    ndim = target.density.ndim
    sampler = emcee.EnsembleSampler(WALKERS, ndim, target.density, vectorize=True)
    sampler.random_state = np.random.RandomState(4).get_state()
    first = starts(target)
    with counted(monkeypatch) as shapes:
        state = sampler.run_mcmc(first, 1)
        assert shapes == [(WALKERS, ndim), (WALKERS // 2, ndim), (WALKERS // 2, ndim)]
    sampler.run_mcmc(state, 3000)
    target.check(sampler.get_chain(discard=500).swapaxes(0, 1))


@pytest.mark.parametrize("name", ["gamma", "logistic"])
def test_zeus(name):
    import zeus

    target = targets.TARGETS[name]()
    np.random.seed(5)  # where zeus draws from
    sampler = zeus.EnsembleSampler(
        WALKERS, target.density.ndim, target.density, vectorize=True, verbose=False
    )
    sampler.run_mcmc(starts(target), 1200, progress=False)
    target.check(sampler.get_chain(discard=300).swapaxes(0, 1))
