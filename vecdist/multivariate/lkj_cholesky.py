"""The LKJ distribution of Cholesky factors of correlation matrices."""

import numpy as np

from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast, where
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.correlations import drawn_factor, log_normaliser
from vecdist.multivariate.domains import number, tolerance
from vecdist.multivariate.events import each_of, event_length, over_event, some
from vecdist.multivariate.lower import of_lower
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import bit_or, isnan, square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import diagonal, lower_part
from vecdist.primitives.structure import position


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
        if event_length(x) > entries.MOST:
            return some((abs(_squared_norms(x) - 1.0) > tolerance(x)) | (diagonal(x) <= 0.0))
        found = None
        for row in entries.lower(x):
            far = abs(entries.total(square(entry) for entry in row) - 1.0) > tolerance(x)
            wrong = bit_or(far, row[-1] <= 0.0)
            found = wrong if found is None else bit_or(found, wrong)
        return found

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return drawn_factor(random, p.concentration, p.size).matrix()

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        size = event_length(x)
        if size > entries.MOST:
            i = cast(position(size), x.dtype)
            on_diagonal = where(i > 0.0, diagonal(of_lower(x).matrix()), 1.0)  # the first is 1
            powers = (2.0 * each_of(p.concentration) + (float(size - 3) - i)) * log(on_diagonal)
            value = over_event(powers) - log_normaliser(p.concentration, size)
            return where(isnan(over_event(_squared_norms(x))), np.nan, value)
        rows = entries.triangular(x)
        powers = ((2.0 * p.concentration + (size - 3 - i)) * log(row[-1]) for i, row in enumerate(rows) if i)
        value = entries.total([-log_normaliser(p.concentration, size), *powers])
        below = [entry for row in rows for entry in row[:-1]]
        return where(isnan(entries.total(below)), np.nan, value) if below else value


def _squared_norms(x: Node) -> Node:
    """Those of the rows of the lower triangle."""
    return over_event(square(lower_part(x)))
