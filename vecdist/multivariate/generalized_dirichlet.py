"""The generalized Dirichlet distribution."""

from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.lazy.views import index_view
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import each
from vecdist.multivariate.events import between, over_event
from vecdist.multivariate.proportions import broken, outside_simplex
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log, log_sigmoid
from vecdist.primitives.scans import running
from vecdist.special.error_functions import lbeta, xlogy


class GeneralizedDirichlet(Multivariate):
    """Generalized Dirichlet distribution of proportions x_1, ..., x_K with sum 1, of which what is left is broken.

    With what is left r_i = x_(i+1) + ... + x_K, each share x_i / r_(i-1) has a beta distribution of its own:
    f(x) = ∏ x_i^(alpha_i - 1) r_i^(beta_i - 1) r_(i-1)^(1 - alpha_i - beta_i) / B(alpha_i, beta_i), for i < K.
    Written ``GeneralizedDirichlet(alpha, beta)``, of K - 1 elements; a Dirichlet distribution where each beta_i is the
    sum of alpha_(i+1) and beta_(i+1).
    Connor and Mosimann (1969), Concepts of independence for proportions, Journal of the American Statistical
    Association 64.

    >>> import numpy as np, vecdist
    >>> some = GeneralizedDirichlet(np.array([1.0, 2.0]), np.array([5.0, 3.0]))
    >>> round(float(vecdist.logpdf(some, np.array([0.2, 0.3, 0.5]))), 4)
    1.5041
    """

    @parametrisation(alpha=each(positive, "i"), beta=each(positive, "i"))
    @staticmethod
    def by_shapes(alpha: Node, beta: Node) -> dict[str, Node]:
        return {"alpha": alpha, "beta": beta}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_simplex(x)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        shares = random.over(p.size - 1)
        log_odds = shares.log_gamma(p.alpha) - shares.log_gamma(p.beta)
        return exp(broken(log_sigmoid(log_odds), log_sigmoid(-log_odds)))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        parts = between(0.0, 2.0, x, 1.0)
        left = running("cumsum", parts, -1, backwards=True)
        before, behind = index_view(left, (..., slice(-1))), index_view(left, (..., slice(1, None)))
        powers = xlogy(p.alpha - 1.0, index_view(parts, (..., slice(-1)))) + xlogy(p.beta - 1.0, behind)
        return over_event(powers + xlogy(1.0 - p.alpha - p.beta, before) - lbeta(p.alpha, p.beta))

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        total = p.alpha + p.beta
        return exp(broken(log(p.alpha / total), log(p.beta / total)))

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        total, mean = p.alpha + p.beta, GeneralizedDirichlet.mean_of(p)
        share, rest = (a * (a + 1.0) / (total * (total + 1.0)) for a in (p.alpha, p.beta))
        return exp(broken(log(share), log(rest))) - square(mean)
