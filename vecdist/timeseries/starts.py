"""What a recurrence begins with."""

from __future__ import annotations

import numpy as np

from vecdist.graph.leaves import is_weak
from vecdist.lazy.array import LazyArray, Operand, as_lazy


def start(value: Operand, *beside: Operand) -> LazyArray:
    """``value`` with the shape and the dtype that it has in operations with what it meets."""
    met = [value, *beside]
    shape = np.broadcast_shapes(*(np.shape(each) for each in met))
    dtype = np.result_type(*(each if is_weak(each) else as_lazy(each).dtype for each in met))
    return as_lazy(np.broadcast_to(as_lazy(value), shape)).astype(dtype)
