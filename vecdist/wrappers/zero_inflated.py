"""Counts with more zeros than their distribution has."""

from __future__ import annotations

import math

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.gates import log_inflated
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import logaddexp
from vecdist.primitives.floating import at_most
from vecdist.wrappers.derived import derive
from vecdist.wrappers.gates import Gated, gate_given


class ZeroInflated(Gated):
    """What ``zero_inflated`` gives."""

    name = "zero_inflated"

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        y = cls.base.log_density(x, p)
        inflated = log_inflated(p.gate, y, 0.0) if "gate" in cls.own else logaddexp(p.log_gate, p.log_rest + y)
        return where(eq(x, 0.0), inflated, p.log_rest + y)

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return p.rest * cls.base.cdf(x, p) + where(x >= 0.0, p.gate, 0.0)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return p.rest * cls.base.sf(x, p) + where(x < 0.0, p.gate, 0.0)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return logaddexp(p.log_rest + cls.base.log_cdf(x, p), where(x >= 0.0, p.log_gate, -math.inf))

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return logaddexp(p.log_rest + cls.base.log_sf(x, p), where(x < 0.0, p.log_gate, -math.inf))

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return where(random.uniform() < p.gate, 0.0, cls.base.draw(random, p))

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        """Below the step at 0 that of q / rest, above it that of (q - gate) / rest."""
        below = q <= p.rest * cls.base.cdf(p.zero - 1.0, p)
        above = q > cls.cdf(p.zero, p)
        part = where(below, q, where(above, q - p.gate, 0.5 * p.rest)) / p.rest
        return cls.stepped(where(below | above, cls.base.quantile(at_most(part, 1.0), p), 0.0), q, p)


def zero_inflated(
    distribution: Distribution, gate: Operand | None = None, gate_logit: Operand | None = None
) -> Distribution:
    """A discrete distribution with a ``gate``, the probability of a 0 beside those that it has itself.

    f(0) = gate + (1 - gate) g(0) and f(x) = (1 - gate) g(x) elsewhere; ``gate_logit`` is log(gate / (1 - gate)).
    Raises ``TypeError`` for a family that is not discrete, whose zeros ``hurdle`` sets apart, and where not one of the
    two is given.  Lambert (1992), Zero-inflated Poisson regression, Technometrics 34.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Poisson
    >>> counts = vecdist.zero_inflated(Poisson(2.0), gate=0.5)
    >>> np.asarray(vecdist.logpmf(counts, np.array([0, 1]))).round(4)
    array([-0.5662, -2.    ])
    """
    if isinstance(distribution, Distribution) and not distribution.discrete:
        raise TypeError(f"zero_inflated wants a discrete family, given {type(distribution).__name__}; hurdle takes it")
    return derive(ZeroInflated, distribution, gate_given(gate, gate_logit, "zero_inflated"))
