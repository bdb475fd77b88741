"""The hurdle gamma distribution."""

from typing import Any

from vecdist.distributions.base import Distribution, Parametrisation
from vecdist.distributions.gamma import Gamma
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


class HurdleGamma(Distribution):
    """Hurdle gamma distribution: 0 with the probability gate, otherwise x > 0 of a gamma distribution.

    Written ``HurdleGamma(gate, shape, scale)``, ``HurdleGamma(gate=, shape=, rate=)`` or ``HurdleGamma(gate=, mean=,
    sd=)``; the value is the logarithm of a probability at 0 and of a density elsewhere.
    Cragg (1971), Some statistical models for limited dependent variables, Econometrica 39.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HurdleGamma(0.5, 2.0, 0.5), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -1.3069])
    """

    mixed = True

    by_scale: Parametrisation = with_gate(Gamma.by_scale)
    by_rate: Parametrisation = with_gate(Gamma.by_rate)
    by_moments: Parametrisation = with_gate(Gamma.by_moments)
    support: Any = Gamma.support
    log_density: Any = hurdled(Gamma)
    mean: Any = gated_mean(Gamma)
    variance: Any = gated_variance(Gamma)

    cdf: Any = gated_cdf(Gamma)
    sf: Any = gated_sf(Gamma)
    log_sf: Any = gated_log_sf(Gamma)

    quantile: Any = gated_quantile(Gamma)

    draw: Any = gated_draw(Gamma)
