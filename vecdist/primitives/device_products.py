"""Products of matrices by cuBLAS, called by its name: a fraction of what ``a @ b`` of CuPy's arrays costs the host.

Products of many matrices are one call, which a CUDA graph may hold.

Few rows times few columns that are long are cut into pieces, whose products are added up: cuBLAS would leave most of a
GPU idle.  Of 4 x 2^21 and 2^21 x 24 in float32, an H200 took 225 us in one piece, and 132 us in pieces of 4096.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from vecdist.primitives.captured_products import capturing, multiply

LONG = 2**16  # elements of a row from which on products are cut
SMALL = 4096  # elements of such a product
PIECE = 1024  # elements of a row in a piece


class Matrix(NamedTuple):
    """Where a matrix lies, how far its rows, or columns, are apart, and whether it lies by columns."""

    place: int
    apart: int
    by_columns: bool


def product(a: Any, b: Any) -> Any:
    """A B of CuPy's arrays, in their own precision."""
    left, right = _matrix(a), _matrix(b)
    alike = a.dtype == b.dtype and a.shape[:-2] == b.shape[:-2] and a.dtype.char in "fd"
    if left is None or right is None or not (alike and a.size and b.size):
        return a @ b
    *lead, rows, between = a.shape
    columns = b.shape[-1]
    if not lead and between >= LONG and rows * columns <= SMALL:
        return _in_pieces(left, right, rows, between, columns, a.dtype)
    import cupy

    result = cupy.empty((*lead, rows, columns), a.dtype)
    many = Pieces(math.prod(lead), between * columns, rows * between) if lead else None
    _multiply(left, right, (rows, between, columns), result, 0, many)
    return result


class Pieces(NamedTuple):
    """How many matrices are multiplied, and how many elements each on the right and on the left is from the next."""

    count: int
    right: int
    left: int


def _matrix(a: Any) -> Matrix | None:
    """A matrix that lies by rows, or by columns, or many by rows; ``None`` where it is none, or does neither."""
    if a.ndim >= 2 and a.flags.c_contiguous:
        return Matrix(a.data.ptr, a.shape[-1], False)
    return Matrix(a.data.ptr, a.shape[0], True) if a.ndim == 2 and a.flags.f_contiguous else None


def _multiply(
    left: Matrix, right: Matrix, shape: tuple[int, int, int], result: Any, at: int, pieces: Pieces | None = None
) -> None:
    """A B, or the products of pieces, from a byte of the result on: B' A' for cuBLAS, which has columns."""
    import cupy

    rows, between, columns = shape
    known = _known(result.dtype.char)
    handle, place = cupy.cuda.device.get_cublas_handle(), result.data.ptr + at
    given = handle, known.ways[right.by_columns], known.ways[left.by_columns], columns, rows, between, known.one
    if not pieces:
        given = *given, right.place, right.apart, left.place, left.apart, known.zero, place, columns
    else:
        sides = right.place, right.apart, pieces.right, left.place, left.apart, pieces.left
        given = *given, *sides, known.zero, place, columns, rows * columns, pieces.count
    stream = capturing()
    if stream is not None:
        multiply(stream, f"{known.letter}gemm{'StridedBatched' if pieces else ''}", given)
    else:
        (known.batched if pieces else known.gemm)(*given)


def _in_pieces(left: Matrix, right: Matrix, rows: int, between: int, columns: int, dtype: np.dtype) -> Any:
    """The products of pieces along what is summed over, the last of them shorter, added up."""
    import cupy

    pieces, rest = divmod(between, PIECE)
    parts = cupy.empty((pieces + bool(rest), rows, columns), dtype)
    steps = (PIECE if right.by_columns else PIECE * columns), (PIECE * rows if left.by_columns else PIECE)
    _multiply(left, right, (rows, PIECE, columns), parts, 0, Pieces(pieces, *steps))
    if rest:
        start, size = pieces * PIECE * dtype.itemsize, parts.itemsize * rows * columns
        last = left._replace(place=left.place + start * (rows if left.by_columns else 1))
        other = right._replace(place=right.place + start * (1 if right.by_columns else columns))
        _multiply(last, other, (rows, rest, columns), parts, pieces * size)
    return parts.sum(axis=0)


class _Known(NamedTuple):
    """The functions of a precision, where a one and a zero lie, and what says that a matrix is as it is, or turned."""

    gemm: Any
    batched: Any
    one: int
    zero: int
    ways: tuple[int, int]
    numbers: np.ndarray
    letter: str


@cache
def _known(kind: str) -> _Known:
    from cupy_backends.cuda.libs import cublas

    letter, numbers = {"f": "s", "d": "d"}[kind], np.array([1.0, 0.0], kind)
    one, gemm = numbers.ctypes.data, f"{letter}gemm"
    ways = cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T
    many = getattr(cublas, f"{gemm}StridedBatched")
    return _Known(getattr(cublas, gemm), many, one, one + numbers.itemsize, ways, numbers, letter)
