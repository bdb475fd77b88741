"""Rows that are sent to GPUs piece by piece: values, memory that is bounded and given back, pieces that do not fit."""

import gc
import warnings

import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, devices, lazy, logpdf, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import positive, real
from vecdist.runtime.chunks import page_locked

pytestmark = pytest.mark.cuda

N = 1_000_003


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).gamma(2.0, 2.0, N)


def of_gamma(cupy, x, dtype):
    a, t = cupy.asarray(2.0, dtype), cupy.asarray(1.5, dtype)
    value, slopes = value_and_grad(logpdf(Gamma(lazy(a), lazy(t)), x).sum(), wrt=(a, t))
    return [each.get() for each in (value, *slopes)]


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i4", "u1"])
def test_every_dtype_from_a_file(cupy, rows, tmp_path, dtype):
    given = (np.ceil(rows) if np.dtype(dtype).kind in "iu" else rows).astype(dtype)
    given.tofile(tmp_path / "rows")
    file = np.memmap(tmp_path / "rows", dtype, mode="r")
    wide = np.result_type(dtype, "f4") if np.dtype(dtype).kind == "f" else np.float64
    a, t = np.asarray(2.0, wide), np.asarray(1.5, wide)
    value, slopes = value_and_grad(logpdf(Gamma(lazy(a), lazy(t)), given).sum(), wrt=(a, t))
    found = [
        of_gamma(cupy, vecdist.chunked(file, rows=70_001, device=device), wide)
        for device in ("cuda", 0, "cuda:0", devices([0, 0]), devices([0, 0, 0]))
    ]
    assert all(each == found[0] for each in found)
    np.testing.assert_allclose(found[0], [value, *slopes], rtol=1e-4 if wide == np.float32 else 1e-11)


def test_tables_pinned_arrays_and_slices(cupy, rows):
    import cupyx

    table = rows[:999_999].reshape(-1, 3)
    pinned = cupyx.empty_pinned(table.shape, table.dtype)
    pinned[...] = table
    b = cupy.asarray([0.1, -0.2, 0.3])
    found = []
    for source in (table, pinned, np.asfortranarray(table), np.repeat(table, 2, axis=1)[:, ::2]):
        x = vecdist.chunked(source, rows=50_000, device="cuda")
        value, slope = value_and_grad(np.tanh(lazy(x) @ lazy(b)).sum(), b)
        found.append([value.get(), *slope.get()])
    assert all(each == found[0] for each in found)
    t = np.tanh(table @ b.get())
    np.testing.assert_allclose(found[0], [t.sum(), *(table.T @ (1 - t * t))], rtol=1e-11)


def test_rounds_rows_and_arrays_beside(cupy, rows):
    x = vecdist.chunked(rows, rows=99_999, device="cuda")
    np.testing.assert_allclose(float((x - x.mean()).std()), rows.std(), rtol=1e-11)
    np.testing.assert_allclose(vecdist.compile(np.log)(x).get(), np.log(rows), rtol=1e-13)
    beside = cupy.asarray(rows[::-1].copy())
    np.testing.assert_allclose((lazy(x) * beside).sum().compute().get(), (rows * rows[::-1]).sum(), rtol=1e-12)


def test_files_follow_the_vectors_of_a_log_density(cupy, rows):
    def density(x):
        return LogDensity(lambda mu, s: logpdf(Normal(mu, s), x).sum(), mu=real(), s=positive())

    point = np.array([1.0, 0.5])
    wanted = density(rows).logdensity_and_gradient(point)
    found = density(vecdist.chunked(rows, rows=123_456)).logdensity_and_gradient(cupy.asarray(point))
    for mine, other in zip(found, wanted, strict=True):
        assert isinstance(mine, cupy.ndarray)
        np.testing.assert_allclose(mine.get(), other, rtol=1e-11)


def test_memory_is_three_pieces_and_comes_back(cupy, rows):
    pool = cupy.get_default_memory_pool()
    of_gamma(cupy, vecdist.chunked(rows, rows=10_000, device="cuda"), "f8")
    pool.free_all_blocks()
    before, size = pool.used_bytes(), pool.total_bytes()
    of_gamma(cupy, vecdist.chunked(rows, rows=100_000, device="cuda"), "f8")
    assert pool.used_bytes() == before and pool.total_bytes() - size < 3 * 800_000 + 2**20


def test_pieces_that_do_not_fit_are_halved(cupy, rows):
    pool = cupy.cuda.MemoryPool()  # of its own: another has room beside the arrays of other tests
    cupy.cuda.set_allocator(pool.malloc)
    try:
        wanted = of_gamma(cupy, vecdist.chunked(rows, rows=50_000, device="cuda"), "f8")
        pool.free_all_blocks()
        pool.set_limit(size=pool.total_bytes() + 3 * 50_000 * 8 + 1_000_000)  # less than three of twice the size
        with pytest.warns(RuntimeWarning, match="halved, to 50000 rows of 0.381 MiB"):
            found = of_gamma(cupy, vecdist.chunked(rows, rows=100_000, device="cuda"), "f8")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert of_gamma(cupy, vecdist.chunked(rows, rows=100_000, device="cuda"), "f8") == found
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)
    assert found == wanted


def test_pages_of_what_is_sent_often_are_locked_until_it_is_gone(cupy, monkeypatch):
    runtime = cupy.cuda.runtime
    monkeypatch.setattr(page_locked, "OFTEN", 3)
    rows = np.random.default_rng(1).gamma(2.0, 2.0, 2**22)
    place, x = rows.ctypes.data, vecdist.chunked(rows[5:], rows=99_999, device="cuda")
    found, kinds = [], []
    for _ in range(5):
        found.append(of_gamma(cupy, x, "f8"))
        kinds.append(runtime.pointerGetAttributes(place).type == runtime.memoryTypeHost)
    assert kinds == [False, False, True, True, True] and all(each == found[0] for each in found)
    rows[5:] *= 2.0
    assert of_gamma(cupy, x, "f8") != found[0], "rows are read anew in each pass"
    counted = id(rows)
    del x, rows
    gc.collect()
    assert runtime.pointerGetAttributes(place).type != runtime.memoryTypeHost
    assert counted not in page_locked._passes


def test_reading_that_fails(cupy, rows):
    class Source:
        shape, dtype = rows.shape, rows.dtype

        def __getitem__(self, key):
            if key[0].start > 500_000:
                raise OSError("the disk is gone")
            return rows[key]

    with pytest.raises(OSError, match="the disk is gone"):
        vecdist.chunked(Source(), rows=100_000, device=devices([0, 0])).sum().compute()
    bad = np.where(np.arange(N) == 700_000, -1.0, rows)
    with pytest.raises(vecdist.InvalidParameter, match=r"\[700000\] = -1.0"):
        float(logpdf(Normal(0.0, vecdist.chunked(bad, rows=100_000, device="cuda")), 1.0).sum())
