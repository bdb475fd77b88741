"""Which sums by index each block of a grid adds up in its own memory."""

from unittest import mock

import numpy as np
import pytest

from vecdist import lazy, logpdf
from vecdist.codegen.cuda.grid import SIZE, THREADS, Grid
from vecdist.codegen.cuda.launch import ROOM, is_spread, lanes_of
from vecdist.distributions import Normal
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes import split_reductions
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower


def lowered(rows, *counts):
    """The kernel of crossed effects, and its lengths."""
    effects = [np.linspace(-1.0, 1.0, count) for count in counts]
    mean = sum(lazy(each)[np.arange(rows) % len(each)] for each in effects)
    bound = bind((logpdf(Normal(mean, 1.0), np.zeros(rows)).sum().node, *map(leaf, effects)))
    return lower(bound, gradient_of, "nan", Cuda)[1], bound.lengths


@pytest.mark.parametrize(("rows", "counts", "near"), [
    (6400, (100,), 1), (6399, (100,), 0), (1_000_000, (8192,), 1), (1_000_000, (8193,), 0), (100, (1, 2), 1),
    (1_000_000, (4000, 5000), 1), (1_000_000, (3000, 5000), 2),
])
def test_few_elements_of_many_rows_are_near(rows, counts, near):
    kernel, lengths = lowered(rows, *counts)
    grid = Grid(kernel)
    assert len(kernel.near) == near and len(grid.atomic_outputs) == len(counts) - near
    size = sum(int(lengths.get(str(dim), dim)) for number in kernel.near for dim in kernel.outputs[number].shape)
    assert grid.shared_bytes(lengths, {}) == SIZE * size


def test_a_column_that_each_thread_keeps_is_not():
    slopes, table = np.ones(5), np.ones((100_000, 5))
    bound = bind((logpdf(Normal(table @ lazy(slopes), 1.0), np.zeros(100_000)).sum().node, leaf(slopes)))
    kernel = lower(bound, gradient_of, "nan", Cuda)[1]
    assert kernel.near == () and Grid(kernel).private


@pytest.mark.parametrize(("count", "blocks", "together"), [(10, 8, False), (10, 1000, False), (100, 1000, True)])
def test_all_blocks_add_up_what_many_of_them_leave(count, blocks, together):
    kernel, lengths = lowered(THREADS * 1000, count)
    assert kernel.near and is_spread(Grid(kernel), lengths, blocks) is together


def test_all_blocks_round_the_sums_of_atomic_additions_where_these_are_many():
    kernel, lengths = lowered(200_000, 9000)
    assert not kernel.near and is_spread(Grid(kernel), lengths, 100)


def table(rows, *columns):
    """The kernel of a table whose elements have a mean each, which is differentiated, and a scale by the first axis."""
    means, scales = np.zeros(columns), np.ones((columns[0], *[1] * (len(columns) - 1)))
    bound = bind((logpdf(Normal(lazy(means), scales), np.zeros((rows, *columns))).sum().node, leaf(means)))
    kernel = lower(bound, gradient_of, "nan", Cuda)[1]
    lanes = {loop: lanes_of(loop, Grid(kernel), bound.lengths) for _, loop in kernel.shared_nests()}
    return kernel, Grid(kernel).shared_bytes(bound.lengths, lanes)


@pytest.mark.parametrize(("columns", "far", "strips"), [
    ((3, 12), 0, 0), ((3, 300), 0, 0), ((3, 400), 1, 0), ((8192,), 0, 1), ((40, 40), 0, 1), ((40, 41), 1, 0),
])
def test_sums_that_no_thread_has_room_for_are_far(columns, far, strips):
    """A lane that shares the first axis would keep all of the second, of its strip of the first where that helps."""
    with mock.patch.object(split_reductions, "LONG", 2**40):  # what is not made in two steps
        kernel, memory = table(9000, *columns)
    assert len(kernel.far) == far and len(kernel.strips) == strips and memory <= ROOM
