"""Numba on the CPU."""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias, final

import numba
import numpy as np
from numba import types

from vecdist.codegen.common_values import with_common_values
from vecdist.codegen.cpu.collapsing import collapsed
from vecdist.codegen.cpu.own_sums import sums_of_all
from vecdist.codegen.cpu.parts import WIDE
from vecdist.codegen.cpu.render import render
from vecdist.codegen.cpu.row_sizes import marked, row_sizes
from vecdist.codegen.cpu.unrolling import UNROLLED
from vecdist.codegen.routines import Routine, Tables
from vecdist.codegen.source import Source
from vecdist.codegen.statements import PARTIAL
from vecdist.kernel.code import Function
from vecdist.kernel.ir import Kernel, Loop, Slot
from vecdist.passes.few_rows import SHARED, shared_rows
from vecdist.passes.order import Derived
from vecdist.passes.shared_reductions import shared_reductions
from vecdist.runtime import compiler, sources, turns, typed
from vecdist.runtime.base import Backend, Feed, Program, Runner, element_count, length_of
from vecdist.runtime.cpu import exported
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu.correlating import with_correlations
from vecdist.runtime.cpu.packing import Packed
from vecdist.runtime.cpu.pool import POOLED_FROM, Pool
from vecdist.runtime.cpu.threads import Pace, Threaded, Trial, block_size
from vecdist.runtime.outputs import fresh_or_given, given_back, written_as_run
from vecdist.runtime.typed import Exports, Written

Entries: TypeAlias = "Mapping[str, tuple[Any, Sequence[types.Type]]]"
MOST_STORED = 2**22  # bytes of what nests leave to each other, not to compute it again: as many as caches hold

_routines: dict[str, Any] = {}  # read once, for all kernels of the process


def _routine(routine: Routine) -> Written:
    """What kernels call."""
    if routine.name not in _routines:
        text = routine.module(cpu_language.__name__, "@merged")
        apart = routine.apart or routine.seldom
        make = partial(Written, merged=not apart, apart=apart)
        given = _meanings(routine.tables, routine.needs)
        module = sources.imported(_named(routine), text, (routine.function,), given, make)
        _routines[routine.name] = getattr(module, routine.name)
    return _routines[routine.name]


def _meanings(tables: Tables, routines: Sequence[Routine]) -> dict[str, Any]:
    return cpu_language.WORDS | dict(tables) | {each.name: _routine(each) for each in routines}


def _named(source: Source | Routine) -> str:
    return f"{source.name}_{cpu_language.VERSION}"


def _compiled(function: Function, names: Mapping[str, Any]) -> Any:
    return cpu_language.compiled(Written(function, names))


@contextlib.contextmanager
def _compiling(source: Source) -> Iterator[ModuleType]:
    """The module of a kernel, while functions of it are compiled."""
    given = _meanings(source.tables, source.routines)
    module = sources.imported(_named(source), source.text, source.functions, given, _compiled)
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
        self.pace: Pace = Pace()
        own = _part_signature(kernel, self.signature)
        with _compiling(source) as module:
            self.address, *found = _compile_once(module, *self.entries(module))
        self.serial: Packed = Packed(self.address, self.signature)
        self.part: Packed | None = Packed(found[0], own) if found else None

    def __reduce__(self) -> tuple[Any, ...]:
        return CpuProgram, (self.source,)

    def entries(self, module: ModuleType) -> tuple[Entries, dict[str, types.Type]]:
        """What C calls, with its types, and the last arguments of these, which all functions of the module share."""
        found: dict[str, tuple[Any, Sequence[types.Type]]] = {"whole": (module.kernel.written, self.signature)}
        if self.source.kernel.nests():
            found["part"] = module.part.written, _part_signature(self.source.kernel, self.signature)
        return found, dict(zip(module.kernel.written.function.parameters, self.signature, strict=True))

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """The launch as a Python function of its own, so that a small model is called in next to no time."""
        kernel = self.source.kernel
        alone = self.serial.at([lengths[name] for name in self.lengths])
        launch = Trial(alone, lambda: self.threaded(lengths), self.work(lengths), self.pace)
        names: dict[str, Any] = {"launch": launch, "empty": np.empty, "zeros": np.zeros, "int64": np.int64}
        names |= {"making": turns.making, "give_way": turns.give_way}
        arguments, fresh, given, results, used = [], [], [], [], []
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
            taken = f"t{number}.buffer" if output.temporary else f"t{number}"
            fresh.append(f"o{number} = {taken}()" if large else f"o{number} = empty(c{number}, t{number})")
            used += [f"    t{number}.give_back(o{number})"] if large and output.temporary else []
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
        lines += [f"    launch.run({', '.join(arguments)})", *used, "    if making: give_way()"]
        lines.append(given_back(results, "flag[0] != 0" if kernel.flagged else "False"))
        return written_as_run(lines, names)

    def threaded(self, lengths: Mapping[str, int]) -> Threaded:
        """The kernel at these lengths, shared by threads."""
        assert self.part is not None, "what has no loops has nothing to share"
        return Threaded(self.source.kernel, self.part, lengths)

    def work(self, lengths: Mapping[str, int]) -> int:
        """The number of statements that a run executes, roughly; none, where no two threads could share them."""
        nests = [loop for _, loop in self.source.kernel.nests()]
        if all(length_of(loop.dim, lengths) <= block_size(loop, lengths) for loop in nests):
            return 0
        each = ((count, [length_of(dim, lengths) for dim in dims]) for dims, count in self.statements)
        return sum(math.prod(found, start=count) for count, found in each)

    def resources(self) -> dict[str, Any]:
        assembly = self.assembly()
        packed = re.findall(r"%([xyz])mm", assembly)
        widest = max(packed, default="-")
        return {"vector registers": {"x": "128 bit", "y": "256 bit", "z": "512 bit"}.get(widest, "none")}

    def assembly(self) -> str:
        """The machine code of the kernel, as text."""
        with _compiling(self.source) as module, compiler.alone():
            sources.known(module)
            return exported.assembly(*_exports(module, *self.entries(module)))


def _compile_once(module: ModuleType, entries: Entries, shared: Mapping[str, types.Type]) -> list[int]:
    """Compile what a module exports, or load what was compiled: where each of these functions lies."""
    with compiler.alone():
        sources.known(module)  # where another thread has forgotten its own, of the same source
        exports, mark = _exports(module, entries, shared)
        return exported.addresses(exports, compiler.CodeCache(mark, cpu_language.VERSION))


def _exports(module: ModuleType, entries: Entries, shared: Mapping[str, types.Type]) -> tuple[Exports, str]:
    """What C calls of a module, and what this is known by, which says the types that its text does not."""
    kinds = str([(name, list(kinds)) for name, (_, kinds) in entries.items()])
    mark = f"{module.__name__}_{hashlib.sha256(kinds.encode()).hexdigest()[:12]}"
    functions = {f"{mark}_{name}": entry for name, entry in entries.items()}
    return Exports(functions, module.kernel.written.names, shared), mark


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
    """The argument types; arrays in one piece are given by their addresses alone."""
    result: list[types.Type] = []
    for slot in kernel.slots:
        scalar = numba.from_dtype(slot.dtype)
        if slot.layout == "number":
            result.append(scalar)
        elif slot.layout == "dense":
            result.append(types.CPointer(scalar))
        else:
            result.append(types.Array(scalar, len(slot.shape), "A", readonly=True))
    for output in kernel.outputs:
        scalar = numba.from_dtype(output.dtype)
        result.append(types.Array(scalar, 1, "C") if output.summed else types.CPointer(scalar))
    if kernel.flagged:
        result.append(types.Array(types.int64, 1, "C"))
    return (*result, *(types.int64 for _ in kernel.lengths))


def _part_signature(kernel: Kernel, signature: tuple[types.Type, ...]) -> tuple[types.Type, ...]:
    """The argument types of a kernel's parts."""
    sums = [PARTIAL[item.dtype.kind] for _, loop in kernel.nests() for item in loop.sums(kernel.root)]
    rows = [PARTIAL[kernel.outputs[number].dtype.kind] for number in sums_of_all(kernel)]
    arrays = [types.Array(numba.from_dtype(np.dtype(each)), 1, "C") for each in (*sums, *rows, *WIDE.values())]
    return (*[types.int64] * 3, *arrays, *signature)


@final
class Cpu(Backend):
    """Compiles with Numba; what was compiled is kept on disk and found again by other processes."""

    name = "cpu"
    nests = (*Backend.nests, collapsed, marked)  # for all threads to share
    fixed = 64  # the compiler writes short rows out, with the rows beside each other in its vectors
    fixed_from = 2**18
    fixed_behind = UNROLLED
    in_steps = staticmethod(shared_reductions)
    side_by_side = SHARED
    beside = staticmethod(shared_rows)

    @classmethod
    def called(cls, found: Derived, _lengths: Mapping[str, int]) -> Derived:
        return with_correlations(found, _lengths)

    @classmethod
    def sized(cls, kernel: Kernel, lengths: Mapping[str, int], few: Collection[str] = ()) -> Kernel:
        known = with_common_values(super().sized(kernel, lengths, few), lengths, MOST_STORED)
        return replace(known, sizes=row_sizes(known, lengths))

    def compile(self, kernel: Kernel) -> CpuProgram:
        return CpuProgram(render(kernel))
