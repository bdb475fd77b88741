"""Rows shared by devices: the same bits for any number of them, and the numbers of arrays in memory."""

import pickle
import threading

import dask.array as da
import numpy as np
import pytest
from chunk_models import ROWS, TERMS, arrays, chunks_by_interpreter, model, never_changing
from interpreting import by_interpreter

import vecdist
from vecdist import LogDensity, devices, lazy, logpdf, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import positive, real
from vecdist.passes.outline import outline
from vecdist.runtime.chunks.sharded import counts_of, places_of

SEEDS = range(8)
Y = np.random.default_rng(0).gamma(2.0, 2.0, 1003)


def cpus(count, pieces=8):
    return devices(["cpu"] * count, pieces=pieces)


def sharded(rows, given):
    return {name: given.shard(array) for name, array in rows.items()}


def streamed(rows, given, count):
    return {name: vecdist.chunked(array, rows=count, device=given) for name, array in rows.items()}


def gradient(make, rows, whole):
    named = {name: lazy(array, name) for name, array in whole.items()}
    expression = make(rows | named)
    present = [whole[leaf.name] for leaf in outline((expression.node,)).leaves if leaf.name in whole]
    value, slopes = value_and_grad(expression, wrt=tuple(present))
    return [value, *slopes]


def bits(found):
    return [np.asarray(each).tobytes() for each in found]


def assert_close(found, wanted):
    for mine, other in zip(found, wanted, strict=True):
        assert mine.shape == other.shape and mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_models_over_any_number_of_devices_have_the_same_bits(seed):
    rng = np.random.default_rng(400 + seed)
    rows, whole = arrays(rng)
    make, _ = model(rng)
    with by_interpreter():
        wanted = gradient(make, rows, whole)
    pieces, count = int(rng.integers(3, ROWS + 8)), int(rng.integers(1, ROWS + 3))
    with chunks_by_interpreter():
        for ways in (
            [sharded(rows, cpus(number, pieces)) for number in (1, 2, 3, min(7, pieces))],
            [never_changing(sharded(rows, cpus(number, pieces))) for number in (1, 3)],
            [streamed(rows, cpus(number), count) for number in (1, 2, 5)],
        ):
            found = [gradient(make, way, whole) for way in ways]
            for each in found:
                np.testing.assert_array_equal(bits(each), bits(found[0]))
            for mine, other in zip(found[0], wanted, strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", TERMS)
def test_each_term_over_devices(name):
    rows, whole = arrays(np.random.default_rng(len(name)))

    def make(given):
        return TERMS[name](**given)

    with by_interpreter():
        wanted = gradient(make, rows, whole)
    with chunks_by_interpreter():
        assert_close(gradient(make, sharded(rows, cpus(3)), whole), wanted)
        assert_close(gradient(make, streamed(rows, cpus(2), 5), whole), wanted)


def test_compiled_kernels_have_the_same_bits_and_those_of_a_stream_with_these_pieces():
    a, t = np.array(2.0), np.array(1.5)
    for dtype in ("f8", "f4"):
        y = Y.astype(dtype)
        found = [
            value_and_grad(logpdf(Gamma(a, t), cpus(number).shard(y)).sum(), wrt=(a, t)) for number in (1, 2, 3, 5, 8)
        ]
        assert all(bits([each[0], *each[1]]) == bits([found[0][0], *found[0][1]]) for each in found)
        wanted = value_and_grad(logpdf(Gamma(a, t), y).sum(), wrt=(a, t))
        tolerance = {"f8": 1e-12, "f4": 1e-5}[dtype]
        np.testing.assert_allclose([found[0][0], *found[0][1]], [wanted[0], *wanted[1]], rtol=tolerance)
    pieces = value_and_grad(logpdf(Gamma(a, t), vecdist.chunked(y[:1000], rows=125)).sum(), wrt=(a, t))
    assert value_and_grad(logpdf(Gamma(a, t), cpus(3).shard(y[:1000])).sum(), wrt=(a, t)) == pieces


def test_log_densities_compiled_functions_and_samplers_take_them():
    def density(y):
        return LogDensity(
            lambda mu, sigma: {"prior": logpdf(Normal(0.0, 2.0), mu), "likelihood": logpdf(Normal(mu, sigma), y)},
            mu=real(), sigma=positive(),
        )  # fmt: skip

    x = np.array([[1.0, 0.5], [2.0, 0.1]])
    memory, ways = density(Y), [density(cpus(number).shard(Y)) for number in (1, 3)]
    for ask in ("logdensity_and_gradient", "loglikelihood", "logprior", "pointwise_loglikelihood"):
        wanted, *found = (_flat(getattr(each, ask)(x)) for each in (memory, *ways))
        np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
        assert found[0].tobytes() == found[1].tobytes()
    options = {"chains": 2, "draws": 3, "warmup": 5, "progress": False, "key": 3}
    draws = [vecdist.samplers.hmc(each, **options).positions for each in ways]
    assert draws[0].tobytes() == draws[1].tobytes()
    f = vecdist.compile(lambda mu, y: logpdf(Normal(mu, 1.0), y).sum())
    found = [f(np.array(0.5), cpus(number).shard(Y)) for number in (1, 2, 4)]
    assert found[0] == found[1] == found[2]


def _flat(found):
    found = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else (found,)
    return np.concatenate([np.ravel(each) for each in found])


def test_rows_lie_where_they_were_placed():
    given = Y.copy()
    x = cpus(3).shard(given)
    given[:] = -1.0
    np.testing.assert_array_equal(np.asarray(x * 1.0), Y)
    held = x.node.attrs[0].array
    assert held.counts == tuple([126] * 3 + [125] * 5)
    np.testing.assert_array_equal(held.source[100:400], Y[100:400])
    np.testing.assert_array_equal(held.at(np.array([3, 4, 700])), Y[[3, 4, 700]])
    again = pickle.loads(pickle.dumps(held))
    np.testing.assert_array_equal(again.source[0:1003], Y)
    assert again.counts == held.counts and again.devices.numbers == (None,) * 3


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_each_device_has_neighbouring_pieces_and_as_many_as_others(count):
    for pieces in (8, 9, 24):
        places = [places_of(pieces, count, place) for place in range(count)]
        assert [at for each in places for at in each] == list(range(pieces))
        assert max(map(len, places)) - min(map(len, places)) <= 1
    assert sum(counts_of(23, 8)) == 23 and set(counts_of(23, 8)) == {2, 3}


def test_each_device_has_a_thread():
    class Source:
        shape, dtype, threads = Y.shape, Y.dtype, set()

        def __getitem__(self, key):
            self.threads.add(threading.current_thread().name.rpartition("_")[0])
            return Y[key]

    source = Source()
    _ = cpus(3).shard(source)
    assert len(source.threads) == 3 and {"vecdist-device-1", "vecdist-device-2"} < source.threads


def test_no_rows_fewer_rows_than_pieces_and_arrays_beside():
    with chunks_by_interpreter():
        for rows in (0, 1, 5):
            for number in (1, 3):
                x = cpus(number).shard(Y[:rows])
                assert float(x.sum()) == pytest.approx(Y[:rows].sum())
                assert np.asarray(x * 2.0).tolist() == (2.0 * Y[:rows]).tolist()
        for x in (cpus(2).shard(Y), vecdist.chunked(Y, rows=100, device=cpus(2))):
            np.testing.assert_allclose(float((x * Y).sum()), (Y * Y).sum(), rtol=1e-12)


def test_what_devices_cannot_have():
    for make, error, message in (
        (lambda: devices(3), TypeError, r"as \[3\]"),
        (lambda: devices([]), ValueError, "0 devices share 8 pieces"),
        (lambda: cpus(9), ValueError, "9 devices share 8 pieces"),
        (lambda: devices(["cpu", 0]), ValueError, "round differently"),
        (lambda: devices(["gpu"]), ValueError, "is \"cpu\", \"cuda:1\" or the number"),
        (lambda: cpus(2).shard(np.array(1.0)), ValueError, "no axis"),
        (lambda: cpus(2).shard(np.ones(3, complex)), TypeError, "complex128 cannot enter"),
        (lambda: cpus(2).shard(da.ones(3)), ValueError, "chunks of its own"),
        (lambda: float((cpus(2).shard(Y) * cpus(3).shard(Y)).sum()), ValueError, "the same devices"),
        (lambda: float((cpus(2).shard(Y) * vecdist.chunked(Y)).sum()), ValueError, "the same devices"),
        (lambda: float((cpus(2).shard(Y) * cpus(2, 9).shard(Y)).sum()), ValueError, "not aligned"),
    ):
        with pytest.raises(error, match=message):
            make()
    bad = np.where(np.arange(1003) == 700, -1.0, Y)
    with chunks_by_interpreter():
        for x in (cpus(3).shard(bad), vecdist.chunked(bad, rows=100, device=cpus(2))):
            with pytest.raises(vecdist.InvalidParameter, match=r"scale\[700\] = -1.0"):
                logpdf(Normal(0.0, x), 1.0).sum().compute()


def test_what_a_device_raises_is_raised_when_all_have_ended():
    class Source:
        shape, dtype = Y.shape, Y.dtype

        def __getitem__(self, key):
            rows = key[0] if isinstance(key, tuple) else key
            if rows.start > 500:
                raise OSError("the disk is gone")
            return Y[key]

    with pytest.raises(OSError, match="the disk is gone"):
        cpus(4).shard(Source())
    with chunks_by_interpreter(), pytest.raises(OSError, match="the disk is gone"):
        float(vecdist.chunked(Source(), rows=100, device=cpus(2)).sum())


def test_names():
    given = cpus(2)
    assert given.names == ("cpu", "cpu") and len(given) == 2 and repr(given) == "<devices cpu, cpu; rows in 8 pieces>"
    assert devices(["cpu"]).group is devices(["cpu"]).group
