"""Integrals of smooth functions that fall off on both sides: sums at equal steps, which take one loop of an element.

The trapezoidal rule is exact to exp(-2 pi d / step) where the function is analytic at distances below d from the line.
Trefethen and Weideman (2014), The exponentially convergent trapezoidal rule, SIAM Review 56, theorem 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vecdist.graph.node import Node, const
from vecdist.graph.node import where as choose
from vecdist.primitives.arithmetic import ceil, floor
from vecdist.primitives.loops import local, loop

MOST = 1e6  # steps of a sum


def integral(
    term: Callable[..., Node], start: Node | float, end: Node | float, step: float, given: Sequence[Node],
    where: Node | None = None,
) -> Node:
    """The integral of ``term(t, *given)`` over t from ``start`` to ``end``, rounded to whole numbers; 0 not ``where``.

    It is NaN where that would take more than a million steps, as from or to infinity.  Ends are where nothing is left,
    and have no derivatives; the others are those of the sum, to any order.
    """
    dtype = given[0].dtype
    first, last = (const(end, dtype) if not isinstance(end, Node) else end for end in (start, end))
    first, count = floor(first), (ceil(last) - floor(first)) / step
    turn, total, *inside = (local(place, dtype) for place in range(4 + len(given)))
    at = inside[0] + turn * step
    few = count <= MOST
    active = few if where is None else where & few
    news = (turn + 1.0, total + term(at, *inside[2:]))
    zero = const(0.0, dtype)
    _, found = loop(active, (zero, zero), (first, count, *given), turn <= inside[1], news)
    whole = choose(few, step * found, float("nan"))
    return whole if where is None else choose(where, whole, 0.0)
