"""Runs of several steps that are captured by themselves: when, what is copied, and on a GPU, the bits of launches."""

import ctypes
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from test_graphs_with_calls import X, cupy, regression, run_of  # noqa: F401

import vecdist
from vecdist import compile, external, lazy  # noqa: A004
from vecdist.primitives import captured_products
from vecdist.runtime.cuda import repeated
from vecdist.runtime.cuda.copies import Copied, copied
from vecdist.runtime.cuda.repeated import OFTEN, Repeated, size_of


class OnDevice(np.ndarray):
    """An array whose address is that of its memory, as CuPy tells it."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def on_device(array):
    return np.array(array, np.float64).view(OnDevice)


@pytest.fixture
def host(cupy, monkeypatch):  # noqa: F811
    """CuPy on arrays of the host, whose graphs launch what was captured."""
    arrays = {}

    class Memory:
        def __init__(self, array, offset=0):
            self.array, self.offset, self.ptr = array, offset, array.ctypes.data + offset

        def __add__(self, offset):
            return Memory(self.array, self.offset + offset)

    def empty(shape, dtype):
        made = np.empty(shape, dtype)
        return SimpleNamespace(data=Memory(made), nbytes=made.nbytes)

    def ndarray(shape, dtype, memory):
        return np.ndarray(shape, dtype, memory.array.data, memory.offset)

    def copied_there(copies):
        for source, target, size in copies:
            ctypes.memmove(target, source, size)

    cupy.stream.record = lambda: None
    cupy.stream.wait_event = cupy.stream.synchronize = lambda *event: None
    cupy.stream.__class__.__enter__ = lambda self: self
    cupy.stream.__class__.__exit__ = lambda self, *error: None
    cupy.stream.inside = False
    cupy.cuda.Stream = lambda non_blocking: cupy.stream
    cupy.empty, cupy.ndarray, cupy.arrays = empty, ndarray, arrays
    cupy.empty_like = lambda array: np.empty_like(array).view(OnDevice)
    monkeypatch.setattr(repeated, "_kept", type(repeated._kept)())
    monkeypatch.setattr(repeated, "copied", copied_there)
    monkeypatch.setattr(repeated, "captured", lambda stream, launch: captured(cupy, launch))
    return cupy


def captured(cupy, launch):  # noqa: F811
    cupy.stream.inside = True
    launch()
    cupy.stream.inside = False
    return SimpleNamespace(launch=lambda stream: cupy.stream.launched.append("graph") or launch())


def doubling(told, refused=()):
    """A run that writes to the same memory when a graph of it is launched."""
    result = on_device(np.zeros(3))

    def run(arrays, out=None):
        told.append("run")
        target = result if out is None else out[0]
        np.multiply(arrays[0], 2.0, out=target)
        target += arrays[1].sum()
        return (target,), False

    run.capturable, run.refused = False, refused
    return run


def test_the_first_runs_are_runs_and_others_are_replays(host):
    told = []
    run, large = Repeated(doubling(told), 100), on_device(np.ones(10_000))
    for number in range(2 * OFTEN):
        (found,), failed = run([on_device([1.0, 2.0, number]), large, None])
        assert found.tolist() == [10_002.0, 10_004.0, 2.0 * number + 10_000.0] and failed is False
    assert len(host.stream.launched) == OFTEN + 1
    kept = found
    run([on_device([5.0, 5.0, 5.0]), large, None])
    assert kept.tolist()[0] == 10_002.0, "results are arrays of their own"


def test_other_large_arrays_have_a_graph_of_their_own(host):
    run, arrays = Repeated(doubling([]), 100), [on_device(np.full(10_000, n)) for n in (1.0, 2.0)]
    for _ in range(OFTEN):
        for large in arrays:
            run([on_device([0.0, 0.0, 0.0]), large])
    assert len(repeated._kept) == 2
    assert [run([on_device([0.0, 0.0, 0.0]), each])[0][0].tolist()[0] for each in arrays] == [1e4, 2e4]
    del run
    assert not repeated._kept, "graphs go with their run"


def test_what_is_not_replayed(host, monkeypatch):
    """Numbers, results into given arrays, large memory between steps, captures by others, and what keeps changing."""
    x, large = on_device([1.0, 2.0, 3.0]), on_device(np.ones(10_000))
    for change, arrays, out in (
        ({"size": repeated.MOST + 1}, [x, large], None), ({}, [x, np.float64(2.0)], None),
        ({}, [x, large], (on_device(np.zeros(3)),)),
    ):  # fmt: skip
        run = Repeated(doubling([]), change.get("size", 10))
        for _ in range(2 * OFTEN):
            run(arrays, out)
    run = Repeated(doubling([]), 10)
    with captured_products.room(x):
        for _ in range(2 * OFTEN):
            run([x, large])
    host.stream.inside = True
    for _ in range(2 * OFTEN):
        run([x, large])
    host.stream.inside = False
    monkeypatch.setattr(repeated, "CHANGING", 4)
    others = [on_device(np.ones(10_000)) for _ in range(5)]
    for each in [*others, *[large] * 2 * OFTEN]:
        run([x, each])
    assert not host.stream.launched


def test_no_more_graphs_than_are_kept(host, monkeypatch):
    monkeypatch.setattr(repeated, "KEPT", 2)
    runs, large = [Repeated(doubling([]), 10) for _ in range(3)], on_device(np.ones(10_000))
    for run in runs:
        for _ in range(OFTEN):
            run([on_device([1.0, 1.0, 1.0]), large])
    assert len(repeated._kept) == 2 and len(host.stream.launched) == 3


def test_no_more_memory_than_is_kept(host, monkeypatch):
    monkeypatch.setattr(repeated, "MOST_KEPT", 100)
    runs, large = [Repeated(doubling([]), size) for size in (60, 30, 50, 2**20)], on_device(np.ones(10_000))
    kept = []
    for run in runs:
        for _ in range(OFTEN):
            run([on_device([1.0, 1.0, 1.0]), large])
        kept.append([each.held for each in repeated._kept.values()])
    assert kept == [[60], [60, 30], [30, 50], [2**20]]


def test_what_a_capture_refuses_is_run(host, monkeypatch):
    def refused(stream, launch):
        raise RuntimeError("no")

    monkeypatch.setattr(repeated, "captured", refused)
    told = []
    run = Repeated(doubling(told), 10)
    for number in range(2 * OFTEN):
        (found,), _ = run([on_device([1.0, 1.0, number]), on_device(np.ones(10_000))])
        assert found.tolist()[2] == 2.0 * number + 1e4


def test_users_functions_are_called_each_time(host):
    """Programs with products alone are repeated ones; those with calls of users' functions, or with checks, are not."""
    wave = external(np.sin, name="wave", capturable=True)
    matrix = lazy(np.eye(300))
    of_products, of_users = run_of((matrix @ np.exp(matrix)).sum()), run_of(np.exp(wave(lazy(X))).sum())
    for program, wanted in ((of_products, True), (of_users, False)):
        program.library = "cupy"
        run = lambda arrays, out=None: None  # noqa: E731
        run.capturable, run.refused = False, ()
        lengths = dict.fromkeys(("n0", "n1", "n2", "n3"), 300)
        assert isinstance(program._repeated(run, lengths), Repeated) is wanted
    assert size_of([((300, 300), "f8"), ((2,), "f4")]) == 720_008


@pytest.fixture
def device():
    return pytest.importorskip("cupy")


def data(device, dtype, chains, rows, columns):
    rng = np.random.default_rng(chains)
    x, slopes = rng.normal(size=(rows, columns)) / np.sqrt(columns), rng.normal(size=(chains, columns))
    counts = rng.poisson(np.exp(0.2 * x @ slopes[0]))
    return [device.asarray(np.asarray(each, dtype)) for each in (rng.normal(size=chains), slopes, x, counts)]


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("size", [(4, 966, 200), (64, 4923, 200), (8, 100_000, 64), (3, 70_000, 300), (256, 500, 90)])
def test_replays_give_the_bits_of_launches(device, dtype, size):
    f = compile(regression, in_axes=(0, 0, None, None))
    intercept, slopes, x, counts = data(device, dtype, *size)
    results = []
    for number in range(3 * OFTEN):
        scale = 1.0 if number % OFTEN == 0 else 0.5 + number
        given = [each * scale for each in (intercept, slopes)]
        value, slope = f.value_and_grad(*given, x, counts, wrt=(0, 1))
        results += [[each.get() for each in (value, *slope)]] if number % OFTEN == 0 else []
    for each in results[1:]:
        for found, wanted in zip(each, results[0], strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.cuda
def test_copies_of_arrays_of_any_size_and_place(device):
    rng = np.random.default_rng(3)
    sizes = [0, 1, 3, 4, 5, 1000, 70_000, 4_000_001, *rng.integers(0, 5000, 90)]
    given = [device.asarray(rng.integers(0, 255, 8 + size, dtype=np.uint8)) for size in sizes]
    made = [device.zeros(8 + size, "u1") for size in sizes]
    places = rng.integers(0, 8, (len(sizes), 2))
    each = list(zip(given, made, sizes, places, strict=True))
    copied([Copied(a.data.ptr + int(i), b.data.ptr + int(j), int(size)) for a, b, size, (i, j) in each])
    for a, b, size, (i, j) in each:
        wanted = np.zeros(8 + size, np.uint8)
        wanted[j : j + size] = a.get()[i : i + size]
        np.testing.assert_array_equal(b.get(), wanted)


@pytest.mark.cuda
def test_small_matrices_are_replayed(device):
    def density(scale, z, points):
        covariance = np.exp(-np.square((points[:, None] - points) / scale)) + 1e-3 * np.eye(9)
        return (z @ np.linalg.solve(covariance, z)).sum() + np.linalg.slogdet(covariance)[1]

    f, points = compile(density), device.linspace(0.0, 3.0, 9)
    for number in range(2 * OFTEN):
        scale, z = device.asarray(0.5 + 0.1 * number), device.arange(9.0) / (1 + number)
        value, (of_scale, of_z) = f.value_and_grad(scale, z, points, wrt=(0, 1))
        other = vecdist.value_and_grad(
            density(*map(lazy, given := [each.get() for each in (scale, z, points)])), tuple(given[:2])
        )
        np.testing.assert_allclose(float(value), float(other[0]), rtol=1e-9)
        np.testing.assert_allclose(of_z.get(), other[1][1], rtol=1e-7)
        np.testing.assert_allclose(of_scale.get(), other[1][0], rtol=1e-7)


@pytest.mark.cuda
def test_replays_of_several_threads_and_streams(device):
    f, wrong = compile(regression, in_axes=(0, 0, None, None)), []
    intercept, slopes, x, counts = data(device, "f8", 4, 900, 80)
    wanted = [f(scale * intercept, scale * slopes, x, counts).get() for scale in (1.0, 2.0, 3.0, 4.0)]

    def ask(place):
        with device.cuda.Stream(non_blocking=True) if place % 2 else device.cuda.Stream.null:
            for number in range(60):
                scale = 1.0 + (number + place) % 4
                found = f(scale * intercept, scale * slopes, x, counts).get()
                if not np.array_equal(found, wanted[int(scale) - 1]):
                    wrong.append((place, number))

    device.cuda.Device().synchronize()
    threads = [threading.Thread(target=ask, args=(place,)) for place in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
