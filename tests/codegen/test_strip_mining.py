"""Strips of chains: every nest that is cut knows the lengths of its loops, and others are left whole."""

import numpy as np
import pytest
from cuda.few_rows_cases import annotators, by_columns, grouped, parameters, regression

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda.grid import Grid
from vecdist.graph.leaves import leaf
from vecdist.lazy.array import LazyArray
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of, values
from vecdist.passes.order import Structure, derived
from vecdist.passes.vmap import vmap
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import scheduled


def planned(case, rows_first):
    """The kernel of a case; with ``rows_first`` as it is where nobody asks whether there are strips."""
    (value,), arrays = case
    bound = bind((value.node, *map(leaf, arrays)))
    found = derived(Structure(bound.roots, gradient_of if arrays else values, "nan"), Cuda.passes)
    first = found.chosen(bound.lengths, Cuda.widest, Cuda.side_by_side)
    chosen = first if rows_first else Cuda.chosen(found, bound.lengths)
    return Cuda.sized(scheduled(found, chosen), bound.lengths), chosen


def named(chains, n, people, kinds):
    """Kinds of items, of each of which several people have said what they take it for, for one chain, and for many."""
    said, everybody = np.arange(n * people).reshape(n, people) * 7 % 5 % kinds, np.arange(people)
    one = parameters(kinds), parameters(people, kinds, kinds)
    shares, table = map(lazy, one)
    tables = table - logsumexp(table, axis=-1, keepdims=True)
    each = tables[everybody, :, said].sum(axis=1) + shares - logsumexp(shares, axis=-1)
    value = logsumexp(each, axis=-1).sum() - 0.5 * (table**2).sum() - 0.5 * (shares**2).sum()
    many = [parameters(chains, *array.shape) for array in one]
    (found,) = vmap((value.node,), dict(zip(map(leaf, one), map(leaf, many), strict=True)))
    return (LazyArray(found).sum(),), many


def cut(kernel):
    """The nests of which blocks take strips."""
    grid = Grid(kernel)
    return [loop for _, loop in kernel.shared_nests() if grid.is_cut_into_strips(loop)]


CASES = [
    regression(300, 100, 5), grouped(140, 400, 5, 30), named(256, 200, 10, 4), named(130, 70, 3, 3),
    annotators(256, 70, 4, 3), annotators(70, 65, 3, 3), annotators(130, 400, 3, 4, "f4"), *map(by_columns, range(20)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rows_first", [True, False])
def test_nests_that_are_cut_have_loops_of_known_lengths(case, rows_first):
    kernel, _ = planned(case, rows_first)
    assert {*cut(kernel)} <= {*Grid(kernel).lanes}


def test_rows_that_are_many_come_first_where_they_are_in_strips():
    kernel, chosen = planned(regression(300, 100, 5), False)
    assert chosen.first and kernel.strips and cut(kernel)
    kernel, chosen = planned(named(256, 200, 10, 4), False)
    assert not chosen.first and not kernel.strips


def test_what_is_computed_for_a_column_is_outside_of_loops_over_others():
    """So nothing is stored to be found again, and all is one nest over rows."""
    kernel, chosen = planned(by_columns(0), True)
    assert len(chosen.then) == 2
    assert not any(output.temporary and len(output.shape) > 2 for output in kernel.outputs)


def classes(chains, n=300, columns=5, kinds=4, dtype="f8"):
    """A softmax regression of chains by a design that they share: what is summed of each is read behind that loop."""
    x = np.cos(np.arange(n * columns)).reshape(n, columns, 1).astype(dtype)
    slopes = parameters(chains, columns, kinds, dtype=dtype)
    found = (lazy(x) * lazy(slopes)[:, None]).sum(axis=2)
    each = (found[:, :, 0] - logsumexp(found, axis=-1)).sum(axis=1)
    return ((each * np.exp(-each)).sum(),), (slopes,)


def strips_that_wait(case, rows_first):
    """How many strips there are of blocks that wait for each other."""
    (value,), arrays = case
    grid = Grid(planned(case, rows_first)[0])
    return grid.waits * grid.strip_count(bind((value.node, *map(leaf, arrays))).lengths)


@pytest.mark.parametrize("chains", [500, 4096, 5000, 16384, 70000])
@pytest.mark.parametrize("rows_first", [True, False])
def test_blocks_that_wait_for_each_other_are_no_more_than_run_at_once(chains, rows_first):
    """Each strip has one at least: of too many that wait for each other, some would never begin."""
    for dtype in ("f4", "f8"):
        assert strips_that_wait(classes(chains, dtype=dtype), rows_first) <= 128
        assert strips_that_wait(regression(chains, 300, 5, dtype), rows_first) <= 128
