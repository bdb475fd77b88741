"""Sums by index in the memory of a block, where neighbours in a warp often add to the same element.

There is no addition of float64 in shared memory: each one is read, added to, and tried again where another lane was
sooner.  Rows that stand in the order of their groups would wait for each other all the time, so lanes beside each other
that add to the same element are a run, of which one adds for all.
"""

from __future__ import annotations

import os
from typing import Any

WARP = 32
MANY = 16  # runs of a warp from which on lanes are sooner done one by one

if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":

    def _in_turn(array, place, value) -> None:  # noqa: ANN001
        array[place] += value

    add_in_runs: Any = _in_turn

else:
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    BIT, INT, WIDE, DOUBLE = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()

    def _number(value: int) -> ir.Constant:
        return ir.Constant(INT, value)

    def _called(builder, name, result, *given):  # noqa: ANN001, ANN002, ANN202
        """What a function of LLVM or of NVVM returns."""
        module, kind = builder.module, ir.FunctionType(result, [each.type for each in given])
        function = module.globals.get(name) or ir.Function(module, kind, name)
        return builder.call(function, given)

    def _add(builder, element, value) -> None:  # noqa: ANN001
        _called(builder, "llvm.nvvm.atomic.load.add.f64.p0f64", DOUBLE, element, value)

    def _lane(builder):  # noqa: ANN001, ANN202
        return _called(builder, "llvm.nvvm.read.ptx.sreg.laneid", INT)

    def _of_later(builder, value, hop: int):  # noqa: ANN001, ANN202
        """The value of the lane that is a ``hop`` behind, in two words."""
        bits = builder.bitcast(value, WIDE)
        words = builder.trunc(bits, INT), builder.trunc(builder.lshr(bits, ir.Constant(WIDE, 32)), INT)
        rest = _number(hop), _number(WARP - 1)
        low, high = (_called(builder, "llvm.nvvm.shfl.sync.down.i32", INT, _number(-1), word, *rest) for word in words)
        high = builder.shl(builder.zext(high, WIDE), ir.Constant(WIDE, 32))
        return builder.bitcast(builder.or_(builder.zext(low, WIDE), high), DOUBLE)

    def _runs(module: ir.Module) -> ir.Function:
        """A function that adds up the lanes of each run, and adds what their ``heads`` have; all lanes come here."""
        name = "vecdist_add_runs"
        if name in module.globals:
            return module.globals[name]
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer(), DOUBLE, INT]), name)
        function.linkage = "internal"
        function.attributes.add("noinline")  # a kernel may add in many places
        function.attributes.add("convergent")
        element, value, heads = function.args
        builder = ir.IRBuilder(function.append_basic_block())
        lane = _lane(builder)
        own = builder.lshr(heads, lane)
        later = builder.lshr(own, _number(1))
        before_next = builder.add(lane, _called(builder, "llvm.cttz.i32", INT, later, ir.Constant(BIT, 0)))
        last = builder.select(builder.icmp_unsigned("==", later, _number(0)), _number(WARP - 1), before_next)
        for hop in (1, 2, 4, 8, 16):
            inside = builder.icmp_unsigned("<=", builder.add(lane, _number(hop)), last)
            value = builder.select(inside, builder.fadd(value, _of_later(builder, value, hop)), value)
        with builder.if_then(builder.trunc(own, BIT)):
            _add(builder, element, value)
        builder.ret_void()
        return function

    def _add_in_runs(context, builder, signature, given):  # noqa: ANN001, ANN202
        array = context.make_array(signature.args[0])(context, builder, given[0])
        element, number = builder.gep(array.data, [given[1]]), builder.trunc(given[1], INT)
        active = builder.call(ir.InlineAsm(ir.FunctionType(INT, []), "activemask.b32 $0;", "=r", side_effect=True), [])
        before = _called(builder, "llvm.nvvm.shfl.sync.up.i32", INT, active, number, _number(1), _number(0))
        differs = builder.icmp_unsigned("!=", before, number)
        heads = builder.or_(_called(builder, "llvm.nvvm.vote.ballot.sync", INT, active, differs), _number(1))
        few = builder.icmp_unsigned("<=", _called(builder, "llvm.ctpop.i32", INT, heads), _number(MANY))
        all_here = builder.icmp_unsigned("==", active, _number(-1))
        with builder.if_else(builder.and_(few, all_here)) as (together, apart):
            with together:
                builder.call(_runs(builder.module), [element, given[2], heads])
            with apart:
                _add(builder, element, given[2])
        return context.get_dummy_value()

    def _typed(typing, array, place, value):  # noqa: ANN001, ANN202
        """Add to an element of shared memory that neighbours may add to as well."""
        return types.void(array, types.int64, types.float64), _add_in_runs

    add_in_runs = intrinsic(_typed)
