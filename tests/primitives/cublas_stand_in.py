"""cuBLAS and as much of CuPy as its callers need, on the host: it reads columns from memory as cuBLAS does."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
from scipy import linalg

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


def trsm_of(kind):
    def trsm(_, side, part, way, diag, m, n, one, a, a_apart, b, b_apart):
        assert (part, diag) == (UPPER, NON_UNIT) and ctypes.cast(one, ctypes.POINTER(kind))[0] == 1.0
        rows = {LEFT: m, RIGHT: n}[side]
        upper, found = np.triu(read(a, rows, rows, a_apart, kind)), read(b, m, n, b_apart, kind)
        turned = bool(way) == (side == LEFT)  # X U = B is U' X' = B'
        found = found if side == LEFT else found.T
        found[...] = linalg.solve_triangular(upper.T if turned else upper, found, lower=turned)

    def batched(*given):
        *given, places, a_apart, others, b_apart, count = given
        pointers = ctypes.POINTER(ctypes.c_size_t)
        each = [np.ctypeslib.as_array(ctypes.cast(at, pointers), (count,)) for at in (places, others)]
        for a, b in zip(*each, strict=True):
            trsm(*given, int(a), a_apart, int(b), b_apart)

    return trsm, batched


NO_WAY, TURNED, LEFT, RIGHT, UPPER, NON_UNIT = 0, 1, 10, 11, 12, 0


def stand_in(monkeypatch):
    """CuPy with this cuBLAS, in the place of what is installed."""
    cublas = ModuleType("cublas")
    cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T = NO_WAY, TURNED
    cublas.CUBLAS_SIDE_LEFT, cublas.CUBLAS_SIDE_RIGHT = LEFT, RIGHT
    cublas.CUBLAS_FILL_MODE_UPPER, cublas.CUBLAS_DIAG_NON_UNIT = UPPER, NON_UNIT
    cublas.sgemm, cublas.sgemmStridedBatched = gemm_of(ctypes.c_float)
    cublas.dgemm, cublas.dgemmStridedBatched = gemm_of(ctypes.c_double)
    cublas.strsm, cublas.strsmBatched = trsm_of(ctypes.c_float)
    cublas.dtrsm, cublas.dtrsmBatched = trsm_of(ctypes.c_double)
    cupy = ModuleType("cupy")
    cupy.empty = lambda shape, dtype: np.full(shape, np.nan, dtype).view(Array)
    cupy.ascontiguousarray = lambda a: np.ascontiguousarray(a).view(Array)
    cupy.arange = lambda *ends, dtype: np.arange(*ends, dtype=dtype).view(Array)
    cupy.cuda = SimpleNamespace(device=SimpleNamespace(get_cublas_handle=lambda: 7))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for name in ("cupy_backends", "cupy_backends.cuda"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs", SimpleNamespace(cublas=cublas))
    device_products._known.cache_clear()
    return cupy


def matrix(rows, columns, by_columns, dtype, seed):
    values = np.random.default_rng(seed).normal(size=(rows, columns)).astype(dtype)
    return (np.asfortranarray(values) if by_columns else values).view(Array)
