"""The CPU: the interpreter's values at every length around a block, the same bits from any number of threads."""

import os
import re
import subprocess
import sys
import threading
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import assert_same, interpreted
from structures import EXACT, LENGTHS, MODELS, ROWS, matrix, numbers, positive

from vecdist import cdf, explain, lazy, logpdf, value_and_grad, value_and_partials
from vecdist import compile as compile_function
from vecdist.distributions import Exponential, Normal
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu import threads
from vecdist.runtime.cpu.crew import Crew

WHOLE = ("choice", "sum used again")
EVERY = [*((name, dtype) for name in EXACT for dtype in ("f8", "f4")), *((name, "i4") for name in WHOLE)]


def computed(result):
    """The value of a lazy array, by the CPU."""
    return pipeline.evaluate((result.node,), pipeline.values, (result.shape,))[0]


def check(result):
    (wanted,) = interpreted((result.node,))
    assert_same([np.asarray(computed(result))], [wanted])


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("name", "dtype"), EVERY)
def test_values_at_every_length(name, dtype):
    for length in LENGTHS:
        check(EXACT[name](numbers(length, dtype)))


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", ROWS)
def test_values_of_rows_at_every_length(name, dtype):
    for length in LENGTHS:
        check(ROWS[name](matrix(length, dtype)))
        check(ROWS[name](matrix(length, dtype, rows=300)))


@pytest.mark.parametrize("several", ["exact", "rows"])
def test_values_of_several_results_of_one_kernel(several):
    """All that the tests above look at one by one, compiled together."""
    table, arrays, dtype = {"exact": (EXACT, numbers, "f4"), "rows": (ROWS, matrix, "f8")}[several]
    for length in LENGTHS[2:]:
        x = arrays(length, dtype)
        results = [result(x) for result in table.values()]
        roots, shapes = [each.node for each in results], [each.shape for each in results]
        assert_same(map(np.asarray, pipeline.evaluate(roots, pipeline.values, shapes)), interpreted(roots))


@pytest.mark.usefixtures("execution")
def test_booleans():
    for length in LENGTHS:
        x = numbers(length, "?", 0, 1)
        check(lazy(x).sum())
        check(np.where(lazy(x), 2.0, -1.0))
        check((lazy(x) & (numbers(length) < 1)) | ~lazy(x))


@settings(max_examples=8)
@given(programs())
def test_random_programs(program):
    """Structures that nobody thought of; each costs a compilation."""
    wanted = interpreted(program.roots)
    shapes = [result.shape for result in program.results]
    assert_same(map(np.asarray, pipeline.evaluate(program.roots, pipeline.values, shapes)), wanted)


@settings(max_examples=4)
@given(programs(dtypes=("f8", "f4"), lengths=(1, 2, 3), most_steps=5))
def test_gradients_of_random_programs(program):
    roots = (program.scalar().node, *map(leaf, program.parameters))
    wanted = interpreted(roots, gradient_of)
    shapes = [array.shape for array in wanted]
    assert_same(map(np.asarray, pipeline.evaluate(roots, gradient_of, shapes)), wanted, rtol=1e-5)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", MODELS)
def test_models_and_their_gradients(name, dtype):
    check_model(name, dtype)


def test_blocks_with_values_that_are_seldom_wanted():
    """Of three blocks one has far angles, in another NaN and infinity; compiled."""
    x = np.linspace(-20.0, 20.0, 10_000)
    x[[17, 4095]], x[[9000, 9001]] = (1e22, -3e9), (np.inf, np.nan)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(np.tan(lazy(x)), np.tan(x), rtol=1e-13)
    x = x[:9000].copy()
    value, slope = value_and_grad(np.sin(lazy(x)).sum(), wrt=x)
    np.testing.assert_allclose(value, np.sin(x).sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, np.cos(x), rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("uncompiled")
def test_flags_and_sums_of_blocks_with_values_that_are_seldom_wanted():
    """The scale is invalid where far angles are not reduced, and valid where they are."""
    x, scale = np.linspace(-20.0, 20.0, 4200), np.array(1.5)
    x[[17, 4150]] = 1e22, -3e9
    target = logpdf(Normal(0.0, lazy(scale) + np.sin(lazy(x))), np.cos(lazy(x))).sum()
    value, (of_x, of_scale) = value_and_grad(target, wrt=(x, scale))
    spread, at = np.sin(x) + scale, np.cos(x)
    wanted = -0.5 * (at / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(value, wanted.sum(), rtol=1e-12)
    of_spread = (at**2 / spread**2 - 1) / spread
    np.testing.assert_allclose(of_scale, of_spread.sum(), rtol=1e-11)
    np.testing.assert_allclose(of_x, of_spread * at + at / spread**2 * (spread - scale), rtol=1e-10, atol=1e-12)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("far", [1.0, 1e12])
def test_blocks_that_scatter_values_that_are_seldom_wanted(far):
    """What is added to elements of an array is added once, whichever loop finds it."""
    x, group = np.linspace(-2.0, 2.0, 600).reshape(60, 10), np.arange(600) % 4
    x[7, 3] = far
    b, m = np.linspace(0.5, 2.0, 10), np.arange(4.0)
    target = np.sin(lazy(x) * b).sum() + np.cos(lazy(m)[group] * x.ravel()).sum()
    value, (of_b, of_m) = value_and_grad(target, wrt=(b, m))
    np.testing.assert_allclose(value, np.sin(x * b).sum() + np.cos(m[group] * x.ravel()).sum(), rtol=1e-12)
    np.testing.assert_allclose(of_b, (np.cos(x * b) * x).sum(axis=0), rtol=1e-11, atol=1e-12)
    slopes = -np.sin(m[group] * x.ravel()) * x.ravel()
    np.testing.assert_allclose(of_m, np.bincount(group, slopes), rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("uncompiled")
def test_points_between_the_ends_of_a_support_do_not_pay_for_the_slope_there():
    """One of three blocks has a point at the end; the loop for the others has no logarithm and no density in it."""
    x, scale = np.linspace(0.01, 5.0, 9000), np.linspace(0.5, 2.0, 9000)
    x[5000] = 0.0
    tail = cdf(Exponential(scale), x)
    value, (of_x, of_scale) = value_and_partials(tail, wrt=(x, scale))
    share = np.exp(-x / scale)
    np.testing.assert_allclose(value, -np.expm1(-x / scale), rtol=1e-14)
    np.testing.assert_allclose(of_x, share / scale, rtol=1e-13)
    np.testing.assert_allclose(of_scale, -share * x / scale**2, rtol=1e-13)
    (kernel,) = explain(tail, wrt=(x, scale)).kernels
    first, again = kernel.source.split("if seldom:")
    values, all_values = (set(re.findall(r"^ +(v\d+) = ", text, re.MULTILINE)) for text in (first, again))
    assert values < all_values and len(all_values) > 1.5 * len(values)


def test_a_model_with_special_functions_is_compiled_every_day():
    check_model("Gamma", "f4")


def check_model(name, dtype):
    for length in (1, 257, 4097, 10_000):
        x = positive(length, dtype)
        a, b = np.array(0.75, dtype), np.array(1.5, dtype)
        target, wrt = MODELS[name](x, a, b)
        value, slopes = value_and_grad(target, wrt)
        wanted = interpreted((target.node, *map(leaf, wrt)), gradient_of)
        tolerance = 1e-11 if dtype == "f8" else 2e-4
        for found, reference in zip((value, *slopes), wanted, strict=True):
            assert found.dtype == reference.dtype
            np.testing.assert_allclose(found, reference, rtol=tolerance, atol=tolerance * np.abs(reference).max())


@pytest.fixture
def serial_bits(name):
    """What one thread computes, before anything is shared."""
    return bits(name)


def bits(name):
    if name in ROWS:
        x = np.random.default_rng(3).normal(size=(7, 5000))
        return np.asarray(computed(ROWS[name](x) * 1.0)).tobytes()
    target, wrt = MODELS[name](positive(40_000), np.array(0.75), np.array(1.5))
    value, slopes = value_and_grad(target, wrt)
    return b"".join(np.asarray(array).tobytes() for array in (value, *slopes))


@pytest.mark.parametrize("name", [
    name if name in ("Normal", "column sums used again") else pytest.param(name, marks=pytest.mark.slow)
    for name in (*MODELS, *ROWS)
])
def test_bits_do_not_depend_on_threads(name, serial_bits, threads):
    assert {bits(name) for _ in range(3)} == {serial_bits}


@pytest.mark.parametrize("length", [11, 12, 13, 14, 15])
def test_bits_do_not_depend_on_where_outputs_lie(length):
    """Outputs closer together and farther apart than a turn of a vector loop."""
    x, y = np.random.default_rng(7).uniform(0.01, 1.0, (2, length))
    roots = (np.exp(lazy(x) * lazy(y)).sum().node, leaf(x), leaf(y))
    bound = bind(roots)
    program = pipeline.planned(bound, "cpu", pipeline.structured(bound, gradient_of, "cpu", "nan")).program
    found = set()
    for gap in range(80):
        memory = np.zeros(2 * length + 100)
        outputs = memory[:1], memory[1 : length + 1], memory[length + gap + 1 : 2 * length + gap + 1]
        program.serial(*(entry.given for entry in bound.leaves), *outputs, length)
        found.add(b"".join(output.tobytes() for output in outputs))
    assert len(found) == 1


def test_short_kernels_stay_with_one_thread(monkeypatch):
    monkeypatch.setattr(Crew, "share", lambda *_: pytest.fail("threads for a short kernel"))
    check(EXACT["sum"](numbers(10_000)))


def test_long_kernels_are_shared_among_threads(monkeypatch):
    shared, share = [], Crew.share
    monkeypatch.setattr(Crew, "share", lambda *given: (shared.append(given[-1].parts), share(*given))[1])
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    monkeypatch.setattr(threads, "CERTAIN", 0.0)
    check(EXACT["sum"](numbers(100_000)))
    assert shared and min(shared) > 1


def test_blocks_are_run_at_once_each_one_time(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    both, seen, ran = threading.Barrier(2, timeout=30), set(), []

    def run(first, last):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()
        ran.append((first, last))

    threads.share(run, 100)
    assert [block for first, last in sorted(ran) for block in range(first, last)] == list(range(100))
    assert threads.share(run, 0) is None


@pytest.mark.usefixtures("uncompiled")
def test_every_block_has_its_sums_where_threads_share_stripes(monkeypatch, threads):
    """More blocks than stripes: run as Python, where no index may leave its array."""
    monkeypatch.setattr("vecdist.codegen.cpu.blocking.BLOCK", 4)
    monkeypatch.setattr("vecdist.runtime.cpu.threads.BLOCK", 4)
    rows = 4 * cpu_language.stripe_limit(3) + 4 * 7 + 1
    x, mean, group = numbers(rows), np.array([0.5, -1.0, 2.0]), np.arange(rows) % 3
    value, slope = value_and_grad(np.square(lazy(x) - lazy(mean)[group]).sum(), wrt=mean)
    np.testing.assert_allclose(value, np.square(x - mean[group]).sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, [-2 * (x - mean[place])[group == place].sum() for place in range(3)], rtol=1e-11)


def test_errors_of_threads_are_raised(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    both = threading.Barrier(2, timeout=30)
    caller = threading.current_thread()

    def run(first, last):
        both.wait()
        if threading.current_thread() is not caller:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.share(run, 2)


def test_threads_run_at_once_without_the_interpreter_lock():
    function = compile_function(lambda x, a: (np.exp(lazy(x) * a) - x).sum())
    x, a = positive(20_000), np.array(0.1)
    wanted = function(x, a)
    found = []

    def work():
        found.extend(function(x, a) for _ in range(50))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [wanted] * 200


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_threads_start_again_after_a_fork():
    code = """
import os, numpy as np
from vecdist import lazy
from vecdist.runtime.cpu import threads
threads.CERTAIN = 0.0
threads.thread_count = lambda: 2
x = np.ones(100_000)
assert float((lazy(x) * 2.0).sum()) == 200_000
child = os.fork()
if not child:
    good = float((lazy(x + 1.0) * 2.0).sum()) == 400_000
    os._exit(0 if good else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert float((lazy(x + 2.0) * 2.0).sum()) == 600_000
print("both")
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "both\n", done.stderr


def test_nothing_is_compiled_again_for_other_data():
    before = None
    for length in LENGTHS[1:]:
        x = positive(length)
        value_and_grad((np.log(lazy(x)) * 2.5).sum() - x.sum(), (x,))
        before = before or pipeline.compilations()
        assert pipeline.compilations() == before


def tried(alone, shared, work=100_000, runs=12):
    """How often each of two runs of these many seconds was chosen, by a clock that only they move."""
    now, counts = [0.0], {"alone": 0, "shared": 0}

    def run(name, seconds):
        counts[name] += 1
        now[0] += seconds() if callable(seconds) else seconds

    def clock():
        return now[0]

    with mock.patch.object(threads.time, "perf_counter", clock):
        trial = threads.Trial(lambda: run("alone", alone), lambda: lambda: run("shared", shared), work, threads.Pace())
        for _ in range(runs):
            trial.run()
    return counts["alone"], counts["shared"]


def test_threads_begin_where_they_were_seen_to_pay(monkeypatch):
    busy = [False] * 15 + [True] * 5
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    assert tried(20e-6, 5e-6) == (12, 0), "what is short by the clock stays with one thread, however many statements"
    assert tried(100e-6, 60e-6) == (5, 7)
    assert tried(100e-6, 95e-6) == (7, 5), "threads take from others what they gain"
    assert tried(1e-3, 1.1e-3) == (7, 5), "most of a kernel may be a recurrence that nobody shares"
    assert tried(1e-2, 0.6e-2) == (1, 11), "a long one is not run by one thread again"
    again = 5 + threads.AGAIN
    assert tried(100e-6, 200e-6, runs=10 + again) == (again, 10), "others may have been busy: they are tried again"
    assert tried(100e-6, lambda: 200e-6 if busy.pop() else 50e-6, runs=20 + again) == (again, 20)
    assert tried(1.0, 0.6, work=10**9) == (0, 12), "one that cannot be short begins with all"
    monkeypatch.setattr(threads, "thread_count", lambda: 1)
    assert tried(100e-6, 60e-6) == (12, 0)


def test_kernels_are_tried_by_threads_that_call_at_once(monkeypatch):
    """None of them meets what another has half decided, and the trial ends for all."""
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    monkeypatch.setattr(threads, "WORTH_TRYING", 0.0)
    monkeypatch.setattr(threads, "AGAIN", 2 * threads.TRIES)
    before, failed, pauses = sys.getswitchinterval(), [], np.random.default_rng(3).random(97)

    def run():
        sum(range(int(50 * pauses[len(failed) % 97])))

    def call():
        try:
            for _ in range(3000):
                trial.run()
        except Exception as error:
            failed.append(error)

    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            trial = threads.Trial(run, lambda: run, 10**6, threads.Pace())
            calling = [threading.Thread(target=call) for _ in range(6)]
            for each in calling:
                each.start()
            for each in calling:
                each.join()
            assert not failed and max(map(len, trial._times)) < 10 * len(calling)
    finally:
        sys.setswitchinterval(before)
