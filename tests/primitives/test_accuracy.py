"""Accuracy of the primitives against ball arithmetic (python-flint), in units in the last place, and their edges."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, at_least_one, both, evaluate, one, precisely

from vecdist.primitives import PRIMITIVES

TESTS = Path(__file__).parent.parent


def log_gamma_delta(x: arb, d: arb) -> arb:
    return (x + d).lgamma() - x.lgamma()


def digamma_delta(x: arb, d: arb) -> arb:
    return (x + d).digamma() - x.digamma()


def digamma_gap(x: arb, d: arb) -> arb:
    return digamma_delta(x, d) - (d / x).log1p()


def log_beta_peak(a: arb, b: arb) -> arb:
    return a * (a / (a + b)).log() + b * (b / (a + b)).log() - log_beta(a, b)


def size_of_peak(a: arb, b: arb) -> arb:
    """What a shift of 3 takes from a sum, or the logarithm of the beta function where one of them is few."""
    return arb(4).max(abs(log_beta(a, b))) if min(a, b) < 3 else arb(4)


def polygamma(order: int) -> Callable[[arb], arb]:
    """(-1)**(m + 1) m! zeta(m + 1, x), DLMF 25.11.12."""
    return lambda x: (-1) ** (order + 1) * arb(order + 1).gamma() * arb(order + 1).zeta(x)


def log_beta(a: arb, b: arb) -> arb:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def shift_term(*_: arb) -> arb:
    """log(3 * 4 * 5): the largest logarithm that a shift of 3 takes from a sum."""
    return arb(4)


def log_term(x: arb, _: arb) -> arb:
    """The size of lgamma(x) near 0, or that of the shift."""
    return (-x.log()).max(arb(4))


def farther_from_1(a: arb, b: arb) -> arb:
    return abs(a - 1).max(abs(b - 1))


def distance(x: arb, d: arb) -> arb:
    """The size of the terms that cancel where lgamma has its least value, d log(x + 3) and d / x."""
    return d * ((x + 3).log() + 1 / x)


def log_multinomial(k: arb, m: arb) -> arb:
    return (k + m + 1).lgamma() - (k + 1).lgamma() - (m + 1).lgamma()


def log_choose(n: arb, k: arb) -> arb:
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


def stirling(x: arb) -> arb:
    return x.lgamma() - (x - arb(1) / 2) * x.log() + x - (2 * arb.pi()).log() / 2


def digamma_lack(x: arb) -> arb:
    return x.log() - 1 / (2 * x) - x.digamma()


def reciprocal_at_least(x: arb) -> arb:
    """The size of the terms that cancel between 1 and 3."""
    return arb(1).max(1 / x)


def trigamma_rise(x: arb) -> arb:
    return polygamma(1)(x) - 1 / x - 1 / (2 * x * x)


def cube_root(x: arb) -> arb:
    return x.sgn() * (abs(x).log() / 3).exp()


NEAR = (1e-6, 1.0)
ALL = both((1e-300, 1e-6), NEAR, (1.0, 700.0))
ALL_SINGLE = both((1e-36, 1e-6), NEAR, (1.0, 87.0))
WIDE = one((1e-300, 1e-6), NEAR, (0.9, 1.1), (1.0, 1e6), (1e6, 1e300))
WIDE_SINGLE = one((1e-36, 1e-6), NEAR, (0.9, 1.1), (1.0, 1e6), (1e6, 1e36))
NEXT_TO_ZEROS = one((0.5, 1.0), (1.0, 2.0), (1.4, 1.5), (1.99, 2.01), (2.0, 2.5), (2.9, 3.1))
SUBNORMAL, SUBNORMAL_SINGLE = (5e-324, 2e-308), (1.5e-45, 1e-38)
ABOVE_MINUS_ONE = both((1e-300, 1e-6), (1e-6, 0.9)) + one((-0.9999999, -0.5), (1.0, 1e6), (1e6, 1e300))
ABOVE_MINUS_ONE_SINGLE = both((1e-36, 1e-6), (1e-6, 0.9)) + one((-0.999999, -0.5), (1.0, 1e6), (1e6, 3e38))
ALL_SIZES = both((1e-300, 1e-6), NEAR, (1.0, 1e3), (1e3, 1.7e308), SUBNORMAL)
ALL_SIZES_SINGLE = both((1e-36, 1e-6), NEAR, (1.0, 1e3), (1e3, 3e38), SUBNORMAL_SINGLE)
LEGS = [((-30.0, 30.0),) * 2, ((1e-6, 1.0), (-1e6, -1e-3)), ((-1e150, -1e-150), (1e-150, 1e150))]
LEGS_SINGLE = [*LEGS[:2], ((-1e18, -1e-15), (1e-18, 1e18))]
ANGLES = both((1e-300, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**20))
ANGLES_SINGLE = both((1e-36, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**13))
PAIRS = [((1e-6, 1e6), (1e-2, 1e6)), ((1e-3, 10.0), (1e-2, 10.0))]
PAIRS_SINGLE = PAIRS
CLOSE = [((1e-6, 3.0), (1e-12, 1.0)), ((2.9, 3.1), (1e-9, 4.0)), ((3.0, 1e6), (1e-12, 1.0))]
LARGE = [((1e4, 1e14), (1e-2, 1e2)), ((1e3, 1e15), (1e3, 1e15))]
LARGE_SINGLE = [((1e3, 1e7), (1e-2, 1e2)), ((1e3, 1e7), (1e3, 1e7))]
COUNTS = [((1e-6, 1e6), (2.0, 1e6)), ((1e-3, 10.0), (2.0, 12.0))]
NEXT_TO_1 = [((0.76, 1.24), (0.76, 1.24)), ((0.999, 1.001), (0.76, 1.24)), ((1.0, 1.000001), (0.9999, 1.0))]
QUOTIENTS = [((-30.0, 30.0), (0.1, 30.0)), ((-30.0, 30.0), (-30.0, -0.1)), ((1e-300, 1e300), (1e-300, 1e300)),
             ((1e15, 1e17), (0.5, 9.0))]
QUOTIENTS_SINGLE = [*QUOTIENTS[:2], ((1e-36, 1e36), (1e-36, 1e36)), ((1e6, 1e8), (0.5, 9.0))]

CASES = [
    Case("exp", arb.exp, ALL + one((-745.0, -708.0), (709.0, 709.78)),
         ALL_SINGLE + one((-103.9, -87.0), (88.0, 88.7)), (1.5, 1.5)),
    Case("shifted_exp", arb.exp, one((-708.0, -1.0), (-1.0, -1e-6), (-1e-6, -1e-300)),
         one((-87.0, -1.0), (-1.0, -1e-6), (-1e-6, -1e-36)), (1.5, 1.5)),
    Case("exp2", lambda x: (x * arb(2).log()).exp(), ALL + one((-1074.0, -1000.0), (1000.0, 1023.9)),
         ALL_SINGLE + one((-149.0, -120.0), (120.0, 127.9)), (1.5, 1.5)),
    Case("expm1", arb.expm1, ALL + one((709.0, 709.78)), ALL_SINGLE + one((88.0, 88.7)), (2.0, 2.0)),
    Case("log", arb.log, WIDE + one(SUBNORMAL), WIDE_SINGLE + one(SUBNORMAL_SINGLE), (1.5, 1.5)),
    Case("log2", lambda x: x.log() / arb(2).log(), WIDE + one(SUBNORMAL),
         WIDE_SINGLE + one(SUBNORMAL_SINGLE), (2.0, 2.0)),
    Case("log10", lambda x: x.log() / arb(10).log(), WIDE + one(SUBNORMAL),
         WIDE_SINGLE + one(SUBNORMAL_SINGLE), (2.5, 2.5)),
    Case("log1p", arb.log1p, ABOVE_MINUS_ONE, ABOVE_MINUS_ONE_SINGLE, (2.0, 2.0)),
    Case("sigmoid", lambda x: 1 / (1 + (-x).exp()), ALL, ALL_SINGLE, (2.5, 2.5)),
    Case("log_sigmoid", lambda x: -(-x).exp().log1p(), ALL, ALL_SINGLE, (2.5, 2.5)),
    Case("log_sigmoid_slope", lambda x: -(-x).exp().log1p() - x.exp().log1p(), ALL, ALL_SINGLE, (2.5, 2.5)),
    Case("softplus", lambda x: x.exp().log1p(), ALL, ALL_SINGLE, (2.5, 2.5)),
    Case("logaddexp", lambda x, y: x + (y - x).exp().log1p(), [((-30.0, 30.0),) * 2, ((-700.0, 700.0),) * 2],
         [((-30.0, 30.0),) * 2, ((-80.0, 80.0),) * 2], (2.0, 2.0), at_least_one),
    Case("apart", lambda x, y: x - y, [((-30.0, 30.0),) * 2, ((1e-320, 1e-300),) * 2, ((1e300, 1.7e308),) * 2],
         [((-30.0, 30.0),) * 2, ((1e-44, 1e-36),) * 2, ((1e30, 3e38),) * 2], (0.5, 0.5)),
    Case("floor_divide", precisely(lambda x, y: (x / y).floor()), QUOTIENTS, QUOTIENTS_SINGLE, (1.0, 1.0)),
    Case("remainder", precisely(lambda x, y: x - (x / y).floor() * y), QUOTIENTS, QUOTIENTS_SINGLE, (0.5, 0.5)),
    Case("log_of_cosh", precisely(lambda x: x.cosh().log()), both((1e-150, 1e-6), NEAR, (1.0, 30.0), (30.0, 1e5)),
         both((1e-18, 1e-6), NEAR, (1.0, 30.0), (30.0, 1e5)), (1.4, 1.0), at_least_one),  # a term beside log 2
    Case("tanh", arb.tanh, both((1e-300, 1e-6), NEAR, (0.3, 25.0)), both((1e-36, 1e-6), NEAR, (0.3, 12.0)), (2.5, 2.5)),
    Case("tanh_slope", lambda x: x.cosh() ** -2, both((1e-6, 1.0), (0.3, 350.0)), both((1e-6, 1.0), (0.3, 43.0)),
         (4.0, 4.0)),
    Case("sinh", arb.sinh, ALL + one((709.0, 710.47)), ALL_SINGLE + one((88.0, 89.4)), (2.5, 2.5)),
    Case("cosh", arb.cosh, ALL + one((709.0, 710.47)), ALL_SINGLE + one((88.0, 89.4)), (2.0, 2.0)),
    Case("near_sin", arb.sin, ANGLES, ANGLES_SINGLE, (2.0, 2.0)),
    Case("near_cos", arb.cos, ANGLES, ANGLES_SINGLE, (2.0, 2.0)),
    Case("near_tan", arb.tan, ANGLES, ANGLES_SINGLE, (4.0, 4.0)),
    Case("sin", arb.sin, ANGLES, ANGLES_SINGLE, (2.0, 2.0)),
    Case("cos", arb.cos, ANGLES, ANGLES_SINGLE, (2.0, 2.0)),
    Case("tan", arb.tan, ANGLES, ANGLES_SINGLE, (4.0, 4.0)),
    Case("arctan", arb.atan, both((1e-300, 1e-6), NEAR, (0.8, 1.2), (1.0, 1e300)),
         both((1e-36, 1e-6), NEAR, (0.8, 1.2), (1.0, 1e36)), (3.0, 3.0)),
    Case("pow", lambda x, y: (y * x.log()).exp(),
         [((1e-6, 1e6), (-40.0, 40.0)), ((1e-300, 1e300), (-1.0, 1.0)), ((0.9, 1.1), (-6e3, 6e3)),
          ((2.0, 3.0), (500.0, 640.0))],
         [((1e-6, 1e6), (-5.0, 5.0)), ((1e-36, 1e36), (-1.0, 1.0)), ((0.9, 1.1), (-700.0, 700.0)),
          ((2.0, 3.0), (60.0, 80.0))],
         (2.0, 2.0)),
    Case("cbrt", cube_root, ALL_SIZES, ALL_SIZES_SINGLE, (1.5, 1.5)),
    Case("arctan2", lambda y, x: arb.atan2(y, x), LEGS, LEGS_SINGLE, (2.5, 2.5)),
    Case("logaddexp2", lambda x, y: x + (1 + ((y - x) * arb(2).log()).exp()).log() / arb(2).log(),
         [((-30.0, 30.0),) * 2, ((-1000.0, 1000.0),) * 2], [((-30.0, 30.0),) * 2, ((-120.0, 120.0),) * 2], (2.5, 2.5),
         at_least_one),
    Case("copysign", lambda x, y: abs(x) * y.sgn(), [((-30.0, 30.0),) * 2], [((-30.0, 30.0),) * 2], (0.0, 0.0)),
    Case("heaviside", lambda x, y: (x.sgn() + 1) / 2, [((-30.0, 30.0),) * 2], [((-30.0, 30.0),) * 2], (0.0, 0.0)),
    Case("hypot", lambda x, y: (x * x + y * y).sqrt(), [((1e-300, 1e300),) * 2, ((1e-3, 1e3),) * 2],
         [((1e-36, 1e36),) * 2, ((1e-3, 1e3),) * 2], (2.0, 2.0)),
    Case("erf", arb.erf, both((1e-300, 1e-6), NEAR, (0.8, 7.0)), both((1e-36, 1e-6), NEAR, (0.8, 5.0)), (2.0, 2.0)),
    Case("erf_slope", lambda x: 2 * (-x * x).exp() / arb.pi().sqrt(), both((1e-6, 1.0), (0.8, 26.0)),
         both((1e-6, 1.0), (0.8, 9.0)), (2.0, 2.0)),
    Case("erfc", arb.erfc, both((1e-6, 1.0), (0.5, 5.0)) + one((5.0, 27.2)),
         both((1e-6, 1.0), (0.5, 5.0)) + one((5.0, 10.05)), (4.0, 5.0)),
    Case("xlogy", lambda x, y: x * y.log(), [((1e-6, 1e6), (1e-6, 1e6))], [((1e-6, 1e6), (1e-6, 1e6))], (2.5, 2.5)),
    Case("xlog1py", lambda x, y: x * y.log1p(), [((1e-6, 1e6), (1e-6, 1e6))], [((1e-6, 1e6), (1e-6, 1e6))], (2.5, 2.5)),
    Case("lgamma", arb.lgamma, WIDE + NEXT_TO_ZEROS, WIDE_SINGLE + NEXT_TO_ZEROS, (4.0, 4.0)),
    Case("lgamma", arb.lgamma, one(SUBNORMAL), one(SUBNORMAL_SINGLE), (1.0, 1.0)),
    Case("digamma", arb.digamma, WIDE + NEXT_TO_ZEROS, WIDE_SINGLE + NEXT_TO_ZEROS, (4.0, 4.0)),
    Case("trigamma", polygamma(1), one((1e-150, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)),
         one((1e-17, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)), (4.0, 4.0)),
    Case("trigamma_excess", precisely(lambda x: polygamma(1)(x) - 1 / x), one((1e-150, 1e-6), NEAR, (1.0, 1e6)),
         one((1e-17, 1e-6), NEAR, (1.0, 1e6)), (4.0, 4.0)),
    Case("lgamma_excess", precisely(stirling), one((32.1, 1e15)), one((32.1, 1e15)), (4.0, 4.0)),
    Case("lgamma_excess", stirling, one((1e-300, 3.0)), one((1e-36, 3.0)), (4.0, 4.0),
         at_least_one),
    Case("digamma_lack", precisely(digamma_lack), one((32.1, 1e15)), one((32.1, 1e15)), (4.0, 4.0)),
    Case("digamma_lack", digamma_lack, one((1e-100, 3.0)), one((1e-10, 3.0)), (4.0, 4.0),
         reciprocal_at_least),
    Case("trigamma_rise", precisely(trigamma_rise), one((32.1, 1e12)), one((32.1, 1e9)), (4.0, 4.0)),
    Case("trigamma_rise", trigamma_rise, one((1e-100, 3.0)), one((1e-10, 3.0)), (6.0, 6.0),
         reciprocal_at_least),
    Case("tetragamma", polygamma(2), one((1e-100, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)),
         one((1e-11, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)), (4.0, 4.0)),
    Case("lgamma_delta", log_gamma_delta, PAIRS, PAIRS_SINGLE, (4.0, 4.0), log_term),
    Case("lgamma_delta", log_gamma_delta, LARGE, LARGE_SINGLE, (3.0, 3.0)),
    Case("lgamma_delta", precisely(log_gamma_delta), CLOSE, CLOSE, (4.0, 4.0), distance),
    Case("digamma_delta", digamma_delta, PAIRS, PAIRS_SINGLE, (4.0, 4.0)),
    Case("digamma_delta", digamma_delta, LARGE, LARGE_SINGLE, (3.0, 3.0)),
    Case("digamma_delta", precisely(digamma_delta), CLOSE, CLOSE, (4.0, 4.0)),
    Case("lbeta", log_beta, PAIRS, PAIRS_SINGLE, (4.0, 4.0), shift_term),
    Case("lbeta", log_beta, LARGE, LARGE_SINGLE, (4.0, 4.0), shift_term),
    Case("lbeta", log_beta, LARGE[1:], LARGE_SINGLE[1:], (3.0, 3.0)),
    Case("lbeta_of_count", log_beta, COUNTS, COUNTS, (4.0, 4.0), shift_term),
    Case("lbeta", log_beta, NEXT_TO_1, NEXT_TO_1, (4.0, 4.0), farther_from_1),
    Case("digamma_gap", precisely(digamma_gap), PAIRS, PAIRS_SINGLE, (4.0, 4.0), digamma_delta),
    Case("digamma_gap", precisely(digamma_gap), CLOSE, CLOSE, (4.0, 4.0), digamma_delta),
    Case("digamma_gap", precisely(digamma_gap), LARGE, LARGE_SINGLE, (4.0, 4.0)),
    Case("log_beta_peak", precisely(log_beta_peak), PAIRS + LARGE[:1], PAIRS_SINGLE + LARGE_SINGLE[:1],
         (4.0, 4.0), size_of_peak),
    Case("log_beta_peak", precisely(log_beta_peak), LARGE[1:], LARGE_SINGLE[1:], (4.0, 4.0)),
    Case("log_multinomial", log_multinomial, [((4.0, 1e15), (1e-9, 0.999))], [((4.0, 1e6), (1e-5, 0.999))], (8.0, 8.0)),
    Case("log_multinomial", log_multinomial, [((4.0, 1e9), (1.0, 1e9))], [((4.0, 1e6), (1.0, 1e6))], (8.0, 8.0)),
    Case("log_choose", log_choose, [((50.0, 1e8), (1e-3, 49.0))], [((50.0, 1e5), (1e-3, 49.0))],
         (4.0, 4.0), shift_term),
    Case("log_choose", log_choose, [((1e9, 1e15), (10.0, 1e9))], [((1e5, 1e7), (10.0, 1e5))], (4.0, 4.0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.name}-{n}") for n, case in enumerate(CASES)])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)


# name: (arguments, value) pairs that hold in both formats; "tiny", "least" and "most" stand for the format's own.
EDGES: dict[str, list[tuple]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (NAN, NAN), (1e4, INF), (-1e4, 0), ("least", 1)],
    "shifted_exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (NAN, NAN), (1e4, INF), (-1e4, 0), ("least", 1)],
    "exp2": [(0.0, 1), (INF, INF), (-INF, 0), (NAN, NAN), (2e3, INF), (-2e3, 0), (10.0, 1024), (-3.0, 0.125),
             ("least", 1)],
    "expm1": [(0.0, 0), (-0.0, 0), (INF, INF), (-INF, -1), (NAN, NAN), (1e4, INF), (-1e4, -1), ("tiny", "tiny")],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN), ("-least", NAN)],
    "log2": [(0.0, -INF), (1.0, 0), (8.0, 3), (0.125, -3), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log10": [(0.0, -INF), (1.0, 0), (1000.0, 3), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log1p": [(0.0, 0), (-0.0, 0), (-1.0, -INF), (-1.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), ("least", "least")],
    "sigmoid": [(0.0, 0.5), (INF, 1), (-INF, 0), (NAN, NAN), (1e3, 1), (-1e3, 0)],
    "log_sigmoid": [(INF, 0), (-INF, -INF), (NAN, NAN), (1e3, 0), (-1000.0, -1000), ("-most", "-most")],
    "softplus": [(INF, INF), (-INF, 0), (NAN, NAN), (1000.0, 1000), (-1e3, 0), ("most", "most")],
    "logaddexp": [(INF, INF, INF), (-INF, -INF, -INF), (INF, -INF, INF), (-INF, INF, INF), (-INF, 2.5, 2.5),
                  (2.5, -INF, 2.5), (INF, 1.0, INF), (NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, INF, NAN)],
    "tanh": [(0.0, 0), (-0.0, 0), (INF, 1), (-INF, -1), (NAN, NAN), (30.0, 1), (-30.0, -1), ("least", "least")],
    "sinh": [(0.0, 0), (INF, INF), (-INF, -INF), (NAN, NAN), (1e3, INF), ("least", "least"), ("-tiny", "-tiny")],
    "cosh": [(0.0, 1), (INF, INF), (-INF, INF), (NAN, NAN), (-1e3, INF), ("least", 1)],
    "sin": [(0.0, 0), (-0.0, 0), (INF, NAN), (-INF, NAN), (NAN, NAN), ("least", "least")],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (NAN, NAN), ("least", 1)],
    "tan": [(0.0, 0), (INF, NAN), (NAN, NAN), ("least", "least")],
    "arctan": [(0.0, 0), (INF, np.pi / 2), (-INF, -np.pi / 2), (NAN, NAN), ("least", "least"), ("most", np.pi / 2)],
    "erf": [(0.0, 0), (INF, 1), (-INF, -1), (NAN, NAN), (7.0, 1), (-7.0, -1), ("most", 1)],
    "erfc": [(0.0, 1), (INF, 0), (-INF, 2), (NAN, NAN), (30.0, 0), (-10.0, 2), ("most", 0), ("least", 1)],
    "apart": [(INF, INF, 0), (-INF, -INF, 0), (INF, -INF, INF), (1.0, INF, -INF), (2.5, 2.5, 0), (NAN, NAN, NAN)],
    "log_of_cosh": [(0.0, 0), (INF, INF), (-INF, INF), (NAN, NAN), ("most", "most"), ("least", 0)],
    "cbrt": [(0.0, 0), (-0.0, 0), (INF, INF), (-INF, -INF), (NAN, NAN), (27.0, 3), (-0.125, -0.5)],
    "arctan2": [(0.0, 1.0, 0), (0.0, -1.0, np.pi), (-0.0, -0.0, -np.pi), (1.0, 0.0, np.pi / 2), (NAN, 0.0, NAN),
                (0.0, NAN, NAN), (INF, -INF, 3 * np.pi / 4), (-INF, 1.0, -np.pi / 2), (2.0, INF, 0), (NAN, INF, NAN)],
    "logaddexp2": [(INF, INF, INF), (-INF, -INF, -INF), (INF, -INF, INF), (-INF, 2.5, 2.5), (NAN, INF, NAN),
                   (3.0, 3.0, 4), ("most", 0.0, "most")],
    "copysign": [(NAN, -1.0, NAN), (-INF, 0.0, INF), (3.0, -0.0, -3), (2.0, -NAN, -2)],
    "heaviside": [(NAN, 1.0, NAN), (0.0, NAN, NAN), (-0.0, 0.5, 0.5), (INF, NAN, 1), (-INF, NAN, 0)],
    "hypot": [(0.0, 0.0, 0), (INF, NAN, INF), (NAN, -INF, INF), (3.0, 4.0, 5), (NAN, 1.0, NAN), (1.0, NAN, NAN),
              (0.0, NAN, NAN), (NAN, 0.0, NAN), (-0.0, NAN, NAN), (0.0, -INF, INF), ("most", 0.0, "most"),
              ("most", "most", INF)],
    "pow": [
        (0.0, 0.0, 1), (NAN, 0.0, 1), (INF, -0.0, 1), (1.0, NAN, 1), (1.0, INF, 1), (NAN, 1.0, NAN), (2.0, NAN, NAN),
        (0.0, NAN, NAN), (INF, NAN, NAN), (0.0, 2.0, 0), (0.0, -2.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF),
        (0.0, INF, 0), (0.0, -INF, INF), (-1.0, INF, 1), (-1.0, -INF, 1), (2.0, INF, INF), (2.0, -INF, 0),
        (0.5, INF, 0), (0.5, -INF, INF), (-2.0, 3.0, -8), (-2.0, 2.0, 4), (-2.0, -1.0, -0.5), (-2.0, 0.5, NAN),
        (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, 0.5, INF), (-INF, -3.0, 0), (INF, -1.0, 0), (INF, 0.5, INF),
        (2.0, 2e3, INF), (2.0, -2e3, 0), (-2.0, 2001.0, -INF), (3.0, 4.0, 81), (10.0, 2.0, 100), (4.0, 0.5, 2),
        ("least", 1.0, "least"), ("most", 1.0, "most"),
    ],
    "lgamma": [(0.0, INF), (1.0, 0), (2.0, 0), (INF, INF), (-1.5, NAN), (-INF, NAN), (NAN, NAN), ("most", INF)],
    "tanh_slope": [(0.0, 1), (INF, 0), (-INF, 0), (NAN, NAN), (1e3, 0)],
    "erf_slope": [(INF, 0), (-INF, 0), (NAN, NAN), (30.0, 0)],
    "digamma": [(0.0, -INF), (-0.0, -INF), (INF, INF), (-1.5, NAN), (NAN, NAN), ("least", -INF)],
    "trigamma": [(0.0, INF), (INF, 0), (-1.5, NAN), (NAN, NAN), ("tiny", INF)],
    "tetragamma": [(0.0, -INF), (INF, 0), (-1.5, NAN), (NAN, NAN), ("tiny", -INF)],
    "lgamma_delta": [(2.5, 0.0, 0), (1e6, 0.0, 0), (0.0, 1.5, -INF), (-1.0, 3.0, NAN),
                     (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "digamma_delta": [(2.5, 0.0, 0), (1e6, 0.0, 0), (0.0, 1.5, INF), (-1.0, 3.0, NAN),
                      (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "lbeta": [(1.0, 1.0, 0), (0.0, 2.0, INF), (2.0, 0.0, INF), (-1.0, 2.0, NAN), (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "log_choose": [(5.0, 0.0, 0), (5.0, 5.0, 0), (1e6, 0.0, 0), (2.0, 3.5, NAN), (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "xlogy": [(0.0, 0.0, 0), (0.0, -1.0, 0), (0.0, INF, 0), (0.0, NAN, NAN), (1.0, 0.0, -INF), (-1.0, 0.0, INF),
              (NAN, 1.0, NAN), (2.0, INF, INF)],
    "xlog1py": [(0.0, -1.0, 0), (0.0, -2.0, 0), (0.0, INF, 0), (0.0, NAN, NAN), (1.0, -1.0, -INF), (NAN, 1.0, NAN)],
}


def number(text: float | str, dtype: type) -> float:
    """An entry of the table of edges."""
    if not isinstance(text, str):
        return text
    kind = np.finfo(dtype)
    size = {"least": kind.smallest_subnormal, "tiny": kind.smallest_normal, "most": kind.max}[text.lstrip("-")]
    return -float(size) if text[0] == "-" else float(size)


def edges() -> Iterator:
    for name, rows in EDGES.items():
        for *arguments, value in rows:
            yield pytest.param(name, arguments, value, id=f"{name}-{arguments}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "arguments", "value"), list(edges()))
def test_edges(name: str, arguments: list, value: float | str, dtype: type) -> None:
    """Edges are exact; where a finite value takes rounding to reach, it is right to a few units of 1."""
    (found,) = evaluate(name, [np.array([number(x, dtype)], dtype) for x in arguments])
    wanted = dtype(number(value, dtype))
    rounded = name in {"lgamma", "lbeta", "log_choose"}
    np.testing.assert_allclose(found, wanted, rtol=0, atol=4 * np.finfo(dtype).eps if rounded else 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["expm1", "tanh", "sinh", "sin", "tan", "arctan", "erf"])
def test_odd_functions_keep_tiny_arguments(name: str, dtype: type) -> None:
    """f(x) is x, or 2 x / sqrt(pi), to within a unit in the last place, down to the subnormal numbers."""
    x = np.ldexp(dtype(1.25), np.arange(np.finfo(dtype).minexp - np.finfo(dtype).nmant + 1, -60, 7)).astype(dtype)
    slope = 2 / np.sqrt(np.pi) if name == "erf" else 1.0
    unit = np.spacing(x * dtype(slope))
    assert (abs(evaluate(name, [x]) - x.astype(np.longdouble) * slope) <= unit).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_sigmoid_of_very_negative_numbers_is_exp(dtype: type) -> None:
    x = np.linspace(-700, -50, 400).astype(dtype) if dtype == np.float64 else np.linspace(-86, -30, 400).astype(dtype)
    np.testing.assert_array_max_ulp(evaluate("sigmoid", [x]), evaluate("exp", [x]), maxulp=1)


def test_every_floating_primitive_with_an_expansion_has_a_case() -> None:
    """A new function is measured, or this fails."""
    # no rounding beyond that of one operation
    exact = {"reciprocal", "trunc", "ceil", "times", "signbit"}
    # a constant, or one of the arguments as it is: what they have of their own are derivatives
    exact |= {"level", "bowl", "tail_at_end", "log_tail_at_end", "begun_below", "begun_beyond", "with_slopes_of"}
    files = [path for folder in ("primitives", "special") for path in (TESTS / folder).glob("test_*.py")]
    modules = [importlib.import_module(path.stem) for path in files]
    tried = {case.name for module in modules for case in getattr(module, "CASES", ())}
    rests = {name for name in PRIMITIVES if name.endswith("_rest")}  # measured in test_rounding, with what they add to
    missing = {p.name for p in PRIMITIVES.values() if p.floating and p.expand is not None} - tried - exact - rests
    assert not missing
