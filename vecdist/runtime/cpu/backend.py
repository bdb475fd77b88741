"""Numba on the CPU."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, final

import numba
import numpy as np
from numba import types

from vecdist.codegen.cpu.render import needed_later, render
from vecdist.codegen.routines import Routine
from vecdist.codegen.source import Source
from vecdist.codegen.statements import PARTIAL
from vecdist.graph.memo import Memo
from vecdist.kernel.ir import Kernel, Loop, Slot
from vecdist.runtime import compiler, sources, typed
from vecdist.runtime.base import Backend, Feed, Program, Runner, element_count, length_of
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu.pool import POOLED_FROM, Pool
from vecdist.runtime.cpu.threads import Pace, Threaded, Trial
from vecdist.runtime.outputs import fresh_or_given, written_as_run

_routines: dict[str, Any] = {}  # read once, for all kernels of the process


def _imported(name: str, text: str, routines: Sequence[Routine]) -> ModuleType:
    """The module of a source, with the functions that it calls."""
    for routine in routines:
        if routine.name not in _routines:
            source = routine.module(cpu_language.__name__, "@merged")
            _routines[routine.name] = getattr(_imported(routine.name, source, routine.needs), routine.name)
    given = {each.name: _routines[each.name] for each in routines}
    return sources.imported(f"{name}_{cpu_language.VERSION}", text, given)


@contextlib.contextmanager
def _compiling(source: Source) -> Iterator[ModuleType]:
    """The module of a kernel, while functions of it are compiled."""
    module = _imported(source.name, source.text, source.routines)
    try:
        yield module
    finally:
        typed.forget(vars(module))
        sources.forget(module)


@final
class CpuProgram(Program):
    """A kernel compiled by Numba: run by one thread where it is short, over blocks by many where it is long."""

    def __init__(self, source: Source) -> None:
        self.source = source
        kernel = source.kernel
        self.slots: tuple[Slot, ...] = kernel.slots
        self.lengths: tuple[str, ...] = kernel.lengths
        self.statements = [found for _, loop in kernel.nests() for found in _statements(loop)]
        self.signature: tuple[Any, ...] = _signature(kernel)
        with _compiling(source) as module:
            self.serial: Callable[..., None] = module.kernel
            self.address: int | None = _compile_once(module, self.serial, self.signature)
        self.pace: Pace = Pace()
        self._pieces: Memo[tuple[Any, list[Any], Any]] = Memo()

    def __reduce__(self) -> tuple[Any, ...]:
        return CpuProgram, (self.source,)

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """The launch as a Python function of its own, so that a small model is called in next to no time."""
        kernel = self.source.kernel
        launch = Trial(self.serial, lambda: Threaded(kernel, self.pieces, lengths), self.work(lengths), self.pace)
        names: dict[str, Any] = {"launch": launch, "empty": np.empty, "zeros": np.zeros, "int64": np.int64}
        arguments, fresh, given, results = [], [], [], []
        for slot in self.slots:
            feed = feeds[slot.index]
            text = f"x{slot.index}" if feed.place is None else f"arrays[{feed.place}]"
            names |= {text: feed.array} if feed.place is None else {}
            arguments.append(f"{text}.reshape(-1)" if slot.layout == "dense" and feed.array.ndim != 1 else text)
        wanted = iter(shapes)
        for number, output in enumerate(kernel.outputs):
            count = names[f"c{number}"] = element_count(output.shape, lengths)
            large = pooled and count * output.dtype.itemsize >= POOLED_FROM
            names[f"t{number}"] = Pool(count, output.dtype) if large else output.dtype
            fresh.append(f"o{number} = t{number}()" if large else f"o{number} = empty(c{number}, t{number})")
            given.append(fresh[-1] if output.temporary else f"o{number} = out[{len(results)}].reshape(-1)")
            arguments.append(f"o{number}")
            if not output.temporary:
                shape = names[f"r{number}"] = tuple(next(wanted))
                results.append(_shaped(f"o{number}", f"r{number}", len(shape)))
        lines = fresh_or_given(fresh, given)
        if kernel.flagged:
            lines.append("    flag = zeros(1, int64)")
            arguments.append("flag")
        names |= {name: lengths[name] for name in self.lengths}
        arguments += self.lengths
        lines.append(f"    launch.run({', '.join(arguments)})")
        lines.append(f"    return ({', '.join(results)},), {'flag[0] != 0' if kernel.flagged else False}")
        return written_as_run(lines, names)

    def work(self, lengths: Mapping[str, int]) -> int:
        """The number of statements that a run executes, roughly."""
        each = ((count, [length_of(dim, lengths) for dim in dims]) for dims, count in self.statements)
        return sum(math.prod(found, start=count) for count, found in each)

    @property
    def pieces(self) -> tuple[Any, list[Any], Any]:
        """The functions that threads run, compiled for the very types that the serial kernel calls them with."""
        return self._pieces((), self._compile_pieces)

    def _compile_pieces(self) -> tuple[Any, list[Any], Any]:
        with _compiling(self.source) as module:
            return self._compiled_pieces(module)

    def _compiled_pieces(self, module: ModuleType) -> tuple[Any, list[Any], Any]:
        kernel = self.source.kernel
        hoisted = [numba.from_dtype(dtype) for dtype in needed_later(kernel).values()]
        partials: list[types.Type] = []
        nests = []
        _compile_once(module, module.prelude, self.signature)
        for number, (_, loop) in enumerate(kernel.nests()):
            sums = loop.sums(kernel.root)
            partials += [types.Array(numba.from_dtype(np.dtype(PARTIAL[s.dtype.kind])), 1, "C") for s in sums]
            own = [kernel.outputs[output].dtype.kind for output in loop.scatters()]
            rows = [types.Array(numba.from_dtype(np.dtype(PARTIAL[kind])), 1, "C") for kind in own]
            nests.append(getattr(module, f"nest{number}"))
            given = (*partials, *rows, *hoisted, *self.signature)
            _compile_once(module, nests[-1], (types.int64, types.int64, *given))
        _compile_once(module, module.finish, (*partials, *hoisted, *self.signature))
        return module.prelude, nests, module.finish

    def resources(self) -> dict[str, Any]:
        assembly = self.assembly()
        packed = re.findall(r"%([xyz])mm", assembly)
        widest = max(packed, default="-")
        return {"vector registers": {"x": "128 bit", "y": "256 bit", "z": "512 bit"}.get(widest, "none")}

    def assembly(self) -> str:
        """The machine code of the kernel, as text."""
        with _compiling(self.source) as module, compiler.alone():
            fresh = numba.njit(nogil=True, fastmath={"contract"}, error_model="numpy")(module.kernel.py_func)
            fresh.compile(self.signature)
            return "\n".join(fresh.inspect_asm().values())


def _compile_once(module: ModuleType, function: Any, signature: tuple[types.Type, ...]) -> int | None:
    """Compile for these types, or load what was compiled; other arguments are converted, never compiled for.

    The address of the machine code, by Numba's conventions for calls; ``None`` where there is none.
    """
    with compiler.alone():
        sources.known(module)  # where another thread has forgotten its own, of the same source
        function.compile(signature)
        function.disable_compile()
        compiled = getattr(function, "overloads", {}).get(signature)
        address = compiled and compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        compiler.release(function)
    return address


def _statements(loop: Loop, outer: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    """The lengths of loops around each other, and how many statements stand in the innermost."""
    dims = (*outer, loop.dim)
    yield dims, sum(not isinstance(item, Loop) for _, item in loop.body.items)
    for inner in loop.body.every_loop():
        yield from _statements(inner, dims)


def _shaped(name: str, shape: str, axes: int) -> str:
    """The text of a flat output with its shape; a scalar where that has no axes, as NumPy gives it."""
    return f"{name}[0]" if not axes else name if axes == 1 else f"{name}.reshape({shape})"


def _signature(kernel: Kernel) -> tuple[types.Type, ...]:
    """The argument types; inputs are read-only, which arrays of both kinds satisfy."""
    result: list[types.Type] = []
    for slot in kernel.slots:
        scalar = numba.from_dtype(slot.dtype)
        if slot.layout == "number":
            result.append(scalar)
        elif slot.layout == "dense":
            result.append(types.Array(scalar, 1, "C", readonly=True))
        else:
            result.append(types.Array(scalar, len(slot.shape), "A", readonly=True))
    for output in kernel.outputs:
        result.append(types.Array(numba.from_dtype(output.dtype), 1, "C"))
    if kernel.flagged:
        result.append(types.Array(types.int64, 1, "C"))
    return (*result, *(types.int64 for _ in kernel.lengths))


@final
class Cpu(Backend):
    """Compiles with Numba; what was compiled is kept on disk and found again by other processes."""

    name = "cpu"
    fixed = 64  # the compiler writes short rows out, with the rows beside each other in its vectors
    fixed_from = 2**18

    def compile(self, kernel: Kernel) -> CpuProgram:
        return CpuProgram(render(kernel))
