"""Random models over random chunks, beside the same models of arrays in memory."""

import dask
import numpy as np
import pytest
from chunk_models import (
    TERMS,
    arrays,
    chunks_by_interpreter,
    counts,
    cut_by_dask,
    model,
    never_changing,
    read_from_parquet,
    read_in_pieces,
)
from interpreting import by_interpreter

import vecdist
from vecdist import LogDensity
from vecdist.parameters import real
from vecdist.passes.outline import outline
from vecdist.samplers import hmc

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


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_parquet_files_are_those_of_arrays_in_memory(seed, tmp_path):
    rng = np.random.default_rng(100 + seed)
    rows, whole = arrays(rng)
    make, _ = model(rng)
    with by_interpreter():
        present = [whole[leaf.name] for leaf in _leaves(make(rows | _lazy(whole))) if leaf.name in whole]
        wanted = gradient(make(rows | _lazy(whole)), present)
    with chunks_by_interpreter():
        found = read_from_parquet(rows, rng, tmp_path)
        assert_close(gradient(make(found | _lazy(whole)), present), wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_data_that_never_change_are_computed_of_once_or_again_and_again(seed, uncompiled):
    """The second time what depends on data alone is known, and other parameters meet the same data."""
    rng = np.random.default_rng(200 + seed)
    rows, whole = arrays(rng)
    make, _ = model(rng)
    with chunks_by_interpreter():
        ways = [never_changing(each) for each in (cut_by_dask(rows, counts(rng)), read_in_pieces(rows, rng))]
        for factor in (1.0, 1.0, 0.7):
            moved = {name: np.asarray(array * factor) for name, array in whole.items()}
            with by_interpreter():
                present = [moved[leaf.name] for leaf in _leaves(make(rows | _lazy(moved))) if leaf.name in moved]
                wanted = gradient(make(rows | _lazy(moved)), present)
            for each in ways:
                found = gradient(make(each | _lazy(moved)), present)
                for mine, other in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_trajectories_of_random_models_are_those_of_arrays_in_memory(seed, uncompiled):
    rng = np.random.default_rng(300 + seed)
    rows, _ = arrays(rng)
    make, _ = model(rng)
    asked = {"draws": 3, "warmup": 0, "step_size": 1e-3, "trajectory": 4e-3, "key": seed, "progress": False}
    initial = rng.normal(size=(int(rng.integers(1, 4)), 8)) * 0.1

    def drawn(given):
        def density(a, b, effects):
            named = {"a": np.exp(a), "b": b, "effects": effects}
            return make(given | named) - 0.5 * (a * a + (b * b).sum() + (effects * effects).sum())

        kinds = {"a": real(), "b": real(3), "effects": real(4)}
        return hmc(LogDensity(density, **kinds), chains=len(initial), initial=initial, **asked).positions

    wanted = drawn(rows)
    with chunks_by_interpreter():
        by_dask = cut_by_dask(rows, counts(rng))
        ways = (by_dask, read_in_pieces(rows, rng), never_changing(by_dask))
        for given in ways:
            np.testing.assert_allclose(drawn(given), wanted, rtol=1e-7, atol=1e-9)


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
