"""The noncentral beta distribution."""

from collections.abc import Callable
from types import SimpleNamespace

from vecdist.constraints import Constraint, nonnegative, positive, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.beta import Beta
from vecdist.distributions.noncentral_fisher_snedecor import DECAY, SMALL, OfShapes, log_mixture
from vecdist.distributions.saddle_point import poisson
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import floor, maximum, minimum, sqrt, square
from vecdist.primitives.elementary import exp, log, sigmoid
from vecdist.primitives.floating import width
from vecdist.special.beta_of_odds import ODDS
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import lbeta, xlog1py
from vecdist.special.quadrature import integral

FEW = {8: 1e-5, 4: 1e-2}  # a rate of which three terms are all


def log_term(count: Node, log_x: Node, a: Node, b: Node, rate: Node, log_rate: Node) -> Node:
    """The log of a Poisson mass times the log density of a beta distribution with shape a + count, but for 1 - x."""
    mass = poisson(count, SimpleNamespace(rate=rate, log_rate=log_rate))
    return mass + (a + count - 1.0) * log_x - lbeta(a + count, b)


def _central_mean(count: Node, a: Node, b: Node) -> Node:
    return (a + count) / (a + count + b)


def _central_square(count: Node, a: Node, b: Node, centre: Node) -> Node:
    """The mean square about a point of a beta variable of shape a + count."""
    mean, total = _central_mean(count, a, b), a + count + b
    return mean * (b / total) / (total + 1.0) + square(mean - centre)


def _averaged(value: Callable[..., Node], p: Parameters, *given: Node) -> Node:
    """The mean of ``value(j, alpha, beta, *given)`` for a Poisson variable j; of a small rate by its first terms.

    Of every j, or of so few at equal steps that the sum is that of all (see ``integral``).
    """
    few = p.rate < FEW[width(p.rate)]
    rate = where(few, 1.0, p.rate)
    middle = floor(rate)
    stride = maximum(floor(0.5 * sqrt(middle + 1.0)), 1.0)
    before = minimum(middle, sqrt(2.0 * DECAY * middle))
    after = DECAY / 3.0 + sqrt((DECAY / 3.0) ** 2 + 2.0 * DECAY * middle)

    def term(step: Node, middle: Node, stride: Node, rate: Node, log_rate: Node, *rest: Node) -> Node:
        count = middle + step * stride
        return exp(poisson(count, SimpleNamespace(rate=rate, log_rate=log_rate))) * value(count, *rest)

    own = (p.alpha, p.beta, *given)
    total = integral(term, -floor(before / stride), after / stride, 1.0, (middle, stride, rate, log(rate), *own))
    first, second, third = (value(const(count, rate.dtype), *own) for count in (0.0, 1.0, 2.0))
    near = first + p.rate * (second - first + 0.5 * p.rate * (third - 2.0 * second + first))
    return where(few, near, stride * total)


class NoncentralBeta(OfShapes, Distribution):
    """Noncentral beta distribution, f(x) = exp(-nc / 2) g(x) M(alpha + beta, alpha, nc x / 2) for 0 <= x <= 1.

    Written ``NoncentralBeta(alpha, beta, nc)``; g is the density of ``Beta(alpha, beta)``, which it is without ``nc``,
    and M Kummer's function.  It is the distribution of u / (u + v) for a noncentral chi-squared u of 2 alpha degrees of
    freedom and a central v of 2 beta.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 30.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NoncentralBeta(1.0, 2.0, 1.0), np.array([0.0, 0.5, 1.0]))).round(4)
    array([0.1931, 0.1761,   -inf])
    """

    form = ODDS

    @parametrisation(alpha=positive, beta=positive, nc=nonnegative)
    @staticmethod
    def by_shapes(alpha: Node, beta: Node, nc: Node) -> dict[str, Node]:
        return {"alpha": alpha, "beta": beta, "rate": 0.5 * nc}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """With the first terms of the series of M where they are small, DLMF 13.2.2."""
        total = p.alpha + p.beta
        first = p.rate * x * (total / p.alpha)
        near = first < SMALL[width(x)]
        second = 0.5 * square(first) * (p.beta / total / (p.alpha + 1.0))
        edge = Beta.log_density(x, p) + (first - second - p.rate)
        at, rate = where(near | (x > 1.0), 0.5, x), where(near, 1.0, p.rate)
        mixture = log_mixture(log_term, rate * at, p.alpha, p.beta, (log(at), p.alpha, p.beta, rate, log(rate)))
        return where(near, edge, mixture + xlog1py(p.beta - 1.0, -x))

    @staticmethod
    def mean(p: Parameters) -> Node:
        """The Poisson mean of that with alpha + j."""
        return _averaged(_central_mean, p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        """The Poisson mean of the mean square about the mean."""
        return _averaged(_central_square, p, _averaged(_central_mean, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A mixture of central ones by a Poisson distribution."""
        shape = p.alpha + random.draw(poisson_draw, p.rate)
        return sigmoid(random.log_gamma(shape) - random.log_gamma(p.beta))
