"""Functions of a flat vector, prepared for the layouts of vectors that they meet: all results from one launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import argument, array_kind
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.lazy.array import LazyArray
from vecdist.passes.batched import Chains
from vecdist.passes.bind import bind
from vecdist.passes.derivations import Derivation
from vecdist.passes.vmap import vmap
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, Program, Runner
from vecdist.runtime.outputs import Outputs

Roots = Callable[[LazyArray], Sequence[LazyArray]]
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
    """The roots of a function of a flat vector, and with ``gradient`` that of the one root.

    What is NaN is given as -inf.  With ``unnormalised`` the terms of a value that depend on data and numbers alone are
    left out.
    """

    def __init__(self, roots: Roots, gradient: bool = False, unnormalised: bool = False) -> None:
        self.roots: Roots = roots
        self.gradient: bool = gradient
        self.unnormalised: bool = unnormalised
        self._prepared: Memo[Prepared] = Memo(LAYOUTS)

    def __call__(self, x: Any, out: Sequence[Any] | None = None) -> Sequence[Any]:
        """The results for vectors of shape (..., D), with their leading axes; written to ``out`` where that is given.

        One vector is a launch of its own kind: a length of 1 is another structure than other lengths.
        """
        lead = x.shape[:-1]
        if not lead and out is None:
            return self.prepared(x).run((x,))[0]
        rows = x.reshape(-1, x.shape[-1]) if lead else x
        rows = rows[0] if lead and len(rows) == 1 else rows
        prepared = self.prepared(rows)
        skipped = rows.ndim - 1
        shapes = [(*lead, *shape[skipped:]) for shape in prepared.outputs.shapes]
        if out is None:
            results = prepared.run((rows,))[0]
            return [_shaped(*each) for each in zip(results, shapes, strict=True)] if lead else results
        wanted = Outputs(prepared.outputs.library, tuple(shapes), prepared.outputs.dtypes, prepared.outputs.captured)
        wanted.check(out, (x,), lambda place: "x")
        prepared.run((rows,), [_shaped(*each) for each in zip(out, prepared.outputs.shapes, strict=True)])
        return out

    @property
    def derivation(self) -> Derivation:
        """What is computed of the roots."""
        return Derivation("gradient, -inf for NaN" if self.gradient else "values, -inf for NaN")

    @property
    def batches(self) -> set[int]:
        """The numbers of vectors that launches are prepared for."""
        return {shape[0] for _, shape, *_ in self._prepared if len(shape) == 2}

    def prepared(self, x: Any) -> Prepared:
        """The launch for arrays laid out as ``x``, of shape (D,) or (B, D): compiled where its structure is new."""
        key = (array_kind(x), x.shape, x.dtype, x.strides)
        return self._prepared(key, lambda: self._build(x))

    def multiplications(self, count: int, size: int) -> int:
        """Those of the largest product of matrices for so many vectors of a length together; 0 where there is none."""
        roots, _ = self._traced(np.zeros((count, size)))
        pairs = (node.args for node in topological(roots) if node.op == "product")
        return max((math.prod(map(int, (*left.shape, right.shape[-1]))) for left, right in pairs), default=0)

    def explained(self, x: Any) -> tuple[tuple[Node, ...], Derivation]:
        """The roots and derivation for an array of vectors."""
        rows = x.reshape(-1, x.shape[-1]) if x.size != x.shape[-1] else x.reshape(-1)
        return tuple(self._traced(rows)[0]), self.derivation

    def _build(self, x: Any) -> Prepared:
        return self._planned(*self._traced(x))

    def _traced(self, x: Any) -> tuple[Sequence[Node], list[tuple[int, ...]]]:
        """The roots for arrays laid out as ``x``, and the shapes of the results."""
        leaf = argument(x, "x")
        chains = Chains((0,)) if x.ndim == 2 else None
        (single,) = chains.singles([leaf]) if chains else (leaf,)
        roots = tuple(root.node for root in self.roots(LazyArray(single)))
        lead = x.shape[: x.ndim - 1]
        shapes = [(*lead, *(int(length) for length in root.shape)) for root in roots]
        if self.gradient:
            shapes.append(x.shape)
            roots = chains.apply(roots[0], [leaf], (0,)) if chains else (*roots, leaf)
        elif chains:
            roots = vmap(roots, {single: leaf})
        return roots, shapes

    def _planned(self, roots: Sequence[Node], shapes: Sequence[tuple[int, ...]]) -> Prepared:
        bound = bind(roots)
        kind = pipeline.library(bound.leaves)
        plan, bound = pipeline.fed(bound, self.derivation, kind, "nan", self.unnormalised)
        feeds = Feed.each(bound.leaves, {leaf: 0 for leaf in bound.leaves if leaf.traced})
        dtypes = tuple(root.dtype for root in plan.graph)
        held = tuple(feed.array for feed in feeds if feed.place is None)
        run = plan.program.prepared(bound.lengths, shapes, feeds)
        return Prepared(plan.program, bound.lengths, feeds, Outputs(kind, tuple(shapes), dtypes, held), run)


def _shaped(array: Any, shape: tuple[int, ...]) -> Any:
    """A result with the leading axes that were asked for."""
    return array if np.shape(array) == shape else np.reshape(array, shape)
