"""One log density called by many threads, and in processes made by fork and by spawn."""

import multiprocessing
import os
import subprocess
import sys
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


FRESH = """
import sys, threading
sys.setswitchinterval(1e-6)
start, found, failed = threading.Barrier(8), {}, []

def work():
    start.wait()
    import numpy as np
    import vecdist
    from vecdist import logpdf
    from vecdist.distributions import Gamma, Normal, StudentT
    x = np.random.default_rng(1).gamma(2.0, size=900_000)
    models = {
        "normal": lambda m, x: logpdf(Normal(m, 1.0), x).sum(),
        "gamma": lambda m, x: logpdf(Gamma(m, 1.0), x).sum(),
        "student": lambda m, x: logpdf(StudentT(m, 0.0, 1.0), x).sum(),
        "rows": lambda m, x: logpdf(Gamma(m, 2.0), x.reshape(3, -1)).sum(axis=1)[1],
    }
    for name, density in models.items():
        compiled = vecdist.compile(density)
        start.wait()
        for _ in range(12):
            value, slope = compiled.value_and_grad(2.0, x, wrt=0)
            found.setdefault(name, set()).add((float(value), float(slope)))

def noted():
    try:
        work()
    except BaseException as error:
        failed.append(error)

threads = [threading.Thread(target=noted) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
assert {name: len(values) for name, values in found.items()} == dict.fromkeys(["normal", "gamma", "student", "rows"], 1)
"""


@pytest.mark.parametrize("kept", [True, False])
def test_the_first_calls_of_a_process_are_made_by_many_threads_at_once(tmp_path, kept):
    """From the import on: with code that earlier processes have kept, and without any."""
    space = os.environ | ({} if kept else {"VECDIST_CACHE_DIR": str(tmp_path)})
    for _ in range(3 if kept else 1):
        command = [sys.executable, "-X", "faulthandler", "-c", FRESH]
        run = subprocess.run(command, env=space, capture_output=True, check=False)
        assert run.returncode == 0, run.stderr.decode()


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where other tests have loaded it
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", [pytest.param("fork", marks=pytest.mark.forks), "spawn"])
def test_worker_processes(density, method):
    x = points(8)
    wanted = evaluated((density, x))  # compiled before the fork
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(evaluated, [(density, x[:4]), (density, x[4:])])
    for (value, gradient), (other, slopes) in zip(wanted, [*found[0], *found[1]], strict=True):
        assert value == other and np.array_equal(gradient, slopes)
