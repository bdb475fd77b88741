"""Densities that do not fall are told; those that do, however slowly, are not."""

import re
import warnings

import numpy as np
import pytest

from vecdist.samplers import hmc
from vecdist.samplers.tails import warn_of_flat_directions

RNG = np.random.default_rng(0)
HALF = np.array([1.0, 0.0])  # the coordinate without an end is the first
PROPER = {
    "normal": (lambda x: -0.5 * (x**2).sum(axis=1), RNG.normal(size=(4, 50, 2))),
    "cauchy": (lambda x: -np.log1p(x**2).sum(axis=1), RNG.standard_cauchy(size=(4, 50, 2))),
    "as slow as can be": (lambda x: -1.01 * np.log1p(abs(x)).sum(axis=1), RNG.standard_cauchy(size=(4, 50, 1)) ** 3),
    "laplace": (lambda x: -abs(x).sum(axis=1), RNG.laplace(size=(4, 50, 3))),
    "one side": (lambda x: np.where(x[:, 0] > 0, -x[:, 0], -np.inf), RNG.exponential(size=(4, 50, 1))),
    "bounded": (lambda x: np.where(abs(x[:, 0]) < 1, 0.0, -np.inf), RNG.uniform(-1, 1, size=(4, 50, 1))),
    "not a number outside": (lambda x: np.where(abs(x[:, 0]) < 9, 0.0, np.nan), RNG.uniform(-9, 9, size=(4, 50, 1))),
    "of all scales": (lambda x: -0.5 * ((x / [1e-8, 1e8]) ** 2).sum(axis=1), RNG.normal(size=(4, 50, 2)) * [1e-8, 1e8]),
    "hardly moved": (lambda x: -0.5 * (x**2).sum(axis=1), 1.0 + 1e-4 * RNG.normal(size=(4, 50, 2))),
    "two modes": (lambda x: np.logaddexp(-abs(x - 40), -abs(x + 40))[:, 0], np.full((4, 50, 1), [[[-40]], [[40]]] * 2)
                  + RNG.laplace(size=(4, 50, 1))),
    "never moved": (lambda x: 0.0 * x[:, 0], np.zeros((4, 50, 2))),
    "too few": (lambda x: 0.0 * x[:, 0], RNG.normal(size=(4, 3, 2))),
}  # fmt: skip
IMPROPER = {
    "flat": (lambda x: 0.0 * x[:, 0], RNG.normal(size=(4, 50, 2)).cumsum(axis=1), r"x\[[01]\]"),
    "rising": (lambda x: (x**2).sum(axis=1), RNG.normal(size=(4, 50, 1)).cumsum(axis=1), r"x\[0\]"),
    "to infinity": (lambda x: np.exp(np.minimum(x[:, 0], 800.0)), RNG.normal(size=(4, 50, 1)), r"x\[0\]"),
    "half a line": (lambda x: np.where(x[:, 0] > 0, 0.0, -np.inf) - 0.5 * x[:, 1] ** 2,
                    abs(RNG.normal(size=(4, 50, 2)).cumsum(axis=1)) * HALF + RNG.normal(size=(4, 50, 2)), r"x\[0\]"),
    "flat beside a wider one": (lambda x: -0.5 * (x[:, 0] / 1e6) ** 2,
                                RNG.normal(size=(4, 50, 2)) * [1e6, 0.1], r"x\[1\]"),
}  # fmt: skip


def told(function, draws, names=None, budget=1000):
    """The warning of draws of a log density, or nothing; and how often the density was asked for."""
    calls = []

    def evaluate(x):
        calls.append(x)
        with np.errstate(all="ignore"):
            return function(x)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_flat_directions(draws, evaluate, names, budget)
    assert len(found) <= 1
    return (str(found[0].message) if found else ""), len(calls)


@pytest.mark.parametrize("name", PROPER)
def test_densities_that_fall(name):
    message, calls = told(*PROPER[name])
    assert not message and calls <= 1 + 2 * 4


@pytest.mark.parametrize("name", IMPROPER)
def test_densities_that_do_not_fall(name):
    function, draws, direction = IMPROPER[name]
    message, _ = told(function, draws)
    assert re.search(f"does not fall along {direction}", message)


def test_names_and_what_it_costs():
    function, draws, _ = IMPROPER["flat beside a wider one"]
    assert "along slope:" in told(function, draws, ["intercept", "slope"])[0]
    many = RNG.normal(size=(4, 20, 100))
    assert told(PROPER["normal"][0], many, budget=10**6)[1] == 1 + 2 * 17
    assert told(PROPER["normal"][0], many, budget=0)[1] == 1 + 2


@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
def test_a_run_tells(uncompiled, sign):
    given = {"initial": np.array([0.3, -0.2]), "chains": 2, "draws": 8, "warmup": 0, "step_size": 0.5}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        hmc(lambda x: sign * (x * x).sum(), progress=False, **given)
    assert [(each.filename, "does not fall" in str(each.message)) for each in found] == [(__file__, True)] * (sign >= 0)
