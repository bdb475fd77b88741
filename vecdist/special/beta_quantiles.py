"""Where the beta distribution function has a given value: the odds x / (1 - x), and what is made of them, of any size.

Derivatives in a probability come from the tail that is given, whose logarithm has a slope that next to nothing changes;
those in a and b are quotients of slopes.  Where a quantile overflows or underflows they are infinite or 0 with it.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, nan, sqrt
from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives.floating import INFINITY
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.beta_of_odds import (
    FORMS,
    LARGEST,
    ODDS,
    limit_at_0,
    log_beta_below_da,
    log_beta_below_db,
    log_beta_below_slope,
    log_beta_beyond_da,
    log_beta_beyond_db,
    log_beta_beyond_slope,
    point,
    power_of,
    scores_of_odds,
    tails,
)
from vecdist.special.beta_tails import parts_at
from vecdist.special.incomplete_gamma import first_guess as gamma_guess
from vecdist.special.incomplete_gamma import quantile as gamma_quantile
from vecdist.special.scalar import halley, log_tail, log_tail_slope, normal_quantile

MOST = log(LARGEST)
ENORMOUS, APART = 1e60, 1e30  # a shape from which on, and times the other, x times it is a gamma variable


def bell(a: float, b: float, p: float, q: float) -> float:
    """The logit of x near the root for a, b >= 1, Abramowitz and Stegun 26.5.22."""
    u, v = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h = 2.0 / (u + v)
    z = normal_quantile(min(p, q))
    if q < p:
        z = -z
    square = (z * z - 3.0) / 6.0
    w = z * sqrt(h + square) / h + (v - u) * (square + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return log(a / b) + 2.0 * w


def first_guess(a: float, b: float, p: float, q: float) -> float:
    """The logit of x near the root: by the leading term of either tail (DLMF 8.17.7), or by the nearest gamma or normal
    distribution.
    """
    least = min(a, b, 1e300)
    if a < 1.0 and b < 1.0:
        constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    else:
        constant = least * log(max(a, b) + 0.5 * max(least - 1.0, 0.0)) - lgamma(least)
    below = (log(p) + log(a) - constant) / a
    above = -(log(q) + log(b) - constant) / b
    if a >= 1.0 and b >= 1.0:
        u = bell(a, b, p, q)
        u = max(u, below) if p < q else min(u, above)
    elif a < 1.0 and b < 1.0:
        u = below if below < 0.0 else max(0.0, above)
    elif a < 1.0:
        u = below if below < -20.0 else log(max(gamma_guess(a, p, q), 1e-300)) - log(b)
    else:
        u = above if above > 20.0 else log(a) - log(max(gamma_guess(b, q, p), 1e-300))
    return u


def root(a: float, b: float, p: float, q: float) -> tuple[float, float]:
    """The odds where I is p = 1 - q, by the logarithm of the shorter tail, which is concave in logit(x).

    Also what their logarithm has beyond theirs: far out either tail is a power of them.
    """
    odds, extra = nan, 0.0
    if a > 0.0 and b > 0.0 and p >= 0.0 and q >= 0.0 and a + b < inf:
        odds = inf if q == 0.0 else 0.0
        if p > 0.0 and q > 0.0 and b > ENORMOUS and b > APART * a:
            odds = gamma_quantile(a, p, q) / b
        elif p > 0.0 and q > 0.0 and a > ENORMOUS and a > APART * b:
            odds = a / max(gamma_quantile(b, q, p), 1e-300)
        elif p > 0.0 and q > 0.0:
            odds = exp(max(-MOST, min(MOST, first_guess(a, b, p, q))))
            n, step = 0.0, 1.0
            while n < 40.0 and abs(step) > 1e-7:
                x, y, distance, _ = point(ODDS, a, b, 0.0, odds)
                lower, e, w, _, _, slope = parts_at(a, b, x, y, distance, 0.0, False, 0.0, 0.0)
                same = lower == (p < q)
                slope = log_tail_slope(same, e, w, slope)
                excess = log_tail(same, e, w) - log(min(p, q))
                step = halley(excess, slope, distance - slope)
                n += 1.0
                if odds >= LARGEST and step > 0.0:
                    extra, step = (log_tail(not lower, e, w) - (log1p(-p) if p < q else log(q))) / b, 0.0
                if odds <= 1.0 / LARGEST and step < 0.0:
                    extra, step = ((log(p) if p < q else log1p(-q)) - log_tail(lower, e, w)) / a, 0.0
                odds = max(1.0 / LARGEST, min(LARGEST, odds * exp(step)))
    return odds, extra


def quantile(form: float, a: float, b: float, unit: float, p: float, q: float) -> float:
    """The z of ``beta_of_odds`` where the tails are p and q."""
    odds, extra = root(a, b, p, q)
    z = odds
    if 0.0 < odds < inf:
        power = power_of(form)
        logarithm = log(odds) + extra
        if form > 0.5:
            z = odds * (b / a) if form < 1.5 else sqrt(odds * (b / a))
            z /= unit
            logarithm = (logarithm + (log(b) - log(a))) / power - log(unit)
        if extra != 0.0:
            z = inf if logarithm > 709.78 else exp(max(logarithm, -800.0))
    return z


def _odds_below(form: float, a: float, b: float, unit: float, p: float) -> float:
    return quantile(form, a, b, unit, p, 1.0 - p)


def _odds_beyond(form: float, a: float, b: float, unit: float, q: float) -> float:
    return quantile(form, a, b, unit, 1.0 - q, q)


def reciprocal_density(form: float, a: float, b: float, unit: float, p: float, q: float, z: float) -> float:
    """The derivative of z in p: where z is 0, of the density there, which may have a limit."""
    lower, e, w, _, _, slope = tails(form, a, b, unit, z)
    slope = log_tail_slope(lower == (p < q), e, w, slope) * power_of(form) * min(p, q)
    d = abs(z / slope) if slope != 0.0 else inf
    if not 0.0 < z < inf:
        density = limit_at_0(form, a, b, unit) if z == 0.0 else nan
        d = z if z != 0.0 else 1.0 / density if density > 0.0 else inf
    return d


def _odds_below_dp(form: float, a: float, b: float, unit: float, p: float, z: float) -> float:
    return reciprocal_density(form, a, b, unit, p, 1.0 - p, z)


def _odds_beyond_dq(form: float, a: float, b: float, unit: float, q: float, z: float) -> float:
    return -reciprocal_density(form, a, b, unit, 1.0 - q, q, z)


def _odds_da(form: float, a: float, b: float, unit: float, z: float) -> float:
    """The derivative in a of the z at which a tail has a given value."""
    _, _, _, slope, _, slope_x = tails(form, a, b, unit, z)
    d = -slope / slope_x * (z / power_of(form)) if slope_x != 0.0 else nan
    return d if 0.0 < z < inf else z


def _odds_db(form: float, a: float, b: float, unit: float, z: float) -> float:
    _, _, _, _, slope, slope_x = tails(form, a, b, unit, z)
    d = -slope / slope_x * (z / power_of(form)) if slope_x != 0.0 else nan
    return d if 0.0 < z < inf else -z


def _bent(given: tuple[Node, ...], shorter: Node, out: Node) -> tuple[Node, Node, Node]:
    """The derivatives in a, b and log(z) of 1 over the slope of the logarithm of a tail, times ``out``."""
    lower, upper = (
        [one(*given) for one in tail] for tail in (
            (log_beta_below_da, log_beta_below_db, log_beta_below_slope),
            (log_beta_beyond_da, log_beta_beyond_db, log_beta_beyond_slope),
        )
    )  # fmt: skip
    of_a, of_b, of_log = (
        -out * (score - where(shorter, below, beyond))
        for score, below, beyond in zip(scores_of_odds(*given), lower, upper, strict=True)
    )
    return of_a, of_b, of_log


def _turned(at: tuple[Node, ...], below: bool) -> tuple[Node | None, ...]:
    """The derivatives of a reciprocal density, of either sign, by the tail ``p`` that it is made of."""
    form, a, b, unit, p, z, out = at
    short = p < 0.5
    of_a, of_b, of_log = _bent((form, a, b, unit, z), short if below else ~short, out)
    of_unit = where(form < 0.5, 0.0, of_log / where(form < 0.5, 1.0, unit))
    return None, of_a, of_b, of_unit, -out / where(short, p, p - 1.0), (of_log + out) / z


def _mixed(name: str, place: int) -> Any:
    """The tangent in z of the derivative in a or b."""

    def partial(*at: Node) -> Node:
        *given, out = at
        scores = scores_of_odds(*given)
        return -(scores[place] + out * (scores[2] - 1.0) / given[-1])

    return in_last(name, partial)


def _of_quantile(at: tuple[Node, ...], rises: Any) -> tuple[Node | None, ...]:
    form, a, b, unit, p, z = at
    of_unit = where(form < 0.5, 0.0, -z / where(form < 0.5, 1.0, unit))
    given = form, a, b, unit, z
    return None, odds_da(*given), odds_db(*given), of_unit, rises(form, a, b, unit, p, z)


def _share_tangent(dots: tuple[Node | None, ...], z: Node, out: Node) -> Node | None:
    """One factor after the other; 0 where the tangent of the odds overflows."""
    (dot,), rest = dots, 1.0 / (1.0 + z)
    return None if dot is None else where(abs(dot) < INFINITY, (dot * rest) * rest, 0.0)


SHAPES, PROBABILITY = ((0.4, 30.0), (0.4, 30.0)), (0.02, 0.98)
BEFORE: Any = (FORMS, *SHAPES, (0.5, 2.0))
AT: Any = {"floating": True, "domain": (*BEFORE, (0.05, 20.0))}
OF: Any = {"floating": True, "domain": (*BEFORE, PROBABILITY)}
ALONG: Any = {"floating": True, "domain": (*BEFORE, PROBABILITY, (0.05, 20.0))}

odds_da: Primitive = primitive("beta_odds_da", 5, routine=_odds_da, tangent=_mixed("beta_odds_da", 0), **AT)
odds_db: Primitive = primitive("beta_odds_db", 5, routine=_odds_db, tangent=_mixed("beta_odds_db", 1), **AT)
odds_below_dp: Primitive = primitive(
    "beta_odds_below_dp", 6, routine=_odds_below_dp, partials=lambda *at: _turned(at, True), **ALONG,
)
odds_beyond_dq: Primitive = primitive(
    "beta_odds_beyond_dq", 6, routine=_odds_beyond_dq, partials=lambda *at: _turned(at, False), **ALONG,
)
odds_below: Primitive = primitive(  # z with beta_below(form, a, b, unit, z) = p
    "beta_odds_below", 5, routine=_odds_below, partials=lambda *at: _of_quantile(at, odds_below_dp), **OF,
)
odds_beyond: Primitive = primitive(  # z with beta_beyond(form, a, b, unit, z) = q
    "beta_odds_beyond", 5, routine=_odds_beyond, partials=lambda *at: _of_quantile(at, odds_beyond_dq), **OF,
)
share_of_odds: Primitive = primitive(  # x of the odds x / (1 - x)
    "share_of_odds", expand=lambda z: where(z < 1.0, z / (1.0 + z), 1.0 / (1.0 + 1.0 / z)), tangent=_share_tangent,
    floating=True, domain=((0.05, 20.0),),
)
