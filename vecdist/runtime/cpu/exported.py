"""Functions for C: Numba's code generator without its front end, which would find nothing in them.

What they are called with are words (``runtime/exports.py``), so that they want none of Numba's wrappers either.
"""

from __future__ import annotations

from typing import Any

from numba.core import fastmathpass
from numba.core.callconv import create_error_model
from numba.core.cpu_options import FastMathOptions
from numba.core.registry import cpu_target

from vecdist.runtime import emission
from vecdist.runtime.compiler import CodeCache, drop_llvm
from vecdist.runtime.typed import Written

CONTRACTED = FastMathOptions({"contract"})


def _context() -> Any:
    """What Numba compiles for the CPU in, which is long in loading."""
    return cpu_target.target_context


def addresses(written: Written, cache: CodeCache) -> list[int]:
    """Where the functions lie that one exports: compiled, or loaded where they were; while no other thread compiles."""
    codegen = _context().codegen()
    library = codegen.create_library(cache.name)
    library.enable_object_caching()
    code = cache.read("", codegen)
    if code is None:
        _emit(written, library)
        library.finalize()
        if not library.has_dynamic_globals:
            cache.write("", codegen, library._get_compiled_object())
    else:
        library._set_compiled_object(code)
        library._finalize_final_module()
    found = [codegen._engine._ee.get_function_address(symbol) for symbol in written.exports]
    drop_llvm(library)
    return found


def _emit(written: Written, library: Any) -> None:
    """The LLVM IR of what a function exports, in the module of a library."""
    context, typing = _context(), _context().typing_context
    typing.refresh()
    context.refresh()
    model = create_error_model("numpy", context)
    target = context.subtarget(error_model=model, fastmath=CONTRACTED, enable_nrt=True)
    written.typed(typing, ())
    module = library.create_ir_module(library.name)
    with target.push_code_library(library):
        emission.export(target, module, written)
    fastmathpass.rewrite_module(module, CONTRACTED)
    library.add_ir_module(module)
