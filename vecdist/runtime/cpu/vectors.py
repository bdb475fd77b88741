"""Numbers of several matrices side by side: a type of Numba's that is a vector of LLVM's, with its arithmetic.

So loops over rows and columns compute for as many matrices as a vector has lanes, and nothing is left to be found by a
vectoriser, which cannot see that rows of one array do not overlap.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, final

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.extending import intrinsic, lower_builtin, register_model
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

INDEX = ir.IntType(32)


@final
class Lanes(types.Type):
    """So many floats."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@final
@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(manager[kind.dtype].get_value_type(), kind.count))


def _operation(function: Callable[..., Any], name: str) -> None:
    """The arithmetic of lanes; a product and a sum may be one instruction."""

    known: Any = infer_global(function)

    @final
    @known
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            both = len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]
            return signature(args[0], *args) if both else None

    @lower_builtin(function, Lanes, Lanes)
    def _code(context, builder, signature, args):
        return getattr(builder, name)(*args, flags=("contract",))


for _function, _name in {
    operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv",
}.items():  # fmt: skip
    _operation(_function, _name)


def words(count: int, decorator: Any = intrinsic) -> dict[str, Any]:
    """What functions of so many matrices side by side are written in; of one, numbers are numbers."""
    memory = [each(count) for each in (_gathered, _scattered, _nothing, _unit, _room)]
    return {each.__name__: decorator(each) for each in (*memory, root, inverted, spoilt, larger, some_larger)}


def _of(dtype: Any, count: int) -> Any:
    """The type of an element of so many matrices."""
    return dtype if count == 1 else Lanes(dtype, count)


def _constant(kind: Any, number: float):
    count = getattr(kind, "count", 0)
    return ir.Constant(kind, [ir.Constant(kind.element, number)] * count) if count else ir.Constant(kind, number)


def _place(builder, given, lane: int):
    """Where the element of a lane is, which lies ``apart`` from that of the next."""
    array, start, apart = given[:3]
    offset = builder.add(start, builder.mul(apart, ir.Constant(apart.type, lane)))
    return builder.gep(array, [offset])


def _gathered(count: int) -> Callable[..., Any]:
    def gathered(typing, array, start, apart):
        """An element of each matrix: from ``start`` on, so far apart."""

        def codegen(context, builder, signature, args):
            values = [builder.load(_place(builder, args, lane)) for lane in range(count)]
            if count == 1:
                return values[0]
            found = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
            for lane, value in enumerate(values):
                found = builder.insert_element(found, value, ir.Constant(INDEX, lane))
            return found

        return _of(array.dtype, count)(array, types.int64, types.int64), codegen

    return gathered


def _scattered(count: int) -> Callable[..., Any]:
    def scattered(typing, array, start, apart, value):
        """Put a number of each lane to the matrices of an array."""

        def codegen(context, builder, signature, args):
            for lane in range(count):
                number = args[3] if count == 1 else builder.extract_element(args[3], ir.Constant(INDEX, lane))
                builder.store(number, _place(builder, args, lane))
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64, value), codegen

    return scattered


def _filled(count: int, number: float, name: str) -> Callable[..., Any]:
    def filled(typing, array):
        def codegen(context, builder, signature, args):
            return _constant(context.get_value_type(signature.return_type), number)

        return _of(array.dtype, count)(array), codegen

    filled.__name__ = name
    return filled


def _nothing(count: int) -> Callable[..., Any]:
    """Zeros, for the matrices of an array."""
    return _filled(count, 0.0, "nothing")


def _unit(count: int) -> Callable[..., Any]:
    """Ones, for the matrices of an array."""
    return _filled(count, 1.0, "unit")


def _room(count: int) -> Callable[..., Any]:
    def room(typing, array, elements):
        """Memory of the function for so many elements of matrices of an array's type."""
        if not isinstance(elements, types.IntegerLiteral):
            return None  # Numba asks again, with the number
        kind = _of(array.dtype, count)

        def codegen(context, builder, signature, args):
            with builder.goto_block(builder.function.entry_basic_block):
                return builder.alloca(context.get_value_type(kind), ir.Constant(INDEX, elements.literal_value))

        return types.CPointer(kind)(array, elements), codegen

    return room


def root(typing, value):
    """The square root of what is positive, NaN of all else."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        lanes, bits = (f"v{kind.count}", value.dtype.bitwidth) if isinstance(value, Lanes) else ("", value.bitwidth)
        callee = builder.module.declare_intrinsic(f"llvm.sqrt.{lanes}f{bits}", (), ir.FunctionType(kind, [kind]))
        positive = builder.fcmp_ordered(">", args[0], _constant(kind, 0.0))
        return builder.select(positive, builder.call(callee, args), _constant(kind, float("nan")))

    return value(value), codegen


def inverted(typing, value):
    """One over what is not 0, and NaN over 0."""

    def codegen(context, builder, signature, args):
        one, none, lost = (_constant(args[0].type, each) for each in (1.0, 0.0, float("nan")))
        known = builder.fcmp_unordered("!=", args[0], none)
        return builder.select(known, builder.fdiv(one, args[0]), lost)

    return value(value), codegen


def spoilt(typing, value):
    """0 of numbers, NaN of NaN."""

    def codegen(context, builder, signature, args):
        known = builder.fcmp_ordered("ord", args[0], args[0])
        none, lost = (_constant(args[0].type, each) for each in (0.0, float("nan")))
        return builder.select(known, none, lost)

    return value(value), codegen


def _compared(context, builder, first, second):
    """Whether the first of two numbers is the larger, whatever their signs."""
    kind = first.type
    lanes, element = (f"v{kind.count}", kind.element) if isinstance(kind, ir.VectorType) else ("", kind)
    bits = 32 if isinstance(element, ir.FloatType) else 64
    size = builder.module.declare_intrinsic(f"llvm.fabs.{lanes}f{bits}", (), ir.FunctionType(kind, [kind]))
    return builder.fcmp_ordered(">", builder.call(size, [first]), builder.call(size, [second]))


def larger(typing, first, second, yes, no):
    """``yes`` where the first of two numbers is the larger, whatever their signs, else ``no``."""

    def codegen(context, builder, signature, args):
        return builder.select(_compared(context, builder, *args[:2]), *args[2:])

    return yes(first, second, yes, no), codegen


def some_larger(typing, first, second):
    """Whether the first of two numbers is the larger in any lane."""

    def codegen(context, builder, signature, args):
        found = _compared(context, builder, *args)
        if not isinstance(found.type, ir.VectorType):
            return found
        bits = ir.IntType(found.type.count)
        return builder.icmp_unsigned("!=", builder.bitcast(found, bits), ir.Constant(bits, 0))

    return types.boolean(first, second), codegen
