"""Functions of JAX within expressions: values and derivatives beside those of the formula in NumPy's words."""

import numpy as np
import pytest
from clients import CLIENT

import vecdist
import vecdist.interop
from vecdist import LogDensity, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import real

pytestmark = CLIENT


@pytest.fixture(autouse=True, scope="module")
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def arrays(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=4), random.normal(size=(3, 4))


def mapped(np):
    return lambda a, x: np.tanh((x * a).sum(axis=1)) * np.exp(a[0])


def inside(f):
    """An expression with kernels before and behind the call."""
    return lambda a, x: (f(2.0 * lazy(a) + 1.0, np.sin(lazy(x))) ** 2).sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_derivatives(jax, dtype):
    f, g = (inside(each) for each in (vecdist.interop.jax.expression(mapped(jax.numpy)), mapped(np)))
    a, x = (array.astype(dtype) for array in arrays())
    v, w = (array.astype(dtype) for array in arrays(1))
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    for derive in (
        lambda h: vecdist.value_and_grad(h(a, x), wrt=(a, x)),
        lambda h: vecdist.jvp(h(a, x), (a, x), (v, w)),
        lambda h: vecdist.hvp(h(a, x), (a, x), (v, w)),
    ):
        for each, other in zip(jax.tree.leaves(derive(f)), jax.tree.leaves(derive(g)), strict=True):
            assert each.dtype == other.dtype == dtype
            np.testing.assert_allclose(each, other, rtol=rtol, atol=rtol)


def test_a_hessian_and_several_results(jax):
    def both(x):
        return jax.numpy.cumsum(x**2), jax.numpy.argsort(x), x[::2] * x[1]

    def total(x):
        sums, order, others = vecdist.interop.jax.expression(both)(lazy(x))
        return (sums * order).sum() + np.exp(others).sum()

    def wanted(x):
        sums, order, others = both(x)
        return (sums * order).sum() + jax.numpy.exp(others).sum()

    x = arrays()[0]
    np.testing.assert_allclose(vecdist.hessian(total(x), x), jax.hessian(wanted)(x), rtol=1e-10, atol=1e-12)


def test_a_model_with_a_part_in_jax(jax):
    times, seen = np.linspace(0.0, 1.0, 5), np.array([1.0, 0.7, 0.5, 0.4, 0.2])

    def decay(rate):
        step = lambda y, _: (y - 0.25 * rate * y, y)  # noqa: E731
        return jax.lax.scan(step, 1.0 + 0.0 * rate, times)[1]

    of_jax = vecdist.interop.jax.expression(decay)

    def model(log_rate):
        return logpdf(Normal(of_jax(np.exp(log_rate)), 0.1), seen).sum() + logpdf(Normal(0.0, 1.0), log_rate)

    def wanted(x):
        residuals = (seen - decay(jax.numpy.exp(x[0]))) / 0.1
        constant = -0.5 * np.log(2 * np.pi)
        return (-0.5 * residuals**2 + constant - np.log(0.1)).sum() - 0.5 * x[0] ** 2 + constant

    density = LogDensity(model, log_rate=real())
    points = np.array([[0.3], [-0.2], [1.0]])
    values, gradients = density.logdensity_and_gradient(points)
    for x, value, gradient in zip(points, values, gradients, strict=True):
        expected, slope = jax.value_and_grad(wanted)(x)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-10)
    np.testing.assert_allclose(density.hessian(points[0]), jax.hessian(wanted)(points[0]), rtol=1e-9)


def test_there_and_back(jax):
    """A function of JAX within a compiled function within JAX."""
    f = vecdist.interop.jax.expression(mapped(jax.numpy))
    g = vecdist.interop.jax.function(vecdist.compile(lambda a, x: f(a, x) * 2.0))
    wanted = lambda a, x: mapped(jax.numpy)(a, x) * 2.0  # noqa: E731
    a, x = arrays()
    np.testing.assert_allclose(jax.jacrev(g)(a, x), jax.jacrev(wanted)(a, x), rtol=1e-10)


def test_what_jax_lacks_is_an_error(jax):
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(TypeError, match=r"is of float64; jax\.config\.update"):
        vecdist.interop.jax.expression(jax.numpy.sin)(lazy(np.ones(3)))
    jax.config.update("jax_enable_x64", True)
