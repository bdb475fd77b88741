"""The generalized normal distribution."""

import math
from typing import NamedTuple

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, log, log1p, log_twice
from vecdist.primitives.floating import at_least
from vecdist.special.distance_power import distance_power
from vecdist.special.error_functions import lgamma, lgamma_delta
from vecdist.special.exponential_power_mass import generalized_normal_tail, log_generalized_normal_tail
from vecdist.special.formulas import lgamma_reciprocal, times
from vecdist.special.gamma_quantiles import ROOT, log_root
from vecdist.special.parts import Parts, difference, log_parts

MOST = 1e3  # what is a tail of 0 when its logarithm is below minus that
FLAT = -39.0  # log|z|^power up to which the density is that of the peak


class Middle(NamedTuple):
    """``distance``, log|z|; whether ``near`` the peak; and the signed ``mass`` from there to its mirror image."""

    distance: Parts
    near: Node
    mass: Node


class GeneralizedNormal(Distribution):
    """Generalized normal distribution, f(x) = exp(-|z|^power) / (2 scale Γ(1 + 1 / power)) with z = (x - loc) / scale.

    Written ``GeneralizedNormal(loc, scale, power)``.  A power of 1 is the Laplace distribution, of 2 the normal one
    with standard deviation scale / sqrt(2).  At its peak the derivatives in x and loc are 0, and
    so are the second ones unless the power is 2.
    Nadarajah (2005), A generalized normal distribution, Journal of Applied Statistics 32.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(GeneralizedNormal(0.0, 1.0, 3.0), np.array([0.0, -2.0]))).round(4)
    array([-0.58, -8.58])
    """

    oracle = "scipy.stats.gennorm(power, loc, scale)"
    symmetric = True

    @parametrisation(loc=finite, scale=positive, power=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node, power: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "power": power}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        constant = lgamma_reciprocal(p.power) + log_twice(p.scale)
        return -distance_power(*difference(x, p.loc), p.scale, p.power) - constant

    @staticmethod
    def log_distance(x: Node, p: Parameters) -> Parts:
        """log|z|."""
        return difference(x, p.loc).magnitude().log() - log_parts(p.scale)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        size = exp(random.log_gamma(1.0 / p.power) / p.power)
        return p.loc + p.scale * where(random.uniform() < 0.5, -size, size)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) * exp(lgamma_delta(1.0 / p.power, 2.0 / p.power))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 / p.power + lgamma(1.0 + 1.0 / p.power) + (log(p.scale) + math.log(2))

    @staticmethod
    def middle(x: Node, p: Parameters) -> Middle:
        distance = GeneralizedNormal.log_distance(x, p)
        near = distance.high * p.power < FLAT
        mass = where(near, (x - p.loc) / p.scale, 0.0) * exp(-lgamma(1.0 + 1.0 / p.power))
        return Middle(Parts(where(near, 0.0, distance.high), distance.rest), near, mass)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        middle = GeneralizedNormal.middle(x, p)
        tail = 0.5 * generalized_normal_tail(p.power, *middle.distance)
        return where(middle.near, 0.5 + 0.5 * middle.mass, where(x < p.loc, tail, 1.0 - tail))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        middle = GeneralizedNormal.middle(x, p)
        log_tail = log_generalized_normal_tail(p.power, *middle.distance) - math.log(2)
        tails = where(x < p.loc, log_tail, log1p(-exp(at_least(log_tail, -MOST))))
        return where(middle.near, log1p(middle.mass) - math.log(2), tails)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """At the median with the slope that it has on either side: its distance has none there."""
        lower, per_density = q < 0.5, 2.0 * p.scale * exp(lgamma_reciprocal(p.power))
        distance = exp(log_root(const(ROOT, q.dtype), 1.0 / p.power, 2.0 * where(lower, q, 1.0 - q)))
        away = p.scale * where(lower, -distance, distance)
        return p.loc + where(eq(q, 0.5), times(q - 0.5, per_density), away)
