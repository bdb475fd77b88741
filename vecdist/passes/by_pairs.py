"""Sums by index and running results in the steps of recurrences, which have no memory of their own but carries.

Outside of steps these are added up in an array that is read when all is there.  In a step each element of the result
is a reduction of its own, over all places that may count for it: the work grows with the product of both lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vecdist.graph.node import Node, rewrite, where
from vecdist.graph.shapes import Shape
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.reductions import reduced
from vecdist.primitives.structure import drop_axes, full, position, rebuilt, view


def by_pairs(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` without sums by index, and without running results along an axis."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        found = rebuilt(node, args)
        return PAIRED[node.op](found) if node.op in PAIRED else found

    return rewrite(roots, rule)


def _scatter(node: Node) -> Node:
    """The values whose indices are those of a place, added up: over the axes of values that are picked."""
    values, *indices = node.args
    start, count = node.attrs
    after = node.ndim - start - count
    picked = values.ndim - start - after
    held = values.ndim - after
    shape = (*node.shape[: start + count], *values.shape[start:held], *node.shape[start + count :])
    lie = [*range(start), *range(start + count, len(shape))]  # where axes of values are among those
    here = view(values, [(axis, 0, 1) for axis in lie], _as_long(values, lie, shape))
    for number, index in enumerate(indices):
        axis = start + number
        places = lie[held - index.ndim : held]
        there = view(index, [(place, 0, 1) for place in places], _as_long(index, places, shape))
        here = where(eq(there, _along(axis, shape)), here, 0)
    every = tuple(range(start + count - len(shape), -after if after else 0))[:picked]
    return full(_reduced("sum", full(here, shape), every), node.shape)


def _running(op: str, neutral: int | None = None) -> Callable[[Node], Node]:
    """All elements up to each one, taken together; those behind it are neutral, or, of extremes, itself again."""

    def paired(node: Node) -> Node:
        (x,), ((axis,), backwards) = node.args, node.attrs
        place = node.ndim + axis
        shape = _doubled(node.shape, place)
        upto = _comes_first(place + 1, place, shape, backwards)
        behind = _inserted(x, place + 1) if neutral is None else neutral
        return _reduced(op, full(where(upto, _inserted(x, place), behind), shape), (place + 1 - len(shape),))

    return paired


def _linear(node: Node) -> Node:
    """Terms times the factors behind them: the sum over j up to i of b_j times all a_k with k behind j and up to i."""
    (terms, factors), ((axis,), backwards) = node.args, node.attrs
    i = node.ndim + axis
    j, k, pairs = i + 1, i + 2, _doubled(node.shape, i)
    triples = _doubled(pairs, j)
    between = _comes_first(k, i, triples, backwards) & ~_comes_first(k, j, triples, backwards)
    each = full(where(between, _inserted(_inserted(factors, i), i), 1), triples)
    every = _inserted(terms, i) * _reduced("prod", each, (k - len(triples),))
    return _reduced("sum", full(where(_comes_first(j, i, pairs, backwards), every, 0), pairs), (j - len(pairs),))


def _doubled(shape: Shape, axis: int) -> Shape:
    """A shape that has the length of an axis once more, behind that."""
    return (*shape[: axis + 1], *shape[axis:])


def _inserted(x: Node, place: int) -> Node:
    """``x`` with an axis of length 1 at a place."""
    entries = [(axis + (axis >= place), 0, 1) for axis in range(x.ndim)]
    return view(x, entries, (*x.shape[:place], 1, *x.shape[place:]))


def _comes_first(one: int, other: int, shape: Shape, backwards: bool) -> Node:
    """Whether the place along one axis is that along the other, or before it in the order of a running result."""
    first, second = _along(one, shape), _along(other, shape)
    return second <= first if backwards else first <= second


def _along(axis: int, shape: Shape) -> Node:
    """The place along an axis of ``shape``."""
    return view(position(shape[axis]), [(axis, 0, 1)], tuple([d if at == axis else 1 for at, d in enumerate(shape)]))


def _as_long(x: Node, places: Sequence[int], shape: Shape) -> Shape:
    """A shape in which the axes of ``x`` are at ``places``, and others have length 1."""
    lengths = dict(zip(places, x.shape, strict=True))
    return tuple(lengths.get(at, 1) for at in range(len(shape)))


def _reduced(op: str, x: Node, axes: tuple[int, ...]) -> Node:
    return drop_axes(reduced(op, x, axes), axes)


PAIRED: dict[str, Callable[[Node], Node]] = {
    "scatter": _scatter, "cumsum": _running("sum", 0), "cumprod": _running("prod", 1), "cummax": _running("max"),
    "cummin": _running("min"), "linear_recurrence": _linear,
}  # fmt: skip
