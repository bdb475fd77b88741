"""Log densities of PyTorch's tensors on a real GPU: the numbers of the CPU, on PyTorch's stream, without a copy."""

import densities
import numpy as np
import pytest

import vecdist.interop

pytestmark = [pytest.mark.cuda, pytest.mark.clients, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("cupy")
    return torch


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_gradients(torch, dtype):
    density = densities.schools(dtype=dtype)
    f, exact = vecdist.interop.torch.function(density), dtype == np.float64
    tolerance = {"rtol": 1e-10 if exact else 1e-5, "atol": 1e-11 if exact else 1e-4}
    for lead in ((), (1,), (7,), (2, 3)):
        x = np.random.default_rng(0).normal(size=(*lead, density.ndim)).astype(dtype)
        wanted, slopes = density.logdensity_and_gradient(x)
        tensor = torch.tensor(x, device="cuda", requires_grad=True)
        value = f(tensor)
        value.sum().backward()
        assert value.device == tensor.device and value.dtype == tensor.dtype and value.shape == lead
        np.testing.assert_allclose(value.detach().cpu().numpy(), wanted, rtol=tolerance["rtol"])
        np.testing.assert_allclose(tensor.grad.cpu().numpy(), slopes, **tolerance)


def test_vmap_and_another_stream(torch):
    density = densities.schools()
    f, x = vecdist.interop.torch.function(density), np.random.default_rng(1).normal(size=(300, density.ndim))
    wanted, slopes = density.logdensity_and_gradient(x + 1.0)
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(20):
            tensor = torch.tensor(x, device="cuda") + 1.0
            gradient, value = torch.func.vmap(torch.func.grad_and_value(f))(tensor)
            total = value.sum() + gradient.sum()
        assert float(total) == pytest.approx(wanted.sum() + slopes.sum(), rel=1e-10)
