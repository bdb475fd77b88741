"""Rows of few elements, whose lengths are part of the program: written out, or loops of known length."""

import numpy as np
import pytest
from reference import interpreted

from vecdist import lazy, value_and_grad
from vecdist.graph.leaves import leaf
from vecdist.kernel.lower import schedule
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived
from vecdist.runtime import pipeline
from vecdist.runtime.cpu import backend as cpu


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 8, 17])
def test_short_rows_are_written_out(monkeypatch, columns, dtype):
    """Where lengths are part of the program: the values, gradients and extremes of the interpreter."""
    monkeypatch.setattr(cpu.Cpu, "fixed_from", 0)
    rng = np.random.default_rng(columns)
    x, scale = (rng.normal(size=shape).astype(dtype) for shape in ((40, columns), (40,)))
    sums = (np.exp(lazy(x)) * lazy(scale)[:, None]).sum(axis=1)
    target = (sums * lazy(x).max(axis=1) + lazy(x).prod(axis=1)).sum()
    value, slopes = value_and_grad(target, (x, scale))
    wanted = interpreted((target.node, leaf(x), leaf(scale)), gradient_of)
    tolerance = 1e-13 if dtype == "f8" else 2e-5
    for found, reference in zip((value, *slopes), wanted, strict=True):
        assert found.dtype == reference.dtype
        np.testing.assert_allclose(found, reference, rtol=tolerance, atol=tolerance * np.abs(reference).max())
    shares = lazy(x) / (1.0 + np.square(lazy(x)).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(np.asarray(shares), interpreted((shares.node,))[0], rtol=16 * np.finfo(dtype).eps)


def test_where_parts_of_rows_begin_is_known_with_their_length():
    """So that which part an element is of is known when a program is compiled; of longer rows nothing is."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    joined = np.concatenate([lazy(x), lazy(y)], axis=1)
    bound = bind(((joined * np.exp(joined)).sum(axis=1).node,))
    kernel = schedule(derived(Structure(bound.roots, pipeline.values)).all)
    found = dict(kernel.with_fixed(bound.lengths, 8).fixed)
    starts = [name for name in bound.lengths if name[0] == "s"]
    assert starts and dict.fromkeys(starts, 3).items() <= found.items()
    assert 4 in found.values() and 40 not in found.values()
    assert not kernel.with_fixed(bound.lengths, 3).fixed


def test_lengths_of_axes_behind_others_are_known_however_few_elements_there_are():
    """Of columns and classes; rows and chains, with which arrays begin, are others in a next call."""
    rng = np.random.default_rng(3)
    for columns in (5, 17):
        slopes, x = rng.normal(size=(2, columns)), rng.normal(size=(7, columns))
        target = np.exp((lazy(slopes)[:, None] * lazy(x)).sum(axis=-1)).sum(axis=-1)
        bound = bind((target.node,))
        kernel = schedule(derived(Structure(bound.roots, pipeline.values)).all)
        assert sorted(bound.lengths[dim] for dim in kernel.inner_dims()) == sorted((7, columns))
        known = dict(cpu.Cpu.sized(kernel, bound.lengths).fixed)
        assert [*known.values()] == ([columns] if columns <= 16 else [])


@pytest.mark.slow
def test_short_rows_of_long_arrays():
    """Compiled, with lengths as part of the program: rows written out, and rows as loops of known length."""
    rng, before = np.random.default_rng(7), pipeline.compilations()
    for columns, rows in ((8, 2**15), (8, 2**15 - 1), (64, 2**12), (64, 2**12 - 1)):
        x, scale = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        value, slope = value_and_grad(np.log(np.exp(lazy(x) * lazy(scale)[:, None]).sum(axis=1)).sum(), scale)
        products = np.exp(x * scale[:, None])
        np.testing.assert_allclose(value, np.log(products.sum(axis=1)).sum(), rtol=1e-12)
        wanted = (products * x).sum(axis=1) / products.sum(axis=1)
        np.testing.assert_allclose(slope, wanted, rtol=1e-11, atol=1e-13)
    assert pipeline.compilations() == before + 3, "few elements have one program for any length"
