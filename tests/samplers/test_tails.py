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


def ridge(*directions):
    """A normal log density without a part along some directions, draws that went far along them, and its gradient."""
    along, _ = np.linalg.qr(np.array(directions).T)
    shape = (4, 50, along.shape[1])
    far = 20.0 * RNG.normal(size=shape).cumsum(axis=1) @ along.T
    draws = far + RNG.normal(size=far.shape) @ (np.eye(len(along)) - along @ along.T)

    def across(x):
        return x - (x @ along) @ along.T

    return lambda x: -0.5 * (across(x) ** 2).sum(axis=1), draws, lambda x: -across(x)


def softmax(shape):
    """A categorical log likelihood, which knows nothing of a number added to all logits, beside a normal coordinate."""
    weights = np.arange(1.0, shape)

    def function(x):
        logits = x[:, 1:]
        return -0.5 * x[:, 0] ** 2 + (logits - np.logaddexp.reduce(logits, axis=1)[:, None]) @ weights

    def gradient(x):
        shares = np.exp(x[:, 1:] - np.logaddexp.reduce(x[:, 1:], axis=1)[:, None])
        return np.column_stack([-x[:, 0], weights - weights.sum() * shares])

    draws = RNG.normal(size=(4, 50, shape))
    draws[..., 1:] += 30.0 * RNG.normal(size=(4, 50, 1)).cumsum(axis=1)
    return function, draws, gradient


RIDGES = {
    "of two": (*ridge([1.0, 1.0]), r"x\[[01]\] and x\[[01]\]"), "of three": (*ridge([1.0, -2.0, 0.5]), r"x\[1\] and"),
    "of many": (*ridge(RNG.normal(size=40)), r".* and others"), "a plane": (*ridge(*RNG.normal(size=(2, 5))), r"x"),
    "softmax": (*softmax(6), r"x\[[1-5]\] and x\[[1-5]\] and x\[[1-5]\] and others"),
}  # fmt: skip


def told(function, draws, names=None, budget=1000, gradients=None):
    """The warning of draws of a log density, or nothing; and how often the density was asked for."""
    calls = []

    def evaluate(x):
        calls.append(x)
        with np.errstate(all="ignore"):
            return function(x)

    def evaluated(x):
        calls.append(x)
        return x

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_flat_directions(draws, evaluate, names, budget, gradients and (lambda x: gradients(evaluated(x))))
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


@pytest.mark.parametrize("name", RIDGES)
def test_ridges_that_are_no_coordinate(name):
    function, draws, gradient, direction = RIDGES[name]
    message, calls = told(function, draws, gradients=gradient)
    assert re.search(f"does not fall along {direction}", message)
    assert calls < 40
    wide = 1e-10  # with ever so wide a normal factor it is proper
    assert not told(lambda x: function(x) - wide * (x**2).sum(axis=1), draws,
                    gradients=lambda x: gradient(x) - 2 * wide * x)[0]  # fmt: skip


@pytest.mark.parametrize("gradient", [
    lambda x: -x, lambda x: 0.0 * x, lambda x: np.nan * x, lambda x: -x[:, :1] * [1.0, 1.0],
])
def test_gradients_that_tell_nothing(gradient):
    function, draws = PROPER["normal"]
    assert not told(function, draws, gradients=gradient)[0]
    assert told(function, draws, budget=0, gradients=gradient)[1] == 1 + 2


def test_names_and_what_it_costs():
    function, draws, _ = IMPROPER["flat beside a wider one"]
    assert "along slope:" in told(function, draws, ["intercept", "slope"])[0]
    many = RNG.normal(size=(4, 20, 100))
    assert told(PROPER["normal"][0], many, budget=10**6)[1] == 1 + 2 * 17
    assert told(PROPER["normal"][0], many, budget=0)[1] == 1 + 2


@pytest.mark.parametrize("dense", [False, True])
def test_a_run_tells_of_a_ridge(uncompiled, dense):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        metric = np.array([[2.0, 1.0], [1.0, 3.0]]) if dense else np.array([1.0, 2.0])
        given = {"chains": 4, "draws": 60, "warmup": 0, "step_size": 0.9, "metric": metric, "progress": False}
        hmc(lambda x: -0.5 * (x[0] + x[1]) ** 2, initial=np.array([0.3, -0.2]), **given)
    assert re.search(r"along x\[[01]\] and x\[[01]\]:", str(found[0].message))


@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
def test_a_run_tells(uncompiled, sign):
    given = {"initial": np.array([0.3, -0.2]), "chains": 2, "draws": 8, "warmup": 0, "step_size": 0.5}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        hmc(lambda x: sign * (x * x).sum(), progress=False, **given)
    assert [(each.filename, "does not fall" in str(each.message)) for each in found] == [(__file__, True)] * (sign >= 0)
