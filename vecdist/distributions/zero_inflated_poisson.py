"""The zero-inflated Poisson distribution."""

from typing import Any

from vecdist.distributions import saddle_point
from vecdist.distributions.base import Distribution, Parametrisation
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
    by_rate: Parametrisation = with_gate(Poisson.by_rate)
    by_log_rate: Parametrisation = with_gate(Poisson.by_log_rate)
    support: Any = Poisson.support
    log_density: Any = inflated(saddle_point.poisson)
    mean: Any = gated_mean(Poisson)
    variance: Any = gated_variance(Poisson)
    mode: Any = mode_or_zero(Poisson.mode, log_density)

    cdf: Any = gated_cdf(Poisson)
    sf: Any = gated_sf(Poisson)
    log_sf: Any = gated_log_sf(Poisson)

    quantile: Any = gated_quantile(Poisson)

    draw: Any = gated_draw(Poisson)
