"""Functions of a flat vector, prepared for the layouts of vectors that they meet: all results from one launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import Leaf, argument, array_kind
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.lazy.array import LazyArray
from vecdist.passes.batched import Chains
from vecdist.passes.derivations import Derivation
from vecdist.passes.vmap import vmap
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, Program, Runner
from vecdist.runtime.libraries import target_of
from vecdist.runtime.outputs import Outputs

Roots = Callable[..., Sequence[LazyArray]]
LAYOUTS = 64  # of vectors whose launches are kept, those that were last used


@final
@dataclass(frozen=True)
class Prepared:
    """A launch for one layout of the arguments: its program, what fills the slots, and its results."""

    program: Program
    lengths: dict[str, int]
    feeds: Sequence[Feed]
    outputs: Outputs
    run: Runner


@final
class Evaluation:
    """The roots of a function of a flat vector, and with ``gradient`` that of the one root in the vector.

    What is NaN is given as -inf.  With ``unnormalised`` the terms of a value that depend on data and numbers alone are
    left out.  The function may take arrays beside the vector, the same for all vectors, or with ``own`` one for each.
    """

    def __init__(self, roots: Roots, gradient: bool = False, unnormalised: bool = False, own: bool = False) -> None:
        self.roots: Roots = roots
        self.gradient: bool = gradient
        self.unnormalised: bool = unnormalised
        self.own: bool = own
        self._prepared: Memo[Prepared] = Memo(LAYOUTS)

    def __call__(self, x: Any, out: Sequence[Any] | None = None, beside: Sequence[Any] = ()) -> Sequence[Any]:
        """The results for vectors of shape (..., D), with their leading axes; written to ``out`` where that is given.

        One vector is a launch of its own kind: a length of 1 is another structure than other lengths.
        """
        lead = x.shape[:-1]
        if not lead and out is None:
            return self.prepared(x, beside).run((x, *beside))[0]
        rows = _flat(x, lead)
        beside = [_flat(array, lead) for array in beside] if self.own else beside
        prepared = self.prepared(rows, beside)
        skipped = rows.ndim - 1
        shapes = [(*lead, *shape[skipped:]) for shape in prepared.outputs.shapes]
        if out is None:
            results = prepared.run((rows, *beside))[0]
            return [_shaped(*each) for each in zip(results, shapes, strict=True)] if lead else results
        wanted = Outputs(prepared.outputs.library, tuple(shapes), prepared.outputs.dtypes, prepared.outputs.captured)
        wanted.check(out, (x, *beside), lambda place: "batch" if place else "x")
        prepared.run((rows, *beside), [_shaped(*each) for each in zip(out, prepared.outputs.shapes, strict=True)])
        return out

    @property
    def derivation(self) -> Derivation:
        """What is computed of the roots."""
        return Derivation("gradient, -inf for NaN" if self.gradient else "values, -inf for NaN")

    @property
    def batches(self) -> set[int]:
        """The numbers of vectors that launches are prepared for."""
        return {shape[0] for _, shape, *_ in self._prepared if len(shape) == 2}

    def prepared(self, x: Any, beside: Sequence[Any] = ()) -> Prepared:
        """The launch for arrays laid out as ``x``, of shape (D,) or (B, D): compiled where its structure is new."""
        key = _layout(x) if not beside else (*_layout(x), *map(_layout, beside))
        return self._prepared(key, lambda: self._build(x, beside))

    def multiplications(self, count: int, size: int) -> int:
        """Those of the largest product of matrices for so many vectors of a length together; 0 where there is none."""
        roots, _ = self._traced(np.zeros((count, size)))
        pairs = (node.args for node in topological(roots) if node.op == "product")
        return max((math.prod(map(int, (*left.shape, right.shape[-1]))) for left, right in pairs), default=0)

    def explained(self, x: Any) -> tuple[tuple[Node, ...], Derivation]:
        """The roots and derivation for an array of vectors."""
        rows = x.reshape(-1, x.shape[-1]) if x.size != x.shape[-1] else x.reshape(-1)
        return tuple(self._traced(rows)[0]), self.derivation

    def _build(self, x: Any, beside: Sequence[Any]) -> Prepared:
        leaves = [argument(x, "x"), *(argument(array, "batch") for array in beside)]
        return self._planned(*self._derived(leaves), {node.attrs[0]: place for place, node in enumerate(leaves)})

    def _traced(self, x: Any) -> tuple[Sequence[Node], list[tuple[int, ...]]]:
        """The roots for arrays laid out as ``x``, and the shapes of the results."""
        return self._derived([argument(x, "x")])

    def _derived(self, leaves: Sequence[Node]) -> tuple[Sequence[Node], list[tuple[int, ...]]]:
        """The roots for a vector, or many, and what is beside it, and the shapes of the results."""
        x, *beside = leaves
        chains = Chains((0, *[0 if self.own else None] * len(beside))) if x.ndim == 2 else None
        singles = chains.singles(leaves) if chains else leaves
        roots = tuple(root.node for root in self.roots(*map(LazyArray, singles)))
        lead = x.shape[: x.ndim - 1]
        shapes = [tuple(map(int, (*lead, *root.shape))) for root in roots]
        if self.gradient:
            shapes.append(tuple(map(int, x.shape)))
            roots = chains.apply(roots[0], leaves, (0,)) if chains else (*roots, x)
        elif chains:
            roots = vmap(roots, {one: many for one, many in zip(singles, leaves, strict=True) if one is not many})
        return roots, shapes

    def _planned(
        self, roots: Sequence[Node], shapes: Sequence[tuple[int, ...]], places: Mapping[Leaf, int]
    ) -> Prepared:
        bound = pipeline.structure(roots, self.derivation)
        kind = target_of(bound.leaves)
        plan, bound = pipeline.fed(bound, self.derivation, kind, "nan", self.unnormalised)
        feeds = Feed.each(bound.leaves, places)
        dtypes = tuple(root.dtype for root in plan.graph)
        held = tuple(feed.array for feed in feeds if feed.place is None)
        run = plan.program.prepared(bound.lengths, shapes, feeds)
        return Prepared(plan.program, bound.lengths, feeds, Outputs(kind, tuple(shapes), dtypes, held), run)


def each_vector(function: Callable[..., Any], *arrays: Any) -> Any:
    """A function of vectors, of each of those in the last axes of arrays."""
    first, *_ = arrays
    if first.ndim == 1:
        return function(*arrays)
    rows = [array.reshape(-1, array.shape[-1]) for array in arrays]
    found = np.stack([function(*each) for each in zip(*rows, strict=True)])
    return found.reshape(*first.shape[:-1], *found.shape[1:])


def _layout(array: Any) -> tuple[Any, ...]:
    """What of an array a launch depends on."""
    return (array_kind(array), array.shape, array.dtype, array.strides)


def _flat(array: Any, lead: tuple[int, ...]) -> Any:
    """An array with one axis in place of its leading ones, or none where that is of length 1."""
    if not lead:
        return array
    rows = array.reshape(-1, *array.shape[len(lead) :])
    return rows[0] if len(rows) == 1 else rows


def _shaped(array: Any, shape: tuple[int, ...]) -> Any:
    """A result with the leading axes that were asked for."""
    return array if np.shape(array) == shape else np.reshape(array, shape)
