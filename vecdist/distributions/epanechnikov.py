"""The Epanechnikov distribution."""

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.smoothing_kernels import SmoothingKernel
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.trigonometric import arctan, near_sin


class Epanechnikov(SmoothingKernel, Distribution):
    """Epanechnikov distribution, f(x) = 3 / (4 scale) (1 - z^2) with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Epanechnikov(loc, scale)``.
    Epanechnikov (1969), Non-parametric estimation of a multivariate probability density, Theory of Probability 14.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Epanechnikov(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.9808, -1.2685,    -inf])
    """

    oracle = "scipy.stats.beta(2, 2, loc - scale, 2 * scale)"
    power = 1

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        """The root of a cubic polynomial between -1 and 1, DLMF 4.43.2."""
        half = q - 0.5  # half the sine of the angle that is divided by 3
        return p.loc + p.scale * (2.0 * near_sin(arctan(half / sqrt(q * (1.0 - q))) / 3.0))
