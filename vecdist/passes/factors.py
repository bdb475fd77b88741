"""What Cholesky factors are taken for, as users write it: logarithms of determinants, and squared distances.

The sum of the logarithms of a factor's diagonal is half of log |A|, and that of the squares of L^-1 b is b' A^-1 b.
Their derivatives are an inverse and a solution: those of a factor are two systems of as many columns as rows, and a
product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vecdist.graph.node import Node, rewrite
from vecdist.primitives.factorisations import CHOLESKY, SOLVE_LOWER, log_determinant, squared_distance
from vecdist.primitives.structure import rebuilt, summed, view


def factors(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with these functions by name."""
    return rewrite(roots, _named)


def _named(node: Node, args: tuple[Node, ...]) -> Node:
    found = rebuilt(node, args)
    if found.op != "sum":
        return found
    (axes,), (x,) = found.attrs, found.args
    better = None
    if x.op == "log":
        better = _summed(axes, x.args[0], _determinants)
    elif x.op == "square" or (x.op == "mul" and x.args[0] is x.args[1]):
        better = _summed(axes, x.args[0], _distances)
    return found if better is None else better


def _summed(axes: tuple[int, ...], x: Node, known: Callable[[Node], tuple[Node, int] | None]) -> Node | None:
    """The sum over axes, of which one is that of what is known by name: that without it, where it stood in ``x``."""
    source, places = _source(x)
    found = known(source)
    if found is None or places is None:
        return None
    value, axis = found
    place = places.pop(axis)
    if place is None or place - x.ndim not in axes:
        return None
    shape = tuple([1 if each == place else length for each, length in enumerate(x.shape)])
    whole = view(value, [(each, 0, 1) for each in places], shape)
    others = tuple([each for each in axes if each != place - x.ndim])
    return summed(whole, others) if others else whole


def _source(x: Node) -> tuple[Node, list[int | None] | None]:
    """What whole axes are a view of, and which they are, none of those of length 1; none where parts are."""
    places: list[int | None] = list(range(x.ndim))
    while x.op == "view":
        shape, (entries,), (x,) = x.shape, x.attrs, x.args
        kept = [to for to, *_ in entries if to is not None]
        whole = all((start, step) == (0, 1) and (to is None or shape[to] == length)
                    for (to, start, step), length in zip(entries, x.shape, strict=True))  # fmt: skip
        if not whole or any(length != 1 for to, length in enumerate(shape) if to not in kept):
            return x, None
        places = [None if to is None else places[to] for to, *_ in entries]
    return x, places


def _determinants(x: Node) -> tuple[Node, int] | None:
    """Half the logarithms of determinants, where these are diagonals of factors, and the axis that they lie along."""
    if x.op != "gather" or not _is_factor(x.args[0]):
        return None
    factor, *places = x.args
    whole = x.attrs == (factor.ndim - 2, 2) and x.shape == factor.shape[:-1]
    whole = whole and places[0] is places[1] and places[0].op == "position" and places[0].ndim == 1
    return (0.5 * log_determinant(factor.args[0], factor), x.ndim - 1) if whole else None


def _distances(x: Node) -> tuple[Node, int] | None:
    """The squared distances of columns that solve systems by factors, and the axis that columns lie along."""
    if x.op != "external" or x.attrs[0] is not SOLVE_LOWER or not _is_factor(x.args[0]):
        return None
    factor, b = x.args
    return squared_distance(factor.args[0], factor, b), x.ndim - 2


def _is_factor(x: Node) -> bool:
    return x.op == "external" and x.attrs[0] is CHOLESKY
