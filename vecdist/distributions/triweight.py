"""The triweight distribution."""

from vecdist.distributions.base import Distribution
from vecdist.distributions.smoothing_kernels import SmoothingKernel


class Triweight(SmoothingKernel, Distribution):
    """Triweight distribution, f(x) = 35 / (32 scale) (1 - z^2)^3 with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Triweight(loc, scale)``.
    Silverman (1986), Density Estimation for Statistics and Data Analysis, section 3.3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Triweight(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6035, -1.4666,    -inf])
    """

    oracle = "scipy.stats.beta(4, 4, loc - scale, 2 * scale)"
    power = 3
