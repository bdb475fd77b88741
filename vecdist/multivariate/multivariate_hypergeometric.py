"""The multivariate hypergeometric distribution."""

from collections.abc import Mapping

from vecdist.constraints import count
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.counts import counts, drawn_in_turn, outside_counts
from vecdist.multivariate.domains import Check, each, number
from vecdist.multivariate.events import each_of, over_event, some
from vecdist.primitives.arithmetic import minimum
from vecdist.special.draws import hypergeometric_draw
from vecdist.special.error_functions import log_choose


class MultivariateHypergeometric(Multivariate):
    """Multivariate hypergeometric distribution, f(x) = ∏ C(population_k, x_k) / C(Σ population, n) for counts of sum n.

    Of a population that has so many of each kind, n are drawn without replacement.
    Written ``MultivariateHypergeometric(population, n)``.
    Johnson, Kotz and Balakrishnan (1997), Discrete Multivariate Distributions, chapter 39.

    >>> import numpy as np, vecdist
    >>> some = MultivariateHypergeometric(np.array([3, 2, 5]), 4)
    >>> np.asarray(vecdist.logpmf(some, np.array([[1, 1, 2], [0, 3, 1]]))).round(4)
    array([-1.2528,    -inf])
    """

    @parametrisation(population=each(count), n=number(count))
    @staticmethod
    def by_population(population: Node, n: Node) -> dict[str, Node]:
        return {"population": population, "n": n}

    def _checks(self, nodes: Mapping[str, Node], size: int) -> list[Check]:
        all_of_them, n = over_event(nodes["population"]), nodes["n"]
        return [*super()._checks(nodes, size), Check("n", n <= all_of_them, n, "at most the sum of population")]

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_counts(x, p) | some(x > p.population)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return drawn_in_turn(
            random, p.n, p.population, lambda some, *urn: some.draw(hypergeometric_draw, *urn)
        )

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        taken = minimum(counts(x), p.population)
        return over_event(log_choose(p.population, taken)) - log_choose(over_event(p.population), p.n)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return each_of(p.n) * _share(p)

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        everything, share = each_of(over_event(p.population)), _share(p)
        spread = each_of(p.n) * share * (1.0 - share)
        return where(everything > 1.0, spread * ((everything - each_of(p.n)) / (everything - 1.0)), 0.0)


def _share(p: Parameters) -> Node:
    everything = each_of(over_event(p.population))
    return where(everything > 0.0, p.population / everything, 0.0)
