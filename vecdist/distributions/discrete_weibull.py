"""The discrete Weibull distribution."""

from vecdist.constraints import Constraint, count, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import ceil, eq, minimum, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.power import power
from vecdist.special.error_functions import lgamma
from vecdist.special.gumbel_mass import log_gumbel_mass
from vecdist.special.incomplete_gamma import gammaincc
from vecdist.special.parts import Parts, log_parts
from vecdist.special.quadrature import integral
from vecdist.special.staircase import settled

MOST = 2048.0  # terms of a sum
GONE = 45.0  # an exponent by which a term is nothing beside the first one


def _beyond(n: Node, rate: Node, beta: Node) -> tuple[Node, Node]:
    """The sums of f(k) and k f(k) for k > n, f(x) = exp(-rate x^beta), by integrals and odd derivatives at n.

    DLMF 2.10.1.
    """
    at, shape = rate * power(n, beta), 1.0 / beta
    value, slope = exp(-at), at * beta / n
    second = slope * (slope - (beta - 1.0) / n)
    third = -slope * (slope * (slope - 3.0 * (beta - 1.0) / n) + (beta - 1.0) * (beta - 2.0) / (n * n))
    areas = [
        exp(lgamma(each * shape) - each * shape * log(rate)) * shape * gammaincc(each * shape, at)
        for each in (1.0, 2.0)
    ]
    of_one = areas[0] + value * (-0.5 + slope / 12.0 + third / 720.0)
    of_square = areas[1] + value * (-0.5 * n - (1.0 - n * slope) / 12.0 + (3.0 * second + n * third) / 720.0)
    return of_one, of_square


class DiscreteWeibull(Distribution):
    """Discrete Weibull distribution, f(x) = q^(x^beta) - q^((x + 1)^beta) for x = 0, 1, ...

    Written ``DiscreteWeibull(q, beta)``.
    Nakagawa and Osaki (1975), The discrete Weibull distribution, IEEE Transactions on Reliability 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(DiscreteWeibull(0.5, 1.0), np.array([0, 1, -1]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    discrete = True

    @parametrisation(q=open_unit_interval, beta=positive)
    @staticmethod
    def by_decay(q: Node, beta: Node) -> dict[str, Node]:
        return {"q": q, "log_q": log(q), "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By logarithms in two parts of x^beta log(1 / q): far out exponentials of exponentials amplify them."""
        at_zero = eq(x, 0.0)
        k = where(at_zero, 1.0, x)
        rarity = (-log_parts(p.q)).log()
        start, length = log_parts(k).times(p.beta) + rarity, (log_parts(k + 1.0) - log_parts(k)).times(p.beta)
        log_length = log(p.beta) + log(log1p(1.0 / k))
        excess = (length - Parts(exp(log_length), const(0.0, x.dtype))).whole
        mass = log_gumbel_mass(*start, log_length, excess)
        return where(at_zero, log1p(-p.q), mass)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return power(x + 1.0, p.beta) * p.log_q

    @staticmethod
    def least_log_sf(x: Node, p: Parameters) -> Node:
        """No less than what has 0 as its exponential, and a slope of 0 there."""
        return at_least(DiscreteWeibull.log_sf(x, p), -1e3)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(DiscreteWeibull.least_log_sf(x, p))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(DiscreteWeibull.least_log_sf(x, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        """By the sum of all upper tails, as the variance, from some on by Euler and Maclaurin's formula.

        Where there are so many and beta is above 30, a variance has digits less, at 100 six.
        """
        return DiscreteWeibull.tail_sums(p)[0]

    @staticmethod
    def variance(p: Parameters) -> Node:
        mean, odd = DiscreteWeibull.tail_sums(p)
        return odd - square(mean)

    @staticmethod
    def tail_sums(p: Parameters) -> tuple[Node, Node]:
        """The sums of q^(k^beta) and of (2 k - 1) q^(k^beta) for k = 1, 2, ..., the means of x and x^2."""
        rate, given = -p.log_q, (p.log_q, p.beta)
        last = ceil(power(1.0 + GONE / rate, 1.0 / p.beta))
        n = minimum(last, MOST)
        first = integral(lambda k, log_q, beta: exp(power(k, beta) * log_q), 1.0, n, 1.0, given)
        odd = integral(lambda k, log_q, beta: (2.0 * k - 1.0) * exp(power(k, beta) * log_q), 1.0, n, 1.0, given)
        more, more_of_square = _beyond(n, rate, p.beta)
        capped = last > MOST
        return first + where(capped, more, 0.0), odd + where(capped, 2.0 * more_of_square - more, 0.0)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = ceil(power(log1p(-q) / p.log_q, 1.0 / p.beta)) - 1.0
        return settled(k, q, lambda k: DiscreteWeibull.cdf(k, p), count)
