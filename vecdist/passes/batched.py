"""Chains: a function of the arrays of one chain, applied to arrays that hold one row for each of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, rewrite, topological
from vecdist.passes.differentiate import depending, partials
from vecdist.passes.vmap import vmap, vmap_aligned
from vecdist.primitives.structure import full, rebuilt


@final
@dataclass(frozen=True)
class Chains:
    """Which arguments of a function have a leading axis of chains: 0 for those, ``None`` for those shared by all."""

    axes: tuple[int | None, ...]

    @staticmethod
    def of(in_axes: Any, names: Sequence[str]) -> Chains:
        """The chains that a user asks for by a sequence, or a mapping by names; ``ValueError`` where that says none."""
        if isinstance(in_axes, Mapping):
            unknown = [name for name in in_axes if name not in names]
            if unknown:
                raise ValueError(f"in_axes names {unknown[0]!r}, which is no argument; they are: {', '.join(names)}")
            in_axes = [in_axes.get(name) for name in names]
        elif type(in_axes) is int and in_axes == 0 and names:
            in_axes = [0] * len(names)
        if not isinstance(in_axes, tuple | list):
            raise TypeError(f"in_axes is a tuple, 0 or None for each argument, a dict by name, or 0; given {in_axes!r}")
        wrong = next((axis for axis in in_axes if axis is not None and (isinstance(axis, bool) or axis != 0)), None)
        if wrong is not None:
            raise ValueError(f"in_axes has 0 or None for each argument, given {wrong!r}; move that axis to the front")
        if all(axis is None for axis in in_axes):
            raise ValueError("in_axes gives no argument an axis of chains; a 0 marks one that has it")
        return Chains(tuple(in_axes))

    def batched(self, count: int) -> list[int]:
        """The places of the arguments with the axis of chains, among the first ``count``."""
        if count > len(self.axes):
            raise ValueError(f"in_axes has {len(self.axes)} entries, but {count} arguments are given")
        return [place for place in range(count) if self.axes[place] is not None]

    def length(self, arrays: Sequence[Any], name: Callable[[int], str]) -> int:
        """The number of chains; ``ValueError`` naming the arguments where that is not one number."""
        places = self.batched(len(arrays))
        flat = [name(place) for place in places if not np.ndim(arrays[place])]
        if flat:
            raise ValueError(f"in_axes says that {flat[0]} has an axis of chains, but it has no axis at all")
        lengths = {arrays[place].shape[0] for place in places}
        if len(lengths) != 1:
            each = ", ".join(f"{name(place)} has {arrays[place].shape[0]}" for place in places)
            raise ValueError(f"the arguments differ in their numbers of chains: {each or 'none of them has any'}")
        return lengths.pop()

    def singles(self, leaves: Sequence[Node]) -> list[Node]:
        """What stands for the arguments ``leaves`` in a function of one chain."""
        places = self.batched(len(leaves))
        return [
            Node("leaf", (), leaf.attrs, leaf.shape[1:], leaf.dtype) if place in places else leaf
            for place, leaf in enumerate(leaves)
        ]

    def apply(self, root: Node, leaves: Sequence[Node], wrt: Sequence[int]) -> tuple[Node, ...]:
        """``root``, an expression in the singles of ``leaves``, for all chains, and the nodes to derive it in.

        Each chain has its own row of those: so the gradient of the sum of all chains is the gradient of each.
        """
        singles = self.singles(leaves)
        rows = self._rows(leaves)
        length = next(iter(rows.values())).shape[0]
        shared = [singles[place] for place in wrt if singles[place] not in rows]
        rows |= {leaf: full(leaf, (length, *leaf.shape)) for leaf in shared}
        return vmap_aligned((root, *(singles[place] for place in wrt)), rows)

    def _rows(self, leaves: Sequence[Node]) -> dict[Node, Node]:
        """The leaf with the axis of chains, for each single that has one."""
        singles = self.singles(leaves)
        return {singles[place]: leaves[place] for place in self.batched(len(leaves))}

    def checks(self, root: Node, leaves: Sequence[Node]) -> Iterator[Node]:
        """The checks of parameters in ``root`` for all chains, each of its parameter's own shape, to name one by."""
        rows = self._rows(leaves)
        for node in topological((root,)):
            if node.op != "checked":
                continue
            for label, *pair in zip(node.attrs, node.args[1::2], node.args[2::2], strict=True):
                own = any(depending(each, list(rows)) for each in pair)
                valid, parameter = vmap(pair, rows) if own else pair
                yield Node("checked", (valid, valid, parameter), (label,), valid.shape, valid.dtype)


def partials_of_each(roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """The values and partials of each chain: roots are those that ``Chains.apply`` gives.

    What it gives to derive in may be views, which are no variables; so variables stand in for them meanwhile.
    """
    value, *rows = roots
    variables = {row: Node("variable", (), (place,), row.shape, row.dtype) for place, row in enumerate(rows)}
    (inside,) = _replaced((value,), variables)
    found = partials(inside, [variables[row] for row in rows])
    back = {variable: row for row, variable in variables.items()}
    return (value, *_replaced(found, back))


def _replaced(roots: tuple[Node, ...], others: Mapping[Node, Node]) -> tuple[Node, ...]:
    return rewrite(roots, lambda node, args: others[node] if node in others else rebuilt(node, args))
