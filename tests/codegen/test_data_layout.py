"""Arrays between loops lie along their long axes: the same results, and neighbours for threads."""

import loop_executor
import numpy as np
import pytest
import random_tensors
from test_spread_rows import of_chains

from vecdist import lazy
from vecdist.codegen.cuda import data_layout
from vecdist.codegen.cuda.data_layout import _array, laid_out
from vecdist.graph.leaves import leaf
from vecdist.kernel.expressions import names
from vecdist.kernel.statements import Load, Store
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes import hoist
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import scheduled


@pytest.fixture
def everything(monkeypatch):
    """All that is repeated is in memory, and all that has a longer axis before a shorter one lies along that."""
    monkeypatch.setattr(hoist, "WORK", 1)
    monkeypatch.setattr(data_layout, "SHORT", 5)
    monkeypatch.setattr(data_layout, "LONG", 6)
    monkeypatch.setattr(data_layout, "SECTOR", 0)


def assert_same(kernel, arrays, lengths):
    """Loops give the same, however their arrays lie, but for the order of sums; whether some lie otherwise now."""
    other = laid_out(kernel, lengths)
    plain, moved = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(moved, plain, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-13)
    return other is not kernel


def of_gradient(total, wrt):
    """The kernel of a gradient on a GPU, its arrays and lengths."""
    bound = bind((total.node, *map(leaf, wrt)))
    found = derived(Structure(bound.roots, gradient_of, "nan"), Cuda.passes)
    kernel = scheduled(found, found.chosen(bound.lengths, Cuda.widest, Cuda.side_by_side))
    return kernel, [each.array for each in bound.leaves], bound.lengths


def net(seed, chains, rows, widths):
    rng = np.random.default_rng(seed)
    x, before = rng.normal(size=(rows, 2)), 2
    weights, values = [], x
    for width in widths:
        weights.append(rng.normal(0.0, 0.5, (chains, before, width)))
        values, before = np.tanh(values @ lazy(weights[-1])), width
    return (values**2).sum() + np.sin(values).sum(), weights


def test_random_nets(everything):
    moved = [assert_same(*of_gradient(*net(seed, 2, 7 + seed % 3, (3, 5)[: 1 + seed % 2]))) for seed in range(10)]
    assert sum(moved) > 5


def test_random_tensors(everything, monkeypatch):
    monkeypatch.setattr(data_layout, "SHORT", 2)
    monkeypatch.setattr(data_layout, "LONG", 3)
    functions = [random_tensors.tensors(seed, longest=3) for seed in range(8)]
    moved = [assert_same(*of_gradient(each(*map(lazy, each.arrays)), each.arrays)) for each in functions]
    assert sum(moved) > 3


def test_hidden_values_of_chains_lie_along_the_data():
    kernel, _, lengths = of_chains("net", 256, n=500, hidden=10)
    known = laid_out(kernel, lengths)
    moved = {n for n, output in enumerate(known.outputs) if output.shape != kernel.outputs[n].shape}
    assert len(moved) == 3
    assert all(lengths[known.outputs[number].shape[-1]] == 500 for number in moved)
    along = {loop.index for loop in loop_executor.loops(known) if lengths[loop.dim] == 500}
    places = [item.indices for item in known.root.walk() if isinstance(item, Load | Store) and _array(item) in moved]
    assert places and all(along.issuperset(names(indices[-1])) for indices in places)


def test_loops_that_do_nothing_else_run_along_the_data():
    """Their outer loops are rows then, whose lanes write neighbours: an element needs no division to know its place."""
    kernel, _, lengths = of_chains("net", 256, n=500, hidden=10)
    (rows,) = [dim for dim, length in lengths.items() if length == 500]
    before, after = (
        [nest.dims()[2:3] for _, nest in each.nests()].count([rows]) for each in (kernel, laid_out(kernel, lengths))
    )
    assert before < after


@pytest.mark.parametrize(("chains", "n", "hidden"), [(1, 500, 10), (256, 30, 10), (256, 500, 4)])
def test_what_has_no_rows_before_or_few_or_fits_in_a_sector_stays(chains, n, hidden):
    kernel, _, lengths = of_chains("net", chains, n=n, hidden=hidden)
    assert laid_out(kernel, lengths) is kernel
