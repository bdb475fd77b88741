"""The relaxed Bernoulli distribution."""

from vecdist.constraints import Constraint, finite, open_unit_interval, positive, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log1p_at_zero, times
from vecdist.distributions.parts import Parts, logit_parts
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log, log1p, log_sigmoid, sigmoid, softplus
from vecdist.primitives.logarithms import logit


class RelaxedBernoulli(Distribution):
    """Relaxed Bernoulli distribution, f(x) = t o (x (1 - x))^(t - 1) / (o (1 - x)^t + x^t)^2 for 0 <= x <= 1.

    Written ``RelaxedBernoulli(temperature, p)`` or ``RelaxedBernoulli(temperature=, logit=)``, t being the temperature
    and o = exp(logit) = p / (1 - p).
    Maddison, Mnih and Teh (2017), The Concrete distribution, equation (24).

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(RelaxedBernoulli(1.0, 0.5), np.array([0.0, 0.25]))).round(4)
    array([0., 0.])
    """

    @parametrisation(temperature=positive, p=open_unit_interval)
    @staticmethod
    def by_probability(temperature: Node, p: Node) -> dict[str, Node]:
        high, rest = logit_parts(p)
        return {"temperature": temperature, "logit": logit(p), "logit_high": high, "logit_rest": rest}

    @parametrisation(temperature=positive, logit=finite)
    @staticmethod
    def by_logit(temperature: Node, logit: Node) -> dict[str, Node]:
        zero = const(0.0, logit.dtype)
        return {"temperature": temperature, "logit": logit, "logit_high": logit, "logit_rest": zero}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """With t logit(x) - logit(p) as it stands, which is small in the middle though both be large."""
        log_odds = RelaxedBernoulli.log_odds(x, p)
        powers, lower = times(p.temperature - 1.0, logit(x)), log_odds < 0.0
        nearer = where(lower, powers - p.logit, p.logit - powers) - 2.0 * where(lower, log1p(-x), log(x))
        rest = softplus(where(lower, log_odds, -log_odds))
        odds, against = x + square(x), (1.0 - x) + square(1.0 - x)  # at the ends, where at a temperature of 1
        rest = where(x > 0.0, rest, log1p_at_zero(odds * exp(-p.logit)))  # their derivatives count
        rest = where(x < 1.0, rest, log1p_at_zero(against * exp(p.logit)))
        return log(p.temperature) + nearer - 2.0 * rest

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return sigmoid(RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sigmoid(-RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(-RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def log_odds(x: Node, p: Parameters) -> Node:
        return p.temperature * logit(x) - p.logit

    @staticmethod
    def tail_odds(x: Node, p: Parameters) -> Node:
        """The log odds with all digits where they are a small difference."""
        return (logit_parts(x).times(p.temperature) - Parts(p.logit_high, p.logit_rest)).whole

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return sigmoid((logit(q) + p.logit) / p.temperature)
