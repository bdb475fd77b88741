"""Threads beside one that compiles: who waits for what, told by locks and events, never by a clock."""

import gc
import sys
import threading

import numpy as np
import pytest
from llvmlite import binding

from vecdist import lazy
from vecdist.runtime import compiler, turns
from vecdist.runtime.cpu import threads

X = np.arange(4.0)
WAIT = 60.0  # seconds, after which a thread is taken to wait for ever


def known(x):
    return float((lazy(x) * 3.5 + 0.25).sum())


class Compiling:
    """A thread that has all locks of a compilation until it is let go on."""

    def __enter__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        assert self.begun.wait(WAIT)
        return self

    def run(self):
        with compiler.alone(), binding.ffi.lib._lock:
            self.begun.set()
            self.go_on.wait(WAIT)

    def __exit__(self, *error):
        self.go_on.set()
        self.thread.join(WAIT)


def finished(function):
    """What a function gives that waits for nobody."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(WAIT)
    assert found, "it waits"
    return found[0]


@pytest.fixture
def shared(monkeypatch):
    """The numbers of blocks that were shared among threads, of which there are two."""
    blocks, share = [], threads.share
    monkeypatch.setattr(threads, "share", lambda run, count: (blocks.append(count), share(run, count)))
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    return blocks


@pytest.fixture
def makers(monkeypatch):
    """The threads that were started to compile."""
    started, beside = [], threads.beside
    monkeypatch.setattr(threads, "beside", lambda make: started.append(beside(make)) or started[-1])
    return started


def test_known_structures_wait_for_no_compilation():
    assert known(X) == 22.0
    with Compiling():
        assert finished(lambda: (known(X), known(X + 1.0), known(np.arange(5.0)))) == (22.0, 36.0, 36.25)


def test_garbage_of_a_compiler_is_left_to_the_thread_that_compiles(monkeypatch):
    """Others may collect it at any time, and LLVM has one lock."""
    kind, disposed = type(binding.create_pipeline_tuning_options()), []
    dispose = kind._dispose
    monkeypatch.setattr(kind, "_dispose", lambda self: (disposed.append(threading.get_ident()), dispose(self)))
    garbage = [binding.create_pipeline_tuning_options()]
    garbage.append(garbage)
    with Compiling() as compiling:
        del garbage
        finished(lambda: (gc.collect(), known(X)))
        assert not disposed
    assert disposed == [compiling.thread.ident]
    assert binding.ffi.ObjectRef.__del__.__module__ == binding.ffi.__name__, "as it was"


def test_what_several_threads_run_is_compiled_beside_the_runs_of_one(monkeypatch, shared, makers):
    def fresh(x):
        return float((lazy(x) * 5.5 + 0.125).sum())

    small, large = np.arange(10.0), np.arange(50_000.0)
    fresh(small)
    monkeypatch.setattr(threads, "CERTAIN", 0.0)
    monkeypatch.setattr(threads, "PATIENT", np.inf)
    with Compiling():
        found = finished(lambda: [fresh(large), fresh(large)])
        assert makers[0].is_alive() and not shared, "known structures of other lengths wait for nobody, either"
    makers[0].join(WAIT)
    assert found == [fresh(large)] * 2 and shared and len(makers) == 1, "the same bits"


def test_how_long_runs_take_is_told_by_long_ones():
    pace = threads.Pace()
    pace.note(1000, 1e-3)
    assert pace.likely == threads.LIKELY, "a short one was slow for other reasons"
    pace.note(10**6, 5e-5)
    assert pace.likely == 5e-11, "it was quicker than is usual"
    pace.note(10**6, 2e-2)
    assert pace.likely == 2e-8


def test_one_that_takes_long_waits_for_the_others(monkeypatch, shared, makers):
    monkeypatch.setattr(threads, "PATIENT", 0.0)
    x = np.arange(50_000.0)
    assert float((lazy(x) * 6.5).sum()) == 6.5 * x.sum() and shared and not makers


def test_what_cannot_be_compiled_beside_says_why(monkeypatch, makers):
    """To the one who calls, and again until it can."""
    tried, ran = [], []

    def several():
        tried.append(None)
        if len(tried) < 3:
            raise TimeoutError("enough")
        return lambda: ran.append("several")

    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    work = int(threads.CERTAIN / threads.FASTEST) + 1
    trial = threads.Trial(lambda: ran.append("one"), several, work, threads.Pace())
    makers[0].join(WAIT)
    with pytest.raises(TimeoutError, match="enough"):
        trial.run()
    trial.run()
    assert ran == ["several"] and len(tried) == 3


def test_no_thread_can_be_started_at_the_end_of_a_process(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert not threads.beside(lambda: None).is_alive()


def test_threads_compile_in_turn():
    """Who has compiled a function, and asks for the next, comes after who waits."""
    order = []

    def compile_one():
        with compiler.alone():
            order.append("other")

    other = threading.Thread(target=compile_one, daemon=True)
    with compiler.alone():
        order.append("first")
        other.start()
        while not compiler._next.locked():
            assert other.is_alive()
    with compiler.alone():
        order.append("first again")
    other.join(WAIT)
    assert order == ["first", "other", "first again"] and not compiler._next.locked()


def test_an_error_ends_one_compilation_alone():
    interval = sys.getswitchinterval()
    found = []
    waiting = threading.Thread(target=lambda: found.append(float((lazy(X) * 7.5).sum())), daemon=True)

    def fail():
        with compiler.alone():
            waiting.start()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail()
    waiting.join(WAIT)
    assert found == [45.0] and sys.getswitchinterval() == interval


def test_python_changes_threads_soon_while_any_makes_something_new():
    interval = sys.getswitchinterval()
    with Compiling(), turns.short_turns():
        assert sys.getswitchinterval() == pytest.approx(turns.TURN)
    with Compiling() as compiling:
        with turns.short_turns():
            compiling.go_on.set()
            compiling.thread.join(WAIT)
            assert sys.getswitchinterval() == pytest.approx(turns.TURN), "the other one does not end it"
        assert sys.getswitchinterval() == interval


def test_what_is_compiled_beside_is_waited_for_where_it_is_asked():
    go_on, alive = threading.Event(), []
    maker = threads.beside(lambda: go_on.wait(WAIT))
    waiting = threading.Thread(target=lambda: (threads.settled(), alive.append(maker.is_alive())), daemon=True)
    waiting.start()
    go_on.set()
    waiting.join(WAIT)
    assert alive == [False]
