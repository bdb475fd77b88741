"""The zero-inflated binomial distribution."""

from typing import Any

from vecdist.distributions import saddle_point
from vecdist.distributions.base import Distribution, Parameters, Parametrisation
from vecdist.distributions.binomial import Binomial
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
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.special.formulas import bowl, level


def _with_certain_success(formula: Any) -> Any:
    """The log mass, with the first two derivatives of that of 0 where trials are sure to succeed.

    There it is log(1 + (1 / gate - 1) q^n), of which more than two trials leave nothing.
    """

    def log_density(x: Node, p: Parameters) -> Node:
        odds, one = 1.0 / p.gate - 1.0, eq(p.n, 1.0)
        certain = eq(p.q, 0.0) & (one | eq(p.n, 2.0)) & eq(x, 0.0) & (p.gate > 0.0)
        bent = level(odds * where(one, p.q, square(p.q))) - where(one, bowl(odds * p.q), 0.0)
        return formula.__func__(x, p) + where(certain, bent, 0.0)

    return staticmethod(log_density)


class ZeroInflatedBinomial(Distribution):
    """Zero-inflated binomial distribution: 0 with the probability gate, otherwise a binomially distributed x.

    Written ``ZeroInflatedBinomial(gate, n, p)`` or ``ZeroInflatedBinomial(gate=, n=, logit=)``.
    Hall (2000), Zero-inflated Poisson and binomial regression with random effects, Biometrics 56.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(ZeroInflatedBinomial(0.5, 2, 0.5), np.array([0, 1, 3]))).round(4)
    array([-0.47  , -1.3863,    -inf])
    """

    discrete = True
    by_probability: Parametrisation = with_gate(Binomial.by_probability)
    by_logit: Parametrisation = with_gate(Binomial.by_logit)
    support: Any = Binomial.support
    log_density: Any = _with_certain_success(inflated(saddle_point.binomial, saddle_point.lost_at_no_success))
    mean: Any = gated_mean(Binomial)
    variance: Any = gated_variance(Binomial)
    mode: Any = mode_or_zero(Binomial.mode, log_density)

    cdf: Any = gated_cdf(Binomial)
    sf: Any = gated_sf(Binomial)
    log_sf: Any = gated_log_sf(Binomial)

    quantile: Any = gated_quantile(Binomial)

    draw: Any = gated_draw(Binomial)
