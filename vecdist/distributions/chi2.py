"""The chi-squared distribution."""

import math

from vecdist.constraints import positive
from vecdist.distributions.base import parametrisation
from vecdist.distributions.gamma import Gamma
from vecdist.graph.node import Node, const


class Chi2(Gamma):
    """Chi-squared distribution, f(x) = x^(df/2 - 1) exp(-x/2) / (2^(df/2) Γ(df/2)) for x >= 0.

    Written ``Chi2(df)``; it is the gamma distribution of shape df/2 and scale 2.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 18.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Chi2(2.0), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -1.1931])
    """

    oracle = "scipy.stats.chi2(df)"

    @parametrisation(df=positive)
    @staticmethod
    def by_df(df: Node) -> dict[str, Node]:
        half, zero = const(0.5, df.dtype), const(0.0, df.dtype)
        return {"shape": 0.5 * df, "rate": half, "rate_rest": zero, "log_rate": const(-math.log(2.0), df.dtype)}
