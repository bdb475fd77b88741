"""Machine code that is called with words, by Python and by C: compiled once an installation (``call_loops.py``).

Numba's own wrappers take each array of each kernel apart in a dozen basic blocks, which took LLVM a third of the time
of most kernels, and minutes for a thousand arrays.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from vecdist.codegen import frontend
from vecdist.kernel.code import specialised
from vecdist.kernel.expressions import Constant, Expr, Name
from vecdist.runtime import compiler
from vecdist.runtime.cpu import call_loops, language
from vecdist.runtime.intrinsics import called_by_numba
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Written

BYTE, WORD, DOUBLE = ir.IntType(8), ir.IntType(64), ir.DoubleType()
FUNCTIONS = ("lost", "run", "entry", "launch")
TEXT = b"".join(Path(str(file)).read_bytes() for file in (__file__, call_loops.__file__))
VERSION = hashlib.sha256(TEXT + language.VERSION.encode()).hexdigest()[:12]


def _at(builder: ir.IRBuilder, kind: Any, address: Any, place: Any) -> Any:
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [place])


def _word(name: str, count: int, result: Any, code: Callable[[Any, ir.IRBuilder, Any], Any]) -> Any:
    """A word of so many numbers."""

    def codegen(context, builder, signature, values):
        return code(context, builder, values) if result is not types.none else _nothing(context, builder, values)

    def _nothing(context, builder, values):
        code(context, builder, values)
        return context.get_dummy_value()

    arguments = [f"a{place}" for place in range(count)]
    kinds = (types.intp,) * count
    told: dict[str, Any] = {"signature": result(*kinds), "codegen": codegen}
    exec(f"def {name}(typing, {', '.join(arguments)}):\n    return signature, codegen", told)
    return intrinsic(told[name])


@intrinsic
def _put_float(typing, address, place, value):
    def codegen(context, builder, signature, values):
        builder.store(builder.fpext(values[2], DOUBLE), _at(builder, DOUBLE, *values[:2]))
        return context.get_dummy_value()

    return types.none(types.intp, types.intp, types.float32), codegen


def _copied(context: Any, builder: ir.IRBuilder, values: Any) -> None:
    own, other = (builder.inttoptr(each, WORD.as_pointer()) for each in values[:2])
    cgutils.raw_memcpy(builder, own, other, values[2], WORD(8))


def _called(context: Any, builder: ir.IRBuilder, values: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [WORD.as_pointer()])
    words = builder.inttoptr(values[1], WORD.as_pointer())
    builder.call(builder.inttoptr(values[0], kind.as_pointer()), [words])


def _reserved(context: Any, builder: ir.IRBuilder, values: Any) -> Any:
    return builder.ptrtoint(context.nrt.allocate(builder, builder.add(values[0], WORD(call_loops.LINE))), WORD)


WORDS: dict[str, Any] = {
    "word": _word("word", 2, types.intp, lambda context, b, v: b.load(_at(b, WORD, *v))),
    "number": _word("number", 2, types.float64, lambda context, b, v: b.load(_at(b, DOUBLE, *v))),
    "single": _word("single", 2, types.float32, lambda context, b, v: b.load(_at(b, ir.FloatType(), *v))),
    "put_float": _put_float,
    "put": _word("put", 3, types.none, lambda context, b, v: b.store(v[2], _at(b, WORD, *v[:2]))),
    "stack": _word("stack", 1, types.intp, lambda context, b, v: b.ptrtoint(b.alloca(WORD, v[0]), WORD)),
    "copied": _word("copied", 3, types.none, _copied),
    "called": _word("called", 2, types.none, _called),
    "reserved": _word("reserved", 1, types.intp, _reserved),
    "released": _word(
        "released", 1, types.none, lambda context, b, v: context.nrt.free(b, b.inttoptr(v[0], BYTE.as_pointer()))
    ),
}
"""What ``call_loops.py`` is written in: memory at addresses, and calls."""


@Once
def _written() -> dict[str, Any]:
    known: dict[Expr, Expr] = {
        Name(name): Constant(value) for name, value in vars(call_loops).items() if isinstance(value, int)
    }
    names: dict[str, Any] = {"__name__": __name__, **WORDS}
    for each in FUNCTIONS:
        names[each] = Written(specialised(frontend.function(getattr(call_loops, each)), known), names)
    return names


@Once
def launch() -> Callable[[int, int, int, int, int], int]:
    """``call_loops.launch``, which lets other threads of Python run meanwhile."""
    made: Any = language.compiled(_written()["launch"], VERSION)
    with compiler.alone():
        made.compile((types.intp,) * 5)
        made.disable_compile()
        compiler.release(made)
    return made


@Once
def entry() -> int:
    """Where ``call_loops.entry`` lies, for C."""
    caller = called_by_numba(_written()["entry"], language.emitted)
    made = compiler.c_function(types.int32(*(types.intp,) * 5), caller, compiler.CodeCache.of(caller, VERSION))
    _kept.append(made)
    return made.address


_kept: list[Any] = []  # what C code calls, and does not hold
