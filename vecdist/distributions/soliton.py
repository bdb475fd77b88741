"""The robust soliton distribution."""

from vecdist.constraints import Constraint, open_unit_interval, positive_count, up_to, whole_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import soliton_quantile
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import ceil, eq, minimum, square
from vecdist.primitives.elementary import log, log1p
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.draws import harmonic_draw
from vecdist.special.error_functions import digamma
from vecdist.special.formulas import EULER


class Soliton(Distribution):
    """Robust soliton distribution, f(x) = (r(x) + t(x)) / (1 + sum of t) for x = 1, ..., k.

    Written ``Soliton(k, m, delta)`` with r(1) = 1 / k and r(x) = 1 / (x (x - 1)), t(x) = 1 / (x m) for x < m,
    t(m) = log(k / (m delta)) / m and t(x) = 0 for x > m: k input symbols, a spike at m, and a bound delta on failing.
    Luby (2002), LT codes, Symposium on Foundations of Computer Science 43, definition 11.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Soliton(4, 2, 0.5), np.array([1, 2, 4, 5]))).round(4)
    array([-1.073 , -0.6087, -3.2702,    -inf])
    """

    discrete = True

    @parametrisation(k=positive_count, m=up_to("k", positive_count), delta=open_unit_interval)
    @staticmethod
    def by_spike(k: Node, m: Node, delta: Node) -> dict[str, Node]:
        return {"k": k, "m": m, "spike": log(k / m) - log(delta)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return whole_interval(1.0, p.k)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        ideal = where(x > 1.0, 1.0 / (x * (x - 1.0)), 1.0 / p.k)
        robust = where(x < p.m, 1.0 / x, where(x > p.m, 0.0, p.spike)) / p.m
        return log(where(eq(x, x), ideal + robust, x)) - log1p((digamma(p.m) + (EULER + p.spike)) / p.m)

    @staticmethod
    def sums(x: Node, p: Parameters) -> tuple[Node, Node]:
        """m times the sum of t up to x, and that of all of t."""
        whole = digamma(p.m) + (EULER + p.spike)
        return where(x < p.m, digamma(x + 1.0) + EULER, whole), whole

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        robust, whole = Soliton.sums(x, p)
        return (1.0 / p.k + (1.0 - 1.0 / x) + robust / p.m) / (1.0 + whole / p.m)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        robust, whole = Soliton.sums(x, p)
        return (1.0 / x - 1.0 / p.k + (whole - robust) / p.m) / (1.0 + whole / p.m)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return by_bisection(soliton_quantile, q, (p.k, p.m, p.spike), Soliton.support(p), lambda at: Soliton.cdf(at, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A mixture of the ideal soliton distribution, the spike and the numbers below it."""
        u, v = random.uniforms()
        whole = digamma(p.m) + (EULER + p.spike)
        ideal = where(u * p.k < 1.0, 1.0, minimum(ceil(1.0 / u), p.k))
        choice = v * (1.0 + whole / p.m)
        below = random.draw(harmonic_draw, p.m)
        return where(choice < 1.0, ideal, where((choice - 1.0) * p.m < p.spike, p.m, below))

    @staticmethod
    def mean(p: Parameters) -> Node:
        ideal = 1.0 / p.k + digamma(p.k) + EULER
        return (ideal + (p.m - 1.0) / p.m + p.spike) / (1.0 + Soliton.sums(p.m, p)[1] / p.m)

    @staticmethod
    def variance(p: Parameters) -> Node:
        """By the sums of x^2 r(x) and x^2 t(x)."""
        ideal = 1.0 / p.k + (p.k - 1.0) + (digamma(p.k) + EULER)
        squares = (ideal + 0.5 * (p.m - 1.0) + p.m * p.spike) / (1.0 + Soliton.sums(p.m, p)[1] / p.m)
        return squares - square(Soliton.mean(p))
