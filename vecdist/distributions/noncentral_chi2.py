"""The noncentral chi-squared distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.floating import width
from vecdist.primitives.log_products import log_quotient
from vecdist.special.bessel_orders import log_ive_below
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import lgamma, xlogy
from vecdist.special.marcum import log_marcum_p, log_marcum_q, marcum_p, marcum_p_inverse, marcum_q

SMALL = {8: 1e-8, 4: 1e-4}  # the square of which is lost


class NoncentralChi2(Distribution):
    """Noncentral chi-squared distribution, f(x) = exp(-(x + l) / 2) (x / l)^(v / 2) Iv(sqrt(l x)) / 2 for x >= 0.

    Written ``NoncentralChi2(df, noncentrality)``; v is df / 2 - 1, l the noncentrality, and without any it is ``Chi2``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 29.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NoncentralChi2(2.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([-1.1931, -1.4572])
    """

    oracle = "scipy.stats.ncx2(df, noncentrality)"

    @parametrisation(df=positive, noncentrality=nonnegative)
    @staticmethod
    def by_df(df: Node, noncentrality: Node) -> dict[str, Node]:
        return {"df": df, "order": 0.5 * df - 1.0, "noncentrality": noncentrality}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """With the first terms of the series in s = x noncentrality / (2 df), DLMF 10.25.2, where that is small."""
        central = xlogy(p.order, x) - 0.5 * x - (lgamma(0.5 * p.df) + 0.5 * math.log(2) * p.df)
        s = 0.5 * x * (p.noncentrality / p.df)
        near = s < SMALL[width(x)]
        edge = central - 0.5 * p.noncentrality + s * (1.0 - s / (p.df + 2.0))
        at, away = where(near, 1.0, x), where(near, 1.0, p.noncentrality)
        distance = square(sqrt(at) - sqrt(away))
        scaled = log_ive_below(0.5 * p.df, sqrt(at) * sqrt(away))
        inside = 0.5 * (p.order * log_quotient(at, away) - distance) + (scaled - math.log(2))
        return where(near, edge, inside)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A mixture of central ones by a Poisson distribution."""
        count = random.draw(poisson_draw, 0.5 * p.noncentrality)
        return 2.0 * random.gamma(0.5 * p.df + count)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.df + p.noncentrality

    @staticmethod
    def variance(p: Parameters) -> Node:
        return 2.0 * p.df + 4.0 * p.noncentrality

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return marcum_p(0.5 * p.df, 0.5 * p.noncentrality, 0.5 * x)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return marcum_q(0.5 * p.df, 0.5 * p.noncentrality, 0.5 * x)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_marcum_p(0.5 * p.df, 0.5 * p.noncentrality, 0.5 * x)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_marcum_q(0.5 * p.df, 0.5 * p.noncentrality, 0.5 * x)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return 2.0 * marcum_p_inverse(0.5 * p.df, 0.5 * p.noncentrality, q)
