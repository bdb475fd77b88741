"""Vectors of counts with a given sum: what families of them share."""

from vecdist.constraints import count
from vecdist.distributions.base import Parameters
from vecdist.expr import Node
from vecdist.multivariate.events import over_event, some
from vecdist.primitives.arithmetic import ne


def outside_counts(x: Node, p: Parameters) -> Node:
    """Where ``x`` are no counts with the sum ``p.n``; a NaN is not outside."""
    violated = count.violated(x, p.whole)
    total = over_event(x)
    other = ne(total, p.n) & ~ne(total, total)
    return other if violated is None else some(violated) | other
