"""ArviZ: draws with the names of their axes, and the log likelihood of each datum."""

import numpy as np
import pytest
import targets
from clients import CLIENT
from scipy import stats

import vecdist
import vecdist.interop
from vecdist import LogDensity
from vecdist.distributions import Normal

pytestmark = CLIENT


def draws(density):
    return np.random.default_rng(0).normal(size=(4, 50, density.ndim))


def groups(tree):
    """The names of the groups of a ``DataTree``, or of the ``InferenceData`` of ArviZ before 1.0."""
    return set(tree.children) if hasattr(tree, "children") else set(tree.groups())


def test_eight_schools():
    density = targets.schools_density()
    x = draws(density)
    tree = vecdist.interop.arviz.data(density, x, observed={"effects": targets.EFFECTS})
    assert groups(tree) == {"posterior", "log_likelihood", "observed_data"}
    posterior = tree["posterior"]
    assert dict(posterior["eta"].sizes) == {"chain": 4, "draw": 50, "school": 8}
    assert dict(posterior["tau"].sizes) == {"chain": 4, "draw": 50}
    np.testing.assert_array_equal(posterior["mu"].values, x[..., 8])
    np.testing.assert_allclose(posterior["tau"].values, np.exp(x[..., 9]), rtol=1e-14)
    for group, name in (("log_likelihood", "effects"), ("observed_data", "effects"), ("posterior", "eta")):
        assert list(tree[group][name]["school"].values) == list("ABCDEFGH")
    theta = x[..., 8:9] + np.exp(x[..., 9:]) * x[..., :8]
    wanted = stats.norm.logpdf(targets.EFFECTS, theta, targets.ERRORS)
    np.testing.assert_allclose(tree["log_likelihood"]["effects"].values, wanted, rtol=1e-12)
    assert tree["log_likelihood"]["effects"].dims == ("chain", "draw", "school")


def test_a_regression_and_what_it_predicts():
    import arviz

    def predict(key, beta):
        return {"y": vecdist.sample(key, Normal(beta.sum(), 1.0), 5)}

    density = targets.logistic().density
    tree = vecdist.interop.arviz.data(density, draws(density))
    assert groups(tree) == {"posterior"}  # the model does not part prior and likelihood
    assert arviz.summary(tree).shape[0] == 3
    density = LogDensity(targets.logistic_model, density.parameters, predict=predict)
    tree = vecdist.interop.arviz.data(density, draws(density), key=3)
    assert tree["posterior_predictive"]["y"].shape == (4, 50, 5)


def test_other_shapes_are_errors():
    density = targets.logistic().density
    for shape in ((4, 3), (4, 50, 2), (2, 4, 50, 3)):
        with pytest.raises(ValueError, match=r"draws have shape \(chains, draws, 3\)"):
            vecdist.interop.arviz.data(density, np.zeros(shape))
