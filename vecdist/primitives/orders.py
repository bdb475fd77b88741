"""The order of elements: a stage between kernels, which gives the permutation that a gather then follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.node import Node
from vecdist.primitives.calls import Call, called, signature


def _places(x: Any) -> Any:
    """The stable order, NaN last, by NumPy or by CuPy, which has no other."""
    return x.argsort(-1, kind="stable") if isinstance(x, np.ndarray) else x.argsort(-1)


ORDER = Call("argsort", _places, lambda *_: [None], lambda *_: [None], True, signature("n->n"))


def order(x: Node) -> Node:
    """The places of the elements along the last axis in ascending order, ties as they stand: of no derivative."""
    return called(ORDER, (x,), ((x.shape, np.dtype(np.int64)),))[0]
