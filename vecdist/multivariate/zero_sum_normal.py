"""The normal distribution of vectors with sum 0."""

import math

from vecdist.constraints import positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import number, tolerance
from vecdist.multivariate.events import each_of, length, over_event
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log


class ZeroSumNormal(Multivariate):
    """Normal distribution of vectors with sum 0, f(x) = exp(-Σ x_k^2 / (2 scale^2)) / (sqrt(2 pi) scale)^(K - 1).

    The density is that on the K - 1 dimensions that such vectors have, in orthonormal coordinates: independent normal
    variables less their mean, with the covariance scale^2 (I - 1 1' / K).  Written ``ZeroSumNormal(scale)``; the last
    axis of the shape given to ``sample`` is that of a vector.  PyMC's ``ZeroSumNormal``.
    Kotz, Balakrishnan and Johnson (2000), Continuous Multivariate Distributions 1, second edition, chapter 45, has
    singular normal distributions.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ZeroSumNormal(1.0), np.array([[1.0, -0.5, -0.5], [1.0, 0.0, 0.0]]))).round(4)
    array([-2.5879,    -inf])
    """

    @parametrisation(scale=number(positive))
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"scale": scale}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        """Where the sum is more than what is lost of it: half the digits of the elements."""
        return abs(over_event(x)) > tolerance(x) * over_event(abs(x))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        z = random.over(p.size).normal()
        return each_of(p.scale) * (z - each_of(over_event(z)) / float(p.size))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        constant = log(p.scale) + 0.5 * math.log(2.0 * math.pi)
        return -0.5 * over_event(square(x / each_of(p.scale))) - (length(x) - 1.0) * constant
