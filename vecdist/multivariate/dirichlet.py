"""The Dirichlet distribution."""

from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import each
from vecdist.multivariate.events import between, each_of, over_event
from vecdist.multivariate.proportions import outside_simplex
from vecdist.primitives.reductions import along
from vecdist.special.error_functions import lgamma, xlogy


class Dirichlet(Multivariate):
    """Dirichlet distribution, f(x) = Γ(Σ alpha) ∏ x_k^(alpha_k - 1) / Γ(alpha_k) for x_k >= 0 with sum 1.

    Written ``Dirichlet(alpha)``.
    Kotz, Balakrishnan and Johnson (2000), Continuous Multivariate Distributions 1, second edition, chapter 49.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(Dirichlet(np.array([1.0, 2.0, 3.0])), np.array([0.2, 0.3, 0.5]))), 4)
    1.5041
    """

    @parametrisation(alpha=each(positive))
    @staticmethod
    def by_alpha(alpha: Node) -> dict[str, Node]:
        return {"alpha": alpha}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_simplex(x)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return along("softmax", random.over(p.size).log_gamma(p.alpha), (-1,))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        parts = between(0.0, 2.0, x, 1.0)
        return over_event(xlogy(p.alpha - 1.0, parts) - lgamma(p.alpha)) + lgamma(over_event(p.alpha))

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return p.alpha / each_of(over_event(p.alpha))

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        total, mean = each_of(over_event(p.alpha)), Dirichlet.mean_of(p)
        return mean * ((total - p.alpha) / total) / (total + 1.0)
