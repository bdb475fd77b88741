"""The memory of large results on the CPU: used again when nobody refers to it, never shared."""

import gc
import threading
import weakref
from unittest import mock

import numpy as np
import pytest

from vecdist import compile, lazy  # noqa: A004
from vecdist.runtime.cpu import pool

LARGE = pool.POOLED_FROM // 8 + 5


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_of_large_results_is_used_again():
    f, x = compile(lambda a: a * 2.0), np.arange(float(LARGE))
    first = f(x)
    where = address(first)
    del first
    for _ in range(3):
        found = f(x)
        assert address(found) == where and found.flags.writeable and found.flags.c_contiguous
        np.testing.assert_array_equal(found, x * 2)
        del found


def test_results_that_are_referred_to_do_not_change():
    f, x = compile(lambda a: a * 2.0), np.arange(float(LARGE))
    kept = [f(x + number) for number in range(5)]
    assert len({address(array) for array in kept}) == 5
    for number, array in enumerate(kept):
        np.testing.assert_array_equal(array, (x + number) * 2)


VIEWS = {
    "slice": lambda a: a[10:20],
    "reshaped": lambda a: a.reshape(-1, 5).T[2],
    "other dtype": lambda a: a.view("i8"),
    "memoryview": memoryview,
    "of a view": lambda a: np.asarray(memoryview(a[5:]))[::2],
    "subclass": lambda a: a.view(np.recarray),
    "strides": lambda a: np.lib.stride_tricks.as_strided(a, (4,), (8,)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_keeps_the_memory_of_a_result(name):
    f, x = compile(lambda a: a.reshape(-1, 5) * 2.0), np.arange(float(LARGE // 5 * 5))
    result = f(x)
    where, view = address(result), VIEWS[name](result.reshape(-1) if name == "memoryview" else result.ravel())
    wanted = np.array(view)
    del result
    others = [f(x - number) for number in range(1, 4)]
    assert where not in [address(other) for other in others]
    np.testing.assert_array_equal(np.array(view), wanted)
    del view
    gc.collect()
    assert address(f(x)) == where


def test_spare_memory_is_bounded_and_freed(monkeypatch):
    monkeypatch.setattr(pool, "SMALL", 0)
    made = [pool.Pool(LARGE, np.dtype("f8")) for _ in range(pool.POOLS + 2)]
    for one in made:
        arrays = [one() for _ in range(pool.SPARE + 3)]
        del arrays
    assert [len(one._spare) for one in made] == [0, 0] + [pool.SPARE] * pool.POOLS
    array = made[0]()
    gone = [weakref.ref(one) for one in made]
    del made, one
    gc.collect()
    assert [ref() is None for ref in gone] == [False] + [True] * (pool.POOLS + 1), "a result needs its pool, no more"
    del array
    gc.collect()
    assert gone[0]() is None


def test_any_number_of_small_arrays_waits_for_use():
    made = [pool.Pool(LARGE, np.dtype("f8")) for _ in range(3 * pool.POOLS)]
    for one in made:
        one()
    assert [len(one._spare) for one in made] == [1] * len(made)
    gone = pool.Pool(pool.SMALL, np.dtype("u1"))
    gone()
    assert [len(one._spare) for one in made] == [0] * (2 * pool.POOLS + 1) + [1] * (pool.POOLS - 1)
    del made, one
    last = pool.Pool(LARGE, np.dtype("f8"))
    last()
    assert sum(each() is not None for each in pool._recent) == len(pool._recent), "what is gone is forgotten"


def test_memory_of_temporary_arrays_is_used_again():
    """A running sum waits in memory that is given back, whatever the launch does."""
    f, x = compile(lambda a: (np.cumsum(np.exp(a)) * a).sum()), np.linspace(0.0, 1.0, LARGE)
    taken = []

    def buffer(self):
        taken.append(self)
        return np.empty(self.count, self.dtype)

    with mock.patch.object(pool.Pool, "buffer", buffer):
        wanted = f(x)
    assert taken and all(isinstance(each, pool.Pool) for each in taken)
    before = [len(each._spare) for each in taken]
    for _ in range(3):
        assert f(x) == wanted
    assert [len(each._spare) for each in taken] == [max(1, count) for count in before]
    np.testing.assert_allclose(wanted, (np.cumsum(np.exp(x)) * x).sum(), rtol=1e-12)


def test_small_results_and_eager_ones_own_their_memory():
    x = np.arange(float(LARGE))
    assert compile(lambda a: a * 2.0)(np.ones(3)).base is None
    assert (lazy(x) * 2.0).compute().base is None
    assert compile(lambda a: a * 2.0)(x).base is not None


def test_threads_never_share_memory():
    f, x = compile(lambda a: a * 2.0 + 1.0), np.arange(float(LARGE))
    f(x)
    failures, start = [], threading.Barrier(6)

    def work(number):
        start.wait()
        last = None
        for turn in range(30):
            given = x + (100 * number + turn)
            found = f(given)
            if last is not None and not np.array_equal(last[1], last[0] * 2.0 + 1.0):
                failures.append((number, turn))
            last = (given, found) if turn % 3 else None
            if not np.array_equal(found, given * 2.0 + 1.0):
                failures.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
