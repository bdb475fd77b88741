"""Which reductions are split in two steps, and into what."""

import numpy as np
import pytest

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda.grid import Grid
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Loop
from vecdist.passes import split_reductions
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values


def kernel_of(function, shape):
    """The kernel of a function of a large array."""
    bound = bind((function(lazy(np.broadcast_to(np.float32(1.0), shape))).node,))
    return lower(bound, values, "nan", Cuda)[1]


def steps(nest):
    """How far it is from one element to the next in each loop inside a nest, in order."""
    return [loop.step for loop in nest.body.walk() if isinstance(loop, Loop)]


def parts(function, shape):
    """Into how many pieces axes of a large array are cut, each time that it is gone through."""
    return [step for _, nest in kernel_of(function, shape).nests() for step in steps(nest) if step > 1]


@pytest.mark.parametrize(
    ("function", "shape", "several"),
    [
        (lambda x: x.max(axis=0), (500_000, 3), True),  # few columns
        (lambda x: x.sum(axis=0), (500_000, 3), False),  # which each thread has room for sums of
        (lambda x: x - x.mean(axis=0), (500_000, 70), True),
        (lambda x: x.max(axis=0), (500, 3), False),  # short
        (lambda x: x.max(axis=0), (200, 60_000), False),  # columns enough
        (lambda x: x.max(axis=1), (3, 500_000), True),  # few rows
        (lambda x: x.max(axis=1), (5000, 400), False),  # a group of threads for each
        (lambda x: x.max(axis=1), (200, 60_000), True),  # a block for each would leave processors idle
        (lambda x: x.max(axis=1), (400, 30_000), False),
        (lambda x: x.max(), (500_000, 3), False),  # what all blocks find is one number
        (lambda x: x.max(axis=(0, 2)), (3, 5, 100_000), True),
        (lambda x: x.sum(axis=(0, 1)), (9, 50_000, 5), True),
    ],
)
def test_few_results_of_many_elements_are_split(function, shape, several):
    found = parts(function, shape)
    assert bool(found) is several
    for step in found:
        assert len(bin(step).rstrip("0")) <= len("0b11111")  # of few numbers, so that there are few programs


def test_sums_of_what_rows_have_found_are_added_up_as_it_is_found():
    """As in the gradient of a regression: a thread for each piece of a column would find it again."""

    def slopes(x):
        return (x * np.tanh(x.sum(axis=1))[:, None]).sum(axis=0)

    assert not parts(slopes, (200_000, 40))


@pytest.mark.parametrize("shape", [(300, 20, 3000), (8, 605, 2759)])
def test_an_inner_axis_comes_first_where_results_are_enough_then(shape):
    """Nothing is in pieces there: rows of the first step are one for each of two axes."""
    first, *_ = [nest for _, nest in kernel_of(lambda x: x.max(axis=(0, 2)), shape).nests()]
    assert first.first_dim == "n0" and first.length_behind == Name("n1")
    assert not parts(lambda x: x.max(axis=(0, 2)), shape)


def test_pieces_are_as_many_as_threads_have_time_for():
    for columns in (8, 100, 3000):
        (step,) = parts(lambda x: x.max(axis=0), (2**22 // columns, columns))
        assert split_reductions.PARTIAL // 2 <= step * columns <= split_reductions.PARTIAL


@pytest.mark.parametrize(("function", "axes"), [("max", 1), ("sum", 1), ("max", (0, 2)), ("prod", (0, 2))])
def test_pieces_that_lie_along_memory_are_warps(function, axes):
    """Threads side by side read neighbours, and leave one partial result: thirty times fewer."""
    shape = (3, 2_000_000) if axes == 1 else (2, 3, 2_000_000)
    kernel = kernel_of(lambda x: getattr(x, function)(axis=axes), shape)
    (rows, lanes), *others = Grid(kernel).columns.items()
    pieces = steps(rows)[-1]
    assert lanes == split_reductions.LANES and not others
    assert split_reductions.PARTIAL // 2 <= 3 * pieces * lanes <= split_reductions.PARTIAL
    assert steps(rows) == [1] * (len(shape) - 2) + [pieces], "loops over other axes stand outside: loads are together"
    assert [*Grid(kernel_of(lambda x: x.max(axis=0), (2_000_000, 33))).columns.values()] == [1]


def test_what_rows_have_left_of_a_long_axis_is_in_pieces_too():
    """One block for each of four results would go through 90 000 of them."""
    found = [steps(nest) for _, nest in kernel_of(lambda x: np.tanh(x).sum(axis=(0, 2)), (90_000, 4, 28)).nests()]
    assert found == [[1], [split_reductions.SEVERAL], [1]]


@pytest.mark.parametrize("axes", [0, 1, (0, 1)])
def test_an_array_that_is_read_again_is_read_from_its_end_on(axes):
    shape = (2000, 3000) if axes == 0 else (3, 2**21)
    kernel = kernel_of(lambda x: np.exp(x - logsumexp(x, axis=axes, keepdims=True)), shape)
    grid = Grid(kernel)
    read = [loop for _, loop in kernel.nests() if any(getattr(item, "source", None) == 0 for item in loop.body.walk())]
    assert [loop in grid.backward for loop in read] == [False, True, False]
