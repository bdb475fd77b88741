"""The scaled inverse chi-squared distribution."""

from vecdist.constraints import positive
from vecdist.distributions.base import parametrisation
from vecdist.distributions.inverse_gamma import InverseGamma, log_mean
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.special.parts import log_parts


class ScaledInverseChi2(InverseGamma):
    """Scaled inverse chi-squared distribution, f(x) = (h s^2)^h x^(-h - 1) exp(-h s^2 / x) / Γ(h) with h = df/2, x > 0.

    Written ``ScaledInverseChi2(df, scale)``, s being the scale; it is the inverse gamma distribution of shape h and
    scale h s^2.
    Gelman et al. (2013), Bayesian Data Analysis, third edition, appendix A.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ScaledInverseChi2(2.0, 2.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -2.6137])
    """

    oracle = "scipy.stats.invgamma(df / 2, scale=df / 2 * scale**2)"

    @parametrisation(df=positive, scale=positive)
    @staticmethod
    def by_scale(df: Node, scale: Node) -> dict[str, Node]:
        half, log_scale = 0.5 * df, log(scale)
        relative = log_mean(log_parts(scale) + log_parts(scale), square(scale))
        return {"shape": half, "scale": half * square(scale), "log_scale": log(half) + 2.0 * log_scale, **relative}
