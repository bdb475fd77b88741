"""The categorical distribution."""

from vecdist.constraints import below_infinity, whole_interval
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import each, simplex
from vecdist.multivariate.events import chosen, event_length, place_of
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.reductions import along


class Categorical(Multivariate):
    """Categorical distribution, f(x) = probs[x] for x = 0, 1, ..., K - 1.

    Written ``Categorical(probs)`` with the probabilities along the last axis, or ``Categorical(logits=)`` with numbers
    whose softmax they are.
    Johnson, Kotz and Balakrishnan (1997), Discrete Multivariate Distributions, chapter 35.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Categorical(np.array([0.25, 0.75])), np.array([0, 1, 2]))).round(4)
    array([-1.3863, -0.2877,    -inf])
    """

    event = ""

    @parametrisation(probs=simplex)
    @staticmethod
    def by_probabilities(probs: Node) -> dict[str, Node]:
        return {"table": probs, "log_probs": log(probs)}

    @parametrisation(logits=each(below_infinity))
    @staticmethod
    def by_logits(logits: Node) -> dict[str, Node]:
        return {"table": logits, "log_probs": along("log_softmax", logits, (-1,))}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return whole_interval(0.0, event_length(p.table) - 1.0).violated(x, p.whole)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return place_of(random.uniform(), exp(p.log_probs))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return chosen(p.log_probs, x)
