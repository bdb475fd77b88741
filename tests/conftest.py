"""What all tests share: a cache folder of their own, one way for hypothesis to draw, and the GPU where there is one."""

import functools
import gc
import os
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

# Neither tests nor examples: these files are no modules for doctest to import.
collect_ignore_glob = ["*conftest.py", "*/golden/*", "*/user_code/*"]

# Set before vecdist is used, and inherited by the processes that tests start; the workers of a session share it.  The
# next session finds those kernels again that are still the same; CI has none of an earlier one.
_WORKER, _KEEPS = "PYTEST_XDIST_WORKER" in os.environ, "CI" not in os.environ
_file = [None]  # of the last test
if not _WORKER:
    kept = Path(__file__).parents[1] / ".pytest_cache" / "kernels"
    os.environ["VECDIST_CACHE_DIR"] = str(kept) if _KEEPS else tempfile.mkdtemp(prefix="vecdist-tests-")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # a GPU's memory is for all workers
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small; threads that wait for work take time, too

hypothesis.settings.register_profile("vecdist", deadline=None, print_blob=True)  # a first example compiles
hypothesis.settings.register_profile("vecdist-ci", deadline=None, print_blob=True, derandomize=True, database=None)
hypothesis.settings.load_profile("vecdist-ci" if os.environ.get("CI") else "vecdist")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays: the garbage collector does not look through it, then or later.

    What tests make stays long, too, in memories of all kinds: it looks through that less often.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """A worker tells of what a test came to; nobody waits to hear that it begins, or was set up."""
    if item.path != _file[0]:
        _file[0] = item.path
        if collects_garbage(item.path):
            set_aside()
    if not _WORKER:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 1.0:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """What passed is told without its keywords: nobody asks for them, and to send them takes longer than many tests."""
    report = yield
    if report.passed:
        report.keywords = {}
    return report


@functools.cache
def collects_garbage(path):
    """Whether a file of tests asks for all garbage to be found."""
    text = path.read_text(encoding="utf-8")
    return "gc.collect" in text or "clear_cache" in text


def set_aside():
    """Have nobody look through what there is for garbage: each test that collects some took seconds for that."""
    gc.freeze()


def pytest_unconfigure():
    """Remove the cache folder of this session, if it is its own; pytest looks for garbage five times more."""
    set_aside()
    if not (_WORKER or _KEEPS):
        shutil.rmtree(os.environ["VECDIST_CACHE_DIR"], ignore_errors=True)


def pytest_collection_modifyitems(items):
    """Doctests are run without compiling; the tests that need a GPU are skipped where none can be used."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.runtest = without_compiling(item.runtest)
    on_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if not on_gpu:
        return
    from vecdist.doctor import cuda_problems

    problems = cuda_problems()
    for item in on_gpu if problems else ():
        item.add_marker(pytest.mark.skip(reason=problems[0].what))


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    """Every kernel is shared among this many threads, however short it is."""
    from vecdist.runtime.cpu import threads

    monkeypatch.setattr(threads, "thread_count", lambda: request.param)
    monkeypatch.setattr(threads, "CERTAIN", 0.0)
    return request.param


def without_compiling(function):
    """A function during which kernels of the CPU are run by Python, as they stand in their source."""
    from uncompiled import uncompiled

    return uncompiled()(function)


@pytest.fixture
def uncompiled():
    """Kernels of the CPU are run by Python, as they stand in their source."""
    from uncompiled import uncompiled

    with uncompiled():
        yield


@pytest.fixture
def small_products_are_calls(monkeypatch):
    """Products of few elements are left to a library, as those of many are: tests of these need no large matrices."""
    from vecdist.passes import contractions
    from vecdist.primitives import products

    monkeypatch.setattr(products, "FEW", 0)
    monkeypatch.setattr(contractions, "FEW", 0)


@pytest.fixture(params=["uncompiled", pytest.param("compiled", marks=pytest.mark.slow)])
def execution(request):
    """Kernels of the CPU are run by Python, and once more, among the slow tests, as they are compiled."""
    if request.param == "uncompiled":
        request.getfixturevalue("uncompiled")
