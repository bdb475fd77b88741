"""Tails of noncentral variables and their slopes, far out too, against sums and integrals in ball arithmetic."""

from functools import cache

import flint
import pytest
from flint import arb

from vecdist.special.beta_of_odds import ODDS, RATIO
from vecdist.special.noncentral_beta_tails import _log_slope, _log_tail, _quantile, _tail
from vecdist.special.noncentral_t_tails import _cdf, _log_cdf
from vecdist.special.noncentral_t_tails import _log_slope as _log_t_slope
from vecdist.special.noncentral_t_tails import _quantile as _t_quantile

BITS, STEP = 900, arb(2) ** -200
UNITS = 4e-15  # relative, of a logarithm and of its slopes, times the size of the logarithm

# a form, both shapes, the rate and a number: on both sides of the middle, small, large, next to 0 and far out
POINTS = [
    (RATIO, 1.0, 1.0, 0.5, 1.0), (RATIO, 1.5, 4.0, 3.0, 0.01), (RATIO, 1.5, 4.0, 3.0, 40.0),
    (RATIO, 4.0, 300.0, 120.0, 9.0), (RATIO, 4.0, 300.0, 120.0, 90.0), (RATIO, 70.0, 2.0, 900.0, 3.0),
    (RATIO, 2.0, 3.0, 1e-9, 1e-6), (ODDS, 2.0, 3.0, 5.0, 1e-8), (ODDS, 2.0, 3.0, 5.0, 0.999),
    (ODDS, 0.4, 30.0, 60.0, 0.7), (ODDS, 30.0, 0.4, 0.25, 0.1), (RATIO, 0.05, 0.3, 2.0, 1.0),
]  # fmt: skip


@cache
def mixture(form, a, b, rate, z):
    """Both tails, by the recurrence of incomplete beta functions in the first shape, DLMF 8.17.20."""
    x = z if form == ODDS else z * a / (b + z * a)
    below = x.beta_lower(a, b, 1)
    step = (a * x.log() + b * (1 - x).log() - (a + 1).lgamma() - b.lgamma() + (a + b).lgamma()).exp()
    mass, whole, total = (-rate).exp(), arb(0), arb(0)
    for k in range(300 + 3 * int(float(rate))):
        total, whole = total + mass * below, whole + mass
        below -= step
        step *= x * (a + b + k) / (a + k + 1)
        mass *= rate / (k + 1)
    return total, whole - total


def true_slope(tail, form, *at, place):
    up, down = (
        mixture(form, *at[:place], at[place] * (1 + sign * STEP), *at[place + 1 :])[tail].log() for sign in (1, -1)
    )
    return float((up - down) / (2 * STEP * at[place]))


@pytest.mark.parametrize("point", POINTS)
def test_tails_of_noncentral_beta_variables_and_their_slopes(point):
    form, *at = point
    with flint.ctx.workprec(BITS):
        balls = [arb(each) for each in at]
        for tail, below in enumerate((1.0, 0.0)):
            truth = mixture(form, *balls)[tail]
            slack = UNITS * (1 + abs(float(truth.log())))
            assert _log_tail(below, *point) == pytest.approx(float(truth.log()), rel=slack, abs=1e-300)
            assert _tail(below, *point) == pytest.approx(float(truth), rel=slack, abs=0.0)
            for place in range(4):
                per_z = at[3] * (1 - at[3] if form == ODDS else 1) if place == 3 else 1.0
                expected = true_slope(tail, form, *balls, place=place)
                assert _log_slope(float(place), below, *point) / per_z == pytest.approx(expected, rel=4 * slack)


@pytest.mark.parametrize("point", POINTS)
def test_quantiles_of_noncentral_beta_variables(point):
    *given, _ = point
    for below in (1.0, 0.0):
        for share in (1e-200, 1e-9, 0.3):
            z = _quantile(below, *given, share)
            assert z >= 0.0
            if 0.0 < z < (0.999 if given[0] == ODDS else 1e300):
                assert _tail(below, *given, z) == pytest.approx(share, rel=1e-12, abs=0.0)


# a number, degrees of freedom, noncentrality and scale: on the side of the mean and on the other, and in both tails
T_POINTS = [
    (1.0, 3.0, 1.5, 1.0), (-1.0, 3.0, 1.5, 1.0), (-40.0, 30.0, 2.0, 0.5), (900.0, 0.7, 2.0, 3.0),
    (-0.4, 0.02, 1.0, 1.0), (8.0, 200.0, 9.0, 1.0), (1e-3, 200.0, 9.0, 1.0), (60.0, 4.0, 30.0, 1.0),
    (-3.0, 900.0, 5.0, 1.0), (2.0, 5.0, -3.0, 1.0), (-1e60, 2.0, 1.0, 1.0), (1e-9, 2.0, 0.0, 1.0),
    (-9.0, 7.5, 0.01, 1.0),
]  # fmt: skip


def t_tails(x, df, nc, scale):
    """Both tails by the mixture of halves, whose signs alternate on the other side; 0 < x or 0 <= nc."""
    z = x / scale
    if nc < 0:
        lower, upper = t_tails(-x, df, -nc, scale)
        return upper, lower
    rate, share, total = nc * nc / 2, z * z / (df + z * z), arb(0)
    for odd in (0, 1):
        a, mass = arb(1 + odd) / 2, (-rate).exp() * (nc / arb(2).sqrt() if odd else 1) / (1 + arb(odd) / 2).gamma()
        above = (df / (df + z * z)).beta_lower(df / 2, a, 1)
        step = a * share.log() - df / 2 * (1 + z * z / df).log() - (a + 1).lgamma() - (df / 2).lgamma()
        step = (step + (a + df / 2).lgamma()).exp()
        for k in range(300 + 3 * int(float(rate))):
            total += mass * above / 2 * (-1 if odd and z < 0 else 1)
            above += step
            step *= share * (a + k + df / 2) / (a + k + 1)
            mass *= rate / (k + 1 + arb(odd) / 2)
    return (total, 1 - total) if z < 0 else (1 - total, total)


@pytest.mark.parametrize("point", T_POINTS)
def test_tails_of_noncentral_t_variables_and_their_slopes(point):
    with flint.ctx.workprec(BITS):
        balls = [arb(each) for each in point]
        x, df, nc, scale = point
        for upper, at in enumerate(((x, df, nc, scale), (-x, df, -nc, scale))):
            log_truth = t_tails(*balls)[upper].log()
            slack = UNITS * (1 + abs(float(log_truth)))
            assert _log_cdf(*at) == pytest.approx(float(log_truth), rel=slack)
            assert _cdf(*at) == pytest.approx(float(log_truth.exp()), rel=slack, abs=0.0)
            for place in range(4):
                h = STEP * (balls[place] if point[place] else 1)
                moved = [[*balls[:place], balls[place] + sign * h, *balls[place + 1 :]] for sign in (1, -1)]
                up, down = (t_tails(*each)[upper].log() for each in moved)
                found = _log_t_slope(float(place), *at) * (-1 if upper and place in (0, 2) else 1)
                assert found == pytest.approx(float((up - down) / (2 * h)), rel=20 * slack, abs=1e-15)


@pytest.mark.parametrize("point", T_POINTS)
def test_quantiles_of_noncentral_t_variables(point):
    _, df, nc, _ = point
    for share in (1e-200, 1e-9, 0.3, 0.999):
        z = _t_quantile(df, nc, share)
        assert z == z
        if abs(z) < 1e300:
            assert _cdf(z, df, nc, 1.0) == pytest.approx(share, rel=1e-11, abs=0.0)
