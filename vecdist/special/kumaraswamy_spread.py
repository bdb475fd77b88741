"""How far the mean of the square of a Kumaraswamy variable is from the square of its mean, without a difference."""

from __future__ import annotations

from math import exp, expm1, inf, log, nan

from vecdist.graph.node import Node
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.gamma_functions import trigamma

FINE, DEEP, LAST = 0.2, 20.0, 4.0  # steps in the logarithm of t, how far below the least scale, and the last


def _spreads(b: float, u: float) -> tuple[float, float, float]:
    """The integral of (1 - exp(-b t)) (1 - exp(-u t))^2 exp(-t) / (t (1 - exp(-t))) over t > 0, and its derivatives.

    That is log(m(2 u) / m(u)^2) of the moments m(u) = b B(1 + u, b), of a uniform variable to the power 1/b less than
    1: by Malmsten's formula, DLMF 5.9.18, for each lgamma.  No term is negative; steps in log t are all alike.
    """
    valid = b > 0.0 and u > 0.0 and b < inf and u < inf
    s = -log(max(1.0, b, u)) - DEEP if valid else LAST
    total, of_b, of_u = (0.0, 0.0, 0.0) if valid else (nan, nan, nan)
    while s < LAST:
        t = exp(s)
        weight = exp(-t) / -expm1(-t)
        more, rise = -expm1(-b * t), -expm1(-u * t)
        total += weight * more * (rise * rise)
        of_b += weight * (1.0 - more) * t * (rise * rise)
        of_u += weight * more * (2.0 * rise * (1.0 - rise)) * t
        s += FINE
    return FINE * total, FINE * of_b, FINE * of_u


def _spread(b: float, u: float) -> float:
    total, _, _ = _spreads(b, u)
    return total


def _spread_in_b(b: float, u: float) -> float:
    _, of_b, _ = _spreads(b, u)
    return of_b


def _spread_in_u(b: float, u: float) -> float:
    _, _, of_u = _spreads(b, u)
    return of_u


log_spread: Primitive = primitive(
    "kumaraswamy_log_spread", 2, routine=_spread, partials=lambda b, u, out: (spread_in_b(b, u), spread_in_u(b, u)),
    floating=True, domain=((0.05, 20.0), (0.05, 20.0)),
)


def _slopes_in_b(b: Node, u: Node, out: Node) -> tuple[Node, Node]:
    c = 1.0 + b
    near, far = trigamma(c + u), trigamma(c + 2.0 * u)
    return 2.0 * near - far - trigamma(c), 2.0 * (near - far)


def _slopes_in_u(b: Node, u: Node, out: Node) -> tuple[Node, Node]:
    c, one = 1.0 + b, 1.0 + u
    near, far = trigamma(c + u), trigamma(c + 2.0 * u)
    return 2.0 * (near - far), 4.0 * (trigamma(one + u) - far) - 2.0 * (trigamma(one) - near)


spread_in_b: Primitive = primitive(
    "kumaraswamy_spread_in_b", 2, routine=_spread_in_b, partials=_slopes_in_b,
    floating=True, domain=((0.05, 20.0), (0.05, 20.0)),
)
spread_in_u: Primitive = primitive(
    "kumaraswamy_spread_in_u", 2, routine=_spread_in_u, partials=_slopes_in_u,
    floating=True, domain=((0.05, 20.0), (0.05, 20.0)),
)
