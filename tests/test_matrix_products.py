"""Products of two matrices, by BLAS between kernels: values, derivatives of both orders, layouts, errors."""

import numpy as np
import pytest

from vecdist import compile as compile_function
from vecdist import explain, hessian, lazy, value_and_grad
from vecdist.graph.leaves import leaf
from vecdist.graph.node import topological
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived
from vecdist.primitives import products

pytestmark = pytest.mark.usefixtures("small_products_are_calls")
RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(7, 5)), RNG.normal(size=(5, 6))


def energy(a, b):
    return -2.5 * np.log1p(0.25 * (a @ b - 1.0) ** 2).sum()


def slopes_of_energy(a, b):
    c = a @ b
    of_product = -1.25 * (c - 1.0) / (1.0 + 0.25 * (c - 1.0) ** 2)
    return of_product @ b.T, a.T @ of_product


VALUES = {
    "alone": lambda a, b: a @ b,
    "transposed": lambda a, b: a.T @ a,
    "chained": lambda a, b: (a @ b) @ b.T + 1.0,
    "strided": lambda a, b: a[:, ::2] @ b[::2],
    "of expressions": lambda a, b: np.exp(a) @ (b * 2.0),
    "by numpy's names": lambda a, b: np.matmul(a, b) + np.dot(a, b),
    "summed": lambda a, b: (a @ b).sum(axis=0),
}


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", VALUES)
def test_values(name, dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    found = np.asarray(VALUES[name](lazy(a), lazy(b)))
    wanted = VALUES[name](a, b)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    tolerance = 1e-12 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_gradients():
    value, slopes = value_and_grad(energy(lazy(A), lazy(B)), wrt=(A, B))
    np.testing.assert_allclose(value, energy(A, B), rtol=1e-13)
    for mine, wanted in zip(slopes, slopes_of_energy(A, B), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("execution")
def test_the_hessian_is_the_slope_of_the_gradient():
    b, step = B[:2, :2], 1e-6
    a = A[:3, :2].copy()
    found = hessian(energy(lazy(a), b), wrt=a)
    for place in np.ndindex(a.shape):
        up, down = a.copy(), a.copy()
        up[place] += step
        down[place] -= step
        wanted = (slopes_of_energy(up, b)[0] - slopes_of_energy(down, b)[0]) / (2 * step)
        np.testing.assert_allclose(found[(..., *place)], wanted, atol=1e-8)


@pytest.mark.usefixtures("execution")
def test_compiled_functions_with_and_without_arrays_for_results():
    f = compile_function(energy)
    out = np.empty(()), np.empty_like(A), np.empty_like(B)
    for scale in (1.0, 0.5):
        a = A * scale
        value, slopes = f.value_and_grad(a, B)
        f.value_and_grad(a, B, out=out)
        np.testing.assert_allclose(value, energy(a, B), rtol=1e-13)
        for mine, again, wanted in zip(slopes, out[1:], slopes_of_energy(a, B), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-13)
            np.testing.assert_array_equal(mine, again)


@pytest.mark.usefixtures("execution")
def test_chains_of_matrices():
    many = np.stack([A, A * 2.0])
    values, (slopes,) = compile_function(energy, in_axes=(0, None)).value_and_grad(many, B, wrt=(0,))
    for value, slope, a in zip(values, slopes, many, strict=True):
        np.testing.assert_allclose(value, energy(a, B), rtol=1e-12)
        np.testing.assert_allclose(slope, slopes_of_energy(a, B)[0], rtol=1e-10, atol=1e-12)


@pytest.mark.usefixtures("execution")
def test_a_matrix_times_a_vector_stays_in_the_kernel():
    (kernel,) = explain((A @ lazy(B[:, 0].copy())).sum()).kernels
    assert not any("BLAS" in note for note in kernel.notes)


@pytest.mark.parametrize(
    ("n", "k", "m"), [(300, 4, 3), (4, 4, 200), (500, 1, 7), (9, 2, 8), (1, 30, 1), (6, 16, 1), (300, 40, 200)]
)
def test_products_with_a_small_matrix_stay_in_the_kernel(uncompiled, n, k, m):
    a, b = RNG.normal(size=(n, k)), RNG.normal(size=(k, m))
    left, right = lazy(a), lazy(b)
    value = np.tanh(left @ right).sum()
    wide = k * min(n, m) > 1600  # of many columns, and rows, a library is quicker
    assert any("BLAS" in note for kernel in explain(value).kernels for note in kernel.notes) == wide
    found, slopes = value_and_grad(value, (left, right))
    pull = 1.0 / np.cosh(a @ b) ** 2
    np.testing.assert_allclose(found, np.tanh(a @ b).sum(), rtol=1e-12)
    np.testing.assert_allclose(slopes[0], pull @ b.T, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(slopes[1], a.T @ pull, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "k", "m"), [(5, 5, 5), (300, 5, 5), (30, 21, 13), (30, 13, 21), (4, 2050, 2)])
def test_products_of_few_elements_stay_in_the_kernel(monkeypatch, uncompiled, n, k, m):
    """Of one chain; many share a call."""
    monkeypatch.setattr(products, "FEW", 2**13)
    a, b = RNG.normal(size=(n, k)), RNG.normal(size=(k, m))
    value, few = np.square(lazy(a) @ lazy(b)).sum(), n * k * m <= 2**13
    assert all("BLAS" not in note for kernel in explain(value, (a, b)).kernels for note in kernel.notes) == few
    found, slopes = value_and_grad(value, (a, b))
    np.testing.assert_allclose(found, np.square(a @ b).sum(), rtol=1e-12)
    for slope, wanted in zip(slopes, (2.0 * (a @ b) @ b.T, 2.0 * a.T @ (a @ b)), strict=True):
        np.testing.assert_allclose(slope, wanted, rtol=1e-10, atol=1e-12 * abs(wanted).max())


@pytest.mark.usefixtures("execution")
def test_explain_says_what_is_left_to_blas():
    kernels = explain(energy(lazy(A), lazy(B)), wrt=(A, B)).kernels
    assert len(kernels) == 1
    assert [note for note in kernels[0].notes if "BLAS" in note] == [
        "before it a product of matrices is a call of BLAS: each element is used many times over",
        "after it 2 products of matrices are calls of BLAS: each element is used many times over",
    ]


@pytest.mark.usefixtures("uncompiled")
def test_what_two_kernels_need_is_computed_in_the_first():
    """The value and the slope in the scale share the terms of the slopes that go into a product after them."""
    x, y = RNG.normal(size=29), RNG.normal(size=(7, 6))
    a, scale = lazy(x)[:28].reshape(7, 4), lazy(x)[28]
    target = (-0.5 * np.tanh((a @ lazy(B[:4]) - y) / scale) ** 2).sum()
    bound = bind((target.node, leaf(x)))
    parts = derived(Structure(bound.roots, gradient_of, slots=len(bound.leaves))).parts
    assert [any(node.op == "sum" for node in topological(part.roots)) for part in parts] == [False, True, False]
    value, slopes = value_and_grad(target, wrt=x)
    z = (x[:28].reshape(7, 4) @ B[:4] - y) / x[28]
    of_z = -np.tanh(z) / np.cosh(z) ** 2
    np.testing.assert_allclose(value, -0.5 * (np.tanh(z) ** 2).sum(), rtol=1e-12)
    np.testing.assert_allclose(slopes[:28], (of_z / x[28] @ B[:4].T).ravel(), rtol=1e-10)
    np.testing.assert_allclose(slopes[28], -(of_z * z / x[28]).sum(), rtol=1e-10)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("error")
def test_products_that_overflow_are_told_by_their_results_alone():
    found = np.asarray(np.exp(lazy(np.full((3, 4), 400.0))) @ lazy(np.array([[1e200, -np.inf]] * 4)))
    assert found[:, 0].tolist() == [np.inf] * 3 and found[:, 1].tolist() == [-np.inf] * 3
    assert np.isnan(np.asarray(lazy(np.array([[np.inf, 1.0]])) @ lazy(np.array([[0.0], [1.0]])))).all()


def test_inner_lengths_that_differ():
    with pytest.raises(ValueError, match=r"inner lengths differ.*\(7, 5\) and \(7, 5\)"):
        lazy(A) @ A


def test_the_memory_of_a_large_product_is_used_again(uncompiled):
    a, b = RNG.normal(size=(5000, 20)), RNG.normal(size=(20, 30))
    product = compile_function(lambda a, b: a @ b)
    first = product(a, b)
    held, place = first.copy(), first.ctypes.data
    assert product(2.0 * a, b).ctypes.data != place, "that of an array which somebody has is another's"
    np.testing.assert_array_equal(first, held)
    del first
    places = {product(a, b).ctypes.data for _ in range(3)}
    np.testing.assert_allclose(product(a, b), a @ b)
    assert len(places) <= 2, "memory comes back"
