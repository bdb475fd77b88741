"""The LKJ distribution of correlation matrices."""

from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import LazyArray
from vecdist.lazy.views import index_view
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.correlations import drawn_factor, log_normaliser
from vecdist.multivariate.domains import number, tolerance
from vecdist.multivariate.events import event_length
from vecdist.multivariate.lower import not_definite, of_definite
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import bit_or, eq
from vecdist.primitives.factorisations import places_of, swapped


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
        size, found = event_length(x), not_definite(x)
        if size > entries.MOST:
            row, column = places_of(x)
            far = where(eq(row, column), abs(x - 1.0), abs(x - swapped(x))) > tolerance(x)
            return found | LazyArray(far).any((-2, -1)).node
        for i in range(size):
            found = bit_or(found, abs(index_view(x, (..., i, i)) - 1.0) > tolerance(x))
            for j in range(i):
                apart = index_view(x, (..., i, j)) - index_view(x, (..., j, i))
                found = bit_or(found, abs(apart) > tolerance(x))
        return found

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return drawn_factor(random, p.concentration, p.size).squared()

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        log_root = of_definite(x).log_diagonal()
        return 2.0 * (p.concentration - 1.0) * log_root - log_normaliser(p.concentration, event_length(x))
