"""Logarithms of tails next to 0, which are minus the other tail: as accurate as floats are, however little that is.

Tails of gamma and beta variables are exponentials of large numbers; what rounding takes from those would be amplified.
Truths are balls (python-flint).
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from family_cases import scipys
from flint import arb, ctx

import vecdist
from vecdist.distributions import FAMILIES

BITS, STEP = 400, arb(2) ** -100
BOUND = 8.0  # units in the last place of the logarithm itself
BOUND_OF_SLOPES = 12.0
BY_RATIO = {"Chi", "InverseGamma"}  # in shapes: of what x / shape moves, as large as the exponent, and the rest
LEAST_TAILS = (1e-3, 1e-33, 1e-201, 1e-290)
GAMMA_SHAPES = (0.5, 1.0, 2.0, 3.0, 19.75, 250.467)
PAIRS = ((0.01525, 124.49), (0.5, 0.5), (1.0, 2.0), (2.0, 2.0), (2.5, 700.0), (30.0, 20.0), (79.5, 905.0))

Row = dict[str, tuple[float, ...]]


def gamma(x: arb, shape: arb, upper: bool) -> arb:
    return x.gamma_upper(shape, 1) if upper else x.gamma_lower(shape, 1)


def beta(x: arb, a: arb, b: arb, upper: bool) -> arb:
    return (1 - x).beta_lower(b, a, 1) if upper else x.beta_lower(a, b, 1)


def pairs(first: str, second: str) -> Row:
    return {first: tuple(a for a, _ in PAIRS), second: tuple(b for _, b in PAIRS)}


# Parameters, and the tail at x and these, the upper one or not
TAIL: dict[str, tuple[Row, Callable[..., arb]]] = {
    "Gamma": ({"shape": GAMMA_SHAPES, "scale": (0.737444,)}, lambda up, x, k, s: gamma(x / s, k, up)),
    "Chi": ({"df": GAMMA_SHAPES}, lambda up, x, k: gamma(x**2 / 2, k / 2, up)),
    "InverseGamma": ({"shape": GAMMA_SHAPES, "scale": (0.0067,)}, lambda up, x, k, s: gamma(s / x, k, not up)),
    "Poisson": ({"rate": GAMMA_SHAPES}, lambda up, x, rate: gamma(rate, x + 1, not up)),
    "Beta": (pairs("alpha", "beta"), lambda up, x, a, b: beta(x, a, b, up)),
    "BetaPrime": (pairs("alpha", "beta"), lambda up, x, a, b: beta(x / (1 + x), a, b, up)),
    "Binomial": ({"n": (3.0, 40.0, 500.0), "p": (0.15,)}, lambda up, x, n, p: beta(p, x + 1, n - x, not up)),
    "NegativeBinomial": ({"r": (0.5, 1.0, 77.0), "p": (0.25,)}, lambda up, x, r, p: beta(p, r, x + 1, up)),
}


def points(name: str, verb: str) -> list[np.ndarray]:
    """x, where the tail that the verb does not ask for has one of these sizes, and parameters."""
    given = np.broadcast_arrays(*(np.array(column) for column in TAIL[name][0].values()))
    oracle = scipys(FAMILIES[name], tuple(TAIL[name][0]), [column[:, None] for column in given])
    with warnings.catch_warnings(action="ignore"):
        x = (oracle.isf if verb == "logcdf" else oracle.ppf)(np.array(LEAST_TAILS))
    rows = np.broadcast_arrays(x, *(column[:, None] for column in given))
    inside = np.isfinite(x) & (x > 1e-60) & (x < 1e60) & ~((name == "Beta") & (x >= 1.0))
    return [row[inside] for row in rows]


def truth(name: str, verb: str, at: list[arb], places: list[int]) -> list[arb]:
    def value(row: list[arb]) -> arb:
        return (-TAIL[name][1](verb == "logcdf", *row)).log1p()

    found = [value(at)]
    for place in places:
        step = STEP * at[place]
        up, down = ([v + s if i == place else v for i, v in enumerate(at)] for s in (step, -step))
        found.append((value(up) - value(down)) / (2 * step))
    return found


@pytest.mark.parametrize("verb", ["logcdf", "logsf"])
@pytest.mark.parametrize("name", TAIL)
def test_logarithms_next_to_0_are_accurate_relative_to_themselves(interpreter: Any, name: str, verb: str) -> None:
    x, *given = points(name, verb)
    assert len(x) >= 2
    places = [place for place, name_of in enumerate(TAIL[name][0], 1) if name_of != "n"]
    distribution = FAMILIES[name](**dict(zip(TAIL[name][0], given, strict=True)))
    lazy = getattr(vecdist, verb)(distribution, x)
    value, partials = vecdist.value_and_partials(lazy, tuple(given[place - 1] for place in places))
    worst = np.zeros(1 + len(places))
    with ctx.workprec(BITS):
        for row, found in zip(zip(x, *given, strict=True), zip(value, *partials, strict=True), strict=True):
            true = truth(name, verb, [arb(float(each)) for each in row], places)
            pairs = zip(found, true, strict=True)
            errors = [float(abs(arb(float(f)) - t)) / np.spacing(abs(float(t))) for f, t in pairs]
            if name in BY_RATIO:
                errors[1] /= max(1.0, -float(abs(true[0]).log()))
            worst = np.fmax(worst, errors)
    assert worst[0] <= BOUND
    assert worst[1:].max() <= BOUND_OF_SLOPES, worst
