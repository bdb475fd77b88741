"""NumPy's ufuncs as nodes: the operation of each, in the dtypes in which NumPy computes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from vecdist.graph.leaves import number
from vecdist.graph.node import SIMPLE_POWERS, Node, Scalar, cast, const, where
from vecdist.graph.shapes import BroadcastError, broadcast
from vecdist.lazy.taken_apart import bit_count, left_shift, neighbour, right_shift, scaled, spacing
from vecdist.names import load
from vecdist.primitives.arithmetic import (
    bit_and,
    bit_or,
    eq,
    floor,
    isnan,
    logical_not,
    maximum,
    minimum,
    ne,
    points_away,
)
from vecdist.primitives.table import PRIMITIVES, UFUNCS, Primitive

OF_ONE = {"add": (0, 1), "subtract": (0,), "divide": (0,)}  # operands which, where they are 1, formulas are known by


def apply(ufunc: np.ufunc, *inputs: Node | Scalar) -> Node:
    """The node of ``ufunc`` of nodes and Python numbers, of the dtype that NumPy gives it (float32 for float16).

    Raises ``TypeError`` for a ufunc that has no lazy form or takes no such dtypes, ``ValueError`` for shapes that do
    not broadcast.
    """
    build = _builder(ufunc, inputs)
    *loop, result = _dtypes(ufunc, inputs)
    of_one = OF_ONE.get(ufunc.__name__, ())
    nodes = [
        cast(value, dtype) if isinstance(value, Node) else _number(value, dtype, place in of_one)
        for place, (value, dtype) in enumerate(zip(inputs, loop, strict=True))
    ]
    check_shapes(f"np.{ufunc.__name__}", nodes)
    return cast(build(*nodes), result)


def _number(value: Scalar, dtype: np.dtype, of_one: bool) -> Node:
    """The node of a Python number: an argument of kernels, so that others compile nothing, but for 1 in a formula."""
    known = of_one and dtype.kind == "f" and value == 1
    return const(1, dtype) if known else number(value, dtype)


def has_form(ufunc: np.ufunc) -> bool:
    """Whether ``ufunc`` has a lazy form."""
    return ufunc.__name__ in _COMPOSITES or _primitive(ufunc.__name__) is not None


def check_shapes(name: str, nodes: Sequence[Node]) -> None:
    """Raise ``ValueError`` where the shapes of ``nodes`` do not broadcast."""
    try:
        broadcast(node.shape for node in nodes)
    except BroadcastError:
        shapes = " and ".join(str(node.shape) for node in nodes)
        raise ValueError(f"{name}: the shapes {shapes} do not broadcast") from None


def _dtypes(ufunc: np.ufunc, inputs: Sequence[Node | Scalar]) -> list[np.dtype]:
    """The dtypes in which NumPy computes ``ufunc``, and that of its result."""
    given = [value.dtype if isinstance(value, Node) else _weak(value) for value in inputs]
    found = ufunc.resolve_dtypes((*given, None))  # type: ignore[arg-type]
    return [np.dtype(np.float32) if dtype == np.float16 else dtype for dtype in found]


def _weak(value: Scalar) -> np.dtype | type:
    """What a Python number stands for in promotion."""
    return np.dtype(bool) if isinstance(value, bool) else int if isinstance(value, int) else float


def _builder(ufunc: np.ufunc, inputs: Sequence[Node | Scalar]) -> Callable[..., Node]:
    name = ufunc.__name__
    exponent = _exponent(inputs[1]) if name == "power" else None
    if exponent is not None:
        return lambda base, given: _power(base, exponent, given)
    general = _COMPOSITES.get(name) or _primitive(name)
    if general is None:
        raise TypeError(f"no lazy form of the ufunc {name}; vecdist.external takes a function with its derivatives")

    def build(*nodes: Node) -> Node:
        kind = nodes[0].dtype.kind
        function = _OF_BOOLEANS.get(name) if kind == "b" else None
        function = function or (_OF_INTEGERS.get(name) if kind in "biu" else None)
        return (function or general)(*nodes)

    return build


def _primitive(name: str) -> Primitive | None:
    """The primitive with the meaning of a ufunc; special functions are loaded where no other has it."""
    if name not in UFUNCS:
        load("vecdist.special")
    return UFUNCS.get(name)


def _exponent(value: Node | Scalar) -> Scalar | None:
    """The number in the place of an exponent, ``None`` where an array stands or derivatives may be asked for."""
    if not isinstance(value, Node):
        return value
    given = value.attrs[0].given if value.op == "leaf" and not value.attrs[0].traced else None
    return given.item() if isinstance(given, np.integer | np.bool_) else None


def _power(base: Node, exponent: Scalar, given: Node) -> Node:
    """``base ** exponent``: small whole exponents, and all of integers, are products."""
    if base.dtype.kind != "f":
        if exponent < 0:
            raise ValueError(f"an integer to the power {exponent} is no integer; convert it with .astype(float) first")
        return _whole_power(base, int(exponent))
    return base**exponent if exponent in SIMPLE_POWERS else PRIMITIVES["pow"](base, given)


def _whole_power(base: Node, exponent: int) -> Node:
    result = base * 0 + 1
    while exponent:
        result = result * base if exponent % 2 else result
        base, exponent = base * base, exponent // 2
    return result


def _integer_power(base: Node, exponent: Node) -> Node:
    raise TypeError("an integer to the power of an integer array has no lazy form; convert one with .astype(float)")


def _integer_floor_divide(x: Node, y: Node) -> Node:
    """Exact: what the quotient in float64 leaves is divided again, and one more or less where that rounds.

    0 where ``y`` is 0, as in NumPy.
    """
    quotient = cast(floor(x / y), x.dtype)
    if x.dtype.itemsize == 8:
        rest = cast(x - quotient * y, np.int64)
        quotient = quotient + cast(cast(floor(rest / y), np.int64), x.dtype)  # which may be negative
        rest, divisor = cast(x - quotient * y, np.int64), cast(y, np.int64)
        over = ne(rest, 0) & ne(rest < 0, divisor < 0)
        under = ~over & (-abs(rest) <= -abs(divisor))  # the least integer has no absolute value, but this
        quotient = quotient - cast(over, x.dtype) + cast(under, x.dtype)
    if x.dtype == np.uint64:  # what no int64 holds
        quotient = where(y > np.iinfo(np.int64).max, cast(x >= y, x.dtype), where(eq(y, 1), x, quotient))
    return where(eq(y, 0), 0, quotient)


def _integer_remainder(x: Node, y: Node) -> Node:
    return where(eq(y, 0), 0, x - _integer_floor_divide(x, y) * y)


def _integer_fmod(x: Node, y: Node) -> Node:
    rest = _integer_remainder(x, y)
    return where(points_away(rest, x), rest - y, rest)


def _invert(x: Node) -> Node:
    return (np.iinfo(x.dtype).max if x.dtype.kind == "u" else -1) - x


def _sign(x: Node) -> Node:
    return cast(ne(x, 0), x.dtype) if x.dtype.kind == "u" else PRIMITIVES["sign"](x)


def _on_booleans(name: str) -> Callable[..., Node]:
    return lambda *nodes: PRIMITIVES[name](*(cast(node, np.bool_) for node in nodes))


def _on_floats(name: str) -> Callable[[Node], Node]:
    return lambda x: PRIMITIVES[name](cast(x, np.float64))


def _same(x: Node) -> Node:
    return x


_COMPOSITES: dict[str, Callable[..., Node]] = {
    "bitwise_count": bit_count,
    "conjugate": _same,
    "deg2rad": lambda x: x * (math.pi / 180),
    "degrees": lambda x: x * (180 / math.pi),
    "fmax": lambda x, y: where(isnan(x), y, where(isnan(y), x, maximum(x, y))),
    "fmin": lambda x, y: where(isnan(x), y, where(isnan(y), x, minimum(x, y))),
    "invert": _invert,
    "ldexp": scaled,
    "left_shift": left_shift,
    "logical_and": _on_booleans("and"),
    "logical_not": _on_booleans("not"),
    "logical_or": _on_booleans("or"),
    "logical_xor": _on_booleans("ne"),
    "nextafter": neighbour,
    "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "right_shift": right_shift,
    "sign": _sign,
    "spacing": spacing,
}
_OF_INTEGERS: dict[str, Callable[..., Node]] = {
    "ceil": _same,
    "floor": _same,
    "floor_divide": _integer_floor_divide,
    "fmod": _integer_fmod,
    "isfinite": _on_floats("isfinite"),
    "isinf": _on_floats("isinf"),
    "isnan": _on_floats("isnan"),
    "power": _integer_power,
    "remainder": _integer_remainder,
    "trunc": _same,
}
_OF_BOOLEANS: dict[str, Callable[..., Node]] = {
    "absolute": _same, "add": bit_or, "bitwise_xor": ne, "fmax": bit_or, "fmin": bit_and, "invert": logical_not,
    "maximum": bit_or, "minimum": bit_and, "multiply": bit_and,
}
