"""The exponentially modified Gaussian distribution."""

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.ex_gaussian_tails import (
    ex_gaussian_below,
    ex_gaussian_beyond,
    log_ex_gaussian_below,
    log_ex_gaussian_beyond,
)
from vecdist.special.formulas import times
from vecdist.special.mills_quantiles import ex_gaussian_quantile
from vecdist.special.normal_tail import inverse_mills, inverse_mills_gap, log_part


def _log_excess(distance: Node, scale: Node, rate: Node, ratio: Node) -> Node:
    """The square of the ratio cancels in the lower tail, the scale in rate * scale * z above."""
    z = distance / scale
    return log_part(z - ratio) - where(z < ratio, 0.5 * square(z), rate * distance - 0.5 * square(ratio))


def _log_excess_partials(distance: Node, scale: Node, rate: Node, ratio: Node, out: Node) -> tuple[Node, ...]:
    z, inverse = distance / scale, 1.0 / scale
    lower, gap, mills = z < ratio, inverse_mills_gap(z - ratio), inverse_mills(z - ratio)
    of_z = where(lower, gap - z, mills) * inverse
    of_rate, of_ratio = where(lower, 0.0, -distance), where(lower, -gap, ratio - mills)
    return of_z - where(lower, 0.0, rate), -times(of_z, z), of_rate, of_ratio


log_excess: Primitive = primitive(  # log(f(x) / rate) for distance = x - loc and ratio = rate scale
    "ex_gaussian_log_excess", 4, expand=_log_excess, partials=_log_excess_partials, floating=True,
    domain=((-3.0, 3.0), (0.5, 2.0), (0.3, 3.0), (0.3, 3.0)),
)


class ExGaussian(Distribution):
    """Exponentially modified Gaussian distribution, f(x) = rate exp(s^2 / 2 - s z) Phi(z - s) with s = rate scale.

    Written ``ExGaussian(loc, scale, rate)``, or ``ExGaussian(loc=, scale=, nu=)`` with nu = 1 / rate; z is (x - loc) /
    scale, and x the sum of a normal and an exponential variable.
    Grushka (1972), Characterization of exponentially modified Gaussian peaks in chromatography, Analytical Chemistry
    44.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ExGaussian(0.0, 1.0, 2.0), np.array([-40.0, 0.0, 3.0]))).round(4)
    array([-803.964 ,   -1.09  ,   -3.4796])
    """

    oracle = "scipy.stats.exponnorm(1 / (scale * rate), loc, scale)"

    @parametrisation(loc=finite, scale=positive, rate=positive)
    @staticmethod
    def by_rate(loc: Node, scale: Node, rate: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "rate": rate, "ratio": rate * scale}

    @parametrisation(loc=finite, scale=positive, nu=positive)
    @staticmethod
    def by_mean(loc: Node, scale: Node, nu: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "rate": 1.0 / nu, "ratio": scale / nu}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log(p.rate) + log_excess(x - p.loc, p.scale, p.rate, p.ratio)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return ex_gaussian_below(x, p.loc, p.scale, p.rate)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return ex_gaussian_beyond(x, p.loc, p.scale, p.rate)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_ex_gaussian_below(x, p.loc, p.scale, p.rate)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_ex_gaussian_beyond(x, p.loc, p.scale, p.rate)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * random.normal() + random.exponential() / p.rate

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + 1.0 / p.rate

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) + square(1.0 / p.rate)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + ex_gaussian_quantile(p.scale, p.rate, q)
