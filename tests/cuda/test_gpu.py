"""On a real GPU: the CPU's values and gradients, on every stream, with the same bits every time."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from families import arrays, differentiable

import vecdist
from vecdist import InvalidParameter, lazy, logpdf, value_and_grad, value_and_partials
from vecdist.distributions import FAMILIES, Gamma, Normal
from vecdist.runtime import folder, pipeline

pytestmark = pytest.mark.cuda

# Around a warp, a block, the tiles of unrolled loops and the whole grid.
LENGTHS = (0, 1, 31, 33, 255, 256, 257, 1023, 1025, 2047, 2048, 2049, 100_003, 3_000_001)
TOLERANCE = {"f4": 1e-4, "f8": 1e-11}


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def assert_close(found, wanted, dtype):
    """Equal up to rounding, measured against the largest element: where terms cancel, both round differently."""
    found, wanted = np.asarray(vecdist.runtime.pipeline.on_host(found)), np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    finite = np.abs(wanted[np.isfinite(wanted)])
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * finite.max(initial=0))


def on_both(cupy, build, *given):
    """The value and gradients of a scalar by both backends; ``build`` gives the scalar and where to differentiate."""
    target, wrt = build(*given)
    wanted = value_and_grad(target, tuple(wrt))
    target, wrt = build(*map(cupy.asarray, given))
    found = value_and_grad(target, tuple(wrt))
    assert all(isinstance(array, cupy.ndarray) for array in (found[0], *found[1]))
    return (found[0], *found[1]), (wanted[0], *wanted[1])


def check(cupy, build, *given, dtype="f8"):
    for found, wanted in zip(*on_both(cupy, build, *given), strict=True):
        assert_close(found, wanted, dtype)


def bits(values):
    return b"".join(value.get().tobytes() for value in values)


def normal(x, mean, spread):
    return logpdf(Normal(mean, spread), x).sum(), (mean, spread)


def normal_data(n, dtype="f8"):
    return np.random.default_rng(n).normal(size=n).astype(dtype), np.array(0.25, dtype), np.array(1.5, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FAMILIES)
def test_families(cupy, name, dtype):
    x, parameters = arrays(name, dtype)

    def build(x, *parameters):
        return logpdf(FAMILIES[name](*parameters), x).sum(), differentiable(name, x, parameters)

    check(cupy, build, x, *parameters, dtype=dtype)
    first, again = (on_both(cupy, build, x, *parameters)[0] for _ in range(2))
    assert bits(first) == bits(again)


@pytest.mark.parametrize("name", ["Normal", "Gamma", "NegativeBinomial"])
def test_elementwise_densities_and_partials(cupy, name):
    x, parameters = arrays(name, "f8")
    wanted, wanted_partials = value_and_partials(logpdf(FAMILIES[name](*parameters), x), tuple(parameters))
    x, parameters = cupy.asarray(x), [cupy.asarray(p) for p in parameters]
    found, partials = value_and_partials(logpdf(FAMILIES[name](*parameters), x), tuple(parameters))
    for mine, reference in zip((found, *partials), (wanted, *wanted_partials), strict=True):
        assert_close(mine, reference, "f8")


def test_edges_of_a_support(cupy):
    x = np.tile([0.0, -0.0, -1.0, np.inf, -np.inf, np.nan, 1e-320, 1e308, 2.0], 300)
    wanted = np.asarray(logpdf(Gamma(np.array(2.5), np.array(0.5)), x))
    found = logpdf(Gamma(cupy.array(2.5), cupy.array(0.5)), cupy.asarray(x)).compute()
    np.testing.assert_allclose(found.get(), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("edge", [0.0, "subnormal", -1.0, np.nan])
def test_threads_with_rare_edges_keep_to_their_elements(cupy, dtype, edge):
    """Few of the threads leave the short way, and compute their own elements, which are neighbours, one by one."""
    x = np.random.default_rng(4).gamma(2.0, size=100_003).astype(dtype)
    x[5::97] = np.finfo(dtype).tiny / 8 if edge == "subnormal" else edge
    shape, scale = np.array(2.5, dtype), np.array(0.5, dtype)
    wanted, wanted_partials = value_and_partials(logpdf(Gamma(shape, scale), x), (shape, scale))
    there = cupy.asarray(shape), cupy.asarray(scale)
    found, partials = value_and_partials(logpdf(Gamma(*there), cupy.asarray(x)), there)
    for mine, reference in zip((found, *partials), (wanted, *wanted_partials), strict=True):
        assert_close(mine, reference, dtype)
    if edge == "subnormal":
        check(cupy, lambda x, *p: (logpdf(Gamma(*p), x).sum(), p), x, shape, scale, dtype=dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_length(cupy, dtype):
    before = pipeline.compilations()
    for length in LENGTHS:
        check(cupy, normal, *normal_data(length, dtype), dtype=dtype)
        x = normal_data(length, dtype)[0]
        assert_close((lazy(cupy.asarray(x)) * 2 + 1).compute(), x * 2 + 1, dtype)
    assert pipeline.compilations() <= before + 3, "one program for each backend and structure, whatever the length"


VIEWS = {
    "slices": lambda x: (x[:, 1:] * x[:, :-1]).sum(),
    "steps": lambda x: (x[::2, ::-3] * 2.0).sum() + x[0, 2] * x[-1, 0],
    "transposed": lambda x: (x.T[1:] * x.T[:-1]).sum(),
    "reshaped": lambda x: (x.reshape(-1)[5:] * np.exp(-x.reshape(-1)[:-5])).sum(),
    "broadcast": lambda x: (np.broadcast_to(x[:, :1], (x.shape[0], 7)) ** 3).sum() * x.mean(),
    "row sums": lambda x: (x.sum(axis=1) ** 2).sum(),
    "row sums used again": lambda x: ((x - x.sum(axis=1, keepdims=True)) ** 2).sum(),
    "softmax": lambda x: np.log(np.exp(x).sum(axis=1)).sum(),
    "column sums": lambda x: (x.sum(axis=0) ** 2).sum(),
    "column sums used again": lambda x: (np.square(x - x.mean(axis=0)) * x).sum(),
    "sum used again": lambda x: (np.square(x - x.mean()) * x).sum(),
    "sums of sums": lambda x: ((x - x.mean()) / np.sqrt(np.square(x - x.mean()).sum())).sum() + x[0, 0],
}
SHAPES = [(1, 8), (7, 11), (300, 40), (40, 300), (3000, 17), (2, 50_000)]


@pytest.mark.parametrize("name", VIEWS)
def test_views_and_reductions(cupy, name):
    for shape in SHAPES:
        x = np.random.default_rng(1).normal(size=shape)
        check(cupy, lambda x: (VIEWS[name](lazy(x)), (x,)), x)


OF_NUMPY = {  # of an array of six rows
    "joined": lambda x: np.concatenate([x**2, np.roll(x, 2, 0)[:, ::-1], x]) * np.stack([x, -x, x * x]).reshape(-1, 5),
    "padded": lambda x: np.pad(x, ((1, 2), (3, 1)), "reflect") ** 2 * np.pad(x, ((1, 2), (3, 1)), constant_values=2.0),
    "repeated": lambda x: np.repeat(x, [2, 0, 1, 3, 1, 1], 0) ** 2 * np.repeat(x[:4], 2, 0),
    "diagonals": lambda x: np.diag(np.diagonal(x) ** 2) + np.tril(x[:5]) ** 3 + np.trace(x),
    "statistics": lambda x: np.std(x, 1, ddof=1) * np.nanmean(x, 1) + np.average(x, 1) * np.ptp(x, 1),
    "places": lambda x: np.take_along_axis(x, np.argmax(x, 1)[:, None], 1) ** 2,
    "interpolated": lambda x: np.interp(x, np.cumsum(np.exp(x[0])) - 2.0, x[1]),
    "angles": lambda x: np.arctan2(x, x[::-1] + 0.1) + np.cbrt(x + 3.0) + np.logaddexp2(x, x[0]),
    "running": lambda x: np.cumulative_sum(x, axis=0, include_initial=True) ** 2,
}


@pytest.mark.parametrize("name", OF_NUMPY)
def test_functions_of_numpy(cupy, name):
    check(cupy, lambda x: ((OF_NUMPY[name](lazy(x)) ** 2).sum(), (x,)), np.cos(np.arange(30.0)).reshape(6, 5))


def test_sums_of_groups(cupy):
    groups, weights = np.arange(3000) * 7 % 11, np.linspace(0.5, 2.0, 3000)
    check(cupy, lambda g, w: ((np.bincount(g, lazy(w)) ** 2).sum(), (w,)), groups, weights)


@pytest.mark.parametrize("layout", [lambda x: x[::2, 1:], lambda x: x.T, lambda x: x[::-1, ::-2], lambda x: x[:, 3]])
def test_arrays_that_are_not_contiguous(cupy, layout):
    x = np.random.default_rng(2).normal(size=(60, 90))
    there = layout(cupy.asarray(x))
    value, slope = value_and_grad((np.sin(lazy(there)) * 2.0).sum(), there)
    assert_close(value, 2.0 * np.sin(layout(x)).sum(), "f8")
    assert_close(slope, 2.0 * np.cos(layout(x)), "f8")
    assert_close((lazy(there) + 1.0).compute(), layout(x) + 1.0, "f8")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_arrays_that_begin_anywhere(cupy, dtype):
    """Neighbours are loaded, and stored, together where all arrays begin at the bytes that this asks for."""
    x, wide = np.arange(50_000).astype(dtype), np.linspace(0.0, 1.0, 50_000)
    f = vecdist.compile(lambda x, wide: x * 2 + wide)
    results = cupy.empty(50_000)
    for start, other, place in ((0, 0, 0), (1, 0, 0), (4, 0, 1), (0, 1, 0), (2, 2, 2), (3, 1, 4)):
        length = 50_000 - 4
        given, beside, out = (array[at : at + length] for array, at in ((x, start), (wide, other), (results, place)))
        f(cupy.asarray(x)[start : start + length], cupy.asarray(wide)[other : other + length], out=out)
        np.testing.assert_array_equal(out.get(), given * 2 + beside)
        total = lazy(cupy.asarray(x)[start : start + length]).sum()
        assert float(total) == pytest.approx(given.sum(dtype="f8"), rel=1e-6)


def test_integers_and_booleans(cupy):
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u4"):
        x = (np.arange(5000) % 100).astype(dtype)
        there = cupy.asarray(x)
        assert int((lazy(there) * 3).sum()) == int((lazy(x) * 3).sum())
        assert_close((lazy(there) / 4).compute(), np.asarray(lazy(x) / 4), "f8")
        chosen = np.where(lazy(there) > 50, there, there[::-1])
        np.testing.assert_array_equal(chosen.compute().get(), np.where(x > 50, x, x[::-1]))
    flags = np.arange(5000) % 3 == 0
    assert int(lazy(cupy.asarray(flags)).sum()) == flags.sum()
    np.testing.assert_array_equal(np.asarray(~lazy(cupy.asarray(flags))), ~flags)
    chosen = np.where(lazy(cupy.asarray(flags)), 1.0, -1.0)
    np.testing.assert_array_equal(np.asarray(chosen), np.where(flags, 1.0, -1.0))


def test_more_elements_than_32_bits_count(cupy):
    length = 2**31 + 5
    if cupy.cuda.runtime.memGetInfo()[0] < 3 * 2**30:
        pytest.skip("not enough memory on the GPU")
    assert int(lazy(cupy.ones(length, cupy.int8)).sum()) == length


@pytest.mark.parametrize("name", ["sum used again", "column sums used again", "softmax", "sums of sums"])
def test_bits_are_the_same_every_time(cupy, name):
    """Blocks finish in another order each time; what they add up does not show it."""
    x = cupy.asarray(np.random.default_rng(3).normal(size=(3000, 300)))
    seen = set()
    for _ in range(20):
        value, slope = value_and_grad(VIEWS[name](lazy(x)), x)
        seen.add(bits((value, slope)))
    assert len(seen) == 1


def test_results_are_ready_on_the_current_stream(cupy):
    x, mean, spread = normal_data(1_000_000)
    wanted = value_and_grad(*normal(x, mean, spread))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        there = [cupy.asarray(array) for array in (x, mean, spread)]
        value, slopes = value_and_grad(*normal(*there))
        stream.synchronize()
        for found, reference in zip((value, *slopes), (wanted[0], *wanted[1]), strict=True):
            assert_close(found, reference, "f8")


def test_two_streams_at_once(cupy):
    """Each stream has sums and counters of its own."""
    function = vecdist.compile(lambda x: np.square(lazy(x) - lazy(x).mean()).sum())
    data = [cupy.asarray(normal_data(400_000 + number)[0]) for number in range(2)]
    alone = [float(function(x)) for x in data]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in data]
    cupy.cuda.Device().synchronize()
    results = [[], []]
    for _ in range(50):
        for x, stream, found in zip(data, streams, results, strict=True):
            with stream:
                found.append(function(x))
    cupy.cuda.Device().synchronize()
    assert [{float(value) for value in found} for found in results] == [{value} for value in alone]


def test_two_threads_at_once(cupy):
    function = vecdist.compile(lambda x, m, s: normal(x, m, s)[0])
    given = [cupy.asarray(array) for array in normal_data(200_000)]
    wanted, found = float(function(*given)), []

    def work():
        with cupy.cuda.Stream(non_blocking=True):
            found.extend(float(function(*given)) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 100


def test_compiled_functions(cupy):
    function = vecdist.compile(lambda x, m, s: normal(x, m, s)[0])
    for length in (10, 5000, 5001):
        given = normal_data(length)
        value, slopes = function.value_and_grad(*map(cupy.asarray, given), wrt=(1, 2))
        wanted, wanted_slopes = function.value_and_grad(*given, wrt=(1, 2))
        for mine, reference in zip((value, *slopes), (wanted, *wanted_slopes), strict=True):
            assert_close(mine, reference, "f8")


def test_one_launch_computes_value_and_gradient(cupy, monkeypatch):
    launches = []
    launch = pipeline.launch
    monkeypatch.setattr(pipeline, "launch", lambda *args: launches.append(args) or launch(*args))
    value_and_grad(*normal(*map(cupy.asarray, normal_data(1000))))
    assert len(launches) == 1


@pytest.mark.parametrize("length", [3, 100_000])
def test_invalid_parameters_are_named(cupy, length):
    x, mean, _ = (cupy.asarray(array) for array in normal_data(length))
    spreads = cupy.full(length, 1.5)
    spreads[length - 2] = -2.0
    with pytest.raises(InvalidParameter, match=rf"Normal: scale\[{length - 2}\] = -2.0"):
        value_and_grad(logpdf(Normal(mean, spreads), x).sum(), mean)
    lp = logpdf(Normal(mean, spreads), x)
    with pytest.raises(InvalidParameter, match="Normal: scale"):
        np.asarray(lp)
    with pytest.raises(InvalidParameter, match="Normal: scale"):
        float(lp.sum())
    spreads[length - 2] = 2.0
    assert np.isfinite(float(logpdf(Normal(mean, spreads), x).sum()))


def test_numpy_and_cupy_do_not_mix(cupy):
    x, mean, spread = normal_data(10)
    with pytest.raises(TypeError, match=r"mixed: float64.* is a NumPy array and float64.* a CuPy array"):
        value_and_grad(logpdf(Normal(mean, cupy.asarray(spread)), x).sum(), mean)


def test_lists_and_arrays_that_functions_bring(cupy):
    """They are copied to the GPU; lists may hold other numbers in the next call."""
    x = np.random.default_rng(3).normal(size=(5, 3))
    for shift in (1.0, 2.0):
        for where in (np.asarray, cupy.asarray):
            found = np.where(lazy(where(x)) > 0.5, x[0].tolist(), [shift, 0.2, 0.3])[[4, 0, 2]] + [1.0, 0.0, shift]
            wanted = np.where(x > 0.5, x[0], [shift, 0.2, 0.3])[[4, 0, 2]] + [1.0, 0.0, shift]
            np.testing.assert_array_equal(cupy.asnumpy(found.compute()), wanted)
    mask, picks = np.arange(3) > 0, np.array([2, 0])
    function = vecdist.compile(lambda x: (np.where(mask, np.sin(x), x @ np.eye(3))[:, picks] * x[:, :2]).sum())
    for rows in (x, x[:4]):
        value, (gradient,) = function.value_and_grad(cupy.asarray(rows))
        wanted, (slope,) = function.value_and_grad(rows)
        assert float(value) == pytest.approx(float(wanted), rel=1e-13)
        np.testing.assert_allclose(gradient.get(), slope, rtol=1e-12)


def test_kernels_are_found_on_disk(cupy, tmp_path):
    code = """
import cupy
from vecdist import lazy
from vecdist.runtime.cuda import compiler as cuda_compiler
made = []
compile_kernel = cuda_compiler.compile_kernel
cuda_compiler.compile_kernel = lambda *args: made.append(args) or compile_kernel(*args)
print(float((lazy(cupy.arange(10.0)) * 3.0).sum()), len(made))
"""
    environment = {**os.environ, folder.VARIABLE: str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert [run.split() for run in runs] == [["135.0", "1"], ["135.0", "0"]]
