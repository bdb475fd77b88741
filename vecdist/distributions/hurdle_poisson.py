"""The hurdle Poisson distribution."""

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Distribution
from vecdist.distributions.gates import hurdled, hurdled_log_sf, hurdled_mean, hurdled_sf, with_gate
from vecdist.distributions.poisson import Poisson


class HurdlePoisson(Distribution):
    """Hurdle Poisson distribution: 0 with the probability gate, otherwise x = 1, 2, ... of a Poisson distribution.

    Written ``HurdlePoisson(gate, rate)`` or ``HurdlePoisson(gate=, log_rate=)``.
    Mullahy (1986), Specification and testing of some modified count data models, Journal of Econometrics 33.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(HurdlePoisson(0.5, 2.0), np.array([0, 1]))).round(4)
    array([-0.6931, -1.8546])
    """

    discrete = True
    by_rate = with_gate(Poisson.by_rate, rate=positive)
    by_log_rate = with_gate(Poisson.by_log_rate, log_rate=finite)
    support = Poisson.support
    log_density = hurdled(Poisson, lambda p: -p.rate)

    sf = hurdled_sf(Poisson, lambda p: -p.rate)
    mean = hurdled_mean(Poisson, lambda p: -p.rate)

    log_sf = hurdled_log_sf(Poisson, lambda p: -p.rate)
