"""The hurdle Poisson distribution."""

from typing import Any

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Distribution, Parameters, Parametrisation
from vecdist.distributions.gates import (
    hurdled,
    hurdled_cdf,
    hurdled_log_sf,
    hurdled_mean,
    hurdled_quantile,
    hurdled_sf,
    hurdled_variance,
    mode_or_zero,
    with_gate,
)
from vecdist.distributions.poisson import Poisson
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import maximum
from vecdist.primitives.elementary import expm1, log1p
from vecdist.special.draws import poisson_draw


class HurdlePoisson(Distribution):
    """Hurdle Poisson distribution: 0 with the probability gate, otherwise x = 1, 2, ... of a Poisson distribution.

    Written ``HurdlePoisson(gate, rate)`` or ``HurdlePoisson(gate=, log_rate=)``.
    Mullahy (1986), Specification and testing of some modified count data models, Journal of Econometrics 33.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(HurdlePoisson(0.5, 2.0), np.array([0, 1]))).round(4)
    array([-0.6931, -1.8546])
    """

    discrete = True
    by_rate: Parametrisation = with_gate(Poisson.by_rate, rate=positive)
    by_log_rate: Parametrisation = with_gate(Poisson.by_log_rate, log_rate=finite)
    support: Any = Poisson.support
    log_density: Any = hurdled(Poisson, lambda p: -p.rate)

    sf: Any = hurdled_sf(Poisson, lambda p: -p.rate)
    mean: Any = hurdled_mean(Poisson, lambda p: -p.rate)

    log_sf: Any = hurdled_log_sf(Poisson, lambda p: -p.rate)
    cdf: Any = hurdled_cdf(Poisson, lambda p: -p.rate)
    quantile: Any = hurdled_quantile(Poisson, lambda p: -p.rate, cdf)
    variance: Any = hurdled_variance(Poisson, lambda p: -p.rate)
    mode: Any = mode_or_zero(lambda p: maximum(Poisson.mode(p), 1.0), log_density)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Above 0, one event by the time of the first of a Poisson process, and those after it."""
        arrival = -log1p(random.uniform() * expm1(-p.rate))
        above = 1.0 + random.draw(poisson_draw, maximum(p.rate - arrival, 0.0))
        return where(random.uniform() < p.gate, 0.0, above)
