"""Tails of Pólya-Gamma variables and their slopes, far out too, against their alternating series in ball arithmetic."""

import flint
import pytest
from flint import arb

from vecdist.special.polya_gamma_tails import _log_slope, _log_tail, _quantile, _tail

BITS, STEP = 900, arb(2) ** -200
UNITS = 2e-14  # relative, of a logarithm and of its slopes, times the size of the logarithm

# x, b and z: on both sides of the mean, next to it, in both tails, with small, whole and large b
POINTS = [
    (0.2, 1.0, 1.0), (0.25, 1.0, 0.0), (2.0, 1.0, -3.0), (0.01, 1.0, 2.0), (9.0, 1.0, 0.5), (0.05, 0.2, 0.0),
    (1.5, 0.2, 4.0), (1e-4, 0.2, 1.0), (2.5, 10.0, 0.0), (2.49, 10.0, 0.0), (1.0, 10.0, 5.0), (6.0, 10.0, 1.0),
    (12.0, 60.0, 1.0), (0.4, 60.0, 90.0), (0.2, 60.0, 90.0), (1e-5, 1.0, 3.0),
]


def phi(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def tails(x, b, z):
    """Both, by inverse Gaussian distribution functions with alternating signs."""
    total = arb(0)
    for n in range(90):
        a, weight = n + b / 2, (b + n).lgamma() - arb(n + 1).lgamma() - b.lgamma()
        sides = (side.exp() * phi((-side * x / a - a) / x.sqrt()) for side in (z * a, -z * a))
        total += (-1) ** n * weight.exp() * sum(sides)
    lower = total * (b * (2 * (z / 2).cosh()).log()).exp()
    return lower, 1 - lower


@pytest.mark.parametrize("point", POINTS)
def test_tails_and_their_slopes(point):
    with flint.ctx.workprec(BITS):
        balls = [arb(each) for each in point]
        moved = []
        for place, at in enumerate(balls):
            h = STEP * (at if point[place] else 1)
            moved.append([(tails(*balls[:place], at + s * h, *balls[place + 1 :]), 2 * h) for s in (1, -1)])
        for tail, below in enumerate((1.0, 0.0)):
            truth = tails(*balls)[tail]
            slack = UNITS * (1 + abs(float(truth.log())))
            assert _log_tail(below, *point) == pytest.approx(float(truth.log()), rel=slack)
            assert _tail(below, *point) == pytest.approx(float(truth), rel=slack, abs=0.0)
            for place, ((up, step), (down, _)) in enumerate(moved):
                expected = float((up[tail].log() - down[tail].log()) / step)
                assert _log_slope(float(place), below, *point) == pytest.approx(expected, rel=4 * slack, abs=1e-15)


@pytest.mark.parametrize("point", POINTS)
def test_quantiles(point):
    _, b, z = point
    for below in (1.0, 0.0):
        for share in (1e-200, 1e-9, 0.3):
            assert _tail(below, _quantile(below, b, z, share), b, z) == pytest.approx(share, rel=1e-11, abs=0.0)
