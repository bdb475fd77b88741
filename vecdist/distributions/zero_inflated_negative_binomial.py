"""The zero-inflated negative binomial distribution."""

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
from vecdist.distributions.negative_binomial import NegativeBinomial


class ZeroInflatedNegativeBinomial(Distribution):
    """Zero-inflated negative binomial distribution: 0 with the probability gate, otherwise x = 0, 1, ... of that one.

    Written ``ZeroInflatedNegativeBinomial(gate, r, p)``, ``ZeroInflatedNegativeBinomial(gate=, mean=, dispersion=)`` or
    ``ZeroInflatedNegativeBinomial(gate=, log_mean=, dispersion=)``; the mean is that without the gate.
    Greene (1994), Accounting for excess zeros and sample selection, Stern School of Business working paper 94-10.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(ZeroInflatedNegativeBinomial(0.5, 2.0, 0.25), np.array([0, 1]))).round(4)
    array([-0.6325, -3.0603])
    """

    discrete = True
    by_probability: Parametrisation = with_gate(NegativeBinomial.by_probability)
    by_mean: Parametrisation = with_gate(NegativeBinomial.by_mean)
    by_log_mean: Parametrisation = with_gate(NegativeBinomial.by_log_mean)
    support: Any = NegativeBinomial.support
    log_density: Any = inflated(saddle_point.negative_binomial, saddle_point.lost_at_no_failure)
    mean: Any = gated_mean(NegativeBinomial)
    variance: Any = gated_variance(NegativeBinomial)
    mode: Any = mode_or_zero(NegativeBinomial.mode, log_density)

    cdf: Any = gated_cdf(NegativeBinomial)
    sf: Any = gated_sf(NegativeBinomial)
    log_sf: Any = gated_log_sf(NegativeBinomial)

    quantile: Any = gated_quantile(NegativeBinomial)

    draw: Any = gated_draw(NegativeBinomial)
