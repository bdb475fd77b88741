"""Triangular systems and inverses as cuBLAS is asked for them, by a stand-in that reads columns as it does."""

import numpy as np
import pytest
from cublas_stand_in import Array, matrix, stand_in

from vecdist.primitives import device_products, device_systems


@pytest.fixture
def library(monkeypatch):
    yield stand_in(monkeypatch)
    device_products._known.cache_clear()


def factor(length, dtype, by_columns=False):
    """A triangle that is conditioned well, with what nothing reads above it."""
    found = matrix(length, length, by_columns, dtype, length)
    found[...] = np.tril(found, -1) / length + np.diag(1.0 + np.arange(length) / length) + np.triu(found + 9.0, 1)
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (7, 3), (3, 9), (40, 40)])
def test_systems_of_matrices_that_lie_in_any_way(library, shape, by_columns, dtype):
    whole, b = factor(shape[0], dtype, by_columns), matrix(*shape, by_columns, dtype, 2)
    given, near = b.copy(), {"rtol": 1e-4 if dtype == "f4" else 1e-12, "atol": 1e-5 if dtype == "f4" else 1e-13}
    lower = np.tril(whole).view(np.ndarray)
    for found, left in ((device_systems.solved(whole, b), lower), (device_systems.solved(whole, b, True), lower.T)):
        assert found.shape == shape and found.dtype == b.dtype
        np.testing.assert_allclose(left @ found, b, **near)
    np.testing.assert_array_equal(b, given)  # which is no memory of the solution


def test_the_right_side_may_be_empty_or_of_another_precision(library):
    lower = factor(4, "f8")
    assert device_systems.solved(lower, matrix(4, 0, False, "f8", 1)).shape == (4, 0)
    b = matrix(4, 2, False, "f4", 1)
    np.testing.assert_allclose(np.tril(lower) @ device_systems.solved(lower, b), b, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("lead", [(1,), (3,), (2, 2), (0,)], ids=str)
def test_systems_of_many_matrices(library, lead, dtype):
    lower = (factor(9, dtype) + np.zeros((*lead, 1, 1), dtype)).view(Array)
    lower += np.arange(lower.size // 81, dtype=dtype).reshape(*lead, 1, 1)
    b = np.random.default_rng(4).normal(size=(*lead, 9, 4)).astype(dtype).view(Array)
    for turned in (False, True):
        left = np.tril(lower).view(np.ndarray)
        found = device_systems.solved(lower, b, turned)
        assert found.shape == b.shape and found.dtype == b.dtype
        left = left.swapaxes(-1, -2) if turned else left
        np.testing.assert_allclose(left @ found, b, atol=2e-5 if dtype == "f4" else 1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("lead", [(), (1,), (3,)], ids=str)
@pytest.mark.parametrize("length", [1, 3, 17, 50])
def test_inverses_are_those_of_the_factored_matrices(library, monkeypatch, length, lead, dtype):
    lower = (np.tril(factor(length, dtype)) + np.zeros((*lead, 1, 1), dtype)).view(Array)
    unit = (np.eye(length, dtype=dtype) + np.zeros_like(lower)).view(Array)
    monkeypatch.setattr(device_systems, "_unit", lambda: lambda like, count: unit)
    found = device_systems.inverted(lower)
    assert found.dtype == lower.dtype and found.shape == lower.shape
    near = 1e-4 if dtype == "f4" else 1e-11
    whole = found @ (lower @ lower.swapaxes(-1, -2))
    np.testing.assert_allclose(whole, np.broadcast_to(np.eye(length), lower.shape), atol=near)
