"""The array libraries of the targets: which of them an expression is computed by, and what is brought to it."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, is_dask
from vecdist.runtime.base import Runner

LIBRARY = {"cpu": "numpy", "cuda": "cupy"}


def target_of(leaves: Sequence[Leaf]) -> str:
    """The target of an expression of these arrays; an error that names both where libraries are mixed."""
    by_kind: dict[str, Leaf] = {}
    for leaf in leaves:
        by_kind.setdefault(leaf.kind, leaf)
    if "numpy" in by_kind and "cupy" in by_kind:
        raise TypeError(
            f"NumPy and CuPy arrays are mixed: {by_kind['numpy']!r} is a NumPy array and {by_kind['cupy']!r} a CuPy "
            "array; move one with cupy.asarray(x) or x.get()"
        )
    return "cuda" if "cupy" in by_kind else "cpu"


def beside(target: str, leaves: Sequence[Leaf], run: Runner) -> Runner:
    """``run``, launches for arrays of ``leaves``, with those that were written as lists copied to a GPU for each."""
    lists = {place for place, leaf in enumerate(leaves) if leaf.kind == "list"}
    return _copying(run, lists) if lists and target == "cuda" else run


def _copying(run: Runner, lists: Collection[int]) -> Runner:
    cupy = importlib.import_module(LIBRARY["cuda"])

    def copying(arrays: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        return run([cupy.asarray(array) if place in lists else array for place, array in enumerate(arrays)])

    return copying


def loaded(value: Any) -> Any:
    """A value in memory, of one that is in chunks; any other as it is."""
    source = value.source if isinstance(value, Chunked) else value
    if is_dask(source):
        return source.compute()
    if not isinstance(value, Chunked):
        return value
    found = np.asarray(value.rows(0, value.shape[0]))
    return found if value.library == "numpy" else importlib.import_module(value.library).asarray(found)
