"""The skew normal distribution."""

import math
from typing import Any

import numpy as np

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.distributions.normal import Normal
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.power import hypot
from vecdist.primitives.rounding import quotient_rest, root_rest
from vecdist.primitives.table import partials_of, primitive
from vecdist.special.formulas import log_ndtr_of_parts
from vecdist.special.parts import Parts, difference
from vecdist.special.skew_normal_tails import log_skew_normal_cdf, skew_normal_cdf, skew_normal_quantile


def _standard(distance: Parts, inverse: Parts) -> Parts:
    """z in two parts, but no further than its square is finite, and with it what has a slope like z."""
    z = distance.product(inverse)
    return z.bounded(const(2.0 * float(np.finfo(z.high.dtype).max) ** 0.5, z.high.dtype))


def _log_tilt(d: Node, rest: Node, inverse: Node, inverse_rest: Node, log_scale: Node, shape: Node) -> Node:
    return log_ndtr_of_parts(*_standard(Parts(d, rest), Parts(inverse, inverse_rest)).times(shape))


def _log_tilt_partials(
    d: Node, rest: Node, inverse: Node, inverse_rest: Node, log_scale: Node, shape: Node, out: Node
) -> tuple[Node | None, ...]:
    z = _standard(Parts(d, rest), Parts(inverse, inverse_rest))
    slope: Any = partials_of(log_ndtr_of_parts(*z.times(shape)))[0]
    tilted = slope * shape
    return tilted * inverse, None, None, None, -tilted * z.high, slope * z.high


# log Phi(shape z), z being (d + rest) (inverse + inverse_rest); its slope in the scale is that in the logarithm
log_tilt = primitive("skew_normal_log_tilt", 6, expand=_log_tilt, partials=_log_tilt_partials, floating=True)


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
        return _standard(difference(x, p.loc), Parts(p.inverse_scale, p.inverse_rest))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        tilt = log_tilt(*difference(x, p.loc), p.inverse_scale, p.inverse_rest, p.log_scale, p.shape)
        return Normal.log_density(x, p) + tilt + math.log(2)

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
