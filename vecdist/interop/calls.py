"""Compiled functions and their derivatives as calls that other libraries differentiate and map: graphs, not rules.

A call is a function of arrays to a tuple of arrays.  Its derivatives along tangents and of cotangents are calls again,
and so is the call of many rows; each is one kernel, compiled when it first meets arrays of its structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.graph.leaves import argument, array_kind
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node
from vecdist.lazy.compiled import Compiled
from vecdist.lazy.derivatives import like
from vecdist.model.evaluation import Prepared
from vecdist.passes.batched import Chains
from vecdist.passes.derivations import Derivation
from vecdist.passes.towers import VALUE, Ground, Pulled, Pushed, Tower, ground_arity
from vecdist.passes.vmap import vmap
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed
from vecdist.runtime.cache import of_structures
from vecdist.runtime.libraries import target_of
from vecdist.runtime.outputs import Outputs


class Kind(NamedTuple):
    """The shape and dtype of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@final
@dataclass(frozen=True)
class Call:
    """A compiled function of one row, the ``rows`` it is called for, outermost first, and the derivatives over them."""

    compiled: Compiled
    rows: tuple[Chains, ...] = ()
    tower: Tower = VALUE

    @staticmethod
    def of(compiled: Compiled) -> Call:
        """The function itself; ``TypeError`` for anything else, or for one that raises errors."""
        if not isinstance(compiled, Compiled):
            raise TypeError(f"a function that vecdist.compile gives, given {type(compiled).__name__}")
        if compiled.errors != "nan":
            raise TypeError('a function with errors="raise" has no place in other programs; errors="nan" has')
        return Call(compiled, () if compiled.chains is None else (compiled.chains,))

    def pushed(self, active: Sequence[int]) -> Call:
        """The derivative of all results along tangents, which are given behind the operands."""
        return replace(self, tower=Pushed(self.tower, tuple(active)))

    def pulled(self, active: Sequence[int]) -> Call:
        """The cotangents of operands, of those of all results, which are given behind the operands."""
        return replace(self, tower=Pulled(self.tower, tuple(active)))

    def transposed(self) -> tuple[Call, int]:
        """The transpose of a derivative, which is linear in its last operands, and how many these are."""
        tower = self.tower
        assert not isinstance(tower, Ground), "a function of no seeds is not linear"
        if isinstance(tower, Pushed):
            return replace(self, tower=Pulled(tower.of, tower.active)), len(tower.active)
        return replace(self, tower=Pushed(tower.of, tower.active)), tower.of.results

    def batched(self, axes: Sequence[bool]) -> tuple[Call, tuple[bool, ...]]:
        """The call of many rows, and which operands are to have an axis of them where those in ``axes`` have."""
        whole = self.tower.batched(axes)
        own = whole[: ground_arity(self.tower, len(whole))]
        return replace(self, rows=(Chains(tuple(0 if has else None for has in own)), *self.rows)), whole

    def kinds(self, operands: Sequence[Kind]) -> list[Kind]:
        """The shapes and dtypes of the results.  Raises what the function does where shapes do not fit."""
        key = (self, *operands)
        return _kinds(key, lambda: self._kinds(operands))

    def prepared(self, arrays: Sequence[Any]) -> Prepared:
        """The launch for arrays laid out as these are: compiled where its structure is new."""
        key = (self, *[(array_kind(a), a.shape, a.dtype, a.flags.c_contiguous) for a in arrays])
        return _prepared(key, lambda: self._build(arrays))

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return self.prepared(arrays).run(arrays)[0]

    def _kinds(self, operands: Sequence[Kind]) -> list[Kind]:
        nodes = [argument(np.empty(*each), _name(place)) for place, each in enumerate(operands)]
        return [_kind(each) for each in self.tower.likes(self._value(nodes), nodes)]

    def _value(self, nodes: Sequence[Node]) -> Node:
        """The function's value for the operands that are its arguments."""
        return self._of_rows(nodes[: ground_arity(self.tower, len(nodes))], self.rows)

    def _of_rows(self, nodes: Sequence[Node], rows: Sequence[Chains]) -> Node:
        if not rows:
            return self.compiled.traced(nodes).node
        rows[0].length(nodes, _name)
        singles = rows[0].singles(nodes)
        value = self._of_rows(singles, rows[1:])
        return vmap((value,), {each: node for each, node in zip(singles, nodes, strict=True) if each is not node})[0]

    def _build(self, arrays: Sequence[Any]) -> Prepared:
        nodes = [argument(each, _name(place)) for place, each in enumerate(arrays)]
        value, count = self._value(nodes), ground_arity(self.tower, len(nodes))
        seeds = map(like, nodes[count:], self.tower.tied(value, nodes))
        shapes, dtypes = zip(*map(_kind, self.tower.likes(value, nodes)), strict=True)
        bound = pipeline.structure((value, *nodes[:count], *seeds), Derivation(self.tower))
        library = target_of(bound.leaves)
        unnormalised = self.compiled.unnormalised and isinstance(self.tower, Ground)
        plan, bound = pipeline.fed(bound, Derivation(self.tower), library, "nan", unnormalised)
        feeds = Feed.each(bound.leaves, {node.attrs[0]: place for place, node in enumerate(nodes)})
        held = tuple(feed.array for feed in feeds if feed.place is None)
        run = plan.program.prepared(bound.lengths, shapes, feeds)
        return Prepared(plan.program, bound.lengths, feeds, Outputs(library, shapes, dtypes, held), run)


def _name(place: int) -> str:
    return f"argument {place}"


def _kind(node: Node) -> Kind:
    return Kind(tuple(int(length) for length in node.shape), node.dtype)


_kinds: Memo[list[Kind]] = of_structures()
_prepared: Memo[Prepared] = of_structures()
