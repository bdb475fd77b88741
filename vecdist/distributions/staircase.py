"""Quantiles of counts, whose distribution functions are staircases."""

from __future__ import annotations

from collections.abc import Callable

from vecdist.constraints import Constraint
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, maximum, minimum


def settled(k: Node, q: Node, cdf: Callable[[Node], Node], support: Constraint, width: Node | float = 1.0) -> Node:
    """The step that reaches ``q``: ``k``, or the one beside it where rounding had led there."""
    k = minimum(maximum(k, support.lower), support.upper)
    lower = (k > support.lower) & (cdf(k - width) >= q)
    higher = (k < support.upper) & (cdf(k) < q)
    k = where(lower, k - width, where(higher, k + width, k))
    return where(eq(q, 0.0), support.lower, where(eq(q, 1.0), support.upper, k))
