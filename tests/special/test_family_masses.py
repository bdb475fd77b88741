"""Masses, angles and exponents that families are made of: by balls, with arguments as families give them."""

import pytest
from flint import arb
from ulps import DTYPES, Case, assert_accurate, at_least_one, one, precisely

import vecdist.distributions  # noqa: F401 (where these functions are)


def ends(loc: arb, scale: arb, low: arb, high: arb) -> tuple[arb, arb]:
    return (low - loc) / scale, (high - loc) / scale


def angle(*at: arb) -> arb:
    low, high = ends(*at)
    return high.atan() - low.atan()


def log_angle(loc: arb, scale: arb, low: arb, high: arb) -> arb:
    return (scale * angle(loc, scale, low, high)).log()


def size_of_log_angle(loc: arb, scale: arb, low: arb, high: arb) -> arb:
    """That of the logarithm of the width, and of what the angle is smaller."""
    return abs((high - low).log()).max(abs(log_angle(loc, scale, low, high) - (high - low).log()))


def mass(*at: arb) -> arb:
    low, high = (z / arb(2).sqrt() for z in ends(*at))
    return (low.erfc() - high.erfc() if low + high > 0 else (-high).erfc() - (-low).erfc()) / 2


def log_mass(*at: arb) -> arb:
    return mass(*at).log()


def upper_edge(*at: arb) -> arb:
    _, high = ends(*at)
    return (-high * high / 2).exp() / (2 * arb.pi()).sqrt() / mass(*at)


def lower_edge(*at: arb) -> arb:
    low, _ = ends(*at)
    return (-low * low / 2).exp() / (2 * arb.pi()).sqrt() / mass(*at)


def log_lower_share(loc: arb, scale: arb, low: arb, x: arb, high: arb) -> arb:
    return (mass(loc, scale, low, x) / mass(loc, scale, low, high)).log()


def raised_cosine(distance: arb, rest: arb, scale: arb) -> arb:
    return ((1 + (arb.pi() * (distance + rest) / scale).cos()) / (2 * scale)).log()


def triangle(distance: arb, rest: arb, scale: arb) -> arb:
    return ((scale - distance - rest) / scale**2).log()


def rate_deviance(k: arb, rate: arb, _: arb) -> arb:
    return k * (rate / k).log() - (rate - k)


def semicircle(x: arb, radius: arb) -> arb:
    return (2 * (radius**2 - x**2).sqrt() / (arb.pi() * radius**2)).log()


def semicircle_cdf(x: arb, radius: arb) -> arb:
    return ((1 + x / radius) / 2).beta_lower(arb("1.5"), arb("1.5"), 1)


def log_beta(a: arb, b: arb) -> arb:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def beta_binomial(x: arb, n: arb, alpha: arb, beta: arb) -> arb:
    choices = -(n + 1).log() - log_beta(x + 1, n - x + 1)
    return choices + log_beta(x + alpha, n - x + beta) - log_beta(alpha, beta)


def beta_negative_binomial(x: arb, r: arb, alpha: arb, beta: arb) -> arb:
    return log_beta(alpha + r, beta + x) - log_beta(alpha, beta) - log_beta(r, x + 1) - (r + x).log()


def rising(start: arb, steps: arb) -> arb:
    """log Γ(start + steps) - log Γ(start), by which masses of counts are made."""
    return abs((start + steps).lgamma() - start.lgamma())


def size_of_beta_binomial(x: arb, n: arb, alpha: arb, beta: arb) -> arb:
    return rising((alpha + beta).max(n), (alpha + beta).min(n))


def size_of_beta_negative_binomial(x: arb, r: arb, alpha: arb, beta: arb) -> arb:
    return rising(beta + x, alpha + r) if x > alpha else rising(alpha + beta, r + x)


def digamma_rise(x: arb, d: arb) -> arb:
    return (x + d).digamma() - x.digamma()


def log1p_square(distance: arb, inverse_scale: arb, log_scale: arb) -> arb:
    return ((distance * inverse_scale) ** 2).log1p()


def student_decay(distance: arb, inverse_scale: arb, log_scale: arb, df: arb) -> arb:
    return (df + 1) / 2 * ((distance * inverse_scale) ** 2 / df).log1p()


def stirling_error(k: arb) -> arb:
    return (k + 1).lgamma() - (k + arb("0.5")) * k.log() + k - (2 * arb.pi()).log() / 2


SCALE = (0.5, 2.0)
AROUND = [((-1.0, 1.0), SCALE, (-4.0, -1.5), (1.5, 4.0)), ((-1.0, 1.0), SCALE, (-1e3, -10.0), (1.5, 3.0))]
NARROW = [((-1.0, 1.0), SCALE, (1.0, 1.01), (1.0101, 1.02)), ((-9.0, 9.0), SCALE, (0.1, 0.2), (0.3, 0.4))]
TAILS = [((-1.0, 1.0), SCALE, (3.0, 4.0), (5.0, 8.0)), ((-1.0, 1.0), SCALE, (-8.0, -5.0), (-4.0, -2.0))]
FAR = [((-1.0, 1.0), SCALE, (1e3, 1e6), (2e6, 1e9)), ((-1e3, 1e3), SCALE, (-1e6, -1e5), (-9e4, -9e3))]
SHARES = [((-1.0, 1.0), SCALE, (-4.0, -1.5), (-1.0, 1.0), (1.5, 4.0)),
          ((-1.0, 1.0), SCALE, (3.0, 4.0), (4.1, 4.9), (5.0, 8.0)),
          ((-1.0, 1.0), SCALE, (1e3, 1e4), (1.1e4, 1.2e4), (2e4, 1e5)),
          ((-1.0, 1.0), SCALE, (-8.0, -5.0), (-4.0, -3.0), (-2.0, -1.5)),
          ((-9.0, 9.0), SCALE, (0.1, 0.2), (0.21, 0.29), (0.3, 0.4))]
DISCS = [((-0.9, 0.9), (1.0, 30.0)), ((0.0665, 0.0668), (0.067, 0.0671))]
COUNTS = [((2.0, 9.0), (10.0, 30.0), (0.2, 20.0), (0.2, 20.0)), ((10.0, 20.0), (30.0, 50.0), (1e2, 1e4), (1e2, 1e4)),
          ((1e3, 1e4), (2e4, 1e5), (0.5, 20.0), (0.5, 20.0))]
FAILURES = [((2.0, 9.0), (0.2, 20.0), (0.2, 20.0), (0.2, 20.0)), ((1e3, 1e4), (0.5, 20.0), (1.0, 20.0), (0.5, 20.0)),
            ((2.0, 9.0), (0.5, 20.0), (1e2, 1e4), (1e2, 1e4))]
NONE = (-1e-23, 1e-23)
BUMPS = [((1e-3, 1.0), NONE, (1.1, 30.0)), ((1.0, 1.99), NONE, (2.0, 2.1)), ((1e-9, 1e-3), NONE, (1e-2, 1e3))]
RATES = [((1.0, 3.0), (2.0, 60.0), (0.1, 1.0)), ((10.0, 20.0), (9.0, 15.0), (2.0, 3.0)),
         ((900.0, 1e3), (9e2, 9e6), NONE)]
RISES = [((1e-3, 60.0), (1e-3, 60.0)), ((1e-6, 1.0), (1e-9, 1e-3)), ((3.0, 1e6), (1e-3, 1e6))]
SQUARES = [(distance, SCALE, SCALE) for distance in ((-5.0, 5.0), (1e-6, 1e-3), (1e3, 1e15))]
DECAYS = [(*at, df) for at, df in zip(SQUARES, ((0.5, 30.0), (1.0, 1e3), (0.5, 1e6)), strict=True)]
EXPONENTS, EXPONENTS_SINGLE = [((-700.0, 700.0), (-5e-14, 5e-14))], [((-80.0, 80.0), (-4e-6, 4e-6))]
NEAR_ZERO = [((1e-6, 0.3), (-1e-23, 1e-23)), ((-0.3, -1e-6), (-1e-23, 1e-23))]
EXCESSES = one((1e-9, 0.3), (0.3, 0.5), (0.5, 1e6), (-0.2, -1e-9), (-0.4, -0.2), (-0.99, -0.4))
CIRCULAR = [((1e-6, 1.0), (-1e-17, 1e-17)), ((-10.0, 10.0), (-1e-16, 1e-16)), ((10.0, 1e5), (-1e-12, 1e-12))]
CIRCULAR_SINGLE = [((1e-6, 1.0), (-1e-8, 1e-8)), ((-10.0, 10.0), (-1e-7, 1e-7)), ((10.0, 8e3), (-1e-4, 1e-4))]
CASES = [
    Case("angle", precisely(angle), AROUND + NARROW + TAILS + FAR, AROUND + NARROW + TAILS + FAR, (4.0, 4.0)),
    Case("log_angle", precisely(log_angle), AROUND + NARROW + TAILS + FAR, AROUND + NARROW + TAILS + FAR, (4.0, 4.0),
         size_of_log_angle),
    Case("log_mass_between", precisely(log_mass), NARROW + TAILS, NARROW + TAILS, (4.0, 4.0)),
    Case("log_mass_between", precisely(log_mass), AROUND, AROUND, (2.0, 2.0), at_least_one),  # of a mass next to 1
    Case("log_lower_share", precisely(log_lower_share), SHARES, SHARES, (4.0, 4.0), at_least_one),
    Case("semicircle_log_density", precisely(semicircle), DISCS, DISCS, (4.0, 4.0)),
    Case("semicircle_cdf", precisely(semicircle_cdf), DISCS[:1], DISCS[:1], (4.0, 4.0)),
    Case("upper_edge", precisely(upper_edge), AROUND[:1] + NARROW + TAILS, AROUND[:1] + NARROW + TAILS, (6.0, 6.0)),
    Case("lower_edge", precisely(lower_edge), AROUND[:1] + NARROW + TAILS, AROUND[:1] + NARROW + TAILS, (6.0, 6.0)),
    Case("cosine_log_density", precisely(raised_cosine), BUMPS, BUMPS, (4.0, 4.0)),
    Case("triangle_log_density", precisely(triangle), BUMPS, BUMPS, (4.0, 4.0)),
    Case("rate_deviance", precisely(rate_deviance), RATES, RATES, (4.0, 4.0)),
    Case("beta_binomial_log_mass", precisely(beta_binomial), COUNTS, COUNTS, (4.0, 4.0), size_of_beta_binomial),
    Case("beta_negative_binomial_log_mass", precisely(beta_negative_binomial), FAILURES, FAILURES, (4.0, 4.0),
         size_of_beta_negative_binomial),
    Case("digamma_rise", precisely(digamma_rise), RISES, RISES, (4.0, 4.0)),
    Case("log1p_square", precisely(log1p_square), SQUARES, SQUARES, (2.0, 2.0)),
    Case("student_decay", precisely(student_decay), DECAYS, DECAYS, (6.0, 4.0)),
    Case("stirling_error", precisely(stirling_error), one((3.0, 60.0), (60.0, 1e15), (1.0, 1.0), (2.0, 2.0)),
         one((3.0, 60.0), (60.0, 1e7), (1.0, 1.0), (2.0, 2.0)), (4.0, 4.0), lambda k: (2 * arb.pi() * k).log() / 2),
    Case("log1p_excess", precisely(lambda e: e.log1p() - e), EXCESSES, EXCESSES, (4.0, 4.0)),
    Case("sin_of_parts", lambda x, rest: (x + rest).sin(), CIRCULAR, CIRCULAR_SINGLE, (2.0, 2.0)),
    Case("cos_of_parts", lambda x, rest: (x + rest).cos(), CIRCULAR, CIRCULAR_SINGLE, (2.0, 2.0)),
    Case("cos_less_one", precisely(lambda x, rest: (x + rest).cos() - 1), CIRCULAR, CIRCULAR_SINGLE, (3.0, 3.0)),
    Case("exp_of_parts", precisely(lambda high, rest: (high + rest).exp()), EXPONENTS, EXPONENTS_SINGLE, (4.0, 4.0)),
    Case("expm1_of_parts", precisely(lambda high, rest: (high + rest).expm1()), EXPONENTS + NEAR_ZERO,
         EXPONENTS_SINGLE + NEAR_ZERO, (4.0, 4.0)),
    Case("less_exp", precisely(lambda x, rest: x - (x + rest).exp()), EXPONENTS, EXPONENTS_SINGLE, (4.0, 4.0)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 40)
