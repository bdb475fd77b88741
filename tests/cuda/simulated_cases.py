"""Small expressions for the CUDA simulator: what to compute, where to differentiate, in how many blocks and lanes."""

import few_rows_cases
import layers_cases
import numpy as np
import own_sums_cases
import prefix_cases
import random_chains
import row_sums_cases
import steps_cases
from small_blocks import THREADS

from vecdist import lazy, logpdf, logsumexp, random, sample, scan, signal
from vecdist import mixture as mixture_of
from vecdist.distributions import Gamma, Normal
from vecdist.graph.node import const
from vecdist.lazy.array import LazyArray
from vecdist.primitives.loops import local, loop

WARP = 32


def x(n, dtype="f8"):
    return (np.arange(n) % 11 - 4.0).astype(dtype)


def positive(n, dtype="f8"):
    return np.linspace(0.25, 4.0, n).astype(dtype)


def model(n, dtype="f8", scale=1.5):
    mean, spread = np.array(0.5, dtype), np.array(scale, dtype)
    return (logpdf(Normal(mean, spread), positive(n, dtype)).sum(),), (mean, spread)


def gamma(n, dtype="f8"):
    points = positive(n, dtype)
    points[5::97] = [0.0, np.inf, -1.0, 1e-310, np.nan][: points[5::97].size] if n < 490 else 0.0
    return (logpdf(Gamma(np.array(2.5, dtype), np.array(0.5, dtype)), points),), ()


def gamma_sum(n, dtype="f8"):
    """Some points are no normal numbers, for which threads leave the short way: each must keep to its own elements."""
    points = positive(n, dtype)
    points[5::97] = np.finfo(dtype).tiny / 8
    shape = np.array(2.5, dtype)
    return (logpdf(Gamma(shape, np.array(0.5, dtype)), points).sum(),), (shape,)


def short_rows(rows, columns, dtype="f8"):
    """Rows that a thread has for itself, and of which it stores a result for each element."""
    table = (x(rows * columns, dtype) / 4).reshape(rows, columns)
    scales = positive(columns, dtype)
    each = logpdf(Normal(np.array(0.5, dtype), scales), lazy(table)).sum(axis=1)
    return ((each * lazy(table)[:, 0]).sum(),), (table,)


def short_slices(rows, columns):
    """The first eight elements of rows that are longer, beside the rest: vectors may not begin there."""
    table = (x(rows * columns) / 4).reshape(rows, columns)
    first, rest = lazy(table)[:, :8], lazy(table)[:, 8:]
    return ((logpdf(Normal(0.5, 2.0), first).sum() + (rest**2 * first[:, :1]).sum()),), (table,)


def neighbours(columns, dtype="f8"):
    """Products along rows of which all are added up: rows are shared as tiles by all threads."""
    rows = positive(20 * columns, dtype).reshape(20, columns)
    return ((lazy(rows)[:, 1:] * lazy(rows)[:, :-1]).sum(),), (rows,)


def effects_of_rows(rows, columns, dtype="f8"):
    """Rows of which all are added up, and so are the effects that each has: by one lane of one of its tiles."""
    effects, table = x(rows, dtype) / rows, positive(rows * columns, dtype).reshape(rows, columns)
    apart = lazy(table)[:, 1:] * lazy(table)[:, :-1] * lazy(effects)[:, None]
    return (np.tanh(0.01 * apart.sum()) - (lazy(effects) ** 2).sum(),), (effects,)


def slopes(array):
    return ((lazy(array)[1:] * lazy(array)[:-1]).sum() + lazy(array)[::-2].sum() * 3.0,), (array,)


def joined(n, dtype="f8"):
    """Parts beside each other, each of which is added to alone; infinite ones stay what they are."""
    parts = [positive(n, dtype), positive(n + 30, dtype) - 2, np.array([-np.inf, -0.0], dtype)]
    whole = np.concatenate([np.log(lazy(parts[0])), lazy(parts[1]) ** 2, lazy(parts[2])])
    return (whole, (np.roll(whole[: 2 * n], n // 2) * whole[: 2 * n]).sum()), tuple(parts[:2])


def rearranged(rows):
    """Stacked, padded and repeated rows, and their diagonals."""
    table = np.cos(np.arange(1.0, rows * rows + 1)).reshape(rows, rows)
    padded = np.pad(lazy(table), ((1, 0), (2, 1)), "edge") * 0.5
    stacked = np.stack([np.tril(padded[1:, 2:-1]), np.diag(np.diagonal(lazy(table)) ** 2)])
    return ((stacked**2).sum() + (np.repeat(padded, 2, 1) ** 3).sum(),), (table,)


def windows(steps):
    """Steps that keep what was before, joined anew."""
    weights, shocks = np.array([0.3, -0.2, 0.1]), positive(steps)

    def step(window, shock):
        new = (window * lazy(weights)).sum() + shock
        return np.concatenate([new[None], window[:-1]]), new

    return ((scan(step, np.zeros(3), lazy(shocks))[1] ** 2).sum(),), (weights, shocks)


def group_sums(n):
    """Sums of groups, read again by their members."""
    group, weights = np.arange(n) * 3 % 7, positive(n)
    sums = np.bincount(group, lazy(weights) ** 2)
    return ((np.log(sums)[group] * lazy(weights)).sum() + (sums**2).sum(),), (weights,)


def searched(n):
    """Places: of extremes, with NaN among them, and in sorted numbers."""
    points, knots = x(n), np.array([-3.0, -1.5, 0.5, 2.0, 5.0])
    points[n // 2] = np.nan
    rows = np.stack([lazy(points), -lazy(points[::-1].copy())])
    return (rows.argmax(1), rows.argmin(0), np.searchsorted(knots, lazy(points)),
            np.interp(lazy(points), knots, np.cos(knots))), ()


def layer(shape, filters, dtype="f8"):
    """A layer of convolutions, with gradients, along axes that are loops in each other."""
    images, weights = (lazy(x(np.prod(each), dtype).reshape(each)) for each in (shape, filters))
    return ((np.square(signal.conv(images, weights, padding=1)).sum(),), (images, weights))


def tensor(shape):
    """An array whose axes are all indexed, so that none is one with its neighbour."""
    given = lazy(x(np.prod(shape)).reshape(shape))
    return ((np.exp(given[:, 1:, ::2, ::-1]) * given[:, :-1, 1::2],), ())


def regression(rows, columns, dtype="f8"):
    """Each row is read once: for its linear predictor, and for its part of the gradient."""
    table = ((np.arange(rows * columns) * 7 % 13 - 6.0) / 5).reshape(rows, columns).astype(dtype)
    weights = np.linspace(-1, 1, columns).astype(dtype)
    return (logpdf(Normal(table @ lazy(weights), 2.0), x(rows, dtype)).sum() + (lazy(weights) ** 2).sum(),), (weights,)


def mixture(points, dtype="f8", components=5):
    """What varies with the component alone is kept in shared memory."""
    means, log_sd = (np.linspace(-end, end, components).astype(dtype) for end in (2.0, 0.5))
    each = logpdf(Normal(lazy(means), np.exp(lazy(log_sd))), lazy(x(points, dtype))[:, None])
    return (logsumexp(each, axis=-1).sum(),), (means, log_sd)


def mixed(points, dtype="f8", components=5):
    """A component's parameters are added to by two loops of a row: one for the value, one for its weight."""
    weights, shape, scale = (np.linspace(1, end, components).astype(dtype) for end in (2.0, 3.0, 0.5))
    each = mixture_of(lazy(weights) / weights.sum(), Gamma(lazy(shape), lazy(scale)))
    return (logpdf(each, positive(points, dtype)).sum(),), (weights, shape, scale)


def at_two_depths(points, many):
    """An array is added to by a loop that the lanes of a team share, and by one that each of them runs alone."""
    means, table = np.linspace(-1, 1, many), (np.arange(points * 3) % 7 - 3.0).reshape(points, 3)
    rows = np.exp(lazy(means) * x(points)[:, None] * 0.1).sum(axis=1)
    inner = np.exp(lazy(means) * 0.1 * table[:, :, None]).sum(axis=2)
    return (np.log(rows + np.square(inner).sum(axis=1)).sum(),), (means,)


def looped(n):
    """Loops of elements, beside what is shorter for elements away from edges."""
    points, spread = positive(n), positive(n) + 1.0
    points[5::97] = 0.0
    scale, given = local(0, np.float64), local(1, np.float64)
    start, test = const(1.0), abs(scale * scale - given) > 1e-14 * given
    root = loop(const(True, np.bool_), [start], [lazy(spread).node], test, [0.5 * (scale + given / scale)])[0]
    return (logpdf(Gamma(2.5, LazyArray(root)), points).sum(),), (spread,)


def groups(rows, many):
    means, group = np.linspace(-1, 1, many), np.arange(rows) * 5 % many
    return (logpdf(Normal(lazy(means)[group], 2.0), x(rows)).sum() + (lazy(means) ** 2).sum(),), (means,)


def batch(rows, size):
    """A regression on rows that are picked by a key."""
    slopes, picked = np.linspace(-1.0, 1.0, 3), random.minibatch(np.array(5), np.array(2), size, rows)
    table = np.arange(3.0 * rows).reshape(rows, 3) % 11 / 7.0
    return (logpdf(Normal(lazy(table)[picked] @ lazy(slopes), 2.0), lazy(x(rows))[picked]).sum(),), (slopes,)


def long_rows(columns, dtype="f8"):
    return (np.arange(3 * columns) % 13 / 7.0 - 1.0).reshape(3, columns).astype(dtype)


def softmax(table):
    """Sums and extremes of each row, read again in it, the last of them for the one after the other."""
    highest = lazy(table).max(axis=1, keepdims=True)
    parts = np.exp(lazy(table) - highest)
    shares = parts / parts.sum(axis=1, keepdims=True)
    return (shares, (shares * lazy(table)).sum(axis=1), logsumexp(lazy(table), axis=1)), ()


def scattered_rows(columns):
    """Elements of a row that are added up by an index, by atomic additions."""
    means, group = np.linspace(-1, 1, 5), np.arange(columns) * 3 % 5
    rows = long_rows(columns)
    return (logpdf(Normal(lazy(means)[group] + rows.sum(axis=1)[:, None], 2.0), rows).sum(),), (means,)


def walk(count):
    """A random walk of scalars, each of them an array of its own: its steps are calls of one function."""
    steps = [np.array(value) for value in x(count)]
    moves = [logpdf(Normal(0.5 * lazy(a), 1.0 + n), b) for n, (a, b) in enumerate(zip(steps, steps[1:], strict=False))]
    return (sum(moves),), tuple(steps)


def several(array, number):
    """Results that share one loop."""
    return tuple((lazy(array) * float(n)).sum() for n in range(number)), ()


ROWS = (np.arange(120) % 7 - 2.0).reshape(3, 40)
TRANSPOSED = np.arange(12.0).reshape(3, 4).T
STRIDED = np.arange(60.0).reshape(6, 10)[::2, 1::3]

LONG_ROWS = {
    "empty rows": long_rows(0),
    "short rows": long_rows(7),
    "rows of a block less one": long_rows(THREADS - 1),
    "rows of a block": long_rows(THREADS),
    "rows of a block and one": long_rows(THREADS + 1),
    "rows of many turns": long_rows(1100),
}

FAR_ANGLES = np.concatenate([x(60), 1e9 * x(30)])
FAR = lazy(FAR_ANGLES)


def cell(length, dtype):
    """An LSTM cell that is flushed, copied or updated, and its gradient: branches in branches."""
    c, f, i, g = (np.sin(number + x(length)).astype(dtype) for number in range(4))
    z, zb = (lazy(np.arange(length) // each % 2 == 0) for each in (1, 2))
    new = np.tanh(lazy(g)) / (1.0 + np.exp(-lazy(i)))
    return (np.where(z, new, np.where(zb, c, lazy(c) / (1.0 + np.exp(-lazy(f))) + new)).sum(),), (c, f, i, g)


EDGES = np.where(np.arange(1100) % 400 == 7, -1.0, positive(1100))  # whole tiles, some with an element outside
# What to compute and where to differentiate, in how many blocks, with how many lanes in a team (of each nest, or all).
CASES = {
    "elementwise float64": (((lazy(x(300)) * 2.0 + np.sqrt(positive(300)),), ()), 1, 1),
    "elementwise float32": (((lazy(x(300, "f4")) * 2.0 - x(300, "f4"),), ()), 2, 1),
    "elementwise, whole tiles": (((lazy(x(4500)) * 2.0,), ()), 1, 1),
    "elementwise, tiles of three blocks": (((lazy(x(9000, "f4")) * 2.0,), ()), 3, 1),
    "elementwise, no elements": (((lazy(x(0)) * 2.0,), ()), 1, 1),
    "sum": (((lazy(x(700)).sum(),), ()), 1, 1),
    "sum of three blocks": (((np.square(lazy(x(7000))).sum(),), ()), 3, 1),
    "sum of nothing": (((lazy(x(0)).sum() + 1.0,), ()), 1, 1),
    "sum in float32": (((lazy(x(5000, "f4")).sum(),), ()), 3, 1),
    "many sums": (several(x(300), 18), 3, 1),
    "sums of two lengths": (((lazy(x(300)).sum() + lazy(x(40)).sum(),), ()), 3, 1),
    "Normal with gradient": (model(300), 1, 1),
    "very many scalars": (walk(50), 1, 1),
    "Normal with gradient, three blocks": (model(900), 3, 1),
    "Normal in float32": (model(300, "f4"), 1, 1),
    "Gamma with edges": (gamma(300), 1, 1),
    "Gamma, whole tiles with edges": (gamma(1100, "f4"), 1, 1),
    "sum of Gamma, whole tiles with edges": (gamma_sum(900), 2, 1),
    "sums beside cases, with edges": (((np.square(lazy(EDGES)).sum(), logpdf(Gamma(2.0, 1.5), EDGES)), ()), 2, 1),
    "sum of Gamma in float32, whole tiles with edges": (gamma_sum(1100, "f4"), 1, 1),
    "product and extremes": (((lazy(x(700)).max(), lazy(x(700, "i4")).min(), lazy(positive(9)).prod()), ()), 3, 1),
    "row extremes by warps": (((lazy(ROWS).max(axis=1), lazy(ROWS).min(axis=1)), ()), 1, WARP),
    "regression by threads": (regression(30, 5), 2, 1),
    "regression by teams of four": (regression(140, 30), 2, 4),
    "regression by teams of any length": (regression(40, 70), 1, 8),
    "regression in float32 by warps": (regression(12, 70, "f4"), 1, WARP),
    "layer of convolutions": (layer((2, 2, 5, 6), (3, 2, 2, 3)), 2, 1),
    "layer of convolutions by teams": (layer((2, 3, 4, 5), (2, 3, 3, 2), "f4"), 1, 4),
    "array of four axes": (tensor((2, 3, 4, 70)), 2, 4),
    "loops of elements": (looped(300), 2, 1),
    "groups": (groups(300, 7), 1, 1),
    "groups of many rows, added up by blocks": (groups(900, 7), 3, 1),
    "mixture": (mixture(90), 2, 1),
    "mixture in float32 by teams": (mixture(20, "f4", 28), 1, 4),
    "mixture of components with parameters": (mixed(90), 1, 1),
    "mixture of components with parameters in float32 by teams": (mixed(40, "f4", 28), 1, 4),
    "mixture of many components with parameters, in slots": (mixed(30, "f8", 70), 1, 8),
    "one array added to at two depths": (at_two_depths(40, 5), 2, 1),
    "one array added to at two depths by teams": (at_two_depths(40, 28), 2, 4),
    "one array added to at two depths by teams of any length": (at_two_depths(30, 70), 1, 8),
    "row sums by threads": (((lazy(ROWS).sum(axis=1),), ()), 1, 1),
    "row sums by warps": (((lazy(ROWS).sum(axis=1),), ()), 1, WARP),
    "row sums used again by threads": (((lazy(ROWS) - lazy(ROWS).sum(axis=1, keepdims=True),), ()), 1, 1),
    "row sums used again by warps": (((lazy(ROWS) - lazy(ROWS).sum(axis=1, keepdims=True),), ()), 2, WARP),
    **{
        f"{name} by blocks": (((np.log(1.0 + np.exp(lazy(rows)).sum(axis=1)).sum(),), (rows,)), 2, THREADS)
        for name, rows in LONG_ROWS.items()
    },
    "long rows by warps": (softmax(long_rows(300)), 1, WARP),
    "extremes of long rows by blocks": (
        ((lazy(long_rows(300)).max(axis=1), lazy(long_rows(300)).prod(axis=1)), ()), 1, THREADS,
    ),
    "integers by blocks": (
        ((lazy(long_rows(300) * 9).astype("i4").min(axis=1), lazy(long_rows(90, "i4")).sum(axis=1)), ()), 1, THREADS,
    ),
    "softmax by blocks": (softmax(long_rows(300)), 1, THREADS),
    "softmax in float32 by blocks": (softmax(long_rows(520, "f4")), 2, THREADS),
    "running sums by blocks": (((logsumexp(lazy(long_rows(90)).cumsum(1), axis=1),), ()), 1, (WARP, THREADS)),
    "regression by teams of any length, in slots": (regression(66, 65), 2, 8),
    "regression in tiles, in slots": (regression(301, 300), 2, 8),
    "regression in slots of blocks": (regression(301, 300), 2, THREADS),
    "regression of few rows, by blocks and by threads": (regression(2, 300), 1, (THREADS, 1)),
    "scattered elements of rows by warps and threads": (scattered_rows(100), 1, (WARP, 1)),
    "short rows with gradients of each element": (short_rows(70, 8), 1, 1),
    "short rows in float32 with gradients of each element": (short_rows(70, 8, "f4"), 2, 1),
    "short rows of six elements in float32": (short_rows(40, 6, "f4"), 1, 1),
    "slices of short rows with gradients of each element": (short_slices(40, 11), 1, 1),
    "short rows of five elements": (short_rows(40, 5), 1, 1),
    "neighbours along few long rows, in tiles": (neighbours(300), 2, WARP),
    "effects of few long rows, in tiles": (effects_of_rows(3, 300), 1, WARP),
    "effects of rows, in tiles": (effects_of_rows(20, 301, "f4"), 1, 8),
    "effects of rows without elements, in tiles": (effects_of_rows(5, 1), 1, 8),
    "neighbours along few long rows in float32, in tiles": (neighbours(301, "f4"), 1, 8),
    "rows of a softmax with gradient": (((np.log(np.exp(lazy(ROWS)).sum(axis=1)).sum(),), (ROWS,)), 1, WARP),
    "integer rows by warps": (((lazy(ROWS.astype("i4")).sum(axis=1),), ()), 1, WARP),
    "sum used again": (((lazy(x(300)) - lazy(x(300)).sum(),), ()), 1, 1),
    "mean and deviation": (((np.square(lazy(x(300)) - lazy(x(300)).mean()).sum(),), ()), 1, 1),
    "column sums used again": (((lazy(ROWS) - lazy(ROWS).sum(axis=0),), ()), 1, WARP),
    "elementwise rows in tiles": (((lazy(ROWS) * lazy(ROWS[:, :1]) + np.exp(lazy(ROWS[:, 1:2])),), ()), 2, 4),
    "strided": (((lazy(STRIDED) * 2.0 + lazy(STRIDED).sum(),), ()), 1, 1),
    "transposed": (((lazy(TRANSPOSED) + TRANSPOSED[:, :1],), ()), 1, 1),
    "guards": (slopes(x(50)), 1, 1),
    "guards of a strided array": (slopes(np.arange(40.0)[::2]), 1, 1),
    "far angles with gradient": (((np.sin(FAR).sum(), (np.tan(FAR) * np.cos(FAR))), (FAR_ANGLES,)), 1, 1),
    "far angles, whole tiles": (((np.sin(lazy(1e5 * x(1100, "f4"))),), ()), 1, 1),
    "joined arrays": (joined(100), 2, 1),
    "joined arrays in float32": (joined(60, "f4"), 1, 1),
    "rearranged rows": (rearranged(9), 1, 1),
    "places": (searched(70), 1, 1),
    "sums of groups": (group_sums(90), 1, 1),
    "windows of steps": (windows(9), 1, 1),
    "angles, roots and signs": (
        ((np.arctan2(lazy(x(90)), positive(90) - 1.0), np.cbrt(lazy(x(90))),
          np.copysign(lazy(x(90)), -1.0 * x(90)[::-1]), np.logaddexp2(lazy(x(90)), 2.0),
          np.signbit(lazy(x(90)))), ()), 1, 1,
    ),
    "integers": (((np.where(lazy(np.arange(90)) < 40, lazy(np.arange(90)) * 3, -1).sum(),), ()), 3, 1),
    "small integers": (((lazy(np.arange(90, dtype="i2")) * 5 - np.arange(90, dtype="u1"),), ()), 1, 1),
    "booleans": ((((lazy(x(90)) < 1.0) & ~(lazy(x(90)) < -2.0), (lazy(x(90)) < 0.0).sum()), ()), 3, 1),
    "random bits of three blocks": (((random.bits(2**63 + 7, (3, 300)),), ()), 3, 1),
    "random numbers in float32": (((random.normal(np.arange(3)[:, None], 40, "f4"),), ()), 2, 1),
    "draws that are accepted or rejected": (((sample(5, Gamma(np.array([0.1, 3.0]), 2.0), 60),), ()), 1, 1),
    "boolean input": (((np.where(lazy(x(90) < 0), 1.0, 2.0).sum(), ~lazy(x(90) < 0)), ()), 1, 1),
}
FEW_ROWS = few_rows_cases.cases()
CASES |= prefix_cases.cases(THREADS) | FEW_ROWS | steps_cases.cases() | own_sums_cases.cases() | row_sums_cases.cases()
CASES |= layers_cases.cases() | random_chains.cases()
CASES |= {f"cell of three formulas in {dtype}": (cell(70, dtype), 2, 1) for dtype in ("float32", "float64")}
CASES["batch of rows by a key"] = batch(90, 20), 1, 1
FLAGS = {"valid parameters": (model(300), False), "invalid parameters": (model(300, scale=-1.0), True)}
