"""Compiled structures in memory: as many as are wanted, none compiled twice or waited for in vain, across forks too."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from llvmlite.binding import newpassmanagers
from numba.core.registry import cpu_target

import vecdist
from vecdist import LogDensity, lazy
from vecdist import compile as compile_function
from vecdist.graph.memo import Memo
from vecdist.lazy.compiled import LAYOUTS
from vecdist.parameters import real
from vecdist.runtime import cache, pipeline
from vecdist.runtime.cpu import backend as cpu
from vecdist.runtime.cpu.backend import Cpu

X = np.arange(4.0)


def structure(number):
    """A different one for each number, of the value of X.sum() * 2 ** number."""
    result = lazy(X)
    for place in range(number):
        result = result * 2.0 if place % 2 else 2.0 * result + 0.0
    return np.where(lazy(X) > -1.0 - number, result, 0.0).sum() if number % 3 else result.sum()


@pytest.fixture
def compiled(monkeypatch, uncompiled):
    """The kernels that are compiled while the test runs, by Python."""
    kernels, compile_kernel = [], Cpu.compile
    monkeypatch.setattr(Cpu, "compile", lambda self, kernel: kernels.append(kernel) or compile_kernel(self, kernel))
    return kernels


@pytest.fixture
def slow(monkeypatch, compiled):
    """Compilations of other threads wait: an event that one has begun, and one that lets them go on."""
    begun, go_on, compile_kernel = threading.Event(), threading.Event(), Cpu.compile

    def waiting(self, kernel):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(timeout=60)
        return compile_kernel(self, kernel)

    monkeypatch.setattr(Cpu, "compile", waiting)
    return begun, go_on


def evaluating(number, found):
    thread = threading.Thread(target=lambda: found.append(float(structure(number))), daemon=True)
    thread.start()
    return thread


def test_a_compilation_is_waited_for_by_those_who_need_it(slow, compiled):
    begun, go_on = slow
    assert float(structure(1)) == 12.0
    found = []
    threads = [evaluating(2, found) for _ in range(3)]
    assert begun.wait(timeout=60)
    assert float(structure(1)) == 12.0 and float(structure(4)) == 96.0 and not found
    go_on.set()
    for thread in threads:
        thread.join(timeout=60)
    assert found == [24.0] * 3 and len(compiled) == 3, "each of the three structures once"


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt, TypeError])
def test_what_ends_a_compilation_ends_the_call(uncompiled, monkeypatch, error):
    """Nothing is compiled a second time, or taken for a damaged file; the same expression works then."""
    tried, compile_once = [], cpu._compile_once

    def failing(*given):
        tried.append(given)
        if len(tried) == 1:
            raise error("enough")
        return compile_once(*given)

    monkeypatch.setattr(cpu, "_compile_once", failing)
    expression = structure(5)
    with pytest.raises(error, match="enough"):
        float(expression)
    assert len(tried) == 1
    assert float(expression) == 192.0 and len(tried) == 2
    assert not [name for name in sys.modules if name.startswith("vecdist_")]


def test_the_structures_that_were_last_used_are_kept(monkeypatch, compiled):
    monkeypatch.setenv(cache.VARIABLE, "3")
    for number in (1, 2, 3, 1, 4, 1, 5, 1):
        assert float(structure(number)) == 6.0 * 2**number
    assert len(pipeline._plans) == 3 and len(compiled) == 5 == pipeline.compilations()
    float(structure(2))
    assert len(compiled) == 6


def test_every_table_is_bounded(monkeypatch, compiled):
    for name in ("_settled", "_derived", "_kernels"):
        monkeypatch.setattr(pipeline, name, Memo(cache.most))
    monkeypatch.setenv(cache.VARIABLE, "2")
    for number in range(1, 5):
        vecdist.value_and_grad(structure(number), X)
    tables = [pipeline._settled, pipeline._derived, pipeline._kernels, pipeline._plans, pipeline._launches]
    assert all(0 < len(table) <= 2 for table in tables)


@pytest.mark.parametrize("given", ["-1", "many", "2.5"])
def test_a_limit_that_is_no_number_is_named(monkeypatch, compiled, given):
    monkeypatch.setenv(cache.VARIABLE, given)
    with pytest.raises(ValueError, match=cache.VARIABLE):
        float(structure(1))


def test_launches_are_kept_for_some_layouts(uncompiled):
    double = compile_function(lambda x: (x * 2.0).sum())
    density = LogDensity(lambda mu: -(mu * mu).sum(), mu=real(2))
    density._native = lambda name: None  # what has no entry for many vectors
    evaluation = density._evaluation("gradient")
    for length in range(2, 2 * LAYOUTS):
        x = np.ones(length)
        assert double(x) == 2.0 * length == double.value_and_grad(x)[0]
        evaluation(np.ones((length, 2)))
    assert len(double._by_layout) == LAYOUTS and len(double._by_shape) <= LAYOUTS
    assert len(evaluation.batches) == LAYOUTS and 2 * LAYOUTS - 1 in evaluation.batches
    assert double(np.ones(2)) == 4.0 and evaluation(np.ones((2, 2)))[0].tolist() == [-2.0, -2.0]


def test_nothing_holds_what_is_forgotten(monkeypatch, tmp_path):
    """But for the functions that were made of it.  Compiled, for what the compiler keeps weighs most."""
    monkeypatch.setenv("VECDIST_CACHE_DIR", str(tmp_path))
    disposed, dispose = [], newpassmanagers.NewPassManager._dispose
    monkeypatch.setattr(
        newpassmanagers.NewPassManager, "_dispose", lambda self: (disposed.append(type(self)), dispose(self))
    )
    monkeypatch.setattr(pipeline, "_plans", Memo(1))
    monkeypatch.setattr(pipeline, "_launches", Memo(1))
    double = compile_function(lambda x: (x * 2.125).sum())
    assert double(X) == 12.75
    held = weakref.ref(pipeline._plans(*pipeline._plans, None).program.serial)
    float((lazy(X) + 2.25).sum())
    lost = weakref.ref(pipeline._plans(*pipeline._plans, None).program.serial)
    engine = cpu_target.target_context.codegen()._engine._ee
    modules = len(engine._modules)
    float((2.25 * lazy(X) + 2.25).sum())
    gc.collect()
    assert lost() is None and held() is not None and double(X) == 12.75
    assert len(engine._modules) == modules, "of LLVM, which are most of the memory"
    assert set(disposed) == {newpassmanagers.ModulePassManager}, "and no others are made, of single functions"
    assert not [name for name in sys.modules if name.startswith("vecdist_")]


FORKING = """
import os, signal, threading, time
import numpy as np
from vecdist import LogDensity, lazy, logpdf
from vecdist.runtime import compiler, turns
from vecdist.runtime.cpu import backend as cpu
from vecdist.distributions import Normal
from vecdist.parameters import real

x, parent, main = np.arange(4.0), os.getpid(), threading.main_thread()
compiling, tracing, never = threading.Event(), threading.Event(), threading.Event()
compile_once = cpu._compile_once

def slow(*given):
    if threading.current_thread() is main:
        return compile_once(*given)
    with compiler.alone():
        compiling.set()
        time.sleep(1.0)
        return compile_once(*given)

def model(mu):
    if threading.current_thread() is not main:
        tracing.set()
        never.wait()
    return logpdf(Normal(0.0, 1.0), mu)

cpu._compile_once = slow
density = LogDensity(model, mu=real())
assert float((lazy(x) * 2.0).sum()) == 12.0
threading.Thread(target=lambda: density.logdensity_and_gradient(np.zeros(1)), daemon=True).start()
assert tracing.wait(60)
threading.Thread(target=lambda: float((lazy(x) * 3.0).max()), daemon=True).start()
assert compiling.wait(60)
for other in (lambda: float((lazy(x) - 5.0).max()), lambda: float(np.sqrt(lazy(x)).max())):
    threading.Thread(target=other, daemon=True).start()
while not compiler._next.locked():
    assert threading.active_count() == 5, "one compiles, one is the next, and one is behind this thread"
child = os.fork()
if not child:
    signal.alarm(60)  # which ends it where it waits for ever
    assert not turns.making
    assert float((lazy(x) * 2.0).sum()) == 12.0, "known"
    assert float((lazy(x) * 3.0).max()) == 9.0, "compiled at the time"
    assert float((lazy(x) * 4.0).min()) == 0.0, "new"
    value, gradient = density.logdensity_and_gradient(np.ones(1))
    assert gradient == [-1.0] and density.logdensity(np.ones(1)) == value
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert float((lazy(x) * 4.0).min()) == 0.0
print("both", flush=True)
os._exit(0)
"""


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_child_is_forked_while_other_threads_compile_and_trace():
    """None of the locks that these threads hold is closed in the child."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "both\n", done.stderr
