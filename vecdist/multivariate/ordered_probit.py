"""The ordered probit distribution."""

from vecdist.constraints import finite
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import number, ordered
from vecdist.multivariate.ordinal import category, cuts_around, outside_categories
from vecdist.special.normal_interval import log_diff_ndtr


class OrderedProbit(Multivariate):
    """Ordered probit distribution, f(x) = Φ(c_x - eta) - Φ(c_(x-1) - eta) for x = 0, 1, ..., J.

    The J cutpoints c increase along the last axis, c_-1 = -inf and c_J = inf, and Φ is the normal distribution
    function.  Written ``OrderedProbit(eta, cutpoints)``.
    McCullagh (1980), Regression models for ordinal data, Journal of the Royal Statistical Society B 42.

    >>> import numpy as np, vecdist
    >>> cutpoints = np.array([-1.0, 1.0])
    >>> np.asarray(vecdist.logpmf(OrderedProbit(0.5, cutpoints), np.array([0, 1, 2, 3]))).round(4)
    array([-2.7059, -0.4706, -1.1759,    -inf])
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
        return category(p.eta + random.normal(), p.cutpoints)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        below, above = cuts_around(x, p.cutpoints)
        return log_diff_ndtr(above - p.eta, below - p.eta)
