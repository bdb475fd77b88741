"""Rounds over several GPUs that are not there: every order of their streams that events allow gives the same."""

import threading

import numpy as np
import pytest
from chunk_models import ROWS, TERMS, arrays
from gpus_on_paper import gpus
from interpreting import by_interpreter
from test_devices import bits, gradient

import vecdist
from vecdist import devices, lazy, logpdf, value_and_grad
from vecdist.distributions import Normal

SEEDS = range(6)
OF_CUPY = sorted(set(TERMS) - {"prior", "rows in memory", "picked columns"})  # one has no rows, others NumPy's arrays
Y = np.random.default_rng(0).gamma(2.0, 2.0, 1000)


def on_device(cupy, arrays):
    return {name: cupy.asarray(array) for name, array in arrays.items()}


def found_on_gpus(make, rows, whole, place, seed):
    """Value and gradient, as the host reads them, twice."""
    with gpus(seed):
        import cupy

        given, there = place(rows), on_device(cupy, whole)
        found = [gradient(make, given, there) for _ in range(3)]
        return [[each.get() for each in one] for one in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_models_in_any_order_of_streams(seed):
    rng = np.random.default_rng(500 + seed)
    rows, whole = arrays(rng)
    chosen = [*rng.choice(OF_CUPY, size=rng.integers(1, 4), replace=False), *["prior"] * int(rng.integers(0, 2))]

    def make(given):
        return sum(TERMS[name](**given) for name in chosen)

    with by_interpreter():
        wanted = gradient(make, rows, whole)
    count = int(rng.integers(1, ROWS + 3))
    for place in (
        lambda names: lambda rows: {name: devices(names).shard(array) for name, array in rows.items()},
        lambda names: lambda rows: {
            name: vecdist.chunked(array, rows=count, device=devices(names)) for name, array in rows.items()
        },
    ):
        found = [found_on_gpus(make, rows, whole, place(names), seed) for names in ([0], [0, 0], [0, 1, 2], [3, 1])]
        for ways in found:
            for each in ways:
                np.testing.assert_array_equal(bits(each), bits(found[0][0]))
        for mine, other in zip(found[0][0], wanted, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-10)


def test_launches_of_all_gpus_are_replayed_as_one():
    with gpus() as world:
        import cupy

        x = devices([0, 1, 2]).shard(Y)
        for factor in (1.0, 2.0, 3.0):
            mu = cupy.asarray(np.array(factor))
            value, _ = value_and_grad(logpdf(Normal(lazy(mu), 1.0), x).sum(), mu)
            np.testing.assert_allclose(value.get(), (-0.5 * (Y - factor) ** 2 - 0.5 * np.log(2 * np.pi)).sum())
        assert world.launches == 3


def test_arrays_of_one_gpu_stand_beside_row_by_row_and_results_are_rows():
    for make in (
        lambda names: devices(names).shard(Y), lambda names: vecdist.chunked(Y, rows=170, device=devices(names)),
    ):  # fmt: skip
        for names in ([0], [1, 0, 2]):
            with gpus(len(names)):
                import cupy

                x, beside = make(names), cupy.asarray(Y[::-1])
                assert x.device == f"cuda:{names[0]}"
                np.testing.assert_allclose((lazy(x) * beside).sum().compute().get(), (Y * Y[::-1]).sum(), rtol=1e-12)
                f = vecdist.compile(lambda x: np.sqrt(x))
                np.testing.assert_allclose(f(x).get(), np.sqrt(Y), rtol=1e-15)


def test_pieces_for_which_there_is_no_memory_are_halved():
    with gpus(limit=1000):
        import cupy

        mu = cupy.asarray(np.array(2.0))
        with pytest.warns(RuntimeWarning, match=r"pieces of 170 rows: they are halved, to 85 rows of 0.000648 MiB"):
            found = value_and_grad(logpdf(Normal(mu, 1.0), vecdist.chunked(Y, rows=170, device=1)).sum(), mu)
        wanted = value_and_grad(logpdf(Normal(mu, 1.0), vecdist.chunked(Y, rows=85, device=1)).sum(), mu)
        assert [each.get() for each in found] == [each.get() for each in wanted]


def test_reading_that_fails_leaves_nothing_on_its_way():
    class Source:
        shape, dtype = Y.shape, Y.dtype

        def __getitem__(self, key):
            if key[0].start >= 600:
                raise OSError("the disk is gone")
            return Y[key]

    with gpus() as world:
        with pytest.raises(OSError, match="the disk is gone"):
            vecdist.chunked(Source(), rows=100, device=devices([0, 1])).sum().compute()
        world.until(lambda: not any(stream.queue for stream in world.streams))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith(("vecdist-reader", "vecdist-cop"))]


def test_gpus_that_are_not_there_or_not_alike():
    with gpus(), pytest.raises(ValueError, match="there is no GPU 4: this host has 4"):
        devices([0, 4])
    with gpus():
        assert devices().names == ("cuda:0", "cuda:1", "cuda:2", "cuda:3")
        assert devices(["cuda:2"]).names == ("cuda:2",)
