"""The normal-inverse Gaussian distribution."""

from typing import NamedTuple

import numpy as np

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.inverse_gaussian import InverseGaussian
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import bits, from_bits, ne, sqrt, square
from vecdist.primitives.elementary import exp
from vecdist.primitives.floating import at_least, at_most, format_of
from vecdist.primitives.logarithms import log_cauchy
from vecdist.primitives.power import hypot, leg
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.bessel_k import log_xk1, log_xk1e
from vecdist.special.normal_inverse_gaussian_tails import log_nig_cdf, nig_cdf, nig_quantile
from vecdist.special.parts import difference

within_alpha: Constraint = Constraint(
    "a number between -alpha and alpha, both excluded",
    lower=lambda p: -p.alpha,
    upper=lambda p: p.alpha,
    open_lower=True,
    open_upper=True,
)


class Tilted(NamedTuple):
    """q = sqrt(delta^2 + d^2) and g = sqrt(alpha^2 - beta^2), u = g d - delta beta and v = g d + delta beta."""

    q: Node
    g: Node
    u: Node
    v: Node


def _tilted(d: Node, delta: Node, alpha: Node, beta: Node) -> Tilted:
    g = leg(alpha, beta)
    return Tilted(hypot(delta, d), g, g * d - delta * beta, g * d + delta * beta)


def _unit(alpha: Node) -> Node:
    """A power of four above 8 alpha, for quotients of alpha and beta whose products with d and delta do not overflow.

    By an even exponent, as the bias is odd: roots of the quotients are rounded like others.
    """
    form = format_of(alpha)
    power = bits(at_least(alpha, form.smallest_normal)) & (-2 << form.fraction)
    return from_bits(power + (5 << form.fraction))


def _decay(d: Node, delta: Node, alpha: Node, beta: Node) -> Node:
    """(alpha^2 d^2 + delta^2 beta^2) / (alpha q + delta g) - beta d, or u^2 / (alpha q + beta d + delta g)."""
    unit = _unit(alpha)
    alpha, beta = alpha / unit, beta / unit
    q, g, u, _ = _tilted(d, delta, alpha, beta)
    toward = beta * d
    whole = alpha * q + delta * g
    against = square(alpha * d / whole) + square(delta * beta / whole)
    return unit * where(toward < 0.0, against * whole - toward, u * (u / (whole + toward)))


def _decay_partials(d: Node, delta: Node, alpha: Node, beta: Node, out: Node) -> tuple[Node, ...]:
    """alpha d / q - beta, alpha delta / q - g, q - delta alpha / g and delta beta / g - d, as quotients of u v."""
    unit = _unit(alpha)
    alpha, beta = alpha / unit, beta / unit
    q, g, u, v = _tilted(d, delta, alpha, beta)
    sum_of_two, tilt = alpha * d + beta * q, unit * (u / q)
    toward = (beta * d >= 0.0) & ne(sum_of_two, 0.0)
    of_d = where(toward, tilt * (v / where(toward, sum_of_two, 1.0)), unit * ((alpha * d - beta * q) / q))
    return of_d, -tilt * (v / (alpha * delta + g * q)), (u / g) * (v / (q * g + delta * alpha)), -(u / g)


decay: Primitive = primitive(  # alpha q - beta d - delta g: how far below its greatest value the exponent is
    "normal_inverse_gaussian_decay", 4, expand=_decay, partials=_decay_partials,
    floating=True, domain=((-5.0, 5.0), (0.1, 5.0), (1.0, 5.0), (-0.9, 0.9)),
)


class NormalInverseGaussian(Distribution):
    """Normal-inverse Gaussian distribution, f(x) = alpha delta K1(alpha q) exp(delta g + beta d) / (pi q).

    Written ``NormalInverseGaussian(loc, alpha, beta, delta)`` with d = x - loc, q = sqrt(delta^2 + d^2) and
    g = sqrt(alpha^2 - beta^2).
    Barndorff-Nielsen (1997), Normal inverse Gaussian distributions and stochastic volatility modelling, Scandinavian
    Journal of Statistics 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NormalInverseGaussian(0.0, 2.0, 1.0, 1.0), np.array([0.0, 2.0]))).round(4)
    array([-0.6866, -2.4436])
    """

    oracle = "scipy.stats.norminvgauss(alpha * delta, beta * delta, loc, delta)"

    @parametrisation(loc=finite, alpha=positive, beta=within_alpha, delta=positive)
    @staticmethod
    def by_tails(loc: Node, alpha: Node, beta: Node, delta: Node) -> dict[str, Node]:
        return {"loc": loc, "alpha": alpha, "beta": beta, "delta": delta, "gamma": leg(alpha, beta)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """With alpha q in the exponent, which it cancels, or where it is small without."""
        d = x - p.loc
        q = hypot(p.delta, d)
        z = at_most(p.alpha * q, float(np.finfo(q.dtype).max))
        near = z < 1.0
        tails = where(near, log_xk1(z), log_xk1e(z))
        tilt = where(near, p.delta * p.gamma + p.beta * d, -decay(d, p.delta, p.alpha, p.beta))
        return (tails + tilt) + log_cauchy(d, p.delta)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A normal variable whose variance has the inverse Gaussian distribution."""
        mixing = Parameters(location=p.delta / p.gamma, shape=square(p.delta))
        variance = InverseGaussian.draw(random, mixing)
        return p.loc + p.beta * variance + sqrt(variance) * random.normal()

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + p.delta * p.beta / p.gamma

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.delta / p.gamma * square(p.alpha / p.gamma)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return nig_cdf(*difference(x, p.loc), p.alpha, p.beta, p.delta)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return nig_cdf(*difference(p.loc, x), p.alpha, -p.beta, p.delta)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_nig_cdf(*difference(x, p.loc), p.alpha, p.beta, p.delta)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_nig_cdf(*difference(p.loc, x), p.alpha, -p.beta, p.delta)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + nig_quantile(p.alpha, p.beta, p.delta, q)

    @staticmethod
    def upper_quantile_of_log(y: Node, p: Parameters) -> Node:
        return p.loc - nig_quantile(p.alpha, -p.beta, p.delta, exp(y))
