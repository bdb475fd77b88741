"""The Pólya-Gamma distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log, log1p, tanh
from vecdist.primitives.floating import polynomial
from vecdist.special.error_functions import lgamma
from vecdist.special.polya_gamma import MOST, NEXT, log_first_passage, log_inverse
from vecdist.special.polya_gamma_draws import polya_gamma_draw
from vecdist.special.polya_gamma_tails import log_polya_gamma_tail, polya_gamma_quantile, polya_gamma_tail

# (1 - tanh(u) / u) / u^2 in u^2, and (tanh(u) - u sech(u)^2) / u^3, up to 1/2: DLMF 4.33.3
MEAN = (
    0.3333333333333333, -0.13333333333333333, 0.05396825396825397, -0.021869488536155203, 0.008863235529902197,
    -0.003592128036572481, 0.0014558343870513183, -0.000590027440945586, 0.00023912911424355248,
    -9.691537956929451e-05, 3.927832388331683e-05, -1.5918905069328964e-05, 6.451689215655431e-06,
    -2.6147711512907546e-06, 1.0597268320104654e-06, -4.294911078273806e-07, 1.7406618963571648e-07,
)
SPREAD = (
    0.6666666666666666, -0.5333333333333333, 0.3238095238095238, -0.17495590828924162, 0.08863235529902197,
    -0.043105536438869774, 0.020381681418718454, -0.009440439055129375, 0.004304324056383944,
    -0.0019383075913858901, 0.0008641231254329704, -0.00038205372166389513, 0.0001677439196070412,
    -7.321359223614113e-05, 3.179180496031396e-05, -1.3743715450476178e-05, 5.91825044761436e-06,
)


def log_cosh_half(z: Node) -> Node:
    """log(cosh(z / 2))."""
    far = abs(z) > 2.0
    near = where(far, 0.0, 0.25 * z)
    sinh = 0.5 * (expm1(near) - expm1(-near))
    size = where(far, abs(z), 2.0)
    return where(far, 0.5 * size + log1p(exp(-size)) - math.log(2), log1p(2.0 * square(sinh)))


class PolyaGamma(Distribution):
    """Pólya-Gamma distribution, f(x) = cosh(z / 2)^b exp(-z^2 x / 2) g(x) for x > 0.

    Written ``PolyaGamma(b, z)``, where ``z`` is 0 if it is not given; g is the density without z, whose Laplace
    transform is cosh(sqrt(t / 2))^-b.  Distribution functions and quantiles are NaN where b is above 10^12, and where
    it is below 10^-6 beyond the mean.
    Polson, Scott and Windle (2013), Bayesian inference for logistic models using Pólya-Gamma latent variables, Journal
    of the American Statistical Association 108.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(PolyaGamma(1.0, 2.0), np.array([0.0, 0.25, 1.0]))).round(4)
    array([   -inf,  0.5378, -4.6631])
    """

    @parametrisation(b=positive, z=finite)
    @staticmethod
    def by_tilt(b: Node, z: Any = 0.0) -> dict[str, Node]:
        return {"b": b, "z": z}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """Next to 0 and far out by the leading terms, at -b^2 / (8 x) of the exponent and at the first zero of cosh."""
        rho = 4.0 * x / p.b
        low, high = NEXT * x < p.b + 1.0, rho > MOST
        size = abs(p.z)
        constant = log(p.b) - 0.5 * math.log(8 * math.pi) + p.b * log1p(exp(-size))
        first = constant + log_first_passage(where(low, x, 1.0), p.b, size)
        tilt = p.b * log_cosh_half(p.z) - 0.5 * square(p.z) * x
        last = p.b * math.log(2 * math.pi) + (p.b - 1.0) * log(x) - lgamma(p.b) - 0.5 * math.pi**2 * x
        inside = log_inverse(where(low | high, 1.0, x), where(low | high, 4.0, p.b))
        return where(low, first, tilt + where(high, last, inside))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(polya_gamma_draw, p.b, p.z)

    @staticmethod
    def mean(p: Parameters) -> Node:
        u = 0.5 * abs(p.z)
        near = u < 0.5
        small, away = where(near, square(0.5 * p.z), 0.0), where(near, 1.0, u)
        series = 1.0 - small * polynomial(small, MEAN)
        return 0.25 * p.b * where(near, series, tanh(away) / away)

    @staticmethod
    def variance(p: Parameters) -> Node:
        u = 0.5 * abs(p.z)
        near = u < 0.5
        small, away = where(near, square(0.5 * p.z), 0.0), where(near, 1.0, u)
        slope = tanh(away)
        beyond = (slope / away - (1.0 - slope) * (1.0 + slope)) / square(away)
        return p.b / 16.0 * where(near, polynomial(small, SPREAD), beyond)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return polya_gamma_tail(const(1.0, x.dtype), x, p.b, p.z)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return polya_gamma_tail(const(0.0, x.dtype), x, p.b, p.z)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_polya_gamma_tail(const(1.0, x.dtype), x, p.b, p.z)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_polya_gamma_tail(const(0.0, x.dtype), x, p.b, p.z)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return polya_gamma_quantile(const(1.0, q.dtype), p.b, p.z, q)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return polya_gamma_quantile(const(0.0, q.dtype), p.b, p.z, q)
