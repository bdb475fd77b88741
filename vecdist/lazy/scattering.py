"""Values added at places: what ``np.add.at`` writes into an array, as another array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vecdist.graph.node import cast
from vecdist.lazy.array import LazyArray, Operand, operands
from vecdist.lazy.on_device import beside
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.indexing import scatter
from vecdist.primitives.structure import position, reshape


def add_at(a: Operand, indices: Any, b: Operand) -> LazyArray:
    """``a`` with ``b`` added to what stands at ``indices``, as often as they name it.

    What ``np.add.at(a, indices, b)`` makes of ``a``, which stays as it is.  ``indices`` are what ``a[indices]`` takes:
    slices, integers, arrays of them, lazy ones too, and tuples of these.  Sums of segments are those of zeros:

    >>> import numpy as np, vecdist
    >>> group, x = np.array([0, 2, 2, 0]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> np.asarray(vecdist.add_at(np.zeros(3), group, vecdist.lazy(x))).tolist()
    [5.0, 0.0, 5.0]
    """
    whole, values = operands(a, b)
    if not np.can_cast(values.dtype, whole.dtype, "same_kind"):
        raise TypeError(f"add_at cannot add {values.dtype} to an array of {whole.dtype}")
    size, lengths = math.prod(whole.shape), tuple(int(length) for length in whole.shape)
    each = indices if isinstance(indices, tuple) else (indices,)
    known = [beside((whole, values), at) if isinstance(at, np.ndarray) else at for at in each]
    places = LazyArray(position(*lengths))[tuple(known)]
    try:
        spread = LazyArray(broadcast_view(cast(values, whole.dtype), places.shape))
    except ValueError:
        raise ValueError(f"add_at: values of shape {values.shape} do not fit places of shape {places.shape}") from None
    found = scatter(spread.ravel().node, [places.ravel().node], 0, (size,))
    return LazyArray(whole + reshape(found, lengths))
