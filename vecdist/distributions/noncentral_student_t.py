"""The noncentral t distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.saddle_point import log1p_excess
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.power import hypot
from vecdist.special.formulas import infinite_where
from vecdist.special.gamma_differences import lgamma_half_step
from vecdist.special.noncentral_t_tails import log_noncentral_t_cdf, noncentral_t_cdf, noncentral_t_quantile
from vecdist.special.scale_mixtures import peak_mass
from vecdist.special.stirling import lgamma_excess


class NoncentralStudentT(Distribution):
    """Noncentral t distribution, f(x) = C(df) ∫ exp(-(z s - nc)^2 / 2 - df s^2 / 2) s^df ds / scale over s > 0.

    Written ``NoncentralStudentT(df, nc, loc, scale)``, where ``loc`` is 0 and ``scale`` 1 if they are not given; z is
    (x - loc) / scale, C(df) = 2 (df / 2)^(df / 2) / (Γ(df / 2) sqrt(2 pi)), and z is (nc + u) / s for a normal u and
    df s^2 of a chi-squared distribution.  Without ``nc`` it is ``StudentT``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 31.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NoncentralStudentT(4.0, 1.0), np.array([0.0, 2.0]))).round(4)
    array([-1.4808, -1.5841])
    """

    oracle = "scipy.stats.nct(df, nc, loc, scale)"

    @parametrisation(df=positive, nc=finite, loc=finite, scale=positive)
    @staticmethod
    def by_scale(df: Node, nc: Node, loc: Any = 0.0, scale: Any = 1.0) -> dict[str, Node]:
        return {"df": df, "nc": nc, "loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By the largest value of the integrand, at s = peak scale / radius, and the mass around it."""
        half, a = 0.5 * p.df, p.df + 1.0
        radius = hypot(x - p.loc, sqrt(p.df) * p.scale)
        cosine = (x - p.loc) / radius
        m = p.nc * cosine
        below = m < 0.0
        big = 0.5 * (where(below, -m, m) + hypot(m, 2.0 * sqrt(a)))
        peak = where(below, a / big, big)
        excess = square(peak * (p.scale / radius)) - 1.0
        less = excess < -0.9
        log_square = 2.0 * (log(peak) + log_quotient(p.scale, radius))
        spread = half * where(less, excess - log_square, -log1p_excess(where(less, 0.0, excess)))
        height = 0.5 * log(half) - lgamma_excess(half) - math.log(math.pi) + log_quotient(peak, radius)
        return height - spread - 0.5 * square(peak * cosine - p.nc) + log(peak_mass(a, peak))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * ((p.nc + random.normal()) / sqrt(random.gamma(0.5 * p.df) / (0.5 * p.df)))

    @staticmethod
    def shift(p: Parameters) -> Node:
        """The mean of 1 / s for df > 1: sqrt(df / 2) Γ((df - 1) / 2) / Γ(df / 2)."""
        less = where(p.df > 1.0, p.df - 1.0, 1.0)
        return sqrt(0.5 * p.df / less) * exp(-lgamma_half_step(0.5 * less))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.df > 1.0, p.loc + p.scale * (p.nc * NoncentralStudentT.shift(p)), math.nan)

    @staticmethod
    def variance(p: Parameters) -> Node:
        square_mean = p.df / (p.df - 2.0)
        shift = NoncentralStudentT.shift(p)
        spread = square_mean + square(p.nc) * (square_mean - square(shift))
        return where(p.df > 1.0, infinite_where(p.df <= 2.0, spread * square(p.scale)), math.nan)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return noncentral_t_cdf(x - p.loc, p.df, p.nc, p.scale)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return noncentral_t_cdf(p.loc - x, p.df, -p.nc, p.scale)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_noncentral_t_cdf(x - p.loc, p.df, p.nc, p.scale)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_noncentral_t_cdf(p.loc - x, p.df, -p.nc, p.scale)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * noncentral_t_quantile(p.df, p.nc, q)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc - p.scale * noncentral_t_quantile(p.df, -p.nc, q)
