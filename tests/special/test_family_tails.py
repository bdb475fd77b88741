"""Tails that distribution functions are made of: by balls, with arguments as families give them."""

from collections.abc import Callable
from functools import partial

import pytest
from flint import arb
from test_family_masses import SHARES, angle
from ulps import DTYPES, Case, assert_accurate, at_least_one, one, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)


def share_between(x: arb, low: arb, high: arb) -> arb:
    return (x - low) / (high - low)


def left_share(ahead: arb, rest: arb, scale: arb) -> arb:
    return (scale + ahead + rest) / scale


def kernel_tail(left: arb, power: int) -> arb:
    return (left / 2).beta_lower(arb(power + 1), arb(power + 1), 1)


def cosine_tail(left: arb) -> arb:
    return (left - (arb.pi() * left).sin() / arb.pi()) / 2


def falling_tail(x: arb, low: arb, high: arb, peak: arb) -> arb:
    return (high - x) ** 2 / (high - low) / (high - peak)


def lower(x: arb, logit: arb) -> arb:
    return (x * logit).expm1() / logit.expm1()


def angle_share(loc: arb, scale: arb, low: arb, x: arb, high: arb) -> arb:
    return angle(loc, scale, low, x) / angle(loc, scale, low, high)


def gamma_lower(a: arb, x: arb, rest: arb) -> arb:
    return (x + rest).gamma_lower(a, 1)


def gamma_upper(a: arb, x: arb, rest: arb) -> arb:
    return (x + rest).gamma_upper(a, 1)


def amplified(tail: Callable[..., arb]) -> Callable[..., arb]:
    """A tail times its logarithm: it is the exponential of that."""
    return lambda *at: tail(*at) * abs(tail(*at).log())


NONE = (-1e-23, 1e-23)
LEFT = one((1e-9, 0.5), (0.5, 1.0))
BETWEEN = [((0.1, 0.9), (-3.0, -0.1), (1.0, 3.0)), ((5.01, 5.02), (5.0, 5.005), (5.03, 9.0))]
AHEAD = [((-1.0, -1e-3), NONE, (1.1, 30.0)), ((-1.99, -1.0), NONE, (2.0, 2.1))]
FALLING = [((0.5, 0.9), (-3.0, -0.1), (1.0, 3.0), (0.1, 0.4)), ((0.3, 0.5), (0.1, 0.2), (1.0, 30.0), (0.201, 0.21))]
SLOPES = [((0.01, 0.99), (-9.0, -1e-3)), ((0.01, 0.99), (1e-3, 9.0)), ((1e-20, 0.01), (-9.0, -1e-9))]
POINTS, POINTS_SINGLE = ([((20.0, 40.0), (20.0, 40.0), (-rest, rest))] for rest in (1.7e-15, 9e-7))
CASES = [
    Case("share_between", precisely(share_between), BETWEEN, BETWEEN, (4.0, 4.0)),
    Case("left_share", precisely(left_share), AHEAD, AHEAD, (2.0, 2.0)),
    *(Case(f"kernel_tail_{k}", precisely(partial(kernel_tail, power=k)), LEFT, LEFT, (5.0, 5.0)) for k in (1, 2, 3)),
    Case("cosine_tail", precisely(cosine_tail), LEFT, LEFT, (5.0, 5.0)),
    Case("falling_tail", precisely(falling_tail), FALLING, FALLING, (4.0, 4.0)),
    Case("falling_mass", precisely(lambda *at: 1 - falling_tail(*at)), FALLING, FALLING, (4.0, 4.0)),
    Case("continuous_bernoulli_cdf", precisely(lower), SLOPES, SLOPES, (8.0, 8.0)),
    Case("continuous_bernoulli_sf", precisely(lambda x, logit: 1 - lower(x, logit)), SLOPES, SLOPES, (8.0, 8.0)),
    Case("angle_share", precisely(angle_share), SHARES, SHARES, (6.0, 6.0)),
    Case("gammainc_of_parts", precisely(gamma_lower), POINTS, POINTS_SINGLE, (8.0, 8.0), amplified(gamma_lower)),
    Case("gammaincc_of_parts", precisely(gamma_upper), POINTS, POINTS_SINGLE, (8.0, 8.0), amplified(gamma_upper)),
    Case("log_gammainc_of_parts", precisely(lambda *at: gamma_lower(*at).log()), POINTS, POINTS_SINGLE, (8.0, 8.0),
         at_least_one),
    Case("log_gammaincc_of_parts", precisely(lambda *at: gamma_upper(*at).log()), POINTS, POINTS_SINGLE, (8.0, 8.0),
         at_least_one),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)
