"""Both tails of the exponentially modified Gaussian distribution, in which nothing cancels, and their derivatives.

With s = rate scale and v = s - z the distribution function is Phi(z) - exp(v^2 / 2 - z^2 / 2) Phi(-v).  Both terms are
exp(-z^2 / 2) times quotients of Mills, whose difference is that of values a step s apart where z is negative.  For z up
to s their sum is the upper tail, and beyond that is exp(-L) (Phi(-v) + ...) with L = s z - s^2 / 2.  Where these are
more than half the lower tail is a sum of differences that are all positive.
"""

from __future__ import annotations

from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least, at_most
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import scaled_fall
from vecdist.special.normal_tail import PHI_0, ROOT_HALF, inverse_mills_gap, ndtr, scaled_mass
from vecdist.special.parts import Parts, difference

FAR = -(2.0**32)  # standard deviations


class Tails(NamedTuple):
    """What both tails are made of: z in two parts, the ratio s, v, and L of what is ``beyond`` v = 0, 0 elsewhere."""

    rate: Node
    scale: Node
    z: Parts
    ratio: Node
    v: Node
    beyond: Node
    lag: Node

    @property
    def negative(self) -> Node:
        return self.z.high < 0.0

    @property
    def exponent(self) -> Parts:
        """Of the factor of the upper tail, of ``excess`` and of ``density``."""
        bell = self.z.product(self.z)
        high, rest = where(self.beyond, -self.lag, -0.5 * bell.high), where(self.beyond, 0.0, -0.5 * bell.rest)
        return Parts(high, rest)

    @property
    def bell(self) -> Node:
        """exp(-v^2 / 2) where v is below 0, else 1: the normal density has it beside the factor."""
        v = at_most(size(self.v), 50.0)
        return where(self.beyond, exp(-0.5 * (v * v)), 1.0)

    @property
    def excess(self) -> Node:
        """What Phi(z) is more than the distribution function."""
        return where(self.beyond, ndtr(-self.v), scaled_mass(self.v))

    @property
    def upper(self) -> Node:
        """The upper tail, where z is positive."""
        return self.excess + self.bell * scaled_mass(self.z.high)

    @property
    def below(self) -> Node:
        """Whether the lower tail is the one that is known."""
        return self.negative | (self.exponent.exp() * self.upper > 0.5)

    @property
    def lower(self) -> Node:
        """The lower tail over the factor exp(-z^2 / 2) up to v = 0."""
        z, v = at_most(size(self.z.high), 2.0), size(self.v)
        start = where(self.negative, size(self.z.high), where(self.beyond, v, 0.0))
        step = where(self.negative | self.beyond, self.ratio, v)
        fall = 0.5 * scaled_fall(ROOT_HALF * start, ROOT_HALF * step)
        middle = expm1(0.5 * (z * z)) + 0.5 * scaled_fall(0.0 * z, ROOT_HALF * z)
        whole = at_most(size(self.z.high), 50.0)
        far = fall * exp(-0.5 * (whole * whole)) - expm1(at_least(-self.lag, -2.0))
        return where(self.beyond, far, fall + where(self.negative, 0.0, middle))

    @property
    def known(self) -> tuple[Node, Parts]:
        """The known tail, and the exponent of its factor."""
        exponent, alone = self.exponent, self.below & self.beyond
        exponent = Parts(where(alone, 0.0, exponent.high), where(alone, 0.0, exponent.rest))
        return where(self.below, self.lower, self.upper), exponent

    @property
    def mass(self) -> Node:
        known, exponent = self.known
        return known * exponent.exp()

    @property
    def far(self) -> Node:
        """Whether the lower tail is nothing, and its logarithm the exponent alone."""
        return self.z.high < FAR

    @property
    def log_mass(self) -> Node:
        known, exponent = self.known
        return log(known) + exponent.high

    def slopes(self, factor: Node) -> tuple[Node, ...]:
        """Of the distribution function in x, loc, scale and rate, with ``factor`` for that of the upper tail."""
        excess, density = self.excess, PHI_0 * self.bell
        gap = inverse_mills_gap(-at_least(self.v, 0.0))
        lag = where(self.beyond, density - self.v * excess, gap * excess)
        of_scale = where(self.beyond, density - self.ratio * excess, lag - self.z.high * excess)
        slopes = (self.rate * excess, -self.rate * excess, self.rate * of_scale, self.scale * lag)
        return tuple(where(eq(factor, 0.0), 0.0, factor * slope) for slope in slopes)

    def log_slopes(self, lower: Node) -> tuple[Node, ...]:
        """Of the logarithm of the lower tail, or of the upper one where ``lower`` is 0."""
        known, exponent = self.known
        alone = self.below & self.beyond
        same = where(alone, self.exponent.exp(), 1.0) / known
        other = self.exponent.exp() / (1.0 - known * exponent.exp())
        return self.slopes((2.0 * lower - 1.0) * where(eq(where(self.below, 1.0, 0.0), lower), same, other))

    def log_slopes_below(self) -> tuple[Node, ...]:
        """Those of the lower tail with their limits far away, where that is ratio exp(-z^2 / 2) / (v |z|)."""
        z, inverse = self.z.high, 1.0 / self.scale
        limits = (-z * inverse, z * inverse, (z * inverse) * z, 1.0 / (self.rate - self.rate * (self.ratio / z)))
        found = self.log_slopes(const(1.0, z.dtype))
        return tuple(where(self.far, limit, slope) for limit, slope in zip(limits, found, strict=True))


def _tails(x: Node, loc: Node, scale: Node, rate: Node) -> Tails:
    z = difference(x, loc).over(scale)
    ratio = rate * scale
    v = ratio - z.high
    beyond = v < 0.0
    lag = rate * (where(beyond, x, loc) - loc) - 0.5 * (ratio * where(beyond, ratio, 0.0))
    return Tails(rate, scale, z, ratio, v, beyond, lag)


def _below(x: Node, loc: Node, scale: Node, rate: Node) -> Node:
    tails = _tails(x, loc, scale, rate)
    return where(tails.below, tails.mass, 1.0 - tails.mass)


def _beyond(x: Node, loc: Node, scale: Node, rate: Node) -> Node:
    tails = _tails(x, loc, scale, rate)
    return where(tails.below, 1.0 - tails.mass, tails.mass)


def _log_below(x: Node, loc: Node, scale: Node, rate: Node) -> Node:
    tails = _tails(x, loc, scale, rate)
    return where(tails.far, tails.exponent.high, where(tails.below, tails.log_mass, log1p(-tails.mass)))


def _log_beyond(x: Node, loc: Node, scale: Node, rate: Node) -> Node:
    tails = _tails(x, loc, scale, rate)
    return where(tails.below, log1p(-tails.mass), tails.log_mass)


def _slopes(x: Node, loc: Node, scale: Node, rate: Node, out: Node) -> tuple[Node, ...]:
    tails = _tails(x, loc, scale, rate)
    return tails.slopes(tails.exponent.exp())


DOMAIN = ((-3.0, 3.0), (-1.0, 1.0), (0.5, 2.0), (0.3, 3.0))
ex_gaussian_below: Primitive = primitive(
    "ex_gaussian_below", 4, expand=_below, partials=_slopes, floating=True, domain=DOMAIN,
)
ex_gaussian_beyond: Primitive = primitive(
    "ex_gaussian_beyond", 4, expand=_beyond, partials=lambda *at: tuple(-slope for slope in _slopes(*at)),
    floating=True, domain=DOMAIN,
)
log_ex_gaussian_below: Primitive = primitive(
    "log_ex_gaussian_below", 4, expand=_log_below, floating=True, domain=DOMAIN,
    partials=lambda *at: _tails(*at[:-1]).log_slopes_below(),
)
log_ex_gaussian_beyond: Primitive = primitive(
    "log_ex_gaussian_beyond", 4, expand=_log_beyond, floating=True, domain=DOMAIN,
    partials=lambda *at: _tails(*at[:-1]).log_slopes(const(0.0, at[-1].dtype)),
)
