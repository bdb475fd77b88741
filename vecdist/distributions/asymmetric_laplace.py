"""The asymmetric Laplace distribution."""

from vecdist.constraints import Constraint, finite, open_unit_interval, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, exp, expm1, log, log1p
from vecdist.primitives.floating import width
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.rounding import product_rest
from vecdist.special.parts import Parts, difference

LIMITS = {8: (1e-150, 1e150), 4: (1e-18, 1e18)}  # of what has a square that is neither 0 nor infinite


def _turned(p: Parameters) -> Parameters:
    """The parameters of -x."""
    return Parameters(loc=-p.loc, left=p.right, right=p.left, below=p.above, above=p.below)


def _weights(asymmetry: Node) -> dict[str, Node]:
    """The probabilities on both sides of loc, and their quotient in two parts."""
    asymmetry = clamped(asymmetry, LIMITS[width(asymmetry)])
    odds = Parts(square(asymmetry), product_rest(asymmetry, asymmetry))
    return {
        "below": 1.0 / (1.0 + square(1.0 / asymmetry)), "above": 1.0 / (1.0 + square(asymmetry)),
        "odds": odds.high, "odds_rest": odds.rest,
    }


def _upper_tail(x: Node, p: Parameters) -> Node:
    """The probability of more than x, above loc."""
    return p.above * exp((p.loc - x) / p.right)


def _lower_part(x: Node, p: Parameters) -> Node:
    """The probability of at most x, above loc and not far from it: both terms are positive."""
    return p.below - p.above * expm1((p.loc - x) / p.right)


class AsymmetricLaplace(Distribution):
    """Asymmetric Laplace distribution, f(x) = exp(-|x - loc| / s) / (left + right), s = left below loc and right above.

    At its peak the derivatives in x and loc are 0.

    Written ``AsymmetricLaplace(loc, scale, asymmetry)`` with left = scale asymmetry and right = scale / asymmetry,
    ``AsymmetricLaplace(loc=, rate=, asymmetry=)`` with rate = 1 / scale, or ``AsymmetricLaplace(loc=, scale=,
    quantile=)`` with left = scale / (1 - quantile) and right = scale / quantile, where ``quantile`` is the probability
    below loc; the scale of Stan's ``skew_double_exponential`` is twice that one.
    Kotz, Kozubowski and Podgórski (2001), The Laplace Distribution and Generalizations, chapter 3; Yu and Moyeed
    (2001), Bayesian quantile regression, Statistics and Probability Letters 54.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(AsymmetricLaplace(0.0, 1.0, 2.0), np.array([-2.0, 0.0, 2.0]))).round(4)
    array([-1.9163, -0.9163, -4.9163])
    """

    oracle = "scipy.stats.laplace_asymmetric(asymmetry, loc, scale)"
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive, asymmetry=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node, asymmetry: Node) -> dict[str, Node]:
        return {"loc": loc, "left": scale * asymmetry, "right": scale / asymmetry} | _weights(asymmetry)

    @parametrisation(loc=finite, rate=positive, asymmetry=positive)
    @staticmethod
    def by_rate(loc: Node, rate: Node, asymmetry: Node) -> dict[str, Node]:
        return {"loc": loc, "left": asymmetry / rate, "right": 1.0 / (rate * asymmetry)} | _weights(asymmetry)

    @parametrisation(loc=finite, scale=positive, quantile=open_unit_interval)
    @staticmethod
    def by_quantile(loc: Node, scale: Node, quantile: Node) -> dict[str, Node]:
        left, right = scale / (1.0 - quantile), scale / quantile
        above = difference(const(1.0, quantile.dtype), quantile)
        odds = Parts(quantile, const(0.0, quantile.dtype)).quotient(above)
        return {
            "loc": loc, "left": left, "right": right, "below": quantile, "above": 1.0 - quantile,
            "odds": odds.high, "odds_rest": odds.rest,
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return where(x < p.loc, (x - p.loc) / p.left, -((p.loc - x) / p.right))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        distance = abs(x - p.loc)
        return -where(x < p.loc, distance / p.left, distance / p.right) - log(p.left + p.right)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        below, tail = p.below * exp((x - p.loc) / p.left), _upper_tail(x, p)
        return where(x < p.loc, below, where(tail > 0.5, _lower_part(x, p), 1.0 - tail))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return AsymmetricLaplace.cdf(-x, _turned(p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        below = where(p.below < 0.5, log(p.below), log1p(-p.above)) + (x - p.loc) / p.left
        tail = _upper_tail(x, p)
        return where(x < p.loc, below, where(tail > 0.5, log(_lower_part(x, p)), log1p(-tail)))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return AsymmetricLaplace.log_cdf(-x, _turned(p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By what the probability has beyond that below loc, which next to there is known to the last digit."""
        whole, zero = p.left + p.right, const(0.0, q.dtype)
        more = difference(const(1.0, q.dtype), q).product(Parts(p.odds, p.odds_rest)) - Parts(q, zero)
        over, under = more.whole, -more.whole / p.odds
        above = where(abs(over) < 0.5, log1p(over), log((1.0 - q) * (whole / p.right)))
        below = where(abs(under) < 0.5, log1p(under), log_quotient(q, p.left / whole))
        return p.loc + where(over > 0.0, p.left * below, -p.right * above)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + (p.right - p.left)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.left) + square(p.right)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + log(p.left + p.right)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc
