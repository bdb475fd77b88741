"""The Nakagami distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.chi import Chi
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import maximum, sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.special.error_functions import lgamma, lgamma_delta, xlogy
from vecdist.special.formulas import exp_of_log
from vecdist.special.gamma_of_log import gamma_below, gamma_beyond, log_gamma_below, log_gamma_beyond
from vecdist.special.gamma_quantiles import log_below, log_beyond
from vecdist.special.parts import log_parts


class Nakagami(Distribution):
    """Nakagami distribution, f(x) = 2 (m / spread)^m x^(2 m - 1) exp(-m x^2 / spread) / Γ(m), m = shape, for x >= 0.

    The root of a gamma variable with mean ``spread``.  Written ``Nakagami(shape, spread)``.
    Nakagami (1960), The m-distribution, in Statistical Methods in Radio Wave Propagation.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Nakagami(1.0, 2.0), np.array([0.0, 1.0]))).round(4)
    array([-inf, -0.5])
    """

    oracle = "scipy.stats.nakagami(shape, scale=spread**0.5)"

    @parametrisation(shape=positive, spread=positive)
    @staticmethod
    def by_spread(shape: Node, spread: Node) -> dict[str, Node]:
        return {"shape": shape, "spread": spread, "df": 2.0 * shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        constant = p.shape * (log(p.shape) - log(p.spread)) - lgamma(p.shape) + math.log(2)
        return xlogy(2.0 * p.shape - 1.0, x) - p.shape * (x * (x / p.spread)) + constant

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return sqrt(random.gamma(p.shape) / p.shape) * sqrt(p.spread)

    @staticmethod
    def place(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
        """What the gamma distribution function of m x^2 / spread is given: log(x^2 / spread)."""
        relative = (log_parts(x) + log_parts(x)) - log_parts(p.spread)
        return p.shape, relative.rest, relative.high

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gamma_below(*Nakagami.place(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gamma_beyond(*Nakagami.place(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gamma_below(*Nakagami.place(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gamma_beyond(*Nakagami.place(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return sqrt(p.spread) * exp_of_log(0.5 * log_below(p.shape, q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return sqrt(p.spread) * exp_of_log(0.5 * log_beyond(p.shape, q))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return sqrt(p.spread) * exp(lgamma_delta(p.shape, 0.5) - 0.5 * log(p.shape))

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.spread * (Chi.variance(p) / p.df)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return Chi.entropy(p) + 0.5 * (log(p.spread) - log(p.df))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return sqrt(p.spread * maximum(1.0 - 1.0 / p.df, 0.0))
