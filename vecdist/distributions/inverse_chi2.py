"""The inverse chi-squared distribution."""

import math

from vecdist.constraints import positive
from vecdist.distributions.base import parametrisation
from vecdist.distributions.inverse_gamma import InverseGamma, log_mean
from vecdist.graph.node import Node, const
from vecdist.special.parts import log_parts


class InverseChi2(InverseGamma):
    """Inverse chi-squared distribution, f(x) = x^(-df/2 - 1) exp(-1 / (2 x)) / (2^(df/2) Γ(df/2)) for x > 0.

    Written ``InverseChi2(df)``; it is the inverse gamma distribution of shape df/2 and scale 1/2.
    Gelman et al. (2013), Bayesian Data Analysis, third edition, appendix A.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(InverseChi2(2.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -1.1931])
    """

    oracle = "scipy.stats.invgamma(df / 2, scale=0.5)"

    @parametrisation(df=positive)
    @staticmethod
    def by_df(df: Node) -> dict[str, Node]:
        scale, log_scale = const(0.5, df.dtype), const(-math.log(2.0), df.dtype)
        return {"shape": 0.5 * df, "scale": scale, "log_scale": log_scale, **log_mean(-log_parts(df), 1.0 / df)}
