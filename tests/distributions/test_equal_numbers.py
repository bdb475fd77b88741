"""Derivatives of log densities where numbers are equal or round: maxima, absolute values and choices are tied there.

The truth is in differences of balls, from either side: where both agree there is a derivative, and no side to be taken.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from family_cases import EVERY_WAY, WAY_IDS, density, way_of
from family_truth import true_density
from flint import arb, ctx

from vecdist.backends.interpreter import interpret
from vecdist.expr import Node

POINTS = (0.0, 0.5, 1.0, 2.0, 3.0, 0.25)
POSITIVE, SHARES, COUNTS, REAL = (1.0, 0.5, 2.0), (0.5, 0.25, 0.75), (1.0, 2.0, 3.0), (0.0, 1.0, 0.5, -1.0, 2.0)
MOST = 8  # rows of each parametrisation
CLOSE = 1e-9
STEP = -100  # the logarithm to the base 2


def values_of(name, constraint):
    if name == "sd":
        return (*POSITIVE, 0.25)
    if constraint.lower == 0 and constraint.upper == 1:
        return SHARES
    return COUNTS if constraint.whole else POSITIVE if constraint.lower == 0 else REAL


def allowed(constraints, given):
    """Whether parameters are valid, by bounds that may depend on each other."""
    for name, constraint in constraints.items():
        own = constraint.among(SimpleNamespace(**given))
        low, high = (float(interpret([b], [], {})[0]) if isinstance(b, Node) else b for b in (own.lower, own.upper))
        inside = low <= given[name] <= high
        if not inside or (own.open_lower and given[name] == low) or (own.open_upper and given[name] == high):
            return False
    return True


def tied_rows(family, names):
    """Rows of x and parameters, and the partial derivatives there: parameters are equal, or x is one of them."""
    constraints = way_of(family, names).constraints
    given = [row for row in itertools.product(*(values_of(*item) for item in constraints.items()))
             if allowed(constraints, dict(zip(names, row, strict=True)))]
    rows = [(x, *row) for row in given for x in POINTS]
    by_parameters, by_x = (sorted(rows, key=of) for of in (lambda row: len(set(row[1:])), lambda row: len(set(row))))
    rows = np.array([*dict.fromkeys(itertools.chain(*zip(by_parameters, by_x, strict=True)))][: 4 * MOST])
    x, *parameters = (np.ascontiguousarray(column) for column in rows.T)
    value, partials = density(family, names, x, parameters)
    inside = np.flatnonzero(np.isfinite(value))[:MOST]
    return rows[inside], np.array(partials)[:, inside]


def slopes_of_balls(family, names, row):
    """The slopes to the right and to the left in each argument."""
    ctx.prec = 400
    at = [arb(float(number)) for number in row]

    def moved(place, step):
        x, *parameters = (number + step * (place == i) for i, number in enumerate(at))
        return true_density(family, names, x, parameters)

    step, middle = arb(2) ** STEP, moved(0, 0)
    return [[float((moved(i, way * step) - middle) / (way * step)) for way in (1, -1)] for i in range(len(at))]


@pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
def test_slopes_at_ties(interpreter, family, names):
    rows, partials = tied_rows(family, names)
    true = np.array([slopes_of_balls(family, names, row) for row in rows])
    right, left = true[..., 0].T, true[..., 1].T
    with np.errstate(invalid="ignore"):
        smooth = abs(right - left) <= CLOSE * (1 + abs(right))
    smooth[0] &= not family.discrete
    wrong = smooth & ~(abs(partials - right) <= CLOSE * (1 + abs(right)))
    found = [(f"d/d{('x', *names)[i]} at {rows[j]}", partials[i][j], right[i, j]) for i, j in np.argwhere(wrong)]
    assert not found
    assert smooth[1:].any() or family.__name__ == "Dirac"
