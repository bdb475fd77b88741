"""The Rice distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.bessel import i0e, i1e, log_i0e
from vecdist.primitives.elementary import log


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
        z = x / p.scale
        return log(x) - 0.5 * square(z - p.b) + log_i0e(z * p.b) - 2.0 * log(p.scale)

    @staticmethod
    def mean(p: Parameters) -> Node:
        s = 0.25 * square(p.b)
        return math.sqrt(math.pi / 2) * p.scale * ((1.0 + 2.0 * s) * i0e(s) + 2.0 * s * i1e(s))
