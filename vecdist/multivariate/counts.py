"""Vectors of counts with a given sum: what families of them share."""

import numpy as np

from vecdist.constraints import count
from vecdist.distributions.base import Parameters
from vecdist.expr import Node
from vecdist.multivariate.events import between, over_event, some
from vecdist.primitives.arithmetic import ne

LARGEST = float(np.finfo(np.float32).max)


def counts(x: Node) -> Node:
    """``x``, with 0 for what is no count."""
    return between(0.0, LARGEST, x, 0.0)


def outside_counts(x: Node, p: Parameters) -> Node:
    """Where ``x`` are no counts with the sum ``p.n``; a NaN is not outside."""
    violated = count.violated(x, p.whole)
    total = over_event(x)
    other = ne(total, p.n) & ~ne(total, total)
    return other if violated is None else some(violated) | other
