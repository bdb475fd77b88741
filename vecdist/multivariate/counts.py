"""Vectors of counts with a given sum: what families of them share."""

from collections.abc import Callable

import numpy as np

from vecdist.constraints import count
from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.views import index_view
from vecdist.multivariate.events import between, each_of, event_length, over_event, some
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import ne
from vecdist.primitives.elementary import log
from vecdist.primitives.structure import pad, reshape
from vecdist.special.draws import binomial_draw

LARGEST = float(np.finfo(np.float32).max)
Share = Callable[[Stream, Node, Node, Node], Node]
"""How many of those that are left go here, by random numbers, the weight here, the other one, and how many are left."""


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
    """How many of n go to each place: of those that are left a binomial share."""

    def share(some: Stream, here: Node, other: Node, left: Node) -> Node:
        both = here + other
        return some.draw(binomial_draw, left, log(here / both), log(other / both))

    return drawn_in_turn(random, n, weights, share)


def drawn_in_turn(random: Stream, n: Node, weights: Node, share: Share) -> Node:
    """How many of n go to each place, place by place; of many places half by half."""
    if event_length(weights) > entries.LONGEST:
        return _drawn_by_halves(random, n, weights, share)
    each = entries.vector(weights)
    rest = [each[-1]]
    for weight in each[-2:0:-1]:
        rest.insert(0, weight + rest[0])
    left, found = n, []
    for here, behind in zip(each, rest, strict=False):
        found.append(where(left > 0.0, share(random, here, behind, left), 0.0))
        left = left - found[-1]
    return entries.placed([*found, left], np.arange(len(each)))


def _drawn_by_halves(random: Stream, n: Node, weights: Node, share: Share) -> Node:
    """As many steps as the number of places has binary digits."""
    size = event_length(weights)
    whole = [(axis, 0, 1) for axis in range(weights.ndim)]
    halves = [pad(weights, whole, (*weights.shape[:-1], 2 ** (size - 1).bit_length()))]
    while event_length(halves[-1]) > 2:
        one, other = _pairs(halves[-1])
        halves.append(one + other)
    found = each_of(n)
    for parts in reversed(halves):
        some = random.over(event_length(parts) // 2)
        one = where(found > 0.0, share(some, *_pairs(parts), found), 0.0)
        both = entries.placed([one, found - one], np.arange(2))
        found = reshape(both, (*both.shape[:-2], event_length(parts)))
    return index_view(found, (..., slice(size)))


def _pairs(x: Node) -> tuple[Node, Node]:
    """The elements at even and at odd places of the last axis."""
    return index_view(x, (..., slice(0, None, 2))), index_view(x, (..., slice(1, None, 2)))
