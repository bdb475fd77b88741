"""Tails of counts as sums of masses, away from the mean: each mass by its ratio to the one before."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from vecdist.distributions.base import Parameters
from vecdist.expr import Node, where
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.table import no_derivatives, primitive

TERMS = 2e6  # more are not summed
NOTHING = 1e-18


def rounded(x: float) -> float:
    """The nearest whole number."""
    return floor(x + 0.5) if -1e15 < x < 1e15 else x


def ratio_sum(x: float, n: float, alpha: float, beta: float) -> tuple[float, float, float]:
    """The masses of a beta-binomial distribution up to x over that at x, and the derivatives in alpha and beta."""
    x, n = rounded(x), rounded(n)
    total, of_alpha, of_beta = 1.0, 0.0, 0.0
    term, term_alpha, term_beta, k = 1.0, 0.0, 0.0, 0.0
    while x > 0.0 and k < TERMS and term > NOTHING * total:
        rise, fall = (alpha + x - 1.0) * (n - x + 1.0), beta + n - x
        step = x / rise if rise != 0.0 else 0.0
        r = step * fall
        term_alpha = r * (term_alpha - term * step * (n - x + 1.0) / x)
        term_beta = r * term_beta + step * term
        term *= r
        total += term
        of_alpha += term_alpha
        of_beta += term_beta
        x -= 1.0
        k += 1.0
    return total, of_alpha, of_beta


def _beta_binomial_sum(x: float, n: float, alpha: float, beta: float) -> float:
    total, _, _ = ratio_sum(x, n, alpha, beta)
    return total


def _beta_binomial_sum_da(x: float, n: float, alpha: float, beta: float) -> float:
    _, slope, _ = ratio_sum(x, n, alpha, beta)
    return slope


def _beta_binomial_sum_db(x: float, n: float, alpha: float, beta: float) -> float:
    _, _, slope = ratio_sum(x, n, alpha, beta)
    return slope


COMMON = {"floating": True, "domain": ((4.0, 4.0), (9.0, 9.0), (0.6, 6.0), (0.6, 6.0))}

beta_binomial_sum_da = primitive(
    "beta_binomial_sum_da", 4, routine=_beta_binomial_sum_da, tangent=no_derivatives("beta_binomial_sum_da"), **COMMON,
)
beta_binomial_sum_db = primitive(
    "beta_binomial_sum_db", 4, routine=_beta_binomial_sum_db, tangent=no_derivatives("beta_binomial_sum_db"), **COMMON,
)
beta_binomial_sum = primitive(
    "beta_binomial_sum", 4, routine=_beta_binomial_sum,
    partials=lambda x, n, alpha, beta, out: (
        None, None, beta_binomial_sum_da(x, n, alpha, beta), beta_binomial_sum_db(x, n, alpha, beta)
    ),
    **COMMON,
)


def log_tails(
    x: Node, n: Node, alpha: Node, beta: Node, log_mass: Callable[[Node], Node]
) -> tuple[Node, Node]:
    """The logarithms of the tails of a beta-binomial distribution, by that away from the mean.

    With -alpha successes and -beta failures it is the hypergeometric distribution of n draws.
    """
    first = x < n * (alpha / (alpha + beta))
    total = beta_binomial_sum(
        where(first, x, n - x - 1.0), n, where(first, alpha, beta), where(first, beta, alpha)
    )
    known = log_mass(where(first, x, x + 1.0)) + log(total)
    rest = log1p(-exp(known))
    return where(first, known, rest), where(first, rest, known)


class ByLogTails:
    """The four distribution functions of a family that states ``log_tails(x, p)``: the logarithms of both tails."""

    log_tails: Callable[[Node, Parameters], tuple[Node, Node]]

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return exp(cls.log_tails(x, p)[0])

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return exp(cls.log_tails(x, p)[1])

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.log_tails(x, p)[0]

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls.log_tails(x, p)[1]
