"""Means and products of data for regressions: computed once, kept with the data, and used where they are safe.

A form c' S c is right to about the rounding of S over the least eigenvalue of S as a matrix of correlations, whatever c
is.  So it stands for rows where that is ``LEAST`` or more: neither are columns nearly combinations of one another, nor
is what is regressed on them.  Columns that do not vary have no part in it; they are in the means.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, on_host
from vecdist.graph.node import Node
from vecdist.passes.bind import Bound
from vecdist.passes.quadratics import Quadratics, moments_of, products_of, quadratics, test_of
from vecdist.runtime.constants import computed
from vecdist.runtime.interpreter import interpret

MOST = 64  # columns: products of more are more than rows are worth
LARGE = 2**20  # products, from which compiling pays
FEWER = 2  # times as many rows as columns, at least
LEAST = 1e-4  # by which at most 4 of the 16 digits of float64 are lost
ROUNDING = 8.0 * np.finfo(np.float64).eps


def collapsed(bound: Bound, kind: str) -> Bound:
    """A structure in which sums over rows of data are quadratic forms; itself where it has none, or they are unsafe."""
    if not bound.constant:
        return bound
    found = quadratics(bound.roots, bound.constant, len(bound.leaves))
    if found is None or _columns(found, bound) > min(MOST, bound.lengths[str(found.rows)] // FEWER):
        return bound
    statistics = _kept(found, bound, kind)
    if statistics is None:
        return bound
    leaves = [_leaf(each, kind) for each in statistics]
    return Bound(found.roots, (*bound.leaves, *leaves), bound.lengths)


def _columns(found: Quadratics, bound: Bound) -> int:
    """How many columns all data have."""
    return sum(math.prod(bound.lengths[str(dim)] for dim in data.shape[1:]) for data in found.means)


def _kept(found: Quadratics, bound: Bound, kind: str) -> list[np.ndarray] | None:
    """The statistics in the order of their slots; ``None`` where they are not safe.  They live as long as the data."""
    first, *others = (bound.leaves[place] for place in bound.constant)
    key = ("cross products", tuple(found.means), tuple(found.products), found.tests,
           *(leaf.born for leaf in others), *bound.lengths.items())  # fmt: skip
    if key not in first.derived:
        first.derived[key] = _computed(found, bound, kind)
    return first.derived[key]


def _computed(found: Quadratics, bound: Bound, kind: str) -> list[np.ndarray] | None:
    count, work = len(found.means), bound.lengths[str(found.rows)] * _columns(found, bound) ** 2
    here = kind == "cpu" and work < LARGE and not any(isinstance(leaf.array, Chunked) for leaf in bound.leaves)

    def values(roots: Sequence[Node], more: Sequence[Leaf] = ()) -> list[Any]:
        asked = Bound(tuple(roots), (*bound.leaves, *more), bound.lengths)
        if here:  # by NumPy, for no kernel is compiled so fast
            return list(interpret(asked.roots, [leaf.array for leaf in asked.leaves], asked.lengths))
        return computed(asked, kind)

    means, holding = _parted(values((*moments_of(found), *map(test_of, found.tests))), count)
    if not all(holding):
        return None
    filled = dict(zip((slot.attrs[0] for slot in found.means.values()), means, strict=True))
    places = range(len(bound.leaves), max(filled) + 1)
    held = [_leaf(filled.get(place, np.float64(0.0)), kind) for place in places]  # others are not read yet
    rests, products = _parted(values(products_of(found), held), count)
    own = [np.asarray(on_host(each), np.float64) for each in (*means, *rests, *products)]
    slots = (*found.means.values(), *found.rests.values(), *found.products.values())
    if not _is_safe(dict(zip(found.means, own, strict=False)), dict(zip(found.products, own[2 * count :], strict=True)),
                    bound.lengths[str(found.rows)]):  # fmt: skip
        return None
    by_slot = dict(zip((slot.attrs[0] for slot in slots), own, strict=True))
    return [by_slot[place] for place in sorted(by_slot)]


def _parted(values: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    return values[:count], values[count:]


def _leaf(value: Any, kind: str) -> Leaf:
    """A value as a leaf, in the memory of a target."""
    if not np.ndim(value):
        return Leaf(None, value, "number")
    library = importlib.import_module("cupy" if kind == "cuda" else "numpy")
    return Leaf(None, library.ascontiguousarray(library.asarray(value)), library.__name__)


def _is_safe(means: Mapping[Node, np.ndarray], products: Mapping[tuple[Node, Node], np.ndarray], rows: int) -> bool:
    """Whether no combination of columns is much smaller than they are."""
    widths = [mean.size for mean in means.values()]
    ends = dict(zip(means, np.cumsum([0, *widths]).tolist(), strict=False))
    whole = np.zeros((sum(widths), sum(widths)))
    for (x, y), found in products.items():
        own, other = (slice(ends[each], ends[each] + means[each].size) for each in (x, y))
        whole[own, other] = found.reshape(means[x].size, means[y].size)
        whole[other, own] = whole[own, other].T
    level = np.concatenate([mean.reshape(-1) for mean in means.values()])
    if not (np.isfinite(whole).all() and np.isfinite(level).all()):
        return False
    spread = np.diag(whole)
    varying = spread > rows * (ROUNDING * level) ** 2
    scale = np.sqrt(spread[varying])
    correlation = whole[np.ix_(varying, varying)] / np.outer(scale, scale)
    return bool(len(scale)) and float(np.linalg.eigvalsh(correlation)[0]) >= LEAST
