"""PyTorch: a log density under autograd and torch.func."""

import numpy as np
import pytest
import targets
from clients import CLIENT, counted

import vecdist.interop
from vecdist import LogDensity

pytestmark = CLIENT


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(params=["schools", "gamma"])
def density(request):
    return targets.TARGETS[request.param]().density


def starts(density, count):
    return np.stack([density.initial_point(seed) for seed in range(count)])


def test_one_call_and_the_same_bits(torch, density, monkeypatch):
    f = vecdist.interop.torch.function(density)
    for x in starts(density, 3):
        value, gradient = density.logdensity_and_gradient(x)
        tensor = torch.from_numpy(x).requires_grad_()
        with counted(monkeypatch) as shapes:
            found = f(tensor)
            (2.0 * found).backward()
            assert shapes == [x.shape]
        assert found.item() == value and found.shape == ()
        np.testing.assert_array_equal(tensor.grad.numpy(), 2.0 * gradient)
    assert not f(torch.from_numpy(x)).requires_grad


def test_functional_transforms(torch, density, monkeypatch):
    f, x = vecdist.interop.torch.function(density), starts(density, 5)
    values, gradients = density.logdensity_and_gradient(x)
    tensor = torch.from_numpy(x)
    np.testing.assert_array_equal(f(tensor).numpy(), values)
    slopes, found = torch.func.grad_and_value(f)(tensor[0])
    assert found.item() == density(x[0]) and np.array_equal(slopes, density.logdensity_and_gradient(x[0])[1])
    with counted(monkeypatch) as shapes:
        slopes, found = torch.func.vmap(torch.func.grad_and_value(f))(tensor)
        assert shapes == [x.shape]
    np.testing.assert_array_equal(found.numpy(), values)
    np.testing.assert_array_equal(slopes.numpy(), gradients)
    np.testing.assert_array_equal(torch.func.vmap(f, in_dims=1)(tensor.T).numpy(), values)


def test_an_optimiser_of_torch_finds_the_mode(torch, density):
    from scipy import optimize

    wanted = optimize.minimize(density.neg, density.initial_point(0), jac=True, method="BFGS", tol=1e-9).fun
    x = torch.from_numpy(density.initial_point(0)).requires_grad_()
    f = vecdist.interop.torch.function(density)
    optimiser = torch.optim.LBFGS([x], max_iter=500, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = -f(x)
        value.backward()
        return value

    assert optimiser.step(loss) is not None
    assert -f(x).item() == pytest.approx(wanted, abs=1e-6)


def test_other_tensors_are_errors(torch, density):
    f = vecdist.interop.torch.function(density)
    for wrong in (torch.zeros(density.ndim), torch.zeros(density.ndim, dtype=torch.int64)):
        with pytest.raises(TypeError, match="float64 vectors, given"):
            f(wrong)
    with pytest.raises(TypeError, match="on meta"):
        f(torch.zeros(density.ndim, dtype=torch.float64, device="meta"))
    with pytest.raises(ValueError, match=f"length {density.ndim}"):
        f(torch.zeros(density.ndim + 1, dtype=torch.float64))
    x = torch.zeros(density.ndim, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        slope.sum().backward()
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        torch.func.grad(lambda x: torch.func.grad(f)(x).sum())(x.detach())


def test_float32(torch):
    density = LogDensity(targets.gamma_model, targets.gamma().density.parameters, dtype=np.float32)
    found = vecdist.interop.torch.function(density)(torch.zeros(3))
    wanted, _ = density.logdensity_and_gradient(np.zeros(3, np.float32))
    assert found.dtype == torch.float32 and found.item() == np.float32(wanted)
