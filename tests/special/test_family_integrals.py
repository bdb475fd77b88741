"""Tails and quantiles of families whose primitives are formulas of several functions: by balls."""

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb
from test_family_masses import angle
from test_family_tails import amplified
from ulps import DTYPES, Case, assert_accurate, at_least_one, evaluate, one, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)


def normal(z: arb) -> arb:
    return (-z / arb(2).sqrt()).erfc() / 2


def wald(x: arb, mean: arb, shape: arb) -> arb:
    root = (shape / x).sqrt()
    return normal(root * (x / mean - 1)) + (2 * shape / mean).exp() * normal(-root * (x / mean + 1))


def chromatographic(x: arb, loc: arb, scale: arb, rate: arb) -> arb:
    z, ratio = (x - loc) / scale, rate * scale
    return normal(z) - (ratio**2 / 2 - ratio * z).exp() * normal(z - ratio)


def of_power(power: arb, high: arb, rest: arb) -> arb:
    return (power * (high + rest)).exp().gamma_upper(1 / power, 1)


def of_mean(power: arb, high: arb, rest: arb) -> arb:
    return ((power * (high + rest)).exp() / power).gamma_upper(1 / power, 1)


def of_argument(shape: arb, high: arb, rest: arb) -> arb:
    return (high + rest).exp().gamma_upper(shape, 1)


def moved(shape: arb, rest: arb, high: arb) -> arb:
    """The slope in the shape, by differences, for an argument that is the shape times exp(high + rest)."""
    step, x = shape * arb(2) ** -200, shape * (high + rest).exp()
    above, below = (x.gamma_upper(shape + each, 1).log() for each in (step, -step))
    return (above - below) / (2 * step)


def rest_of(cdf: Callable[..., arb]) -> Callable[..., arb]:
    return lambda *at: 1 - cdf(*at)


def tails(name: str, formula: Callable[..., arb], ranges: list, bound: float) -> list[Case]:
    """A tail and its logarithm, of which the value next to 0 has the unit of 1."""
    formula = precisely(formula)
    logarithm = precisely(lambda *at: formula(*at).log())
    return [
        Case(name, formula, ranges, ranges, (bound, bound), amplified(formula)),
        Case(f"log_{name}", logarithm, ranges, ranges, (bound, bound), at_least_one),
    ]


def angle_quantile(q: arb, loc: arb, scale: arb, low: arb, high: arb) -> arb:
    start = ((low - loc) / scale).atan()
    return loc + scale * (start + q * angle(loc, scale, low, high)).tan()


def lindley_quantile(q: arb, shape: arb) -> arb:
    """Jodrá (2010), Computer generation of random variables with Lindley or Poisson-Lindley distribution, by W_{-1}."""
    return -1 - 1 / shape - (-(1 + shape) * (1 - q) * (-1 - shape).exp()).lambertw(-1) / shape


def bell(z: arb) -> arb:
    return (-z * z / 2).exp()


def truncated_normal(place: str) -> Callable[..., arb]:
    """The quantile of a truncated normal distribution, less its nearer bound, or a slope of it."""

    def formula(q: arb, loc: arb, scale: arb, low: arb, high: arb) -> arb:
        start, end = (low - loc) / scale, (high - loc) / scale
        mass = normal(end) - normal(start)
        z = arb(2).sqrt() * (2 * (normal(start) + q * mass) - 1).erfinv()
        first, last = ((1 - q) * bell(start) / bell(z), q * bell(end) / bell(z))
        return {
            "x": loc + scale * z, "offset": loc + scale * z - (low if q < 0.5 else high),
            "q": (2 * arb.pi()).sqrt() * mass * scale / bell(z), "loc": 1 - (first + last),
            "scale": z - (start * first + end * last), "low": first, "high": last,
        }[place]

    return precisely(formula)


SCALES = [((0.05, 0.95), (-1.0, 1.0), (0.5, 2.0), (-4.0, -1.5), (1.5, 4.0))]
NARROW = [((0.05, 0.95), (-1.0, 1.0), (0.5, 2.0), (5.0, 5.01), (5.02, 5.03))]
BOUNDED = [*SCALES, *NARROW]
WALD = [((0.1, 10.0), (0.3, 3.0), (0.3, 3.0)), ((5.0, 40.0), (0.3, 3.0), (0.3, 3.0))]
SUMS = [((-3.0, 3.0), (-1.0, 1.0), (0.5, 2.0), (0.3, 3.0)), ((4.0, 20.0), (-1.0, 1.0), (0.5, 2.0), (0.3, 3.0))]
POWERS = [((0.3, 5.0), (-1.5, 0.3), (-1e-23, 1e-23)), ((0.3, 2.0), (0.3, 1.5), (-1e-23, 1e-23))]
ARGUMENTS = [((0.3, 40.0), (-2.0, 4.0), (-1e-23, 1e-23)), ((0.01, 1.0), (4.0, 9.0), (-1e-23, 1e-23))]
MOVES = [((0.3, 40.0), (-1e-23, 1e-23), (-2.0, 3.0)), ((0.01, 40.0), (-1e-23, 1e-23), (3.0, 20.0))]
ODDS = one((1e-30, 1.0), (1.0, 1e30))
SECTORS = [((0.05, 0.95), (-2.0, 2.0), (0.5, 3.0), (-4.0, -0.5), (0.5, 4.0))]
SLOPES = [((0.02, 0.98), (-9.0, -1e-3)), ((0.02, 0.98), (1e-3, 9.0)), ((1e-20, 0.02), (-9.0, -1e-9))]
SHAPES = [((0.02, 0.98), (0.05, 30.0)), ((1e-12, 0.02), (0.05, 30.0))]
CASES = [
    *tails("inverse_gaussian_below", wald, WALD, 4.0),
    *tails("inverse_gaussian_beyond", rest_of(wald), WALD, 4.0),
    *tails("ex_gaussian_below", chromatographic, SUMS, 6.0),
    *tails("ex_gaussian_beyond", rest_of(chromatographic), SUMS, 6.0),
    *tails("generalized_normal_tail", of_power, POWERS, 6.0),
    *tails("exponential_power_tail", of_mean, POWERS, 6.0),
    tails("gamma_beyond_argument", of_argument, ARGUMENTS, 6.0)[1],
    Case("log_gamma_beyond_moved", precisely(moved), MOVES, MOVES, (12.0, 12.0), at_least_one),
    Case("share_of_odds", lambda z: z / (1 + z), ODDS, ODDS, (1.5, 1.5)),
    Case("angle_quantile", precisely(angle_quantile), SECTORS, SECTORS, (4.0, 4.0),
         lambda q, loc, scale, low, high: abs(loc) + scale),
    Case("continuous_bernoulli_quantile", precisely(lambda q, logit: (q * logit.expm1()).log1p() / logit), SLOPES,
         SLOPES, (4.0, 4.0)),
    Case("truncated_normal_quantile", truncated_normal("x"), BOUNDED, BOUNDED, (4.0, 4.0),
         lambda q, loc, scale, low, high: abs(loc) + scale),
    Case("truncated_normal_offset", truncated_normal("offset"), BOUNDED, BOUNDED, (8.0, 8.0)),
    *(Case(f"truncated_normal_quantile_d{place}", truncated_normal(place), BOUNDED, BOUNDED, (12.0, 12.0))
      for place in ("q", "low", "high")),
    *(Case(f"truncated_normal_quantile_d{place}", truncated_normal(place), SCALES, SCALES, (12.0, 12.0), at_least_one)
      for place in ("loc", "scale")),
    Case("lindley_quantile", precisely(lindley_quantile), SHAPES, SHAPES, (4.0, 4.0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 60)


@pytest.mark.parametrize("shape", [1.0, 2.0, 5.0])
def test_slopes_in_whole_shapes(shape: float) -> None:
    """Terms of the expansion are 0 from one on, their slopes are not."""
    for high in (2.1, 3.0, 4.0, 6.0, 12.0):
        at = [np.array([each]) for each in (shape, 0.0, high)]
        found = evaluate("log_gamma_beyond_moved", at)[0]
        assert found == pytest.approx(float(precisely(moved)(arb(shape), arb(0), arb(high))), rel=3e-15)
