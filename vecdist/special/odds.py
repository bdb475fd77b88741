"""The beta distribution function of the odds x / (1 - x): x and 1 - x are both known to the last digit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.rounding import quotient_rest
from vecdist.primitives.table import Primitive, partials_of, primitive
from vecdist.special import beta_of_odds
from vecdist.special.beta_of_odds import ODDS
from vecdist.special.beta_quantiles import odds_below
from vecdist.special.formulas import times


def cdf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """I_x(a, b)."""
    return beta_of_odds.beta_below(const(ODDS, z.dtype), a, b, rest, z)


def sf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """1 - I_x(a, b)."""
    return beta_of_odds.beta_beyond(const(ODDS, z.dtype), a, b, rest, z)


def log_cdf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """log I_x(a, b)."""
    return beta_of_odds.log_beta_below(const(ODDS, z.dtype), a, b, rest, z)


def log_sf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """log(1 - I_x(a, b))."""
    return beta_of_odds.log_beta_beyond(const(ODDS, z.dtype), a, b, rest, z)


def _odds_of(p: Node, q: Node) -> tuple[Node, Node]:
    """p / q for q = 1 - p, and what rounding has taken from it; the lesser of both is the one that is known."""
    odds = p / q
    lost = where(p < q, (1.0 - q) - p, 0.0) / q
    return odds, where(q > 0.0, quotient_rest(p, q) - odds * lost, 0.0)


def _at_edge(a: Node, b: Node) -> Node:
    """The density of x at 0."""
    return where(eq(a, 1.0), b, where(a < 1.0, const(math.inf, a.dtype), 0.0))


def _total(terms: list[Node]) -> Node | None:
    return sum(terms[1:], terms[0]) if terms else None


class _OfShares(NamedTuple):
    """A ``tail`` of the odds at x = p; ``slope`` is its own in logit(x), and ``log`` says that it is a logarithm.

    Where the derivatives of one in the shares are infinite, they outweigh those in a and b.
    """

    tail: Primitive
    slope: Primitive
    below: bool
    log: bool

    def at(self, formula: Primitive, a: Node, b: Node, p: Node, q: Node) -> Node:
        odds, rest = _odds_of(p, q)
        return formula(const(ODDS, odds.dtype), a, b, rest, odds)

    def expand(self, a: Node, b: Node, p: Node, q: Node, log_p: Node, log_q: Node) -> Node:
        return self.at(self.tail, a, b, p, q)

    def tangent(self, dots: tuple[Node | None, ...], a: Node, b: Node, p: Node, q: Node, *_: Node) -> Node | None:
        slopes: Any = partials_of(self.at(self.tail, a, b, p, q))
        weak = [dot * slope for dot, slope in zip(dots[:2], slopes[1:3], strict=True) if dot is not None]
        slope = self.at(self.slope, a, b, p, q)
        if not (self.below or self.log):
            slope = -slope
        sign = 1.0 if self.below else -1.0
        strong = self.share(dots[2], dots[4], p, slope, sign * _at_edge(a, b), self.log and self.below)
        strong += self.share(dots[3], dots[5], q, -slope, -sign * _at_edge(b, a), self.log and not self.below)
        total, reciprocals = _total(strong + weak), _total(strong)
        if self.log and weak and total is not None and reciprocals is not None:
            return where(abs(reciprocals) < math.inf, total, reciprocals)
        return total

    def share(
        self, dot: Node | None, dot_log: Node | None, share: Node, slope: Node, edge: Node, falls: bool
    ) -> list[Node]:
        """What comes with one share: next to 0 by its logarithm where that of the tail ``falls``, or by the density."""
        if dot is None:
            return []
        rate = slope / share
        if falls and dot_log is not None:
            return [where(rate < math.inf, dot * rate, slope * dot_log)]
        return [times(dot, where(eq(share, 0.0), edge, rate))]


def _of_shares(name: str, tail: Primitive, slope: Primitive, below: bool, log: bool) -> Primitive:
    entry = _OfShares(tail, slope, below, log)
    return primitive(name, 6, expand=entry.expand, tangent=entry.tangent)


# I_p(a, b) and 1 - I_p(a, b) for p + q = 1, both known, and their logarithms; the arguments are a, b, p, q and the
# logarithms of p and q, whose derivatives count where a share is 0.
cdf_of_shares: Primitive = _of_shares("cdf_of_shares", beta_of_odds.beta_below, beta_of_odds.slope_of_odds, True, False)
sf_of_shares: Primitive = _of_shares("sf_of_shares", beta_of_odds.beta_beyond, beta_of_odds.slope_of_odds, False, False)
log_cdf_of_shares: Primitive = _of_shares(
    "log_cdf_of_shares", beta_of_odds.log_beta_below, beta_of_odds.log_beta_below_slope, True, True
)
log_sf_of_shares: Primitive = _of_shares(
    "log_sf_of_shares", beta_of_odds.log_beta_beyond, beta_of_odds.log_beta_beyond_slope, False, True
)


def odds_of_cdf(q: Node, a: Node, b: Node) -> Node:
    """The odds of the x where I_x(a, b) is ``q``."""
    return odds_below(const(ODDS, q.dtype), a, b, const(0.0, q.dtype), q)


def symmetric_quantile(q: Node, shape: float) -> Node:
    """2 x - 1 for the x where I_x(shape, shape) is ``q``, by the shorter tail."""
    low = q < 0.5
    one = const(shape, q.dtype)
    odds = odds_of_cdf(where(low, q, 1.0 - q), one, one)
    z = (1.0 - odds) / (1.0 + odds)
    return where(low, -z, z)
