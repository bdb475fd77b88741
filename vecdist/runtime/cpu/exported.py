"""Functions for C: Numba's code generator without its front end, which would find nothing in them.

What they are called with are words (``runtime/exports.py``), so that they want none of Numba's wrappers either.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

from llvmlite import binding, ir
from numba.core import fastmathpass
from numba.core.callconv import create_error_model
from numba.core.cpu_options import FastMathOptions
from numba.core.registry import cpu_target

from vecdist.runtime import emission
from vecdist.runtime.compiler import CodeCache
from vecdist.runtime.cpu import machine_code
from vecdist.runtime.cpu.codegen_units import length, units
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
    content = cache.read("", codegen)
    if content is None:
        with _emitted(codegen, exports, cache.name) as modules:
            found = machine_code.objects(codegen, *modules)
        cache.write("", codegen, pickle.dumps(found))
    else:
        found = pickle.loads(content)
    engine = codegen._engine._ee
    for each in found:
        engine.add_object_file(binding.ObjectFileRef.from_data(each))
    engine.finalize_object()
    return [engine.get_function_address(symbol) for symbol in exports.functions]


def assembly(exports: Exports, name: str) -> str:
    """The machine code of functions, as text."""
    codegen = _context().codegen()
    with _emitted(codegen, exports, name) as modules:
        return machine_code.assembly(codegen, *modules)


@contextlib.contextmanager
def _emitted(codegen: Any, exports: Exports, name: str) -> Iterator[tuple[list[str], list[str]]]:
    """The LLVM IR of functions in units, and of what Numba's code generator calls, while options of LLVM are theirs."""
    library, context = codegen.create_library(name), _context()
    context.typing_context.refresh()
    context.refresh()
    model = create_error_model("numpy", context)
    target = context.subtarget(error_model=model, fastmath=CONTRACTED, enable_nrt=True)
    module: ir.Module = library.create_ir_module(name)
    with target.push_code_library(library):
        emission.export(target, module, exports)
    fastmathpass.rewrite_module(module, CONTRACTED)
    called = [str(each._get_module_for_linking()) for each in dict.fromkeys(library._linking_libraries)]
    with _without_lsr(sum(map(length, module.functions))):
        yield units(module), called


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
