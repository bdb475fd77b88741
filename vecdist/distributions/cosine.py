"""The raised cosine distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.ends import room
from vecdist.distributions.formulas import angle_less_sine
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, log
from vecdist.primitives.segment import segment_angle
from vecdist.primitives.trigonometric import cos, sin


class Cosine(Distribution):
    """Raised cosine distribution, f(x) = (1 + cos(pi z)) / (2 scale) with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Cosine(loc, scale)``.
    Rinne (2010), Location-Scale Distributions, section 5.2.3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Cosine(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    oracle = "scipy.stats.cosine(loc, scale / numpy.pi)"
    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By half the angle: its cosine in the middle, and next to the ends the sine of what is left."""
        z, left = (x - p.loc) / p.scale, room(x, p.loc, p.scale)
        root = where(left > 0.5, cos(math.pi / 2 * z), sin(math.pi / 2 * left))
        return 2.0 * log(root) - log(p.scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return angle_less_sine(math.pi * (1.0 + z)) / (2 * math.pi)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the angle of the circular segment whose area is known, from the nearer end."""
        lower = q < 0.5
        room = segment_angle(2 * math.pi * where(lower, q, 1.0 - q)) / math.pi
        return p.loc + p.scale * where(lower, room - 1.0, 1.0 - room)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """What is rejected of a uniform z has the density of one moved by half a period: 1 - cos(pi z)."""
        u, v = random.uniforms()
        z = 2.0 * u - 1.0
        half = where(z > 0.0, z - 1.0, z + 1.0)
        return p.loc + p.scale * where(v < 0.5 + 0.5 * cos(math.pi * z), z, half)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) * (1 / 3 - 2 / math.pi**2)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (math.log(4) - 1)
