"""Operations on integers without branches and calls: quotients that are rounded down, the least and the largest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types

Emitter = Callable[[ir.IRBuilder, Sequence[Any]], Any]
ORDERS = {min: "<", max: ">"}


def own_emitter(target: Any, function: Any, signature: Any) -> Emitter | None:
    """What emits an operation on signed integers; ``None`` for others, which are Numba's."""
    key = getattr(function, "typing_key", function)
    if not is_own(key, signature):
        return None
    return _extreme(target, ORDERS[key], signature) if key in ORDERS else _floor_quotient(target, signature)


def is_own(key: Any, signature: Any) -> bool:
    """Whether it is an operation that is emitted here."""
    return key in {operator.floordiv, *ORDERS} and _is_signed(signature.return_type)


def _is_signed(kind: Any) -> bool:
    return isinstance(kind, types.Integer) and getattr(kind, "signed", False)


def own_signature(context: Any, function: Any, arguments: tuple[Any, ...]) -> Any:
    """The types of the least or largest of signed integers, for which Numba compiles a function; ``None`` of others."""
    if getattr(function, "typing_key", None) not in ORDERS or not all(map(_is_signed, arguments)):
        return None
    return context.unify_types(*map(types.unliteral, arguments))(*arguments)


def _extreme(target: Any, order: str, signature: Any) -> Emitter:
    """The first of those that none of the others is beyond."""

    def emitted(builder: ir.IRBuilder, arguments: Sequence[Any]) -> Any:
        pairs = zip(arguments, signature.args, strict=True)
        found, *others = (target.cast(builder, *pair, signature.return_type) for pair in pairs)
        for other in others:
            found = builder.select(builder.icmp_signed(order, other, found), other, found)
        return found

    return emitted


def _floor_quotient(target: Any, signature: Any) -> Emitter:
    """A quotient in a dozen instructions, where Numba's takes sixty; with Numba's value, 0, where there is none."""
    kind = signature.return_type

    def emitted(builder: ir.IRBuilder, arguments: Sequence[Any]) -> Any:
        x, y = (target.cast(builder, value, own, kind) for value, own in zip(arguments, signature.args, strict=True))
        zero, one = x.type(0), x.type(1)
        beyond = builder.and_(
            builder.icmp_signed("==", x, x.type(kind.minval)), builder.icmp_signed("==", y, x.type(-1))
        )
        none = builder.or_(builder.icmp_signed("==", y, zero), beyond)
        divisor = builder.select(none, one, y)
        quotient, rest = builder.sdiv(x, divisor), builder.srem(x, divisor)
        apart = builder.icmp_signed("<", builder.xor(rest, divisor), zero)
        above = builder.and_(builder.icmp_signed("!=", rest, zero), apart)
        return builder.select(none, zero, builder.add(quotient, builder.sext(above, x.type)))

    return emitted
