"""Random models judged: the interpreter by NumPy and its differences, and what is compiled by the interpreter."""

import numpy as np
import pytest
import random_model_runs
from plain_arrays import Plain


def check_interpreter(model, step, tolerance):
    """The interpreter's value is NumPy's, its gradient NumPy's difference along a direction in all parameters."""
    arrays = random_model_runs.arrays_of(model, np, np.float64)
    value, *slopes = random_model_runs.plain(model, arrays)
    assert float(value) == pytest.approx(float(model.density(Plain(arrays))), rel=1e-9, abs=1e-9)
    rng = np.random.default_rng(model.seed)
    ways = {name: rng.normal(size=arrays[name].shape) for name in model.parameters}
    terms = [slope * ways[name] for name, slope in zip(model.parameters, slopes, strict=True)]
    steps = [arrays | {name: arrays[name] + by * way for name, way in ways.items()} for by in (step, -step)]
    after, before = (float(model.density(Plain(each))) for each in steps)
    size = 1.0 + sum(float(abs(each).sum()) for each in terms)
    along = sum(float(each.sum()) for each in terms)
    assert along == pytest.approx((after - before) / (2.0 * step), abs=tolerance * size)


def check_compiled(model, many):
    """Some of the ways to compute a model find what the interpreter does."""
    for way in random_model_runs.ways_of(model, "cpu", many):
        try:
            random_model_runs.check(model, way)
        except Exception as error:
            raise AssertionError(f"{way.__name__} of {model}") from error
