"""The von Mises distribution."""

import math

from vecdist.constraints import Constraint, finite, nonnegative
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.trigonometric import cos_less_one, cos_of_parts
from vecdist.special.bessel import bessel_ratio_gap, log_i0, log_i0e
from vecdist.special.draws import von_mises_draw
from vecdist.special.parts import difference
from vecdist.special.von_mises_tails import log_von_mises_cdf, von_mises_cdf, von_mises_quantile


class VonMises(Distribution):
    """Von Mises distribution on the circle, f(x) = exp(concentration cos(x - loc)) / (2 pi I0(concentration)).

    Written ``VonMises(loc, concentration)``; x is any angle in radians, and the density integrates to 1 over 2 pi.  Its
    distribution function is that of the turn around ``loc``, 0 up to loc - pi and 1 from loc + pi on, and draws are of
    that turn.
    Mardia and Jupp (2000), Directional Statistics, section 3.5.4.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(VonMises(0.0, 2.0), np.array([0.0, np.pi, 4 * np.pi]))).round(4)
    array([-0.6619, -4.6619, -0.6619])
    """

    symmetric = True

    @parametrisation(loc=finite, concentration=nonnegative)
    @staticmethod
    def by_concentration(loc: Node, concentration: Node) -> dict[str, Node]:
        return {"loc": loc, "concentration": concentration}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def reach(p: Parameters) -> Constraint:
        return Constraint("an angle within half a turn of loc", lower=p.loc - math.pi, upper=p.loc + math.pi)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By the cosine less 1 where the concentration is large, with what rounding took from x - loc in both."""
        angle, rest = difference(x, p.loc)
        cosine, less_one = cos_of_parts(angle, rest), cos_less_one(angle, rest)
        spread = p.concentration < 1.0
        constant = where(spread, log_i0(p.concentration), log_i0e(p.concentration)) + math.log(2 * math.pi)
        return p.concentration * where(spread, cosine, less_one) - constant

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + random.draw(von_mises_draw, p.concentration)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        inside = p.concentration * bessel_ratio_gap(p.concentration)
        return log_i0e(p.concentration) + (inside + math.log(2 * math.pi))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return von_mises_cdf(*difference(x, p.loc), p.concentration)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_von_mises_cdf(*difference(x, p.loc), p.concentration)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + von_mises_quantile(p.concentration, q)
