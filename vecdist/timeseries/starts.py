"""What a recurrence begins with."""

from __future__ import annotations

import numpy as np

from vecdist.lazy.array import LazyArray, Operand, as_lazy


def start(value: Operand, *beside: Operand) -> LazyArray:
    """``value`` with the shape and the dtype that it has in operations with what it meets."""
    met = [as_lazy(value), *map(as_lazy, beside)]
    shape = np.broadcast_shapes(*(each.shape for each in met))
    dtype = np.result_type(*(each.dtype for each in met))
    return as_lazy(np.broadcast_to(met[0], shape)).astype(dtype)
