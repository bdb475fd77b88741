"""The negative multinomial distribution."""

from vecdist.constraints import count, nonnegative, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.counts import counts
from vecdist.multivariate.domains import Check, Domain, each, number
from vecdist.multivariate.events import each_of, over_event, some
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import lgamma, lgamma_delta, xlogy


def _with_a_rest(name: str, x: Node, size: int) -> list[Check]:
    total = over_event(x)
    return [*each(nonnegative).checks(name, x, size), Check(f"sum of {name}", total < 1.0, total, "below 1")]


class NegativeMultinomial(Multivariate):
    """Negative multinomial distribution, f(x) = Γ(r + Σ x) / Γ(r) p^r ∏ q_k^x_k / x_k! for counts x, with p = 1 - Σ q.

    Of each kind what is counted before success number r, as ``NegativeBinomial(r=, q=)`` has it of one kind.
    Written ``NegativeMultinomial(r, q)``, or ``NegativeMultinomial(r=, mean=)`` with the means r q_k / p: Poisson
    variables whose rates are the means times one gamma variable of mean 1 and shape r.
    Johnson, Kotz and Balakrishnan (1997), Discrete Multivariate Distributions, chapter 36.

    >>> import numpy as np, vecdist
    >>> counts = np.array([[0, 0], [1, 2], [-1, 0]])
    >>> np.asarray(vecdist.logpmf(NegativeMultinomial(2.0, np.array([0.25, 0.5])), counts)).round(4)
    array([-2.7726, -3.0603,    -inf])
    """

    @parametrisation(r=number(positive), q=Domain("k", _with_a_rest))
    @staticmethod
    def by_probabilities(r: Node, q: Node) -> dict[str, Node]:
        log_p = log1p(-over_event(q))
        return {"r": r, "q": q, "log_p": log_p, "mean": each_of(r * exp(-log_p)) * q}

    @parametrisation(r=number(positive), mean=each(nonnegative))
    @staticmethod
    def by_mean(r: Node, mean: Node) -> dict[str, Node]:
        total = over_event(mean)
        return {"r": r, "q": mean / each_of(r + total), "log_p": -log1p(total / r), "mean": mean}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        violated = count.violated(x, p.whole)
        return None if violated is None else some(violated)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        common = exp(random.log_gamma(p.r) - log(p.r))
        return random.over(p.size).draw(poisson_draw, each_of(common) * p.mean)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        x = counts(x)
        return over_event(xlogy(x, p.q) - lgamma(x + 1.0)) + (lgamma_delta(p.r, over_event(x)) + p.r * p.log_p)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return p.mean

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        return p.mean * (1.0 + p.mean / each_of(p.r))
