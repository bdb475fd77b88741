"""Machine code of modules of LLVM IR, made side by side.

llvmlite has one lock for all calls of LLVM.  What is of different contexts and target machines shares nothing, and the
passes and machine code of such modules are not behind it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from llvmlite import binding
from numba.core import config
from numba.core.llvm_bindings import create_pass_builder

from vecdist.runtime.cpu.processors import thread_count

NUMBA: Any = config  # whose names are set as it is loaded


def objects(codegen: Any, texts: Sequence[str], called: Sequence[str]) -> list[bytes]:
    """The object file of each module; all are linked with modules that they call."""
    return _side_by_side(partial(_made, codegen, called, is_object=True), texts)


def assembly(codegen: Any, texts: Sequence[str], called: Sequence[str]) -> str:
    """Modules as text."""
    found = _side_by_side(partial(_made, codegen, called, is_object=False), texts)
    return "\n".join(each.decode() for each in found)


def _side_by_side(make: Callable[[str], bytes], texts: Sequence[str]) -> list[bytes]:
    threads = min(len(texts), thread_count())
    if threads < 2:
        return [make(each) for each in texts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(make, texts))


def _unlocked(name: str) -> Callable[..., Any]:
    """A function of LLVM without llvmlite's lock, where that is known how to."""
    found: Any = getattr(binding.ffi.lib, name)
    return getattr(found, "_cfn", found)


def _made(codegen: Any, called: Sequence[str], text: str, is_object: bool) -> bytes:
    """The object file of a module, or the assembly."""
    with (
        binding.create_context() as context,
        _target_machine(codegen) as machine,
        binding.parse_assembly(text, context) as module,
    ):
        for each in called:
            module.link_in(binding.parse_assembly(each, context))
        _optimised(codegen, module, machine)
        return _emitted(module, machine, is_object)


def _target_machine(codegen: Any) -> Any:
    """A target machine as Numba's: one for each module, for it keeps what it finds out of functions."""
    options: dict[str, Any] = {"opt": NUMBA.OPT}
    codegen._customize_tm_options(options)
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(**options)


def _optimised(codegen: Any, module: Any, machine: Any) -> None:
    """Run the passes of Numba's over a module, but those over counts of references: cheap ones first."""
    first = create_pass_builder(machine, codegen._opt_level, codegen._loopvect, False)
    cheap = first.getModulePassManager()
    cheap.add_loop_rotate_pass()
    cheap.add_instruction_combine_pass()
    cheap.add_jump_threading_pass()
    second = create_pass_builder(machine, NUMBA.OPT, NUMBA.LOOP_VECTORIZE, NUMBA.SLP_VECTORIZE)
    full = second.getModulePassManager()
    run = _unlocked("LLVMPY_RunNewModulePassManager")
    for passes, builder in ((cheap, first), (full, second)):
        run(passes, module, builder)
        passes.close()
        builder.close()


def _emitted(module: Any, machine: Any, is_object: bool) -> bytes:
    lib = binding.ffi.lib
    with binding.ffi.OutputString() as error:
        buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, int(is_object), error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        return ctypes.string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)
