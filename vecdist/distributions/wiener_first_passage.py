"""The first passage of a Wiener process with drift through the upper of two boundaries."""

import math

from vecdist.constraints import Constraint, beginning, finite, nonnegative, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import at_most
from vecdist.special.passage_draws import passage_draw
from vecdist.special.passage_tails import NEVER, log_passage_tail, passage_quantile, passage_tail
from vecdist.special.passages import EARLY, log_images, log_waves


def _in_units(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
    """The time in units of the squared distance of the boundaries, where it begins, and the drift in such units."""
    return at_most((x - p.tau) / p.alpha / p.alpha, NEVER), p.beta, p.delta * p.alpha


def _at(below: float, q: Node, p: Parameters) -> Node:
    """The x below which, or above which, there is so much; what is infinite does not change with the parameters."""
    unit = passage_quantile(const(below, q.dtype), p.beta, p.delta * p.alpha, q)
    never = eq(unit, math.inf)
    return where(never, math.inf, p.tau + square(p.alpha) * where(never, 1.0, unit))


class WienerFirstPassage(Distribution):
    """Wiener first passage time, f(x) = exp(delta w - delta^2 t / 2) K(t / alpha^2, w / alpha) / alpha^2 for x > tau.

    Written ``WienerFirstPassage(alpha, tau, beta, delta)``: a decision begins at a share beta of the way to the upper
    of two boundaries that are alpha apart, w = alpha (1 - beta) from it, drifts at the rate delta, and takes
    t = x - tau to get there, tau being spent on other things.  K(t, w) is the sum of
    pi k sin(k pi w) exp(-k^2 pi^2 t / 2) for k = 1, 2, ....  The rest of the probability is that it gets to the lower
    boundary first; then x is infinite, and ``WienerFirstPassage(alpha, tau, 1 - beta, -delta)`` has the density.
    So ``cdf`` rises to h, the probability of the upper boundary, as ``pdiffusion`` of the package rtdists does, and to
    1 at infinity alone: h = (1 - exp(-2 alpha delta beta)) / (1 - exp(-2 alpha delta)), without a drift beta.  ``sf``
    is at least 1 - h; quantiles of more than h, and the mean, are infinite.
    Navarro and Fuss (2009), Fast and accurate calculations for first-passage times in Wiener diffusion models, Journal
    of Mathematical Psychology 53; Blurton, Kesselmeier and Gondan (2012), Fast and accurate calculations for cumulative
    first-passage time distributions in Wiener diffusion models, the same journal 56.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(WienerFirstPassage(2.0, 0.25, 0.5, 1.0), np.array([0.25, 0.5, 2.25]))).round(4)
    array([   -inf,  0.0355, -2.709 ])
    """

    @parametrisation(alpha=positive, tau=nonnegative, beta=open_unit_interval, delta=finite)
    @staticmethod
    def by_boundaries(alpha: Node, tau: Node, beta: Node, delta: Node) -> dict[str, Node]:
        return {"alpha": alpha, "tau": tau, "beta": beta, "rest": 1.0 - beta, "delta": delta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return beginning(p.tau, open_lower=True)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """An inverse Gaussian density, the drift within its square, times the early series; or the late one."""
        t, way = x - p.tau, p.alpha * p.rest
        unit = t / square(p.alpha)
        early = unit < EARLY
        lag = way - p.delta * t
        images = log_images(where(early, unit, EARLY), p.rest, p.beta)
        first = log(way) - 0.5 * math.log(2 * math.pi) - 1.5 * log(t) - 0.5 * (lag * (lag / t)) + images
        waves = log_waves(where(early, 1.0, unit), p.rest, p.beta)
        last = p.delta * (way - 0.5 * p.delta * t) - 2.0 * log(p.alpha) + waves
        return where(early, first, last)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return passage_tail(const(1.0, x.dtype), *_in_units(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return passage_tail(const(0.0, x.dtype), *_in_units(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_passage_tail(const(1.0, x.dtype), *_in_units(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_passage_tail(const(0.0, x.dtype), *_in_units(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return _at(1.0, q, p)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return _at(0.0, q, p)

    @staticmethod
    def mean(p: Parameters) -> float:
        return math.inf

    @staticmethod
    def variance(p: Parameters) -> float:
        return math.inf

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Infinite where it gets to the lower boundary first."""
        return p.tau + square(p.alpha) * random.draw(passage_draw, p.beta, p.delta * p.alpha)
