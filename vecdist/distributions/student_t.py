"""Student's t distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, positive, positive_or_infinite
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log1p_square
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.special import lgamma_delta


class StudentT(Distribution):
    """Student's t distribution, f(x) = (1 + z^2 / df)^(-(df + 1) / 2) / (B(df / 2, 1/2) sqrt(df) scale).

    Written ``StudentT(df, loc, scale)``, where ``loc`` is 0 and ``scale`` 1 if they are not given, or
    ``StudentT(df=, loc=, precision=)``; z is (x - loc) / scale.  An infinite ``df`` gives the normal distribution.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 28.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(StudentT(np.array([1.0, 4.0, np.inf])), 2.0)).round(4)
    array([-2.7542, -2.7137, -2.9189])
    """

    oracle = "scipy.stats.t(df, loc, scale)"

    @parametrisation(df=positive_or_infinite, loc=finite, scale=positive)
    @staticmethod
    def by_scale(df: Node, loc: Any = 0.0, scale: Any = 1.0) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(df=positive_or_infinite, loc=finite, precision=positive)
    @staticmethod
    def by_precision(df: Node, loc: Node, precision: Node) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = (x - p.loc) * p.inverse_scale
        half, limit = 0.5 * p.df, eq(p.df, math.inf)
        decay = where(limit, 0.5 * square(z), (half + 0.5) * log1p_square(z * (1.0 / sqrt(p.df))))
        constant = where(limit, -0.5 * math.log(2.0), lgamma_delta(half, 0.5) - 0.5 * log(p.df))
        return (constant - (p.log_scale + 0.5 * math.log(math.pi))) - decay
