"""On a real GPU: results in given arrays, launches captured as graphs, and compiled functions in a user's capture."""

import threading

import numpy as np
import pytest

from vecdist import compile, lazy, logpdf  # noqa: A004
from vecdist.distributions import Normal
from vecdist.runtime.cuda import graphs

pytestmark = pytest.mark.cuda


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def posterior(mean, scale, x):
    return logpdf(Normal(mean, scale), x).sum()


def centred(x):
    """Two sums, the second of what needs the first: a barrier of the whole grid, and arrays in between."""
    return (np.square(lazy(x) - lazy(x).mean()) * x).sum()


def rows(x):
    return x - x.sum(axis=1, keepdims=True)


def data(cupy, length=10_000, seed=0):
    rng = np.random.default_rng(seed)
    host = rng.normal(size=length), np.array(0.25), np.array(1.5)
    return host, [cupy.asarray(array) for array in (host[1], host[2], host[0])]


def check_posterior(host, found):
    x, mean, scale = host
    (value, (of_mean, of_scale)), standard = found, (x - mean) / scale
    wanted = (-0.5 * standard**2 - np.log(scale) - 0.5 * np.log(2 * np.pi)).sum()
    np.testing.assert_allclose(float(value), wanted, rtol=1e-11)
    np.testing.assert_allclose(float(of_mean), (standard / scale).sum(), rtol=1e-9)
    np.testing.assert_allclose(float(of_scale), ((standard**2 - 1.0) / scale).sum(), rtol=1e-11)


def test_results_in_given_arrays(cupy):
    host, given = data(cupy)
    f = compile(posterior)
    out = (cupy.empty(()), cupy.empty(()), cupy.empty(()))
    value, grads = f.value_and_grad(*given, wrt=(0, 1), out=out)
    assert value is out[0] and grads[0] is out[1] and grads[1] is out[2]
    check_posterior(host, (value, grads))
    double, result = compile(lambda x: x * 2.0), cupy.empty(10_000)
    assert double(given[2], out=result) is result
    np.testing.assert_array_equal(result.get(), host[0] * 2)


def test_arrays_that_cannot_be_written_to(cupy):
    double, whole = compile(lambda x: x * 2.0), cupy.arange(10.0)
    x = whole[2:8]
    for out in (whole[:6], whole[7:1:-1], x):
        with pytest.raises(ValueError, match=r"shares memory with x|C-contiguous"):
            double(x, out=out)
    double(x[:2], out=whole[4:6])
    with pytest.raises(TypeError, match="but the result is a CuPy array"):
        double(x, out=np.empty(6))
    with pytest.raises(ValueError, match="dtype float32"):
        double(x, out=cupy.empty(6, "f4"))


def test_chains(cupy):
    means = np.linspace(-1.0, 1.0, 5)
    (x, _, _), (_, scale, there) = data(cupy, 300)
    values, (of_mean,) = compile(posterior, in_axes=(0, None, None)).value_and_grad(
        cupy.asarray(means), scale, there, wrt=(0,)
    )
    standard = (x - means[:, None]) / 1.5
    wanted = (-0.5 * standard**2 - np.log(1.5) - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    np.testing.assert_allclose(values.get(), wanted, rtol=1e-12)
    np.testing.assert_allclose(of_mean.get(), standard.sum(axis=1) / 1.5, rtol=1e-10)


def test_layouts_of_one_shape(cupy):
    """Strides are arguments of a launch: a call with others is the same kernel."""
    x = cupy.arange(48.0).reshape(4, 12)
    for f in (compile(lambda a: a * 2.0), compile(lambda a: a * 2.0, graph=True)):
        for view in (x[:, ::2], x[:, :6], x[:, ::-2], x[:, ::2]):
            np.testing.assert_array_equal(f(view).get(), view.get() * 2.0)


def captures(f):
    """How many graphs a function has captured, of each layout."""
    return [len(f._by_layout(layout, None).run._graphs) for layout in f._by_layout]


def test_a_graph_is_captured_once_and_replayed(cupy):
    host, given = data(cupy)
    f = compile(posterior, graph=True)
    first = f.value_and_grad(*given, wrt=(0, 1))
    check_posterior(host, first)
    for mean in (0.5, -1.0, 3.0):
        given[0][...] = mean
        again = f.value_and_grad(*given, wrt=(0, 1))
        assert again[0] is first[0] and again[1][0] is first[1][0], "the same arrays every time"
        check_posterior((host[0], np.array(mean), host[2]), again)
    assert captures(f) == [1]
    f.value_and_grad(given[0].copy(), *given[1:], wrt=(0, 1))
    assert captures(f) == [2]


def test_numbers_are_part_of_what_is_captured(cupy):
    f, x = compile(lambda x, factor: x * factor, graph=True), cupy.arange(5.0)
    for factor in (2.0, 3.0, 2.0, 0.0, -0.0):
        found = f(x, factor).get()
        np.testing.assert_array_equal(found, np.arange(5.0) * factor)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(np.arange(5.0) * factor))
    assert captures(f) == [4]


@pytest.mark.parametrize("function", [centred, rows])
def test_kernels_with_barriers_and_arrays_in_between(cupy, function):
    x = np.random.default_rng(1).normal(size=(2000, 150))
    there = cupy.asarray(x)
    plain, captured = compile(function), compile(function, graph=True)
    for number in range(20):
        there[...] = cupy.asarray(x + number)
        wanted = plain(there).get()
        cupy.full(x.shape, np.nan)  # takes and gives back memory that an array in between could have had
        np.testing.assert_array_equal(captured(there).get(), wanted)
    assert captures(captured) == [1]


def test_more_addresses_than_graphs(cupy):
    f = compile(lambda x: x * 2.0, graph=True)
    arrays = [cupy.full(7, float(number)) for number in range(graphs.GRAPHS + 3)]
    for _ in range(2):
        for number, array in enumerate(arrays):
            assert f(array).get().tolist() == [2.0 * number] * 7
    assert captures(f) == [graphs.GRAPHS]


def test_graphs_on_streams_of_their_own(cupy):
    """Two streams replay at once, each into arrays and sums of its own."""
    given = [data(cupy, 400_000 + number, number) for number in range(2)]
    functions = [compile(centred, graph=True) for _ in given]
    alone = [float(compile(centred)(arrays[2])) for _, arrays in given]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in given]
    cupy.cuda.Device().synchronize()
    for _ in range(50):
        found = []
        for f, (_, arrays), stream in zip(functions, given, streams, strict=True):
            with stream:
                found.append(f(arrays[2]))
        for stream in streams:
            stream.synchronize()
        assert [float(value) for value in found] == alone


def test_threads_that_capture_at_once(cupy):
    failures, start = [], threading.Barrier(4)

    def work(number):
        f = compile(posterior, graph=True)
        with cupy.cuda.Stream(non_blocking=True):
            host, given = data(cupy, 1000 + number, number)
            start.wait()
            try:
                for _ in range(10):
                    check_posterior(host, f.value_and_grad(*given, wrt=(0, 1)))
            except Exception as error:  # an assertion, or whatever a capture raises: the test shows it
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("function", [centred, rows])
def test_a_compiled_function_in_a_capture_of_the_user(cupy, function):
    x = np.random.default_rng(2).normal(size=(500, 60))
    stream, f = cupy.cuda.Stream(non_blocking=True), compile(function)
    with stream:
        there = cupy.asarray(x)
        f(there + 1.0)
        stream.synchronize()
        stream.begin_capture()
        shifted = there + 1.0
        result = f(shifted)
        graph = stream.end_capture()
        for number in range(5):
            there[...] = cupy.asarray(x * number)
            graph.launch(stream)
            stream.synchronize()
            wanted = function(lazy(x * number + 1.0)).compute()
            np.testing.assert_allclose(result.get(), wanted, rtol=1e-9, atol=1e-9)


def test_a_captured_function_in_a_capture_of_the_user(cupy):
    host, given = data(cupy)
    stream, f = cupy.cuda.Stream(non_blocking=True), compile(posterior, graph=True)
    with stream:
        given = [array.copy() for array in given]
        f.value_and_grad(*given, wrt=(0, 1))
        stream.synchronize()
        stream.begin_capture()
        found = f.value_and_grad(*given, wrt=(0, 1))
        graph = stream.end_capture()
        given[0][...] = 2.0
        graph.launch(stream)
        stream.synchronize()
        check_posterior((host[0], np.array(2.0), host[2]), found)


def test_the_first_launch_on_a_stream_cannot_be_captured(cupy):
    f, x = compile(lambda x: (np.arctan(x) * np.sinh(x)).sum()), cupy.arange(10.0)  # a kernel of this test alone
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        try:
            with pytest.raises(RuntimeError, match="call the function on this stream once before the capture"):
                f(x)
        finally:
            stream.end_capture()
        wanted = (np.arctan(x.get()) * np.sinh(x.get())).sum()
        np.testing.assert_allclose(float(f(x)), wanted, rtol=1e-12)
