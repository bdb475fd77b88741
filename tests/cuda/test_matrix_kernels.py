"""Kernels of small matrices for a GPU: run as Python, a thread after another, compiled without a GPU, and on one."""

import types as modules

import greenlet
import numpy as np
import pytest
from test_device_functions import HOPPER, cuda, registers  # noqa: F401

import vecdist
from vecdist import lazy, linalg, logpdf
from vecdist.distributions import MvNormal
from vecdist.primitives import factorisations
from vecdist.runtime.cuda import matrices, matrix_loops

CALLS = {
    "factor": factorisations.CHOLESKY, "lower": factorisations.SOLVE_LOWER, "upper": factorisations.SOLVE_UPPER,
    "inverse": factorisations.INVERT_DEFINITE, "definite": factorisations.SOLVE_DEFINITE,
    "solution": factorisations.SOLVE, "inversion": factorisations.INVERSE, "determinant": factorisations.DETERMINANT,
    "transposed": factorisations.SOLVE_TRANSPOSED,
}  # fmt: skip


def drawn(rng, many, rows, dtype=np.float64):
    root = rng.normal(size=(many, rows, rows))
    return (root @ root.swapaxes(-1, -2) + np.eye(rows)).astype(dtype)


class Block:
    """Threads of a block, the last of which comes first to every other barrier, and the memory that they share."""

    def __init__(self, threads, elements, dtype):
        self.blockDim, self.blockIdx, self.threadIdx = (modules.SimpleNamespace(x=x) for x in (threads, 0, 0))
        self.memory, self.sent = np.full(elements, 99.0, dtype), {}

    def syncthreads(self):
        greenlet.getcurrent().parent.switch()

    def shfl_xor_sync(self, mask, value, hop):
        own = self.threadIdx.x
        assert hop < 32 == self.blockDim.x
        self.sent[own] = value
        self.syncthreads()
        found = self.sent[own ^ hop]
        self.syncthreads()
        return found

    def run(self, kernel, given):
        threads = [(place, greenlet.greenlet(lambda: kernel(*given))) for place in range(self.blockDim.x)]
        while not any(thread.dead for _, thread in threads):
            for self.threadIdx.x, thread in threads:
                thread.switch()
            threads.reverse()
        assert all(thread.dead for _, thread in threads)


@pytest.fixture
def threads(monkeypatch):
    """A function that runs a kernel for blocks of threads, in the words that it is written in."""
    words = {
        "root": lambda x: np.sqrt(x) if x > 0.0 else np.nan, "inverted": lambda x: 1.0 / x if x != 0.0 else np.nan,
        "spoilt": lambda x: 0.0 if x == x else np.nan, "nothing": lambda array: array.dtype.type(0.0),
        "unit": lambda array: array.dtype.type(1.0), "f8": float,
        "as_i8": lambda x: int(np.float64(x).view(np.int64)),
    }  # fmt: skip
    for name, word in words.items():
        monkeypatch.setattr(matrix_loops, name, word)

    alone = matrix_loops.chosen

    def run(name, a, b):
        found = np.full(b.shape[:-1] if name == "pivots" else b.shape, 7.0, b.dtype)
        for word, meaning in matrix_loops.MEANINGS.get(name, {}).items():
            monkeypatch.setattr(matrix_loops, word, meaning)
        lanes, threads, count, grid = matrices.blocks(name, b.shape)
        monkeypatch.setattr(matrix_loops, "chosen", alone if threads > 32 else matrix_loops.chosen_in_warp)
        given = (a.ravel(), b.ravel(), found.reshape(-1), *b.shape[-2:], lanes, count)
        for number in range(grid):
            block = Block(threads, matrices.room(threads), b.dtype)
            block.blockIdx.x = number
            for word, meaning in {"cuda": block, "shared": lambda array, count, block=block: block.memory}.items():
                monkeypatch.setattr(matrix_loops, word, meaning)
            block.run(matrix_loops.FUNCTIONS[name], given)
        return found

    return run


@pytest.mark.parametrize("rows", [1, 2, 9, 16, 17, 31, 32, 33, 64])
def test_threads_compute_what_numpy_does(threads, rows):
    rng = np.random.default_rng(rows)
    many, columns = 3 if rows < 33 else 1, rows + 2 if rows < 17 else 3
    a, b = drawn(rng, many, rows), rng.normal(size=(many, rows, columns))
    above = np.triu(np.full((rows, rows), np.nan), 1)  # which nothing reads
    factor = threads("factor", a + above, a + above)
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=1e-10, atol=1e-12)
    near = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(threads("lower", factor + above, b), np.linalg.solve(factor, b), **near)
    np.testing.assert_allclose(
        threads("upper", factor + above, b), np.linalg.solve(factor.swapaxes(-1, -2), b), **near
    )
    np.testing.assert_allclose(threads("inverse", a, factor + above), np.linalg.inv(a), **near)
    general = rng.normal(size=(many, rows, rows))
    np.testing.assert_allclose(threads("solution", general, b), np.linalg.solve(general, b), **near)
    turned = general.swapaxes(-1, -2)
    np.testing.assert_allclose(threads("transposed", general, b), np.linalg.solve(turned, b), **near)
    if rows < 64:  # of more there are only more strips
        np.testing.assert_allclose(threads("inversion", general, general), np.linalg.inv(general), **near)
    found = threads("pivots", general, general)
    assert (abs(found).max(axis=-1) <= 2.0**rows * abs(general).max(axis=(-2, -1))).all()
    np.testing.assert_allclose(found.prod(-1), np.linalg.det(general), rtol=1e-8)


def test_threads_tell_what_has_no_factor_or_no_solution(threads):
    a = drawn(np.random.default_rng(0), 3, 4)
    a[1, 2, 2] = -1.0
    found = threads("factor", a, a)
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2]]).all()
    factor = np.linalg.cholesky(drawn(np.random.default_rng(1), 3, 4))
    factor[2, 1, 1] = 0.0
    for name in ("lower", "upper", "inverse", "solution", "inversion"):
        found = threads(name, factor, factor)
        assert np.isnan(found[2]).all() and np.isfinite(found[:2]).all()
    assert [each.item() for each in threads("pivots", factor, factor).prod(-1) == 0.0] == [False, False, True]


@pytest.mark.parametrize("threads", [32, 64])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", matrix_loops.FUNCTIONS)
def test_kernels_compile(cuda, name, kind, threads):  # noqa: F811
    symbol, code = matrices.code(name, np.dtype(kind), threads, HOPPER)
    assert symbol.encode() in code and registers(code) <= 128


def test_which_calls_are_launches():
    for rows, small in ((1, True), (64, True), (65, False)):
        for call in CALLS.values():
            found = matrices.small(call, (3, rows, rows), np.dtype(np.float64))
            assert (found is not call) == small == found.capturable
    assert matrices.small(factorisations.MATMUL, (3, 3), np.dtype(np.float64)) is factorisations.MATMUL
    assert not matrices.small(CALLS["factor"], (0, 3, 3), np.dtype(np.float64)).capturable


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 9, 16, 31, 32, 33, 64])
@pytest.mark.parametrize("many", [1, 33, 1000])
def test_on_a_gpu(many, rows, dtype):
    import cupy

    rng = np.random.default_rng(rows)
    a, b = drawn(rng, many, rows, dtype), rng.normal(size=(many, rows, 3)).astype(dtype)
    wide = a.astype("f8")
    factor = np.linalg.cholesky(wide).astype(dtype)
    near = {"rtol": 1e-8, "atol": 1e-9} if dtype == np.float64 else {"rtol": 2e-2, "atol": 2e-2}
    wanted = {
        "factor": ((a,), np.linalg.cholesky(wide)), "inverse": ((a, factor), np.linalg.inv(wide)),
        "lower": ((factor, b), np.linalg.solve(factor, b)), "definite": ((a, factor, b), np.linalg.solve(wide, b)),
        "upper": ((factor, b), np.linalg.solve(factor.swapaxes(-1, -2), b)),
        "solution": ((a, b), np.linalg.solve(wide, b)), "inversion": ((a,), np.linalg.inv(wide)),
        "transposed": ((factor, b), np.linalg.solve(factor.swapaxes(-1, -2), b)),
    }  # fmt: skip
    for name, (given, known) in wanted.items():
        call = matrices.small(CALLS[name], given[-1].shape, np.dtype(dtype))
        found = call.function(*map(cupy.asarray, given))
        np.testing.assert_allclose(found.get(), known, **near)
    general = rng.normal(size=a.shape).astype(dtype)
    general[many // 2, :, rows // 2] = 0.0
    for matrices_of, singular in ((a, False), (general, True)):
        call = matrices.small(CALLS["determinant"], a.shape, np.dtype(dtype))
        sign, size = (each.get() for each in call.function(cupy.asarray(matrices_of)))
        wanted_sign, wanted_size = np.linalg.slogdet(matrices_of.astype("f8"))
        np.testing.assert_array_equal(sign, wanted_sign)
        np.testing.assert_allclose(size, wanted_size, **near)
        assert (wanted_sign[many // 2] == 0.0) == singular


@pytest.mark.cuda
def test_a_density_of_small_matrices_is_captured():
    import cupy

    rng = np.random.default_rng(2)
    loc, a, x = rng.normal(size=(40, 11)), drawn(rng, 40, 11), rng.normal(size=(40, 11))
    given = list(map(cupy.asarray, (loc, a, x)))
    density = lambda loc, a, x: logpdf(MvNormal(loc, a), x).sum() + linalg.log_determinant(a).sum()  # noqa: E731
    value, slopes = vecdist.compile(density, graph=True).value_and_grad(*given, wrt=(0, 1))
    wanted, known = vecdist.value_and_grad(density(lazy(loc, "loc"), lazy(a, "a"), x), ("loc", "a"))
    assert float(value) == pytest.approx(float(wanted), rel=1e-11)
    for mine, other in zip(slopes, known, strict=True):
        np.testing.assert_allclose(mine.get(), other, rtol=1e-8, atol=1e-10)
