"""Random programs of NumPy's functions, compiled, beside NumPy and its differences."""

import numpy as np
import pytest
import random_array_programs as programs
import random_ties
from array_operations import BROADCAST, DRAWN, ELEMENTWISE, PAIRS


@pytest.mark.parametrize("seed", range(16))
def test_values_and_gradients(seed):
    made = programs.program(seed, "f4" if seed % 4 == 3 else "f8")
    try:
        programs.check(made, seed)
    except Exception as error:
        raise AssertionError(str(made)) from error


@pytest.mark.parametrize("seed", range(20))
def test_what_is_picked_is_found_again(seed):
    made = random_ties.program(seed, "f4" if seed % 4 == 3 else "f8")
    try:
        programs.check(made, seed)
    except Exception as error:
        raise AssertionError(str(made)) from error


def test_every_function_is_drawn():
    names = {step.name for seed in range(300) for step in programs.program(seed).steps}
    assert names == {*ELEMENTWISE, *DRAWN, *BROADCAST, *PAIRS}


def test_an_error_is_found():
    """A gradient that is off in one element is no gradient."""
    made = programs.program(3)
    rng = np.random.default_rng(0)
    ways = [rng.normal(size=array.shape) for array in made.arrays]
    first, second = (programs._difference(made, made.arrays, ways, step) for step in programs.STEPS[:2])
    assert first == pytest.approx(second, rel=1e-4)
