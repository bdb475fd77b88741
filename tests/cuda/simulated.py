"""Kernels in the CUDA simulator: Numba runs them thread by thread, and so they are launched there.

``Simulated`` is a backend, by which all that users do with arrays of the host is done as a GPU would.
"""

from contextlib import contextmanager
from itertools import repeat
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np
from small_blocks import THREADS

from vecdist.codegen.cuda.grid import Grid, counters, partial_places
from vecdist.codegen.cuda.launch import lanes_of, pieces_of, workspace
from vecdist.codegen.cuda.render import render
from vecdist.codegen.cuda.tiling import has_rows
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline
from vecdist.runtime.base import Program
from vecdist.runtime.cache import of_structures
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.cuda.compiler import cuda
from vecdist.runtime.pipeline import lower, values

LANGUAGE = "vecdist.runtime.cuda.language"


def launch(kernel, arrays, lengths, blocks=1, lanes=1):
    """The outputs of a kernel, flat, and whether it raised its flag.

    Lanes are those of each nest, or of all; ``None`` takes as many as a launch would.  Rows that may be cut into pieces
    are, where they have more lanes than a block has threads, or a negative number: that of pieces of a thread each.
    """
    source, grid = render(kernel), Grid(kernel)
    blocks *= grid.strip_count(lengths)
    function = cuda.jit(imported(source.name, source.text, source.routines).kernel)
    outputs = [np.full(count(o.shape, lengths), 99, o.dtype) for o in kernel.outputs]
    flag = np.zeros(1, np.int64)
    arguments = []
    for slot in kernel.slots:
        array = arrays[slot.index]
        if slot.layout == "number":
            arguments.append(array[()])
            continue
        strided = slot.layout == "strided"
        arguments.append(flat_memory(array) if strided else array.reshape(-1))
        arguments += [array.strides[axis] // array.itemsize for axis in slot.axes] if strided else []
    arguments += [*outputs, *([flag] if kernel.flagged else []), *(lengths[n] for n in kernel.lengths)]
    partials = np.full(partial_places(grid, blocks), np.nan)
    added = np.zeros(grid.sum_places(lengths, blocks))
    arrivals = np.zeros(counters(kernel), np.int32)
    teams, cuts = _teams(kernel, grid, lengths, lanes)
    given = {"partials": partials, "sums": added, "arrivals": arrivals, "spread": blocks % 2}
    given |= {f"lanes_{loop.index}": number for loop, number in teams.items()}
    given |= {f"cut_{loop.index}": pieces for loop, pieces in cuts.items()}
    shared = (given[name] for name in workspace(grid))
    function[blocks, THREADS, 0, grid.shared_bytes(lengths, teams)](*arguments, *shared)
    assert not arrivals.any(), "the counters must be left as they were found"
    atomic = sum(count(kernel.outputs[output].shape, lengths) for output in grid.atomic_outputs)
    assert not added[:atomic].any(), "the sums of atomic additions must be left as they were found"
    kept = [a for a, o in zip(outputs, kernel.outputs, strict=True) if not o.temporary]
    return kept, bool(flag[0])


def _teams(kernel, grid, lengths, lanes):
    """The lanes of each nest of rows, and into how many pieces it is cut."""
    nests = [loop for _, loop in kernel.shared_nests() if has_rows(loop)]
    if lanes is None:
        return {nest: lanes_of(nest, grid, lengths) for nest in nests}, {n: pieces_of(n, lengths) for n in grid.cut}
    teams = dict(zip(nests, lanes if isinstance(lanes, tuple) else repeat(lanes, len(nests)), strict=True)) | grid.lanes
    cuts = {loop: max(1, -teams[loop], teams[loop] // THREADS) for loop in grid.cut}
    teams = {loop: abs(number) if loop in cuts else max(1, number) for loop, number in teams.items()}
    assert all(team < THREADS or grid.takes_blocks(nest) for nest, team in teams.items()), "no row is for a block"
    return teams, cuts


def imported(name, text, routines):
    """The module of a source, run by Python; so is what it calls."""
    module = ModuleType(name)
    for each in routines:
        inner = imported(each.name, each.module(LANGUAGE), each.needs)
        vars(inner)["cuda"] = SimpleNamespace(selp=lambda test, yes, no: yes if test else no)  # as Numba gives kernels
        vars(module)[each.name] = getattr(inner, each.name)
    exec(compile(text, name, "exec"), vars(module))
    return module


def count(shape, lengths):
    return int(np.prod([lengths[d] if isinstance(d, str) else d for d in shape], dtype=int))


def flat_memory(array):
    """The memory from the first element of a strided array on, as one axis (strides are positive)."""
    span = 1 + sum((n - 1) * s // array.itemsize for n, s in zip(array.shape, array.strides, strict=True))
    return np.lib.stride_tricks.as_strided(array, (span if array.size else 0,), (array.itemsize,))


def prepared(results, wrt, errors="nan", target=Cuda):
    roots = (*(result.node for result in results), *map(leaf, wrt))
    derivation = gradient_of if wrt else values
    bound = bind(roots)
    _, kernel = lower(bound, derivation, errors, target)
    return roots, derivation, kernel, [leaf.array for leaf in bound.leaves], bound.lengths


class Simulated(Cuda):
    """What a GPU does, with arrays of the host."""

    name = "cpu"

    def compile(self, kernel):
        return SimulatedProgram(kernel)


class SimulatedProgram(Program):
    """A kernel that is launched as on a GPU, in two blocks."""

    def __init__(self, kernel):
        self.source = SimpleNamespace(kernel=kernel)

    def prepared(self, lengths, shapes, feeds, pooled=True):
        def run(arrays, out=None):
            given = [np.array(feed.array if feed.place is None else arrays[feed.place]) for feed in feeds]
            flat, failed = launch(self.source.kernel, given, lengths, 2, lanes=None)
            found = [array.reshape(shape) for array, shape in zip(flat, shapes, strict=True)]
            for place, array in zip(out or (), found, strict=False):
                place[...] = array
            return found if out is None else list(out), failed

        return run

    def resources(self):
        return {}


@contextmanager
def on_simulated_gpu(backend=None):
    """Inside, arrays of the host are computed with as those of a GPU are; nothing is known of what was, or is later."""
    backends = dict.fromkeys(("cpu", "cuda"), backend or Simulated())
    memories = {name: of_structures() for name in ("_launches", "_derived", "_kernels", "_plans")}
    with (
        mock.patch.dict(pipeline._backends, backends), mock.patch.multiple(pipeline, **memories),
        mock.patch.object(pipeline, "is_on_gpu", return_value=True),
    ):  # fmt: skip
        yield
