"""The zero-inflated Poisson distribution."""

from vecdist.distributions import saddle_point
from vecdist.distributions.base import Distribution
from vecdist.distributions.gates import (
    gated_cdf,
    gated_draw,
    gated_log_sf,
    gated_mean,
    gated_quantile,
    gated_sf,
    gated_variance,
    inflated,
    mode_or_zero,
    with_gate,
)
from vecdist.distributions.poisson import Poisson


class ZeroInflatedPoisson(Distribution):
    """Zero-inflated Poisson distribution: 0 with the probability gate, otherwise a Poisson distributed x.

    Written ``ZeroInflatedPoisson(gate, rate)`` or ``ZeroInflatedPoisson(gate=, log_rate=)``.
    Lambert (1992), Zero-inflated Poisson regression, Technometrics 34.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(ZeroInflatedPoisson(0.5, 2.0), np.array([0, 1]))).round(4)
    array([-0.5662, -2.    ])
    """

    discrete = True
    by_rate = with_gate(Poisson.by_rate)
    by_log_rate = with_gate(Poisson.by_log_rate)
    support = Poisson.support
    log_density = inflated(saddle_point.poisson)
    mean = gated_mean(Poisson)
    variance = gated_variance(Poisson)
    mode = mode_or_zero(Poisson.mode, log_density)

    cdf = gated_cdf(Poisson)
    sf = gated_sf(Poisson)
    log_sf = gated_log_sf(Poisson)

    quantile = gated_quantile(Poisson)

    draw = gated_draw(Poisson)
