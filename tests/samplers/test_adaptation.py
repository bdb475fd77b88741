"""What is learnt in a warm-up, each part alone."""

import math

import numpy as np
import pytest

from vecdist.samplers.adaptation import Covariance, DualAveraging, TrajectoryLength, Windows, bit_reversed, factors
from vecdist.samplers.warmup import Schedule


@pytest.mark.parametrize("first", [1e-4, 1.0, 1e3])
def test_dual_averaging_finds_the_step_of_a_target(first):
    learnt, rng = DualAveraging(first, 0.8), np.random.default_rng(0)
    for _ in range(2000):
        learnt.update(1.0 / (1.0 + (learnt.step / 3.0) ** 2) + 0.05 * rng.normal())
    assert abs(learnt.average - 1.5) < 0.15  # 1 / (1 + 0.5^2) = 0.8


def test_the_length_of_trajectories_climbs_to_a_maximum():
    learnt, rng = TrajectoryLength(0.1), np.random.default_rng(1)
    for _ in range(1000):
        learnt.update(math.log(3.0 / learnt.length) + 0.1 * rng.normal(), 0.01, 100.0)
    assert abs(math.log(learnt.average / 3.0)) < 0.3
    learnt.update(math.nan, 0.01, 100.0)
    assert math.isfinite(learnt.length)
    for _ in range(200):
        learnt.update(1.0, 0.01, 5.0)
    assert learnt.length == 5.0


@pytest.mark.parametrize("dense", [False, True])
def test_covariance_of_blocks_is_that_of_all(dense):
    draws = np.random.default_rng(2).normal(1e6, [1.0, 2.0, 0.5], size=(30, 4, 3))
    learnt = Covariance(dense)
    for block in (draws[:7], draws[7:8], draws[8:]):
        learnt.update(block)
    wanted = np.cov(draws.reshape(-1, 3).T)
    count = draws.shape[0] * draws.shape[1]
    shrunk = (count * wanted + 5e-3 * np.eye(3)) / (count + 5)
    np.testing.assert_allclose(learnt.regularised(), shrunk if dense else np.diag(shrunk), rtol=1e-7)
    scale = factors(learnt.regularised())
    np.testing.assert_allclose(scale @ scale.T if dense else scale**2, learnt.regularised(), rtol=1e-12)


def test_windows_double_and_leave_the_end_alone():
    assert Windows.of(1000) == Windows(100, (200, 400, 800))
    for warmup in range(300):
        windows = Windows.of(warmup)
        assert all(a < b for a, b in zip((windows.first, *windows.ends), windows.ends, strict=False))
        assert not windows.ends or windows.ends[-1] == warmup - warmup // 5


def test_fractions_are_spread_evenly():
    places = sorted(bit_reversed(number) for number in range(1, 64))
    np.testing.assert_array_equal(places, np.arange(1, 64) / 64)
    jittered = [Schedule(0.5, 100).fraction(number) for number in range(63)]
    assert 0.5 < min(jittered) < 0.52 and 1.48 < max(jittered) < 1.5
    assert all(0.0 < Schedule(None, 100).fraction(number) < 1.0 for number in range(63))


def test_numbers_of_steps_are_bounded():
    schedule = Schedule(0.0, 100)
    assert schedule.steps(0, 1.0, 0.3) == 4
    assert schedule.steps(0, 1.0, 5.0) == 1
    assert schedule.steps(0, 1.0, 1e-9) == schedule.steps(0, 1.0, 0.0 + 1e-320) == 100
