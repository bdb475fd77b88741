"""Correlations by machine code in tiles: random ones by their definition, and where graphs have them called."""

import itertools
import pickle

import numpy as np
import pytest

import vecdist
from vecdist import signal
from vecdist.graph.node import topological
from vecdist.passes.correlations import Correlation, Move
from vecdist.runtime import pipeline
from vecdist.runtime.cpu import correlating, threads

ROUNDING = {"f4": 2e-6, "f8": 1e-14}  # relative to the largest element


def moves(rng, count):
    """Random moves: steps, distances, zeros around, and elements that stand apart, alone or together."""
    for _ in range(count):
        steps, places, spacing = (int(rng.integers(1, high)) for high in (30, 6, 4))
        step, apart = [(1, 1), (1, 1), (int(rng.integers(2, 4)), 1), (1, int(rng.integers(2, 4)))][rng.integers(4)]
        turned = bool(rng.integers(2))
        yield Move(int(rng.integers(1, 40)), steps, places, step, -spacing if turned else spacing,
                   int(rng.integers(-8, 9)), apart)  # fmt: skip


def kinds(rng, dtype, along):
    """A random correlation with its axes in order."""
    batch, groups, outputs, inputs = (int(rng.integers(1, high)) for high in (4, 3, 20, 6))
    found = tuple(moves(rng, int(rng.integers(1, 4))))
    steps, places = [each.steps for each in found], [each.places for each in found]
    x, across = (batch, groups, inputs, *[each.length for each in found]), (batch, groups, outputs, *steps)
    weights = (groups, outputs, inputs, *places)
    w, y = (across, weights) if along else (weights, across)
    order = tuple(range(len(x)))
    return Correlation(
        along, np.dtype(dtype), batch, groups, outputs, inputs, found, order, order, order, (x, w, y), y
    )  # fmt: skip


def by_definition(kind, x, w):
    """The sums, place by place of a window."""
    found = np.zeros(kind.shape)
    for place in itertools.product(*[range(move.places) for move in kind.moves]):
        shown = x.astype("f8")
        for axis, (move, t) in enumerate(zip(kind.moves, place, strict=True), 3):
            index = move.step * np.arange(move.steps) + move.spacing * t + move.offset
            there = (index >= 0) & (index < move.apart * move.length) & (index % move.apart == 0)
            mask = there.reshape(-1, *[1] * (x.ndim - axis - 1))
            shown = np.take(shown, np.where(there, index // move.apart, 0), axis) * mask
        if kind.along:
            flat = shown.reshape(*x.shape[:3], -1), w.reshape(*w.shape[:3], -1).astype("f8")
            found[(..., *place)] = np.einsum("bgcp,bgop->goc", *flat)
        else:
            found += np.einsum("bgc...,goc->bgo...", shown, w[(..., *place)].astype("f8"))
    return found


@pytest.mark.parametrize("along", [False, True], ids=["across", "along"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_random_correlations(dtype, along):
    rng = np.random.default_rng(53)
    for _ in range(40):
        kind = kinds(rng, dtype, along)
        x, w = (rng.normal(size=shape).astype(dtype) for shape in kind.shapes[:2])
        run, wanted = correlating.Correlating(kind), by_definition(kind, x, w)
        for _ in range(2):  # in memory that is used again
            found = run(x, w)
            assert (found.shape, found.dtype) == (kind.shape, kind.dtype)
            bound = ROUNDING[dtype] * max(1.0, np.abs(wanted).max())
            np.testing.assert_allclose(found, wanted, rtol=0, atol=bound, err_msg=str(kind))
        out = np.empty(kind.shape, dtype)
        assert run(x, w, out=out) is out
        np.testing.assert_array_equal(out, found)


def test_axes_in_any_order():
    rng = np.random.default_rng(54)
    for along in (False, True):
        kind = kinds(rng, "f8", along)
        x, w = (rng.normal(size=shape) for shape in kind.shapes[:2])
        orders = [tuple(map(int, rng.permutation(len(shape)))) for shape in kind.shapes]
        pairs = zip(kind.shapes, orders, strict=True)
        turned = [tuple([shape[axis] for axis in order]) for shape, order in pairs]
        first, second, third = (tuple(map(int, np.argsort(order))) for order in orders)
        other = Correlation(
            along, kind.dtype, kind.batch, kind.groups, kind.outputs, kind.inputs, kind.moves,
            first, second, third, tuple(turned), turned[2],
        )  # fmt: skip
        found = correlating.Correlating(other)(x.transpose(orders[0]), w.transpose(orders[1]))
        np.testing.assert_array_equal(found, correlating.Correlating(kind)(x, w).transpose(orders[2]))


@pytest.mark.parametrize("along", [False, True], ids=["across", "along"])
def test_threads_change_no_bits(along, monkeypatch):
    move = Move(34, 32, 3, 1, 1, 0, 1)
    x, across, weights = (8, 1, 16, 34, 34), (8, 1, 16, 32, 32), (1, 16, 16, 3, 3)
    w, y = (across, weights) if along else (weights, across)
    order = tuple(range(5))
    kind = Correlation(along, np.dtype("f4"), 8, 1, 16, 16, (move, move), order, order, order, (x, w, y), y)
    rng = np.random.default_rng(55)
    given = [rng.normal(size=shape).astype("f4") for shape in kind.shapes[:2]]
    found = []
    for count in (1, 3):
        monkeypatch.setattr(correlating, "thread_count", lambda count=count: count)
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        found.append(pickle.loads(pickle.dumps(correlating.Correlating(kind)))(*given))
    np.testing.assert_array_equal(*found)


def layer_by_windows(x, w, stride, padding, dilation, groups):
    """Half the sum of squares of a layer, and its derivatives, by windows that NumPy shows."""
    axes = tuple(range(2, x.ndim))
    around = np.pad(x, [(0, 0), (0, 0), *[(each, each) for each in padding]])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    shown = np.lib.stride_tricks.sliding_window_view(around, reach, axes)
    every = [*[slice(None, None, each) for each in stride], *[slice(None, None, each) for each in dilation]]
    shown = shown[(slice(None), slice(None), *every)]
    shown = shown.reshape(x.shape[0], groups, -1, *shown.shape[2:])
    parted = w.reshape(groups, -1, *w.shape[1:])
    steps, places = "xyz"[: len(axes)], "ijk"[: len(axes)]
    y = np.einsum(f"ngc{steps}{places},goc{places}->ngo{steps}", shown, parted)
    of_w = np.einsum(f"ngo{steps},ngc{steps}{places}->goc{places}", y, shown).reshape(w.shape)
    back, of_x = np.einsum(f"ngo{steps},goc{places}->ngc{steps}{places}", y, parted), np.zeros_like(around)
    back = back.reshape(*x.shape[:2], *back.shape[3:])
    for place in np.ndindex(*w.shape[2:]):
        at = [slice(d * j, d * j + s * (n - 1) + 1, s)
              for d, j, s, n in zip(dilation, place, stride, y.shape[3:], strict=True)]  # fmt: skip
        of_x[(slice(None), slice(None), *at)] += back[(..., *place)]
    inner = [slice(each, each + length) for each, length in zip(padding, x.shape[2:], strict=True)]
    return 0.5 * (y * y).sum(), of_x[(slice(None), slice(None), *inner)], of_w


def called(expression_of, *arrays, monkeypatch, wrt=None):
    """Value and gradients, and how many correlations were called for them."""
    seen, made = [], pipeline._plan

    def plan(sized, *others):
        seen.extend(node for node in topological(sized.found.all) if node.op == "external")
        return made(sized, *others)

    monkeypatch.setattr(pipeline, "_plan", plan)
    value, slopes = vecdist.compile(expression_of).value_and_grad(*arrays, wrt=wrt)
    return value, slopes, len(seen)


LAYERS = {
    "plane": ((2, 3, 12, 11), (5, 3, 3, 2), (1, 1), (1, 0), (1, 1), 1),
    "strides": ((2, 3, 13, 12), (4, 3, 3, 2), (2, 3), (1, 2), (1, 1), 1),
    "groups": ((2, 6, 30), (4, 3, 5), (1,), (2,), (2,), 2),
    "groups, strides": ((1, 6, 9, 30), (9, 2, 3, 4), (3, 1), (0, 2), (1, 1), 3),
    "less than whole axes": ((1, 3, 4, 16), (9, 3, 3, 4), (3, 1), (0, 2), (1, 1), 1),
    "one array, one wide": ((1, 4, 20, 1), (3, 4, 4, 1), (1, 1), (2, 0), (1, 1), 1),
    "space": ((2, 2, 5, 6, 7), (3, 2, 2, 3, 2), (1, 1, 1), (1, 0, 1), (1, 2, 1), 1),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("case", LAYERS)
def test_layers_are_called(case, dtype, monkeypatch):
    monkeypatch.setattr(correlating, "pays", lambda kind: True)
    shape, filters, *given = LAYERS[case]
    options = dict(zip(("stride", "padding", "dilation", "groups"), given, strict=True))
    rng = np.random.default_rng(56)
    x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=filters).astype(dtype)

    def energy(x, w):
        return 0.5 * np.sum(signal.conv(x, w, **options) ** 2)

    found, slopes, count = called(energy, x, w, monkeypatch=monkeypatch)
    wanted, *truth = layer_by_windows(x.astype("f8"), w.astype("f8"), *given)
    assert count == 3
    np.testing.assert_allclose(found, wanted, rtol=ROUNDING[dtype])
    for mine, other in zip(slopes, truth, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=ROUNDING[dtype] * np.abs(other).max())


def test_short_ones_stay_in_the_kernel(monkeypatch):
    x, w = np.arange(40.0), np.array([1.0, 2.0, 3.0])
    energy = lambda x, w: np.sum(np.correlate(x, w) ** 2)  # noqa: E731
    value, (slope,), count = called(energy, x, w, monkeypatch=monkeypatch, wrt=(0,))
    y = np.correlate(x, w)
    assert count == 0
    np.testing.assert_allclose(value, y @ y)
    np.testing.assert_allclose(slope, 2.0 * np.convolve(y, w))
