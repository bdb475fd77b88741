"""What single statements compute, the same on both targets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from vecdist.codegen.frontend import parsed
from vecdist.graph.shapes import Shape
from vecdist.kernel.code import Code
from vecdist.kernel.expressions import FALSE, ONE, ZERO, Expr, Name, Number, joined, length, names, of_type, substituted
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Statement, Store
from vecdist.primitives.table import PRIMITIVES

Item = Statement | Code  # what stands in a loop nest between plan and code
Items = tuple[Item, ...]

ACCUMULATOR = {"f": "f8", "i": "i8", "u": "u8", "b": "i8"}


PARTIAL = {"f": "float64", "i": "int64", "u": "uint64", "b": "int64"}  # dtypes of arrays of partial results
LIMITS: dict[str, tuple[Number | str, Number | str]] = {
    "f": ("-np.inf", "np.inf"), "i": (-(2**63), 2**63 - 1), "u": (0, 2**64 - 1),
}  # fmt: skip


def start(item: Accumulate) -> Expr:
    """What a reduction begins with: the value that changes nothing, in the type in which it accumulates."""
    if item.start is not None:
        return of_type(item.dtype, item.start)
    lowest, highest = LIMITS["i" if item.dtype.kind == "b" else item.dtype.kind]
    neutral = {"sum": 0, "linear": 0, "prod": 1, "max": lowest, "min": highest}[item.op]
    return Name(ACCUMULATOR[item.dtype.kind])(parsed(str(neutral)))


def element_count(shape: Shape) -> Expr:
    """The number of elements of an array."""
    return joined("*", varying(shape) or [ONE])


def type_name(dtype: np.dtype) -> str:
    """The name of a dtype in generated source: kind and bytes, as in ``f4``."""
    return f"{dtype.kind}{dtype.itemsize}"


WRAPPING = {"add", "sub", "mul", "neg"}
"""What integers of 64 bits go through as unsigned ones: where signed ones overflow compilers may do as they please.

They are of 64 bits first: indices, where Python runs the code, are numbers of its own, and may be below zero.
"""


def computed(item: Assign) -> Expr:
    """The value of a primitive, or of an expression as it stands."""
    if item.op == "index":
        return item.args[0]
    if item.op == "cast" and item.dtype.kind == "b":
        return item.args[0].differs(0)
    if item.op == "cast" and item.dtype.kind in "iu" and item.dtype.itemsize <= 2:
        return of_type(item.dtype, Name("i8")(item.args[0]))  # what a float is beyond these wraps
    wraps = item.op in WRAPPING and item.dtype == np.int64
    places = {f"_{place}": Name("u8")(Name("i8")(arg)) if wraps else arg for place, arg in enumerate(item.args)}
    found = substituted(_template(item.op, len(item.args)), {**places, "_dtype": Name(type_name(item.dtype))})
    if item.dtype.kind in "iu" and item.op not in {"cast", "where", "bits"}:
        return of_type(item.dtype, found)
    return found


@cache
def _template(op: str, arity: int) -> Expr:
    """What a primitive computes, of arguments ``_0``, ``_1`` and so on, where its dtype is ``_dtype``."""
    code = PRIMITIVES[op].code
    assert code is not None, f"{op} must be expanded first"
    return parsed(code.format(*(f"_{place}" for place in range(arity)), dtype="_dtype"))


def is_seldom(item: object) -> bool:
    """Whether a statement computes a value that few elements want."""
    entry = PRIMITIVES.get(item.op) if isinstance(item, Assign) and isinstance(item.op, str) else None
    return entry is not None and entry.seldom


def dense_offset(indices: Sequence[Expr], dims: Sequence[Expr]) -> Expr:
    """The place of an element in row-major order; axes ahead of it are passed by."""
    while len(indices) > 1 and indices[0] == ZERO:
        indices, dims = indices[1:], dims[1:]
    offset = indices[0] if indices else ZERO
    for index, dim in zip(indices[1:], dims[1:], strict=True):
        offset = offset * dim + index
    return offset


def varying(shape: Shape) -> list[Expr]:
    """The lengths of the axes that an array has more than one element along."""
    return [length(dim) for dim in shape if dim != 1]


def stride(source: object, axis: int) -> Name:
    """The stride of an input along an axis."""
    return Name(f"x{source}_s{axis}")


def load_offset(item: Load, kernel: Kernel) -> Expr:
    """The place that is loaded: an element, in units of strides where an array has those."""
    slot = kernel.slot_of(item.source)
    if slot.layout != "strided":
        return dense_offset(item.indices, varying(slot.shape))
    axes = [slot.axes[axis] for axis, dim in enumerate(slot.shape) if dim != 1]
    terms = [index * stride(item.source, axis) for index, axis in zip(item.indices, axes, strict=True)]
    return joined("+", [*terms] or [ZERO])


def store_offset(item: Store | Scatter, kernel: Kernel) -> Expr:
    """The element of an output that is stored to, or added to."""
    return dense_offset(item.indices, varying(kernel.outputs[item.output].shape))


def lies_along(inner: Loop, rows: Loop) -> list[bool]:
    """Of each array with rows that an inner loop reads or writes: whether its neighbours are along the loop.

    Rows may be chosen by an index that each row of the loop computes.
    """
    items = [item for _, item in inner.body.items if isinstance(item, Load | Store) and len(item.indices) > 1]
    found = [(item.indices, set(names(*item.indices))) for item in items]
    own = {rows.index}
    if any(rows.index not in used and inner.index in used for _, used in found):
        own |= {item.name for _, item in rows.body.items if isinstance(item, Assign | Load)}
    return [inner.index in names(indices[-1]) for indices, used in found if not own.isdisjoint(used)]


def typed_zero(dtype: np.dtype) -> Expr:
    return FALSE if dtype.kind == "b" else of_type(dtype, 0)
