"""Functions for C: Numba's code generator without its front end, which would find nothing in them.

What they are called with are words (``runtime/exports.py``), so that they want none of Numba's wrappers either.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

from llvmlite import binding
from numba.core.callconv import create_error_model
from numba.core.registry import cpu_target

from vecdist.runtime import emission
from vecdist.runtime.compiler import CodeCache
from vecdist.runtime.cpu import machine_code
from vecdist.runtime.cpu.codegen_units import CONTRACTED, Units
from vecdist.runtime.modules import statements
from vecdist.runtime.typed import Exports

LSR, KNOWING = "-disable-lsr", range(20, 23)  # and the versions of LLVM that have it: others end the process
LONG = 600  # statements of a module, up to which it is a short one


def _context() -> Any:
    """What Numba compiles for the CPU in, which is long in loading."""
    return cpu_target.target_context


def addresses(exports: Exports, cache: CodeCache) -> list[int]:
    """Where functions lie: compiled, or loaded where they were; while no other thread compiles."""
    codegen = _context().codegen()
    content = cache.read("", codegen)
    if content is None:
        found = _compiled(codegen, exports, cache.name, True)
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
    return "\n".join(each.decode() for each in _compiled(_context().codegen(), exports, name, False))


def _compiled(codegen: Any, exports: Exports, name: str, is_object: bool) -> list[bytes]:
    """The object files of functions, or the assembly: made while others are written."""
    library, context = codegen.create_library(name), _context()
    context.typing_context.refresh()
    context.refresh()
    model = create_error_model("numpy", context)
    target = context.subtarget(error_model=model, fastmath=CONTRACTED, enable_nrt=True)
    module, found = library.create_ir_module(name), exports.typed(target.typing_context)
    with _without_lsr(statements(found.values())), machine_code.Making(codegen, is_object) as making:
        units = Units(module, lambda text: making.take(text, library._linking_libraries))
        with target.push_code_library(library):
            emission.export(target, module, exports, found, units.own)
        units.rest()
        return making.made()


@contextlib.contextmanager
def _without_lsr(count: int) -> Iterator[None]:
    """No loop strength reduction: half of what it takes to make machine code of long modules, which gain nothing by it.

    Short ones may, where loops go through memory in strides, and take little time.  The option is the process's, and is
    set only as long as no other thread compiles.
    """
    left_out = count > LONG and binding.llvm_version_info[0] in KNOWING
    if left_out:
        binding.set_option("vecdist", f"{LSR}=true")
    try:
        yield
    finally:
        if left_out:
            binding.set_option("vecdist", f"{LSR}=false")
