"""Joined outputs: one that is made of pieces side by side, as the gradient of a vector of parameters is.

Written as a sum of arrays that are zero outside their pieces, each element would be computed of all pieces.  Where the
pieces are known to lie side by side, which lengths say, each has loops of its own that store it where it belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim, length_in
from vecdist.primitives.structure import STRUCTURE, Structural


@final
class Piece(NamedTuple):
    """A piece of an output along its last axis: where it starts, how long it is, and what it is the sum of."""

    start: Dim
    length: Dim
    terms: tuple[Node, ...]


def pieces(root: Node) -> tuple[Piece, ...]:
    """The pieces of an output, in no order; none where it is no sum of some."""
    if root.op == "reshape":
        return (Piece(0, root.shape[-1], (root,)),) if root.ndim == 1 else ()
    found: dict[tuple[Dim, Dim], list[Node]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op == "add" and all(arg.shape == root.shape for arg in node.args):
            stack += node.args
            continue
        place = _place(node) if node.op == "pad" else None
        if place is None:
            return ()
        found.setdefault(place, []).append(node.args[0])
    return tuple([Piece(*place, tuple(reversed(terms))) for place, terms in found.items()])


def _place(node: Node) -> tuple[Dim, Dim] | None:
    """Where a pad has its source along the last axis, and how long that is; none where others are moved, too."""
    (source,), (entries,) = node.args, node.attrs
    *lead, (axis, start, step) = entries
    same = source.shape[: len(lead)] == node.shape[:-1] and all(
        entry == (place, 0, 1) or (entry[0] is None and node.shape[place] == 1) for place, entry in enumerate(lead)
    )
    if not same or step != 1 or axis not in (None, len(lead)):
        return None
    return start, 1 if axis is None else source.shape[-1]


@final
class Parted(NamedTuple):
    """An output in pieces: its place among others, the length of its last axis, and these."""

    place: int
    length: Dim
    pieces: tuple[Piece, ...]

    def side_by_side(self, lengths: Mapping[str, int]) -> bool:
        """Whether each element belongs to one piece."""
        each = [(length_in(piece.start, lengths), length_in(piece.length, lengths)) for piece in self.pieces]
        end = 0
        for start, length in sorted(each):
            if start != end:
                return False
            end += length
        return end == length_in(self.length, lengths)


def parted(roots: Sequence[Node]) -> tuple[Parted, ...]:
    """Those of the outputs that are in pieces."""
    found = (Parted(place, root.shape[-1], pieces(root)) for place, root in enumerate(roots) if root.shape)
    return tuple([each for each in found if each.pieces])


def joined(roots: Sequence[Node], places: Sequence[int]) -> tuple[Node, ...]:
    """``roots`` where those at these places are joined, if they still are in pieces."""
    return tuple([_join(root) if place in places else root for place, root in enumerate(roots)])


def _join(root: Node) -> Node:
    every = pieces(root)
    terms = [sum(each.terms[1:], each.terms[0]) for each in every]
    starts = tuple([each.start for each in every])
    return Node("join", tuple(terms), starts, root.shape, root.dtype) if every else root


def _unwanted(*given: object) -> Any:
    raise AssertionError("what is joined is an output: nothing is derived of it, and nobody interprets it")


STRUCTURE["join"] = Structural(_unwanted, _unwanted, _unwanted)
