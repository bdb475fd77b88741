"""How far launches reach: whatever a model is, of however many chains, its blocks find their work, and each other."""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import random_model_runs
from cuda.row_sums_cases import CHAINS, many, settings
from cuda.simulated import on_simulated_gpu

from vecdist.codegen.cuda.grid import THREADS, Grid, is_across
from vecdist.codegen.cuda.tiling import has_rows
from vecdist.runtime.base import Program
from vecdist.runtime.cuda.backend import Cuda, CudaProgram

AT_ONCE = 132  # blocks: one for each processor, as of a kernel that needs all registers


class Planned(Program):
    """A kernel that is not compiled: how it would be launched is kept."""

    def __init__(self, kernel, number, found):
        self.source, self.number, self.found = SimpleNamespace(kernel=kernel), number, found

    def prepared(self, lengths, shapes, feeds, pooled=True):
        kernel = self.source.kernel
        program = object.__new__(CudaProgram)
        vars(program).update(kernel=kernel, grid=Grid(kernel))
        program.sums = sum(len(loop.sums(kernel.root)) for _, loop in kernel.nests())
        lengths = many(lengths, self.number)
        self.found.append((kernel, lengths, program.extent(0, lengths)))
        dtypes = [output.dtype for output in kernel.outputs if not output.temporary]
        return lambda arrays, out=None: (list(map(np.zeros, shapes, dtypes)), False)

    def resources(self):
        return {}


def extents(model, number):
    """The kernels of a model of chains that stand for so many, with the lengths and extents of their launches."""
    found = []

    class Planning(Cuda):
        name = "cpu"

        def compile(self, kernel):
            return Planned(kernel, number, found)

    with (
        settings(number), on_simulated_gpu(Planning()),
        mock.patch.object(random_model_runs, "number_of_chains", return_value=CHAINS),
        mock.patch.multiple(CudaProgram, loaded=mock.DEFAULT, most_blocks=mock.Mock(return_value=AT_ONCE)),
    ):  # fmt: skip
        random_model_runs.chains(model, np)
    return found


@pytest.mark.parametrize("kind", random_model_runs.KINDS)
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("number", [CHAINS, 4096, 20_000])
def test_random_models(kind, seed, number):
    found = extents(random_model_runs.KINDS[kind](seed, terms=2), number)
    assert found
    for kernel, lengths, extent in found:
        grid = Grid(kernel)
        strips = grid.strip_count(lengths)
        assert extent.blocks >= strips and extent.blocks % strips == 0
        assert not extent.cooperative or extent.blocks <= AT_ONCE
        for loop in (loop for _, loop in kernel.shared_nests() if has_rows(loop)):
            lanes, pieces = extent.numbers[f"lanes_{loop.index}"], extent.numbers.get(f"cut_{loop.index}", 1)
            assert lanes % pieces == 0 and pieces > 0
            assert pieces == 1 or lanes == pieces * (1 if is_across(loop) and lanes == pieces else THREADS)
            assert pieces > 1 or (lanes & (lanes - 1) == 0 and 1 <= lanes <= THREADS)
