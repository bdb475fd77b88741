"""Products of gamma variables against sums of beta-negative-binomial masses in ball arithmetic."""

import itertools
import math
from functools import cache

import flint
import numpy as np
import pytest
from flint import arb

from vecdist.special import gamma_products
from vecdist.special.gamma_products import (
    _log_gamma_products,
    _log_gamma_products_da,
    _log_gamma_products_dc,
)

BITS = 3000
STEP = arb(2) ** -200
UNITS = 64  # in the last place of a logarithm or a derivative, times the size of the logarithm of the other tail

# a, b, a whole c, and d, on both sides of a b = c d: in the middle and in both tails, with small and with large shapes.
POINTS = [
    (1.0, 1.0, 1.0, 1.0), (3.0, 5.0, 4.0, 4.0), (3.0, 5.0, 60.0, 4.0), (30.0, 500.0, 4.0, 4.0), (0.5, 0.25, 1.0, 0.125),
    (1e-3, 2e-3, 1.0, 3e-3), (1e-3, 2e-3, 900.0, 3e-3), (0.08, 0.005, 1487.0, 0.002), (11.5, 4.5, 753.0, 0.0758),
    (902.0, 144.0, 5.0, 0.0053), (2.6, 0.01, 1267.0, 160.0), (0.3, 0.001, 54.0, 90.0), (3e-3, 900.0, 1.0, 1e-3),
    (300.0, 400.0, 350.0, 360.0), (300.0, 400.0, 350.0, 250.0), (0.9, 0.8, 1.0, 0.7), (50.0, 0.02, 30.0, 0.03),
    (0.15, 0.6, 3000.0, 0.06), (0.5, 2.0, 2500.0, 1.5), (700.0, 1e-3, 2.0, 40.0),
]


@cache
def below(a, b, c, d):
    """The sum of the masses up to c - 1 of a count with shapes a, b of a rate over one of shape d."""
    log_mass = (d + a).lgamma() + (d + b).lgamma() - d.lgamma() - (a + b + d).lgamma()
    mass, total = log_mass.exp(), arb(0)
    for k in range(round(float(c))):
        total += mass
        mass *= (a + k) * (b + k) / ((k + 1) * (a + b + d + k))
    return total


def quantity(more, *point):
    p = below(*point)
    return ((1 - p) if more else p).log()


def slope(more, point, place):
    h = STEP * point[place]
    up, down = (quantity(more, *point[:place], point[place] + s * h, *point[place + 1 :]) for s in (1, -1))
    return (up - down) / (2 * h)


@pytest.mark.parametrize("point", POINTS)
def test_values_and_slopes_in_both_tails(point):
    """Its arguments in the order of either tail: the slope in c as that in the second of the last two."""
    a, b, c, d = point
    with flint.ctx.workprec(BITS):
        balls = tuple(map(arb, point))
        for more in (True, False):
            at = point if more else (c, d, a, b)
            log_tail = quantity(more, *balls)
            size = max(1.0, abs(float(quantity(not more, *balls))))
            close(_log_gamma_products(*at), log_tail, size)
            first, second = (_log_gamma_products_da, _log_gamma_products_dc)
            of = (first, second) if more else (second, first)
            close(of[0](*at), slope(more, balls, 0), size)
            turned = (a, b, d, c) if more else (d, c, a, b)
            close(of[1](*turned), slope(more, balls, 3), size)


def close(found, true, size):
    expected = float(true)
    assert abs(found - expected) <= UNITS * 2.0**-53 * size * abs(expected), (found, expected)


def test_both_ways_to_a_far_tail_agree():
    """By the line below what ``known`` takes for large, and by residues above it."""
    for a, b, d in itertools.product((0.01, 0.7, 5.0, 300.0), repeat=3):
        c = 4.0 * (a + d + gamma_products.ROOM) * (b + d + gamma_products.ROOM) * 1.01
        e, w, slope_a, slope_c = gamma_products.by_line(a, b, c, d)
        far, rest, far_a, far_c, _ = gamma_products.by_residues(a, b, c, d)
        np.testing.assert_allclose(math.log(rest) + far, math.log(w) + e, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose([far_a / rest, far_c / rest], [slope_a / w, slope_c / w], rtol=1e-10)


def test_far_out_it_falls_like_a_power():
    """Beyond 1e140 too: log P + d log c is that of gamma(a + d) gamma(b + d) over those of a, b and d + 1."""
    a, b, d = 2.5, 0.75, 0.01
    constant = sum(map(math.lgamma, (a + d, b + d))) - sum(map(math.lgamma, (a, b, d + 1.0)))
    for c in (1e20, 1e100, 1e200, 1e300):
        np.testing.assert_allclose(_log_gamma_products(a, b, c, d), constant - d * math.log(c), rtol=1e-13)
        np.testing.assert_allclose(_log_gamma_products_dc(a, b, c, d), -d / c, rtol=1e-12)


@pytest.mark.parametrize("place", range(4))
def test_no_shape_makes_it_raise_or_hang(place):
    for x in (0.0, 1e-300, 1e-12, 1.0, 1e15, 1e150, math.inf, math.nan):
        at = [2.0, 3.0, 4.0, 5.0]
        at[place] = x
        for routine in (_log_gamma_products, _log_gamma_products_da, _log_gamma_products_dc):
            assert isinstance(routine(*at), float)
