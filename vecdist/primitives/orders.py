"""Elements in order, and the permutation that puts them there: calls between kernels.

What is sorted has the derivative of a gather by the permutation, which has none, and is found where it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node
from vecdist.primitives.calls import Call, called, signature
from vecdist.primitives.indexing import gather, scatter


def _sorted(x: Any) -> Any:
    """The elements along the last axis, NaN last, by NumPy or by CuPy."""
    found = x.copy()
    found.sort(-1)
    return found


def _places(x: Any) -> Any:
    """The stable order, NaN last, by NumPy or by CuPy, which has no other."""
    return x.argsort(-1, kind="stable") if isinstance(x, np.ndarray) else x.argsort(-1)


def _pull(args: Sequence[Node], results: Sequence[Node], back: Sequence[Node], ahead: int) -> Sequence[Node]:
    (x,) = args
    return [scatter(back[0], [order(x)], x.ndim - 1, x.shape)]


def _push(args: Sequence[Node], results: Sequence[Node], dots: Sequence[Node | None], ahead: int) -> Sequence[Node]:
    (x,), (dot,) = args, dots
    assert dot is not None
    return [gather(dot, [order(x)], x.shape[-1:], x.ndim - 1)]


SORT = Call("sort", _sorted, _pull, _push, True, signature("n->n"))
ORDER = Call("argsort", _places, lambda *_: [None], lambda *_: [None], True, signature("n->n"))


def in_order(x: Node) -> Node:
    """The elements along the last axis in ascending order."""
    return called(SORT, (x,), ((x.shape, x.dtype),))[0]


def order(x: Node) -> Node:
    """The places of the elements along the last axis in ascending order, ties as they stand: of no derivative."""
    return called(ORDER, (x,), ((x.shape, np.dtype(np.int64)),))[0]
