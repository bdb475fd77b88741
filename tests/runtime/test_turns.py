"""Threads beside one that compiles: who waits for what, told by locks and events, never by a clock."""

import gc
import threading

import numpy as np
import pytest
from llvmlite import binding

from vecdist import lazy
from vecdist.runtime import compiler, pipeline, turns

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


def test_known_structures_wait_for_no_compilation():
    assert known(X) == 22.0
    with Compiling():
        assert finished(lambda: (known(X), known(X + 1.0), known(np.arange(5.0)))) == (22.0, 36.0, 36.25)


def test_garbage_of_a_compiler_is_left_to_the_thread_that_compiles(monkeypatch):
    """Others may collect it at any time, and LLVM has one lock."""
    assert known(X) == 22.0
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
    found = []
    waiting = threading.Thread(target=lambda: found.append(float((lazy(X) * 7.5).sum())), daemon=True)

    def fail():
        with compiler.alone():
            waiting.start()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail()
    waiting.join(WAIT)
    assert found == [45.0] and not turns.making


def test_runs_give_way_to_threads_that_make_something_new(monkeypatch):
    """Now and then, for as long as any does."""
    pauses, now = [], [0.0]
    known(X)
    monkeypatch.setattr(turns, "pause", pauses.append)
    monkeypatch.setattr(turns, "clock", lambda: now[0])
    monkeypatch.setattr(turns._Paused, "at", 0.0)

    def ran():
        known(X)
        now[0] += turns.BETWEEN * 0.6
        return len(pauses)

    assert [ran(), ran(), ran()] == [0, 0, 0]
    with Compiling() as compiling:
        assert turns.making == [compiling.thread.ident]
        assert [ran() for _ in range(6)] == [1, 1, 2, 2, 3, 3]
        with turns.making_something():
            compiling.go_on.set()
            compiling.thread.join(WAIT)
            assert turns.making == [threading.get_ident()]
    assert not turns.making and [ran(), ran()] == [3, 3]


def test_who_makes_something_new_is_known(monkeypatch):
    seen = []

    def plan(*given):
        seen.extend(turns.making)
        raise TimeoutError

    monkeypatch.setattr(pipeline, "_plan", plan)
    with pytest.raises(TimeoutError):
        float((lazy(X) * 8.5).min())
    assert seen == [threading.get_ident()] and not turns.making
