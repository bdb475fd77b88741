"""The mass of an interval under the Gumbel distribution of minima, whose exponents are in two parts."""

from __future__ import annotations

from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.elementary import exp, expm1
from vecdist.primitives.floating import INFINITY, at_most, polynomial, width
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.parts import Parts

MOST = {8: 700.0, 4: 80.0}  # a start beyond which there is no mass
NARROW = 1 / 64  # up to here a difference of exponentials is better taken as a product
CLOSE = 0.125  # up to here a power series is better than a quotient
LEAST = -38.0  # the logarithm of a length up to which the exponential less 1 is that length
EVEN: dict[int, tuple[float, ...]] = {  # B(2n) / (2n)!, of (t / (exp(t) - 1) - 1 + t / 2) / t**2 in t**2, DLMF 24.2.1
    8: (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160), 4: (1 / 12, -1 / 720),
}


class _Interval(NamedTuple):
    """From ``start`` = exp(z) on it is ``hazard`` long."""

    start: Parts
    hazard: Parts

    @property
    def growth(self) -> Parts:
        """exp(hazard) - 1."""
        high, rest = self.hazard.grown()
        less = high - 1.0
        whole = less + rest
        return Parts(whole, where(whole < INFINITY, ((high - (less + 1.0)) + (less - whole)) + rest, 0.0))

    @property
    def ratios(self) -> tuple[Node, Node]:
        """hazard / (exp(hazard) - 1), and that less the start: both are 1 where a short interval has the most mass."""
        close = self.hazard.high < CLOSE
        t = where(close, self.hazard.whole, 0.0)
        less = t * (t * polynomial(t * t, EVEN[width(t)]) - 0.5)
        far = self.hazard.quotient(self.growth)
        high = where(close, const(1.0, t.dtype), far.high)
        rest = where(close, less, far.rest)
        return high + rest, (high - self.start.high) + (rest - self.start.rest)


def _interval(z: Node, rest: Node, length: Node, excess: Node) -> _Interval:
    start, inside = Parts(z, rest), z < MOST[width(z)]
    end = start + Parts(length, where(abs(excess) < 1.0, excess, 0.0))
    wide = end.grown() - start.grown()
    narrow = length < NARROW
    hazard = where(inside, where(narrow, start.grown().high * expm1(length), wide.high), 1e4)
    return _Interval(start.grown(), Parts(at_most(hazard, 1e4), where(narrow, 0.0, wide.rest)))


def _log_gumbel_mass(z: Node, rest: Node, log_length: Node, excess: Node) -> Node:
    """By the logarithm of the hazard where that may underflow."""
    interval = _interval(z, rest, exp(log_length), excess)
    tiny = (log_length < LEAST) & (z + log_length < LEAST)
    fall = log1mexp(-interval.hazard.high) + interval.hazard.rest / interval.growth.high
    return where(tiny, z + log_length, fall) - interval.start.high


def _log_gumbel_mass_partials(
    z: Node, rest: Node, log_length: Node, excess: Node, out: Node
) -> tuple[Node | None, ...]:
    length = exp(log_length)
    ratio, less = _interval(z, rest, length, excess).ratios
    inside = at_most(length, MOST[width(z)])
    growth = where(log_length < LEAST, 1.0, inside + inside / expm1(inside))
    return less, None, ratio * growth, None


# log(exp(-exp(start)) - exp(-exp(start + length))) for start = z + rest and length = exp(log_length) + excess
log_gumbel_mass: Primitive = primitive(
    "log_gumbel_mass", 4, expand=_log_gumbel_mass, partials=_log_gumbel_mass_partials, floating=True,
    domain=((-3.0, 2.0), (-1e-17, 1e-17), (-2.0, 1.0), (-1e-17, 1e-17)),
)
