"""Products of matrices, and sums of products that are the same: whichever is computed sooner takes the other's place.

A kernel reads a long design once, for its products with a few vectors and for the gradient of what becomes of these; a
library reads it twice, stores the products in between, and is far ahead where vectors or columns are many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.few_rows import LANES, LONG, SHARED, STRIPPED, TALL, fits, jams
from vecdist.primitives.products import THIN, by_loops, product, transposed
from vecdist.primitives.structure import is_reduction, rebuilt, summed, view
from vecdist.primitives.table import PRIMITIVES

LARGE = 1024  # elements of a matrix from which products with many vectors may be left to a library on a GPU
MOST, MOST_SHORT = 2**28, 2**22  # multiplications that a kernel does as fast, in strips of vectors and of others
BESIDE = 256  # vectors and fewer, of which it does any number as fast in strips
WORDS = 24  # of a row, 4 bytes each, that a thread has room for, and for as many sums
MOST_WORDS = 2**29  # of all multiplications, where rows have more
STRIPS, OF_TWO = 4096, 16  # vectors of which strips are all there at once, and words of a row with two in a strip
JAMMED = 4  # the same of those that are written out
MOST_JAMMED = 2**26  # multiplications of more of them
FEW = 2**16  # multiplications that a kernel has done before cuBLAS is called, and called again for each derivative
MANY = 256  # the same as LARGE on the CPU, where sums inside of rows inside of chains leave its vectors unused
FEW_VECTORS, WIDEST, SMALL = 8, 2**14, 1600  # vectors, numbers in them, and in more, that go through strips on a CPU
NARROW = 32  # columns of long designs that more of them go through
SEVERAL = 16  # vectors of a sum from which on the CPU's is sooner: of 64 in a quarter of the time, of 2 in twice it
THROUGH = {"view", "cast", "checked"}  # what elements go through one by one, beside operations on numbers


def by_library(matrix: Sequence[Dim], vectors: Dim, dtype: np.dtype, on_gpu: bool, is_summed: bool) -> bool:
    """Whether a library multiplies a matrix and so many vectors sooner than a kernel does, which may sum what follows.

    Few small ones are read as fast by each, without calls of their own, and of unknown lengths nobody can say.
    """
    lengths = [dim for dim in matrix if isinstance(dim, int) and dim > 1]
    if len(lengths) < 2:
        return False
    if not isinstance(vectors, int):
        return math.prod(lengths) >= LARGE
    if on_gpu:
        rows, columns = lengths
        kept = is_summed and _in_kernel(rows, columns, vectors, columns * dtype.itemsize // 4)
        return math.prod(lengths) >= LARGE and not kept
    return math.prod(lengths) * vectors >= MANY


def _in_kernel(rows: int, columns: int, vectors: int, words: int) -> bool:
    """Whether a kernel has room, and time, for a matrix, of so many words in a row, and so many vectors.

    On an H200, in float32, 8 vectors and 4 194 304 x 24 took it 315 us, and cuBLAS with kernels around it 853; 256 and
    100 000 x 24 took 245 us and 297, 1000 and 20 000 x 30 338 us and 213.  Written out, 4 and 1 000 000 x 64 took it
    144 us and the others 297, 8 and 1 000 000 x 64 460 us and 336.  Of 4096 vectors and 800 rows, 4, 16, 24 and 32
    columns took it 32, 46, 56 and 123 us in float32, and 42, 140, 318 and 714 in float64; cuBLAS some 60 and 85.
    """
    work = rows * columns * vectors
    if rows < (TALL if vectors <= LANES else STRIPPED) or not fits(vectors, columns):
        return columns <= THIN and work <= MOST_SHORT
    if jams(vectors, columns):
        return vectors <= JAMMED or work <= MOST_JAMMED
    if vectors > STRIPS and words > OF_TWO:
        return False
    return vectors <= BESIDE or (work <= MOST if words <= WORDS else work * words <= MOST_WORDS)


def _in_strips(rows: int, vectors: int, columns: int) -> bool:
    """Whether vectors multiply a strip of a design in turn on a CPU sooner than a library does all of it for all.

    On two cores with AVX-512, in float32, 20 000 rows of 12, 24 and 100 took 309, 331 and 1208 us for 8 vectors, and
    BLAS with kernels around it 637, 808 and 1910; for 64 rows of 12 and 24 took 1819 and 2217 us, and 3068 and 3100.
    1000 rows of 100 took 83 us for 8, 429 for 64, and the others 116 and 362.
    """
    if vectors > min(rows, SHARED):
        return False
    return vectors * columns <= (WIDEST if vectors <= FEW_VECTORS else SMALL) or (columns <= NARROW and rows >= LONG)


def contracted(roots: Sequence[Node], in_kernels: bool = True) -> tuple[Node, ...]:
    """``roots`` with sums in place of products, and products in place of sums, where those are computed sooner.

    No kernel on a GPU multiplies by long designs where these are not to be ``in_kernels``.
    """
    nodes = list(topological(roots))
    found = {node: factors for node in nodes if (factors := _factors(node)) is not None}
    if not found:
        return tuple(roots)
    on_gpu, users = is_on_gpu(nodes), _users(nodes) if in_kernels else None
    others = {node: each.other(node, on_gpu, roots, users) for node, each in found.items()}
    wanted = {node: other for node, other in others.items() if other is not None}
    if not wanted:
        return tuple(roots)
    return rewrite(roots, lambda node, args: wanted[node](*args) if node in wanted else rebuilt(node, args))


def is_on_gpu(nodes: Iterable[Node]) -> bool:
    """Whether arrays of a GPU are read."""
    return any(node.op == "leaf" and node.attrs[0].kind == "cupy" for node in nodes)


@final
@dataclass(frozen=True)
class Factors:
    """Two factors whose elements are multiplied and summed along one axis: of rows first, and then of columns.

    ``axes`` are, of a sum, the axes of the rows, of the columns and of what is summed, as its argument has them.
    """

    rows: Node
    columns: Node
    lengths: tuple[int, int, int]
    axes: tuple[int, int, int] | None

    def other(
        self, node: Node, on_gpu: bool, roots: Sequence[Node], users: Mapping[Node, Collection[Node]] | None
    ) -> Callable[..., Node] | None:
        """What makes of new arguments a product of a sum, or a sum of a product, where that is sooner computed.

        Either factor may be the design, whose rows a kernel goes through; without ``users`` none is.  On a GPU every
        product of few elements is a sum.
        """
        rows, columns, between = self.lengths
        ways = [(self.rows, rows, columns), (self.columns, columns, rows)]
        ways = [way for way in ways if way[1] >= min(TALL, max(rows, columns))]
        summed = [users is not None and _is_summed(node, length, roots, users) for _, length, _ in ways]
        library = [
            by_library((length, between), vectors, node.dtype, on_gpu, each)
            for (_, length, vectors), each in zip(ways, summed, strict=True)
        ]
        in_strips = [
            not on_gpu and each and _in_strips(length, vectors, between)
            for (_, length, vectors), each in zip(ways, summed, strict=True)
        ]
        if self.axes is not None:
            several = min(rows, columns) >= SEVERAL and not any(in_strips)
            many = math.prod(self.lengths) > FEW if on_gpu else several
            sooner = all(library) and between > THIN and many
            return partial(self._as_product, node, self.axes) if sooner else None
        in_kernel = [on_gpu and each and not left for each, left in zip(summed, library, strict=True)]
        for (design, *_), kept in zip(ways, map(max, in_kernel, in_strips), strict=True):
            if kept and _is_given(design, roots):
                return partial(_as_sum, design is self.rows)
        return by_loops if on_gpu and math.prod(self.lengths) <= FEW else None

    def _as_product(self, node: Node, axes: tuple[int, int, int], pairs: Node) -> Node:
        """The product that a sum of new pairs is."""
        rows, columns, between = axes
        first, second = pairs.args if node.args[0].args[0] is self.rows else pairs.args[::-1]
        found = product(_matrix(first, rows, between), _matrix(second, between, columns))
        return view(found, [(rows + node.ndim, 0, 1), (columns + node.ndim, 0, 1)], node.shape)


def _factors(node: Node) -> Factors | None:
    """The factors of a product, or of a sum that is one."""
    if node.op == "product":
        a, b = node.args
        return _known(Factors(a, b, (a.shape[0], b.shape[1], a.shape[1]), None))  # type: ignore[arg-type]
    if node.op != "sum" or len(node.attrs[0]) != 1 or node.args[0].op != "mul" or node.dtype.kind != "f":
        return None
    (between,), pairs = node.attrs[0], node.args[0]
    first, second = (_varying(arg, pairs.ndim) for arg in pairs.args)
    shared = {between} == first & second and len(first) == len(second) == 2
    if not shared or any(arg.dtype != node.dtype for arg in pairs.args):
        return None
    (rows,), (columns,), (a, b), shape = first - second, second - first, pairs.args, pairs.shape
    return _known(Factors(a, b, (shape[rows], shape[columns], shape[between]), (rows, columns, between)))  # type: ignore[arg-type]


def _known(factors: Factors) -> Factors | None:
    """Factors, if their lengths are known."""
    return factors if all(isinstance(length, int) for length in factors.lengths) else None


def _varying(x: Node, ndim: int) -> set[int]:
    """The axes, counted from the end, along which elements differ."""
    return {axis for axis in range(-min(x.ndim, ndim), 0) if x.shape[axis] != 1}


def _matrix(x: Node, rows: int, columns: int) -> Node:
    """An array that varies along two axes, as a matrix of these."""
    places = {rows + x.ndim: 0, columns + x.ndim: 1}
    return view(x, [(places.get(axis), 0, 1) for axis in range(x.ndim)], (x.shape[rows], x.shape[columns]))


def _as_sum(turned: bool, a: Node, b: Node) -> Node:
    """A product as a sum over a last axis, behind one of the vectors and one along the design: ``turned``, ``a``."""
    rows, columns = a.shape[0], b.shape[1]
    few, many = (transposed(b), a) if turned else (a, transposed(b))
    apart = view(few, [(0, 0, 1), (2, 0, 1)], (few.shape[0], 1, few.shape[1]))
    total = summed(apart * many, (-1,))
    return view(total, [(int(turned), 0, 1), (1 - turned, 0, 1), (None, 0, 1)], (rows, columns))


def _is_given(x: Node, roots: Sequence[Node]) -> bool:
    """Whether a matrix is an array that was given, of which no derivative is taken."""
    while x.op == "view":
        (x,) = x.args
    return x.op == "leaf" and x not in roots


def _users(nodes: Sequence[Node]) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in node.args:
            found[arg].append(node)
    return found


def _is_summed(node: Node, length: int, roots: Sequence[Node], users: Mapping[Node, Collection[Node]]) -> bool:
    """Whether nothing comes of elements but sums of at least ``length`` of them."""
    seen, left = {node}, [node]
    for each in left:  # which grows meanwhile
        if each in roots:
            return False
        for user in users[each]:
            if user.op == "sum" and _size(user.args[0]) >= length * _size(user):
                continue
            if is_reduction(user) or not _is_through(user):
                return False
            if user not in seen:
                seen.add(user)
                left.append(user)
    return True


def _is_through(node: Node) -> bool:
    return node.op in PRIMITIVES or node.op in THROUGH


def _size(node: Node) -> int:
    return math.prod(node.shape)  # type: ignore[arg-type]
