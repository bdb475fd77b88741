"""JAX and what is built on it: the kernel within compiled programs, and BlackJAX and NumPyro sampling with it."""

import densities
import numpy as np
import pytest
import targets
from clients import CLIENT, Counting, counted

import vecdist.interop
from vecdist import LogDensity, lazy
from vecdist.parameters import real

pytestmark = CLIENT


@pytest.fixture(autouse=True)
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture(scope="module")
def density():
    return densities.schools()


@pytest.fixture(params=[True, False], ids=["foreign", "callback"])
def f(request, density):
    return vecdist.interop.jax.function(density, foreign=request.param)


def points(*shape):
    return np.random.default_rng(1).normal(size=shape)


def test_it_is_the_kernel_bit_for_bit(jax, f, density):
    x = points(6, 10)
    for each in x:
        value, gradient = density.logdensity_and_gradient(each)
        assert f(each) == jax.jit(f)(each) == value
        for derive in (jax.grad(f), jax.jit(jax.grad(f))):
            np.testing.assert_array_equal(derive(each), gradient)
    values, gradients = density.logdensity_and_gradient(x)
    twice = lambda g: lambda x: jax.vmap(jax.vmap(g))(x[:, None])[:, 0]  # noqa: E731
    for mapped in (jax.vmap, lambda g: jax.jit(jax.vmap(g)), twice):
        np.testing.assert_array_equal(mapped(f)(x), values)
        np.testing.assert_array_equal(mapped(jax.grad(f))(x), gradients)
    np.testing.assert_array_equal(f(x.reshape(3, 2, 10)), values.reshape(3, 2))
    weighted = jax.grad(lambda x: (f(x) * np.arange(6.0)).sum())(x)
    np.testing.assert_array_equal(weighted, gradients * np.arange(6)[:, None])


def test_it_takes_part_in_other_functions(jax, f, density):
    x = points(10)
    value, gradient = density.logdensity_and_gradient(2.0 * x)
    found = jax.jit(jax.value_and_grad(lambda x: 3.0 * f(2.0 * x) + x[0]))(x)
    np.testing.assert_allclose(found[0], 3.0 * value + x[0], rtol=1e-14)
    np.testing.assert_allclose(found[1], 6.0 * gradient + (np.arange(10) == 0), rtol=1e-13)

    def step(x, _):
        value, slope = jax.value_and_grad(f)(x)
        return x + 1e-3 * slope, value

    wanted = []
    last, values = jax.jit(lambda x: jax.lax.scan(step, x, length=50))(x)
    for _ in range(50):
        value, gradient = density.logdensity_and_gradient(x)
        wanted.append(value)
        x = x + 1e-3 * gradient
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    np.testing.assert_allclose(last, x, rtol=1e-12)


def test_one_call_of_the_kernel_for_value_and_gradient(jax, density, monkeypatch):
    counting = Counting(density)
    f = jax.value_and_grad(vecdist.interop.jax.function(counting))
    jax.block_until_ready(jax.jit(f)(points(10)))
    assert counting.rows == [1]
    jax.block_until_ready(jax.jit(jax.vmap(f))(points(7, 10)))
    assert counting.rows == [1, 7]
    with counted(monkeypatch) as shapes:
        f = jax.value_and_grad(vecdist.interop.jax.function(density, foreign=False))
        jax.block_until_ready(jax.jit(f)(points(10)))
        assert shapes == [(10,)]
        jax.block_until_ready(jax.jit(jax.vmap(f))(points(7, 10)))
        assert shapes == [(10,), (7, 10)]


def test_other_arrays_are_errors_when_traced(jax, f):
    for wrong in (np.zeros(9), np.zeros((10, 3)), np.zeros(())):
        for call in (f, jax.jit(f), jax.grad(lambda x: f(x).sum())):
            with pytest.raises(ValueError, match="vectors of length 10, given an array of shape"):
                call(wrong)
    for wrong in (np.zeros(10, np.float32), np.zeros(10, int)):
        for call in (f, jax.jit(f)):
            with pytest.raises(TypeError, match="float64 vectors, given"):
                call(wrong)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(TypeError, match=r"given float32; jax.config.update\(\"jax_enable_x64\", True\)"):
        f(np.zeros(10))
    jax.config.update("jax_enable_x64", True)
    with pytest.raises(TypeError, match="forward"):
        jax.jvp(f, (np.zeros(10),), (np.zeros(10),))


def test_float32_and_products_of_matrices(jax):
    single = densities.schools(dtype=np.float32)
    with pytest.warns(UserWarning, match="JAX calls this log density through Python.* is of float32"):
        f, x = vecdist.interop.jax.function(single), points(10).astype(np.float32)
    value, gradient = jax.jit(jax.value_and_grad(f))(x)
    assert value.dtype == gradient.dtype == np.float32
    wanted, slopes = single.logdensity_and_gradient(x)
    assert value == np.float32(wanted) and np.array_equal(gradient, slopes)
    product = LogDensity(lambda a: (a @ lazy(np.eye(2))).sum() - (a**2).sum(), a=real((2, 2)))
    with pytest.warns(UserWarning, match="has calls between kernels"):
        f, x = vecdist.interop.jax.function(product), points(4)
    assert jax.jit(f)(x) == product.logdensity_and_gradient(x)[0]


def test_a_regression_is_called_without_python(jax):
    """For one vector and for many, though many are a product of matrices elsewhere."""
    rows = vecdist.data(np.random.default_rng(0).normal(size=(400, 3)))
    density = LogDensity(lambda b: -0.5 * ((rows @ b - 0.3) ** 2).sum(), b=real(3))
    f, x = vecdist.interop.jax.function(density), points(11, 3)
    for function, at in ((f, x[0]), (jax.vmap(jax.value_and_grad(f)), x)):
        text = jax.jit(function).lower(at).as_text()
        assert "vecdist_log_density" in text and "callback" not in text
    values, gradients = jax.jit(jax.vmap(jax.value_and_grad(f)))(x)
    for each, value, gradient in zip(x, values, gradients, strict=True):
        wanted, slopes = density.logdensity_and_gradient(each)
        assert value == wanted and np.array_equal(gradient, slopes)


def test_no_density_is_an_infinite_value(jax, f):
    x = points(3, 10)
    x[1, 9] = 1e5
    values = jax.jit(f)(x)
    assert np.isfinite(values).tolist() == [True, False, True] and values[1] == -np.inf


def test_the_kernel_outlives_the_log_density(jax):
    import gc

    def compiled():
        return jax.jit(vecdist.interop.jax.function(densities.schools())).lower(np.zeros(10)).compile()

    call = compiled()
    gc.collect()
    assert call(np.zeros(10)) == pytest.approx(densities.schools_oracle(np.zeros(10)), rel=1e-13)


@pytest.mark.parametrize(("name", "foreign"), [("schools", True), ("gamma", True), ("gamma", False)])
def test_blackjax(jax, name, foreign):
    import blackjax

    target = targets.TARGETS[name]()
    f = vecdist.interop.jax.function(target.density, foreign)
    starts = np.stack([target.density.initial_point(seed) for seed in range(4)])
    keys = jax.random.split(jax.random.key(7), (2, 4))

    def chain(keys, start):
        (state, found), _ = blackjax.window_adaptation(blackjax.nuts, f).run(keys[0], start, num_steps=400)
        step = blackjax.nuts(f, **found).step
        return jax.lax.scan(lambda state, key: 2 * (step(key, state)[0],), state, jax.random.split(keys[1], 1000))[1]

    draws = jax.jit(jax.vmap(chain, in_axes=(1, 0)))(keys, starts)
    target.check(np.asarray(draws.position))


@pytest.mark.parametrize(("name", "draws"), [("mixture", 600), ("logistic", 600), ("poisson", 1500)])
def test_numpyro(jax, name, draws):
    from numpyro.infer import MCMC, NUTS

    target = targets.TARGETS[name]()
    f = vecdist.interop.jax.function(target.density)
    kernel = NUTS(potential_fn=lambda x: -f(x))
    sampler = MCMC(
        kernel, num_warmup=300, num_samples=draws, num_chains=4, chain_method="vectorized", progress_bar=False
    )
    starts = np.stack([target.density.initial_point(seed) for seed in range(4)])
    sampler.run(jax.random.key(8), init_params=starts)
    target.check(np.asarray(sampler.get_samples(group_by_chain=True)))
