"""What is told of expressions of arrays in chunks: rows, bytes and seconds, against numbers worked out by hand."""

import time

import dask
import dask.array as da
import numpy as np
import pytest
from chunk_models import arrays, chunks_by_interpreter, counts, cut_by_dask, model

import vecdist
from vecdist import lazy, logpdf
from vecdist.distributions import Gamma, Normal
from vecdist.inspect import chunks

ROWS, COLUMNS = 1000, 3
RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(ROWS, COLUMNS)), RNG.gamma(2.0, 2.0, ROWS)
COUNTS = (300, 300, 300, 100)


class Slow:
    """What has slices, each after some time."""

    def __init__(self, array, seconds):
        self.array, self.shape, self.dtype, self.seconds = array, array.shape, array.dtype, seconds

    def __getitem__(self, key):
        time.sleep(self.seconds)
        return self.array[key]


class Counting:
    """What has slices, and counts their bytes."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.bytes = array, array.shape, array.dtype, 0

    def __getitem__(self, key):
        self.bytes += self.array[key].nbytes
        return self.array[key]


def in_pieces(array, name=None):
    return vecdist.chunked(array, rows=300, name=name)


def by_dask(array, name=None):
    return lazy(da.from_array(array, chunks=(300, *array.shape[1:])), name)


def regression(cut):
    beta, scale = lazy(np.ones(COLUMNS), "beta"), lazy(np.array(2.0), "scale")
    return logpdf(Normal(cut(X, "X") @ beta, scale), cut(Y, "y")).sum(), (beta, scale)


@pytest.mark.parametrize(("cut", "pieces"), [(in_pieces, "pieces"), (by_dask, "Dask chunks")])
def test_a_density_and_its_gradient_are_one_round_and_one_kernel(uncompiled, cut, pieces):
    found = vecdist.explain(*regression(cut))
    (each,), (kernel,) = found.rounds, found.kernels
    assert (each.rows, each.chunks, each.kernels) == (ROWS, COUNTS, (0,))
    assert each.bytes_read == 8 * ROWS * (COLUMNS + 1) and each.streams == (pieces == "pieces")
    assert kernel.launches == 4 and kernel.bytes_read == 8 * (ROWS * (COLUMNS + 1) + 4 * (COLUMNS + 1))
    assert kernel.bytes_written == 4 * (8 * (1 + COLUMNS + 1) + 2), "a value, two gradients, two flags, of each chunk"
    text = str(found)
    assert f"round 1    1,000 rows in 4 {pieces} of 300, 300, 300, 100; 32 kB read, by kernel 0" in text
    assert "4 launches on cpu" in text and "runs on each chunk of round 1" in text
    assert "x0: float64[300, 3], X" in kernel.outline and "round 1" in found._repr_html_()


def test_a_mean_that_rows_are_compared_with_is_a_round_before(uncompiled):
    x = in_pieces(Y, "y")
    found = vecdist.explain(((x - x.mean()) ** 2).sum())
    assert [each.bytes_read for each in found.rounds] == [8 * ROWS, 8 * ROWS]
    last = found.rounds[-1].kernels[0]
    assert "runs on each chunk of round 2" in found.kernels[last].notes[0]
    assert [kernel.launches for kernel in found.kernels].count(4) == 2


def test_what_is_computed_once_from_data_is_read_no_more(uncompiled):
    a, x, y = lazy(np.array(2.0), "a"), in_pieces(Y, "x"), in_pieces(np.arange(ROWS) * 1.0, "y")
    alone = vecdist.explain(logpdf(Gamma(a, 1.0), vecdist.data(x)).sum(), wrt=a)
    beside = vecdist.explain(logpdf(Normal(a, 1.0), vecdist.data(x)).sum() + np.tanh(y * a).mean(), wrt=a)
    assert alone.rounds == () and alone.predicted_seconds is None and alone.kernels[0].bytes_read == 8
    assert [each.bytes_read for each in beside.rounds] == [8 * ROWS], "y"
    assert any(f"the number {Y.mean():.6g}" in kernel.outline for kernel in beside.kernels)
    assert any("the number 1000" in kernel.outline for kernel in beside.kernels)


def test_products_of_matrices_stand_between_the_kernels_of_a_chunk(uncompiled):
    x, b = in_pieces(X), lazy(np.ones((COLUMNS, 300)))
    found = vecdist.explain(np.tanh(x @ b).sum(), wrt=b)
    assert found.rounds[0].bytes_read == X.nbytes and len(found.rounds) == 1
    assert any("BLAS" in note for place in found.rounds[0].kernels for note in found.kernels[place].notes)


def test_one_chunk_chunks_without_rows_and_arrays_in_memory(uncompiled):
    found = vecdist.explain(lazy(da.from_array(Y, chunks=-1)).sum())
    assert str(found.rounds[0]).startswith("1,000 rows in 1 Dask chunk of 1,000;")
    x = da.from_array(Y, chunks=((400, 0, 600),))
    assert vecdist.explain((lazy(x) * Y).sum()).kernels[0].launches == 2
    memory = vecdist.explain(lazy(Y).sum())
    assert memory.rounds == () and memory.predicted_seconds is None and "round" not in str(memory)


def test_a_log_density_and_a_compiled_function_are_told_of(uncompiled):
    density = vecdist.LogDensity(
        lambda a: {"prior": logpdf(Normal(0.0, 1.0), a), "likelihood": logpdf(Gamma(np.exp(a), 1.0), in_pieces(Y))},
        a=vecdist.parameters.real(),
    )
    found = vecdist.explain(density, "x", [np.zeros((5, 1))])
    assert [each.rows for each in found.rounds] == [ROWS] and found.rounds[0].bytes_read == Y.nbytes
    f = vecdist.compile(lambda a, y: logpdf(Gamma(a, 1.0), y).sum())
    assert vecdist.explain(f, "a", [2.0, da.from_array(Y, chunks=250)]).rounds[0].chunks == (250,) * 4


@pytest.mark.parametrize("seed", range(12))
def test_bytes_of_random_models_are_those_that_are_read(uncompiled, seed):
    rng = np.random.default_rng(seed)
    rows, whole = arrays(rng)
    make, _ = model(rng)
    given = {name: lazy(array, name) for name, array in whole.items()}
    sources = {name: Counting(array) for name, array in rows.items()}
    held = {name: vecdist.chunked(source, rows=int(rng.integers(1, 26))) for name, source in sources.items()}
    expression = make(held | given)
    present = [name for name in whole if f"array {name} " in vecdist.explain(expression).graph]
    found = vecdist.explain(expression, [given[name] for name in present])
    assert not any(source.bytes for source in sources.values()), "nothing is read to explain"
    with chunks_by_interpreter():
        _ = vecdist.value_and_grad(expression, wrt=[given[name] for name in present])
    assert sum(each.bytes_read for each in found.rounds) == sum(source.bytes for source in sources.values())
    places = [place for each in found.rounds for place in each.kernels]
    assert len(set(places)) == len(places)
    for each in found.rounds:
        assert all(found.kernels[place].launches == len(each.chunks) for place in each.kernels)
    by_dask = vecdist.explain(make(cut_by_dask(rows, counts(rng)) | given), [given[name] for name in present])
    assert [each.bytes_read for each in by_dask.rounds] == [each.bytes_read for each in found.rounds]


def test_seconds_are_predicted_from_the_first_chunks():
    x, y = Slow(Y, 0.004), np.arange(float(ROWS))
    held = vecdist.chunked(x, rows=50)
    found = vecdist.explain((np.log(held) * y).sum())
    assert 0.06 < found.predicted_seconds < 0.4 and found.seconds == pytest.approx(0.085, rel=1.0)
    assert found.seconds > 20 * 0.004
    assert found.bytes_per_second == pytest.approx(sum(k.bytes_read + k.bytes_written for k in found.kernels)
                                                   / found.seconds)  # fmt: skip


def test_seconds_of_dask_count_what_runs_at_once():
    slow = da.from_array(Y, chunks=50).map_blocks(lambda block: (time.sleep(0.02), block)[1], meta=np.empty(0))
    for threads, wanted in ((2, 0.2), (4, 0.1)):
        with dask.config.set(scheduler="threads", num_workers=threads):
            assert chunks.workers() == threads
            found = vecdist.explain(lazy(slow).sum())
            assert wanted < found.predicted_seconds < 3.0 * wanted + 0.3
    with dask.config.set(scheduler="synchronous"):
        assert chunks.workers() == 1
