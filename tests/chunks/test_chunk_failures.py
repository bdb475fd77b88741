"""What goes wrong between chunks: workers that die, chunks that are not what was said, files that change, Ctrl-C."""

import os
import signal
import threading
import time
from unittest import mock

import dask.array as da
import distributed
import numpy as np
import pytest
from chunk_models import ROWS, chunks_by_interpreter, counts, cut_by_dask
from test_dask import DX, DY, X, Y, cluster, cut, flat, slopes

import vecdist
from vecdist import lazy, logpdf, value_and_grad
from vecdist.distributions import Normal
from vecdist.runtime.chunks import progress
from vecdist.runtime.chunks.work import Work


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("vecdist-reader")]


def of_blocks(change, dtype=Y.dtype):
    """The rows of Y as a Dask array that says one thing of its chunks, and is another."""
    return lazy(DY.map_blocks(change, dtype=dtype, meta=np.empty(0, dtype)), "y")


def test_a_worker_that_is_killed_changes_no_bit(tmp_path):
    once = tmp_path / "once"

    def dies(block):
        if not once.exists():
            once.touch()
            os._exit(1)
        return block

    with cluster(2, processes=True):
        found = flat(slopes(DX.map_blocks(dies, meta=np.empty((0, 0))), DY))
    assert once.exists()
    np.testing.assert_array_equal(found, flat(slopes(DX, DY)))


@pytest.mark.parametrize("seed", range(6))
def test_chunks_of_narrower_dtypes_are_widened(seed):
    rng = np.random.default_rng(seed)
    lengths = counts(rng)
    rows = rng.normal(size=(ROWS, 2)) * 100.0
    dtypes = rng.choice(["f8", "f4", "i2", "?", ">f8", ">i4"], len(lengths))

    def narrowed(block, block_info=None):
        return block.astype(dtypes[block_info[0]["chunk-location"][0]])

    pieces = [piece.astype(dtype) for piece, dtype in zip(np.split(rows, np.cumsum(lengths)[:-1]), dtypes, strict=True)]
    wanted = np.concatenate([piece.astype(float) for piece in pieces])
    mixed = lazy(cut_by_dask({"x": rows}, lengths)["x"].map_blocks(narrowed, dtype=float, meta=np.empty((0, 0))))
    with chunks_by_interpreter():
        np.testing.assert_array_equal(np.asarray(mixed * 1.0), wanted)
        np.testing.assert_allclose(float((mixed**2).sum()), (wanted**2).sum(), rtol=1e-13)


REFUSED = {
    "digits": (lambda b: b, "f4", TypeError, r"of y, the rows 0 to 299, is numpy's and of dtype float64, .*float32"),
    "objects": (lambda b: b.astype(object), "f8", TypeError, "of dtype object"),
    "masks": (lambda b: np.ma.masked_greater(b, 0), "f8", TypeError, "a masked array would lose its mask"),
    "fewer": (lambda b: b[:5], "f8", ValueError, r"the rows 0 to 299, has shape \(5,\), but the array said \(300,\)"),
    "more": (lambda b: np.ones(500), "f8", ValueError, r"has shape \(500,\)"),
    "axes": (lambda b: b[:, None], "f8", ValueError, r"has shape \(300, 1\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_chunks_that_are_not_as_their_array_said_are_refused_by_name(name):
    change, dtype, error, message = REFUSED[name]
    with chunks_by_interpreter(), pytest.raises(error, match=message):
        np.asarray((of_blocks(lambda b: change(b) if b.size == 300 else b.astype(dtype), np.dtype(dtype)) * 2.0).sum())


def test_a_chunk_of_another_library_is_refused_by_name():
    class Array:
        dtype, shape = np.dtype("f8"), (300,)

    Array.__module__ = "cupy"
    with chunks_by_interpreter(), pytest.raises(TypeError, match="is cupy's and of dtype float64, but the array said"):
        np.asarray(of_blocks(lambda block: Array()).sum())


@pytest.mark.parametrize("read", [cut, lambda array: vecdist.chunked(array, rows=300)])
def test_nan_is_named_by_its_row_among_all(read):
    bad = Y.copy()
    bad[[601, 777]] = np.nan
    with chunks_by_interpreter():
        with pytest.raises(vecdist.InvalidParameter, match=r"Normal: scale\[601\] = nan"):
            np.asarray(logpdf(Normal(0.0, lazy(read(bad))), 1.0).sum())
        assert np.isnan(float(logpdf(Normal(0.0, 1.0), read(bad)).sum())), "as of arrays in memory"
        assert int(np.isnan(lazy(read(bad))).argmax()) == 601


class Source:
    """What has slices, of which some do more than that."""

    def __init__(self, array, then, at=300):
        self.array, self.shape, self.dtype, self.then, self.at = array, array.shape, array.dtype, then, at

    def __getitem__(self, key):
        rows = key[0] if isinstance(key, tuple) else key
        return self.then(self.array[key]) if rows.start == self.at else self.array[key]


def test_an_error_of_a_reader_says_which_piece_was_read():
    def fails(_):
        raise OSError("the disk is gone")

    x = vecdist.chunked(Source(Y, fails, 600), rows=200, name="x")
    with chunks_by_interpreter(), pytest.raises(OSError, match="the disk is gone") as caught:
        float(x.sum())
    assert caught.value.__notes__ == ["while the rows 600 to 799 of x were read"] and not readers()


def test_a_source_that_changes_its_size_is_refused():
    x = vecdist.chunked(Source(Y, lambda piece: piece[:-1]), rows=300, name="x")
    with chunks_by_interpreter(), pytest.raises(ValueError, match=r"x, the rows 300 to 599, has shape \(299,\)"):
        float(x.sum())


def test_a_file_that_has_become_shorter_is_refused(tmp_path):
    path = tmp_path / "y"
    Y.tofile(path)
    whole = np.memmap(path, mode="r", dtype=float)
    x = vecdist.chunked(whole, rows=300)
    density = vecdist.LogDensity(
        lambda a, y: {"likelihood": logpdf(Normal(a, 1.0), y)}, rows={"y": x}, a=vecdist.parameters.real()
    )
    with chunks_by_interpreter():
        assert float(x.sum()) == pytest.approx(Y.sum(), rel=1e-12)
        with open(path, "ab") as file:
            file.write(b"more")
        assert float(x.sum()) == pytest.approx(Y.sum(), rel=1e-12), "what comes behind is not read"
        os.truncate(path, 4000)
        for held in (x, vecdist.chunked(whole[100:], rows=300), vecdist.chunked(np.asarray(whole), rows=300)):
            with pytest.raises(ValueError, match=r"y has become shorter: it has 4,000 bytes, .* ends at 8,000"):
                float(held.sum())
        with pytest.raises(ValueError, match="has become shorter"):
            density.logdensity(np.zeros(1), batch=[0, 999])
    os.truncate(path, 8000)  # the map is closed without reading what is not there


@pytest.fixture
def ctrl_c():
    """SIGINT raises ``KeyboardInterrupt``, also where a shell has started the tests in the background, without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_leaves_no_thread_and_the_next_call_is_whole():
    def interrupted(piece):
        if armed:
            armed.pop()
            os.kill(os.getpid(), signal.SIGINT)
        return piece

    armed = [True]
    a, x = np.array(1.5), vecdist.chunked(Source(Y, interrupted), rows=100)
    expression = logpdf(Normal(lazy(a), 2.0), x).sum()
    with chunks_by_interpreter():
        with pytest.raises(KeyboardInterrupt):
            value_and_grad(expression, wrt=a)
        assert not readers()
        wanted = value_and_grad(logpdf(Normal(lazy(a), 2.0), vecdist.chunked(Y, rows=100)).sum(), wrt=a)
        assert value_and_grad(expression, wrt=a) == wanted


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_cancels_what_a_cluster_was_asked_for(tmp_path):
    begun = tmp_path / "begun"

    def waits(block):
        begun.touch()
        time.sleep(0.2)
        return block

    def interrupt():
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with cluster(1, processes=False):
        client = distributed.get_client()
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            slopes(DX.map_blocks(waits, meta=np.empty((0, 0))), DY)
        for _ in range(100):
            left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
            if not left:
                break
            time.sleep(0.05)
        assert not left and not client.futures
        np.testing.assert_array_equal(flat(slopes(DX, DY)), flat(slopes(DX, DY)))


@pytest.mark.parametrize("read", [cut, lambda array: vecdist.chunked(array, rows=300)])
def test_an_interruption_of_a_kernel_leaves_nothing_behind(read):
    calls = []

    def stops(self, given, first=0, count=0):
        calls.append(first)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run(self, given, first, count)

    run, x, y = Work.__call__, read(X), read(Y)
    before = threading.active_count()
    with da.core.config.set(scheduler="synchronous"), chunks_by_interpreter():
        with mock.patch.object(Work, "__call__", stops), pytest.raises(KeyboardInterrupt):
            slopes(x, y)
        assert not readers() and threading.active_count() <= before
        found = flat(slopes(x, y))
        np.testing.assert_array_equal(found, flat(slopes(read(X.copy()), read(Y.copy()))))


def test_a_bar_ends_its_line_when_a_round_fails(monkeypatch, capsys):
    monkeypatch.setattr(progress, "BEGINS", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    x = vecdist.chunked(Source(Y, lambda _: 1 / 0, 900), rows=300)
    with chunks_by_interpreter(), pytest.raises(ZeroDivisionError):
        float(x.sum())
    shown = capsys.readouterr().err
    assert "of 1,000" in shown and shown.endswith("\n")


def test_a_scheduler_that_computes_in_another_order_gives_the_same_bits():
    wanted = flat(slopes(DX, DY))
    for seed in range(3):
        waits = dict(zip((300, 1, 299, 400), np.random.default_rng(seed).uniform(0.0, 0.02, 4), strict=True))

        def late(block, waits=waits):
            threading.Event().wait(waits.get(len(block), 0.0))
            return block

        found = flat(slopes(DX.map_blocks(late, meta=np.empty((0, 0))), DY))
        np.testing.assert_array_equal(found, wanted)
