"""Functions of PyTorch within expressions: values and derivatives beside those of the formula in NumPy's words."""

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
def torch():
    return pytest.importorskip("torch")


def arrays(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=4), random.normal(size=(3, 4))


def inside(f):
    """An expression with kernels before and behind the call."""
    return lambda a, x: (f(2.0 * lazy(a) + 1.0, np.sin(lazy(x))) ** 2).sum()


def leaves(found):
    return [each for one in found for each in leaves(one)] if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_derivatives(torch, dtype):
    of_torch = vecdist.interop.torch.expression(lambda a, x: torch.tanh((x * a).sum(dim=1)) * torch.exp(a[0]))
    f, g = inside(of_torch), inside(lambda a, x: np.tanh((x * a).sum(axis=1)) * np.exp(a[0]))
    a, x = (array.astype(dtype) for array in arrays())
    v, w = (array.astype(dtype) for array in arrays(1))
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    for derive in (
        lambda h: vecdist.value_and_grad(h(a, x), wrt=(a, x)),
        lambda h: vecdist.jvp(h(a, x), (a, x), (v, w)),
        lambda h: vecdist.hvp(h(a, x), (a, x), (v, w)),
    ):
        for each, other in zip(leaves(derive(f)), leaves(derive(g)), strict=True):
            assert each.dtype == other.dtype == dtype
            np.testing.assert_allclose(each, other, rtol=rtol, atol=rtol)


def test_a_hessian_and_several_results(torch):
    def both(x):
        return torch.cumsum(x**2, 0), torch.argsort(x), x[::2] * x[1]

    def total(x):
        sums, order, others = vecdist.interop.torch.expression(both)(lazy(x))
        return (sums * order).sum() + np.exp(others).sum()

    def wanted(x):
        sums, order, others = both(x)
        return (sums * order).sum() + torch.exp(others).sum()

    x = arrays()[0]
    expected = torch.func.hessian(wanted)(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(vecdist.hessian(total(x), x), expected, rtol=1e-10, atol=1e-12)


def test_a_model_with_a_module(torch):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()
    of_torch, seen = vecdist.interop.torch.expression(network), np.array([0.3, -0.4])
    density = LogDensity(lambda z: logpdf(Normal(of_torch(z), 0.5), seen).sum() - 0.5 * (z * z).sum(), z=real(3))

    def wanted(z):
        normal = torch.distributions.Normal(network(z), 0.5)
        return normal.log_prob(torch.from_numpy(seen)).sum() - 0.5 * (z * z).sum()

    points = np.random.default_rng(1).normal(size=(4, 3))
    values, gradients = density.logdensity_and_gradient(points)
    for z, value, gradient in zip(points, values, gradients, strict=True):
        slope, expected = torch.func.grad_and_value(wanted)(torch.from_numpy(z))
        np.testing.assert_allclose(value, expected.item(), rtol=1e-12)
        np.testing.assert_allclose(gradient, slope.detach().numpy(), rtol=1e-10)


def test_there_and_back(torch):
    """A function of PyTorch within a compiled function within PyTorch."""
    f = vecdist.interop.torch.expression(lambda a, x: torch.tanh(x @ a))
    g = vecdist.interop.torch.function(vecdist.compile(lambda a, x: f(a, x) * 2.0))
    a, x = map(torch.from_numpy, arrays())
    found, wanted = (torch.func.jacrev(h, (0, 1))(a, x) for h in (g, lambda a, x: torch.tanh(x @ a) * 2.0))
    for each, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-10)
