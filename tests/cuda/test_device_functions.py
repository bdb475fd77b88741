"""Device functions in kernels that users write: compiled to machine code for an H100 without a GPU."""

import pickle

import densities
import device_samplers
import numpy as np
import pytest
from numba import types

import vecdist
from vecdist import device_function, lazy, logpdf
from vecdist.distributions import Gamma, Normal

HOPPER = (9, 0)
MODELS = [densities.schools, densities.regression, densities.recurrence]
VECTOR, TABLE = types.float64[::1], types.float64[:, ::1]


class OnDevice:
    """An array as if it lay on a GPU."""

    def __init__(self, array):
        self.array, self.dtype, self.strides = array, array.dtype, array.strides
        self.__cuda_array_interface__ = array.__array_interface__


def registers(code):
    from vecdist.runtime.cuda import compiler

    return compiler.registers(code)


@pytest.fixture
def cuda(monkeypatch):
    """numba-cuda, which compiles for an H100, and believes in arrays on it."""
    pytest.importorskip("cuda.core", reason="cuda-core, which links CUDA kernels, is not installed")
    from vecdist.runtime.cuda.compiler import cuda

    if not getattr(cuda, "compile", None) or cuda.implementation != "NVIDIA":
        pytest.skip("numba-cuda, which compiles CUDA kernels, is not installed")
    from numba.cuda import dispatcher

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: type("Device", (), {"compute_capability": HOPPER}))
    monkeypatch.setattr(cuda, "to_device", OnDevice)
    return cuda


def cubin(cuda, kernel, *arguments):
    """The machine code of a kernel of a user."""
    from vecdist.runtime.cuda.compiler import link

    code, _ = cuda.compile(kernel, arguments, device=False, cc=HOPPER, abi="numba", output="ltoir")
    return link([code], HOPPER)


def test_values_and_slopes_of_numbers(cuda):
    """Several in one kernel: with slopes in some, of float32, of draws, of functions that are long."""
    function = device_function(lambda x, a, b: logpdf(Gamma(a, b), x), gradient=True)
    single = device_function(lambda x: logpdf(Normal(np.float32(0.0), np.float32(1.0)), x), ["float32"], gradient=["x"])
    draw = device_function(lambda key: vecdist.sample(key, Gamma(2.5, 1.0)), [np.int64])

    def kernel(x, out):
        place = cuda.grid(1)
        value, (slope, _, other) = function(x[place], 2, b=1.5)
        narrow, (least,) = single(x[place])
        out[place] = value + slope + other + narrow + least + draw(place)

    assert registers(cubin(cuda, kernel, VECTOR, VECTOR)) <= 128


def test_arrays_that_it_holds_are_copied_and_kept(cuda):
    """Numbers and whole arrays, read backwards and in steps; code that has their addresses is kept in no file."""
    table, mask, ones = np.arange(60.0).reshape(6, 10)[::-1, 1::3], np.arange(6) % 2 == 0, np.array(1.0)

    def density(x):
        return (np.where(mask, (lazy(table) * x).sum(axis=1), 0.5) * lazy(ones)).sum()

    function = device_function(density, [np.zeros(3)], gradient=True)

    @cuda.jit(device=True)
    def value(x, slopes):
        return function(x, slopes)

    found = value.compile_device((VECTOR, VECTOR))
    arrays = [each.array for each in found.library.referenced_objects.values()]
    for held in (table, mask, ones):
        same = [each for each in arrays if each.size == held.size and np.array_equal(each.reshape(held.shape), held)]
        assert same and same[0].flags.c_contiguous
    with pytest.raises(pickle.PicklingError, match="global device arrays"):
        pickle.dumps(found.library._reduce_states())


class LikeCupy(np.ndarray):
    """An array that says that it is CuPy's."""

    __module__ = "cupy"

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__


def test_arrays_of_cupy_are_read_where_they_lie(cuda):
    """By kernels alone: on a CPU there is a reason why not."""
    seen = np.arange(8.0).view(LikeCupy)[::2]
    function = device_function(lambda x: (lazy(seen) * x).sum(), [np.zeros(4)], gradient=True)

    @cuda.jit(device=True)
    def value(x, slopes):
        return function(x, slopes)

    found = value.compile_device((VECTOR, VECTOR))
    assert [each is seen for each in found.library.referenced_objects.values()] == [True]
    with pytest.raises(TypeError, match="holds CuPy arrays, which no code for a CPU can read"):
        function(np.zeros(4), np.zeros(4))


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_log_densities(cuda, make):
    density = make()
    function, size = device_function(density, gradient=True), density.ndim

    def kernel(points, values, slopes):
        place = cuda.grid(1)
        x = cuda.local.array(size, types.float64)
        for each in range(size):
            x[each] = points[place, each]
        values[place] = function(x, slopes[place])

    assert registers(cubin(cuda, kernel, TABLE, VECTOR, TABLE)) <= 128


def test_samplers_written_by_hand(cuda):
    target = device_samplers.target()
    jit = cuda.jit(device=True)
    walk = device_samplers.metropolis(jit, device_function(target))
    leap = device_samplers.hamiltonian(jit, device_function(target, gradient=True))

    def kernel(x, new, work, draws, moments):
        place = cuda.grid(1)
        walk(x[place], new[place], 1.0, draws[place], moments[place])
        leap(x[place], work[place], 0.4, 5, draws[place], moments[place])

    cube = types.float64[:, :, ::1]
    assert registers(cubin(cuda, kernel, TABLE, TABLE, cube, cube, cube)) <= 128


def test_errors_name_the_signature(cuda):
    function = device_function(lambda x, mu: logpdf(Normal(mu, 1.0), x))
    from numba.cuda.core.errors import TypingError

    with pytest.raises(TypingError, match=r"\(float64, float64\) -> float64"):
        cubin(cuda, lambda out: function(out, 1.0), VECTOR)
