"""The LKJ distribution of correlation matrices."""

from vecdist import linalg
from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.lazy.views import index_view
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.correlations import drawn_factor, log_normaliser
from vecdist.multivariate.domains import number, tolerance
from vecdist.multivariate.events import event_length
from vecdist.multivariate.wishart_formulas import any_not_positive, squared
from vecdist.primitives.arithmetic import bit_or


class LKJ(Multivariate):
    """LKJ distribution of correlation matrices, f(R) = |R|^(concentration - 1) / c, of as many rows as R has.

    Written ``LKJ(concentration)``.  The last axes of the shape given to ``sample`` are those of a matrix.
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, Journal of Multivariate Analysis 100.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(LKJ(2.0), np.array([[1.0, 0.5], [0.5, 1.0]]))), 4)
    -0.5754
    """

    event = "kk"

    @parametrisation(concentration=number(positive))
    @staticmethod
    def by_concentration(concentration: Node) -> dict[str, Node]:
        return {"concentration": concentration}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        size = event_length(x)
        found = any_not_positive(linalg.factored(linalg.symmetric(x)).pivots)
        for i in range(size):
            found = bit_or(found, abs(index_view(x, (..., i, i)) - 1.0) > tolerance(x))
            for j in range(i):
                apart = index_view(x, (..., i, j)) - index_view(x, (..., j, i))
                found = bit_or(found, abs(apart) > tolerance(x))
        return found

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return squared(drawn_factor(random, p.concentration, p.size))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        log_root = linalg.log_diagonal(linalg.factored(linalg.symmetric(x)).rows)
        return 2.0 * (p.concentration - 1.0) * log_root - log_normaliser(p.concentration, event_length(x))
