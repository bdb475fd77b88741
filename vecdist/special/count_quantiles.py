"""Quantiles of counts by bisection: routines, which both targets have as loops."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf, nan, sqrt

from vecdist.constraints import Constraint
from vecdist.graph.node import Node, Operand, const
from vecdist.primitives.table import Primitive, flat, primitive
from vecdist.special.beta_tails import parts as beta_parts
from vecdist.special.draws import whole
from vecdist.special.incomplete_gamma import parts as gamma_parts
from vecdist.special.marcum_tails import parts as marcum_parts
from vecdist.special.scalar import tail
from vecdist.special.staircase import settled

STEPS = 200  # more than any bisection of floats takes
MOST = 1e300  # quantiles above are infinite


def bisection(name: str, cdf: Callable[..., float], domain: tuple[tuple[float, float], ...]) -> Primitive:
    """The least k from ``least`` to ``most`` where cdf(k, a, b, c) reaches q: ``name`` of a, b, c, least, most and q.

    What is far from its bounds is found by squares and roots: no more steps than a hundred are taken up to ``MOST``.
    """

    def quantile(a: float, b: float, c: float, least: float, most: float, q: float) -> float:
        below, reached, k, steps = least - 0.5, most, least + 7.0, 0
        if most < inf:
            k = whole(0.5 * below + 0.5 * reached)
        while q < 1.0 and below < k < reached and steps < STEPS:
            if cdf(k, a, b, c) >= q:
                reached = k
            else:
                below = k
            if reached == inf:
                k = min(k * k, MOST)
            elif reached > 4.0 * below + 64.0:
                k = whole(sqrt(max(below, 1.0)) * sqrt(reached))
            else:
                k = whole(0.5 * below + 0.5 * reached)
            steps += 1
        return reached

    return primitive(name, 6, routine=quantile, partials=flat, floating=True, domain=domain)


def by_bisection(
    bisected: Primitive, q: Node, parameters: tuple[Operand, ...], support: Constraint, cdf: Callable[[Node], Node]
) -> Node:
    """The quantile by a ``bisection`` in float64, settled by the distribution function as it is in the dtype of q."""
    known = [parameter if isinstance(parameter, Node) else const(parameter, q.dtype) for parameter in parameters]
    ends = (end if isinstance(end, Node) else const(end, q.dtype) for end in (support.lower, support.upper))
    padding = [const(0.0, q.dtype)] * (3 - len(known))
    return settled(bisected(*known, *padding, *ends, q), q, cdf, support)


def _poisson_quantile(rate: float, q: float) -> float:
    """The least k where the distribution function gammaincc(k + 1, rate) reaches q < 1; infinite for any other q."""
    below, reached, k, steps = -1.0, inf, 0.0, 0
    if rate < inf:
        k = floor(rate + 3.0 * sqrt(rate))
    while q < 1.0 and reached - below > 1.0 and steps < STEPS:
        lower, e, w, _, _ = gamma_parts(k + 1.0, rate)
        if tail(not lower, e, w) >= q:
            reached = k
        else:
            below = k
        k = 2.0 * k + 1.0 if reached == inf else floor(0.5 * (below + reached))
        steps += 1
    return reached


def _beta_count_quantile(sign: float, r: float, odds: float, q: float) -> float:
    """The least k where I_x(r - k, k + 1) with a ``sign`` of 1, or I_x(r, k + 1) with 0, reaches q; x has ``odds``.

    With the sign there are no more than r; without it, infinite for q >= 1.
    """
    below, reached, k, steps = -1.0, inf, 8.0, 0
    x, y = 1.0, 0.0
    if odds < inf:
        x, y = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    if odds == inf:
        reached = 0.0
    elif sign > 0.0:
        reached = r
        k = floor(r * y)
    while q < 1.0 and reached - below > 1.0 and steps < STEPS:
        lower, e, w, _, _, _ = beta_parts(r - sign * k, k + 1.0, x, y)
        if tail(lower, e, w) >= q:
            reached = k
        else:
            below = k
        k = 2.0 * k + 1.0 if reached == inf else floor(0.5 * (below + reached))
        steps += 1
    return reached



def _skellam_quantile(rate1: float, rate2: float, q: float) -> float:
    """The least k where the distribution function, by Marcum's functions, reaches q; infinite for q = 0 and q = 1."""
    known = 0.0 < rate1 < 1e15 and 0.0 < rate2 < 1e15  # beyond these k + 1 is no other float
    below, reached, k, wide, steps = -inf, inf, 0.0, 1.0, 0
    if known:
        k = floor(rate1 - rate2)
        wide = 1.0 + sqrt(rate1 + rate2)
    if not known:
        reached = nan
    elif q <= 0.0:
        reached = -inf
    while known and 0.0 < q < 1.0 and reached - below > 1.0 and steps < STEPS:
        m, x, y = k + 1.0, rate2, rate1
        if k < 0.0:
            m, x, y = -k, rate1, rate2
        lower, e, w, _, _, _ = marcum_parts(m, x, y)
        if tail(lower == (k < 0.0), e, w) >= q:
            reached = k
        else:
            below = k
        if below == -inf:
            k = floor(reached - wide)
        elif reached == inf:
            k = floor(below + wide)
        else:
            k = floor(0.5 * (below + reached))
        wide *= 2.0
        steps += 1
    return reached


poisson_quantile: Primitive = primitive(
    "poisson_quantile", 2, routine=_poisson_quantile, partials=flat, floating=True,
    domain=((0.5, 40.0), (0.02, 0.98)),
)
beta_count_quantile: Primitive = primitive(
    "beta_count_quantile", 4, routine=_beta_count_quantile, partials=flat, floating=True,
    domain=((0.0, 0.0), (0.5, 12.0), (0.2, 5.0), (0.02, 0.98)),
)
skellam_quantile: Primitive = primitive(
    "skellam_quantile", 3, routine=_skellam_quantile, partials=flat, floating=True,
    domain=((0.5, 12.0), (0.5, 12.0), (0.02, 0.98)),
)
