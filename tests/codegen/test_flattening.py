"""Which loops of elements, and of columns, become one on a GPU, and what a program knows then."""

import numpy as np
import pytest

from vecdist import lazy
from vecdist.codegen.collapsing import has_pieces
from vecdist.codegen.cuda.render import render
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values


def kernel_of(*results):
    return lower(bind(tuple([result.node for result in results])), values, "nan", Cuda)[1]


def large(*shape):
    return lazy(np.ones(shape, np.float32))


def test_elements_that_lie_in_order_need_no_indices():
    x = large(30, 40)
    kernel = kernel_of(x / x.sum(), x.max(axis=0))  # of which the last tells axes apart
    assert [each[1] for each in kernel.flat] == [(), ()]  # nothing is known of lengths
    assert "u8(" not in render(kernel).text


@pytest.mark.parametrize(
    ("shape", "divides"),
    [((1200, 1000), [((("n1", 1000),), True)]), ((30, 7), [((("n1", 7),), True)]), ((12, 100), [])],
)
def test_others_are_found_by_division_by_numbers_that_are_known(shape, divides):
    """Of many elements, or rows so short that their length is known."""
    x = large(*shape)
    kernel = kernel_of(x - x[:1])
    assert [each[1:] for each in kernel.flat] == divides
    assert ("u8(u4(" in render(kernel).text) is bool(divides)  # divisions are in 32 bit, which suffice


def test_very_many_elements_are_found_in_64_bit():
    x = lazy(np.broadcast_to(np.float32(1.0), (70_000, 70_000)))  # whose elements do not lie in order
    kernel = kernel_of(x - x[:1])
    assert [each[1:] for each in kernel.flat] == [((("n1", 70_000),), False)]
    assert "u4(" not in render(kernel).text


def test_programs_know_what_they_divide_by():
    """Else one of another length would be taken for this."""
    one, other = (kernel_of(large(rows, 1000 + rows) - large(1, 1000 + rows)) for rows in (1100, 1200))
    assert one.known != other.known
    known = [kernel_of(x / x.sum(), x.max(axis=0)).flat for x in (large(30, 70), large(20, 90))]
    assert known[0] == known[1]


def test_columns_of_several_axes_are_in_one_loop():
    kernel = kernel_of(large(300, 20, 500).sum(axis=1))
    ((_, nest),) = kernel.nests()
    (inner,) = nest.body.every_loop()
    assert len(nest.dim.split("*")) == 2 and not inner.body.every_loop()


def test_pieces_behind_values_of_their_rows_are_in_one_loop():
    """Threads of a piece each find a mean again; a thread for each row would be one of few."""
    x = lazy(np.broadcast_to(np.float32(1.0), (336, 2, 18_960)))
    kernel = kernel_of(((x - x.mean(axis=(0, 2), keepdims=True)) ** 2).sum(axis=(0, 2)))
    pieces = [nest for _, nest in kernel.nests() if has_pieces(nest)]
    assert len(pieces) == 2 and all(len(nest.dim.split("*")) == 3 for nest in pieces)


def test_pieces_are_for_threads_of_the_whole_grid():
    """Not for a block that takes its own through all nests."""
    x = lazy(np.broadcast_to(np.float32(1.0), (224, 14_220, 3)))
    kernel = kernel_of(x - x.mean(axis=1, keepdims=True))
    assert any(has_pieces(nest) for _, nest in kernel.nests()) and not kernel.by_block


def test_what_is_divided_by_is_a_number_everywhere():
    """Elements of a column are a known number of bytes from each other."""
    kernel = kernel_of(lazy(np.broadcast_to(np.float32(1.0), (30_000, 367))).max(axis=0))
    assert dict(known for _, lengths, _ in kernel.flat for known in lengths)["n1"] == 367
    assert "* n1" not in render(kernel).text


def test_loops_that_scatter_stay_as_they_are():
    """Blocks may take strips of all of them."""
    x = large(2000, 300)
    kernel = kernel_of(x * 2.0 + (x * x.sum(axis=1)[:, None]).sum(axis=0))
    assert any(output.summed for output in kernel.outputs) and not kernel.flat
