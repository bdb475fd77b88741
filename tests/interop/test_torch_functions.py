"""Compiled functions as functions of PyTorch: values and derivatives of any order beside formulas in PyTorch."""

import numpy as np
import pytest
from clients import CLIENT
from hypothesis import given, settings
from hypothesis import strategies as st

import vecdist
import vecdist.interop
from vecdist import logpdf
from vecdist.distributions import Gamma

pytestmark = CLIENT


@pytest.fixture(autouse=True, scope="module")
def torch():
    return pytest.importorskip("torch")


def elementwise(a, x):
    return np.exp(-a * a) * np.sin(x) + a * x


def moved(a, x):
    return (np.cos(a[None, :] * x).sum(axis=0) / (1.0 + (x * x).mean())).reshape(-1, 1)


def scalar(a, x):
    return np.log1p((x @ a) ** 2).sum()


def formulas(torch):
    """The same, of a vector ``a`` and a matrix ``x`` whose rows are as long."""
    return [
        (elementwise, lambda a, x: torch.exp(-a * a) * torch.sin(x) + a * x),
        (moved, lambda a, x: (torch.cos(a[None, :] * x).sum(dim=0) / (1.0 + (x * x).mean())).reshape(-1, 1)),
        (scalar, lambda a, x: torch.log1p((x @ a) ** 2).sum()),
    ]


def pair(torch, which, dtype=np.float64, rows=3, length=4, seed=7):
    """A vector and a matrix, the formula compiled by vecdist, and that of PyTorch."""
    random = np.random.default_rng(seed)
    arrays = [torch.from_numpy(random.normal(size=size).astype(dtype)) for size in (length, (rows, length))]
    ours, theirs = formulas(torch)[which]
    return arrays, vecdist.interop.torch.function(vecdist.compile(ours)), theirs


def squares(f):
    return lambda *arrays: (f(*arrays) ** 2).sum()


DERIVED = {
    "value": lambda func, f: f,
    "grad": lambda func, f: func.grad(squares(f), (0, 1)),
    "jacfwd": lambda func, f: func.jacfwd(f, (0, 1)),
    "jacrev": lambda func, f: func.jacrev(f, (0, 1)),
    "hessian": lambda func, f: func.hessian(squares(f), (0, 1)),
    "reverse over reverse": lambda func, f: func.jacrev(func.jacrev(f), 1),
}


def same(found, wanted):
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for each, other in zip(found, wanted, strict=True):
            same(each, other)
        return
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    found, wanted = found.detach().numpy(), wanted.detach().numpy()
    rtol = 1e-9 if wanted.dtype == np.float64 else 2e-3
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * max(1.0, np.abs(wanted).max(initial=0.0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", DERIVED)
@settings(max_examples=3, deadline=None, derandomize=True)
@given(which=st.integers(0, 2), rows=st.integers(1, 4), length=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_formula_of_torch(torch, name, dtype, which, rows, length, seed):
    arrays, f, g = pair(torch, which, dtype, rows, length, seed)
    same(DERIVED[name](torch.func, f)(*arrays), DERIVED[name](torch.func, g)(*arrays))


@pytest.mark.parametrize("axes", [(0, None), (None, 1), (1, 0)])
@pytest.mark.parametrize("name", DERIVED)
def test_rows(torch, name, axes):
    (a, x), f, g = pair(torch, 1)
    many = [
        array if axis is None else torch.stack([array, 2 * array, 1 - array], axis)
        for array, axis in zip((a, x), axes, strict=True)
    ]
    found = torch.func.vmap(DERIVED[name](torch.func, f), axes)(*many)
    same(found, torch.func.vmap(DERIVED[name](torch.func, g), axes)(*many))


def twice(torch, f, a, x):
    """Value, gradient, and the gradient of a function of the gradient, by autograd."""
    a, x = a.clone().requires_grad_(), x.clone().requires_grad_()
    value = f(a, x)
    slopes = torch.autograd.grad((value**2).sum(), (a, x), create_graph=True)
    return value, slopes, torch.autograd.grad(sum((slope**3).sum() for slope in slopes), (a, x))


@pytest.mark.parametrize("which", range(3))
def test_autograd_twice_and_forward(torch, which):
    from torch.autograd import forward_ad, gradcheck, gradgradcheck

    (a, x), f, g = pair(torch, which)
    same(twice(torch, f, a, x), twice(torch, g, a, x))
    with forward_ad.dual_level():
        given = forward_ad.make_dual(a, torch.ones_like(a)), x
        same(forward_ad.unpack_dual(f(*given)).tangent, forward_ad.unpack_dual(g(*given)).tangent)
    inputs = a.requires_grad_(), x.requires_grad_()
    assert gradcheck(f, inputs, check_forward_ad=True) and gradgradcheck(f, inputs)


@pytest.mark.parametrize("which", range(3))
def test_compiled_programs_take_it_whole(torch, which):
    torch._dynamo.reset()
    (a, x), f, g = pair(torch, which)
    compiled = torch.compile(lambda a, x: 2.0 * f(a + 1.0, x), fullgraph=True, backend="aot_eager")
    wanted = lambda a, x: 2.0 * g(a + 1.0, x)  # noqa: E731
    same(compiled(a, x), wanted(a, x))
    for arrays in ((a, x), (a[:3], x[:2, :3])):
        leaves = [each.clone().requires_grad_() for each in arrays]
        found = torch.autograd.grad(compiled(*leaves).sum(), leaves)
        same(found, torch.autograd.grad(wanted(*leaves).sum(), leaves))


def test_the_operation_is_one_of_torch(torch):
    from vecdist.interop import torch_functions

    (a, x), f, _ = pair(torch, 1)
    f(a, x)
    number = len(torch_functions._calls) - 1
    given = [a.requires_grad_(), x.requires_grad_()]
    torch.library.opcheck(torch_functions.operation, (number, given))
    mapped = torch.func.vmap(lambda a: torch_functions.operation(number, [a, x.detach()])[0])
    same(mapped(torch.stack([a.detach(), -a.detach()])), torch.stack([f(a, x), f(-a, x)]))


def test_tensors_are_read_and_results_given_where_they_lie(torch, monkeypatch):
    from vecdist.interop import calls

    seen = []
    original = calls.Call.__call__

    def noting(self, arrays):
        results = original(self, arrays)
        seen.extend([*arrays, *results])
        return results

    monkeypatch.setattr(calls.Call, "__call__", noting)
    (a, x), f, _ = pair(torch, 0)
    value = f(a, x)
    assert [each.ctypes.data for each in seen] == [each.data_ptr() for each in (a, x, value)]


def test_densities_outside_of_their_support(torch):
    f = vecdist.interop.torch.function(vecdist.compile(lambda a, x: logpdf(Gamma(a, 2.0), x)))
    found = f(torch.tensor([1.5, 1.5, -1.0]), torch.tensor([1.0, -1.0, 1.0]))
    assert found.isfinite()[0] and found[1] == -np.inf and found.isnan()[2]


def test_whole_numbers_have_no_derivatives(torch):
    f = vecdist.interop.torch.function(vecdist.compile(lambda x, n: x[n] * n))
    x, n = torch.arange(4.0), torch.tensor([3, 1])
    for jacobian in (torch.func.jacfwd, torch.func.jacrev):
        assert jacobian(f)(x, n).tolist() == [[0, 0, 0, 3], [0, 1, 0, 0]]
    rounded = vecdist.interop.torch.function(vecdist.compile(lambda x: x > 1.0))
    choice = lambda x: torch.where(rounded(x), x, 0.0).sum()  # noqa: E731
    assert torch.func.grad(choice)(x).tolist() == [0, 0, 1, 1]
    assert torch.func.jvp(choice, (x,), (x,))[1] == 5.0


def test_what_does_not_fit_is_an_error(torch):
    f = vecdist.interop.torch.function(vecdist.compile(lambda a, x: a * x))
    with pytest.raises(ValueError, match="do not broadcast"):
        f(torch.zeros(2, 3), torch.zeros(2, 4))
    for wrong in (torch.bfloat16, torch.complex64):
        with pytest.raises(TypeError, match=f"given a tensor of {wrong}"):
            f(torch.zeros(3, dtype=wrong), torch.zeros(3))
    with pytest.raises(TypeError, match=r"on one GPU; given .*meta"):
        f(torch.zeros(3, device="meta"), torch.zeros(3))
    with pytest.raises(TypeError, match='errors="raise" has no place'):
        vecdist.interop.torch.function(vecdist.compile(lambda a: a, errors="raise"))
