"""Random cases for the CUDA simulator: each is drawn from a seed, and right where the interpreter finds the same."""

from unittest import mock

import models_of_chains
import numpy as np
import random_array_programs
import random_axes
import random_layer_models
import random_loops
import random_matrix_models
import random_model_runs
import random_models
import random_recurrences
import random_tensors
import random_ties
import row_sums_cases
from functions.programs_at_random import Writer, made
from functions.test_programs import points, truth
from reference import interpreted
from simulated import launch, on_simulated_gpu, prepared
from small_blocks import THREADS

from vecdist import function, lazy, scan
from vecdist.codegen.cuda.grid import Grid
from vecdist.codegen.cuda.tiling import has_rows
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values


def _recurrence(seed):
    """A random recurrence with gradients, of one kernel."""
    problem = random_recurrences.problem(seed)
    given = problem.arrays()
    starts, sequences, shared = problem.parts([lazy(array) for array in given])
    order = {"length": problem.steps, "reverse": problem.reverse, "mask": problem.mask()}
    total = problem.total_of(*scan(problem.step(shared), tuple(starts), sequences, **order))
    roots, derivation, kernel, arrays, lengths = prepared((total,), tuple(a for a in given if a.dtype.kind == "f"))
    found, _ = launch(kernel, arrays, lengths, 1 + seed % 2, 1 << seed % 3)
    for mine, wanted in zip(found, interpreted(roots, derivation), strict=True):
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=1e-9, atol=1e-9)


def check_chains(name):
    """A model of a few chains with gradients, in rows that are too few; steps of many states are all lanes'."""
    sizes = {"steps": 4, "states": 40} if name == "hidden_states" else models_of_chains.SMALL[name]
    density = models_of_chains.density(name, **sizes)
    evaluation = density._evaluation("gradient")
    roots, _ = evaluation._traced(models_of_chains.points(density, 2))
    bound = bind(tuple(roots))
    _, kernel = lower(bound, evaluation.derivation, "nan", Cuda)
    assert kernel.spread or name == "populations"
    assert kernel.deep or name != "hidden_states"
    found, _ = launch(kernel, [np.array(leaf.array) for leaf in bound.leaves], bound.lengths, 1, 8)
    for mine, wanted in zip(found, interpreted(roots, evaluation.derivation), strict=True):
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=1e-10, atol=1e-10)


def _tensors(seed):
    """A random sum of products of arrays of several axes, with gradients."""
    function = random_tensors.tensors(seed, longest=5)
    leaves = [lazy(array) for array in function.arrays]
    roots, derivation, kernel, arrays, lengths = prepared((function(*leaves),), function.arrays)
    found, _ = launch(kernel, arrays, lengths, 2, 1 << seed % 4)
    for mine, wanted in zip(found, interpreted(roots, derivation), strict=True):
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=1e-10, atol=1e-10)


def _axes(seed):
    """A random reduction along some axes, with its gradient where that has no ties or infinities."""
    given = random_axes.reduction(seed, "f4" if seed % 3 == 0 else "f8")
    results = (given(*map(lazy, given.arrays)),)
    differs = not given.exact and results[0].shape == ()
    with random_axes.settings():
        roots, derivation, kernel, arrays, lengths = prepared(results, given.arrays if differs else ())
        blocks = 2 if Grid(kernel).waits else 1 + seed % 2
        found, _ = launch(kernel, arrays, lengths, blocks, None if seed % 2 else 1 << seed % 5)
    for mine, wanted in zip(found, interpreted(roots, derivation), strict=True):
        tolerance = 1e-5 if wanted.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=tolerance, atol=tolerance)


def _model(seed):
    """A random model of few elements, in a random number of blocks, with as many lanes to a row as may be."""
    model = random_models.model(seed, lengths=(0, 1, 2, 7, 33, 65), terms=1)
    arrays = {  # the simulator has no pointers, which strides may lead backwards from
        name: array.copy() if min(array.strides, default=0) < 0 else array
        for name, array in random_model_runs.arrays_of(model).items()
    }
    with random_model_runs.schedules_of(seed):
        _, _, kernel, given, lengths = prepared(
            (model.density(arrays),), [arrays[name] for name in model.parameters]
        )
    rng, grid = np.random.default_rng(seed), Grid(kernel)
    nests = [loop for _, loop in kernel.shared_nests() if has_rows(loop)]
    lanes = [THREADS if grid.takes_blocks(nest) and rng.random() < 0.5 else 2 ** int(rng.integers(6)) for nest in nests]
    found, _ = launch(kernel, given, lengths, int(rng.integers(1, 4)), tuple(lanes))
    wanted = random_model_runs.plain(model, random_model_runs.arrays_of(model, np, np.float64))
    found = [mine.reshape(reference.shape) for mine, reference in zip(found, wanted, strict=True)]
    random_model_runs.compare(model, found, wanted)


def _loops(seed):
    """Random loops of elements with all their derivatives, in either precision."""
    program = random_loops.program(seed, ("f8", "f4")[seed % 2])
    roots = program.roots()
    bound = bind(roots)
    _, kernel = lower(bound, values, "nan", Cuda)
    found, _ = launch(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    random_loops.compare([mine.reshape(root.shape) for mine, root in zip(found, roots, strict=True)], roots)


def _program(seed):
    """A random function in plain Python, and its derivatives, against Python on numbers that carry them."""
    text, (x, y, n) = Writer(seed).text(), points(seed)
    wanted = truth(text, f"program {seed}", x, y, n)
    first, second, _ = function(made(text, f"<simulated {seed}>"))(lazy(x), lazy(y), n)
    bound = bind(((first + 0.3 * second).sum().node, leaf(x), leaf(y)))
    _, kernel = lower(bound, gradient_of, "nan", Cuda)
    found, _ = launch(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    value, *slopes = wanted[:3] + 0.3 * wanted[6:9]
    for mine, other in zip(found, (value.sum(), *slopes), strict=True):
        np.testing.assert_allclose(mine.reshape(np.shape(other)), other, rtol=1e-8, atol=1e-10)


def _layers(seed):
    """A random model of layers."""
    _in_some_way(random_layer_models.model(seed, 2, rows=(1, 2, 3, 17), widths=(1, 2, 3, 5, 9)))


def _likelihoods(seed):
    _in_some_way(random_models.model(seed, lengths=(0, 1, 2, 7, 33, 65), terms=1))


def _matrices(seed):
    """A random model with matrices, with calls between its kernels."""
    _in_some_way(random_matrix_models.model(seed, terms=1))


def _in_some_way(model):
    """One of the ways to compute a model, at the lanes that a launch has."""
    (way,) = random_model_runs.ways_of(model, "cpu", 1)
    with random_model_runs.schedules_of(model.seed), on_simulated_gpu():
        random_model_runs.check(model, way)


def _many(seed):
    """A random model of layers for a few chains, by a kernel that is made for very many."""
    model = random_layer_models.model(seed, 1, rows=(64, 70), widths=(1, 2, 3, 8))
    few = mock.patch.object(random_model_runs, "number_of_chains", return_value=row_sums_cases.CHAINS)
    with few, row_sums_cases.settings(), on_simulated_gpu():
        random_model_runs.check(model, random_model_runs.chains)


def _arrays(seed):
    """A random program of NumPy's functions, with calls between its kernels."""
    made = random_array_programs.program(seed, long=0.05)
    with on_simulated_gpu():
        random_array_programs.check(made, seed)


def _ties(seed):
    """Computed values beside what was picked from them."""
    with on_simulated_gpu():
        random_array_programs.check(random_ties.program(seed), seed)


RANDOM = {
    "arrays": _arrays, "ties": _ties,
    "axes": _axes, "model": _model, "layers": _layers, "loops": _loops, "tensors": _tensors, "recurrence": _recurrence,
    "program": _program, "many": _many, "likelihoods": _likelihoods, "matrices": _matrices,
}  # fmt: skip


def check(name):
    """A case of a kind that it names, and a seed."""
    kind, seed = name.split()
    RANDOM[kind](int(seed))
