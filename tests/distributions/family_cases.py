"""Random parameters and points of every family, and the same distribution in SciPy."""

import math
import zlib

import numpy as np
import scipy.special
import scipy.stats

from vecdist.distributions import FAMILIES

WAYS = [(family, way.names) for family in FAMILIES.values() for way in family.parametrisations]
NAMES = [f"{family.__name__}-{'-'.join(names)}" for family, names in WAYS]


def parameters_of(family, names, size=24):
    """Arrays of valid parameters, of the size of real problems; the seed is the family's and the names' own."""
    rng = np.random.default_rng(zlib.crc32(repr((family.__name__, names)).encode()))
    way = next(way for way in family.parametrisations if way.names == names)
    drawn = {name: _draw(rng, constraint, size) for name, constraint in way.constraints.items()}
    if "low" in drawn:
        drawn["high"] = drawn["low"] + 0.1 + abs(drawn["high"])
    if "sd" in drawn and family.__name__ == "Beta":
        drawn["sd"] = np.sqrt(drawn["mean"] * (1 - drawn["mean"])) * rng.uniform(0.1, 0.9, size)
    elif "sd" in drawn:
        drawn["sd"] = abs(drawn["mean"]) * rng.uniform(0.2, 2.0, size)
    return list(drawn.values())


def _draw(rng, constraint, size):
    if constraint.whole:
        return rng.integers(1, 40, size).astype(float)
    if constraint.lower == 0 and constraint.upper == 1:
        return rng.uniform(0.02, 0.98, size)
    if constraint.lower == 0:
        return np.exp(rng.uniform(-1.5, 2.5, size))
    return rng.normal(0.0, 2.0, size)


def scipys(family, parameters):
    """The distribution as SciPy has it, for parameters of the first parametrisation: the family's ``oracle``."""
    assert family.oracle, f"{family.__name__} names no oracle to test it against"
    named = dict(zip(family.parametrisations[0].names, parameters, strict=True))
    return eval(family.oracle, {"scipy": scipy, "numpy": np, "math": math}, named)


def scipys_log_density(family, x, parameters):
    """Its log density, or log mass."""
    distribution = scipys(family, parameters)
    return distribution.logpmf(x) if family.discrete else distribution.logpdf(x)


def points_of(family, names, parameters):
    """One point in the support for each row of parameters, of whichever parametrisation."""
    from family_truth import CONVERSIONS

    if names != family.parametrisations[0].names:
        parameters = [np.array(column) for column in zip(
            *(_floats(CONVERSIONS[family.__name__, *names], row) for row in zip(*parameters, strict=True)), strict=True
        )]
    return np.asarray(scipys(family, parameters).rvs(random_state=1, size=len(parameters[0])), float)


def _floats(conversion, row):
    from flint import arb

    return [float(value) for value in conversion(*map(arb, row))]
