"""The biweight distribution."""

from vecdist.distributions.base import Distribution
from vecdist.distributions.smoothing_kernels import SmoothingKernel


class Biweight(SmoothingKernel, Distribution):
    """Biweight distribution, f(x) = 15 / (16 scale) (1 - z^2)^2 with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Biweight(loc, scale)``.
    Silverman (1986), Density Estimation for Statistics and Data Analysis, table 3.1.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Biweight(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.7577, -1.333 ,    -inf])
    """

    oracle = "scipy.stats.beta(3, 3, loc - scale, 2 * scale)"
    power = 2
