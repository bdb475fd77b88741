"""A log density in other processes, in pickles, and among threads."""

import multiprocessing
import pickle
import threading

import numpy as np
import pytest
from densities import schools


def points(density, *lead, seed=0):
    return np.random.default_rng(seed).normal(size=(*lead, density.ndim))


@pytest.fixture(scope="module")
def compiled():
    """Eight schools, compiled for one vector and for many."""
    density = schools()
    density.logdensity_and_gradient(np.zeros(10))
    return density


def in_another_process(density, x, queue):
    queue.put(density.logdensity_and_gradient(x))


FORK, SPAWN = pytest.param("fork", marks=pytest.mark.forks), pytest.param("spawn", marks=pytest.mark.slow)


@pytest.mark.parametrize("way", [FORK, SPAWN])
def test_other_processes(compiled, way):
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    x = points(compiled)
    process = context.Process(target=in_another_process, args=(compiled, x, queue))
    process.start()
    value, gradient = queue.get(timeout=120)
    process.join()
    wanted, slopes = compiled.logdensity_and_gradient(x)
    assert process.exitcode == 0 and value == wanted and np.array_equal(gradient, slopes)


def test_pickles_are_compiled_again(compiled):
    x = points(compiled)
    wanted, slopes = compiled.logdensity_and_gradient(x)
    again = pickle.loads(pickle.dumps(compiled))
    assert repr(again) == repr(compiled) and again.names == compiled.names
    value, gradient = again.logdensity_and_gradient(x)
    assert value == wanted and np.array_equal(gradient, slopes)


def test_threads_share_it(compiled):
    x = points(compiled, 24)
    alone = [compiled.logdensity_and_gradient(one) for one in x]
    shared, failures, start = schools(), [], threading.Barrier(24)

    def work(place):
        start.wait()
        for _ in range(50):
            value, gradient = shared.logdensity_and_gradient(x[place])
            if value != alone[place][0] or not np.array_equal(gradient, alone[place][1]):
                failures.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
