"""NumPy's functions as steps of random programs: each makes an array of real numbers of one or two others.

Jumps are at odd numbers, where no other step ends.  What a step draws, as an axis or a mask, it draws once.  Constant
arrays are made where the arrays of a run are.
"""

import contextlib

import numpy as np

MADE = [np.asarray]


@contextlib.contextmanager
def constants_by(asarray):
    """Inside, constant arrays are made by this function, of a GPU's library say."""
    MADE.append(asarray)
    try:
        yield
    finally:
        MADE.pop()


def const(array):
    """A constant array, where the others of a run are."""
    return MADE[-1](array)


ELEMENTWISE = {
    "abs": np.abs, "arctan": np.arctan, "arcsinh": np.arcsinh, "cbrt": lambda x: np.cbrt(x + 30), "cos": np.cos,
    "arctan2": lambda x: np.arctan2(x, 1 + x * x), "astype": lambda x: x * (x * 3.037).astype("i4"),
    "bits": lambda x: x * np.bitwise_and((x * 5.071).astype("i8"), 3), "bool": lambda x: x * (x > 0),
    "clip": lambda x: np.clip(x, -1.1, 1.3), "copysign": lambda x: np.copysign(x, -1.0) * x, "deg2rad": np.deg2rad,
    "digitize": lambda x: x * np.digitize(x, [-1.012, 0.2037, 1.127]), "divmod": lambda x: divmod(x, 0.9137)[1] * x,
    "exp": lambda x: np.exp(-np.abs(x)), "exp2": lambda x: np.exp2(-np.abs(x)), "expm1": lambda x: np.expm1(np.tanh(x)),
    "float_power": lambda x: np.float_power(2 + np.tanh(x), 3), "floor": lambda x: x - np.floor(x * 0.7037),
    "floor_divide": lambda x: x + x // 0.8119, "fmax": lambda x: np.fmax(x, np.fmin(0.3, x * x)),
    "fmod": lambda x: np.fmod(x, 1.317), "heaviside": lambda x: np.heaviside(x, 0.5) * x,
    "hypot": lambda x: np.hypot(x, 1.5), "i0": lambda x: np.i0(np.tanh(x)),
    "interp": lambda x: np.interp(x, [-2.0, -1, 0.3, 1.4, 3], [0.1, 0.7, -0.3, 0.8, 1.0]),
    "isclose": lambda x: np.where(np.isclose(x, 0.5013, atol=0.3), x, 2 * x),
    "isfinite": lambda x: np.where(np.isfinite(np.log(x)), x, 0.1 * x), "log": lambda x: np.log(2 + np.tanh(x)),
    "log1p": lambda x: np.log1p(np.abs(x)), "logaddexp": lambda x: np.logaddexp(x, 0.3),
    "logaddexp2": lambda x: np.logaddexp2(0.3, x), "maximum": lambda x: np.maximum(x, 0.1),
    "minimum": lambda x: np.minimum(0.2, x), "mod": lambda x: np.mod(x, 1.711), "modf": lambda x: np.modf(x * 1.014)[0],
    "nan_to_num": lambda x: np.nan_to_num(np.where(x > 1.513, np.nan, x), nan=0.25), "negative": np.negative,
    "piecewise": lambda x: np.piecewise(x, [x < 0.1043, x >= 0.1043], [lambda v: v * v, np.sin]),
    "polyval": lambda x: np.polyval([0.1, -0.3, 0.2, 0.7], np.tanh(x)), "power": lambda x: (1 + np.abs(x)) ** 1.7,
    "powers": lambda x: (1.5 + np.tanh(x)) ** np.cos(x), "reciprocal": lambda x: np.reciprocal(2 + np.abs(x)),
    "rint": lambda x: x * np.rint(x * 1.019),
    "searchsorted": lambda x: x * np.searchsorted([-1.013, 0.1091, 0.9017], x),
    "select": lambda x: np.select([x < -0.5029, x > 0.7053], [x * 2, np.exp(-x * x)], 0.3),
    "sign": lambda x: np.sign(x) * x * x,
    "sin": np.sin, "sinc": np.sinc, "sqrt": lambda x: np.sqrt(1 + x * x), "square": np.square, "tanh": np.tanh,
    "trunc": lambda x: np.trunc(x * 2.031) * x, "where": lambda x: np.where(x > 0.2519, np.sin(x), x * x),
}  # fmt: skip


def _softmax(x, axis):
    parts = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return parts / parts.sum(axis, keepdims=True)


def _largest(x, axis):
    return np.take_along_axis(x * x, np.expand_dims(np.argmax(x, axis=axis), axis), axis=axis)


WITH_AXIS = {
    "accumulated logaddexp": lambda x, axis: np.logaddexp.accumulate(x, axis=axis),
    "accumulated maximum": lambda x, axis: np.maximum.accumulate(x, axis=axis), "argmax": _largest,
    "argsort": lambda x, axis: np.take_along_axis(np.sin(x), np.argsort(x, axis=axis), axis=axis),
    "centred": lambda x, axis: x - x.mean(axis, keepdims=True),
    "cumprod": lambda x, axis: np.cumprod(np.cos(x), axis=axis),
    "cumsum": np.cumsum, "diff": lambda x, axis: np.diff(x, axis=axis, append=np.take(x, [0], axis=axis)),
    "fft": lambda x, axis: np.fft.fft(x, axis=axis).imag, "flip": np.flip,
    "irfft": lambda x, axis: np.fft.irfft(np.fft.rfft(x, axis=axis) * (1 + 0.5j), n=x.shape[axis], axis=axis),
    "largest": lambda x, axis: (x == x.max(axis, keepdims=True)) * x, "max": np.max, "mean": np.mean,
    "median": np.median,
    "min": np.min, "norm": lambda x, axis: np.linalg.norm(x, axis=axis),
    "percentile": lambda x, axis: np.percentile(x, [10, 55, 80], axis),
    "norm of largest": lambda x, axis: np.linalg.norm(x, np.inf, axis=axis), "ptp": np.ptp,
    "prod": lambda x, axis: np.prod(np.cos(x), axis=axis),
    "quantile": lambda x, axis: np.quantile(x, 0.3, axis=axis, method="hazen"),
    "rfft": lambda x, axis: np.abs(np.fft.rfft(x + 0.3, axis=axis)) ** 2, "softmax": _softmax, "sort": np.sort,
    "standardised": lambda x, axis: x / np.sqrt(0.3 + x.var(axis, keepdims=True)), "std": np.std, "sum": np.sum,
    "summed logaddexp": lambda x, axis: np.logaddexp.reduce(x, axis=axis),
    "trapezoid": lambda x, axis: np.trapezoid(x, dx=0.3, axis=axis),
    "unwrap": lambda x, axis: np.unwrap(3 * x, axis=axis),
    "var": np.var,
}  # fmt: skip
OF_NUMBERS = {  # among which some are NaN
    name: getattr(np, name) for name in ("nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanstd", "nansum")
}
OF_MATRICES = {  # that are symmetric and definite
    "cholesky": np.linalg.cholesky, "cond": np.linalg.cond, "det": np.linalg.det, "eigvalsh": np.linalg.eigvalsh,
    "eigh": lambda m: np.abs(np.linalg.eigh(m)[1]), "inv": np.linalg.inv, "pinv": np.linalg.pinv,
    "matrix_norm": lambda m: np.linalg.norm(m, "nuc", axis=(-2, -1)), "qr": lambda m: np.abs(np.linalg.qr(m)[1]),
    "matrix_power": lambda m: np.linalg.matrix_power(m / 4, 3), "slogdet": lambda m: np.linalg.slogdet(m)[1],
    "solve": lambda m: np.linalg.solve(m, m[..., :1] + np.tanh(m[..., -1:])), "svdvals": np.linalg.svdvals,
}  # fmt: skip


def _definite(x):
    """A matrix for each of the rows before the last two axes, whose eigenvalues are apart."""
    rows = x.reshape(x.shape[0], -1) if x.ndim == 1 else x
    return rows @ np.swapaxes(rows, -1, -2) / rows.shape[-1] + const(np.diag(0.7 + 0.3 * np.arange(rows.shape[-2])))


BROADCAST = {
    "add": np.add, "arctan2 of two": lambda x, y: np.arctan2(x, 1 + y * y),
    "clip between": lambda x, y: np.clip(x, y, y + 0.5),
    "copysign of two": np.copysign, "divide": lambda x, y: x / (1.5 + np.abs(y)),
    "equal": lambda x, y: (x == y) + x * (x >= y),
    "floor_divide of two": lambda x, y: x // (1 + np.abs(y)) + x, "fmod of two": lambda x, y: np.fmod(x, 1 + np.abs(y)),
    "heaviside of two": np.heaviside, "hypot of two": lambda x, y: np.hypot(x, y + 0.1),
    "ldexp": lambda x, y: np.ldexp(x, 2) * y,
    "logaddexp of two": np.logaddexp, "maximum of two": np.maximum, "minimum of two": np.minimum,
    "mod of two": lambda x, y: np.mod(x, -1 - np.abs(y)), "multiply": np.multiply, "subtract": np.subtract,
    "power of two": lambda x, y: (1 + np.abs(x)) ** np.tanh(y), "where of two": lambda x, y: np.where(x < y, x * y, y),
}  # fmt: skip


def _first(x, count):
    return x.ravel()[:count]


def _block(x, y):
    two, one = _first(x, 2), _first(y, 1)
    return np.block([[two, one], [one, two]])


def _rank(x):
    """The place of each element in order; those that are equal but for their rounding are moved apart."""
    apart = x + const(np.cos(np.arange(x.size) * 2.3).reshape(x.shape) * 1e-3)
    return np.searchsorted(np.sort(apart.ravel()), apart)


PAIRS = {  # of any shapes
    "append": np.append, "block": _block,
    "choose": lambda x, y: np.where(_first(x, 1) > _first(y, 1), x.sum(), y.sum() * 0.3),
    "concatenate": lambda x, y: np.concatenate([x.ravel(), y.ravel()]),
    "convolve": lambda x, y: np.convolve(_first(x, 20), _first(y, 6)),
    "correlate": lambda x, y: np.correlate(_first(x, 20), _first(y, 6), "same"),
    "histogram": lambda x, y: np.histogram(x, bins=4, range=(-2.0, 2.0), weights=x * x)[0] * y.sum(),
    "interp of two": lambda x, y: np.interp(x, const(np.arange(-1.0, min(6, y.size) - 1.0)), _first(y, 6)),
    "kron": lambda x, y: np.kron(_first(x, 5), _first(y, 4)),
    "logaddexp outer": lambda x, y: np.logaddexp.outer(_first(x, 6), _first(y, 5)),
    "matmul": lambda x, y: x.reshape(-1, x.shape[-1] if x.ndim else 1)[:, :1] @ y.reshape(1, -1)[:, :8],
    "meshgrid": lambda x, y: np.multiply(*np.meshgrid(_first(x, 6), _first(y, 5))),
    "outer": lambda x, y: np.outer(_first(x, 7), _first(y, 9)),
    "polyval of two": lambda x, y: np.polyval(_first(y, 4), np.tanh(x)),
    "rank": lambda x, y: _rank(x) * x + y.sum(),
    "quantile of two": lambda x, y: np.quantile(x.ravel(), 0.5 + 0.4 * np.tanh(_first(y, 2))),
    "take of two": lambda x, y: np.take(x.ravel(), np.clip((y * 3.037).astype("i8"), 0, x.size - 1)),
}  # fmt: skip
DRAWN = {}


def drawn(least=1, most=3):
    """Enter a step that is drawn for an array of so many axes, and may be ``None``."""

    def enter(make):
        DRAWN[make.__name__] = lambda rng, x: make(rng, x) if least <= x.ndim <= most else None
        return make

    return enter


def _axis(rng, x):
    return int(rng.integers(-x.ndim, x.ndim))


def _places(rng, x, axis, axes=2):
    return rng.integers(-x.shape[axis], x.shape[axis], tuple(rng.integers(1, 5, rng.integers(1, axes + 1))))


@drawn()
def along(rng, x):
    axis, function = _axis(rng, x), WITH_AXIS[str(rng.choice(list(WITH_AXIS)))]
    return lambda x: function(x, axis=axis)


@drawn()
def of_numbers(rng, x):
    axis, function = _axis(rng, x), OF_NUMBERS[str(rng.choice(list(OF_NUMBERS)))]
    missing = rng.random(x.shape) < 0.2
    np.moveaxis(missing, axis, 0)[0] = False
    return lambda x: function(np.where(const(missing), np.nan, x), axis=axis)


@drawn()
def matrix(rng, x):
    function = OF_MATRICES[str(rng.choice(list(OF_MATRICES)))]
    return (lambda x: function(_definite(x))) if x.shape[-2 if x.ndim > 1 else 0] <= 7 else None


@drawn(2)
def over_axes(rng, x):
    axes = tuple(axis for axis in range(x.ndim) if rng.random() < 0.6)
    function, keepdims = [np.sum, np.mean, np.max, np.var, np.min][rng.integers(5)], bool(rng.random() < 0.3)
    return lambda x: function(x, axis=axes, keepdims=keepdims)


@drawn()
def partition(rng, x):
    axis = _axis(rng, x)
    kth = int(rng.integers(x.shape[axis]))
    return lambda x: np.take(np.partition(x, kth, axis=axis), kth, axis=axis)


@drawn()
def gradient(rng, x):
    axis, order = _axis(rng, x), int(rng.integers(1, 3))
    return (lambda x: np.gradient(x, 0.7, axis=axis, edge_order=order)) if x.shape[axis] > order else None


@drawn()
def roll(rng, x):
    axis, shift = [None, _axis(rng, x)][rng.integers(2)], int(rng.integers(-7, 8))
    return lambda x: np.roll(x, shift, axis=axis)


@drawn(2)
def two_axes(rng, x):
    axes, k = tuple(int(axis) for axis in rng.choice(x.ndim, 2, replace=False)), int(rng.integers(-2, 4))
    k_there = int(rng.integers(-min(1, x.shape[axes[0]] - 1), min(2, x.shape[axes[1]])))
    return [
        lambda x: np.rot90(x, k, axes), lambda x: np.tril(x, k), lambda x: np.triu(x, k),
        lambda x: np.diagonal(x, k_there, *axes), lambda x: np.trace(x, k_there, *axes),
        lambda x: np.swapaxes(x, *axes),
    ][rng.integers(6)]  # fmt: skip


@drawn(1, 1)
def row(rng, x):
    weights, groups = rng.normal(size=int(rng.integers(1, 6))), rng.integers(0, 5, x.shape)
    mode, k = str(rng.choice(["full", "same", "valid"])), int(rng.integers(-1, 2))
    return [
        lambda x: np.diag(x, k), lambda x: np.convolve(x, const(weights), mode), lambda x: np.vander(np.tanh(x), 4),
        lambda x: np.correlate(x, const(weights), mode), lambda x: np.bincount(const(groups), weights=x, minlength=6),
    ][rng.integers(5)]  # fmt: skip


@drawn(2, 2)
def variables(rng, x):
    shifts = rng.normal(size=x.shape)
    function = np.cov if rng.random() < 0.5 else lambda x: np.corrcoef(x + const(shifts))
    return function if x.shape[0] > 1 and x.shape[1] > 3 else None


@drawn()
def pad(rng, x):
    widths = [tuple(int(n) for n in rng.integers(0, 4, 2)) for _ in x.shape]
    mode = str(rng.choice(["constant", "edge", "reflect", "wrap", "symmetric"]))
    return lambda x: np.pad(x, widths, mode=mode)


@drawn(0)
def tile(rng, x):
    times = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 4)))
    return lambda x: np.tile(x, times)


@drawn()
def repeat(rng, x):
    axis = _axis(rng, x)
    times = int(rng.integers(1, 4)) if rng.random() < 0.5 else rng.integers(0, 3, x.shape[axis])
    return lambda x: np.repeat(x, times, axis=axis)


@drawn()
def take(rng, x):
    axis = _axis(rng, x)
    places = _places(rng, x, axis)
    return lambda x: np.take(x, const(places), axis=axis)


@drawn(2)
def picked(rng, x):
    shape = tuple(rng.integers(1, 5, rng.integers(1, 3)))
    first, last = (rng.integers(-x.shape[axis], x.shape[axis], shape) for axis in (0, -1))
    return [
        lambda x: x[const(first)], lambda x: x[..., const(last)], lambda x: x[const(first), ..., const(last)],
    ][rng.integers(3)]  # fmt: skip


@drawn()
def masked(rng, x):
    mask = rng.random(x.shape[: int(rng.integers(1, x.ndim + 1))]) < 0.7
    mask.flat[0] = True
    return lambda x: x[mask]


@drawn()
def sliced(rng, x):
    kinds = [slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, None), None, -1]
    key = tuple(kinds[rng.choice(6, p=[0.3, 0.15, 0.15, 0.15, 0.1, 0.15])] for _ in x.shape)
    return lambda x: x[key]


@drawn()
def without(rng, x):
    axis = _axis(rng, x)
    place = int(rng.integers(x.shape[axis]))
    return [
        lambda x: np.delete(x, place, axis=axis), lambda x: np.insert(x, place, 0.7, axis=axis),
        lambda x: np.concatenate(np.array_split(x, 1 + place % 5, axis=axis)[::-1], axis=axis),
    ][rng.integers(3)]  # fmt: skip


@drawn(0)
def shaped(rng, x):
    divisors = [n for n in range(1, x.size + 1) if x.size % n == 0]
    rows = int(rng.choice(divisors))
    order = tuple(int(axis) for axis in rng.permutation(x.ndim))
    return [lambda x: x.reshape(rows, -1), lambda x: x.transpose(order), np.ravel, np.squeeze][rng.integers(4)]


@drawn()
def windows(rng, x):
    width = int(rng.integers(2, 5))
    view = np.lib.stride_tricks.sliding_window_view
    return (lambda x: view(x, width, axis=-1)) if x.shape[-1] >= width else None


@drawn()
def reduceat(rng, x):
    starts = np.unique(rng.integers(0, x.shape[0], 3))
    return lambda x: np.add.reduceat(x, starts, axis=0)
