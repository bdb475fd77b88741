"""NVIDIA GPUs: Numba compiles, CuPy launches."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, final

import numpy as np

from vecdist.codegen.common_values import with_common_values
from vecdist.codegen.cuda.batches import batch
from vecdist.codegen.cuda.block_per_chain import by_blocks, of_blocks
from vecdist.codegen.cuda.collapsing import collapsed, with_rows
from vecdist.codegen.cuda.data_layout import laid_out
from vecdist.codegen.cuda.deep_lanes import with_deep_lanes
from vecdist.codegen.cuda.flattening import flattened
from vecdist.codegen.cuda.grid import THREADS, Grid, counters, partial_places
from vecdist.codegen.cuda.jammed_chains import jammed_chains
from vecdist.codegen.cuda.jammed_rows import jammed_rows
from vecdist.codegen.cuda.launch import is_spread, lanes_of, pieces_of, with_brief, with_room, workspace
from vecdist.codegen.cuda.near_sums import contended
from vecdist.codegen.cuda.parted_chains import in_parts
from vecdist.codegen.cuda.privatisation import REGISTERS, privatisable
from vecdist.codegen.cuda.render import render
from vecdist.codegen.cuda.spread_rows import spread_rows
from vecdist.codegen.cuda.sums_of_rows import is_less
from vecdist.codegen.cuda.tiling import copies, has_rows, splits, takes_tiles
from vecdist.codegen.routines import Routine, Tables, with_needs
from vecdist.codegen.source import Source
from vecdist.graph.memo import Memo
from vecdist.graph.shapes import length_in
from vecdist.kernel.code import Function
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.lower import schedule
from vecdist.passes.column_reductions import sums_of_chains
from vecdist.passes.fast_path import fast_path
from vecdist.passes.few_rows import rows_behind
from vecdist.passes.order import Chosen, Derived
from vecdist.passes.split_reductions import in_pieces
from vecdist.runtime import compiler, emission, sources, store
from vecdist.runtime.base import Backend, Feed, Program, Runner, element_count
from vecdist.runtime.cuda import compiler as cuda_compiler
from vecdist.runtime.cuda import language as cuda_language
from vecdist.runtime.cuda.arguments import array_arguments, holding, slot_arguments
from vecdist.runtime.cuda.compiler import HOW, MissingToolchain
from vecdist.runtime.cuda.extent import Extent
from vecdist.runtime.outputs import fresh_or_given, given_back, written_as_run
from vecdist.runtime.typed import Written

BLOCKS_PER_PROCESSOR = 8  # of 256 threads: as many as a multiprocessor holds
NOT_LONG = 4096  # elements of a few rows, of which a block each goes through a row fast enough
MOST_WAVES = 4  # of blocks that have sums
MOST_STORED = 2**30  # bytes of what nests leave to each other, not to compute it again


def _digest(*given: Any) -> str:
    """What names machine code beside its source: types of arguments, the language it is written in, the toolchain."""
    language = Path(cuda_language.__file__).read_bytes() + Path(cuda_compiler.__file__).read_bytes()
    text = repr((*given, sorted(cuda_compiler.versions().items())))
    return hashlib.sha256(language + emission.VERSION + text.encode()).hexdigest()[:12]


def cubin(kernel: Kernel, capability: tuple[int, int]) -> tuple[Source, str, bytes]:
    """The source of a kernel, its name and its machine code, from the folder of kernels where it is there."""
    source = render(kernel)
    name = f"{source.name}_{_digest(cuda_compiler.signature(kernel))}"

    def code() -> bytes:
        parts = [_routine_code(routine, capability) for routine in with_needs(source.routines)]
        given = source.tables, source.routines
        with _compiling(name, source.text, source.functions, *given) as module:
            own = cuda_compiler.compile_kernel(module.kernel, name, kernel, capability)
        return cuda_compiler.link([own, *parts], capability)

    return source, name, _kept(f"{name}_sm{capability[0]}{capability[1]}.cubin", code)


def written_cubin(
    name: str, told: Any, make: Callable[[], Written], given: Any, capability: tuple[int, int], threads: int = 32
) -> tuple[str, bytes]:
    """The name and the machine code of a kernel of one's own, from the folder of kernels where it is there.

    ``told`` says all that it is made of, beside what the language is; ``given`` are the types of its arguments.
    """
    whole = f"{name}_{_digest(told, given, threads)}"

    def code() -> bytes:
        with compiler.alone():
            own = cuda_compiler.compile_written(make(), given, whole, capability, threads)
        return cuda_compiler.link([own], capability)

    return whole, _kept(f"{whole}_sm{capability[0]}{capability[1]}.cubin", code)


def _routine_code(routine: Routine, capability: tuple[int, int]) -> bytes:
    """The code of a function, for the linker."""
    name = f"{routine.name}_{_digest()}"

    def code() -> bytes:
        text, make = routine.module(cuda_language.__name__), functools.partial(Written, apart=routine.seldom)
        with _compiling(name, text, (routine.function,), routine.tables, routine.needs, make) as module:
            return cuda_compiler.compile_routine(getattr(module, routine.name), routine, capability)

    return _kept(f"{name}_sm{capability[0]}{capability[1]}.ltoir", code)


@contextlib.contextmanager
def _compiling(
    name: str, text: str, functions: Sequence[Function], tables: Tables, routines: Sequence[Routine],
    make: Callable[..., Written] = Written,
) -> Iterator[ModuleType]:
    """The module of a source, to be compiled by one thread at a time."""
    with compiler.alone():
        declared = {routine.name: cuda_compiler.declared(routine) for routine in routines}
        given = cuda_language.WORDS | dict(tables) | declared
        module = sources.imported(name, text, functions, given, make)
        try:
            yield module
        finally:
            sources.forget(module)


_making: Memo[bytes] = Memo(most=0)  # what others wait for who want the same, and then find in the folder


def _kept(file: str, make: Callable[[], bytes]) -> bytes:
    """The content of a file of the folder; made where it is not there."""

    def found_or_made() -> bytes:
        found = store.read_checked(file)
        if found is None:
            found = make()
            store.write_checked(file, found)
        return found

    return _making(file, found_or_made)


@final
class CudaProgram(Program):
    """A kernel for one compute capability, loaded on each device that asks for it."""

    def __init__(self, kernel: Kernel, capability: tuple[int, int]) -> None:
        self.name: str
        self.cubin: bytes
        self.source, self.name, self.cubin = cubin(kernel, capability)
        self.kernel: Kernel = kernel
        self.capability: tuple[int, int] = capability
        self.grid: Grid = Grid(kernel)
        self.sums: int = sum(len(loop.sums(kernel.root)) for _, loop in kernel.nests())
        self._loaded: dict[int, Any] = {}
        self._most_memory: dict[int, int] = {}
        self._workspaces: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return CudaProgram, (self.kernel, self.capability)

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """The launch as a Python function of its own; what belongs to a stream is looked up, not made again."""
        import cupy

        names: dict[str, Any] = {"block": (THREADS,), "array": cupy.ndarray, "zeros": cupy.zeros}
        names |= {"device": cupy.cuda.device.get_device_id, "stream": cupy.cuda.get_current_stream}
        names |= {"ready": {}, "prepare": functools.partial(self.first_ready, lengths), "held": []}
        if self.grid.kept_outputs:
            names["unused"] = cupy.empty(1)  # what is kept lies in shared memory
        arguments, fresh, given, results = slot_arguments(self.kernel, feeds, names), [], [], []
        wanted = iter(shapes)
        for number, output in enumerate(self.kernel.outputs):
            shape = (element_count(output.shape, lengths),) if output.temporary else tuple(next(wanted))
            names |= {f"r{number}": shape, f"t{number}": output.dtype}
            fresh.append(f"o{number} = unused" if output.kept else f"o{number} = array(r{number}, t{number})")
            given.append(fresh[-1] if output.temporary else f"o{number} = out[{len(results)}]")
            arguments.append(f"o{number}")
            results += [] if output.temporary else [f"o{number}"]
        lines = fresh_or_given(fresh, given)
        if self.kernel.flagged:
            lines.append("    flag = zeros(1, 'i8')")
            arguments.append("flag")
        names |= {name: lengths[name] for name in self.kernel.lengths}
        arguments += self.kernel.lengths
        lines += [
            "    on = stream()",
            "    key = (device(), on.ptr)",
            "    if key not in ready:",
            "        ready[key] = prepare(*key)",
            "    function, grid, tail, memory, together = ready[key]",
            f"    function(grid, block, ({', '.join(arguments)}, *tail), memory, on, together)",
            *holding([f"o{n}" for n, output in enumerate(self.kernel.outputs) if output.temporary]),
            given_back(results, "flag" if self.kernel.flagged else "False"),
        ]
        return written_as_run(lines, names)

    def first_ready(self, lengths: Mapping[str, int], device: int, stream: int) -> tuple:
        """``ready``, but an error where a stream captures what must be made before: it would be made by each replay."""
        import cupy

        if cupy.cuda.get_current_stream().is_capturing():
            raise RuntimeError(
                "the first launch of a kernel on a stream cannot be captured; call the function on this stream once "
                "before the capture begins"
            )
        return self.ready(device, stream, lengths)

    def ready(self, device: int, stream: int, lengths: Mapping[str, int]) -> tuple:
        """The loaded function, the grid, the last arguments of a launch, its shared memory, and whether blocks meet."""
        import cupy

        found = self.extent(device, lengths)
        partials, arrivals = self.workspace(device, stream)
        sums = cupy.zeros(self.grid.sum_places(lengths, found.blocks), np.float64)
        given = {"partials": (partials,), "sums": array_arguments(sums), "arrivals": array_arguments(arrivals)}
        given |= {name: (number,) for name, number in found.numbers.items()}
        tail = tuple(argument for name in workspace(self.grid) for argument in given[name])
        return found.function, (found.blocks,), tail, found.memory, found.cooperative

    def extent(self, device: int, lengths: Mapping[str, int]) -> Extent:
        """How a launch at these lengths is laid out."""
        function = self.loaded(device)
        lanes = {loop: self.lanes(loop, lengths) for _, loop in self.kernel.shared_nests() if has_rows(loop)}
        memory = self.grid.shared_bytes(lengths, lanes)
        at_once, wanted = self.most_blocks(device, function, memory), self.blocks(lengths, lanes)
        blocks = min(wanted, at_once * self.waves(wanted // at_once))
        strips = self.grid.strip_count(lengths)
        blocks = max(1, blocks // strips) * strips
        if self.grid.waits and blocks > at_once:
            raise RuntimeError(f"{blocks} blocks must wait for each other, of which this GPU runs {at_once} at once")
        spread = blocks <= at_once and is_spread(self.grid, lengths, blocks)
        numbers = {"spread": int(spread)} | {f"lanes_{loop.index}": each for loop, each in lanes.items()}
        numbers |= {f"cut_{loop.index}": pieces_of(loop, lengths) for loop in self.grid.cut}
        return Extent(function, blocks, memory, self.grid.waits or spread, numbers)

    def waves(self, turns: int) -> int:
        """How many times as many blocks there are as run at once, so that not all of them read, or write, together.

        Measured on an H200: more of them cost more than they give where each begins with work of its own, or has few
        ``turns``.
        """
        if self.grid.apart:
            return 16
        if self.grid.waits or not self.sums or any(has_rows(loop) for _, loop in self.kernel.shared_nests()):
            return 1
        return min(MOST_WAVES, max(1, turns // 32))

    def lanes(self, loop: Loop, lengths: Mapping[str, int]) -> int:
        return lanes_of(loop, self.grid, lengths)

    def blocks(self, lengths: Mapping[str, int], lanes: Mapping[Loop, int]) -> int:
        """The blocks that give each thread of the longest loop one turn."""
        threads = 1
        for _, loop in self.kernel.shared_nests():
            length = loop.turns(lengths)
            if loop in self.grid.by_block:
                threads = max(threads, lengths[self.kernel.by_block] * THREADS)
                continue
            if not has_rows(loop):
                threads = max(threads, -(-length // copies(loop, self.grid)))
                continue
            if takes_tiles(loop, self.grid):
                (inner,) = loop.body.every_loop()
                length <<= splits(loop, inner.turns(lengths), lanes[loop], self.grid)
            strips = self.grid.strip_count(lengths) if self.grid.is_cut_into_strips(loop) else 1
            threads = max(threads, length * lanes[loop] * strips)
        return -(-threads // THREADS)

    def loaded(self, device: int) -> Any:
        """The function on a device."""
        with self._lock:
            if device not in self._loaded:
                import cupy

                module = cupy.cuda.function.Module()
                module.load(self.cubin)
                self._loaded[device] = module.get_function(self.name)
            return self._loaded[device]

    def most_blocks(self, device: int, function: Any, memory: int) -> int:
        """As many blocks as run at once."""
        import cupy

        driver = cupy.cuda.driver
        if memory > self._most_memory.get(device, 0):  # launches at other lengths may need what they asked for
            driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, memory)
            self._most_memory[device] = memory
        fitting = driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, THREADS, memory)
        return _processors(device) * max(1, min(fitting, BLOCKS_PER_PROCESSOR))

    def workspace(self, device: int, stream: int) -> tuple[Any, Any]:
        """Partial sums and arrival counters of a stream, for any lengths; the kernel leaves counters as they were."""
        with self._lock:
            if (device, stream) not in self._workspaces:
                import cupy

                most = _processors(device) * BLOCKS_PER_PROCESSOR * MOST_WAVES
                partials = cupy.empty(partial_places(self.grid, most), np.float64)
                self._workspaces[device, stream] = (partials, cupy.zeros(counters(self.kernel), np.int32))
            return self._workspaces[device, stream]

    def resources(self) -> dict[str, Any]:
        return {"registers": cuda_compiler.registers(self.cubin), "cubin bytes": len(self.cubin)}


def _processors(device: int) -> int:
    import cupy

    return cupy.cuda.Device(device).attributes["MultiProcessorCount"]


@final
class Cuda(Backend):
    """Compiles for the current device."""

    name = "cuda"
    nests = (*Backend.nests, collapsed)  # as many rows as there are threads for
    passes = (fast_path,)  # a warp takes one side of a branch; a vector of the CPU would compute both
    fixed = 64  # the lanes of a group then take a known number of elements, and sums over rows stay in registers
    picks = True  # sums by index are atomic additions, in another order each time
    batch = staticmethod(batch)
    in_steps = staticmethod(in_pieces)  # where blocks would have a result each, most processors have none
    widest = 8192  # 32 slots for each of the 256 threads of a block: 64 KiB of shared memory
    side_by_side = 128  # fewer blocks than these leave processors idle

    @classmethod
    def chosen(cls, part: Derived, lengths: Mapping[str, int]) -> Chosen:
        """As chosen, but sums over the elements of many chains in one go, where that pays."""
        found, own = cls._in_rows(part, lengths), sums_of_chains(part.choices[0], lengths, REGISTERS)
        if not own:
            return found
        together = part.chosen(lengths, cls.widest, also=own)
        before, after = (cls._planned(part, each, lengths) for each in (found, together))
        return together if is_less(before, after, lengths) else found

    @classmethod
    def _in_rows(cls, part: Derived, lengths: Mapping[str, int]) -> Chosen:
        """As chosen, but rows come first where they are many and in no strips, or few and no thread has room for them.

        Elements of few rows that are not long would be added up in memory of the grid, in any order.
        """
        found = super().chosen(part, lengths)
        short = bool(found.first) and math.prod(length_in(dim, lengths) for dim in found.first) <= NOT_LONG
        many = any(length_in(dim, lengths) > cls.side_by_side for dim in rows_behind(part.rows, found.first))
        if short or many:
            kernel = cls._planned(part, found, lengths)
            is_far = short and any(scatter.output in kernel.far for scatter in privatisable(kernel))
            if is_far or (many and not kernel.strips):
                return part.chosen(lengths, cls.widest)
        return found

    @classmethod
    def _planned(cls, part: Derived, chosen: Chosen, lengths: Mapping[str, int]) -> Kernel:
        return cls.sized(schedule(*part.with_chosen(chosen), leading=chosen.leading), lengths)

    @classmethod
    def sized(cls, kernel: Kernel, lengths: Mapping[str, int], few: Collection[str] = ()) -> Kernel:
        """A kernel with what is known of its lengths, and of the sums by index that blocks add up for themselves."""
        known = by_blocks(super().sized(kernel, lengths, few), lengths)
        known = known if known.by_block else in_parts(known, lengths, MOST_STORED)
        known = laid_out(with_common_values(known, lengths, MOST_STORED) if known.by_block else known, lengths)
        known = known if known.by_block else flattened(known, lengths)
        planned = of_blocks(known, lengths)
        known = with_deep_lanes(spread_rows(jammed_rows(jammed_chains(known, lengths), lengths), planned), planned)
        known = with_rows(known) if known.by_block else known
        return with_brief(with_room(replace(known, near=contended(known, lengths)), lengths), lengths)

    def compile(self, kernel: Kernel) -> CudaProgram:
        try:
            import cupy
        except ImportError as error:
            raise MissingToolchain(f"CuPy is not installed ({error}); {HOW}") from error
        digits = cupy.cuda.Device().compute_capability
        return CudaProgram(kernel, (int(digits[:-1]), int(digits[-1])))
