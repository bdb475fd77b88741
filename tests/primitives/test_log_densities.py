"""Log densities, and decays in them, that are primitives because their derivatives are written by themselves."""

import pytest
from flint import arb
from ulps import DTYPES, Case, assert_accurate, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)

HALF = arb(1) / 2


def distance_power(distance: arb, rest: arb, scale: arb, power: arb) -> arb:
    return (abs(distance + rest) / scale) ** power


def shared_distance_power(distance: arb, rest: arb, scale: arb, side: arb, side_rest: arb, power: arb) -> arb:
    return (abs(distance + rest) / (scale * (side + side_rest))) ** power / power


def weibull(x: arb, shape: arb, scale: arb) -> arb:
    return (shape - 1) * (x / scale).log() - (x / scale) ** shape + (shape / scale).log()


def size_of_weibull(x: arb, shape: arb, scale: arb) -> arb:
    return abs((shape - 1) * (x / scale).log()) + (x / scale) ** shape + abs((shape / scale).log())


def frechet(x: arb, shape: arb, scale: arb) -> arb:
    return (shape / scale).log() - (shape + 1) * (x / scale).log() - (scale / x) ** shape


def size_of_frechet(x: arb, shape: arb, scale: arb) -> arb:
    return abs((shape / scale).log()) + abs((shape + 1) * (x / scale).log()) + (scale / x) ** shape


def levy(distance: arb, scale: arb) -> arb:
    return HALF * (scale / (2 * arb.pi())).log() - 3 * HALF * distance.log() - HALF * scale / distance


def size_of_levy(distance: arb, scale: arb) -> arb:
    return 1 + abs(scale.log()) + 3 * HALF * abs(distance.log()) + HALF * scale / distance


def relaxed_bernoulli(x: arb, t: arb, log_odds: arb) -> arb:
    odds = log_odds.exp()
    return (t * odds).log() + (t - 1) * (x * (1 - x)).log() - 2 * (odds * (1 - x) ** t + x**t).log()


def size_of_relaxed_bernoulli(x: arb, t: arb, log_odds: arb) -> arb:
    return 1 + abs(t.log()) + abs(log_odds) + (t + 1) * (abs(x.log()) + abs((1 - x).log()))


def log_logistic(x: arb, shape: arb, log_scale: arb, rest: arb, inverse_scale: arb) -> arb:
    ratio = x.log() - log_scale - rest
    return (shape - 1) * ratio - 2 * (shape * ratio).exp().log1p() + shape.log() - log_scale - rest


def size_of_log_logistic(x: arb, shape: arb, log_scale: arb, rest: arb, inverse_scale: arb) -> arb:
    return 1 + abs(shape.log()) + abs(log_scale) + (shape + 1) * (abs(x.log()) + abs(log_scale))


def ex_gaussian(distance: arb, scale: arb, rate: arb, ratio: arb) -> arb:
    """Of independent arguments, though ``ratio`` be rate scale: on either side of z = ratio another one counts."""
    z = distance / scale
    upper = HALF * ((ratio - z) / arb(2).sqrt()).erfc()
    if z < ratio:
        return upper.log() + (ratio - z) ** 2 / 2 - z**2 / 2
    return upper.log() + ratio**2 / 2 - rate * distance


def size_of_ex_gaussian(distance: arb, scale: arb, rate: arb, ratio: arb) -> arb:
    z = distance / scale
    return 1 + z**2 / 2 if z < ratio else 1 + abs(rate * distance) + ratio**2 / 2


def sigmoid_powers(z: arb, shape: arb) -> arb:
    return -shape * (-z).exp().log1p() - z.exp().log1p()


def size_of_sigmoid_powers(z: arb, shape: arb) -> arb:
    return shape * (-z).exp().log1p() + z.exp().log1p()


def first_passage(x: arb, b: arb, z: arb) -> arb:
    return -3 * HALF * x.log() - (b - 2 * z * x) ** 2 / (8 * x)


def size_of_first_passage(x: arb, b: arb, z: arb) -> arb:
    return 3 * HALF * abs(x.log()) + (b + 2 * z * x) ** 2 / (8 * x)


def birnbaum_saunders(x: arb, shape: arb, scale: arb) -> arb:
    root = (x * scale).sqrt()
    rise = ((x + scale) / (2 * shape * x * root)).log()
    return rise - ((x - scale) / (shape * root)) ** 2 / 2 - (2 * arb.pi()).log() / 2


def size_of_birnbaum_saunders(x: arb, shape: arb, scale: arb) -> arb:
    each = x.log(), shape.log(), (x / scale).log()
    return sum(map(abs, each), arb(1)) + (x - scale) ** 2 / (2 * shape**2 * x * scale)


def log_laplace(x: arb, shape: arb, log_scale: arb, rest: arb, inverse_scale: arb) -> arb:
    ratio = x.log() - log_scale - rest
    return (shape - 1 if ratio < 0 else -shape - 1) * ratio + (shape / 2).log() - log_scale - rest


def series_total(p: arb) -> arb:
    return (-(1 - p).log() / p).log()


def johnson_sb_score(x: arb, gamma: arb, delta: arb, low: arb, high: arb) -> arb:
    return gamma + delta * ((x - low) / (high - x)).log()


def size_of_johnson_sb_score(x: arb, gamma: arb, delta: arb, low: arb, high: arb) -> arb:
    return abs(gamma) + delta * (1 + abs((x - low).log()) + abs((high - x).log()))


def johnson_sb(x: arb, gamma: arb, delta: arb, low: arb, high: arb) -> arb:
    z = johnson_sb_score(x, gamma, delta, low, high)
    return -z * z / 2 + (delta * (high - low) / ((x - low) * (high - x))).log() - (2 * arb.pi()).log() / 2


def size_of_johnson_sb(x: arb, gamma: arb, delta: arb, low: arb, high: arb) -> arb:
    z = size_of_johnson_sb_score(x, gamma, delta, low, high)
    return 1 + z * z + abs((x - low).log()) + abs((high - x).log()) + abs(delta.log())


def pert(x: arb, low: arb, high: arb, peak: arb, weight: arb) -> arb:
    a, b = (weight * side / (high - low) for side in (peak - low, high - peak))
    rising = a * ((x - low) / (high - low)).log() + b * ((high - x) / (high - low)).log()
    return rising - (1 + a).lgamma() - (1 + b).lgamma() + (2 + weight).lgamma() - (high - low).log()


def size_of_pert(x: arb, low: arb, high: arb, peak: arb, weight: arb) -> arb:
    """With what moves when an exponent does."""
    each = ((x - low) / (high - low)).log(), ((high - x) / (high - low)).log(), (high - low).log()
    return (1 + weight) * (2 + sum(map(abs, each), abs((2 + weight).lgamma())))


def share_of_hazard(hazard: arb) -> arb:
    return ((1 - (-hazard).exp()) / hazard).log()


def size_of_share_of_hazard(hazard: arb) -> arb:
    return hazard if hazard < 1 else 1 + hazard.log()


def exponentiated_weibull(x: arb, shape: arb, scale: arb, power: arb) -> arb:
    hazard = (x / scale) ** shape
    rising = (power * shape - 1) * (x / scale).log() + (power - 1) * share_of_hazard(hazard)
    return rising - hazard + (power * shape / scale).log()


def size_of_exponentiated_weibull(x: arb, shape: arb, scale: arb, power: arb) -> arb:
    hazard = (x / scale) ** shape
    each = (power * shape + 1) * (x / scale).log(), (power + 1) * (1 + abs(hazard.log())), (shape / scale).log()
    return sum(map(abs, each), arb(1)) + hazard + abs(power.log())


def over_rise(c: arb) -> arb:
    return (c / (1 + c).log()).log()


def size_of_over_rise(c: arb) -> arb:
    return 1 + over_rise(c)


NONE = (-1e-23, 1e-23)
SHARED = [((-30.0, 30.0), NONE, (0.1, 9.0), (0.1, 2.0), NONE, (0.1, 30.0)),
          ((1e-9, 1e-6), NONE, (0.1, 9.0), (1e-3, 0.1), NONE, (0.1, 9.0))]  # fmt: skip
POWERS = [(distance, rest, scale, power) for distance, rest, scale, _, _, power in SHARED]
SHAPES = [((1e-3, 9.0), (0.1, 9.0), (0.5, 9.0)), ((1e-9, 1e-3), (0.1, 2.0), (1e-3, 1.0))]
STEPS = [((1e-3, 9.0), (1e-3, 9.0)), ((1e-9, 1e9), (1e-9, 1e9))]
ODDS = [((1e-9, 0.5), (0.1, 9.0), (-9.0, 9.0)), ((0.5, 0.999), (0.1, 9.0), (-9.0, 9.0))]
RATIOS = [(x, (0.1, 9.0), (-3.0, 3.0), NONE, (0.1, 9.0)) for x in ((1e-3, 9.0), (1e-9, 1e-3), (9.0, 1e9))]
MIXED = [((-9.0, 9.0), (0.1, 3.0), (0.1, 3.0), (0.1, 3.0)), ((-1e3, 1e3), (1.0, 9.0), (0.1, 3.0), (1e-6, 1e2))]
INSIDE = [((0.1, 0.9), (-3.0, 3.0), (0.1, 9.0), (-9.0, 0.0), (1.0, 9.0)),
          ((1e-6, 1e-2), (-3.0, 3.0), (0.1, 9.0), (-1e-6, 0.0), (1.0, 9.0))]  # fmt: skip
PEAKED = [((0.1, 0.9), (-9.0, 0.0), (1.0, 9.0), (0.0, 1.0), (0.1, 30.0)),
          ((1e-6, 1e-2), (-1e-6, 0.0), (1.0, 9.0), (0.0, 1.0), (0.1, 30.0))]  # fmt: skip
FACTORS = [((0.1, 9.0), (-9.0, 9.0)), ((1e-9, 1e9), (1e-9, 1e9))]
SHARES = [((1e-9, 0.5),), ((0.5, 0.999),)]
HAZARDS = [((1e-9, 1e-2),), ((1e-2, 30.0),)]
RISES = [((1e-6, 0.1),), ((0.1, 1e6),)]
THREE = [((0.1, 9.0), (0.3, 3.0), (0.5, 9.0), (0.3, 9.0)), ((1e-6, 0.1), (0.3, 3.0), (0.5, 9.0), (0.3, 9.0))]
TIMES = [((1e-3, 9.0), (0.1, 9.0), (0.1, 9.0)), ((1e-9, 1e9), (0.1, 1e3), (1e-3, 1e3))]
LOGITS = [((-30.0, 30.0), (0.1, 9.0)), ((-80.0, 80.0), (1e-3, 1e3))]
CASES = [
    Case("distance_power", precisely(distance_power), POWERS, POWERS, (2.0, 2.0)),
    Case("shared_distance_power", precisely(shared_distance_power), SHARED, SHARED, (2.0, 2.0)),
    Case("weibull_log_density", precisely(weibull), SHAPES, SHAPES, (2.0, 2.0), size_of_weibull),
    Case("frechet_log_density", precisely(frechet), SHAPES, SHAPES, (2.0, 2.0), size_of_frechet),
    Case("levy_log_density", precisely(levy), STEPS, STEPS, (2.0, 2.0), size_of_levy),
    Case("relaxed_bernoulli_log_density", precisely(relaxed_bernoulli), ODDS, ODDS, (2.0, 2.0),
         size_of_relaxed_bernoulli),
    Case("log_logistic_log_density", precisely(log_logistic), RATIOS, RATIOS, (2.0, 2.0), size_of_log_logistic),
    Case("log_of_sigmoid_powers", precisely(sigmoid_powers), LOGITS, LOGITS, (2.5, 2.5), size_of_sigmoid_powers),
    Case("johnson_sb_score", precisely(johnson_sb_score), INSIDE, INSIDE, (2.0, 2.0), size_of_johnson_sb_score),
    Case("johnson_sb_log_density", precisely(johnson_sb), INSIDE, INSIDE, (3.0, 3.0), size_of_johnson_sb),
    Case("pert_log_density", precisely(pert), PEAKED, PEAKED, (3.0, 3.0), size_of_pert),
    Case("pert_over", precisely(arb.__truediv__), STEPS, STEPS, (2.0, 2.0)),
    Case("pert_leaning", precisely(arb.__mul__), FACTORS, FACTORS, (1.0, 1.0)),
    Case("log_series_total", precisely(series_total), SHARES, SHARES, (4.0, 4.0)),
    Case("birnbaum_saunders_log_density", precisely(birnbaum_saunders), TIMES, TIMES, (3.0, 3.0),
         size_of_birnbaum_saunders),
    Case("log_laplace_log_density", precisely(log_laplace), RATIOS, RATIOS, (2.0, 2.0), size_of_log_logistic),
    Case("log_share_of_hazard", precisely(share_of_hazard), HAZARDS, HAZARDS, (3.0, 3.0), size_of_share_of_hazard),
    Case("exponentiated_weibull_log_density", precisely(exponentiated_weibull), THREE, THREE, (3.0, 3.0),
         size_of_exponentiated_weibull),
    Case("log_over_rise", precisely(over_rise), RISES, RISES, (2.0, 2.0), size_of_over_rise),
    Case("log_first_passage", precisely(first_passage), SHAPES, SHAPES, (3.0, 3.0), size_of_first_passage),
    Case("ex_gaussian_log_excess", precisely(ex_gaussian), MIXED, MIXED, (3.0, 3.0), size_of_ex_gaussian),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype)
