"""Mici: a log density as the potential of a Hamiltonian system."""

import pickle

import numpy as np
import pytest
import targets
from clients import CLIENT, counted

import vecdist.interop

pytestmark = CLIENT


@pytest.mark.parametrize("name", ["gamma", "logistic"])
def test_mici(name):
    import mici

    target = targets.TARGETS[name]()
    system = vecdist.interop.mici.system(target.density)
    sampler = mici.samplers.DynamicMultinomialHMC(
        system, mici.integrators.LeapfrogIntegrator(system), np.random.default_rng(6)
    )
    found = sampler.sample_chains(
        300, 600, [target.density.initial_point(seed) for seed in range(2)], display_progress=False,
        adapters=[mici.adapters.DualAveragingStepSizeAdapter()], trace_funcs=[lambda state: {"x": state.pos}],
    )  # fmt: skip
    target.check(np.stack(found.traces["x"]), at_least=200)


def test_one_call_and_the_same_bits(monkeypatch):
    from mici.states import ChainState

    density = targets.gamma().density
    system, x = vecdist.interop.mici.system(density), density.initial_point(1)
    value, gradient = density.logdensity_and_gradient(x)
    with counted(monkeypatch) as shapes:
        state = ChainState(pos=x)
        np.testing.assert_array_equal(system.grad_neg_log_dens(state), -gradient)
        assert system.neg_log_dens(state) == -value  # kept by the state
        assert shapes == [(3,)]
    again = pickle.loads(pickle.dumps(system))
    assert again.neg_log_dens(ChainState(pos=x)) == pytest.approx(-value, rel=1e-14)
