"""The hurdle log-normal distribution."""

from typing import Any

from vecdist.constraints import Constraint, nonnegative
from vecdist.distributions.base import Distribution, Parameters, Parametrisation
from vecdist.distributions.gates import (
    gated_cdf,
    gated_draw,
    gated_log_sf,
    gated_mean,
    gated_quantile,
    gated_sf,
    gated_variance,
    hurdled,
    with_gate,
)
from vecdist.distributions.log_normal import LogNormal


class HurdleLogNormal(Distribution):
    """Hurdle log-normal distribution: 0 with the probability gate, otherwise x > 0 of a log-normal distribution.

    Written ``HurdleLogNormal(gate, loc, scale)``; the value is the logarithm of a probability at 0 and of a density
    elsewhere.
    Aitchison (1955), On the distribution of a positive random variable having a discrete probability mass at the
    origin,
    Journal of the American Statistical Association 50.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HurdleLogNormal(0.5, 0.0, 2.0), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -2.3052])
    """

    mixed = True

    by_scale: Parametrisation = with_gate(LogNormal.by_scale)
    log_density: Any = hurdled(LogNormal)
    mean: Any = gated_mean(LogNormal)
    variance: Any = gated_variance(LogNormal)

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    cdf: Any = gated_cdf(LogNormal)
    sf: Any = gated_sf(LogNormal)
    log_sf: Any = gated_log_sf(LogNormal)
    quantile: Any = gated_quantile(LogNormal)

    draw: Any = gated_draw(LogNormal)
