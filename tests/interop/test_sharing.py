"""One log density called by many threads, and in processes made by fork and by spawn."""

import multiprocessing
import threading

import densities
import numpy as np
import pytest

pytestmark = pytest.mark.slow
THREADS = 24


@pytest.fixture(scope="module")
def density():
    return densities.schools()


def points(count):
    return np.random.default_rng(2).normal(size=(count, 10))


def evaluated(job):
    """The values and gradients of points, one after another; a worker is given the log density by pickling."""
    density, x = job
    return [density.logdensity_and_gradient(each) for each in x]


def test_a_million_calls_from_many_threads(density):
    x = points(THREADS)
    alone = evaluated((density, x))
    together, wrong, start = density(x), [], threading.Barrier(THREADS)

    def work(place):
        own, (wanted, slopes) = x[place], alone[place]
        start.wait()
        for call in range(1_000_000 // THREADS + 1):
            value, gradient = density.logdensity_and_gradient(own)
            if value != wanted or not np.array_equal(gradient, slopes):
                wrong.append((place, call))
            if call % 1000 == 0 and not np.array_equal(density(x), together):
                wrong.append((place, "many"))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where other tests have loaded it
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(density, method):
    x = points(8)
    wanted = evaluated((density, x))  # compiled before the fork
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(evaluated, [(density, x[:4]), (density, x[4:])])
    for (value, gradient), (other, slopes) in zip(wanted, [*found[0], *found[1]], strict=True):
        assert value == other and np.array_equal(gradient, slopes)
