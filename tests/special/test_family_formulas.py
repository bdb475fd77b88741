"""Functions that several families share: powers and logarithms whose exponent may be 0."""

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, at_least_one, evaluate, one, precisely

import vecdist.distributions
import vecdist.wrappers.truncated  # noqa: F401 (where these functions are)

SMALL, ONE = (1e-12, 1e-3), (1e-3, 2.0)
BELOW = (-0.9, -1e-3)


def log1p_over(a: arb, z: arb, rest: arb) -> arb:
    return (a * (z + rest)).log1p() / a


def log1p_by(a: arb, distance: arb, rest: arb, scale: arb) -> arb:
    return log1p_over(a, distance / scale, rest / scale)


def log_tilt(d: arb, rest: arb, inverse: arb, inverse_rest: arb, log_scale: arb, shape: arb) -> arb:
    return ((-shape * (d + rest) * (inverse + inverse_rest) / arb(2).sqrt()).erfc() / 2).log()


def power_decay(a: arb, *at: arb) -> arb:
    return -(1 + a) * log1p_by(a, *at) - (-log1p_by(a, *at)).exp()


def size_of_power_decay(a: arb, *at: arb) -> arb:
    return (1 + a) * abs(log1p_by(a, *at)) + (-log1p_by(a, *at)).exp()


def expm1_over(a: arb, y: arb) -> arb:
    return (a * y).expm1() / a


def log_inflated(gate: arb, y: arb, rest: arb) -> arb:
    return (gate + (1 - gate) * y.exp()).log()


def gate_slope(gate: arb, y: arb, rest: arb) -> arb:
    return -y.expm1() / (gate + (1 - gate) * y.exp())


def ungated_share(gate: arb, y: arb, rest: arb) -> arb:
    return (1 - gate) * y.exp() / (gate + (1 - gate) * y.exp())


def exponent(d: arb, delta: arb, alpha: arb, beta: arb) -> arb:
    return alpha * (delta**2 + d**2).sqrt() - beta * d - delta * (alpha**2 - beta**2).sqrt()


def size_of_exponent(d: arb, delta: arb, alpha: arb, beta: arb) -> arb:
    """By how much a rounding of d changes it: next to its least value, 0, its digits are those of a small number."""
    g = (alpha**2 - beta**2).sqrt()
    return exponent(d, delta, alpha, beta) + abs(g * d * (g * d - delta * beta)) / (alpha * delta)


def half_step(x: arb) -> arb:
    return (x + arb("0.5")).lgamma() - x.lgamma() - (2 * x).log() / 2


def f_excess(x: arb, r: arb) -> arb:
    step = (x - 1) / (1 + r * x)
    return step.log1p() - step


def f_excess_of_rest(x: arb, r: arb) -> arb:
    step = r * (1 - x) / (1 + r * x)
    return step.log1p() - step


F_RATIOS = [((0.5, 2.0), (1e-3, 1e3)), ((1e-9, 1e9), (1e-9, 1e9)), ((1e-30, 1e30), (1e-2, 1e2))]


def log_gumbel_mass(z: arb, rest: arb, log_length: arb, excess: arb) -> arb:
    start = z + rest
    return ((-start.exp()).exp() - (-(start + log_length.exp() + excess).exp()).exp()).log()


def cosine_slope(distance: arb, rest: arb, scale: arb) -> arb:
    return -arb.pi() / scale * (arb.pi() / 2 * (distance + rest) / scale).tan()


def cosine_slope_in_scale(distance: arb, rest: arb, scale: arb) -> arb:
    return -(1 + distance * cosine_slope(distance, rest, scale)) / scale


def log_choose(n: arb, k: arb) -> arb:
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


def hypergeometric(x: arb, n: arb, successes: arb, failures: arb) -> arb:
    return log_choose(successes, x) + log_choose(failures, n - x) - log_choose(successes + failures, n)


def size_of_hypergeometric(x: arb, n: arb, successes: arb, failures: arb) -> arb:
    return log_choose(successes + failures, n)


AT_1 = (1.0, 1.0)
BOUNDED, BOUNDED_SINGLE = (
    [((0.1, 0.9), (-3.0, 0.0), (1.0, 3.0)), ((least, 1e-3), (0.0, 0.0), (1.0, 1e9)), ((0.5, most), (-1e9, -1.0), AT_1)]
    for least, most in [(1e-300, 0.999999), (1e-36, 0.9999)]
)
ROUNDED, ROUNDED_SINGLE = (
    [((1e-9, 1.0), (-low, low), (1.001, 5.0)), ((1 / far, 1.0), (0.0, 0.0), (2.0, far)),
     ((0.9, most), (-high, high), AT_1)]
    for low, high, far, most in [(1e-30, 1e-17, 1e150, 0.999999), (1e-17, 1e-9, 1e18, 0.9999)]
)
MEANS, MEANS_SINGLE = (
    [((0.2, 9.0), (0.5, 4.0)), ((0.999, 1.001), (1.0, 1.0)), ((1 / far, 1e-3), (1 / far, far)),
     ((1e3, far), (1 / far, far)), ((far, far**3), (1.0, 1e3))]
    for far in (1e90, 1e11)
)
IN_BULK = [((0.2, 9.0), (0.5, 4.0), (0.5, 4.0)), ((1e-9, 0.2), (0.5, 4.0), (0.5, 4.0))]
SHARES = [((1e-9, 1.0), (0.5, 2.0)), ((1.0, 1e9), (0.5, 2.0))]
TRIALS = [((1.0, 1e3), (-0.7, -1e-9), (0.5, 0.9)), ((1e3, 1e15), (-1e-3, -1e-17), (0.5, 0.9))]
TRIALS_SINGLE = [((1.0, 1e3), (-0.08, -1e-9), (0.5, 0.9)), ((1e3, 1e7), (-1e-5, -1e-9), (0.5, 0.9))]
URNS = [((2.0, 9.0), (10.0, 12.0), (12.0, 30.0), (12.0, 30.0)), ((2.0, 9.0), (10.0, 12.0), (1e3, 1e6), (1e3, 1e6))]
WITH_EXPONENT = [(SMALL, (1e-6, 100.0)), (ONE, (1e-6, 1.0)), (ONE, (1.0, 1e6)), (BELOW, (1e-6, 1.0))]
IN_PARTS = [(*ranges, (-1e-23, 1e-23)) for ranges in WITH_EXPONENT]
BY_SCALE = [(*ranges, AT_1) for ranges in IN_PARTS] + [(ONE, (1e-3, 1e3), (-1e-23, 1e-23), (0.1, 9.0))]
NONE = (-1e-23, 1e-23)
GATES = [((0.01, 0.9), (-30.0, -0.1), NONE), ((0.01, 0.999), (-0.1, -1e-9), NONE), ((0.9, 0.999), (-3.0, -0.1), NONE)]
TILTS = [((-5.0, 5.0), (0.1, 5.0), (1.0, 9.0), (-0.9, 0.9)), ((1.0, 1e6), (1e-3, 1.0), (1.0, 9.0), (-0.9, 0.9))]
HALVES = one((1e-9, 1e-2), (1e-2, 1.0), (1.0, 4.0), (3.0, 1e3), (1e3, 1e9))
LENGTHS = [((-9.0, 2.0), NONE, (-2.0, 1.0), NONE), ((-9.0, 2.0), NONE, (-9.0, -4.2), NONE)]
CASES = [
    Case("student_log_gammas", precisely(half_step), HALVES, HALVES, (4.0, 4.0), at_least_one),
    Case("log1p_over", precisely(log1p_over), IN_PARTS, IN_PARTS, (4.0, 4.0)),
    Case("exp_high", precisely(lambda high, rest: (high + rest).exp()), [((-80.0, 80.0), NONE)],
         [((-80.0, 80.0), (-1e-6, 1e-6))], (0.6, 0.6)),
    Case("log_ndtr_of_parts", precisely(lambda x, rest: ((-x / arb(2).sqrt()).erfc() / 2).log()),
         [((-30.0, 5.0), NONE)], [((-9.0, 4.0), NONE)], (4.0, 4.0)),
    Case("log_share", precisely(lambda x, start, end: (x / start).log() / (end / start).log()),
         [((1.0, 2.0), (0.1, 1.0), (2.0, 30.0)), ((9.0, 9.001), (8.0, 9.0), (9.01, 9.1))],
         [((1.0, 2.0), (0.1, 1.0), (2.0, 30.0))], (4.0, 4.0)),
    Case("log_gumbel_mass", precisely(log_gumbel_mass), LENGTHS, LENGTHS, (4.0, 4.0)),
    Case("log1p_by", precisely(log1p_by), BY_SCALE, BY_SCALE, (4.0, 4.0)),
    Case("log1p_decay", precisely(lambda a, *at: -(1 + a) * log1p_by(a, *at)), BY_SCALE, BY_SCALE, (4.0, 4.0)),
    Case("expm1_over", precisely(expm1_over), WITH_EXPONENT[:2] + WITH_EXPONENT[3:],
         WITH_EXPONENT[:2] + WITH_EXPONENT[3:], (4.0, 4.0), lambda a, y: abs(y) * (1 + abs((a * y).exp()))),
    Case("power_tail", precisely(lambda *at: (-log1p_by(*at)).exp()), BY_SCALE, BY_SCALE, (4.0, 4.0)),
    Case("power_decay", precisely(power_decay), BY_SCALE, BY_SCALE, (4.0, 4.0), size_of_power_decay),
    Case("f_excess", precisely(f_excess), F_RATIOS, F_RATIOS, (6.0, 6.0)),
    Case("f_excess_of_rest", precisely(f_excess_of_rest), F_RATIOS, F_RATIOS, (6.0, 6.0)),
    Case("f_decay", precisely(lambda x, a, b: a * f_excess(x, a / b) + b * f_excess_of_rest(x, a / b)),
         [(*each, (1e-3, 1e3)) for each in F_RATIOS], [(*each, (1e-3, 1e3)) for each in F_RATIOS], (6.0, 6.0)),
    Case("log_inflated", precisely(log_inflated), [*GATES, ((1e-12, 1e-3), (-10.0, -1.0), NONE)],
         [*GATES, ((1e-9, 1e-3), (-10.0, -1.0), NONE)], (4.0, 4.0)),
    Case("gate_slope", precisely(gate_slope), GATES, GATES, (4.0, 4.0)),
    Case("ungated_share", precisely(ungated_share), GATES, GATES, (4.0, 4.0)),
    Case("arcsine_share", precisely(lambda x, low, high: 2 / arb.pi() * ((x - low) / (high - x)).sqrt().atan()),
         BOUNDED, BOUNDED_SINGLE, (2.1, 2.7)),
    # of the lesser tail; of the greater one it is log1p, which has a case
    Case("log_of_tail", lambda tail, rest: tail.log(), [((1e-300, 0.49), (0.51, 0.99))],
         [((1e-36, 0.49), (0.51, 0.99))], (1.0, 1.0)),
    Case("log_share_of", lambda part, whole: part - whole, [((-700.0, -1e-9), (-700.0, -1e-9))],
         [((-80.0, -1e-6), (-80.0, -1e-6))], (0.5, 0.5)),
    Case("exp_of_log", arb.exp, one((-745.0, -1e-9), (1e-9, 709.0)), one((-103.0, -1e-6), (1e-6, 88.0)), (1.0, 1.0)),
    Case("share_of_log_odds", lambda y: 1 / (1 + (-y).exp()), one((-700.0, -1e-9), (1e-9, 40.0)),
         one((-80.0, -1e-6), (1e-6, 20.0)), (2.0, 2.0)),
    Case("cosine_slope", precisely(cosine_slope), ROUNDED, ROUNDED_SINGLE, (3.0, 3.0)),
    Case("cosine_slope_in_scale", precisely(cosine_slope_in_scale), ROUNDED, ROUNDED_SINGLE, (3.0, 3.2)),
    Case("inverse_gaussian_distance", precisely(lambda x, mean: (x - mean) ** 2 / (mean * mean * x)),
         MEANS, MEANS_SINGLE, (3.0, 3.0)),
    Case("inverse_gaussian_log_kernel",
         precisely(lambda x, mean, shape: -3 * x.log() / 2 - shape * (x - mean) ** 2 / (mean * mean * x) / 2),
         IN_BULK, IN_BULK, (3.0, 3.0),
         lambda x, mean, shape: abs(3 * x.log() / 2) + shape * (x - mean) ** 2 / (mean * mean * x) / 2),
    Case("half_cauchy_share_below", precisely(lambda x, inverse: (x * inverse).atan() * 2 / arb.pi()),
         SHARES, SHARES, (3.0, 3.0)),
    Case("half_cauchy_share_beyond", precisely(lambda x, inverse: (1 / (x * inverse)).atan() * 2 / arb.pi()),
         SHARES, SHARES, (3.0, 3.0)),
    Case("skew_normal_log_tilt", precisely(log_tilt), [((-9.0, 3.0), NONE, AT_1, NONE, AT_1, (0.5, 2.0))],
         [((-4.0, 3.0), NONE, AT_1, NONE, AT_1, (0.5, 1.0))], (4.0, 4.0), lambda d, *more: 1 + d * d * more[-1] ** 2),
    Case("falling_power", lambda k, log_q, q: (k * log_q).exp(), TRIALS, TRIALS_SINGLE, (1.0, 1.0),
         lambda k, log_q, q: (1 - k * log_q) * (k * log_q).exp()),  # one rounding of the product
    Case("falling_rest", lambda k, log_q, q: -(k * log_q).expm1(), TRIALS, TRIALS_SINGLE, (1.0, 1.4)),
    Case("hypergeometric_log_mass", precisely(hypergeometric), URNS, URNS, (4.0, 4.0), size_of_hypergeometric),
    Case("hypergeometric_log_mass", precisely(hypergeometric), [((2.0, 9.0), (1e3, 1e6), (1e7, 1e9), (1e9, 1e12))],
         [((2.0, 9.0), (3e2, 1e3), (1e5, 1e6), (1e6, 1e7))], (4.1, 1.0)),  # of huge urns; within 4 on other processors
    Case("normal_inverse_gaussian_decay", precisely(exponent), TILTS, TILTS, (4.0, 4.0), size_of_exponent),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "at", "wanted"), [
    ("log1p_over", (0.0, 3.0, 0.0), 3.0), ("log1p_over", (-0.5, 2.0, 0.0), INF), ("log1p_over", (2.0, INF, 0.0), INF),
    ("expm1_over", (0.0, 3.0), 3.0), ("expm1_over", (2.0, 0.0), 0.0), ("expm1_over", (NAN, 1.0), NAN),
    ("power_tail", (0.0, 0.0, 0.0, 3.0), 1.0), ("power_tail", (-0.5, 4.0, 0.0, 2.0), 0.0),
    ("log1p_by", (0.0, 3.0, 0.0, 2.0), 1.5), ("power_tail", (1.0, 3.0, 0.0, 1.0), 0.25),
    ("less_exp", (-INF, 0.0), -INF), ("less_exp", (-1e300, 1e284), -1e300),
    ("log_inflated", (0.0, -2.0, 0.0), -2.0), ("log_inflated", (1.0, -2.0, 0.0), 0.0),
    ("log_inflated", (0.0, -INF, 0.0), -INF), ("gate_slope", (0.5, -INF, 0.0), 2.0),
    ("gate_slope", (1.0, 0.0, 0.0), 0.0), ("ungated_share", (0.0, -INF, 0.0), 1.0),
    ("ungated_share", (0.5, -INF, 0.0), 0.0),
])
def test_edges(name: str, at: tuple[float, ...], wanted: float, dtype: type) -> None:
    with np.errstate(over="ignore"):
        arrays, expected = [np.array([v], dtype) for v in at], dtype(wanted)
    np.testing.assert_array_equal(evaluate(name, arrays), [expected])
