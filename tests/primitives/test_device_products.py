"""What cuBLAS is asked for, by a stand-in that reads columns from memory as it does."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from vecdist.primitives import device_products


class Array(np.ndarray):
    """An array of the host that says where it lies as CuPy's do."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def read(place, rows, columns, apart, kind):
    """A matrix whose columns are so far apart."""
    size = apart * (columns - 1) + rows
    memory = np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(kind)), (size,))
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), (memory.itemsize, apart * memory.itemsize))


def gemm_of(kind):
    size = ctypes.sizeof(kind)

    def gemm(_, way_a, way_b, m, n, k, one, a, a_apart, b, b_apart, zero, c, c_apart):
        assert [ctypes.cast(each, ctypes.POINTER(kind))[0] for each in (one, zero)] == [1.0, 0.0]
        left = read(a, k, m, a_apart, kind).T if way_a else read(a, m, k, a_apart, kind)
        right = read(b, n, k, b_apart, kind).T if way_b else read(b, k, n, b_apart, kind)
        read(c, m, n, c_apart, kind)[...] = left @ right

    def batched(_, way_a, way_b, m, n, k, one, a, a_apart, a_step, b, b_apart, b_step, zero, c, c_apart, c_step, count):
        for piece in range(count):
            ends = [place + piece * step * size for place, step in ((a, a_step), (b, b_step), (c, c_step))]
            gemm(_, way_a, way_b, m, n, k, one, ends[0], a_apart, ends[1], b_apart, zero, ends[2], c_apart)

    return gemm, batched


@pytest.fixture
def library(monkeypatch):
    """CuPy, as far as products need it; pieces are short."""
    cublas = ModuleType("cublas")
    cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T = 0, 1
    cublas.sgemm, cublas.sgemmStridedBatched = gemm_of(ctypes.c_float)
    cublas.dgemm, cublas.dgemmStridedBatched = gemm_of(ctypes.c_double)
    cupy = ModuleType("cupy")
    cupy.empty = lambda shape, dtype: np.full(shape, np.nan, dtype).view(Array)
    cupy.cuda = SimpleNamespace(device=SimpleNamespace(get_cublas_handle=lambda: 7))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for name in ("cupy_backends", "cupy_backends.cuda"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs", SimpleNamespace(cublas=cublas))
    monkeypatch.setattr(device_products, "LONG", 40)
    monkeypatch.setattr(device_products, "PIECE", 16)
    device_products._known.cache_clear()
    yield cupy
    device_products._known.cache_clear()


def matrix(rows, columns, by_columns, dtype, seed):
    values = np.random.default_rng(seed).normal(size=(rows, columns)).astype(dtype)
    return (np.asfortranarray(values) if by_columns else values).view(Array)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("ways", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("shape", [(3, 5, 4), (1, 39, 2), (4, 48, 3), (2, 53, 5), (5, 41, 1), (70, 50, 70), (1, 1, 1)])
def test_products_of_matrices_that_lie_in_any_way(library, shape, ways, dtype):
    rows, between, columns = shape
    a, b = matrix(rows, between, ways[0], dtype, 1), matrix(between, columns, ways[1], dtype, 2)
    found = device_products.product(a, b)
    assert found.shape == (rows, columns) and found.dtype == a.dtype
    np.testing.assert_allclose(found, a @ b, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5)


def test_what_cublas_cannot_read_is_left_to_cupy(library):
    a, b = matrix(6, 8, False, "f8", 1), matrix(8, 4, False, "f8", 2)
    whole = a.astype("i8"), b.astype("i8")
    for left, right in ((a[:, ::2], b[::2]), (a[:0], b), (a.astype("f4"), b), (a, b[:, 0]), whole):
        np.testing.assert_array_equal(device_products.product(left, right), left @ right)
