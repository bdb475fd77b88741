"""The Kumaraswamy distribution."""

from vecdist.constraints import Constraint, positive, unit_interval
from vecdist.distributions.at_ends import with_slopes_of
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import format_of
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import digamma_delta, lbeta, lgamma_delta, xlogy
from vecdist.special.formulas import EULER, exp_of_log, lgamma_reciprocal, log1p_at_zero, times
from vecdist.special.kumaraswamy_spread import log_spread
from vecdist.special.stirling import digamma_lack


def _log1m_power_partials(x: Node, a: Node, out: Node) -> tuple[Node, Node]:
    """Where x^a is not small without the exponential of ``out``, which is large next to 1.

    Else by that of the less of x^a and x^(a - 1), with derivatives that do not overflow against each other.
    """
    logarithm = log(x)
    less = expm1(a * logarithm)
    near, odds = less > -0.5, (1.0 + less) / less
    few = near | (a < 0.5)
    power = exp(where(few, a, a - 1.0) * logarithm - out)
    of_x = a * where(near, odds, -power) / where(few, x, 1.0)
    of_x = with_slopes_of(of_x, -a * exp((a - 1.0) * logarithm - out))
    return of_x, logarithm * where(near, odds, -exp(a * logarithm - out))


log1m_power: Primitive = primitive(  # log(1 - x^a) for 0 < x < 1
    "log1m_power", 2, expand=lambda x, a: log1mexp(a * log(x)), partials=_log1m_power_partials,
    domain=((0.1, 0.9), (0.3, 6.0)),
)


class Kumaraswamy(Distribution):
    """Kumaraswamy distribution, f(x) = a b x^(a - 1) (1 - x^a)^(b - 1) for 0 <= x <= 1.

    Written ``Kumaraswamy(a, b)``.
    Kumaraswamy (1980), A generalized probability density function for double-bounded random processes, Journal of
    Hydrology 46.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Kumaraswamy(1.0, 2.0), np.array([0.0, 0.5, 1.0]))).round(4)
    array([0.6931, 0.    ,   -inf])
    """

    @parametrisation(a=positive, b=positive)
    @staticmethod
    def by_powers(a: Node, b: Node) -> dict[str, Node]:
        return {"a": a, "b": b}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_rest(x: Node, p: Parameters) -> Node:
        """log(1 - x^a): at 0 its slope only counts where a is 1, and at 1 it is that of log(a (1 - x))."""
        inside = log1m_power(x, p.a)
        return where(x > 0.0, where(x < 1.0, inside, log(p.a) + log1p(-x)), log1p_at_zero(-x))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        powers = xlogy(p.a - 1.0, x) + times(p.b - 1.0, Kumaraswamy.log_rest(x, p))
        return powers + (log(p.a) + log(p.b))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return p.b * Kumaraswamy.log_rest(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return where(eq(x, 1.0), 1.0 - Kumaraswamy.end(x, p), -expm1(Kumaraswamy.log_sf(x, p)))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return where(eq(x, 1.0), Kumaraswamy.end(x, p), exp(Kumaraswamy.log_sf(x, p)))

    @staticmethod
    def end(x: Node, p: Parameters) -> Node:
        """0 with the slopes of (a (1 - x))^b at 1."""
        return where(p.b < 1.0, sqrt(1.0 - x), where(p.b > 1.0, 0.0, p.a * (1.0 - x)))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """That of b x^a where there is no more."""
        small = log(p.b) + p.a * log(x)
        inside = where((small < -40.0) & (p.a * log(x) < -40.0), small, log1mexp(Kumaraswamy.log_sf(x, p)))
        return where(eq(x, 1.0), -Kumaraswamy.end(x, p), inside)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the logarithm of a quotient where that itself may be no float with all digits."""
        decay = log1p(-q) / p.b
        tiny = (decay > -4.0 * format_of(q).smallest_normal) & (q > 0.0)
        return exp_of_log(where(tiny, log_quotient(q, p.b), log1mexp(decay)) / p.a)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return Kumaraswamy.power_mean(p.a, p.b)

    @staticmethod
    def power_mean(a: Node, b: Node) -> Node:
        """b B(1 + 1 / a, b), without the logarithm of b where 1 / a is small."""
        small = exp(lgamma_reciprocal(a) - lgamma_delta(1.0 + b, 1.0 / a))
        return where(a > 1.0, small, b * exp(lbeta(1.0 + 1.0 / a, b)))

    @staticmethod
    def variance(p: Parameters) -> Node:
        """The mean of the square, and what the logarithm of its ratio to the square of the mean leaves of that."""
        return Kumaraswamy.power_mean(0.5 * p.a, p.b) * -expm1(-log_spread(p.b, 1.0 / p.a))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        """The harmonic number of b is log(b) and what is left of it, which alone counts where b is large."""
        many, less = p.b > 4.0, 1.0 - 1.0 / p.a
        large = where(many, p.b, 4.0)
        left = where(many, EULER + 0.5 / large - digamma_lack(large), digamma_delta(const(1.0, p.b.dtype), p.b))
        return (1.0 - 1.0 / p.b) + less * left - log(p.a) - where(many, 1.0 / p.a, 1.0) * log(p.b)

    @staticmethod
    def mode(p: Parameters) -> Node:
        inside = exp(log((p.a - 1.0) / (p.a * p.b - 1.0)) / p.a)
        at_one = (p.b < 1.0) & (p.a >= 1.0) | (eq(p.b, 1.0) & (p.a > 1.0))
        return where((p.a > 1.0) & (p.b > 1.0), inside, where(at_one, const(1.0, p.a.dtype), 0.0))
