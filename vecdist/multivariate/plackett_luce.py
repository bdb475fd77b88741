"""The Plackett-Luce distribution of rankings."""

import numpy as np

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast, where
from vecdist.lazy.array import LazyArray
from vecdist.lazy.views import index_view
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import each
from vecdist.multivariate.events import each_of, event_length, over_event, some
from vecdist.primitives.arithmetic import eq, isnan
from vecdist.primitives.elementary import log, softplus
from vecdist.primitives.reductions import reduced
from vecdist.primitives.structure import drop_axes, position


class PlackettLuce(Multivariate):
    """Plackett-Luce distribution of rankings, f(x) = ∏_j w_(x_j) / (w_(x_j) + w_(x_(j+1)) + ... + w_(x_K)).

    The places j = 1, ..., K of a ranking x are taken by the items 0, ..., K - 1, each by one that is left, with a
    probability in proportion to its weight.  Written ``PlackettLuce(scores)`` with the weights, or
    ``PlackettLuce(logits=)`` with their logarithms.
    Plackett (1975), The analysis of permutations, Applied Statistics 24.

    >>> import numpy as np, vecdist
    >>> rankings = np.array([[2, 1, 0], [0, 1, 2], [0, 0, 1]])
    >>> np.asarray(vecdist.logpmf(PlackettLuce(np.array([1.0, 2.0, 3.0])), rankings)).round(4)
    array([-1.0986, -2.7081,    -inf])
    """

    @parametrisation(scores=each(positive))
    @staticmethod
    def by_scores(scores: Node) -> dict[str, Node]:
        return {"logits": log(scores)}

    @parametrisation(logits=each(finite))
    @staticmethod
    def by_logits(logits: Node) -> dict[str, Node]:
        return {"logits": logits}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        """Where an item has no place; a NaN is not outside."""
        return ~LazyArray(_is_at(x)).any(-2).all(-1).node & ~some(isnan(x))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """In the order of exponential variables whose rates are the weights."""
        waiting = log(random.over(p.size).exponential()) - p.logits
        return cast(LazyArray(waiting).argsort().node, random.dtype)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """At each place the odds of those that are left against the one that takes it."""
        size = event_length(x)
        placed = over_event(where(_is_at(x), index_view(p.logits, (..., None, slice(None))), 0.0))
        here, left = index_view(placed, (..., slice(-1), None)), index_view(placed, (..., None, slice(None)))
        behind = position(1, size) > position(size - 1, 1)
        odds = reduced("logsumexp", where(behind, left - here, -np.inf), (-1,))
        return where(some(isnan(x)), np.nan, -over_event(softplus(drop_axes(odds, (-1,)))))


def _is_at(x: Node) -> Node:
    """Whether a place, a row, is taken by an item, a column."""
    return eq(each_of(x), position(event_length(x)))
