"""Vectors of counts with a given sum: what families of them share."""

from collections.abc import Callable

import numpy as np

from vecdist import linalg
from vecdist.constraints import count
from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate.events import between, over_event, some
from vecdist.primitives.arithmetic import ne
from vecdist.primitives.elementary import log
from vecdist.special.draws import binomial_draw

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


def drawn_counts(random: Stream, n: Node, weights: Node) -> Node:
    """How many of n go to each place: a binomial share of those that are left, place by place."""

    def share(here: Node, behind: Node, left: Node) -> Node:
        both = here + behind
        return random.draw(binomial_draw, left, log(here / both), log(behind / both))

    return drawn_in_turn(n, weights, share)


def drawn_in_turn(n: Node, weights: Node, share: Callable[[Node, Node, Node], Node]) -> Node:
    """How many of n go to each place, in turn: a share by the weight here, that of all behind, and what is left."""
    each = linalg.vector(weights)
    rest = [each[-1]]
    for weight in each[-2:0:-1]:
        rest.insert(0, weight + rest[0])
    left, found = n, []
    for here, behind in zip(each, rest, strict=False):
        found.append(where(left > 0.0, share(here, behind, left), 0.0))
        left = left - found[-1]
    return linalg.placed([*found, left], np.arange(len(each))).node
