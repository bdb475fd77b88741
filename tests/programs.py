"""Random programs over arrays, each built twice: as lazy arrays and, the same calls, with NumPy.

Every number in them is a small whole one, so that float32 is exact and the order of a sum changes nothing: whoever
computes such a program must find the same values to the last bit.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from vecdist import LazyArray, lazy
from vecdist.passes.checks import split_checks

EXACT = 2.0**20  # whole numbers below it, and sums of a few of them, are exact in float32
DTYPES = ("f8", "f8", "f4", "i8", "i4", "?")


@dataclass(frozen=True)
class Program:
    """The arrays of a program, and its results as lazy arrays and as NumPy finds them."""

    arrays: list
    results: list
    values: list

    @property
    def roots(self):
        return tuple(result.node for result in self.results)

    @property
    def parameters(self):
        """The floating-point arrays: what derivatives are taken in."""
        return [array for array in self.arrays if array.dtype.kind == "f"]

    def scalar(self):
        """A scalar that depends on every result: each element with a weight of its own."""
        total = lazy(np.array(1.0)) * 0.0
        for result in self.results:
            weights = np.arange(1.0, result.size + 1).reshape(result.shape) % 5
            total = total + (result * weights).sum()
        return total


@st.composite
def programs(draw, dtypes=DTYPES, lengths=(1, 2, 3, 5, 0), most_steps=7, checks=False):
    """Programs of elementwise operations, reductions, views, gathers and reshapes over arrays that broadcast.

    Indices are always in range; with ``checks`` the programs find that out for themselves.
    """
    base = draw(st.lists(st.sampled_from(lengths), min_size=1, max_size=3))
    arrays = [draw(inputs(base, dtypes)) for _ in range(draw(st.integers(1, 3)))]
    pool = [(lazy(array), array) for array in arrays]
    for _ in range(draw(st.integers(1, most_steps))):
        step = draw(st.sampled_from(STEPS))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            made = step(draw, pool)
        if made is not None and _exact(made[1]):
            pool.append(made)
    results = draw(st.lists(st.sampled_from(pool[len(arrays) - 1 :]), min_size=1, max_size=2, unique_by=id))
    found = [lazy_one if checks else _unchecked(lazy_one) for lazy_one, _ in results]
    return Program(arrays, found, [np.asarray(value) for _, value in results])


def _unchecked(result):
    """A result without the checks of its indices."""
    (plain,), _ = split_checks((result.node,))
    return LazyArray(plain)


@st.composite
def inputs(draw, base, dtypes):
    """An array of small whole numbers that broadcasts with ``base``: dense, with strides, or transposed."""
    whole = [length if draw(st.booleans()) or draw(st.booleans()) else 1 for length in base]
    shape = whole[draw(st.integers(0, len(whole))) if draw(st.booleans()) else 0 :]
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low, high = (0, 1) if dtype.kind == "b" else (-2, 3)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    layout = draw(st.sampled_from(("dense", "dense", "strided", "transposed")))
    if layout == "strided":
        return rng.integers(low, high + 1, [2 * n for n in shape]).astype(dtype)[(slice(None, None, 2),) * len(shape)]
    if layout == "transposed":
        return rng.integers(low, high + 1, shape[::-1]).astype(dtype).T
    return rng.integers(low, high + 1, shape).astype(dtype)


def _exact(value):
    return np.asarray(value).size <= 300 and bool(np.all(np.abs(np.asarray(value, float)) < EXACT))


def _pick(draw, pool):
    return draw(st.sampled_from(pool))


def _number(pair):
    """A pair whose arithmetic NumPy and kernels agree on: booleans become int64."""
    one, value = pair
    return (one.astype("i8"), np.asarray(value).astype("i8")) if one.dtype == bool else pair


def _beside(draw, pool, shape):
    """A pair that broadcasts with ``shape``."""
    return _number(draw(st.sampled_from([pair for pair in pool if _fits(pair[0].shape, shape)] or pool)))


def _fits(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _binary(function):
    def step(draw, pool):
        x, u = _number(_pick(draw, pool))
        y, v = _beside(draw, pool, x.shape)
        return (function(x, y), function(u, v)) if _fits(x.shape, y.shape) else None

    return step


def _unary(function):
    def step(draw, pool):
        x, u = _number(_pick(draw, pool))
        return function(x), function(u)

    return step


def _choice(draw, pool):
    (x, u), (y, v) = (_number(_pick(draw, pool)) for _ in range(2))
    z, w = _beside(draw, pool, np.broadcast_shapes(x.shape, y.shape) if _fits(x.shape, y.shape) else ())
    if not _fits(x.shape, y.shape) or not _fits(np.broadcast_shapes(x.shape, y.shape), z.shape):
        return None
    return np.where(x < y, y, z), np.where(u < v, v, w)


def _sum(draw, pool):
    x, u = _pick(draw, pool)
    axes = tuple(axis for axis in range(x.ndim) if draw(st.booleans()))
    keep = draw(st.booleans())
    return x.sum(axis=axes, keepdims=keep), np.sum(u, axis=axes, keepdims=keep, dtype=x.sum().dtype)


def _reduction(name):
    """A product, or the largest or smallest element, over any axes that are not empty."""

    def step(draw, pool):
        x, u = _number(_pick(draw, pool))
        axes = tuple(axis for axis in range(x.ndim) if x.shape[axis] and draw(st.booleans()))
        keep = draw(st.booleans())
        return getattr(x, name)(axis=axes, keepdims=keep), getattr(np, name)(u, axis=axes, keepdims=keep)

    return step


def _column_sums(draw, pool):
    """Sums over the first axes, of rows that are repeated: tall arrays are read row by row."""
    x, u = _number(_pick(draw, pool))
    if not x.ndim:
        return None
    rows = draw(st.sampled_from((1, 2, 7)))
    x, u = np.broadcast_to(x, (rows, *x.shape)), np.broadcast_to(u, (rows, *np.shape(u)))
    axes = tuple(range(draw(st.integers(1, x.ndim - 1))))
    return x.sum(axis=axes), np.sum(u, axis=axes, dtype=x.sum().dtype)


def _gather(draw, pool):
    """Elements picked along one axis, or two, by arrays of whole numbers, some of them negative."""
    x, u = _number(_pick(draw, pool))
    if not x.ndim or not x.size:
        return None
    first = draw(st.integers(0, x.ndim - 1))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    picked = draw(st.sampled_from(((), (1,), (3,), (2, 2), (0,), (11,))))
    axes = range(first, min(x.ndim, first + draw(st.integers(1, 2))))
    index = tuple(rng.integers(-x.shape[axis], x.shape[axis], picked) for axis in axes)
    key = (*[slice(None)] * first, *(np.asarray(each, draw(st.sampled_from(("i8", "i4", "i1")))) for each in index))
    return x[key], np.asarray(u)[key]


def _mean_deviation(draw, pool):
    """The row minus its sum: the sum is used again by the loop that made it."""
    x, u = _number(_pick(draw, pool))
    if not x.ndim:
        return None
    return x - x.sum(axis=-1, keepdims=True), u - np.sum(u, axis=-1, keepdims=True, dtype=x.sum().dtype)


def _index(draw, pool):
    x, u = _pick(draw, pool)
    key = []
    for length in x.shape:
        kind = draw(st.sampled_from(("all", "slice", "at", "new")))
        key += [None] if kind == "new" else []
        start = draw(st.integers(-length - 1, length + 1))
        step = draw(st.sampled_from((1, 2, -1, -2)))
        at = draw(st.integers(-length, length - 1)) if kind == "at" and length else slice(None)
        key.append(slice(start, None, step) if kind == "slice" else at)
    return x[tuple(key)], np.asarray(u)[tuple(key)]


def _transpose(draw, pool):
    x, u = _pick(draw, pool)
    order = tuple(draw(st.permutations(range(x.ndim))))
    return x.transpose(order), np.asarray(u).transpose(order)


def _reshape(draw, pool):
    x, u = _pick(draw, pool)
    front = draw(st.sampled_from([n for n in (1, 2, 3, 5, x.size) if n and x.size % n == 0]))
    shape = draw(st.sampled_from([(front, x.size // front), (x.size // front, front), (x.size,)])) if x.size else (0,)
    return x.reshape(shape), np.asarray(u).reshape(shape)


def _spread(draw, pool):
    x, u = _pick(draw, pool)
    shape = tuple(draw(st.sampled_from((2, 3))) if n == 1 else n for n in x.shape)
    return np.broadcast_to(x, shape), np.broadcast_to(u, shape)


STEPS = (
    _binary(np.add), _binary(np.subtract), _binary(np.multiply), _unary(np.negative), _unary(np.abs), _unary(np.square),
    _choice, _sum, _sum, _mean_deviation, _index, _transpose, _reshape, _spread, _reduction("prod"), _reduction("max"),
    _reduction("min"), _column_sums, _gather, _gather,
)
