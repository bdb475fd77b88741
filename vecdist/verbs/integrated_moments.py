"""Means and variances of families that state no formula for them, as integrals of quantiles, or as sums.

E g(X) is the integral over 0 < u < 1/2 of g at the points below which and above which there is u.  With u = exp(-t) / 2
and t = exp(s - exp(-s)) it falls off on both sides of s, whatever the scale, for tails that are not too heavy: Takahasi
and Mori (1974), Double exponential formulas for numerical integration, Publications of the RIMS 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from vecdist.distributions.base import Distribution, Parameters
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp
from vecdist.special.quadrature import integral

Quantile = Callable[[Node, Parameters], Node]
Upper = Callable[[Node, Parameters], Node | None]

FIRST, LAST, STEP = -4.0, 7.0, 1.0 / 16.0  # of s: t is from 1e-25 to 1000 there
FAR = 2.0**8  # times the spacing of numbers next to 1: what is less beside 1 has lost its digits
SMALL = {8: 1e-8, 4: 1e-4}  # of an integral, where its last term is more, it may have none


@final
class Moments:
    """The mean and the variance of a family by its quantile, and by the upper one, where it has that.

    They are NaN where a tail is so heavy that the integral may be infinite, or a sum has more than a million terms.
    """

    def __init__(self, family: type[Distribution], quantile: Quantile, upper: Upper | None) -> None:
        self.family, self.quantile, self.upper = family, quantile, upper

    def mean(self, p: Parameters) -> Node:
        return self.expectation(lambda x: x, p)

    def variance(self, p: Parameters) -> Node:
        return self.expectation(lambda x, centre: square(x - centre), p, self.mean(p))

    def expectation(self, function: Callable[..., Node], p: Parameters, *given: Node) -> Node:
        """The mean of a function of the variable, and of what else is ``given``."""
        nodes = [*_nodes(p), *given]
        whole = self.family.reach(p).whole
        if self.family.discrete and not whole:
            raise NotImplementedError(
                f"mean of {self.family.__name__} is not there: it is a sum over values, which are no whole numbers"
            )

        def inside(values: tuple[Node, ...]) -> tuple[Parameters, tuple[Node, ...]]:
            own = iter(values)
            return _rebuilt(p, own), tuple(own)

        return self._summed(function, inside, nodes) if whole else self._integrated(function, inside, nodes)

    def _summed(self, function: Callable[..., Node], inside: Callable[..., Any], nodes: list[Node]) -> Node:
        """Over half as much again as there is between quantiles that all families know: tails fall faster than that."""

        def term(k: Node, *values: Node) -> Node:
            p, given = inside(values)
            outside = self.family.support(p).violated(k)
            mass = exp(self.family.log_density(k, p))
            return function(k, *given) * (mass if outside is None else where(outside, 0.0, mass))

        p, _ = inside(tuple(nodes))
        left = const(FAR * float(np.finfo(nodes[0].dtype).eps), nodes[0].dtype)
        start, end = self.quantile(left, p), self.upper_quantile(left, p)
        more = 0.25 * (end - start)
        return integral(term, start - more, end + more, 1.0, nodes)

    def upper_quantile(self, u: Node, p: Parameters) -> Node:
        found = self.upper and self.upper(u, p)
        return self.quantile(1.0 - u, p) if found is None else found

    def _integrated(self, function: Callable[..., Node], inside: Callable[..., Any], nodes: list[Node]) -> Node:
        limits = np.finfo(nodes[0].dtype)
        one = const(1.0, nodes[0].dtype)
        by_rest = self.upper is None or self.upper(one, inside(tuple(nodes))[0]) is None
        least = float(FAR * limits.eps if by_rest else 4.0 * limits.tiny)

        def both(u: Node, values: tuple[Node, ...]) -> Node:
            p, given = inside(values)
            return u * (function(self.quantile(u, p), *given) + function(self.upper_quantile(u, p), *given))

        def term(s: Node, *values: Node) -> Node:
            back = exp(-s)
            t = exp(s - back)
            u = 0.5 * exp(-t)
            there = u > least
            return where(there, t * (1.0 + back) * both(where(there, u, 0.5), values), 0.0)

        total = integral(term, FIRST, LAST, STEP, nodes)
        last = -math.log(2.0 * least) * both(const(least, nodes[0].dtype), tuple(nodes))
        return where(abs(last) <= SMALL[limits.dtype.itemsize] * abs(total), total, math.nan)


def _nodes(p: Parameters) -> Iterator[Node]:
    """The quantities of a family, with those of the family that it is made of."""
    for value in vars(p).values():
        if isinstance(value, Node):
            yield value
        elif isinstance(value, Parameters):
            yield from _nodes(value)


def _rebuilt(p: Parameters, nodes: Iterator[Node]) -> Parameters:
    """The same quantities as other nodes."""

    def again(value: Any) -> Any:
        if isinstance(value, Node):
            return next(nodes)
        return _rebuilt(value, nodes) if isinstance(value, Parameters) else value

    return Parameters(**{name: again(value) for name, value in vars(p).items()})
