"""Where a check fails first among all rows, found as other results are: by reductions of chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import broadcast
from vecdist.passes.derivations import values
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.reductions import reduced
from vecdist.primitives.structure import full, position
from vecdist.runtime import pipeline

NOWHERE = 2**62


def first_wrong_of_chunks(valid: Node, parameter: Node) -> tuple[tuple[int, ...], Any] | None:
    """The place, counted over all chunks, where a check fails first, and what stands there."""
    shape: Any = broadcast((valid.shape, parameter.shape))
    axes = tuple(range(-len(shape), 0))
    place = position(*shape)
    failing = where(full(valid, shape), const(NOWHERE, np.int64), place)
    (found,) = pipeline.evaluate((reduced("min", failing, axes),), values, ((),), "nan")
    first = pipeline.on_host(found)[()]
    if first == NOWHERE:
        return None
    there = Node("leaf", (), (pipeline.Leaf(int(first), np.asarray(first), "number"),), (), np.dtype(np.int64))
    lowest = const(-np.inf if parameter.dtype.kind == "f" else np.iinfo(parameter.dtype).min, parameter.dtype)
    chosen = where(eq(place, there), full(parameter, shape), lowest)
    (given,) = pipeline.evaluate((reduced("max", chosen, axes),), values, ((),), "nan")
    return tuple(int(i) for i in np.unravel_index(int(first), shape)), pipeline.on_host(given)[()]
