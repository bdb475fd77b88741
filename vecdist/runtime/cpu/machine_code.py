"""Machine code of modules of LLVM IR, made side by side, and while others are written.

llvmlite has one lock for all calls of LLVM.  What is of different contexts and target machines shares nothing, and the
passes and machine code of such modules are not behind it.  A thread that makes some asks Python for its turn no more
often than it must: the one that writes others takes long ones.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, final

from llvmlite import binding
from numba.core import config
from numba.core.llvm_bindings import create_pass_builder

from vecdist.runtime import compiler
from vecdist.runtime.cpu.processors import thread_count

NUMBA: Any = config  # whose names are set as it is loaded


@final
class Making:
    """Machine code of modules as it is made, by as many threads as there are processors."""

    def __init__(self, codegen: Any, is_object: bool) -> None:
        self.codegen, self.is_object = codegen, is_object
        self.crew = compiler.crew(thread_count())  # which starts as many as are wanted
        self.open = contextlib.ExitStack()
        self.waiting: list[Future[bytes]] = []

    def __enter__(self) -> Making:
        return self

    def __exit__(self, *error: object) -> None:
        self.crew.shutdown(cancel_futures=True)
        self.open.close()

    def take(self, text: str, libraries: Sequence[Any]) -> None:
        """A module of LLVM IR, and Numba's libraries of what it calls, which it is linked with."""
        context = self._kept(binding.create_context())
        machine = self._kept(_target_machine(self.codegen))
        module = self._kept(binding.parse_assembly(text, context))
        for each in dict.fromkeys(libraries):
            module.link_in(binding.parse_assembly(str(each._get_module_for_linking()), context))
        builders = [self._kept(each) for each in _builders(self.codegen, machine)]
        passes = [self._kept(each.getModulePassManager()) for each in builders]
        _add_cheap(passes[0])
        runs = [*zip(passes, builders, strict=True)]
        self.waiting.append(self.crew.submit(_made, module, runs, machine, self.is_object))

    def _kept(self, found: Any) -> Any:
        """Something of LLVM's, until all is made."""
        self.open.callback(found.close)
        return found

    def made(self) -> list[bytes]:
        """The object file of each, or its assembly."""
        return [each.result() for each in self.waiting]


def _target_machine(codegen: Any) -> Any:
    """A target machine as Numba's: one for each module, for it keeps what it finds out of functions."""
    options: dict[str, Any] = {"opt": NUMBA.OPT}
    codegen._customize_tm_options(options)
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(**options)


def _builders(codegen: Any, machine: Any) -> tuple[Any, Any]:
    """What Numba runs over a module, but for counts of references: cheap passes, and all."""
    cheap = create_pass_builder(machine, codegen._opt_level, codegen._loopvect, False)
    return cheap, create_pass_builder(machine, NUMBA.OPT, NUMBA.LOOP_VECTORIZE, NUMBA.SLP_VECTORIZE)


def _add_cheap(passes: Any) -> None:
    passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    passes.add_jump_threading_pass()


def _made(module: Any, runs: Sequence[tuple[Any, Any]], machine: Any, is_object: bool) -> bytes:
    """The object file of a module, or its assembly."""
    lib, error, run = binding.ffi.lib, binding.ffi.OutputString(), _unlocked("LLVMPY_RunNewModulePassManager")
    for passes, builder in runs:
        run(passes, module, builder)
    buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, int(is_object), error)
    if not buffer:
        raise RuntimeError(str(error))
    try:
        return ctypes.string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(name: str) -> Callable[..., Any]:
    """A function of LLVM without llvmlite's lock, where that is known how to."""
    found: Any = getattr(binding.ffi.lib, name)
    return getattr(found, "_cfn", found)
