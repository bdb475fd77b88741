"""The hurdle negative binomial distribution."""

from typing import Any

from vecdist.constraints import finite, open_unit_interval, positive
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
from vecdist.distributions.negative_binomial import NegativeBinomial
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import floor, maximum
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.special.draws import poisson_draw


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
    by_probability: Parametrisation = with_gate(NegativeBinomial.by_probability, p=open_unit_interval)
    by_mean: Parametrisation = with_gate(NegativeBinomial.by_mean, mean=positive)
    by_log_mean: Parametrisation = with_gate(NegativeBinomial.by_log_mean, log_mean=finite)
    support: Any = NegativeBinomial.support
    log_density: Any = hurdled(NegativeBinomial, lambda p: p.r * p.log_p)

    sf: Any = hurdled_sf(NegativeBinomial, lambda p: p.r * p.log_p)
    mean: Any = hurdled_mean(NegativeBinomial, lambda p: p.r * p.log_p)

    log_sf: Any = hurdled_log_sf(NegativeBinomial, lambda p: p.r * p.log_p)
    cdf: Any = hurdled_cdf(NegativeBinomial, lambda p: p.r * p.log_p)
    quantile: Any = hurdled_quantile(NegativeBinomial, lambda p: p.r * p.log_p, cdf)
    variance: Any = hurdled_variance(NegativeBinomial, lambda p: p.r * p.log_p)
    mode: Any = mode_or_zero(lambda p: maximum(NegativeBinomial.mode(p), 1.0), log_density)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Above 0, the first of the groups of a Poisson process, whose sizes are logarithmic, and the others."""
        arrival = log1p(random.uniform() * expm1(p.r * p.log_p)) / p.log_p
        u, v = random.uniforms()
        first = 1.0 + floor(log(u) / log(-expm1(v * p.log_p)))
        others = exp(random.log_gamma(maximum(p.r - arrival, 0.0)) + (p.log_q - p.log_p))
        return where(random.uniform() < p.gate, 0.0, first + random.draw(poisson_draw, others))
