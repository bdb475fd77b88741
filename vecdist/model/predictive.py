"""Draws of what a model predicts, one for each vector of parameters, from one launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vecdist.graph.leaves import argument
from vecdist.graph.node import Node
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.on_device import on_device
from vecdist.model.flat import Joint, naming
from vecdist.passes.batched import Chains
from vecdist.passes.vmap import vmap
from vecdist.random import fold_in
from vecdist.runtime import pipeline


def predictions(joint: Joint, predict: Callable[..., Any], x: Any, key: Any) -> dict[str, Any]:
    """What ``predict(key, **parameters)`` gives for vectors of shape (..., D), each with a key of its own.

    Raises ``TypeError`` where that is no dict of lazy arrays.
    """
    rows = x.reshape(-1, x.shape[-1])
    keys = fold_in(key, np.arange(len(rows), dtype=np.uint64))
    leaves = [argument(rows, "x"), argument(np.empty(len(rows), keys.dtype), "key")]
    single, own = Chains((0, 0)).singles(leaves)
    parameters, _ = joint.constrained(LazyArray(single))
    with naming(parameters, "predict"):
        found = _checked(predict(LazyArray(own), **parameters))
    roots = [array.node for array in found.values()]
    many = vmap(roots, {single: as_lazy(rows).node, own: keys.node})
    arrays = pipeline.evaluate(_where(rows, many), pipeline.values, [node.shape for node in many], "nan")  # type: ignore[misc]
    shaped = (array.reshape(*x.shape[:-1], *array.shape[1:]) for array in arrays)
    return dict(zip(found, shaped, strict=True))


def _checked(found: Any) -> Mapping[str, LazyArray]:
    if not isinstance(found, Mapping) or not all(isinstance(array, LazyArray) for array in found.values()):
        raise TypeError(f"predict gives a dict of lazy arrays by name; this one gave {type(found).__name__}")
    return found


def _where(rows: Any, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes, to be computed where the vectors lie."""
    return nodes if isinstance(rows, np.ndarray) else on_device(nodes)
