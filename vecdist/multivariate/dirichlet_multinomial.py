"""The Dirichlet multinomial distribution."""

from vecdist.constraints import count, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.counts import counts, drawn_counts, outside_counts
from vecdist.multivariate.domains import each, number
from vecdist.multivariate.events import each_of, over_event
from vecdist.primitives.elementary import log
from vecdist.primitives.reductions import along
from vecdist.special.error_functions import lbeta


class DirichletMultinomial(Multivariate):
    """Dirichlet multinomial distribution, f(x) = n B(A, n) / ∏ x_k B(alpha_k, x_k) for counts x with sum n.

    A is the sum of alpha, and the product is over the counts above 0: a multinomial distribution whose probabilities
    have a Dirichlet distribution.  Written ``DirichletMultinomial(n, alpha)``.
    Johnson, Kotz and Balakrishnan (1997), Discrete Multivariate Distributions, chapter 35.

    >>> import numpy as np, vecdist
    >>> counts = np.array([[1, 2], [3, 0], [1, 1]])
    >>> np.asarray(vecdist.logpmf(DirichletMultinomial(3, np.array([1.0, 1.0])), counts)).round(4)
    array([-1.3863, -1.3863,    -inf])
    """

    @parametrisation(n=number(count), alpha=each(positive))
    @staticmethod
    def by_alpha(n: Node, alpha: Node) -> dict[str, Node]:
        return {"n": n, "alpha": alpha}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_counts(x, p)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        shares = along("softmax", random.over(p.size).log_gamma(p.alpha), (-1,))
        return drawn_counts(random, p.n, shares)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return _log_share(over_event(p.alpha), p.n) - over_event(_log_share(p.alpha, counts(x)))

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return each_of(p.n) * (p.alpha / each_of(over_event(p.alpha)))

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        total = each_of(over_event(p.alpha))
        share = p.alpha / total
        return each_of(p.n) * share * ((total - p.alpha) / total) * ((each_of(p.n) + total) / (1.0 + total))


def _log_share(alpha: Node, n: Node) -> Node:
    """log(n B(alpha, n)), 0 in the limit of n = 0."""
    some = n > 0.0
    at = where(some, n, 1.0)
    return where(some, log(at) + lbeta(alpha, at), 0.0 * n)
