"""Random networks and their like: values by NumPy, gradients by its differences, and every way finds the same.

``VECDIST_SEEDS=1000:1200`` in the environment asks for other, and more, seeds than those of every day.
"""

import os

import numpy as np
import pytest
import random_layer_models
import random_model_runs
from random_matrix_models import Plain

FIRST, LAST = map(int, os.environ.get("VECDIST_SEEDS", "0:40").split(":"))


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_the_interpreter_is_numpys(seed):
    """Along a direction in all parameters."""
    model = random_layer_models.model(seed)
    arrays = random_model_runs.arrays_of(model, np, np.float64)
    value, *slopes = random_model_runs.plain(model, arrays)
    assert float(value) == pytest.approx(float(model.density(Plain(arrays))), rel=1e-9, abs=1e-9)
    rng = np.random.default_rng(seed)
    ways = {name: rng.normal(size=arrays[name].shape) for name in model.parameters}
    along = sum((slope * ways[name]).sum() for name, slope in zip(model.parameters, slopes, strict=True))
    steps = [arrays | {name: arrays[name] + step * way for name, way in ways.items()} for step in (1e-6, -1e-6)]
    moved = [model.density(Plain(each)) for each in steps]
    size = 1.0 + sum(abs(slope * ways[name]).sum() for name, slope in zip(model.parameters, slopes, strict=True))
    assert float(along) == pytest.approx(float(moved[0] - moved[1]) / 2e-6, abs=1e-5 * size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (LAST - FIRST) // 4))
def test_compiled_models(seed):
    model = random_layer_models.model(seed)
    for way in random_model_runs.ways_of(model, "cpu", 2):
        try:
            random_model_runs.check(model, way)
        except Exception as error:
            raise AssertionError(f"{way.__name__} of {model}") from error


def test_models_have_what_they_are_made_of():
    text = " ".join(str(random_layer_models.model(seed)) for seed in range(200))
    wanted = (*random_layer_models.LAYERS, *random_layer_models.ENDS, "float32", "[5000, ", "[1, ")
    assert [each for each in wanted if each not in text] == []
