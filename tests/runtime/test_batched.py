"""Programs in batches, here of the CPU: what they find is what they find of all at once."""

import copy
import pickle
from unittest import mock

import numpy as np
import pytest
import random_model_runs
from random_models import model

import vecdist
from vecdist import distributions, lazy, logpdf
from vecdist.kernel.apart import Batch, axis_apart
from vecdist.runtime import pipeline
from vecdist.runtime.batched import Batched
from vecdist.runtime.cache import of_structures
from vecdist.runtime.cpu.backend import Cpu

RNG = np.random.default_rng(1)
SLOPES, LEVELS, X, Y = (RNG.normal(size=shape) for shape in ((11, 3), (11,), (7, 3), (7,)))


@pytest.fixture
def batches(monkeypatch, uncompiled):
    """Batches of four, wherever there may be some; those that were prepared."""
    found = []

    def batch(nests, kernels, lengths):
        dim = axis_apart(nests[0]) if len(kernels) == 1 else ""
        return Batch(dim, 4) if lengths.get(dim, 0) > 4 else None

    def prepared(self, lengths, *rest, **options):
        found.append(self.batch.starts(lengths))
        return plain(self, lengths, *rest, **options)

    plain = Batched.prepared
    monkeypatch.setattr(Cpu, "batch", staticmethod(batch))
    monkeypatch.setattr(Batched, "prepared", prepared)
    with mock.patch.multiple(pipeline, **{name: of_structures() for name in ("_launches", "_plans")}):
        yield found


def density(slopes, level, x, y):
    return logpdf(distributions.Normal(x @ slopes + level, 1.5), y).sum() - 0.5 * (slopes**2).sum()


def wanted(slopes=SLOPES, levels=LEVELS):
    apart = Y - (slopes @ X.T + levels[:, None])
    values = -0.5 * (apart**2 / 2.25 + np.log(2 * np.pi * 2.25)).sum(1) - 0.5 * (slopes**2).sum(1)
    return [values, apart @ X / 2.25 - slopes, apart.sum(1) / 2.25]


def check(found, own=None):
    for mine, right in zip(found, own or wanted(), strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-12, atol=1e-12)


def test_values_and_gradients(batches):
    f = vecdist.compile(density, in_axes=(0, 0, None, None))
    value, slopes = f.value_and_grad(SLOPES, LEVELS, X, Y, wrt=(0, 1))
    check([value, *slopes])
    assert batches == [[0, 4, 7]]
    out = tuple(np.empty_like(each) for each in (value, *slopes))
    f.value_and_grad(SLOPES, LEVELS, X, Y, wrt=(0, 1), out=out)
    check(out)


def test_other_layouts(batches):
    """Arrays that are strided, or turned around."""
    f = vecdist.compile(density, in_axes=(0, 0, None, None))
    turned = np.asfortranarray(SLOPES)[::-1], LEVELS[::-1]
    value, slopes = f.value_and_grad(*turned, X, Y, wrt=(0, 1))
    check([value, *slopes], wanted(*turned))
    assert batches == [[0, 4, 7]]


def test_arrays_that_a_function_holds(batches):
    f = vecdist.compile(lambda slopes: np.exp(lazy(LEVELS)) * (slopes**2).sum(-1))
    np.testing.assert_allclose(f(SLOPES), np.exp(LEVELS) * (SLOPES**2).sum(-1), rtol=1e-13)
    assert batches == [[0, 4, 7]]


def test_lazily(batches):
    x = lazy(SLOPES)
    np.testing.assert_allclose(np.asarray(x - x.mean(-1, keepdims=True)), SLOPES - SLOPES.mean(-1, keepdims=True))
    np.testing.assert_allclose(np.asarray(x - x.mean(0)), SLOPES - SLOPES.mean(0), rtol=1e-14)
    assert batches == [[0, 4, 7]]


def test_several_axes_that_are_one(batches):
    """Batches are of their places together, in arrays that are given, or held, and in results."""
    x, held = RNG.normal(size=(5, 3, 4)), RNG.normal(size=(5, 3, 4))
    f = vecdist.compile(lambda x: (lazy(held) * x) / (x * x).sum(axis=2, keepdims=True))
    wanted = held * x / (x * x).sum(axis=2, keepdims=True)
    np.testing.assert_allclose(f(x), wanted, rtol=1e-13)
    out = np.empty_like(x)
    f(x, out=out)
    np.testing.assert_allclose(out, wanted, rtol=1e-13)
    assert batches
    assert all(starts == [0, 4, 8, 11] for starts in batches)


@pytest.mark.parametrize("place", [None, 0, 5, 10])
def test_what_is_wrong_in_any_batch(batches, place):
    scales = np.ones(11)

    def density(scale, x):
        return logpdf(distributions.Normal(0.0, scale), x).sum()

    f = vecdist.compile(density, in_axes=(0, None), errors="raise")
    if place is None:
        assert np.isfinite(f(scales, X)).all()
    else:
        scales[place] = -1.0
        with pytest.raises(vecdist.InvalidParameter, match=rf"scale\[{place}"):
            f(scales, X)
    assert batches


@pytest.mark.parametrize("seed", [2, 3, 5, 6, 7, 8, 9, 12])
def test_random_models_of_chains(batches, seed):
    with mock.patch.object(random_model_runs, "number_of_chains", return_value=6):
        random_model_runs.check(model(seed, lengths=(1, 2, 7), terms=1), random_model_runs.chains)
    assert batches == [[0, 2]]


def test_what_explain_says(batches):
    said = vecdist.explain(vecdist.compile(lambda x: np.exp(x).sum(-1)), arrays=[SLOPES])
    (kernel,) = said.kernels
    assert kernel.launches == 3
    assert any("is taken in 3 batches of 4, a launch each" in note for note in kernel.notes)


def test_copies_and_pickles(batches):
    f = vecdist.compile(density, in_axes=(0, 0, None, None))
    f(SLOPES, LEVELS, X, Y)
    (plan,) = [pipeline._plans(key, None) for key in pipeline._plans]
    again = pickle.loads(pickle.dumps(plan.program))
    assert copy.deepcopy(plan.program) is plan.program
    assert again.batch == plan.program.batch and again.source.text == plan.program.source.text
