"""Running results for the simulator: rows shared by threads, warps and blocks, and cut into pieces."""

import numpy as np

from vecdist import lazy, logcumsumexp
from vecdist.lazy.array import LazyArray
from vecdist.primitives.scans import linear_recurrence

WARP = 32
ROWS = (np.arange(120) % 7 - 2.0).reshape(3, 40)


def x(n):
    return np.arange(n) % 11 - 4.0


def positive(n):
    return np.linspace(0.25, 4.0, n)


def long_rows(columns, dtype="f8"):
    return (np.arange(3 * columns) % 13 / 7.0 - 1.0).reshape(3, columns).astype(dtype)


def running(n):
    array = x(n)
    return ((lazy(array).cumsum() * positive(n)).sum(),), (array,)


def products(n):
    """Running products with zeros, whose derivatives are linear recurrences the other way."""
    array = positive(n)
    array[5 % n :: 37] = 0.0
    return ((lazy(array).cumprod() * positive(n)).sum(),), (array,)


def overflowing(columns):
    """Products of factors overflow, between which everything is 0."""
    factors, terms = np.full((3, columns), 1e10), np.zeros((3, columns))
    factors[:, 70::70], terms[:, 69::70] = 0.0, 1.5
    return (LazyArray(linear_recurrence(lazy(factors).node, lazy(terms).node, -1)),), ()


def recurrences(columns, dtype="f8"):
    """Linear recurrences of rows, forwards and backwards, beside a running sum that shares their loop."""
    rows = long_rows(columns, dtype)
    factors, terms = np.cos(rows), lazy(rows) * np.array(0.5, dtype)
    ends = (LazyArray(linear_recurrence(lazy(factors).node, terms.node, -1, back)) for back in (False, True))
    return (*ends, lazy(rows).cumsum(1)), ()


def extremes(columns, dtype="f8"):
    """Running extremes of numbers many of which are equal, with their gradient, or of integers."""
    array = np.round(long_rows(columns) * 2.0) + np.arange(columns) // 40
    if np.dtype(dtype).kind != "f":
        return (np.maximum.accumulate(lazy(array.astype(dtype)), 1), np.minimum.accumulate(lazy(ROWS), 0)), ()
    highest, lowest = np.maximum.accumulate(lazy(array), 1), np.minimum.accumulate(lazy(array)[:, ::-1], 1)
    return ((highest * positive(columns) - lowest**2).sum(),), (array,)


def extremes_of_infinities(columns):
    """From a NaN on all are, and -inf is larger than nothing else."""
    array = long_rows(columns)
    array[0, :70], array[1, 50], array[2, 90] = -np.inf, np.nan, np.inf
    return (np.maximum.accumulate(lazy(array), 1), np.minimum.accumulate(lazy(array), 1)), ()


def logarithms(columns):
    """Those of running sums of exponentials, of which each would overflow."""
    array = long_rows(columns) * 900.0
    array[1, :3] = -np.inf
    return ((logcumsumexp(lazy(array), 1)[:, 3:] * positive(columns)[3:]).sum(),), (array,)


def integers(columns):
    return (lazy(long_rows(columns) * 9).astype("i4").cumsum(1),), ()


def drawn(seed):
    """Rows or columns in some layout, forwards or backwards, by some operation."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(65, 700)))
    axis, backwards = -int(rng.integers(1, 3)), bool(rng.integers(2))
    shape = shape if axis == -1 else shape[::-1]
    factors, terms = (rng.normal(size=shape[::-1]).T if rng.integers(2) else rng.normal(size=shape) for _ in range(2))
    if seed % 2:
        return (LazyArray(linear_recurrence(lazy(np.tanh(factors)).node, lazy(terms).node, axis, backwards)),), ()
    given, turn = np.exp(factors / 30), slice(None, None, -1 if backwards else 1)
    turned = lazy(given)[turn] if axis == -2 else lazy(given)[:, turn]
    return ((turned.cumprod(axis) * terms).sum(),), (given,)


def layer(rows):
    """Running sums down columns of numbers that are sums of products themselves."""
    table, weights = np.cos(x(20 * rows)).reshape(rows, 20), np.sin(x(80)).reshape(4, 20)
    return (np.tanh((lazy(table)[:, None] * lazy(weights)).sum(axis=-1)).cumsum(axis=0),), ()


def cases(threads):
    """What to compute and where to differentiate, in how many blocks of so many threads, with how many lanes.

    ``None`` takes as many lanes as a launch would.
    """
    lanes = 1, 4, WARP, threads, 2 * threads, 4 * threads
    teams = [each for pair in zip(lanes[:3] * 2, lanes, strict=True) for each in pair]  # gradients: more loops
    teams += [-1, -2, -3, -7, -30]  # pieces of a thread each
    some = {f"random running results {seed}": (drawn(seed), 1, team) for seed, team in enumerate(teams)}
    return some | {
        "running sums and products of rows by warps": (((lazy(ROWS).cumsum(1), lazy(ROWS).cumprod(1)), ()), 2, WARP),
        "running sums of sums as launched": (layer(65), 1, None),
        "running sums of sums in pieces": (layer(130), 1, 2 * threads),
        "running sums of sums in pieces of a thread": (layer(130), 1, -5),
        "running sums down columns": (((lazy(ROWS).cumsum(0) * 2.0,), ()), 1, 4),
        "running sum of one row with gradient": (running(90), 1, WARP),
        "running products of one row with gradient": (products(90), 1, WARP),
        "running products of one row with gradient, by threads": (products(90), 1, 1),
        "running products with gradient in pieces": (products(1100), 1, 2 * threads),
        "running sums in pieces": (((lazy(long_rows(1100)).cumsum(1),), ()), 1, 4 * threads),
        "running sums of integers in pieces": (integers(700), 1, 2 * threads),
        "recurrences in pieces": (recurrences(1030), 1, 2 * threads),
        "recurrences of short rows in more pieces than they have tiles": (recurrences(90, "f4"), 1, 4 * threads),
        "running products with gradient by blocks": (products(300), 1, threads),
        "running sums of integers and products by teams": (
            ((lazy(long_rows(37) * 9).astype("i4").cumsum(1), lazy(long_rows(37)).cumprod(1)), ()), 2, 8,
        ),
        "running sums of integers by blocks": (integers(300), 1, threads),
        "running sums of what rows add up to": (((np.exp(lazy(ROWS)).sum(axis=0).cumsum(),), ()), 1, WARP),
        "logarithms of running sums of exponentials with gradient": (logarithms(150), 1, WARP),
        "running extremes with gradient by warps": (extremes(150), 1, WARP),
        "running extremes with gradient by blocks": (extremes(300), 1, (threads, threads, WARP)),
        "running extremes with gradient in pieces": (extremes(1030), 1, (2 * threads, threads, WARP)),
        "running extremes with gradient in pieces of a thread": (extremes(130), 1, -11),
        "running extremes of integers by teams": (extremes(200, "i4"), 1, 8),
        "running extremes of infinities and NaN in pieces": (extremes_of_infinities(700), 1, 2 * threads),
        "recurrences by warps": (recurrences(300), 1, WARP),
        "recurrences in float32 by blocks": (recurrences(520, "f4"), 1, threads),
        "recurrences of empty rows by blocks": (recurrences(0), 1, threads),
        "recurrences whose factors overflow": (overflowing(300), 1, threads),
        "running sums down columns in pieces": (((lazy(long_rows(500)).cumsum(0),), ()), 1, -2),
        "running sums in more pieces of a thread than there are elements": (running(90), 1, -200),
        "recurrences in pieces of a thread": (recurrences(130), 1, -11),
        "running products with gradient in pieces of a thread": (products(301), 1, -9),
        "recurrences down columns": (((LazyArray(linear_recurrence(*[lazy(ROWS).node] * 2, -2)),), ()), 1, 4),
    }
