"""The hypergeometric distribution."""

from vecdist.constraints import Constraint, count, up_to, whole_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import draws_quantile
from vecdist.distributions.count_quantiles import by_bisection
from vecdist.distributions.stream import Stream
from vecdist.distributions.tail_sums import OfDraws
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import ceil, maximum, minimum
from vecdist.primitives.draws import hypergeometric_draw
from vecdist.primitives.special import log_choose

up_to_the_population = Constraint(
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
        chosen = log_choose(p.successes, x) + log_choose(p.failures, p.draws - x)
        return chosen - log_choose(p.successes + p.failures, p.draws)

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
