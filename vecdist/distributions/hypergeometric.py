"""The hypergeometric distribution."""

from vecdist.constraints import Constraint, count, up_to, whole_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import draws_quantile
from vecdist.distributions.stream import Stream
from vecdist.distributions.tail_sums import OfDraws, far_log_mass
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import ceil, maximum, minimum
from vecdist.primitives.floating import width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.draws import hypergeometric_draw
from vecdist.special.error_functions import digamma_delta, log_choose

LARGE = {8: 1e4, 4: 1e3}  # a logarithm of the number of draws there are, of which a mass has lost many digits


def _log_mass(x: Node, n: Node, successes: Node, failures: Node) -> Node:
    """By logarithms of binomial coefficients, unless they are large."""
    size = log_choose(successes + failures, n)
    usual = log_choose(successes, x) + log_choose(failures, n - x) - size
    return far_log_mass(size > LARGE[width(x)], x, n, -successes, -failures, usual)


def _slopes(x: Node, n: Node, successes: Node, failures: Node, out: Node) -> tuple[Node, ...]:
    """Those of the coefficients."""
    rest, left = n - x, successes + failures - n
    of_taken = digamma_delta(x + 1.0, successes - 2.0 * x)
    of_rest, of_draws = digamma_delta(rest + 1.0, failures - 2.0 * rest), digamma_delta(n + 1.0, left - n)
    of_all = digamma_delta(left + 1.0, n)
    of_successes, of_failures = digamma_delta(successes - x + 1.0, x), digamma_delta(failures - rest + 1.0, rest)
    return of_taken - of_rest, of_rest - of_draws, of_successes - of_all, of_failures - of_all


log_mass: Primitive = primitive(
    "hypergeometric_log_mass", 4, expand=_log_mass, partials=_slopes, floating=True,
    domain=((2.0, 9.0), (10.0, 12.0), (12.0, 30.0), (12.0, 30.0)),
)

up_to_the_population: Constraint = Constraint(
    "a whole number up to successes + failures", lower=0.0, upper=lambda p: p.successes + p.failures, whole=True
)


class Hypergeometric(OfDraws, Distribution):
    """Hypergeometric distribution, f(x) = C(successes, x) C(failures, draws - x) / C(successes + failures, draws).

    Written ``Hypergeometric(successes, failures, draws)`` or ``Hypergeometric(population=, successes=, draws=)``, where
    the population counts successes and failures; x of the draws, without replacement, are successes.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Hypergeometric(3, 2, 2), np.array([0, 1, 2, 3]))).round(4)
    array([-2.3026, -0.5108, -1.204 ,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.hypergeom((successes + failures).astype(int), successes.astype(int), draws.astype(int))"

    @parametrisation(successes=count, failures=count, draws=up_to_the_population)
    @staticmethod
    def by_failures(successes: Node, failures: Node, draws: Node) -> dict[str, Node]:
        return {"successes": successes, "failures": failures, "draws": draws}

    @parametrisation(population=count, successes=up_to("population", count), draws=up_to("population", count))
    @staticmethod
    def by_population(population: Node, successes: Node, draws: Node) -> dict[str, Node]:
        return {"successes": successes, "failures": population - successes, "draws": draws}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return whole_interval(maximum(p.draws - p.failures, 0.0), minimum(p.successes, p.draws))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_mass(x, p.draws, p.successes, p.failures)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(hypergeometric_draw, p.successes, p.failures, p.draws)

    @staticmethod
    def urn(p: Parameters) -> tuple[Node, Node, Node]:
        return p.draws, -p.successes, -p.failures

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        support = Hypergeometric.support(p)
        return by_bisection(draws_quantile, q, Hypergeometric.urn(p), support, lambda at: Hypergeometric.cdf(at, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.draws > 0.0, p.draws * (p.successes / (p.successes + p.failures)), 0.0)

    @staticmethod
    def variance(p: Parameters) -> Node:
        population = p.successes + p.failures
        share = p.draws * (p.successes / population) * (p.failures / population)
        return where(population > 1.0, share * ((population - p.draws) / (population - 1.0)), 0.0)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return ceil((p.draws + 1.0) * (p.successes + 1.0) / (p.successes + p.failures + 2.0)) - 1.0
