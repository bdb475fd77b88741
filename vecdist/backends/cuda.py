"""NVIDIA GPUs: Numba compiles, CuPy launches."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from vecdist.backends import cuda_compiler, cuda_language, store
from vecdist.backends.base import Backend, Feed, Program, Runner, element_count
from vecdist.backends.cuda_compiler import HOW, MissingToolchain
from vecdist.codegen.cuda import THREADS, is_team_loop, needs_grid_barrier, render, unrolling
from vecdist.codegen.source import Source
from vecdist.kernel import Kernel
from vecdist.passes.interior import interior

BLOCKS_PER_PROCESSOR = 8  # of 256 threads: as many as a multiprocessor holds
TEAM = 32  # lanes of a row: one warp
TEAM_FROM = 16  # length of the inner loop from which a warp shares a row


def _digest() -> str:
    """What names a cubin beside its source: the language it is written in, and the toolchain."""
    language = Path(cuda_language.__file__).read_bytes() + Path(cuda_compiler.__file__).read_bytes()
    text = language + repr(sorted(cuda_compiler.versions().items())).encode()
    return hashlib.sha256(text).hexdigest()[:12]


def cubin(kernel: Kernel, capability: tuple[int, int]) -> tuple[Source, str, bytes]:
    """The source of a kernel, its name and its machine code, from the folder of kernels where it is there."""
    source = render(kernel)
    name = f"{source.name}_{_digest()}"
    file = f"{name}_sm{capability[0]}{capability[1]}.cubin"
    found = store.read_checked(file)
    if found is None:
        module = store.import_source(name, source.text)
        found = cuda_compiler.compile_cubin(module.kernel, name, kernel, capability)
        store.write_checked(file, found)
    return source, name, found


@final
class CudaProgram(Program):
    """A kernel for one compute capability, loaded on each device that asks for it."""

    def __init__(self, kernel: Kernel, capability: tuple[int, int]) -> None:
        self.source, self.name, self.cubin = cubin(kernel, capability)
        self.kernel = kernel
        self.cooperative = needs_grid_barrier(kernel)
        self.sums = sum(len(loop.sums(kernel.root)) for _, loop in kernel.nests())
        self._loaded: dict[int, tuple[Any, int]] = {}
        self._workspaces: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed]
    ) -> Runner:
        """The launch as a Python function of its own; what belongs to a stream is looked up, not made again."""
        import cupy

        names: dict[str, Any] = {"block": (THREADS,), "array": cupy.ndarray, "zeros": cupy.zeros}
        names |= {"device": cupy.cuda.device.get_device_id, "stream": cupy.cuda.get_current_stream}
        names |= {"ready": {}, "prepare": lambda device, stream: self.ready(device, stream, lengths)}
        arguments, lines, results = _slot_arguments(self.kernel, feeds, names), [], []
        wanted = iter(shapes)
        for number, output in enumerate(self.kernel.outputs):
            shape = (element_count(output.shape, lengths),) if output.temporary else tuple(next(wanted))
            names[f"t{number}"] = output.dtype
            lines.append(f"    o{number} = array({shape}, t{number})")
            arguments.append(f"o{number}")
            results += [] if output.temporary else [f"o{number}"]
        if self.kernel.flagged:
            lines.append("    flag = zeros(1, 'i8')")
            arguments.append("flag")
        arguments += [str(lengths[name]) for name in self.kernel.lengths]
        lines += [
            "    on = stream()",
            "    key = (device(), on.ptr)",
            "    if key not in ready:",
            "        ready[key] = prepare(*key)",
            "    function, grid, tail = ready[key]",
            f"    function(grid, block, ({', '.join(arguments)}, *tail), 0, on, {self.cooperative})",
            f"    return ({', '.join(results)},), {'flag' if self.kernel.flagged else False}",
        ]
        exec("def run(arrays):\n" + "\n".join(lines), names)
        return names["run"]

    def ready(self, device: int, stream: int, lengths: Mapping[str, int]) -> tuple:
        """The loaded function, the grid, and the last arguments of a launch at these lengths."""
        function, most_blocks = self.loaded(device)
        blocks, lanes = self.geometry(lengths, most_blocks)
        partials, arrivals = self.workspace(device, stream, most_blocks)
        # a Numba array is seven arguments: two owners, the number and size of its elements, pointer, shape, strides
        return function, (blocks,), (partials, 0, 0, arrivals.size, 4, arrivals, arrivals.size, 4, lanes)

    def geometry(self, lengths: Mapping[str, int], most_blocks: int) -> tuple[int, int]:
        """The number of blocks, and the lanes of a team."""
        inner = [lengths[dim] for _, loop in self.kernel.nests() for dim in loop.dims()[1:2]]
        lanes = TEAM if any(length >= TEAM_FROM for length in inner) else 1
        threads = 1
        for _, loop in self.kernel.nests():
            work = lengths[loop.dim] * lanes if is_team_loop(loop) else -(-lengths[loop.dim] // unrolling(loop))
            threads = max(threads, work)
        return min(-(-threads // THREADS), most_blocks), lanes

    def loaded(self, device: int) -> tuple[Any, int]:
        """The function on a device, and the most blocks to launch: as many as run at once."""
        with self._lock:
            if device not in self._loaded:
                import cupy

                module = cupy.cuda.function.Module()
                module.load(self.cubin)
                function = module.get_function(self.name)
                processors = cupy.cuda.Device(device).attributes["MultiProcessorCount"]
                fitting = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, THREADS, 0)
                self._loaded[device] = (function, processors * max(1, min(fitting, BLOCKS_PER_PROCESSOR)))
            return self._loaded[device]

    def workspace(self, device: int, stream: int, blocks: int) -> tuple[Any, Any]:
        """Partial sums and arrival counters of a stream; the kernel leaves the counters as it found them."""
        with self._lock:
            if (device, stream) not in self._workspaces:
                import cupy

                partials = cupy.empty(max(1, self.sums * blocks), np.float64)
                arrivals = cupy.zeros(len(self.kernel.root.levels) + 2, np.int32)
                self._workspaces[device, stream] = (partials, arrivals)
            return self._workspaces[device, stream]

    def resources(self) -> dict[str, Any]:
        return {"registers": cuda_compiler.registers(self.cubin), "cubin bytes": len(self.cubin)}


def _slot_arguments(kernel: Kernel, feeds: Sequence[Feed], names: dict[str, Any]) -> list[str]:
    """The text of each slot's arguments: an array or number, and the strides of an array that is not dense."""
    arguments = []
    for slot in kernel.slots:
        feed = feeds[slot.index]
        names[f"x{slot.index}"] = feed.array
        text = f"x{slot.index}" if feed.place is None else f"arrays[{feed.place}]"
        arguments.append(text)
        if slot.layout == "strided":
            arguments += [f"{text}.strides[{axis}] // {feed.array.itemsize}" for axis in slot.axes]
    return arguments


@final
class Cuda(Backend):
    """Compiles for the current device."""

    name = "cuda"
    passes = (interior,)  # a warp takes one side of a branch; a vector of the CPU would compute both

    def compile(self, kernel: Kernel) -> CudaProgram:
        try:
            import cupy
        except ImportError as error:
            raise MissingToolchain(f"CuPy is not installed ({error}); {HOW}") from error
        digits = cupy.cuda.Device().compute_capability
        return CudaProgram(kernel, (int(digits[:-1]), int(digits[-1])))
