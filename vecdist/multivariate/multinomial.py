"""The multinomial distribution."""

from vecdist.constraints import below_infinity, count
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.counts import counts, drawn_counts, outside_counts
from vecdist.multivariate.domains import each, number, simplex
from vecdist.multivariate.events import each_of, over_event
from vecdist.primitives.elementary import exp
from vecdist.primitives.reductions import along
from vecdist.special.error_functions import lgamma, xlogy
from vecdist.special.formulas import times


class Multinomial(Multivariate):
    """Multinomial distribution, f(x) = n! ∏ probs_k^x_k / x_k! for counts x with sum n.

    Written ``Multinomial(n, probs)``, or ``Multinomial(n=, logits=)`` with numbers whose softmax are the probabilities.
    A count of 0 has probability 0 as a matter of course where its ``probs`` is 0.
    Johnson, Kotz and Balakrishnan (1997), Discrete Multivariate Distributions, chapter 35.

    >>> import numpy as np, vecdist
    >>> counts = np.array([[1, 2], [3, 0], [1, 1]])
    >>> np.asarray(vecdist.logpmf(Multinomial(3, np.array([0.25, 0.75])), counts)).round(4)
    array([-0.863 , -4.1589,    -inf])
    """

    @parametrisation(n=number(count), probs=simplex)
    @staticmethod
    def by_probabilities(n: Node, probs: Node) -> dict[str, Node]:
        return {"n": n, "probs": probs}

    @parametrisation(n=number(count), logits=each(below_infinity))
    @staticmethod
    def by_logits(n: Node, logits: Node) -> dict[str, Node]:
        return {"n": n, "log_probs": along("log_softmax", logits, (-1,))}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_counts(x, p)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return drawn_counts(random, p.n, _probabilities(p))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        x = counts(x)
        powers = xlogy(x, p.probs) if hasattr(p, "probs") else times(x, p.log_probs)
        return over_event(powers - lgamma(x + 1.0)) + lgamma(p.n + 1.0)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return each_of(p.n) * _probabilities(p)

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        probs = _probabilities(p)
        return each_of(p.n) * probs * (1.0 - probs)


def _probabilities(p: Parameters) -> Node:
    return p.probs if hasattr(p, "probs") else exp(p.log_probs)
