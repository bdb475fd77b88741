"""The beta-negative-binomial distribution."""


from vecdist.constraints import Constraint, count, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import beta_negative_binomial_quantile
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.beta_ratios import digamma_rise, slope
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import lgamma_delta
from vecdist.special.formulas import infinite_where
from vecdist.special.gamma_differences import lbeta_of_count
from vecdist.special.gamma_products import log_gamma_products


def _log_mass(x: Node, r: Node, alpha: Node, beta: Node) -> Node:
    """In one of two forms of B(alpha + r, beta + x) / B(alpha, beta) over Γ(alpha + r) / Γ(alpha)."""
    many = x > alpha
    start = where(many, beta, alpha + beta)
    end, step = where(many, beta + x, beta), where(many, alpha + r, x)
    difference = lgamma_delta(start, where(many, alpha, r + x)) - lgamma_delta(end, step)
    ratio = lgamma_delta(alpha, r) + where(many, difference, -difference)
    return ratio - where(eq(x, 0.0), 0.0, lbeta_of_count(r, x + 1.0) + log(r + x))


def _slopes(x: Node, r: Node, alpha: Node, beta: Node, out: Node) -> tuple[Node, ...]:
    of_x = digamma_rise(x + 1.0, r - 1.0) - digamma_rise(beta + x, alpha + r)
    return of_x, slope(r, alpha, x, beta), slope(alpha, beta, r, x), slope(beta, alpha, x, r)


log_mass: Primitive = primitive(
    "beta_negative_binomial_log_mass", 4, expand=_log_mass, partials=_slopes, floating=True,
    domain=((2.0, 9.0), (0.2, 20.0), (0.2, 20.0), (0.2, 20.0)),
)


class BetaNegativeBinomial(Distribution):
    """Beta negative binomial distribution, f(x) = Γ(r + x) / (x! Γ(r)) B(alpha + r, beta + x) / B(alpha, beta).

    Written ``BetaNegativeBinomial(r, alpha, beta)``: x = 0, 1, ... failures before success number r, whose probability
    has the beta distribution of alpha and beta.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(BetaNegativeBinomial(1.0, 1.0, 1.0), np.array([0, 1, -1]))).round(4)
    array([-0.6931, -1.7918,    -inf])
    """

    discrete = True

    @parametrisation(r=positive, alpha=positive, beta=positive)
    @staticmethod
    def by_counts(r: Node, alpha: Node, beta: Node) -> dict[str, Node]:
        return {"r": r, "alpha": alpha, "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_mass(x, p.r, p.alpha, p.beta)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """A Poisson variable is more than x where a gamma variable of shape x + 1 is less than its rate."""
        return log_gamma_products(p.alpha, x + 1.0, p.r, p.beta)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gamma_products(p.r, p.beta, x + 1.0, p.alpha)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        def cdf(at: Node) -> Node:
            return exp(BetaNegativeBinomial.log_cdf(at, p))

        return by_bisection(beta_negative_binomial_quantile, q, (p.r, p.alpha, p.beta), count, cdf)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A Poisson variable whose rate has a gamma distribution, the odds of which are those of a beta variable."""
        log_odds = random.log_gamma(p.beta) - random.log_gamma(p.alpha)
        return random.draw(poisson_draw, exp(random.log_gamma(p.r) + log_odds))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.alpha <= 1.0, p.r * p.beta / (p.alpha - 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        a = p.alpha - 1.0
        spread = p.r * p.beta * (a + p.r) * (a + p.beta) / ((a - 1.0) * square(a))
        return infinite_where(a <= 1.0, spread)
