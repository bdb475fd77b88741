"""Log densities within compiled programs of JAX on a real GPU: the numbers of the CPU, launched without Python."""

import densities
import numpy as np
import pytest

import vecdist.interop

pytestmark = [pytest.mark.cuda, pytest.mark.clients, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def jax(monkeypatch):
    jax = pytest.importorskip("jax")
    pytest.importorskip("cupy")
    jax.config.update("jax_enable_x64", True)
    jax_calls = vecdist.interop.jax.jax_calls
    monkeypatch.setattr(jax_calls, "_host", lambda density: pytest.fail)  # if called back, it raises
    return jax


@pytest.mark.parametrize("make", [densities.schools, densities.regression])
def test_values_gradients_and_chains(jax, make):
    density = make()
    f = vecdist.interop.jax.function(density)
    for lead in ((), (1,), (9,), (2, 3)):
        x = np.random.default_rng(0).normal(size=(*lead, density.ndim))
        wanted, slopes = density.logdensity_and_gradient(x)
        g = jax.value_and_grad(f)
        for _ in lead:
            g = jax.vmap(g)
        value, gradient = jax.jit(g)(jax.device_put(x, jax.devices("gpu")[0]))
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-11)


def test_a_loop_of_a_hundred_steps(jax):
    """And runs of it at once: no call uses the working memory of another."""
    density = densities.schools()
    f = jax.vmap(jax.grad(vecdist.interop.jax.function(density)))
    loop = jax.jit(lambda x: jax.lax.scan(lambda x, _: (x + 1e-3 * f(x), None), x, length=100)[0])
    x = np.random.default_rng(1).normal(size=(16, density.ndim))
    found = [loop(jax.device_put(x + number, jax.devices("gpu")[0])) for number in range(8)]
    for number, last in enumerate(found):
        wanted = x + number
        for _ in range(100):
            wanted = wanted + 1e-3 * density.logdensity_and_gradient(wanted)[1]
        np.testing.assert_allclose(last, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wide", [False, True])
def test_float32(jax, wide):
    """Which is all that JAX has by default."""
    density = densities.schools(dtype=np.float32)
    x = np.random.default_rng(2).normal(size=(5, 10)).astype(np.float32)
    jax.config.update("jax_enable_x64", wide)
    value, gradient = jax.jit(jax.vmap(jax.value_and_grad(vecdist.interop.jax.function(density))))(x)
    assert value.dtype == gradient.dtype == np.float32
    wanted, slopes = density.logdensity_and_gradient(x)
    np.testing.assert_allclose(value, wanted, rtol=1e-6)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-5)
