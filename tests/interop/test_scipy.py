"""SciPy takes a log density as it is: ``neg`` is what ``minimize`` wants."""

import numpy as np
import pytest
import targets
from scipy import optimize


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gamma", "logistic"])
@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-constr"])
def test_minimize(name, method):
    target, log_posterior = targets.TARGETS[name](), getattr(targets, f"{name}_log_posterior")
    start = target.density.initial_point(0)
    found = optimize.minimize(target.density.neg, start, jac=True, method=method)
    wanted = optimize.minimize(lambda x: -log_posterior(x[None])[0], start, method="Nelder-Mead", tol=1e-9)
    assert found.fun == pytest.approx(wanted.fun, abs=1e-5)
    np.testing.assert_allclose(found.x, wanted.x, atol=3e-3)
