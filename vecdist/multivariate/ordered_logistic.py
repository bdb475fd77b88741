"""The ordered logistic distribution."""

from vecdist.constraints import finite
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import number, ordered
from vecdist.multivariate.ordinal import category, cuts_around, outside_categories
from vecdist.primitives.elementary import log_sigmoid
from vecdist.primitives.logarithms import log1mexp, logit


class OrderedLogistic(Multivariate):
    """Ordered logistic distribution, f(x) = σ(c_x - eta) - σ(c_(x-1) - eta) for x = 0, 1, ..., J.

    The J cutpoints c increase along the last axis, c_-1 = -inf and c_J = inf, and σ(z) = 1 / (1 + exp(-z)).
    Written ``OrderedLogistic(eta, cutpoints)``.
    McCullagh (1980), Regression models for ordinal data, Journal of the Royal Statistical Society B 42.

    >>> import numpy as np, vecdist
    >>> cutpoints = np.array([-1.0, 1.0])
    >>> np.asarray(vecdist.logpmf(OrderedLogistic(0.5, cutpoints), np.array([0, 1, 2, 3]))).round(4)
    array([-1.7014, -0.8209, -0.9741,    -inf])
    """

    event = ""

    @parametrisation(eta=number(finite), cutpoints=ordered)
    @staticmethod
    def by_cutpoints(eta: Node, cutpoints: Node) -> dict[str, Node]:
        return {"eta": eta, "cutpoints": cutpoints}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_categories(x, p)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return category(p.eta + logit(random.uniform()), p.cutpoints)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        below, above = cuts_around(x, p.cutpoints)
        return log_sigmoid(above - p.eta) + log_sigmoid(p.eta - below) + log1mexp(below - above)
