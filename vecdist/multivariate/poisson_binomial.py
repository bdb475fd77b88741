"""The Poisson binomial distribution."""

import numpy as np

from vecdist.constraints import finite, unit_interval, whole_interval
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast, const, where
from vecdist.lazy.array import LazyArray
from vecdist.lazy.scan import scan
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import each
from vecdist.multivariate.events import chosen, event_length, over_event
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import log, log1p, log_sigmoid, logaddexp, sigmoid
from vecdist.primitives.structure import full, position


class PoissonBinomial(Multivariate):
    """Poisson binomial distribution of the number of successes in K trials that have probabilities of their own.

    The generating function of f is ∏ (1 - probs_k + probs_k z); it is multiplied out trial by trial, in logarithms,
    which adds up positive numbers alone.  Written ``PoissonBinomial(probs)`` with the probabilities along the last
    axis, or ``PoissonBinomial(logits=)`` with their log odds.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, section 3.12.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.pmf(PoissonBinomial(np.array([0.5, 0.2])), np.array([0, 1, 2, 3]))).round(4)
    array([0.4, 0.5, 0.1, 0. ])
    """

    event = ""

    @parametrisation(probs=each(unit_interval))
    @staticmethod
    def by_probabilities(probs: Node) -> dict[str, Node]:
        """A probability of 0 is tiny here: the logarithms of masses that it is a factor of have slopes then."""
        rest, tiny = 1.0 - probs, float(np.finfo(probs.dtype).tiny)
        log_q = where(probs < 1.0, log1p(-probs), log(rest + tiny))
        least, most = (over_event(cast(which, probs.dtype)) for which in (eq(probs, 1.0), probs > 0.0))
        return {
            "probs": probs, "rest": rest, "log_p": log(probs + tiny), "log_q": log_q, "least": least, "most": most,
        }

    @parametrisation(logits=each(finite))
    @staticmethod
    def by_logits(logits: Node) -> dict[str, Node | float]:
        return {
            "probs": sigmoid(logits), "rest": sigmoid(-logits), "log_p": log_sigmoid(logits),
            "log_q": log_sigmoid(-logits), "least": 0.0, "most": float(event_length(logits)),
        }

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return whole_interval(p.least, p.most).violated(x, p.whole)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        successes = random.over(p.size).uniform() < p.probs
        return over_event(cast(successes, random.dtype))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return chosen(_log_masses(p.log_p, p.log_q), x)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return over_event(p.probs)

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        return over_event(p.probs * p.rest)


def _log_masses(log_p: Node, log_q: Node) -> Node:
    """The logarithms of the masses of 0, ..., K successes."""
    counts = position(event_length(log_p) + 1)
    start = full(where(eq(counts, 0), const(0.0, log_p.dtype), -np.inf), (*log_p.shape[:-1], *counts.shape))
    first = -1, *range(log_p.ndim - 1)
    trials = LazyArray(log_p).transpose(first)[..., None], LazyArray(log_q).transpose(first)[..., None]

    def step(masses: LazyArray, trial: tuple[LazyArray, LazyArray]) -> tuple[LazyArray, None]:
        success, failure = trial[0] + np.roll(masses, 1, axis=-1), trial[1] + masses
        return LazyArray(where(eq(counts, 0), failure.node, logaddexp(success.node, failure.node))), None

    return scan(step, LazyArray(start), trials)[0].node
