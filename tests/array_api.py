"""The functions of the Python array API standard, 2024.12, that are given arrays: a call of each, of all that it takes.

Of ``a``, ``x`` is a matrix of floats, ``i`` one of whole numbers, ``b`` one of booleans, ``s`` a positive definite one.
"""

ELEMENTWISE = (
    "abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2 "
    "log10 negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc"
)
OF_TWO = (
    "add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp maximum "
    "minimum multiply nextafter not_equal pow remainder subtract"
)
OF_INTEGERS = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
OF_BOOLEANS = "logical_and logical_or logical_xor"

CALLS = {
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.x) for name in ELEMENTWISE.split()},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.x, a.x[:1] + 0.5) for name in OF_TWO.split()},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.i, a.i[:1]) for name in OF_INTEGERS.split()},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.b, a.b[:1]) for name in OF_BOOLEANS.split()},
    "bitwise_invert": lambda xp, a: xp.bitwise_invert(a.i), "logical_not": lambda xp, a: xp.logical_not(a.b),
    "clip": lambda xp, a: xp.clip(a.x, min=0.2, max=a.x[0, :]),
    "asarray": lambda xp, a: xp.asarray([xp.asarray(a.x[0], dtype=xp.float32), a.x[1]]),
    "empty_like": lambda xp, a: 0 * xp.empty_like(a.x, dtype=xp.int64, device="cpu"),
    "full_like": lambda xp, a: xp.full_like(a.x, 2, dtype=xp.float32, device="cpu"),
    "linspace": lambda xp, a: xp.linspace(a.x[0, 0], a.x[1, 1], 5, dtype=xp.float32, device="cpu", endpoint=False),
    "meshgrid": lambda xp, a: xp.meshgrid(a.x[0], a.i[0], indexing="ij"),
    "ones_like": lambda xp, a: xp.ones_like(a.i, dtype=xp.float64), "tril": lambda xp, a: xp.tril(a.x, k=1),
    "triu": lambda xp, a: xp.triu(a.x, k=-1), "zeros_like": lambda xp, a: xp.zeros_like(a.b, device="cpu"),
    "astype": lambda xp, a: xp.astype(a.x, xp.int32, copy=False, device="cpu"),
    "broadcast_arrays": lambda xp, a: xp.broadcast_arrays(a.x, a.i[0]),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a.x[0], (2, 3)),
    "can_cast": lambda xp, a: xp.can_cast(a.x, xp.float32), "finfo": lambda xp, a: xp.finfo(a.x).eps,
    "iinfo": lambda xp, a: xp.iinfo(a.i).max, "isdtype": lambda xp, a: xp.isdtype(a.x.dtype, "real floating"),
    "result_type": lambda xp, a: xp.result_type(a.x, a.i, xp.float32),
    "take": lambda xp, a: xp.take(a.x, xp.asarray([2, 0]), axis=1),
    "take_along_axis": lambda xp, a: xp.take_along_axis(a.x, a.i % 3, axis=0),
    "matmul": lambda xp, a: xp.matmul(a.x, a.s),
    "matrix_transpose": lambda xp, a: xp.matrix_transpose(a.x) + a.x.mT,
    "tensordot": lambda xp, a: xp.tensordot(a.x, a.s, axes=((1,), (0,))),
    "vecdot": lambda xp, a: xp.vecdot(a.x, a.s, axis=-2), "concat": lambda xp, a: xp.concat([a.x, a.i], axis=None),
    "expand_dims": lambda xp, a: xp.expand_dims(a.x, axis=1), "flip": lambda xp, a: xp.flip(a.x, axis=0),
    "moveaxis": lambda xp, a: xp.moveaxis(a.x[None], 0, 2), "permute_dims": lambda xp, a: xp.permute_dims(a.x, (1, 0)),
    "repeat": lambda xp, a: xp.repeat(a.x, xp.asarray([1, 0, 2]), axis=1),
    "reshape": lambda xp, a: xp.reshape(a.x, (-1,), copy=True), "roll": lambda xp, a: xp.roll(a.x, (1, 2), axis=(0, 1)),
    "squeeze": lambda xp, a: xp.squeeze(a.x[None], axis=0), "stack": lambda xp, a: xp.stack((a.x, a.s), axis=-1),
    "tile": lambda xp, a: xp.tile(a.x, (2, 1)), "unstack": lambda xp, a: xp.unstack(a.x, axis=1),
    "argmax": lambda xp, a: xp.argmax(a.x, axis=0, keepdims=True), "argmin": lambda xp, a: xp.argmin(a.x, axis=1),
    "count_nonzero": lambda xp, a: xp.count_nonzero(a.b, axis=0, keepdims=True),
    "searchsorted": lambda xp, a: xp.searchsorted(a.x[0], a.s, side="right", sorter=xp.argsort(a.x[0])),
    "where": lambda xp, a: xp.where(a.b, a.x, a.i),
    "argsort": lambda xp, a: xp.argsort(a.i % 3, axis=0, descending=True, stable=True) + xp.argsort(a.x),
    "sort": lambda xp, a: xp.sort(a.x, axis=0, descending=True, stable=False) + xp.sort(a.x),
    "cumulative_prod": lambda xp, a: xp.cumulative_prod(a.x, axis=0, include_initial=True),
    "cumulative_sum": lambda xp, a: xp.cumulative_sum(a.x, axis=1, dtype=xp.float32),
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.x, axis=0, keepdims=True)
       for name in ("max", "mean", "min")},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.x, axis=1, dtype=xp.float32) for name in ("prod", "sum")},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.x, axis=1, correction=1.0, keepdims=True)
       for name in ("std", "var")},
    **{name: lambda xp, a, name=name: getattr(xp, name)(a.b, axis=(0, 1)) for name in ("all", "any")},
    "diff": lambda xp, a: xp.diff(a.x, axis=0, n=1, prepend=a.x[:1], append=a.s[:1]),
    **{f"fft.{name}": lambda xp, a, name=name: getattr(xp.fft, name)(a.x, n=4, axis=0, norm="ortho")
       for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": lambda xp, a, name=name: getattr(xp.fft, name)(a.x, axes=(0, 1), s=(3, 2))
       for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"fft.{name}": lambda xp, a, name=name: getattr(xp.fft, name)(a.x, axes=(0,))
       for name in ("fftshift", "ifftshift")},
    "linalg.cholesky": lambda xp, a: xp.linalg.cholesky(a.s, upper=True),
    "linalg.cross": lambda xp, a: xp.linalg.cross(a.x, a.s, axis=0),
    **{f"linalg.{name}": lambda xp, a, name=name: getattr(xp.linalg, name)(a.s)
       for name in ("det", "eigh", "eigvalsh", "inv", "qr", "slogdet", "svdvals")},
    "linalg.diagonal": lambda xp, a: xp.linalg.diagonal(a.x, offset=1),
    "linalg.matmul": lambda xp, a: xp.linalg.matmul(a.x, a.s),
    "linalg.matrix_norm": lambda xp, a: xp.linalg.matrix_norm(a.x, keepdims=True, ord="nuc"),
    "linalg.matrix_power": lambda xp, a: xp.linalg.matrix_power(a.s, -2),
    "linalg.matrix_rank": lambda xp, a: xp.linalg.matrix_rank(a.x, rtol=0.1),
    "linalg.matrix_transpose": lambda xp, a: xp.linalg.matrix_transpose(a.x),
    "linalg.outer": lambda xp, a: xp.linalg.outer(a.x[0], a.s[1]),
    "linalg.pinv": lambda xp, a: xp.linalg.pinv(a.x, rtol=1e-9),
    "linalg.solve": lambda xp, a: xp.linalg.solve(a.s, a.x),
    "linalg.svd": lambda xp, a: xp.linalg.svd(a.x[:2], full_matrices=False),
    "linalg.tensordot": lambda xp, a: xp.linalg.tensordot(a.x, a.s, axes=1),
    "linalg.trace": lambda xp, a: xp.linalg.trace(a.x, offset=-1, dtype=xp.float32),
    "linalg.vecdot": lambda xp, a: xp.linalg.vecdot(a.x, a.s, axis=-1),
    "linalg.vector_norm": lambda xp, a: xp.linalg.vector_norm(a.x, axis=(0, 1), keepdims=True, ord=3),
}
REFUSED = {
    name: lambda xp, a, name=name: getattr(xp, name)(a.x)
    for name in ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
}
