"""Functions for C: Numba's code generator without its front end, which would find nothing in them.

What they are called with are words (``runtime/exports.py``), so that they want none of Numba's wrappers either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import binding
from numba.core import fastmathpass
from numba.core.callconv import create_error_model
from numba.core.cpu_options import FastMathOptions
from numba.core.registry import cpu_target

from vecdist.runtime import emission
from vecdist.runtime.compiler import CodeCache, drop_llvm
from vecdist.runtime.typed import Exports

CONTRACTED = FastMathOptions({"contract"})
LSR, KNOWING = "-disable-lsr", range(20, 23)  # and the versions of LLVM that have it: others end the process
LONG = 3000  # instructions of a module, up to which it is a short one


def _context() -> Any:
    """What Numba compiles for the CPU in, which is long in loading."""
    return cpu_target.target_context


def addresses(exports: Exports, cache: CodeCache) -> list[int]:
    """Where functions lie: compiled, or loaded where they were; while no other thread compiles."""
    codegen = _context().codegen()
    library = codegen.create_library(cache.name)
    library.enable_object_caching()
    code = cache.read("", codegen)
    if code is None:
        with _without_lsr(_emit(exports, library)):
            library.finalize()
        if not library.has_dynamic_globals:
            cache.write("", codegen, library._get_compiled_object())
    else:
        library._set_compiled_object(code)
        library._finalize_final_module()
    found = [codegen._engine._ee.get_function_address(symbol) for symbol in exports.functions]
    drop_llvm(library)
    return found


def assembly(exports: Exports, name: str) -> str:
    """The machine code of functions, as text."""
    codegen = _context().codegen()
    library = codegen.create_library(name)
    instructions = _emit(exports, library)
    library._optimize_final_module()
    with _without_lsr(instructions):
        return codegen._tm.emit_assembly(library._final_module)


@contextlib.contextmanager
def _without_lsr(instructions: int) -> Iterator[None]:
    """No loop strength reduction: half of what it takes to make machine code of long modules, which gain nothing by it.

    Short ones may, where loops go through memory in strides, and take little time.  The option is the process's, and is
    set only as long as no other thread compiles.
    """
    left_out = instructions > LONG and binding.llvm_version_info[0] in KNOWING
    if left_out:
        binding.set_option("vecdist", f"{LSR}=true")
    try:
        yield
    finally:
        if left_out:
            binding.set_option("vecdist", f"{LSR}=false")


def _emit(exports: Exports, library: Any) -> int:
    """The LLVM IR of functions, in the module of a library; how many instructions these are."""
    context = _context()
    context.typing_context.refresh()
    context.refresh()
    model = create_error_model("numpy", context)
    target = context.subtarget(error_model=model, fastmath=CONTRACTED, enable_nrt=True)
    module = library.create_ir_module(library.name)
    with target.push_code_library(library):
        emission.export(target, module, exports)
    fastmathpass.rewrite_module(module, CONTRACTED)
    library.add_ir_module(module)
    return sum(len(block.instructions) for function in module.functions for block in function.blocks)
