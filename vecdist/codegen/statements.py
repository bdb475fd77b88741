"""The text of single statements, the same in both targets."""

from __future__ import annotations

import numpy as np

from vecdist.graph.shapes import Shape
from vecdist.kernel.ir import Accumulate, Assign, Kernel, Slot
from vecdist.primitives.table import PRIMITIVES

INDENT = "    "
ACCUMULATOR = {"f": "f8", "i": "i8", "u": "u8", "b": "i8"}


PARTIAL = {"f": "float64", "i": "int64", "u": "uint64", "b": "int64"}  # dtypes of arrays of partial results
LIMITS = {"f": ("-np.inf", "np.inf"), "i": (f"-{2**63 - 1} - 1", f"{2**63 - 1}"), "u": ("0", f"{2**64 - 1}")}


def start(item: Accumulate) -> str:
    """What a reduction begins with: the value that changes nothing, in the type in which it accumulates."""
    lowest, highest = LIMITS["i" if item.dtype.kind == "b" else item.dtype.kind]
    neutral = {"sum": "0", "prod": "1", "max": lowest, "min": highest}[item.op]
    return f"{ACCUMULATOR[item.dtype.kind]}({neutral})"


def element_count(shape: Shape) -> str:
    """The number of elements of an array, as text."""
    return " * ".join(varying(shape)) or "1"


def type_name(dtype: np.dtype) -> str:
    """The name of a dtype in generated source: kind and bytes, as in ``f4``."""
    return f"{dtype.kind}{dtype.itemsize}"


def assignment(item: Assign) -> str:
    """``name = expression`` for a primitive or an index."""
    if item.op == "index":
        return f"{item.name} = {item.args[0]}"
    if item.op == "cast" and item.dtype.kind == "b":
        return f"{item.name} = ({item.args[0]} != 0)"
    code = PRIMITIVES[item.op].code
    assert code is not None, f"{item.op} must be expanded first"
    text = code.format(*item.args, dtype=type_name(item.dtype))
    if item.dtype.kind in "iu" and item.op not in {"cast", "where", "bits"}:
        text = f"{type_name(item.dtype)}{text if text[0] == '(' else f'({text})'}"
    return f"{item.name} = {text}"


def is_seldom(item: object) -> bool:
    """Whether a statement computes a value that few elements want."""
    return isinstance(item, Assign) and item.op in PRIMITIVES and PRIMITIVES[item.op].seldom


def dense_offset(indices: tuple[str, ...], dims: list[str]) -> str:
    """The place of an element in row-major order."""
    offset = indices[0] if indices else "0"
    for index, dim in zip(indices[1:], dims[1:], strict=True):
        offset = f"({offset}) * {dim} + {index}"
    return offset


def varying(shape: Shape) -> list[str]:
    return [str(dim) for dim in shape if dim != 1]


def slot_of(kernel: Kernel, number: int) -> Slot:
    """The slot of a load; negative numbers are temporary outputs, counted from -1."""
    if number >= 0:
        return next(slot for slot in kernel.slots if slot.index == number)
    output = kernel.outputs[-1 - number]
    return Slot(number, "dense", (), output.shape, output.dtype)


def array_name(number: int) -> str:
    return f"x{number}" if number >= 0 else f"o{-1 - number}"


def typed_zero(dtype: np.dtype) -> str:
    return "False" if dtype.kind == "b" else f"{type_name(dtype)}(0)"
