"""Zeros by themselves, and a distribution of what is not zero."""

from __future__ import annotations

from collections.abc import Mapping

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import at_least, at_most
from vecdist.primitives.logarithms import log1mexp
from vecdist.wrappers.derived import derive
from vecdist.wrappers.gates import Gated, gate_given


class Hurdle(Gated):
    """What ``hurdle`` gives; ``at_zero`` is the log mass that a discrete family has at 0, which is left out."""

    name = "hurdle"
    adds_mass = True
    discrete: bool

    @classmethod
    def quantities(cls, p: Parameters) -> Mapping[str, Node]:
        found = dict(super().quantities(p))
        if cls.discrete:
            found["at_zero"] = cls.base.log_density(p.zero, p)
        return found

    @classmethod
    def log_weight(cls, p: Parameters) -> Node:
        return p.log_rest - log1mexp(p.at_zero) if cls.discrete else p.log_rest

    @classmethod
    def weight(cls, p: Parameters) -> Node:
        return exp(cls.log_weight(p)) if cls.discrete else p.rest

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return where(eq(x, 0.0), p.log_gate, cls.log_weight(p) + cls.base.log_density(x, p))

    @classmethod
    def _less_zero(cls, tail: Node, has_zero: Node, p: Parameters) -> Node:
        """A probability without that of 0."""
        return where(has_zero, at_least(tail - exp(p.at_zero), 0.0), tail) if cls.discrete else tail

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        from_zero = x >= 0.0
        return cls.weight(p) * cls._less_zero(cls.base.cdf(x, p), from_zero, p) + where(from_zero, p.gate, 0.0)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        below_zero = x < 0.0
        return cls.weight(p) * cls._less_zero(cls.base.sf(x, p), below_zero, p) + where(below_zero, p.gate, 0.0)

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return where(x < 0.0, log(cls.sf(x, p)), cls.log_weight(p) + cls.base.log_sf(x, p))

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        """Of a discrete family by the quantile, for what it has at 0 is left out."""
        if cls.discrete:
            return cls.quantile(random.uniform(), p)
        return where(random.uniform() < p.gate, 0.0, cls.base.draw(random, p))

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        """Below the step at 0 that of q / weight, above it with what the family has at 0 for the gate."""
        before = cls.base.cdf(cls.base.before(p.zero), p) * cls.weight(p)
        below, above = q <= before, q > before + p.gate
        part = where(below, q, where(above, q - p.gate, 0.5 * before)) / cls.weight(p)
        if cls.discrete:
            part = where(above, part + exp(p.at_zero), part)
        return cls.stepped(where(below | above, cls.base.quantile(at_most(part, 1.0), p), 0.0), q, p)


def hurdle(distribution: Distribution, gate: Operand | None = None, gate_logit: Operand | None = None) -> Distribution:
    """0 with the probability ``gate``, otherwise a distribution given that it is not 0.

    f(0) = gate and f(x) = (1 - gate) g(x) / (1 - g(0)) elsewhere; of a continuous g nothing is left out, and the value
    is the logarithm of a probability at 0 and of a density elsewhere.  ``gate_logit`` is log(gate / (1 - gate)).
    Raises ``TypeError`` where not one of the two is given.  Mullahy (1986), Specification and testing of some modified
    count data models, Journal of Econometrics 33; Cragg (1971), Some statistical models for limited dependent
    variables, Econometrica 39.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Poisson
    >>> np.asarray(vecdist.logpmf(vecdist.hurdle(Poisson(2.0), gate=0.5), np.array([0, 1]))).round(4)
    array([-0.6931, -1.8546])
    """
    return derive(Hurdle, distribution, gate_given(gate, gate_logit, "hurdle"))
