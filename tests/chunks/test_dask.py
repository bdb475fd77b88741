"""Dask arrays in expressions: compiled, by every scheduler, and what is refused."""

import contextlib

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from chunk_models import chunks_by_interpreter
from interpreting import by_interpreter

import vecdist
from vecdist import LogDensity, lazy, logpdf, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import positive, real
from vecdist.runtime import pipeline

ROWS = 1000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(ROWS, 3)), RNG.gamma(2.0, 2.0, ROWS)
B, S = np.array([0.5, 1.0, -1.0]), np.array(1.5)
CHUNKS = (300, 1, 0, 299, 400)


def cut(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *[-1] * (array.ndim - 1)))


DX, DY = cut(X), cut(Y)


def regression(b, s, x, y):
    return logpdf(Normal(x @ b, s), y).sum()


def slopes(x, y):
    return value_and_grad(regression(lazy(B), S, lazy(x), y), wrt=(B, S))


def flat(found):
    return np.concatenate([np.ravel(found[0]), *map(np.ravel, found[1])])


def test_values_and_gradients_of_any_number_of_threads_are_the_same_bits():
    wanted = flat(slopes(X, Y))
    found = []
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            found.append(flat(slopes(DX, DY)))
    np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_the_sum_of_a_density_and_its_gradient_are_one_program_of_each_chunk():
    before = pipeline.compilations()
    for lengths in ((10, 20), (3, 0, 1, 26)):
        _ = value_and_grad(logpdf(Gamma(S, 3.0), cut(Y[:30], lengths)).sum(), wrt=S)
    assert pipeline.compilations() - before <= 1


def test_compiled_functions_take_dask_arrays_of_any_chunks():
    f = vecdist.compile(regression)
    wanted = f.value_and_grad(B, S, X, Y, wrt=(0, 1))
    for chunks in (CHUNKS, CHUNKS, (500, 500), (1000,)):
        found = f.value_and_grad(B, S, cut(X, chunks), cut(Y, chunks), wrt=(0, 1))
        np.testing.assert_allclose(flat(found), flat(wanted), rtol=1e-12)
    with pytest.raises(ValueError, match="not aligned"):
        f(B, S, DX, cut(Y, (500, 500)))


def test_log_densities_close_over_dask_arrays():
    def model(x, y):
        return lambda b, s: {
            "prior": logpdf(Normal(0.0, 1.0), b).sum(), "likelihood": logpdf(Normal(lazy(x) @ b, s), y),
        }

    chunked, whole = (LogDensity(model(x, y), b=real(3), s=positive()) for x, y in ((DX, DY), (X, Y)))
    points = RNG.normal(size=(2, 4)) * 0.3
    with by_interpreter():
        wanted = [value_and_grad(whole.trace(lazy(point)), wrt=point) for point in points]
    with chunks_by_interpreter():
        values, gradients = chunked.logdensity_and_gradient(points)
        pointwise = chunked.pointwise_loglikelihood(points)["likelihood"]
        assert pointwise.chunks == ((2,), CHUNKS)
        np.testing.assert_allclose(chunked.loglikelihood(points), np.asarray(pointwise).sum(axis=1), rtol=1e-12)
    value, gradient = chunked.logdensity_and_gradient(points[0])
    np.testing.assert_allclose([value, *values], [each for each, _ in wanted[:1] + wanted], rtol=1e-12)
    np.testing.assert_allclose([gradient, *gradients], [each for _, each in wanted[:1] + wanted], rtol=1e-12)


def test_rows_come_back_as_dask_arrays():
    with chunks_by_interpreter():
        value, (of_s, of_x) = vecdist.value_and_partials(logpdf(Normal(lazy(DY), S), 1.0), wrt=(S, DY))
        assert value.chunks == of_s.chunks == of_x.chunks == (CHUNKS,)
        np.testing.assert_allclose(of_x, (1.0 - Y) / S**2, rtol=1e-12)
        _, gradient = value_and_grad(((lazy(DX) - lazy(DX).mean(axis=0)) ** 2).sum(), wrt=DX)
        assert gradient.chunks == (CHUNKS, (3,))
        np.testing.assert_allclose(gradient, 2.0 * (X - X.mean(axis=0)), rtol=1e-9)
        centred = lazy(DX) - lazy(DX).mean(axis=0)
        assert centred.to_dask().chunks == (CHUNKS, (3,))
        np.testing.assert_allclose(np.asarray(centred), X - X.mean(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(np.asarray(DY * lazy(2.0) + lazy(Y)), 2.0 * Y + Y)
        with pytest.raises(TypeError, match="in memory"):
            lazy(DX).sum().to_dask()


def test_an_invalid_parameter_is_named_by_its_place_among_all_rows():
    bad = Y.copy()
    bad[[601, 777]] = -1.0, -2.0
    with chunks_by_interpreter():
        for found in (logpdf(Normal(0.0, cut(bad)), Y), logpdf(Normal(0.0, cut(bad)), Y).sum()):
            with pytest.raises(vecdist.InvalidParameter, match=r"Normal: scale\[601\] = -1.0"):
                np.asarray(found)
        groups = cut(np.where(np.arange(ROWS) == 650, 3, 0))
        with pytest.raises(vecdist.InvalidIndex, match=r"index\[650\] = 3"):
            np.asarray(lazy(B)[lazy(groups)].sum())
        partials, _ = vecdist.value_and_partials(logpdf(Normal(lazy(cut(bad)), lazy(cut(bad))), Y), wrt=())
        with pytest.raises(vecdist.InvalidParameter, match="in the rows 600 to 999"):
            partials.compute()


REFUSED = {
    "cumsum": (lambda x: np.cumsum(lazy(x)), "cumsum of an array in chunks goes through all rows in their order"),
    "sort": (lambda x: np.sort(lazy(x)), "sort of an array in chunks"),
    "slice": (lambda x: lazy(x)[1:] - lazy(x)[:-1], "a slice, an element or a reversal"),
    "element": (lambda x: lazy(x)[0], "a slice, an element or a reversal"),
    "index": (lambda x: lazy(x)[np.array([0, 5])], "indexing of an array in chunks picks rows by index"),
    "join": (lambda x: np.concatenate([lazy(x), lazy(x)]), "joining of an array in chunks"),
    "reshape": (lambda x: lazy(x).reshape(2, -1), "reshape of an array in chunks"),
    "outer": (lambda x: lazy(x)[:, None] * lazy(x), "rows along two axes"),
    "scan": (lambda x: vecdist.scan(lambda c, e: (c + e, None), 0.0, lazy(x))[0], "scan|recurrence|rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_rows_of_other_chunks_is_refused(name):
    make, message = REFUSED[name]
    with chunks_by_interpreter(), pytest.raises(ValueError, match=message):
        np.asarray(make(DY))


def test_chunks_that_are_no_chunks_of_rows_are_refused():
    with chunks_by_interpreter():
        for x, y in ((DX, cut(Y, (500, 500))), (cut(X, (500, 500)), DY)):
            with pytest.raises(ValueError, match=r"not aligned: .*(300, 1, 0, 299.*500, 500|500, 500.*300, 1, 0, 299)"):
                np.asarray(regression(lazy(B), S, lazy(x), y))
        with pytest.raises(ValueError, match=r"unknown lengths.*compute_chunk_sizes"):
            lazy(DY[DY > 1.0])
        with pytest.raises(ValueError, match=r"cut along axes 0, 1.*rechunk\(\{1: -1\}\)"):
            lazy(da.ones((4, 4), chunks=2))
        with pytest.raises(TypeError, match="complex"):
            lazy(da.ones(4, chunks=2, dtype=complex))


@contextlib.contextmanager
def cluster(workers, processes):
    """Workers that are the active client's."""
    with (
        distributed.LocalCluster(workers, threads_per_worker=2, processes=processes, dashboard_address=":0") as found,
        distributed.Client(found),
    ):
        yield


def test_a_task_that_fails_once_changes_no_bit(tmp_path):
    once = tmp_path / "once"

    def fails(block):
        if not once.exists():
            once.touch()
            raise ConnectionError("a worker was lost")
        return block

    with cluster(1, processes=False), dask.annotate(retries=2):
        found = flat(slopes(DX.map_blocks(fails, meta=np.empty((0, 0))), DY))
    assert once.exists()
    np.testing.assert_array_equal(found, flat(slopes(DX, DY)))


def test_processes_of_a_cluster_give_the_same_bits():
    with cluster(2, processes=True):
        found = flat(slopes(DX, DY))
    np.testing.assert_array_equal(found, flat(slopes(DX, DY)))
