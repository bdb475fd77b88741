"""Zeros by a gate: the probability of a zero, or its logit, beside what a distribution has itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from vecdist.constraints import Constraint, real, unit_interval
from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import minimum, square
from vecdist.primitives.elementary import log, log1p, log_sigmoid, sigmoid
from vecdist.special.formulas import times
from vecdist.special.staircase import settled
from vecdist.wrappers.derived import Wrapper


class Gated(Wrapper):
    """A wrapper whose parameter is ``gate`` or ``gate_logit``.

    Subclasses give the ``weight`` w of what is not gated: X = 0, or, with density w f, a Y of the family.
    """

    cdf: ClassVar[Callable[..., Node]]

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        return {"gate": unit_interval, "gate_logit": real}

    @classmethod
    def quantities(cls, p: Parameters) -> Mapping[str, Node]:
        """The gate and what is left of 1, and the logarithms of both."""
        if "gate" in cls.own:
            return {"rest": 1.0 - p.gate, "log_gate": log(p.gate), "log_rest": log1p(-p.gate)}
        return {
            "gate": sigmoid(p.gate_logit), "rest": sigmoid(-p.gate_logit),
            "log_gate": log_sigmoid(p.gate_logit), "log_rest": log_sigmoid(-p.gate_logit),
        }

    @classmethod
    def weight(cls, p: Parameters) -> Node:
        return p.rest

    @classmethod
    def log_weight(cls, p: Parameters) -> Node:
        return p.log_rest

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        """The support of the family, widened to have 0 in it."""
        inner = cls.base.support(p)
        open_lower = inner.open_lower and not isinstance(inner.lower, Node) and inner.lower < 0.0
        open_upper = inner.open_upper and not isinstance(inner.upper, Node) and inner.upper > 0.0
        return Constraint(
            f"{inner}, or 0", _least(inner.lower, p), -_least(-inner.upper, p), open_lower, open_upper, inner.whole
        )

    @classmethod
    def stepped(cls, x: Node, q: Node, p: Parameters) -> Node:
        """A quantile, of a discrete family a step of its staircase."""
        support = cls.support(p)
        return settled(x, q, lambda k: cls.cdf(k, p), support) if support.whole else x

    @classmethod
    def mean(cls, p: Parameters) -> Node:
        return times(cls.weight(p), cls.base.mean(p))

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        w = cls.weight(p)
        return times(w, cls.base.variance(p) + times(1.0 - w, square(cls.base.mean(p))))


def _least(bound: Any, p: Parameters) -> Any:
    """A bound, and no more than 0."""
    return minimum(bound, p.zero) if isinstance(bound, Node) else min(bound, 0.0)


def gate_given(gate: Operand | None, gate_logit: Operand | None, name: str) -> dict[str, Any]:
    """The one of both that is there."""
    given = {key: value for key, value in (("gate", gate), ("gate_logit", gate_logit)) if value is not None}
    if len(given) != 1:
        raise TypeError(f"{name} takes one of gate= and gate_logit=, {len(given)} were given")
    return given


