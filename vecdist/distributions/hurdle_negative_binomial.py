"""The hurdle negative binomial distribution."""

from vecdist.constraints import finite, open_unit_interval, positive
from vecdist.distributions.base import Distribution
from vecdist.distributions.gates import hurdled, hurdled_log_sf, hurdled_mean, hurdled_sf, with_gate
from vecdist.distributions.negative_binomial import NegativeBinomial


class HurdleNegativeBinomial(Distribution):
    """Hurdle negative binomial distribution: 0 with the probability gate, otherwise x = 1, 2, ... of that one.

    Written ``HurdleNegativeBinomial(gate, r, p)``, ``HurdleNegativeBinomial(gate=, mean=, dispersion=)`` or
    ``HurdleNegativeBinomial(gate=, log_mean=, dispersion=)``; the mean is that of the negative binomial distribution.
    Mullahy (1986), Specification and testing of some modified count data models, Journal of Econometrics 33.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(HurdleNegativeBinomial(0.5, 2.0, 0.25), np.array([0, 1]))).round(4)
    array([-0.6931, -2.9957])
    """

    discrete = True
    by_probability = with_gate(NegativeBinomial.by_probability, p=open_unit_interval)
    by_mean = with_gate(NegativeBinomial.by_mean, mean=positive)
    by_log_mean = with_gate(NegativeBinomial.by_log_mean, log_mean=finite)
    support = NegativeBinomial.support
    log_density = hurdled(NegativeBinomial, lambda p: p.r * p.log_p)

    sf = hurdled_sf(NegativeBinomial, lambda p: p.r * p.log_p)
    mean = hurdled_mean(NegativeBinomial, lambda p: p.r * p.log_p)

    log_sf = hurdled_log_sf(NegativeBinomial, lambda p: p.r * p.log_p)
