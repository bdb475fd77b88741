"""The Conway-Maxwell-Poisson distribution."""

import math
from typing import NamedTuple

from vecdist.constraints import Constraint, light_count, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import conway_maxwell_poisson_quantile
from vecdist.distributions.saddle_point import poisson
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import ceil, eq, floor, maximum, minimum, sqrt, square
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.loops import local, loop
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.formulas import exp_of_log
from vecdist.special.log_concave_draws import power_of_poisson_draw
from vecdist.special.quadrature import integral

FEW = 60.0  # a power of masses that is exp(-FEW) at 0: from here on they are smooth, and nothing of them is there
DECAY = 40.0  # masses are added up until they have fallen by exp(-DECAY)
NOTHING = 1e-20  # of a sum
WIDEST = 1e8  # a variance from which on tails take too many terms
LEAST = -800.0  # a logarithm of 0


class Sum(NamedTuple):
    """A sum, and the logarithm of what it is relative to."""

    log_unit: Node
    value: Node


def away(k: Node, m: Node, power: int) -> Node:
    """A power of the distance from the mode."""
    return (k - floor(m)) ** power if power else const(1.0, k.dtype)


def beside_zero(near: Node, p: Parameters, power: int) -> Node:
    """The sum of a power of ``away`` times rate^k / k!^nu over k = 1, 2, ..."""
    dtype = p.nu.dtype
    k, term, total, size, log_rate, nu, m = (local(place, dtype) for place in range(7))
    following = term * exp(log_rate - nu * log(k + 1.0))
    news = (k + 1.0, following, total + following * away(k + 1.0, m, power), size + following)
    zero, one = const(0.0, dtype), const(1.0, dtype)
    test = (k <= m) | (term > NOTHING * size)
    _, _, found, _ = loop(near, (zero, one, zero, one), (p.log_rate, p.nu, p.m), test, news)
    return found


def one_by_one(near: Node, p: Parameters, power: int) -> Sum:
    """The sum of a power of ``away`` times rate^k / k!^nu, relative to exp(nu m)."""
    first = away(const(0.0, p.nu.dtype), p.m, power)
    return Sum(-p.nu * p.m, first + beside_zero(near, p, power))


def at_steps(far: Node, p: Parameters, power: int) -> Sum:
    """The sum of a power of ``away`` times masses of a Poisson distribution to the power of nu.

    Of every k, or of so few at equal steps that the sum is that of all (see ``integral``).
    """
    m, log_m = where(far, p.m, FEW), where(far, p.log_m, math.log(FEW))
    middle, stride = floor(m), maximum(floor(0.5 * sqrt(m / p.nu)), 1.0)
    largest = p.nu * poisson(middle, Parameters(rate=m, log_rate=log_m))
    fall = DECAY / p.nu
    before, after = minimum(middle, sqrt(2.0 * fall * m)), fall / 3.0 + sqrt(square(fall / 3.0) + 2.0 * fall * m)

    def term(step: Node, middle: Node, stride: Node, largest: Node, nu: Node, m: Node, log_m: Node) -> Node:
        k = middle + step * stride
        return away(k, m, power) * exp(nu * poisson(k, Parameters(rate=m, log_rate=log_m)) - largest)

    given = (middle, stride, largest, p.nu, m, log_m)
    total = integral(term, -floor(before / stride), after / stride, 1.0, given, where=far)
    return Sum(largest + log(stride), total)


def log_mass(p: Parameters) -> Node:
    """The logarithm of the sum of all masses of a Poisson distribution to the power of nu."""
    near = p.nu * p.m < FEW
    few, many = one_by_one(near, p, 0), at_steps(~near, p, 0)
    return where(near, few.log_unit + log(few.value), many.log_unit + log(where(near, 1.0, many.value)))


def moment(p: Parameters, power: int) -> Node:
    """The mean of a power of ``away``."""
    near = p.nu * p.m < FEW
    ways = (one_by_one, near), (at_steps, ~near)
    few, many = (of(side, p, power).value / of(side, p, 0).value for of, side in ways)
    return where(near, few, many)


def log_ratios(x: Node, inside: Node, p: Parameters, up: bool) -> Node:
    """The logarithm of the masses from x on, up or down, over that at x, where these fall."""
    dtype = p.nu.dtype
    k, term, total, log_rate, nu = (local(place, dtype) for place in range(5))
    rise = log_rate - nu * log(k + 1.0) if up else nu * log(maximum(k, 1.0)) - log_rate
    step = exp(rise)
    rest = where(k > 0.0, step, 0.0) if not up else step
    news = (k + 1.0 if up else k - 1.0, term * rest, total + term * rest)
    one = const(1.0, dtype)
    _, _, found = loop(inside, (x, one, one), (p.log_rate, p.nu), term > NOTHING * total, news)
    return log(found)


def rest_of(log_tail: Node) -> Node:
    """The logarithm of what a tail leaves, which next to none leaves whole."""
    return where(log_tail < LEAST, 0.0, log1mexp(log_tail))


class ConwayMaxwellPoisson(Distribution):
    """Conway-Maxwell-Poisson distribution, f(x) = rate^x / (x!^nu Z(rate, nu)) for x = 0, 1, ...

    Written ``ConwayMaxwellPoisson(rate, nu)``; Z(rate, nu) is the sum of rate^k / k!^nu, and with a ``nu`` of 1 it is
    ``Poisson``.  The masses are those of a Poisson distribution of the mean m = rate^(1 / nu) to the power of nu.  What
    would take 100 000 terms is NaN, as with a ``nu`` below 0.002 and a ``rate`` above 1, and distribution functions
    of a standard deviation above 10 000; where m overflows, no count has any mass.
    Shmueli, Minka, Kadane, Borle and Boatwright (2005), A useful distribution for fitting discrete data, Applied
    Statistics 54.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(ConwayMaxwellPoisson(2.0, 2.0), np.array([0, 1, -1]))).round(4)
    array([-1.4475, -0.7543,    -inf])
    """

    discrete = True

    @parametrisation(rate=positive, nu=positive)
    @staticmethod
    def by_rate(rate: Node, nu: Node) -> dict[str, Node]:
        log_rate = log(rate)
        return {"log_rate": log_rate, "nu": nu, "log_m": log_rate / nu, "m": exp(log_rate / nu)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return light_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """That of 0 by what the others add to it; where m overflows, and with it the sum, there is nothing at any."""
        known = p.m < math.inf
        m, log_m = where(known, p.m, 1.0), where(known, p.log_m, 0.0)
        within = Parameters(log_rate=where(known, p.log_rate, 0.0), nu=p.nu, m=m, log_m=log_m)
        near = within.nu * m < FEW
        inside = p.nu * poisson(x, Parameters(rate=m, log_rate=log_m)) - log_mass(within)
        inside = where(near & eq(x, 0.0), -log1p(beside_zero(near, within, 0)), inside)
        return where(known, inside, -math.inf)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        peak = exp(ConwayMaxwellPoisson.log_density(floor(p.m), p))
        return random.draw(power_of_poisson_draw, p.log_rate, p.nu, peak)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return floor(p.m) + moment(p, 1)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return moment(p, 2) - square(moment(p, 1))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(ceil(p.m) - 1.0, 0.0)

    @staticmethod
    def log_tails(x: Node, p: Parameters) -> tuple[Node, Node]:
        """Sums of masses away from the mode, and what they leave."""
        lower = x < floor(p.m)
        at, next_one = where(lower, x, 0.0), where(lower, 0.0, x) + 1.0
        below = ConwayMaxwellPoisson.log_density(at, p) + log_ratios(at, lower, p, up=False)
        beyond = ConwayMaxwellPoisson.log_density(next_one, p) + log_ratios(next_one, ~lower, p, up=True)
        return where(lower, below, rest_of(beyond)), where(lower, rest_of(below), beyond)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp_of_log(ConwayMaxwellPoisson.log_cdf(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp_of_log(ConwayMaxwellPoisson.log_sf(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return ConwayMaxwellPoisson.log_tails(x, p)[0]

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return ConwayMaxwellPoisson.log_tails(x, p)[1]

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        given = p.log_rate, p.nu, log_mass(p)
        support, cdf = ConwayMaxwellPoisson.support(p), ConwayMaxwellPoisson.cdf
        known = p.m < WIDEST * p.nu
        told = where(known, q, math.nan)  # of which nothing is looked for
        found = by_bisection(conway_maxwell_poisson_quantile, told, given, support, lambda x: cdf(x, p))
        return where(known, found, math.nan)
