"""Random networks and their like: values by NumPy, gradients by its differences, and every way finds the same.

``VECDIST_SEEDS=1000:1200`` in the environment asks for other, and more, seeds than those of every day.
"""

import os

import judging
import pytest
import random_layer_models

FIRST, LAST = map(int, os.environ.get("VECDIST_SEEDS", "0:40").split(":"))


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_the_interpreter_is_numpys(seed):
    judging.check_interpreter(random_layer_models.model(seed), step=1e-6, tolerance=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (LAST - FIRST) // 4))
def test_compiled_models(seed):
    judging.check_compiled(random_layer_models.model(seed), many=2)


def test_models_have_what_they_are_made_of():
    text = " ".join(str(random_layer_models.model(seed)) for seed in range(200))
    wanted = (*random_layer_models.LAYERS, *random_layer_models.ENDS, "float32", "[5000, ", "[1, ")
    assert [each for each in wanted if each not in text] == []
