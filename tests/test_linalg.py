"""Linear algebra of small matrices against NumPy: values, derivatives, batches and errors."""

import re

import numpy as np
import pytest
import scipy.linalg
from interpreting import by_interpreter

from vecdist import hessian, lazy, linalg, value_and_grad

RNG = np.random.default_rng(3)
ROOT = RNG.normal(size=(2, 4, 4))
A = ROOT @ ROOT.swapaxes(-1, -2) + np.eye(4)
B = RNG.normal(size=4)
L = np.linalg.cholesky(A)


@pytest.fixture
def interpreted():
    with by_interpreter():
        yield


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cholesky(interpreted, dtype):
    found = np.asarray(linalg.cholesky(A.astype(dtype)))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, L, rtol=40 * np.finfo(dtype).eps, atol=40 * np.finfo(dtype).eps)


def test_derivative_of_cholesky(interpreted):
    """Murray (2016), Differentiation of the Cholesky decomposition, arXiv 1602.07527, equation (10)."""
    weights = RNG.normal(size=A.shape)
    _, slope = value_and_grad((linalg.cholesky(A) * weights).sum(), wrt=A)
    inner = np.tril(L.swapaxes(-1, -2) @ np.tril(weights))
    inner[:, range(4), range(4)] /= 2
    inverse = np.linalg.inv(L)
    wanted = inverse.swapaxes(-1, -2) @ inner @ inverse
    np.testing.assert_allclose(slope, (wanted + wanted.swapaxes(-1, -2)) / 2, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("transposed", [False, True])
def test_solve_triangular(interpreted, transposed):
    factor = L + np.triu(RNG.normal(size=L.shape), 1)  # of which the upper triangle is not read
    side = L.swapaxes(-1, -2) if transposed else L
    wanted = np.linalg.solve(side, np.stack([B, B])[..., None])[..., 0]
    found = linalg.solve_triangular(factor, B, transposed, lower=True)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
    weights = RNG.normal(size=(2, 4))
    total = (linalg.solve_triangular(lazy(factor), B, transposed, lower=True) * weights).sum()
    _, (of_factor, of_b) = value_and_grad(total, wrt=(factor, B))
    back = np.linalg.solve(side.swapaxes(-1, -2), weights[..., None])[..., 0]
    np.testing.assert_allclose(of_b, back.sum(axis=0), rtol=1e-12)
    outer = -back[:, :, None] * wanted[:, None, :]
    np.testing.assert_allclose(of_factor, np.tril(outer.swapaxes(-1, -2) if transposed else outer), rtol=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_triangular_systems_are_scipys(interpreted, seed):
    """Of all options and shapes, few rows and many; nothing is read of the other half."""
    rng = np.random.default_rng(seed)
    rows, trans, lower, unit = (int(rng.choice(each)) for each in ([1, 2, 5, 9, 12], [0, 1], [0, 1], [0, 1]))
    a = rng.normal(size=(*((), (3,), (2, 1))[rng.integers(3)], rows, rows)) + 3.0 * np.eye(rows)
    b = rng.normal(size=((rows,), (rows, 1), (rows, rows), (3, rows, 4))[rng.integers(4)])
    options = {"trans": trans, "lower": bool(lower), "unit_diagonal": bool(unit)}
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    columns = np.broadcast_to(b if b.ndim > 1 else b[:, None], (*lead, rows, 1 if b.ndim == 1 else b.shape[-1]))
    every = np.broadcast_to(a, (*lead, rows, rows)).reshape(-1, rows, rows), columns.reshape(-1, *columns.shape[-2:])
    each = [scipy.linalg.solve_triangular(*pair, **options) for pair in zip(*every, strict=True)]
    wanted = np.stack(each).reshape(columns.shape)
    found = linalg.solve_triangular(a, b, **options)
    np.testing.assert_allclose(found, wanted[..., 0] if b.ndim == 1 else wanted, rtol=1e-11, atol=1e-12)
    half = np.tril(a) if lower else np.triu(a)
    positive = half @ half.swapaxes(-1, -2) if lower else half.swapaxes(-1, -2) @ half
    found = np.asarray(linalg.cho_solve((a, bool(lower)), b))
    back = positive @ (found[..., None] if b.ndim == 1 else found)
    np.testing.assert_allclose(back, columns, rtol=1e-8, atol=1e-9)


def test_log_determinant(interpreted):
    value, slope = value_and_grad(linalg.log_determinant(A).sum(), wrt=A)
    assert float(value) == pytest.approx(np.linalg.slogdet(A)[1].sum(), rel=1e-14)
    np.testing.assert_allclose(slope, np.linalg.inv(A), rtol=1e-12, atol=1e-14)


def test_second_derivatives(interpreted):
    one = np.array([[2.0, 0.5], [0.5, 1.0]])
    inverse = np.linalg.inv(one)
    symmetric = np.einsum("ik,jl->ijkl", inverse, inverse) + np.einsum("il,jk->ijkl", inverse, inverse)
    found = np.reshape(hessian(linalg.log_determinant(one), wrt=one), (2, 2, 2, 2))
    np.testing.assert_allclose(found, -symmetric / 2, rtol=1e-12)


def test_matrices_that_are_not_positive_definite(interpreted):
    some = np.array([[[4.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[4.0, 2.0], [2.0, 2.0]]])
    np.testing.assert_array_equal(
        np.asarray(linalg.cholesky(some)),
        [[[2.0, 0.0], [np.nan, np.nan]], [[np.nan, 0.0], [np.nan, np.nan]], [[2.0, 0.0], [1.0, 1.0]]],
    )
    np.testing.assert_array_equal(np.isnan(linalg.log_determinant(some)), [True, True, False])


def test_integers_are_numbers(interpreted):
    assert np.asarray(linalg.cholesky(np.array([[4, 2], [2, 5]]))).tolist() == [[2.0, 0.0], [1.0, 2.0]]


@pytest.mark.parametrize(("wrong", "error", "message"), [
    (lambda: linalg.cholesky(np.ones((2, 3))), ValueError, "wanted square matrices in the last two axes, given shape"),
    (lambda: linalg.cholesky(np.ones(2)), ValueError, "wanted square matrices in the last two axes, given shape (2,)"),
    (lambda: linalg.solve_triangular(np.eye(2), np.ones(3)), ValueError, "a vector of shape (3,) do not fit"),
    (lambda: linalg.solve_triangular(np.eye(2), np.ones((3, 2))), ValueError, "side of shape (3, 2) do not fit"),
    (lambda: linalg.solve_triangular(np.eye(2), np.ones(2), trans=2), ValueError, "it was 2"),
], ids=["oblong", "vector", "lengths", "columns", "trans"])
def test_what_does_not_fit(wrong, error, message):
    with pytest.raises(error, match=re.escape(message)):
        wrong()
