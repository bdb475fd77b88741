"""The LKJ distribution of Cholesky factors of correlation matrices."""

from vecdist import linalg
from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.correlations import drawn_factor, log_normaliser
from vecdist.multivariate.domains import number, tolerance
from vecdist.multivariate.events import event_length
from vecdist.primitives.arithmetic import bit_or, square
from vecdist.primitives.elementary import log


class LKJCholesky(Multivariate):
    """LKJ distribution of Cholesky factors of correlation matrices, f(L) = ∏ L_ii^(K - i + 2 concentration - 2) / c.

    The product is over i = 2, ..., K, the rows of L, which have norm 1.  So L L' has the distribution ``LKJ``, and c is
    that one's.  What is above the diagonal is not read.  Written ``LKJCholesky(concentration)``.
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, Journal of Multivariate Analysis 100.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(LKJCholesky(2.0), np.array([[1.0, 0.0], [0.6, 0.8]]))), 4)
    -0.734
    """

    event = "kk"

    @parametrisation(concentration=number(positive))
    @staticmethod
    def by_concentration(concentration: Node) -> dict[str, Node]:
        return {"concentration": concentration}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        found = None
        for row in linalg.lower(x):
            far = abs(linalg.total(square(entry) for entry in row) - 1.0) > tolerance(x)
            wrong = bit_or(far, row[-1] <= 0.0)
            found = wrong if found is None else bit_or(found, wrong)
        return found

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return linalg.stacked(drawn_factor(random, p.concentration, p.size)).node

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        size = event_length(x)
        powers = (
            (2.0 * p.concentration + (size - 3 - i)) * log(row[-1]) for i, row in enumerate(linalg.triangular(x)) if i
        )
        return linalg.total([-log_normaliser(p.concentration, size), *powers])
