"""The skew normal distribution."""

import math

import numpy as np

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log_ndtr_of_parts
from vecdist.distributions.normal import Normal
from vecdist.distributions.parts import Parts, difference
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.power import hypot
from vecdist.primitives.rounding import quotient_rest, root_rest
from vecdist.primitives.skew_normal_tails import log_skew_normal_cdf, skew_normal_cdf, skew_normal_quantile


class SkewNormal(Distribution):
    """Skew normal distribution, f(x) = 2 phi(z) Phi(shape z) / scale with z = (x - loc) / scale.

    Written ``SkewNormal(loc, scale, shape)`` or ``SkewNormal(loc=, precision=, shape=)``.
    Azzalini (1985), A class of distributions which includes the normal ones, Scandinavian Journal of Statistics 12.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(SkewNormal(0.0, 1.0, 2.0), np.array([0.0, -10.0]))).round(4)
    array([  -0.9189, -254.1429])
    """

    oracle = "scipy.stats.skewnorm(shape, loc, scale)"
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive, shape=finite)
    @staticmethod
    def by_scale(loc: Node, scale: Node, shape: Node) -> dict[str, Node]:
        rest = quotient_rest(const(1.0, scale.dtype), scale)
        return {"loc": loc, "inverse_scale": 1.0 / scale, "inverse_rest": rest, "log_scale": log(scale), "shape": shape}

    @parametrisation(loc=finite, precision=positive, shape=finite)
    @staticmethod
    def by_precision(loc: Node, precision: Node, shape: Node) -> dict[str, Node]:
        return {
            "loc": loc, "inverse_scale": sqrt(precision), "inverse_rest": root_rest(precision),
            "log_scale": -0.5 * log(precision), "shape": shape,
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return Normal.standardised(x, p)

    @staticmethod
    def standard(x: Node, p: Parameters) -> Parts:
        """z in two parts, but no further than its square is finite, and with it what has a slope like z."""
        z = difference(x, p.loc).product(Parts(p.inverse_scale, p.inverse_rest))
        return z.bounded(const(2.0 * float(np.finfo(x.dtype).max) ** 0.5, x.dtype))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = SkewNormal.standard(x, p).times(p.shape)
        return Normal.log_density(x, p) + log_ndtr_of_parts(z.high, z.rest) + math.log(2)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Azzalini (1985), section 2."""
        z = (p.shape * abs(random.normal()) + random.normal()) / hypot(p.shape, 1.0)
        return p.loc + z / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + math.sqrt(2 / math.pi) * p.shape / hypot(p.shape, 1.0) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (1.0 - 2 / math.pi * square(p.shape / hypot(p.shape, 1.0))) / square(p.inverse_scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return skew_normal_cdf(*SkewNormal.standard(x, p), p.shape)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return skew_normal_cdf(*-SkewNormal.standard(x, p), -p.shape)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_skew_normal_cdf(*SkewNormal.standard(x, p), p.shape)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_skew_normal_cdf(*-SkewNormal.standard(x, p), -p.shape)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + skew_normal_quantile(p.shape, q) / p.inverse_scale

    @staticmethod
    def upper_quantile_of_log(y: Node, p: Parameters) -> Node:
        return p.loc - skew_normal_quantile(-p.shape, exp(y)) / p.inverse_scale
