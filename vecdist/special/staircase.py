"""Quantiles of counts, whose distribution functions are staircases."""

from __future__ import annotations

from collections.abc import Callable

from vecdist.constraints import Constraint
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import at_least, at_most, width
from vecdist.special.formulas import times

LOST = {8: 2.0**-48, 4: 2.0**-21}  # by rounding: of the logarithm of a probability


def eased(q: Node) -> Node:
    """What a distribution function that should be ``q`` is at least, and it and the upper tail to some digits still."""
    return q + LOST[width(q)] * times(q, log(q))


def settled(k: Node, q: Node, cdf: Callable[[Node], Node], support: Constraint, step: Node | float = 1.0) -> Node:
    """The step that reaches ``q``: ``k``, or the one beside it where rounding had led there.

    A step reaches all that it misses by no more than rounding, but for a value that the next one has itself.
    """
    k = at_most(at_least(k, support.lower), support.upper)
    below, here = cdf(k - step), cdf(k)
    lower = (k > support.lower) & (below >= where(eq(here, q), q, eased(q)))
    higher = (k < support.upper) & (here < eased(q))
    k = where(lower, k - step, where(higher, k + step, k))
    return where(eq(q, 0.0), support.lower, where(eq(q, 1.0), support.upper, k))
