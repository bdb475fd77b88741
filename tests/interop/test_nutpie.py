"""nutpie: NUTS in threads that call the kernel by its address, or Python."""

import numpy as np
import pytest
import targets
from clients import CLIENT

import vecdist.interop
from vecdist import LogDensity, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import positive, real, simplex

pytestmark = CLIENT


def sampled(model, draws=2000, cores=2, seed=3):
    import nutpie

    return nutpie.sample(model, draws=draws, tune=500, chains=4, cores=cores, seed=seed, progress_bar=False)


def named(tree, density):
    return {name: tree["posterior"][name].values for name in density.names}


@pytest.mark.parametrize("name", targets.TARGETS)
def test_posteriors_by_address(name):
    target = targets.TARGETS[name]()
    model = vecdist.interop.nutpie.model(target.density)
    assert type(model).__name__ == "CompiledPyMCModel"
    target.check_quantities(target.quantities(named(sampled(model), target.density)))


@pytest.mark.parametrize("name", ["schools", "gamma"])
def test_posteriors_by_python(name):
    target = targets.TARGETS[name]()
    model = vecdist.interop.nutpie.model(target.density, native=False)
    assert type(model).__name__ == "PyFuncModel"
    target.check_quantities(target.quantities(named(sampled(model, cores=1), target.density)))


def test_both_ways_give_the_same_draws():
    density = targets.gamma().density
    one, other = (
        named(sampled(vecdist.interop.nutpie.model(density, native=native), draws=50, cores=1), density)
        for native in (True, False)
    )
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name])


@pytest.mark.parametrize("native", [True, False])
def test_names_axes_and_labels(native):
    def model(scales, weights, level):
        return -scales.sum() + logpdf(Normal(0.0, 1.0), level) + np.log(weights).sum()

    density = LogDensity(
        model, scales=positive((2, 3)), weights=simplex(4), level=real(),
        dims={"scales": ("row", "column"), "weights": ("part",)}, coords={"column": ["a", "b", "c"]},
    )  # fmt: skip
    posterior = sampled(vecdist.interop.nutpie.model(density, native=native), draws=20)["posterior"]
    assert dict(posterior["scales"].sizes) == {"chain": 4, "draw": 20, "row": 2, "column": 3}
    assert dict(posterior["weights"].sizes) == {"chain": 4, "draw": 20, "part": 4}
    assert dict(posterior["level"].sizes) == {"chain": 4, "draw": 20}
    assert list(posterior["column"].values) == ["a", "b", "c"]
    np.testing.assert_allclose(posterior["weights"].values.sum(axis=-1), 1.0, rtol=1e-12)
    assert (posterior["scales"].values > 0).all()


def test_float32_and_unknown_versions_call_python(monkeypatch):
    adapter, density = vecdist.interop.nutpie, targets.gamma().density
    single = LogDensity(targets.gamma_model, density.parameters, dtype=np.float32)
    with pytest.warns(UserWarning, match="nutpie calls this log density through Python.* is of float32"):
        model = adapter.model(single)
    assert type(model).__name__ == "PyFuncModel"
    assert np.isfinite(sampled(model, draws=20)["posterior"]["beta"].values).all()
    monkeypatch.setattr(adapter, "KNOWN", "1789.")
    with pytest.warns(UserWarning, match="known for nutpie 1789"):
        assert type(adapter.model(density)).__name__ == "PyFuncModel"


def test_a_region_without_density():
    def model(mu):
        return np.where(mu > 0.0, logpdf(Normal(0.0, 1.0), mu), -np.inf)

    for native in (True, False):
        density = LogDensity(model, mu=real())
        found = sampled(vecdist.interop.nutpie.model(density, native=native), draws=500)["posterior"]["mu"].values
        assert (found > 0.0).all() and abs(found.mean() - np.sqrt(2.0 / np.pi)) < 0.2
