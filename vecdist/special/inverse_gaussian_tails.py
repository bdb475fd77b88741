"""Both tails of the inverse Gaussian distribution, in which nothing cancels, and their derivatives in closed form.

With r = sqrt(shape / x), z = r (x / mean - 1) and w = z + 2 r the distribution function is Phi(z) + exp(2 shape / mean)
Phi(-w), and w^2 = z^2 + 4 shape / mean: both terms are exp(-z^2 / 2) times a quotient of Mills.  Their sum is the lower
tail, and their difference, by a divided difference, is the upper one where z is above 0.  Where that is below and more
than half is there too, the upper tail is a sum of falls from 0 to -z and to w and of exp(z^2 / 2) - 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size
from vecdist.primitives.elementary import expm1, log, log1p
from vecdist.primitives.floating import at_least, at_most, format_of, width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import scaled_fall
from vecdist.special.normal_tail import PHI_0, ROOT_HALF, inverse_mills_gap, scaled_mass
from vecdist.special.parts import Parts, difference

FAR = {8: 1e9, 4: 1e5}  # a z of which the square is all that there is to the slopes of the logarithm of a tail
LIFT = 64  # powers of two by which a quotient is multiplied that might be a subnormal number


class Tails(NamedTuple):
    """``known`` is a tail, not much larger than the other, over ``e`` = exp(-z^2 / 2): the lower one if ``below``."""

    x: Node
    mean: Node
    shape: Node
    root: Node
    z: Parts
    limit: Node

    @property
    def negative(self) -> Node:
        return self.z.high < 0.0

    @property
    def lower(self) -> Node:
        """The lower tail over e, where z is negative."""
        return scaled_mass(self.z.high) + self.other

    @property
    def below(self) -> Node:
        return self.negative & (self.e * self.lower < 0.5)

    @property
    def exponent(self) -> Parts:
        return self.z.product(self.z).times(const(-0.5, self.x.dtype))

    @property
    def e(self) -> Node:
        return self.exponent.exp()

    @property
    def other(self) -> Node:
        """exp(w^2 / 2) Phi(-w)."""
        return scaled_mass(self.w)

    @property
    def w(self) -> Node:
        return size(self.z.high) + where(self.negative, 2.0 * self.relative, 2.0 * self.root)

    @property
    def relative(self) -> Node:
        """r x / mean: w is |z| and twice that where z is negative."""
        return where(self.limit, 0.0, self.root * self.x / self.mean)

    @property
    def known(self) -> Node:
        z = at_most(size(self.z.high), 2.0)
        start, step = where(self.negative, 0.0, size(self.z.high)), where(self.negative, self.w, 2.0 * self.root)
        rise = expm1(0.5 * (z * z)) + 0.5 * scaled_fall(0.0 * z, ROOT_HALF * z)
        above = 0.5 * scaled_fall(ROOT_HALF * start, ROOT_HALF * step) + where(self.negative, rise, 0.0)
        return where(self.below, self.lower, above)

    @property
    def log_known(self) -> Node:
        """The exponent is infinite, or all that there is to the logarithm, where the rest underflows."""
        return log(at_least(self.known, format_of(self.x).smallest_normal)) + self.exponent.high

    @property
    def declines(self) -> tuple[Node, Node, Node]:
        """The slopes of the exponent in x, mean and shape."""
        inverse, inverse_x = 1.0 / self.mean, 1.0 / self.x
        away = where(self.limit, -1.0, (self.x - where(self.limit, 1.0, self.mean)) * inverse)
        pull = self.shape * away
        of_x, of_mean = -0.5 * pull * inverse_x * (inverse + inverse_x), pull * inverse * inverse
        return of_x, of_mean, self.exponent.high / self.shape

    def log_slopes(self, lower: bool, factor: Node) -> tuple[Node, ...]:
        """Of the logarithm of a tail, which far out are those of the exponent; the others by a ``factor``."""
        most = FAR[width(self.x)]
        far = self.z.high < -most if lower else self.z.high > most
        pairs = zip(self.declines, self.slopes(factor), strict=True)
        return tuple(where(far, decline, slope) for decline, slope in pairs)

    def slopes(self, factor: Node) -> tuple[Node, Node, Node]:
        """Of the distribution function in x, mean and shape, with ``factor`` in place of e."""
        total = where(self.limit, 1.0, self.x + self.mean)
        lag = inverse_mills_gap(-self.w) * self.other  # phi(0) less w exp(w^2 / 2) Phi(-w)
        apart = where(self.limit, -1.0, (self.x - where(self.limit, 1.0, self.mean)) / total)
        later = where(self.limit, 0.0, lag / total)
        of_shape = (PHI_0 * apart / self.x - 2.0 * later) / self.root
        of_mean = self.shape / self.mean * (-2.0 / self.mean) * self.other
        gone = eq(factor, 0.0)
        slopes = (PHI_0 * self.root / self.x, of_mean, of_shape)
        return tuple(where(gone, 0.0, factor * slope) for slope in slopes)  # type: ignore[return-value]


def _tails(x: Node, mean: Node, shape: Node) -> Tails:
    limit = eq(mean, math.inf)
    least = shape < x * 2.0**-LIFT
    root = Parts(where(least, shape * 2.0**LIFT, shape), 0.0 * x).over(x).root()
    scale = where(least, 2.0 ** (-LIFT // 2), const(1.0, x.dtype))
    root = Parts(scale * root.high, scale * root.rest)
    some = where(limit, 1.0, mean)
    z = root.product(difference(x, some)).over(some)
    z = Parts(where(limit, -root.high, z.high), where(limit, -root.rest, z.rest))
    return Tails(x, mean, shape, root.high, z, limit)


def _below(x: Node, mean: Node, shape: Node) -> Node:
    tails = _tails(x, mean, shape)
    known = tails.e * tails.known
    return where(tails.below, known, 1.0 - known)


def _beyond(x: Node, mean: Node, shape: Node) -> Node:
    tails = _tails(x, mean, shape)
    known = tails.e * tails.known
    return where(tails.below, 1.0 - known, known)


def _log_below(x: Node, mean: Node, shape: Node) -> Node:
    tails = _tails(x, mean, shape)
    return where(tails.below, tails.log_known, log1p(-tails.e * tails.known))


def _log_beyond(x: Node, mean: Node, shape: Node) -> Node:
    tails = _tails(x, mean, shape)
    return where(tails.below, log1p(-tails.e * tails.known), tails.log_known)


def _slopes(x: Node, mean: Node, shape: Node, out: Node) -> tuple[Node, ...]:
    tails = _tails(x, mean, shape)
    return tails.slopes(tails.e)


def _log_slopes(x: Node, mean: Node, shape: Node, out: Node) -> tuple[Node, ...]:
    tails = _tails(x, mean, shape)
    factor = where(tails.below, 1.0 / tails.known, tails.e / (1.0 - tails.e * tails.known))
    return tails.log_slopes(True, factor)


def _other_log_slopes(x: Node, mean: Node, shape: Node, out: Node) -> tuple[Node, ...]:
    tails = _tails(x, mean, shape)
    factor = -where(tails.below, tails.e / (1.0 - tails.e * tails.known), 1.0 / tails.known)
    return tails.log_slopes(False, factor)


DOMAIN = ((0.1, 10.0), (0.3, 3.0), (0.3, 3.0))
inverse_gaussian_below: Primitive = primitive(
    "inverse_gaussian_below", 3, expand=_below, partials=_slopes, floating=True, domain=DOMAIN,
)
inverse_gaussian_beyond: Primitive = primitive(
    "inverse_gaussian_beyond", 3, expand=_beyond, partials=lambda *at: tuple(-slope for slope in _slopes(*at)),
    floating=True, domain=DOMAIN,
)
log_inverse_gaussian_below: Primitive = primitive(
    "log_inverse_gaussian_below", 3, expand=_log_below, partials=_log_slopes, floating=True, domain=DOMAIN,
)
log_inverse_gaussian_beyond: Primitive = primitive(
    "log_inverse_gaussian_beyond", 3, expand=_log_beyond, partials=_other_log_slopes, floating=True, domain=DOMAIN,
)
