"""Tails of first passages with their slopes, at round and extreme values, against sums of images in ball arithmetic."""

import functools
import math
import random

import flint
import numpy as np
import pytest
from balls import certified
from flint import arb

import vecdist
from vecdist.special.passage_tails import _log_slope, _log_tail, _quantile, _quantile_slope, _slope, _tail

UNITS = 2e-13  # relative, of a logarithm; 20 times that of its slopes

# t, beta and the drift: early and late, next to the upper end and to the lower one, with a drift to either and without
POINTS = [
    (0.25, 0.5, 0.0), (0.3, 0.5, 0.0), (0.299, 0.75, 1.0), (1.0, 0.25, -2.0), (1e-3, 0.5, 0.0), (1e-4, 0.5, 3.0),
    (20.0, 0.5, 0.0), (300.0, 0.5, 0.5), (300.0, 0.5, -30.0), (0.02, 0.5, 30.0), (0.015, 0.5, -30.0), (0.05, 0.5, 30.0),
    (5e-4, 0.5, 1000.0), (5.1e-4, 0.5, 1000.0), (4e-4, 0.5, -1000.0), (0.1, 1e-9, 0.0), (0.5, 1e-9, 5.0),
    (0.1, 1e-300, -5.0), (1e-4, 1 - 2.0**-40, 0.0), (2.0**-76, 1 - 2.0**-40, 0.0), (0.2, 1 - 2.0**-40, -1e-6),
    (2.0, 1 - 2.0**-40, 50.0), (1e-9, 1 - 2.0**-40, 1e3), (0.25, 0.5, 1e-200), (0.1, 0.9, -200.0),
    (0.01, 0.999, 0.5), (1e-4, 2.0**-20, 1e4), (100.0, 0.25, 0.0),
]


def random_points(count):
    rng = random.Random(7)
    for _ in range(count):
        beta = rng.choice([rng.random(), 10 ** -rng.uniform(1, 12), 1 - 2.0 ** -rng.randint(2, 45)])
        drift = rng.choice([rng.uniform(-4, 4), rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 3)])
        yield 10 ** rng.uniform(-3, 1.5), beta, drift


def phi(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def tails(t, beta, drift):
    """Both, each image being a first passage through one boundary, or late all but the waves that are left."""
    w, size, digits = 1 - beta, abs(drift), flint.ctx.prec
    whole = beta if drift == 0 else (1 - (-2 * drift * beta).exp()) / (1 - (-2 * drift).exp())
    if t > 0.5:
        left = arb(0)
        for k in range(1, 3 + int(math.sqrt(0.15 * digits / float(t)))):
            a = ((k * arb.pi()) ** 2 + drift**2) / 2
            left += arb.pi() * k * (k * arb.pi() * w).sin() * (-a * t).exp() / a
        lower = whole - (drift * w).exp() * left
    else:
        lower, most = arb(0), 2 + int(math.sqrt(0.4 * digits * float(t)))
        for v in (w + 2 * k for k in range(-most, most + 1)):
            ends = ((side * abs(v)).exp() * phi((-side * t - abs(v)) / t.sqrt()) for side in (size, -size))
            lower += (1 if v > 0 else -1) * (drift * w).exp() * sum(ends)
    return lower, 1 - lower


@functools.cache
def truth(*point):
    """Both tails, their logarithms, and the slopes of these in each argument, by differences."""
    t, beta, drift = point
    exponent = abs(drift) + 0.5 * (1 - beta) ** 2 / t + 0.5 * drift**2 * t + 15 * t - math.log2(beta)
    balls = [arb(each) for each in point]

    def known():
        moved = []
        for place, at in enumerate(balls):
            h = arb(2) ** -80 * (t, beta * (1 - balls[1]), max(abs(drift), 1.0))[place]
            shifted = [[at + s * h if i == place else other for i, other in enumerate(balls)] for s in (1, -1)]
            sides = [tails(*each) for each in shifted]
            moved.append([(up.log() - down.log()) / (2 * h) for up, down in zip(*sides, strict=True)])
        both = tails(*balls)
        return [*both, *(each.log() for each in both), *(slope for pair in zip(*moved, strict=True) for slope in pair)]

    bits = 220 + 2 * int(exponent), 350 + 4 * int(exponent)
    numbers = [certain(each) for each in certified(known, 61, [min(8000, each) for each in bits])]
    return numbers[:2], numbers[2:4], (numbers[4:7], numbers[7:])


def certain(ball):
    """A number that a ball is, to all digits of a float; nothing where it is too small for one."""
    assert ball.rel_accuracy_bits() > 60 or abs(ball) < 1e-320
    return float(ball)


@pytest.mark.parametrize("point", [*POINTS, *random_points(60)])
def test_tails_and_their_slopes(point):
    values, logarithms, slopes = truth(*point)
    for tail, below in enumerate((1.0, 0.0)):
        slack = UNITS * (1 + abs(point[2]) ** 0.5)
        absolute = slack * (1 + abs(logarithms[tail]))
        assert _log_tail(below, *point) == pytest.approx(logarithms[tail], rel=slack)
        assert _tail(below, *point) == pytest.approx(values[tail], rel=absolute, abs=0.0)
        for place, expected in enumerate(slopes[tail]):
            assert _log_slope(float(place), below, *point) == pytest.approx(expected, rel=20 * slack, abs=1e-300)
            of_tail = expected * values[tail]
            assert _slope(float(place), below, *point) == pytest.approx(of_tail, rel=20 * absolute, abs=1e-300)


@pytest.mark.parametrize("point", [*POINTS, *random_points(60)])
def test_quantiles_are_where_the_tails_have_that_value(point):
    """As well as the place is told by the floats next to the value, and where there is none infinite."""
    _, beta, drift = point
    for below in (1.0, 0.0):
        for share in (1e-300, 1e-9, 0.125, 0.5, 1 - 2.0**-20):
            found, most = _quantile(below, beta, drift, share), _tail(below, math.inf, beta, drift)
            if (share >= most) if below else (share <= most):
                assert found == math.inf
            elif found not in (0.0, math.inf):
                assert _tail(below, found, beta, drift) == pytest.approx(share, rel=1e-10, abs=0.0)


def test_ends():
    for below, at_zero in ((1.0, 0.0), (0.0, 1.0)):
        assert _tail(below, 0.0, 0.25, 1.0) == at_zero
        assert _slope(0.0, below, 0.0, 0.25, 1.0) == 0.0
        whole = math.expm1(-0.5) / math.expm1(-2.0)
        assert _tail(below, math.inf, 0.25, 1.0) == pytest.approx(whole if below else 1 - whole, rel=1e-15)
        assert math.isnan(_tail(below, math.nan, 0.25, 1.0))
        assert math.isnan(_quantile(below, 0.25, 1.0, -0.5))
        assert _quantile(below, 0.25, 1.0, 0.0) == (0.0 if below else math.inf)
        assert _quantile(below, 0.25, 1.0, 1.0) == (math.inf if below else 0.0)
    assert _log_tail(1.0, 1e-300, 0.5, 1.0) == pytest.approx(-0.125e300, rel=1e-15)


@pytest.mark.parametrize("point", [(0.125, 0.5, 1.0), (0.25, 0.75, -2.0)])
def test_slopes_of_quantiles(point):
    t, beta, drift = point
    for below in (1.0, 0.0):
        of_t, of_beta, of_drift = (_slope(which, below, t, beta, drift) for which in (0.0, 1.0, 2.0))
        for which, expected in enumerate((1 / of_t, -of_beta / of_t, -of_drift / of_t)):
            assert _quantile_slope(float(which), below, t, beta, drift) == pytest.approx(expected, rel=1e-13)
    assert _quantile_slope(1.0, 1.0, math.inf, beta, drift) == 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_verbs_of_the_family(dtype):
    """All five arguments: exact fractions, so that times and drifts in units of the boundaries are no other numbers."""
    rng, kind = np.random.default_rng(3), np.finfo(dtype)
    alpha, tau = 2.0 ** rng.integers(-1, 3, 12), rng.integers(0, 5, 12) / 4
    beta, delta = rng.integers(1, 32, 12) / 32, rng.integers(-8, 9, 12) / 4
    x = tau + alpha**2 * rng.integers(1, 64, 12) / 64
    given = [each.astype(dtype) for each in (x, alpha, tau, beta, delta)]
    distribution = vecdist.distributions.WienerFirstPassage(*given[1:])
    for tail, verb in enumerate((vecdist.logcdf, vecdist.logsf)):
        value, partials = vecdist.value_and_partials(verb(distribution, given[0]), given)
        usual = (vecdist.cdf, vecdist.sf)[tail](distribution, given[0])
        for i in range(12):
            t, d = (x[i] - tau[i]) / alpha[i] ** 2, delta[i] * alpha[i]
            both, logarithms, slopes = truth(float(t), float(beta[i]), float(d))
            of_t, of_beta, of_drift = slopes[tail]
            of_x = of_t / alpha[i] ** 2
            expected = [of_x, delta[i] * of_drift - 2 * t / alpha[i] * of_t, -of_x, of_beta, alpha[i] * of_drift]
            size = float(kind.eps) * (400 if dtype == np.float64 else 8)
            assert value[i] == pytest.approx(logarithms[tail], rel=size)
            assert np.asarray(usual)[i] == pytest.approx(both[tail], rel=size * (1 + abs(logarithms[tail])))
            largest = abs(delta[i] * of_drift) + abs(2 * t / alpha[i] * of_t)
            for slope, (place, right) in zip(partials, enumerate(expected), strict=True):
                assert slope[i] == pytest.approx(right, rel=8 * size, abs=8 * size * (largest if place == 1 else 0.0))
