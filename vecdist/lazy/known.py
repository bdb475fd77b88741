"""What must be known before an expression is computed, because the shape of a result depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.leaves import on_host
from vecdist.lazy.array import LazyArray


def is_known(value: Any) -> bool:
    """Whether an array is there and does not change: NumPy's or CuPy's, or what ``vecdist.data`` marks."""
    if not isinstance(value, LazyArray):
        return True
    return value.node.op == "leaf" and value.node.attrs[0].constant


def known(name: str, what: str, value: Any) -> np.ndarray:
    """An array that is there, in host memory."""
    if not is_known(value):
        raise TypeError(f"{name} of a lazy array wants {what} that are known: the shape of the result depends on them")
    return on_host(value.node.attrs[0].array if isinstance(value, LazyArray) else value)
