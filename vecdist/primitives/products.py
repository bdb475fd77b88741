"""Products of two matrices: the one operation that is left to a library, BLAS or cuBLAS, where it is done best.

Each element of either matrix is used many times over, which only blocking for every cache makes fast; so a product is a
call of its own between kernels.  Its derivative is stated here, at the level of the product: two more products.
"""

from __future__ import annotations

import numpy as np

from vecdist.graph.node import Node
from vecdist.primitives.structure import STRUCTURE, Structural, full, summed, view


def product(a: Node, b: Node) -> Node:
    """The product of matrices of shapes (n, k) and (k, m)."""
    return Node("product", (a, b), (), (a.shape[0], b.shape[1]), a.dtype)


THIN = 16
"""Elements of a small matrix up to which kernels multiply by it.  Of 10^4 to 10^6 rows, on 4 cores and on an H200,
a library, which stores what a kernel would keep, takes 1.4 to 10 times as long."""


FEW = 2**13
"""Products of elements, in all, that a kernel has done before a library is called."""


def is_small(rows: int, inner: int, columns: int) -> bool:
    """Whether a product is of few elements, or of many rows and a small matrix.

    Of a small matrix and many columns a library is quicker.
    """
    return rows * inner * columns <= FEW or (rows >= columns and inner * columns <= THIN)


def transposed(x: Node) -> Node:
    """A matrix with its axes exchanged."""
    return view(x, [(1, 0, 1), (0, 0, 1)], (x.shape[1], x.shape[0]))


def by_loops(a: Node, b: Node) -> Node:
    """The product as a sum over a third axis, for what no library call fits."""
    rows = view(a, [(0, 0, 1), (1, 0, 1)], (*a.shape, 1))
    total = summed(rows * b, (-2,))
    return view(total, [(0, 0, 1), (None, 0, 1), (1, 0, 1)], (a.shape[0], b.shape[1]))


def _meaning(a: np.ndarray, b: np.ndarray, *_: object) -> np.ndarray:
    return np.matmul(a, b)


STRUCTURE["product"] = Structural(
    meaning=_meaning,
    adjoint=lambda cotangent, node: product(full(cotangent, node.shape), transposed(node.args[1])),
    tangent=lambda node, dot: product(full(dot, node.args[0].shape), node.args[1]),
    second=(
        lambda cotangent, node: product(transposed(node.args[0]), full(cotangent, node.shape)),
        lambda node, dot: product(node.args[0], full(dot, node.args[1].shape)),
    ),
)
