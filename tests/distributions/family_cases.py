"""Random parameters and points of every family, and the same distribution in SciPy."""

import zlib

import numpy as np
import scipy.stats
from family_truth import CONVERSIONS
from flint import arb

from vecdist import logpdf, value_and_partials
from vecdist.distributions import FAMILIES

EVERY_FAMILY = [*FAMILIES.values()]
EVERY_WAY = [(family, way.names) for family in EVERY_FAMILY for way in family.parametrisations]
WAY_IDS = [f"{family.__name__}-{'-'.join(names)}" for family, names in EVERY_WAY]


def way_of(family, names):
    """The parametrisation with these names."""
    return next(way for way in family.parametrisations if way.names == names)


def parameters_of(family, names, dtype=np.float64, size=24):
    """Arrays of valid parameters, of the size that real problems have; the same ones at every call."""
    rng = np.random.default_rng(zlib.crc32(repr((family.__name__, names)).encode()))
    drawn = {name: _draw(rng, constraint, size) for name, constraint in way_of(family, names).constraints.items()}
    if "low" in drawn:
        drawn["high"] = drawn["low"] + 0.1 + abs(drawn["high"])
    if "sd" in drawn:
        most = np.sqrt(drawn["mean"] * (1 - drawn["mean"])) if family.__name__ == "Beta" else abs(drawn["mean"])
        drawn["sd"] = most * rng.uniform(0.4, 0.9, size)
    return [values.astype(dtype) for values in drawn.values()]


def _draw(rng, constraint, size):
    if constraint.whole:
        return rng.integers(1, 40, size).astype(float)
    if constraint.lower == 0 and constraint.upper == 1:
        return rng.uniform(0.02, 0.98, size)
    if constraint.lower == 0:
        return np.exp(rng.uniform(-1.5, 2.5, size))
    return rng.normal(0.0, 2.0, size)


def scipys(family, names, parameters):
    """The distribution as SciPy has it: the family's ``oracle`` in terms of its first parametrisation."""
    assert family.oracle, f"{family.__name__} names no oracle to test it against"
    first, parameters = family.parametrisations[0].names, np.asarray(parameters, float)
    if names != first:
        rows = [CONVERSIONS[family.__name__, names](*map(arb, row)) for row in zip(*parameters, strict=True)]
        parameters = np.array([[float(value) for value in row] for row in rows]).T
    return eval(family.oracle, {"scipy": scipy, "numpy": np}, dict(zip(first, parameters, strict=True)))


def points_of(family, names, parameters):
    """A point inside the support for each row of parameters, of their dtype."""
    drawn = scipys(family, names, parameters).rvs(random_state=1, size=len(parameters[0]))
    if family.__name__ == "Beta":
        drawn = np.clip(drawn, 1e-3, 1 - 1e-3)
    return np.asarray(drawn, parameters[0].dtype)


def density(family, names, x, parameters):
    """The log density at ``x``, and its partial derivatives in ``x`` and in each parameter."""
    distribution = family(**dict(zip(names, parameters, strict=True)))
    return value_and_partials(logpdf(distribution, x), (x, *parameters))
