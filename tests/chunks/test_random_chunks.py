"""Random models over random chunks, beside the same models of arrays in memory."""

import dask
import numpy as np
import pytest
from chunk_models import TERMS, arrays, chunks_by_interpreter, counts, cut_by_dask, model, read_in_pieces
from interpreting import by_interpreter

import vecdist
from vecdist.passes.outline import outline

SEEDS = range(12)


def assert_close(found, wanted):
    for mine, other in zip(found, wanted, strict=True):
        assert mine.shape == other.shape and mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


def gradient(expression, whole):
    value, slopes = vecdist.value_and_grad(expression, wrt=tuple(whole))
    return [value, *slopes]


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_gradients_are_those_of_arrays_in_memory(seed):
    rng = np.random.default_rng(seed)
    rows, whole = arrays(rng)
    make, chosen = model(rng)
    with by_interpreter():
        names = [leaf.name for leaf in _leaves(make(rows | _lazy(whole)))]
        present = [whole[name] for name in whole if name in names]
        wanted = gradient(make(rows | _lazy(whole)), present)
    with chunks_by_interpreter():
        for scheduler in ("synchronous", "threads"):
            with dask.config.set(scheduler=scheduler):
                found = gradient(make(cut_by_dask(rows, counts(rng)) | _lazy(whole)), present)
            assert_close(found, wanted)
        assert_close(gradient(make(read_in_pieces(rows, rng) | _lazy(whole)), present), wanted)
    assert set(chosen) <= set(TERMS)


@pytest.mark.parametrize("name", TERMS)
def test_each_term_in_any_chunks(name):
    rng = np.random.default_rng(len(name))
    rows, whole = arrays(rng)
    expression = TERMS[name]
    wrt = [array for array in whole.values() if _holds(expression(**rows, **whole), array)]
    with by_interpreter():
        wanted = gradient(expression(**rows, **whole), wrt)
    with chunks_by_interpreter():
        for _ in range(3):
            assert_close(gradient(expression(**cut_by_dask(rows, counts(rng)), **whole), wrt), wanted)
        assert_close(gradient(expression(**read_in_pieces(rows, rng), **whole), wrt), wanted)


def _holds(expression, array):
    return any(leaf.given is array for leaf in _leaves(expression))


def _lazy(whole):
    return {name: vecdist.lazy(array, name) for name, array in whole.items()}


def _leaves(expression):
    return outline((expression.node,)).leaves


@pytest.mark.parametrize("name", ["regression", "mean", "groups"])
def test_second_derivatives(name):
    rng = np.random.default_rng(3)
    rows, whole = arrays(rng)
    wrt = whole["a"]
    with by_interpreter():
        wanted = vecdist.hessian(TERMS[name](**rows, **whole), wrt)
    with chunks_by_interpreter():
        assert_close([vecdist.hessian(TERMS[name](**cut_by_dask(rows, counts(rng)), **whole), wrt)], [wanted])
