"""The multivariate Student distribution."""

import math

import numpy as np

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate import scatter
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, each, number, triangular
from vecdist.multivariate.events import each_of, length
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.elementary import log, log1p
from vecdist.special.error_functions import lgamma_delta


class MvStudentT(Multivariate):
    """Multivariate Student distribution, f(x) = c (1 + d' Σ^-1 d / df)^(-(df + K) / 2) with d = x - loc.

    Σ is the ``scale_matrix``, not the covariance, and c = Γ((df + K) / 2) / (Γ(df / 2) sqrt((df pi)^K |Σ|)).
    Written ``MvStudentT(df, loc, scale_matrix)``, ``MvStudentT(df=, loc=, scale_tril=)`` with a lower triangular
    factor of it, or ``MvStudentT(df=, loc=, scale_diag=)`` with the square roots of a diagonal one.
    Kotz and Nadarajah (2004), Multivariate t Distributions and Their Applications, equation (1.1).

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(MvStudentT(3.0, np.zeros(2), np.eye(2)), np.ones(2))), 4)
    -3.1149
    """

    @parametrisation(df=number(positive), loc=each(finite), scale_matrix=definite)
    @staticmethod
    def by_matrix(df: Node, loc: Node, scale_matrix: Node) -> dict[str, object]:
        return {"df": df, "loc": loc, "scatter": scatter.of_matrix(scale_matrix)}

    @parametrisation(df=number(positive), loc=each(finite), scale_tril=triangular)
    @staticmethod
    def by_factor(df: Node, loc: Node, scale_tril: Node) -> dict[str, object]:
        return {"df": df, "loc": loc, "scatter": scatter.of_lower(scale_tril)}

    @parametrisation(df=number(positive), loc=each(finite), scale_diag=each(positive))
    @staticmethod
    def by_diagonal(df: Node, loc: Node, scale_diag: Node) -> dict[str, object]:
        return {"df": df, "loc": loc, "scatter": scatter.of_diagonal(scale_diag)}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return None

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        stretch = sqrt(0.5 * p.df / random.gamma(0.5 * p.df))
        return p.loc + each_of(stretch) * p.scatter.coloured(random)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        deviation = x - p.loc
        half = 0.5 * length(deviation)
        constant = lgamma_delta(0.5 * p.df, half) - half * log(math.pi * p.df)
        power = (0.5 * p.df + half) * log1p(p.scatter.distance(deviation) / p.df)
        return constant - (p.scatter.log_volume + power)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return where(each_of(p.df) > 1.0, p.loc, np.nan)

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        df = each_of(p.df)
        found = where(df > 2.0, df / where(df > 2.0, df - 2.0, 1.0) * scatter.variances(p.scatter), np.inf)
        return where(df > 1.0, found, np.nan)
