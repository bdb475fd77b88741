"""NumPy's ufuncs that are more than one operation on elements: of vectors and matrices, or of several results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.graph.node import cast
from vecdist.lazy.array import LazyArray, as_lazy, matmul, where
from vecdist.lazy.taken_apart import parts
from vecdist.lazy.tensor_products import matvec, vecdot, vecmat


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def _modf(x: Any) -> tuple[LazyArray, Any]:
    """What is behind the point, and what is before it, both with the sign of the number."""
    x = as_lazy(x)
    x = x.astype(np.modf.resolve_dtypes((x.dtype, None, None))[1])
    whole = np.trunc(x)
    return np.copysign(where(np.isinf(x), 0.0, x - whole), x), whole  # type: ignore[return-value]


def _frexp(x: Any) -> tuple[LazyArray, LazyArray]:
    x = as_lazy(x)
    dtype = np.frexp.resolve_dtypes((x.dtype, None, None))[1]
    mantissa, exponent = parts(cast(x.node, np.result_type(dtype, np.float32)))
    return LazyArray(mantissa), LazyArray(exponent)


FORMS: dict[str, Callable[..., Any]] = {
    "divmod": _divmod,
    "frexp": _frexp,
    "matmul": matmul,
    "matvec": matvec,
    "modf": _modf,
    "vecdot": vecdot,
    "vecmat": vecmat,
}
