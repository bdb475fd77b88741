"""The formulas of a family over the whole line, for verbs that need several, and the families that are made of it."""

from __future__ import annotations

import math
from typing import Any

from vecdist.constraints import Constraint
from vecdist.distributions.at_ends import tail_everywhere
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, floor
from vecdist.primitives.elementary import exp
from vecdist.primitives.logarithms import log_diff_exp
from vecdist.special.formulas import times
from vecdist.verbs.known import LOG_INTERVALS, QUANTILES_OF_LOG, UPPER_QUANTILES_OF_LOG
from vecdist.verbs.tails_and_moments import known, missing, quantile_to_the_ends


class Inner:
    """A family as its wrapper sees it: formulas of ``p``, whose quantities of the family are ``p.base``.

    Those of ``x`` hold outside the support too, and between whole numbers.  Asking for one that is not there raises
    ``NotImplementedError``, naming ``wrapper``.
    """

    def __init__(self, family: type[Distribution], wrapper: str) -> None:
        self.family: type[Distribution] = family
        self.wrapper: str = wrapper

    def formula(self, name: str, p: Parameters, *at: Node) -> Any:
        """The value of a formula as the family states it."""
        found = known(self.family, name)
        if found is None:
            raise missing(self.family, name, f", and {self.wrapper} needs it")
        return found(*at, p.base)

    def support(self, p: Parameters) -> Constraint:
        return self.family.support(p.base)

    def log_density(self, x: Node, p: Parameters) -> Node:
        inside = self.formula("log_density", p, x)
        outside = self.support(p).violated(x)
        return inside if outside is None else where(outside, -math.inf, inside)

    def _tail(self, name: str, x: Node, p: Parameters) -> Node:
        return tail_everywhere(name, self.family, p.base, lambda at: self.formula(name, p, at), x)

    def cdf(self, x: Node, p: Parameters) -> Node:
        return self._tail("cdf", x, p)

    def sf(self, x: Node, p: Parameters) -> Node:
        return self._tail("sf", x, p)

    def log_cdf(self, x: Node, p: Parameters) -> Node:
        return self._tail("log_cdf", x, p)

    def log_sf(self, x: Node, p: Parameters) -> Node:
        return self._tail("log_sf", x, p)

    def quantile(self, q: Node, p: Parameters) -> Node:
        """For 0 <= q <= 1."""
        return quantile_to_the_ends(self.family, p.base, self.formula("quantile", p, q), q)

    def draw(self, random: Stream, p: Parameters) -> Node:
        """One draw for each element."""
        draw = getattr(self.family, "draw", None)
        return draw(random, p.base) if draw else self.formula("quantile", p, random.uniform())

    def quantile_of_log(self, y: Node, p: Parameters) -> Node:
        """The quantile of exp(y)."""
        formula = getattr(self.family, "quantile_of_log", None) or QUANTILES_OF_LOG.get(self.family)
        return formula(y, p.base) if formula else self.quantile(exp(y), p)

    def upper_quantile_of_log(self, y: Node, p: Parameters) -> Node | None:
        """The x above which there is exp(y), where that is known beside the quantile."""
        formula = getattr(self.family, "upper_quantile_of_log", None) or UPPER_QUANTILES_OF_LOG.get(self.family)
        if formula:
            return formula(y, p.base)
        of_tail = getattr(self.family, "upper_quantile", None)
        if of_tail:
            return of_tail(exp(y), p.base)
        return p.base.loc + (p.base.loc - self.quantile_of_log(y, p)) if self.family.symmetric else None

    def mean(self, p: Parameters) -> Any:
        return self.formula("mean", p)

    def variance(self, p: Parameters) -> Any:
        return self.formula("variance", p)

    def log_interval(self, below: Node | None, upper: Node | None, p: Parameters) -> Node:
        """log P(below < X <= upper), where ``None`` is no bound.

        The difference of the lower tails or of the upper ones, whichever is of smaller numbers; to what is left of the
        digits of two logarithms whose difference is the logarithm of their ratio.  A tail of which there is nothing has
        the slopes of itself, for those of its logarithm are infinite.
        """
        if below is None:
            return p.zero if upper is None else self.log_cdf(upper, p)
        if upper is None:
            return self.log_sf(below, p)
        formula = getattr(self.family, "log_interval", None) or LOG_INTERVALS.get(self.family)
        if formula:
            return formula(below, upper, p.base)
        lower_tail, upper_tail = self.log_cdf(upper, p), self.log_sf(below, p)
        by_upper = upper_tail < lower_tail
        whole = where(by_upper, upper_tail, lower_tail)
        part = where(by_upper, self.log_sf(upper, p), self.log_cdf(below, p))
        none = where(by_upper, self.sf(upper, p), self.cdf(below, p))
        inside = where(eq(part, -math.inf), whole - times(none, exp(-whole)), log_diff_exp(whole, part))
        return where(eq(whole, part), -math.inf, inside)

    def log_mass(self, lower: Node | None, upper: Node | None, p: Parameters) -> Node:
        """log P(lower <= X <= upper)."""
        return self.log_interval(None if lower is None else self.before(lower), upper, p)

    def before(self, x: Node) -> Node:
        """The place below which the family has all that lies below ``x``, and nothing at ``x``."""
        return -floor(-x) - 1.0 if self.family.discrete else x
