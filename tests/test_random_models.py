"""Whole models drawn at random: every way to compute them finds what the interpreter does.

``VECDIST_SEEDS=1000:1200`` in the environment asks for other, and more, seeds than those of every day.
"""

import os

import pytest
import random_model_runs
import random_models

FIRST, LAST = map(int, os.environ.get("VECDIST_SEEDS", "0:14").split(":"))
LENGTHS = (0, 1, 2, 7, 33, 65)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_random_models(uncompiled, seed):
    """The generated source, run by Python."""
    check(random_models.model(seed, lengths=LENGTHS, terms=2), ways=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (LAST - FIRST) // 3))
def test_compiled_random_models(seed):
    """Arrays of several blocks, compiled: vectors, threads and their ends."""
    check(random_models.model(seed, terms=1), ways=2)


def check(model, ways):
    for way in random_model_runs.ways_of(model, "cpu", ways):
        try:
            random_model_runs.check(model, way)
        except NotImplementedError:
            assert way is random_model_runs.curvature, "only second derivatives may be refused"
        except Exception as error:
            raise AssertionError(f"{way.__name__} of {model}") from error


def test_models_are_the_same_at_every_call():
    first, second = (random_models.model(5) for _ in range(2))
    assert str(first) == str(second)
    assert all((first.given[name].base == second.given[name].base).all() for name in first.given)


def test_models_have_what_models_are_made_of():
    """Each ingredient comes up among few seeds, or the generator has lost it."""
    text = " ".join(str(random_models.model(seed, lengths=LENGTHS)) for seed in range(200))
    wanted = (
        "mixture", "truncated", "censored", "zero inflated", "hurdle", "logsf", "logcdf", "logsumexp", "weighted",
        "function of the mean", "functions of rows", "functions of columns", "every other", "weights of groups",
        "group", "linear", "slope", "first", "last", "each", "scaled", "float32", "float64", "int32", "strided",
        "reversed", "transposed", "odd", "[0]", "[]",
    )
    assert [each for each in wanted if each not in text] == []
