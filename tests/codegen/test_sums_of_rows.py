"""Sums that each of many chains has of its own: where lanes keep them, and where they are not worth it."""

import numpy as np
import pytest
from cuda.row_sums_cases import answers, choices, levels, settings

from vecdist import lazy
from vecdist.codegen.cuda.grid import Grid
from vecdist.codegen.cuda.sums_of_rows import sums_of_rows
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.column_reductions import candidates, sums_of_chains
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower


def kernel_of(results, wrt):
    return lower(bind((*(result.node for result in results), *map(leaf, wrt))), gradient_of, "nan", Cuda)[1]


def own(kernel):
    """How many sums of a row a lane keeps, in which type."""
    grid = Grid(kernel)
    found = [each for _, rows in kernel.shared_nests() for each in sums_of_rows(rows, grid)]
    return sorted((each.count, each.word) for each in found)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_lanes_keep_sums_of_their_chains(dtype):
    with settings():
        assert own(kernel_of(*answers(70, 8, dtype))) == [(8, dtype)] * 2
        assert own(kernel_of(*levels(70, 8, dtype))) == [(8, dtype)]
        kernel = kernel_of(*choices(70, 2, 3, dtype))  # of which blocks take strips of chains
        assert kernel.strips and not own(kernel)


def test_long_rows_are_added_up_in_float64():
    """A lane has too many elements to add them up in float32."""
    with settings():
        assert own(kernel_of(*answers(513, 8, "f4"))) == [(8, "f8")] * 2


def test_few_chains_and_many_columns_are_as_they_were():
    assert not own(kernel_of(*answers(70, 8, "f4")))
    with settings():
        assert not own(kernel_of(*answers(70, 21, "f8")))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_no_element_is_added_to_memory(dtype):
    """Whatever rows become: either lanes keep the sums, or there are none that elements are added to."""
    with settings():
        for made in (answers, choices, levels):
            sizes = (70, 8) if made is not choices else (70, 2, 3)
            kernel = kernel_of(*made(*sizes, dtype))
            assert len(own(kernel)) == len(Grid(kernel).atomic_outputs)


def test_only_sums_whose_elements_are_dear():
    found = bind((lazy(np.ones((2, 70, 3))).sum(axis=1).node,))
    lengths = {**found.lengths} | {dim: 5000 for dim, length in found.lengths.items() if length == 2}
    assert not sums_of_chains(candidates(found.roots), lengths, 40)
