"""The Rice distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.floating import at_most, format_of, polynomial, width
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log_quotient_by_square
from vecdist.primitives.power import hypot
from vecdist.primitives.table import Primitive, partials_of, primitive
from vecdist.special.bessel import i0e, i1e, log_i0, log_i0e
from vecdist.special.formulas import times
from vecdist.special.marcum import log_marcum_p, log_marcum_q, marcum_p, marcum_p_inverse, marcum_q

# Of the square of the mean over b^2 scale^2, in 2 / b^2 from the second power on: DLMF 13.7.2, squared.
_MEAN = [math.prod((j - 0.5) ** 2 for j in range(k)) / math.factorial(k) for k in range(16)]
SPREAD = tuple(sum(_MEAN[j] * _MEAN[k - j] for j in range(k + 1)) for k in range(2, 16))

HUGE = {8: 2.0**600, 4: 2.0**70}  # the square of which is infinite


def _of_square(name: str, tail: Primitive, rising: bool) -> Primitive:
    """A Marcum function of order 1 at y = (x / scale)^2 / 2; one ``rising`` from -inf as log(y) though y underflows.

    Its slopes are those in log(y), for y may overflow too.
    """

    def at(half: Node, x: Node, scale: Node) -> Node:
        return tail(const(1.0, x.dtype), half, 0.5 * square(x / scale))

    def expand(half: Node, x: Node, scale: Node) -> Node:
        value = at(half, x, scale)
        near = 2.0 * log_quotient(x, scale) - math.log(2) - half
        return where(_is_tiny(value.args[2]), near, value) if rising else value

    def partials(half: Node, x: Node, scale: Node, out: Node) -> tuple[Node, Node, Node]:
        node = at(half, x, scale)
        slopes: Any = partials_of(node)
        tiny = _is_tiny(node.args[2])
        along = 2.0 * where(tiny, 1.0 if rising else 0.0, times(slopes[2], node.args[2]))
        return where(tiny, -1.0, slopes[1]) if rising else slopes[1], along / x, -along / scale

    return primitive(name, 3, expand=expand, partials=partials, domain=((0.2, 20.0), (0.5, 6.0), (0.5, 2.0)))


def _is_tiny(y: Node) -> Node:
    return y < format_of(y).smallest_normal


rice_cdf: Primitive = _of_square("rice_cdf", marcum_p, False)
rice_sf: Primitive = _of_square("rice_sf", marcum_q, False)
rice_log_cdf: Primitive = _of_square("rice_log_cdf", log_marcum_p, True)
rice_log_sf: Primitive = _of_square("rice_log_sf", log_marcum_q, False)


class Rice(Distribution):
    """Rice distribution, f(x) = x / scale^2 exp(-(x^2 + nu^2) / (2 scale^2)) I0(x nu / scale^2) for x >= 0.

    Written ``Rice(nu, scale)``, or ``Rice(b=, scale=)`` with b = nu / scale.
    Rice (1945), Mathematical analysis of random noise, Bell System Technical Journal 24, section 3.10.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Rice(1.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([   -inf, -1.2566])
    """

    oracle = "scipy.stats.rice(nu / scale, scale=scale)"

    @parametrisation(nu=nonnegative, scale=positive)
    @staticmethod
    def by_distance(nu: Node, scale: Node) -> dict[str, Node]:
        return {"b": nu / scale, "scale": scale}

    @parametrisation(b=nonnegative, scale=positive)
    @staticmethod
    def by_ratio(b: Node, scale: Node) -> dict[str, Node]:
        return {"b": b, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """Next to 0 without the product z b, which cancels elsewhere."""
        z = at_most(x / p.scale, HUGE[width(x)])
        t = z * p.b
        near = t < 1.0
        bessel = where(near, log_i0(t), log_i0e(t))
        squares = where(near, square(z) + square(p.b), square(z - p.b))
        return log_quotient_by_square(x, p.scale) + (bessel - 0.5 * squares)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.scale * hypot(p.b + random.normal(), random.normal())

    @staticmethod
    def mean(p: Parameters) -> Node:
        s = 0.25 * square(p.b)
        return math.sqrt(math.pi / 2) * p.scale * ((1.0 + 2.0 * s) * i0e(s) + 2.0 * s * i1e(s))

    @staticmethod
    def variance(p: Parameters) -> Node:
        """By the mean of the square, or where that cancels by an asymptotic series, DLMF 13.7.2."""
        far = p.b > 12.0
        t = 2.0 / square(where(far, p.b, 12.0))
        near = 2.0 + square(p.b) - square(Rice.mean(p) / p.scale)
        return square(p.scale) * where(far, 1.0 - 2.0 * t * polynomial(t, SPREAD), near)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return rice_cdf(0.5 * square(p.b), x, p.scale)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return rice_sf(0.5 * square(p.b), x, p.scale)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return rice_log_cdf(0.5 * square(p.b), x, p.scale)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return rice_log_sf(0.5 * square(p.b), x, p.scale)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.scale * sqrt(2.0 * marcum_p_inverse(const(1.0, q.dtype), 0.5 * square(p.b), q))
