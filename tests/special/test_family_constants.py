"""Normalising constants of families, next to their zeros and to those of their derivatives."""

import pytest
from flint import acb, arb
from ulps import DTYPES, Case, assert_accurate, one, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)


def log_growth(logit: arb) -> arb:
    whole = (logit.expm1() / logit).log()
    return whole - logit / 2 if abs(logit) < 1 else whole - max(logit, arb(0))


def log_meeting(order: arb, rate1: arb, rate2: arb) -> arb:
    return acb(2 * (rate1 * rate2).sqrt()).bessel_i(acb(order)).real.log() - rate1 - rate2


def size_of_meeting(order: arb, rate1: arb, rate2: arb) -> arb:
    """That of its terms, with that of which log_ive knows its value."""
    return abs(log_meeting(order, rate1, rate2) + rate1 + rate2) + rate1 + rate2 + 1


LOGITS = one((1e-9, 0.99), (-0.99, -1e-9), (1.01, 80.0), (-80.0, -1.01))
POWERS = one((1e-3, 0.1), (0.1, 2.0), (2.0, 1e4))
AREAS = [((1e-3, 1e3), (1e-3, 1e3), (-1e-23, 1e-23)), ((0.999, 1.001), (0.999, 1.001), (-1e-23, 1e-23))]
RATES = [((0.1, 30.0), (1e-3, 1e3), (1e-3, 1e3))]
CASES = [
    Case("continuous_bernoulli_log_growth", precisely(log_growth), LOGITS, LOGITS, (4.0, 4.0)),
    Case("lgamma_reciprocal", precisely(lambda a: (1 + 1 / a).lgamma()), POWERS, POWERS, (4.0, 4.0)),
    Case("log_area", precisely(lambda x, width, rest: (x * (width + rest)).log()), AREAS, AREAS, (2.0, 2.0)),
    Case("log_less_one", precisely(lambda x: x.log() - 1), one((1e-9, 1e9), (2.6, 2.8)), one((1e-9, 1e9), (2.6, 2.8)),
         (4.0, 4.0), lambda x: arb("0.2")),  # digamma is beside it
    Case("log_over", precisely(lambda x: x.log() / x), one((1e-9, 1e9)), one((1e-9, 1e9)), (2.0, 2.0)),
    Case("skellam_log_meeting", precisely(log_meeting), RATES, RATES, (4.0, 4.0), size_of_meeting),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)
