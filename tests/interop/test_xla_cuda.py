"""The handler that launches on a GPU: the frame of a call in, the driver's functions called, without a GPU."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest
from clients import CLIENT

pytestmark = CLIENT
WORD, ADDRESS = ctypes.c_int64, ctypes.c_void_p
STREAM, FUNCTION = 0x5151, 0x7777


@pytest.fixture(autouse=True)
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


class Driver:
    """The functions of the CUDA driver, which note what they are called with and read the parameters."""

    def __init__(self, status=0, count=0):
        self.calls, self.status, self.count = [], status, count
        number = ctypes.c_uint
        kernel = ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, *[number] * 7, ADDRESS, ADDRESS, ADDRESS)
        self.cuLaunchKernel = kernel(lambda *given: self.launch("plain", *given))
        self.cuLaunchCooperativeKernel = kernel(lambda *given: self.launch("cooperative", *given))
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ctypes.c_ubyte, ctypes.c_size_t, ADDRESS)
        self.cuMemsetD8Async = kind(lambda *given: self.calls.append(("memset", *given)) or 0)

    def launch(self, how, function, *given):
        *extent, stream, parameters, _ = given
        addresses = (WORD * self.count).from_address(parameters)
        self.calls.append((how, function, extent, stream, [WORD.from_address(each).value for each in addresses]))
        return self.status


class Frame:
    """An XLA_FFI_CallFrame by words, as xla/ffi/api/c_api.h of jaxlib declares it."""

    def __init__(self, description, buffers, stage=3, arguments=1):
        self.held, self.errors = [], []
        get = ctypes.CFUNCTYPE(ADDRESS, ctypes.POINTER(WORD))
        api = [0] * 24
        api[6], api[10] = (self.function(get(each)) for each in (self.create, self.stream))
        made = [self.words(48, 0, 12, address, 1, self.words(5)) for address in buffers]
        scalar = self.words(5, self.words(description))
        args, rets = (self.words(*each) for each in (made[:arguments], made[arguments:]))
        self.address = self.words(
            168, 0, self.words(*api), 0xC0, stage,
            *(40, 0, arguments, 0, args), *(40, 0, len(buffers) - arguments, 0, rets),
            *(48, 0, 1, 0, 0, self.words(scalar)),
        )

    def words(self, *values):
        self.held.append(np.array(values, np.int64))
        return self.held[-1].ctypes.data

    def function(self, function):
        self.held.append(function)
        return ctypes.cast(function, ADDRESS).value

    def stream(self, asked):
        assert (asked[0], asked[1], asked[2]) == (32, 0, 0xC0)
        asked[3] = STREAM

    def create(self, asked):
        assert asked[0] == 28 and asked[1] == 0
        self.errors.append((ctypes.string_at(asked[2]).decode(), asked[3]))
        return 0xBAD


BUFFERS = X, VALUE, GRADIENT, SCRATCH = 0x1000, 0x2000, 0x3000, 0x4000
PARAMETERS = [(7, 0), (0, 2), (0, 3), (0, 4), (256, 1), (-5, 0), (int(np.float64(-2.5).view(np.int64)), 0)]
WANTED = [7, X, VALUE, GRADIENT, SCRATCH + 256, -5, int(np.float64(-2.5).view(np.int64))]


def handled(driver, stage=3, buffers=None, arguments=1, others=(), **changes):
    from vecdist.interop import xla_cuda

    launch = {"function": FUNCTION, "blocks": 12, "memory": 2048, "cooperative": False, "zeroed": 0}
    launch = {**launch, "parameters": PARAMETERS, **changes}
    description = xla_cuda.described([SimpleNamespace(**launch | other) for other in ({}, *others)], driver)
    frame = Frame(description.ctypes.data, buffers or BUFFERS, stage, arguments)
    handler = ctypes.CFUNCTYPE(WORD, ADDRESS)(xla_cuda.registered().address)
    return handler(frame.address), frame


@pytest.mark.parametrize("cooperative", [False, True])
def test_a_launch(cooperative):
    driver = Driver(count=len(PARAMETERS))
    status, frame = handled(driver, cooperative=cooperative, zeroed=512)
    assert status == 0 and not frame.errors
    how = "cooperative" if cooperative else "plain"
    assert driver.calls == [
        ("memset", SCRATCH, 0, 512, STREAM), (how, FUNCTION, [12, 1, 1, 256, 1, 1, 2048], STREAM, WANTED)
    ]


@pytest.mark.parametrize("arguments", [0, 2, 3])
def test_any_number_of_arguments_and_results(arguments):
    buffers = [0x1000 * (place + 1) for place in range(6)]  # the last is working memory
    codes = [(0, 2 + place) for place in range(5)] + [(8, 1)]
    driver = Driver(count=len(codes))
    status, _ = handled(driver, buffers=buffers, arguments=arguments, parameters=codes)
    assert status == 0 and driver.calls[0][-1] == [*buffers[:5], buffers[5] + 8]


def test_nothing_to_clear_and_other_stages():
    driver = Driver(count=len(PARAMETERS))
    assert handled(driver)[0] == 0 and len(driver.calls) == 1
    for stage in range(3):
        assert handled(driver, stage)[0] == 0 and len(driver.calls) == 1


def test_one_launch_after_another():
    """Of batches, whose arrays begin at other places; none is launched behind one that failed."""
    others = [{"parameters": [(7, 0), (64, 2), (8, 3), (64, 4), (256, 1), *PARAMETERS[5:]]}, {"blocks": 3}]
    driver = Driver(count=len(PARAMETERS))
    status, frame = handled(driver, zeroed=512, others=others)
    assert status == 0 and not frame.errors
    kernels = [call for call in driver.calls if call[0] == "plain"]
    behind = [7, X + 64, VALUE + 8, GRADIENT + 64, SCRATCH + 256, *WANTED[5:]]
    assert [call[-1] for call in kernels] == [WANTED, behind, WANTED]
    assert [call[2][0] for call in kernels] == [12, 12, 3]
    assert [call for call in driver.calls if call[0] == "memset"] == 3 * [("memset", SCRATCH, 0, 512, STREAM)]
    driver = Driver(status=400, count=len(PARAMETERS))
    assert handled(driver, others=others)[0] == 0xBAD and len(driver.calls) == 1


def test_errors_of_the_driver_are_errors_of_xla():
    status, frame = handled(Driver(status=400, count=len(PARAMETERS)))
    assert status == 0xBAD
    ((message, code),) = frame.errors
    assert code == 13 and "CUDA error 400" in message


def test_what_it_says_of_itself():
    from vecdist.interop import xla_cuda

    metadata = np.array([48, 24, 0, 0, 0, 0], np.int64)
    extension = np.array([32, 1, 0, metadata.ctypes.data], np.int64)
    frame = np.array([168, extension.ctypes.data, *[0] * 19], np.int64)
    assert ctypes.CFUNCTYPE(WORD, ADDRESS)(xla_cuda.registered().address)(frame.ctypes.data) == 0
    assert metadata[4] == 1 and metadata[3] & 0xFFFFFFFF == 0 and metadata[3] >> 32 >= 1


def test_frames_of_xla_itself(jax):
    """On the CPU there is no stream: XLA's own error comes through, from its own frame and functions."""
    from vecdist.interop import xla_cuda

    xla_cuda.register("vecdist_launch_on_cpu", xla_cuda._launch, 0, "cpu")
    launch = SimpleNamespace(function=1, blocks=1, memory=0, cooperative=False, zeroed=0, parameters=[])
    words = xla_cuda.described([launch], Driver())
    shapes = [jax.ShapeDtypeStruct(shape, float) for shape in ((), (10,), (1,))]
    call = jax.ffi.ffi_call("vecdist_launch_on_cpu", shapes)
    x = jax.device_put(np.zeros(10), jax.devices("cpu")[0])
    with pytest.raises(Exception, match=r"(?i)stream|gpu"):
        jax.block_until_ready(jax.jit(lambda x: call(x, launch=np.int64(words.ctypes.data)))(x))


def test_shapes_are_known_where_a_launch_is_made(jax, monkeypatch):
    import densities

    import vecdist.interop
    from vecdist.interop import xla_cuda

    shapes = []
    words = np.zeros(8, np.int64)
    monkeypatch.setattr(xla_cuda, "prepared", lambda density, shape: shapes.append(shape) or (words, 512))
    f = jax.grad(vecdist.interop.jax.function(densities.schools()))
    for g, shape in ((f, (10,)), (jax.vmap(f), (7, 10)), (jax.vmap(jax.vmap(f)), (2, 3, 10))):
        text = jax.jit(g).trace(np.zeros(shape)).lower(lowering_platforms=("cuda",)).as_text()
        assert text.count("@vecdist_log_density_cuda(") == 1 and shapes.pop() == shape and not shapes
    step = lambda x, _: (x + 1e-3 * jax.vmap(f)(x), None)  # noqa: E731
    loop = jax.jit(lambda x: jax.lax.scan(step, x, length=100)[0])
    assert loop.trace(np.zeros((4, 10))).lower(lowering_platforms=("cuda",)).as_text().count(xla_cuda.TARGET) == 1
