"""Graphs of programs with calls between kernels: which may be captured, what cuBLAS is told, and on a GPU, results."""

import contextlib
import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import vecdist
from vecdist import compile, external, lazy, logpdf  # noqa: A004
from vecdist.distributions import Normal, Poisson
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.primitives import captured_products, device_products
from vecdist.runtime import pipeline
from vecdist.runtime.cuda import graphs
from vecdist.samplers import replay
from vecdist.samplers.replay import Launches


class Stream:
    """A stream that knows whether it captures, and of graphs what was launched."""

    ptr = 99

    def __init__(self):
        self.inside = False
        self.launched = []

    def is_capturing(self):
        return self.inside

    def begin_capture(self):
        self.inside = True

    def end_capture(self):
        self.inside = False
        return SimpleNamespace(launch=lambda stream: self.launched.append("graph"))


class Function:
    """A function of cuBLAS that writes down what it was given."""

    def __init__(self, name, told, status=0):
        self.__name__, self.told, self.status = name, told, status

    def __call__(self, *arguments):
        self.told.append((self.__name__, *(each.value for each in arguments)))
        return self.status


@pytest.fixture
def cupy(monkeypatch):
    """CuPy, as far as captures need it."""
    stream, pools = Stream(), []

    def pool():
        pools.append(SimpleNamespace(malloc="of the pool"))
        return pools[-1]

    @contextlib.contextmanager
    def using_allocator(malloc):
        made.allocators.append(malloc)
        yield
        made.allocators.pop()

    made = ModuleType("cupy")
    made.allocators, made.pools, made.stream = [], pools, stream
    made.empty = lambda shape, dtype: SimpleNamespace(nbytes=shape, data=SimpleNamespace(ptr=4096))
    made.cuda = SimpleNamespace(
        MemoryPool=pool, using_allocator=using_allocator, get_current_stream=lambda: stream,
        device=SimpleNamespace(get_cublas_handle=lambda: 7, get_device_id=lambda: 0),
        Device=lambda: SimpleNamespace(compute_capability="90"),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


@pytest.fixture
def cublas(monkeypatch):
    told = []
    library = SimpleNamespace(told=told, **{
        name: Function(name, told)
        for name in ("cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasSgemm_v2", "cublasDgemmStridedBatched")
    })  # fmt: skip
    monkeypatch.setattr(captured_products, "_library", lambda: library)
    return library


def test_products_in_a_capture_go_to_the_stream_with_memory_of_their_own(cupy, cublas, monkeypatch):
    usual = []
    one = np.array([1.0, 0.0], "f4")
    place = one.ctypes.data
    known = device_products._Known(lambda *given: usual.append(given), None, place, place + 4, (0, 1), one, "s")
    monkeypatch.setattr(device_products, "_known", lambda kind: known)
    left, right = device_products.Matrix(100, 3, False), device_products.Matrix(200, 5, True)
    result = SimpleNamespace(dtype=np.dtype("f4"), data=SimpleNamespace(ptr=300))
    expected = (7, 1, 0, 4, 2, 3, place, 200, 5, 100, 3, place + 4, 300, 4)
    for inside, room in ((False, False), (True, False), (False, True)):
        cupy.stream.inside = inside
        with captured_products.room() if room else contextlib.nullcontext():
            device_products._multiply(left, right, (2, 3, 4), result, 0)
    assert usual == [expected] * 3 and not cublas.told
    cupy.stream.inside = True
    with captured_products.room():
        device_products._multiply(left, right, (2, 3, 4), result, 0)
    assert usual == [expected] * 3
    assert cublas.told == [
        ("cublasSetStream_v2", 7, 99), ("cublasSetWorkspace_v2", 7, 4096, 32 * 2**20),
        ("cublasSgemm_v2", *(each or (None if n in (0, 6, 7, 9, 11, 12) else 0) for n, each in enumerate(expected))),
    ]  # fmt: skip


def test_the_kinds_of_arguments_are_those_of_the_header():
    """cublasDgemm and cublasDgemmStridedBatched, from cublas_api.h: pointers, int, and long long int."""
    assert captured_products.PLAIN == "piiiiippipippi"
    assert captured_products.BATCHED == "piiiiippilpilppili"
    assert captured_products.KINDS["l"] is ctypes.c_longlong


def test_what_cublas_refuses_is_an_error(cupy, cublas):
    cublas.cublasSgemm_v2.status = 13
    with captured_products.room(), pytest.raises(RuntimeError, match="cublasSgemm_v2 of cuBLAS failed with status 13"):
        captured_products.multiply(cupy.stream, "sgemm", (7, 1, 0, 4, 2, 3, 8, 200, 5, 100, 3, 16, 300, 4))


def run_of(expression, wrt=()):
    """A program between whose kernels there are calls, as the CPU runs it; graphs ask it what they ask others."""
    bound = bind((expression.node, *map(leaf, wrt)))
    plan, bound = pipeline.fed(bound, gradient_of if wrt else pipeline.values, "cpu", "nan", False)
    return plan.program


SINE = external(np.sin, name="sine", vjp=lambda given, results, back: (back[0] * np.cos(given[0]),), capturable=True)
PLAIN = external(np.sin, name="plain", vjp=lambda given, results, back: (back[0] * np.cos(given[0]),))
X = np.linspace(0.0, 1.0, 300)


def test_calls_that_may_be_captured_are_told_by_name():
    x, matrix = lazy(X), lazy(np.eye(300))
    assert run_of(np.exp(SINE(x)).sum()).refused() == ()
    assert run_of(np.exp(SINE(x)).sum(), (X,)).refused() == ()
    assert run_of((np.exp(PLAIN(x)) + SINE(x)).sum(), ()).refused() == ("plain",)
    assert set(run_of(np.exp(PLAIN(x)).sum(), (X,)).refused()) == {"plain", "vjp of plain"}
    assert run_of((matrix @ np.exp(matrix)).sum()).refused() == ()
    assert "cholesky" in run_of(np.linalg.cholesky(matrix + 1.0).sum()).refused()


def test_rules_that_are_lazy_may_be_captured_with_their_call():
    sine = external(np.sin, vjp=lambda a, r, back: (back[0] * np.cos(a[0]),), lazy_rules=True, capturable=True)
    assert run_of(np.exp(sine(lazy(X))).sum(), (X,)).refused() == ()


def staged(made, name, refused=(), error=None):
    def run(arrays, out=None):
        made.append((name, list(sys.modules["cupy"].allocators)))
        if error is not None and sys.modules["cupy"].stream.inside:
            raise error
        return out, False

    run.capturable, run.refused = False, refused
    return run


def test_launches_with_calls_are_captured_in_memory_of_their_own(cupy):
    made = []
    launches = Launches([(staged(made, "one"), (), ()), (staged(made, "two"), (), ())], on_gpu=True)
    assert launches.replayed
    for _ in range(3):
        launches()
    assert made == [(name, ["of the pool"]) for name in ("one", "two")] * 2, "once to make ready, once captured"
    assert cupy.stream.launched == ["graph"] * 2 and launches._memory[0] is cupy.pools[0] and not cupy.allocators
    assert not Launches([(staged(made, "one", ("plain",)), (), ())], on_gpu=True).replayed


def test_what_cannot_be_captured_after_all_is_launched(cupy):
    made = []
    launches = Launches([(staged(made, "one", error=NotImplementedError("cuBLAS")), (), ())], on_gpu=True)
    for _ in range(3):
        launches()
    assert len(made) == 4 and not launches.replayed and not cupy.stream.launched and not cupy.stream.inside
    broken = Launches([(staged(made, "one", error=ValueError("other")), (), ())], on_gpu=True)
    with pytest.raises(ValueError, match="other"):
        broken()
    assert not cupy.stream.inside


def test_kernels_alone_take_no_other_memory(cupy):
    with graphs.own_memory([lambda arrays, out: None]) as memory:
        assert memory is None and not cupy.allocators


def regression(intercept, slopes, x, counts):
    return logpdf(Poisson(log_rate=intercept + x @ slopes), counts).sum() + logpdf(Normal(0.0, 1.0), slopes).sum()


@pytest.fixture
def device():
    return pytest.importorskip("cupy")


def given(device, chains=256, rows=20_000, columns=12):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns))
    slopes = 0.1 * rng.normal(size=(chains, columns))
    counts = rng.poisson(np.exp(0.5 + x @ slopes[0])).astype(float)
    return [device.asarray(each) for each in (rng.normal(size=chains), slopes, x, counts)]


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_products_in_graphs(device, dtype):
    """Chains of a regression: replays give the bits of launches, for other parameters in the same arrays too."""
    arrays = [each.astype(dtype) for each in given(device)]
    plain, replayed = (compile(regression, in_axes=(0, 0, None, None), graph=graph) for graph in (False, True))
    for scale in (1.0, 0.5, -0.25):
        arrays[1][...] = scale * arrays[1]
        wanted = plain.value_and_grad(*arrays, wrt=(0, 1))
        device.full((1 << 22,), np.nan)  # takes and gives back memory that an array in between could have had
        found = replayed.value_and_grad(*arrays, wrt=(0, 1))
        np.testing.assert_allclose(found[0].get(), wanted[0].get(), rtol=1e-12 if dtype == "f8" else 1e-5)
        for one, other in zip(found[1], wanted[1], strict=True):
            np.testing.assert_allclose(one.get(), other.get(), rtol=1e-10 if dtype == "f8" else 1e-3, atol=1e-2)
    device.cuda.Device().synchronize()
    left = device.asarray(np.random.default_rng(1).normal(size=(50, 60)))
    np.testing.assert_allclose((left @ left.T).get(), left.get() @ left.get().T, rtol=1e-12)  # CuPy's handle as it was


@pytest.mark.cuda
def test_calls_in_graphs(device):
    wave = external(device.sin, name="wave", vjp=lambda a, r, back: (back[0] * device.cos(a[0]),), capturable=True)
    refused = external(device.sin, name="refused")
    f, x = compile(lambda x: np.exp(wave(2.0 * x)).sum(), graph=True), device.linspace(0.0, 1.0, 1000)
    for number in range(4):
        x[...] = device.linspace(0.0, 1.0 + number, 1000)
        value, (slope,) = f.value_and_grad(x)
        host = x.get()
        assert float(value) == pytest.approx(np.exp(np.sin(2 * host)).sum(), rel=1e-12)
        np.testing.assert_allclose(slope.get(), 2 * np.cos(2 * host) * np.exp(np.sin(2 * host)), rtol=1e-11)
    with pytest.raises(ValueError, match="graph=True: refused cannot be captured in a CUDA graph"):
        compile(lambda x: refused(x).sum(), graph=True)(x)


@pytest.mark.cuda
def test_samplers_replay_steps_with_products(device, monkeypatch):
    """Draws of a sampler whose steps are graphs with products, beside those of one that launches them."""
    x, counts = map(vecdist.lazy, given(device)[2:])
    start, found = device.asarray(0.01 * np.random.default_rng(2).normal(size=13)), []
    settings = {"warmup": 0, "draws": 5, "step_size": 1e-3, "progress": False}
    for replays in (graphs.is_replayable, lambda run: getattr(run, "capturable", True)):
        monkeypatch.setattr(replay, "is_replayable", replays)
        made = vecdist.samplers.hmc(
            lambda z: regression(z[0], z[1:], x, counts), chains=64, key=1, initial=start, **settings
        )
        found.append(made.positions.get())
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-8)
