"""Random programs of NumPy's functions beside NumPy and its differences; twice derived, beside first derivatives."""

import numpy as np
import pytest
import random_array_programs as programs
import random_ties
from array_operations import BROADCAST, DRAWN, ELEMENTWISE, PAIRS
from interpreting import by_interpreter

from vecdist import hvp, lazy, value_and_grad


def judged(made, seed):
    try:
        programs.check(made, seed)
    except Exception as error:
        raise AssertionError(str(made)) from error


def drawn(seed):
    return programs.program(seed, "f4" if seed % 4 == 3 else "f8")


@pytest.mark.parametrize("seed", range(30))
def test_values_and_gradients(uncompiled, seed):
    judged(programs.program(seed, "f4" if seed % 4 == 3 else "f8", long=0.0), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 50))
def test_compiled_programs(seed):
    judged(drawn(seed), seed)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_picked_is_found_again(seed):
    """However its products are contracted, which nobody but a compiler does."""
    judged(random_ties.program(seed, "f4" if seed % 4 == 3 else "f8"), seed)


@pytest.mark.parametrize("seed", range(40))
def test_second_derivatives(seed):
    made = programs.program(seed, long=0.0)
    rng = np.random.default_rng(seed)
    ways = [rng.normal(size=array.shape) for array in made.arrays]

    def slopes(step):
        given = [lazy(array + step * way) for array, way in zip(made.arrays, ways, strict=True)]
        return value_and_grad(made(*given), given)[1]

    with by_interpreter():
        given = [lazy(array) for array in made.arrays]
        found = hvp(made(*given), given, ways)
        wide, narrow = ([(b - a) / (2 * h) for b, a in zip(slopes(h), slopes(-h), strict=True)] for h in (1e-5, 3e-6))
    for second, one, other in zip(found, wide, narrow, strict=True):
        size = 1.0 + np.abs(one)
        smooth = np.abs(one - other) < 1e-4 * size
        assert (np.abs(second - one) < 1e-3 * size)[smooth].all(), str(made)


def test_every_function_is_drawn():
    names = {step.name for seed in range(300) for step in programs.program(seed).steps}
    assert names == {*ELEMENTWISE, *DRAWN, *BROADCAST, *PAIRS}


def test_an_error_is_found(uncompiled, monkeypatch):
    """A gradient that is off in one element is no gradient."""

    def off(total, given):
        value, (first, *others) = value_and_grad(total, given)
        first.flat[0] += 0.5
        return value, (first, *others)

    made = programs.program(3, long=0.0)
    programs.check(made, 3)
    monkeypatch.setattr(programs, "value_and_grad", off)
    with pytest.raises(AssertionError):
        programs.check(made, 3)
