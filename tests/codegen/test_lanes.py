"""How many threads share a row of a kernel for GPUs, by the numbers and lengths of rows."""

import numpy as np
import pytest
import random_model_runs
import random_models
from nests import F8, row_sum

from vecdist import lazy, softmax
from vecdist.codegen.cuda.grid import GROUP, THREADS, Grid
from vecdist.codegen.cuda.launch import lanes_of
from vecdist.codegen.cuda.render import function
from vecdist.codegen.cuda.tiling import has_rows
from vecdist.graph.leaves import leaf
from vecdist.kernel.code import For, names_in, walk
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Loop
from vecdist.kernel.statements import Accumulate
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values

ROWS = np.ones((70, 80))


def nests(expression, *wrt):
    """The lanes of each nest with rows, as a function of the lengths of its axes, rows first."""
    bound = bind((expression.node, *map(leaf, wrt)))
    kernel = lower(bound, gradient_of if wrt else values, "nan", Cuda)[1]
    grid = Grid(kernel)
    loops = [loop for _, loop in kernel.shared_nests() if has_rows(loop)]
    return [lambda *lengths, loop=loop: lanes_of(loop, grid, dict(zip(loop.dims(), lengths, strict=True)))
            for loop in loops]


@pytest.mark.parametrize(("rows", "columns", "lanes"), [
    (1_000_000, 3, 1), (1_000_000, 30, 4), (1_000_000, 100_000, 32), (4096, 100_000, 32),
    (2, 100, 16), (2, 200, 32), (2, 3000, THREADS), (256, 100_000, THREADS), (1024, 100_000, THREADS),
])
def test_few_long_rows_have_a_block_each(rows, columns, lanes):
    (sums,) = nests(lazy(ROWS).sum(axis=1))
    assert sums(rows, columns) == lanes


@pytest.mark.parametrize(("rows", "columns", "lanes"), [
    (1024, 200, (32, 32)), (8192, 300, (32, 32)), (20_000, 200, (8, 8)), (65_536, 500, (8, 16)), (131_072, 100, (8, 8)),
    (40_000, 1000, (16, 32)), (16_384, 2000, (32, 32)), (100_000, 30, (4, 4)),
])
def test_rows_for_all_threads_have_few_lanes_each_of_which_has_little_of_memory(rows, columns, lanes):
    """Of float32, and of float64: what a warp has of its rows, its cache shall keep until they are read again."""
    found = [nests(lazy(ROWS.astype(dtype)).sum(axis=1)) for dtype in (np.float32, np.float64)]
    assert tuple([sums(rows, columns) for (sums,) in found]) == lanes
    (shifted,) = nests(lazy(ROWS) - lazy(ROWS[:, 0])[:, None])
    assert shifted(rows, columns) == min(GROUP, 1 << (columns - 1).bit_length() - 3)  # which go in tiles as they did


def test_nests_of_a_kernel_have_teams_of_their_own():
    """The value reads few rows, the gradient, which has a sum for each column, many."""
    table, weights = np.ones((70, 5000)), np.ones(5000)
    value, slopes = nests(np.square(table @ lazy(weights)).sum(), weights)
    assert value(70, 5000) == THREADS and slopes(5000, 70) == 16


def test_rows_whose_sums_by_column_are_kept_in_slots_have_a_warp_each_or_a_block():
    table, weights = np.ones((300, 290)), np.ones(290)
    (both,) = nests(np.square(table @ lazy(weights)).sum(), weights)
    assert both(300, 290) == both(10_000, 1000) == 32
    assert both(10_000, 1025) == both(2, 3000) == THREADS, "no slots for so many in a thread of a warp, or few rows"


def test_few_long_rows_of_running_sums_have_a_block_each():
    (running,) = nests(lazy(ROWS).cumsum(1))
    assert (running(300, 100_000), running(100_000, 4000), running(100_000, 5)) == (THREADS, 32, 1)


@pytest.mark.parametrize(("rows", "columns", "pieces"), [
    (1, 2**24, 256), (2, 2**24, 128), (64, 2**24, 4), (3, 2**24, 85), (2, 100_000, 24), (1, 8192, 2), (1, 8191, 1),
    (129, 2**24, 1),
])
def test_few_long_rows_of_running_sums_are_cut_for_several_blocks_each(rows, columns, pieces):
    (running,) = nests(lazy(ROWS).cumsum(1))
    assert running(rows, columns) == pieces * THREADS


def test_many_running_sums_side_by_side_have_a_thread_each():
    (running,) = nests(lazy(ROWS).cumsum(0))
    assert (running(2**15, 4096), running(300, 40), running(300, 100)) == (1, 8, 16)


def test_running_sums_side_by_side_are_cut_for_a_thread_each():
    (running,) = nests(lazy(ROWS).cumsum(0))
    found = [running(*each) for each in ((2**15 - 1, 4096), (1024, 4096), (1024, 2**20), (150, 10**5), (8, 2**20))]
    assert found == [2, 64, 64, 436, 4096]
    assert running(7, 2**20) == 36 * THREADS, "few enough for blocks"
    assert running(1000, 1000) == 32, "too few for threads"
    (along,) = nests(lazy(ROWS).cumsum(1))
    assert along(2**15, 4096) == 32


def test_rows_of_elements_side_by_side_are_cut_into_tiles():
    (elements,) = nests(np.exp(lazy(ROWS)) * lazy(ROWS[:, :1]))
    assert elements(2, 100_000) == 32


@pytest.mark.parametrize(("chains", "rows", "columns", "lanes"), [
    (4, 70, 10, 2), (4096, 70, 10, 1), (4096, 31, 10, 2), (4096, 70, 17, 4),
])  # fmt: skip
def test_short_rows_that_are_more_than_threads_have_one_each(chains, rows, columns, lanes):
    """Lanes would all repeat what a row has beside its elements."""
    table, weights = np.broadcast_to(0.5, (chains, rows, columns)), np.ones(columns)
    totals = np.exp((lazy(table) * lazy(weights)).sum(axis=-1))
    bound = bind((totals.node,))
    kernel = lower(bound, values, "nan", Cuda)[1]
    (loop,) = [loop for _, loop in kernel.shared_nests() if has_rows(loop)]
    assert loop.turns(bound.lengths) == chains * rows
    assert lanes_of(loop, Grid(kernel), bound.lengths) == lanes


@pytest.mark.parametrize(("rows", "lanes"), [(3000, 32), (4096, 32), (10_000, 16), (2**20, 16)])
def test_lanes_that_read_neighbours_are_as_many_as_a_line_of_memory_has_numbers(rows, lanes):
    """Though each has loops of its own, so that fewer would keep all threads busy: those would read parts of lines."""
    kernel, loop, inner = row_sum()
    deep = Loop("n2", Block(inner.body, "i2"))
    deep.body.put(0, Accumulate("a4", Name("v1"), inner.body, F8))
    inner.body.put(0, deep)
    assert lanes_of(loop, Grid(kernel), {"n0": rows, "n1": 500, "n2": 8}) == lanes


@pytest.mark.parametrize("seed", range(12))
def test_lanes_of_random_models_of_any_lengths(seed):
    """Of a power of two, also where there is nothing; or of pieces of rows, a whole number of blocks."""
    model, rng = random_models.model(seed, lengths=(2, 66), terms=2), np.random.default_rng(seed)
    arrays = random_model_runs.arrays_of(model)
    bound = bind((model.density(arrays).node, *(leaf(arrays[name]) for name in model.parameters)))
    kernel = lower(bound, gradient_of, "nan", Cuda)[1]
    grid = Grid(kernel)
    for loop in (loop for _, loop in kernel.shared_nests() if has_rows(loop)):
        for _ in range(20):
            lengths = {name: int(rng.choice([0, 1, 2, 31, 500, 2**12, 2**17])) for name in bound.lengths}
            lanes = lanes_of(loop, grid, lengths | dict(kernel.fixed))
            assert lanes >= 1 and (lanes & (lanes - 1) == 0 or lanes % THREADS == 0 or loop in grid.cut)


def test_lengths_that_a_program_knows_are_numbers_in_it():
    """So compilers know how often short loops run, and write them out."""
    table, weights = np.ones((70, 8)), np.ones((8, 9))
    kernel = lower(bind(((lazy(table)[:, :, None] * lazy(weights)).sum(axis=1).node,)), values, "nan", Cuda)[1]
    known = dict(kernel.fixed)
    assert set(known.values()) == {8, 9}
    body = function(kernel).body
    assert known.keys().isdisjoint(names_in(body))
    stops = [loop.stop for loop in walk(body) if isinstance(loop, For)]
    assert {str(stop) for stop in stops} & {"8", "9"}


@pytest.mark.parametrize(("rows", "columns", "known"), [(2048, 500, True), (2047, 500, False), (2048, 10_241, False)])
def test_rows_that_are_read_again_lie_in_registers(rows, columns, known):
    """Where they are many, and there is room: those of a softmax, but not those that are added up once."""
    x = np.zeros((rows, columns), np.float32)
    for result, wanted in ((softmax(lazy(x), axis=-1), known), (lazy(x).sum(axis=-1), False)):
        kernel = lower(bind((result.node,)), values, "nan", Cuda)[1]
        assert (columns in dict(kernel.fixed).values()) is wanted
