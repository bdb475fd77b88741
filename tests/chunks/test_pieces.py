"""Arrays that are read in pieces: files, results that are written, reading that fails or is stopped."""

import threading

import dask.array as da
import numpy as np
import pytest
from chunk_models import chunks_by_interpreter

import vecdist
from vecdist import lazy, logpdf, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.runtime.chunks import progress
from vecdist.runtime.chunks.work import FOLDS, Tree

ROWS = 1000
Y = np.random.default_rng(0).gamma(2.0, 2.0, ROWS)
A, T = np.array(2.0), np.array(1.5)


class Source:
    """What has a shape, a dtype and slices, and remembers which."""

    def __init__(self, array, stop=None):
        self.array, self.shape, self.dtype, self.stop = array, array.shape, array.dtype, stop
        self.read, self.threads = [], set()

    def __getitem__(self, key):
        rows = key[0] if isinstance(key, tuple) else key
        self.read.append((rows.start, rows.stop))
        self.threads.add(threading.current_thread().name)
        if self.stop is not None and rows.start >= self.stop[0]:
            raise self.stop[1]
        return self.array[key]


@pytest.fixture(scope="module")
def memmap(tmp_path_factory):
    path = tmp_path_factory.mktemp("chunks") / "y.bin"
    Y.astype(">f8").tofile(path)
    return np.memmap(path, ">f8", mode="r")


def test_a_file_is_read_piece_by_piece_for_value_and_gradient(memmap):
    wanted = value_and_grad(logpdf(Gamma(A, T), Y).sum(), wrt=(A, T))
    found = [
        value_and_grad(logpdf(Gamma(A, T), vecdist.chunked(memmap, rows=rows)).sum(), wrt=(A, T))
        for rows in (64, 64, 999, 5000, None)
    ]
    for value, slopes in found:
        np.testing.assert_allclose([value, *slopes], [wanted[0], *wanted[1]], rtol=1e-12)
    assert found[0] == found[1]
    chunks = da.from_array(Y, chunks=64)
    assert value_and_grad(logpdf(Gamma(A, T), chunks).sum(), wrt=(A, T)) == found[0], "the tree of sums is the same"


def test_each_piece_is_read_once_in_each_round_by_another_thread():
    source = Source(Y)
    with chunks_by_interpreter():
        x = vecdist.chunked(source, rows=300, name="x")
        _ = value_and_grad(logpdf(Normal(A, T), x).sum(), wrt=(A, T))
        pieces = [(0, 300), (300, 600), (600, 900), (900, 1000)]
        assert source.read == pieces and all(name.startswith("vecdist-reader") for name in source.threads)
        deviation = float((x - x.mean()).std())
    np.testing.assert_allclose(deviation, Y.std(), rtol=1e-12)
    assert source.read == pieces * 4, "a mean, the mean of what is left, its squares"


def test_rows_are_results_in_memory_or_in_a_file(tmp_path):
    with chunks_by_interpreter():
        x = vecdist.chunked(Source(Y), rows=300, name="x")
        value, slope = vecdist.value_and_partials(np.log(x) * A, wrt="x")
        np.testing.assert_allclose(value, 2.0 * np.log(Y), rtol=1e-12)
        np.testing.assert_allclose(slope, 2.0 / Y, rtol=1e-12)
        f = vecdist.compile(lambda x: np.log(x))
        out = np.memmap(tmp_path / "out", np.float64, mode="w+", shape=(ROWS,))
        assert f(x, out=out) is out
    np.testing.assert_allclose(out, np.log(Y), rtol=1e-12)


def test_arrays_in_pieces_and_in_memory_stand_beside_each_other():
    with chunks_by_interpreter():
        x, y = vecdist.chunked(Source(Y), rows=300), vecdist.chunked(Source(Y[:, None] * np.ones(2)), rows=7)
        found = float((lazy(x)[:, None] * y * Y[:, None] ** 2).sum())
        np.testing.assert_allclose(found, 2.0 * (Y**4).sum(), rtol=1e-12)
        with pytest.raises(ValueError, match=r"not aligned: .*pieces of a file"):
            float((x * da.from_array(Y, chunks=300)).sum())


def test_what_cannot_be_read_in_pieces():
    for make, error, message in (
        (lambda: vecdist.chunked(np.array(1.0)), ValueError, "no axis"),
        (lambda: vecdist.chunked(Y, rows=0), ValueError, "1 row or more"),
        (lambda: vecdist.chunked(da.ones(3)), ValueError, "taken as it is"),
        (lambda: vecdist.chunked(np.ones(3, complex)), TypeError, "complex128 cannot enter"),
    ):
        with pytest.raises(error, match=message):
            make()
    bad = np.where(np.arange(ROWS) == 700, -1.0, Y)
    total = logpdf(Normal(0.0, vecdist.chunked(bad, rows=300)), 1.0).sum()
    with chunks_by_interpreter(), pytest.raises(vecdist.InvalidParameter, match=r"scale\[700\] = -1.0"):
        total.compute()


@pytest.mark.parametrize("error", [OSError("the disk is gone"), KeyboardInterrupt()])
def test_reading_that_fails_leaves_nothing_running(error):
    with chunks_by_interpreter(), pytest.raises(type(error)):
        float(vecdist.chunked(Source(Y, (300, error)), rows=100).sum())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vecdist-reader")]


def test_no_rows_and_one_row():
    with chunks_by_interpreter():
        for rows in (0, 1):
            for x in (vecdist.chunked(Y[:rows]), lazy(da.from_array(Y[:rows], chunks=1))):
                assert float(x.sum()) == Y[:rows].sum() and np.asarray(x * 2.0).tolist() == (2.0 * Y[:rows]).tolist()


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 13, 64, 100])
def test_a_tree_of_trees_of_eight_is_the_tree_of_pairs(count):
    parts = list(np.random.default_rng(count).normal(size=count) * 10.0 ** np.arange(count) % 17)
    levels = parts
    while len(levels) > 1:
        pairs = [levels[at : at + 2] for at in range(0, len(levels), 2)]
        levels = [FOLDS["sum"](*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    together = list(parts)
    while len(together) > 1:
        together = [_grown(together[at : at + 8]) for at in range(0, len(together), 8)]
    assert _grown(parts) == levels[0] == together[0]


def _grown(parts):
    tree = Tree(("sum",))
    for part in parts:
        tree.add((part,))
    return tree.total()[0]


def test_progress_is_shown_of_what_takes_seconds(monkeypatch, capsys):
    monkeypatch.setattr(progress, "BEGINS", progress.PAUSE)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = progress.Progress(2000)
    bar._last = -1.0
    bar.show(1000)
    bar.close()
    assert "1,000 of 2,000" in capsys.readouterr().err
