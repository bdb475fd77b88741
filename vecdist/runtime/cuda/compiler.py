"""The one place that knows numba-cuda: from generated source to a cubin, without needing a GPU.

Numba compiles to LTO-IR, and nvJitLink links that to machine code: fewer registers than by way of PTX, and no
dependence on the PTX version that a driver accepts.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numba
import numpy as np
from numba import types

from vecdist.codegen.collapsing import has_pieces
from vecdist.codegen.cuda.grid import THREADS, Grid
from vecdist.codegen.cuda.launch import workspace
from vecdist.codegen.routines import Routine
from vecdist.kernel.ir import Kernel, Slot
from vecdist.runtime.intrinsics import called_by_numba, emitter
from vecdist.runtime.typed import Written


class MissingToolchain(ImportError):
    """The CUDA toolchain is not installed, or not usable."""


def _import_cuda() -> Any:
    """``numba.cuda``; numba-cuda 0.30 asks NumPy for ``row_stack``, and warns of what NumPy 2.5 deprecates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if hasattr(np, "row_stack"):
            return importlib.import_module("numba.cuda")
        np.row_stack = np.vstack  # type: ignore[attr-defined]
        try:
            importlib.import_module("numba.cuda.np.arrayobj")
        except ModuleNotFoundError:
            pass  # the simulator, and the CUDA target inside Numba itself, have no such module
        finally:
            del np.row_stack  # type: ignore[attr-defined]
        return importlib.import_module("numba.cuda")


cuda: Any = _import_cuda()


TOOLCHAIN = (
    "numba-cuda", "cuda-core", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-nvjitlink-cu12", "nvidia-cuda-nvcc-cu12",
)


def versions() -> dict[str, str]:
    """The versions of everything that shapes a cubin."""
    found = {"numba": numba.__version__}
    for name in TOOLCHAIN:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


BLOCKS = 2  # of a multiprocessor at least, at 128 registers a thread: with one, half of the time nobody has work to do
MANY = 4  # of one that goes through pieces of rows, of which there are as many as threads that run then


def compile_kernel(written: Written, name: str, kernel: Kernel, capability: tuple[int, int]) -> bytes:
    """The LTO-IR of a kernel for one compute capability; ``MissingToolchain`` where numba-cuda is not there."""
    blocks = MANY if any(has_pieces(loop) for _, loop in kernel.shared_nests()) else BLOCKS
    return _compiled(written, signature(kernel), name, capability, device=False, launch_bounds=(THREADS, blocks))


def compile_written(written: Written, given: Any, name: str, capability: tuple[int, int], threads: int) -> bytes:
    """The LTO-IR of a kernel for blocks of so many threads that takes arguments of these types."""
    return _compiled(written, given, name, capability, device=False, launch_bounds=(threads, 1))


def compile_routine(written: Written, routine: Routine, capability: tuple[int, int]) -> bytes:
    """The LTO-IR of a function that kernels call."""
    return _compiled(written, _routine_signature(routine), routine.name, capability, device=True)


def _compiled(written: Written, given: Any, name: str, capability: tuple[int, int], **options: Any) -> bytes:
    if not hasattr(cuda, "compile") or cuda.compile is None:
        raise MissingToolchain(f"numba-cuda is not installed; {HOW}")
    told = {"cc": capability, "output": "ltoir", "abi": "numba", "abi_info": {"abi_name": name}}
    return cuda.compile(called_by_numba(written, emitted()), given, **told, **options)[0]


@functools.cache
def emitted() -> Any:
    """The intrinsic of generated code."""
    return emitter(intrinsic())


def intrinsic() -> Any:
    """The decorator of intrinsics."""
    from numba.cuda import extending

    return extending.intrinsic


def link(codes: Sequence[bytes], capability: tuple[int, int]) -> bytes:
    """The machine code of a kernel and of what it calls; ``MissingToolchain`` where nvJitLink is not there."""
    try:
        from cuda.core import Linker, LinkerOptions, ObjectCode  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError as error:
        raise MissingToolchain(f"cuda-core is not installed ({error}); {HOW}") from error
    options = LinkerOptions(arch=f"sm_{capability[0]}{capability[1]}", link_time_optimization=True)
    return Linker(*map(ObjectCode.from_ltoir, codes), options=options).link("cubin").code


@functools.cache
def declared(routine: Routine) -> Any:
    """What stands for a function in the source that calls it: its code comes when the kernel is linked."""
    return cuda.declare_device(routine.name, _routine_signature(routine))


def _routine_signature(routine: Routine) -> Any:
    parameters = [numba.from_dtype(np.dtype(name)) for name in routine.parameters]
    results = [numba.from_dtype(np.dtype(name)) for name in routine.results]
    return (types.Tuple(results) if len(results) > 1 else results[0])(*parameters)


HOW = 'install the CUDA extra: pip install "vecdist[cuda13]" (or "vecdist[cuda12]" for a CUDA 12 driver)'


WORKSPACE: Any = {
    "partials": types.CPointer(types.float64),
    "sums": types.Array(types.float64, 1, "C"),  # atomics want arrays
    "arrivals": types.Array(types.int32, 1, "C"),
    "lanes": types.int64,
    "cut": types.int64,
    "spread": types.int64,
}


def signature(kernel: Kernel) -> tuple[types.Type, ...]:
    """The types of a kernel's arguments: pointers and numbers, so that a launch passes nothing else."""
    result: list[types.Type] = []
    for slot in kernel.slots:
        result += slot_types(slot)
    result += [
        types.CPointer(types.uint8 if o.dtype.kind == "b" else numba.from_dtype(o.dtype)) for o in kernel.outputs
    ]
    result += [types.CPointer(types.int64)] if kernel.flagged else []
    result += [types.int64] * len(kernel.lengths)
    return (*result, *(WORKSPACE[name.partition("_")[0]] for name in workspace(Grid(kernel))))


def slot_types(slot: Slot) -> list[types.Type]:
    """The types of the arguments that fill a slot: a number, or a pointer and the strides of what is not dense."""
    if slot.layout == "number":
        return [numba.from_dtype(slot.dtype)]
    strides = len(slot.axes) if slot.layout == "strided" else 0
    scalar = types.uint8 if slot.dtype.kind == "b" else numba.from_dtype(slot.dtype)
    return [types.CPointer(scalar), *[types.int64] * strides]


def registers(cubin: bytes) -> int | None:
    """The registers of a thread, as the linker wrote them into the cubin: ``.nv.info`` attribute REGCOUNT (0x2f)."""
    found = re.search(rb"\x04\x2f\x08\x00(....)(....)", cubin, re.DOTALL)
    return int.from_bytes(found[2], "little") if found else None


