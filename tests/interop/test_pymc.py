"""PyMC: a log density as an operation in PyTensor's graphs."""

import numpy as np
import pytest
import targets
from clients import CLIENT, counted

import vecdist.interop

pytestmark = CLIENT


@pytest.mark.parametrize("name", ["gamma", "logistic"])
def test_pymc(name):
    import pymc

    target = targets.TARGETS[name]()
    with vecdist.interop.pymc.model(target.density):
        trace = pymc.sample(
            600, tune=400, chains=2, cores=1, random_seed=9, progressbar=False, compute_convergence_checks=False,
            nuts_sampler="pymc",
        )  # fmt: skip
    target.check(trace["posterior"]["x"].values)


def test_one_call_and_the_same_bits(monkeypatch):
    import pytensor

    density = targets.gamma().density
    x = pytensor.tensor.dvector("x")
    value = vecdist.interop.pymc.function(density)(x)
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        function = pytensor.function([x], [value, pytensor.grad(value, x)], mode=mode)
        for seed in range(3):
            start = density.initial_point(seed)
            wanted, slopes = density.logdensity_and_gradient(start)
            with counted(monkeypatch) as shapes:
                found, gradient = function(start)
                assert shapes == [(3,)]
            assert found == wanted and np.array_equal(gradient, slopes)
    with pytest.raises(ValueError, match="vectors of length 3"):
        function(np.zeros(4))


def test_other_vectors_are_errors_when_the_graph_is_built():
    from pytensor import tensor

    function = vecdist.interop.pymc.function(targets.gamma().density)
    for wrong in (tensor.fvector(), tensor.dmatrix(), tensor.dscalar()):
        with pytest.raises(TypeError, match="float64 vectors, given"):
            function(wrong)
