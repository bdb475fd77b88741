"""The continuous Bernoulli distribution."""

from vecdist.constraints import Constraint, finite, open_unit_interval, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log
from vecdist.primitives.floating import polynomial
from vecdist.primitives.logarithms import logit
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import expm1_over, log1p_over

# The Bernoulli numbers of even order n from 2 on, over n!, DLMF 24.2.1 and table 24.2.3
BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
    854513 / 155112100433309859840000,
)


def _mean(logit: Node) -> Node:
    """1 / (1 - exp(-l)) - 1 / l, by its series in the Bernoulli numbers where l is small, DLMF 24.2.1."""
    small = abs(logit) < 1.0
    near, far = where(small, logit, 0.0), where(small, 1.0, logit)
    return where(small, 0.5 + near * polynomial(square(near), BERNOULLI), -1.0 / expm1(-far) - 1.0 / far)


def _log_growth(logit: Node) -> Node:
    """The integral of that series where l is small, log((1 - exp(-|l|)) / |l|) elsewhere."""
    small, slope = abs(logit) < 1.0, -abs(logit)
    v = square(where(small, logit, 0.0))
    series = v * polynomial(v, tuple(c / (2 * k + 2) for k, c in enumerate(BERNOULLI)))
    return where(small, series, log(expm1_over(slope, const(1.0, logit.dtype))))


def _log_growth_slope(logit: Node) -> Node:
    """1 / (exp(|l|) - 1) - 1 / |l|, with the sign of l, or that series."""
    small, sign = abs(logit) < 1.0, where(logit > 0.0, const(1.0, logit.dtype), -1.0)
    near, far = where(small, logit, 0.0), where(small, 1.0, abs(logit))
    return where(small, near * polynomial(square(near), BERNOULLI), sign * (1.0 / expm1(far) - 1.0 / far))


# log((exp(l) - 1) / l), less l / 2 for l between -1 and 1 and the positive part of l elsewhere
log_growth: Primitive = primitive(
    "continuous_bernoulli_log_growth", expand=_log_growth, partials=lambda logit, out: (_log_growth_slope(logit),),
    floating=True, domain=((1.1, 30.0),),
)


def _lower(x: Node, left: Node, logit: Node) -> Node:
    """The distribution function at x = 1 - ``left``."""
    slope = -abs(logit)
    ratio = expm1_over(slope, x) / expm1_over(slope, const(1.0, x.dtype))
    return where(logit > 0.0, exp(slope * left), 1.0) * ratio


def _tail_partials(x: Node, logit: Node, out: Node) -> tuple[Node, Node]:
    """The density; and the product of both tails and of the derivative of the logarithm of their quotient."""
    slope, left = -abs(logit), 1.0 - x
    density = exp(slope * where(logit > 0.0, left, x)) / expm1_over(slope, const(1.0, x.dtype))
    spread = _lower(x, left, logit) * _lower(left, x, -logit)
    return density, -spread * (x * _mean(-(logit * x)) + left * _mean(logit * left))


def _quantile(q: Node, logit: Node) -> Node:
    steep = logit > 80.0  # exp(logit) may overflow, and the quantile is not small
    slope, at = where(steep, -logit, logit), where(steep, 1.0 - q, q)
    inside = log1p_over(slope, at * expm1_over(slope, const(1.0, q.dtype)), const(0.0, q.dtype))
    return where(steep, 1.0 - inside, inside)


def _quantile_partials(q: Node, logit: Node, out: Node) -> tuple[Node, Node]:
    """1 over the density, and less that in the logit of the distribution function."""
    slope, left = -abs(logit), 1.0 - out
    sparsity = expm1_over(slope, const(1.0, q.dtype)) * exp(-slope * where(logit > 0.0, left, out))
    moved = out * _mean(-(logit * out)) + left * _mean(logit * left)
    return sparsity, q * (1.0 - q) * sparsity * moved


bernoulli_quantile: Primitive = primitive(  # x with bernoulli_cdf(x, l) = q
    "continuous_bernoulli_quantile", 2, expand=_quantile, partials=_quantile_partials, floating=True,
    domain=((0.02, 0.98), (-3.0, 3.0)),
)
bernoulli_cdf: Primitive = primitive(  # (exp(l x) - 1) / (exp(l) - 1)
    "continuous_bernoulli_cdf", 2, expand=lambda x, logit: _lower(x, 1.0 - x, logit), partials=_tail_partials,
    floating=True, domain=((0.1, 0.9), (-3.0, 3.0)),
)
bernoulli_sf: Primitive = primitive(  # 1 less that
    "continuous_bernoulli_sf", 2, expand=lambda x, logit: _lower(1.0 - x, x, -logit), floating=True,
    partials=lambda x, logit, out: tuple(-slope for slope in _tail_partials(x, logit, out)),
    domain=((0.1, 0.9), (-3.0, 3.0)),
)


class ContinuousBernoulli(Distribution):
    """Continuous Bernoulli distribution, f(x) = c p^x (1 - p)^(1 - x) for 0 <= x <= 1, with c = l / tanh(l / 2).

    Written ``ContinuousBernoulli(p)`` or ``ContinuousBernoulli(logit=)``; l is logit = log(p / (1 - p)).
    Loaiza-Ganem and Cunningham (2019), The continuous Bernoulli, Advances in Neural Information Processing Systems 32.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ContinuousBernoulli(0.25), np.array([0.0, 1.0, 2.0]))).round(4)
    array([ 0.4995, -0.5991,    -inf])
    """

    @parametrisation(p=open_unit_interval)
    @staticmethod
    def by_probability(p: Node) -> dict[str, Node]:
        return {"logit": logit(p)}

    @parametrisation(logit=finite)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        return {"logit": logit}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """x l - log((exp(l) - 1) / l), of x - 1/2 where l is small, or of x - 1 where it is large: no overflow."""
        middle = where(abs(p.logit) < 1.0, const(0.5, x.dtype), where(p.logit > 0.0, const(1.0, x.dtype), 0.0))
        return p.logit * (x - middle) - log_growth(p.logit)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return bernoulli_cdf(x, p.logit)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return bernoulli_sf(x, p.logit)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the shorter tail."""
        low = q < 0.5
        nearer = bernoulli_quantile(where(low, q, 1.0 - q), where(low, p.logit, -p.logit))
        return where(low, nearer, 1.0 - nearer)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return _mean(p.logit)

    @staticmethod
    def variance(p: Parameters) -> Node:
        """1 / l^2 - 1 / (4 sinh(l / 2)^2), by the derivative of the series of the mean where l is small."""
        small = abs(p.logit) < 0.5
        near, far = where(small, p.logit, 0.0), where(small, 1.0, p.logit)
        series = polynomial(square(near), tuple((2 * k + 1) * c for k, c in enumerate(BERNOULLI)))
        return where(small, series, 1.0 / square(far) - exp(-abs(far)) / square(expm1(-abs(far))))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        slope = -abs(p.logit)
        return log(expm1_over(slope, const(1.0, slope.dtype))) - slope * _mean(slope)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return where(p.logit > 0.0, const(1.0, p.logit.dtype), 0.0)
