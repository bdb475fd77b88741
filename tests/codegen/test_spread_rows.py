"""Loops in rows that are too few become rows, or one with those inside: the same results, from more threads."""

from unittest import mock

import loop_executor
import models_of_chains
import numpy as np
import pytest
import random_model_runs
import random_models

from vecdist import lazy
from vecdist.codegen.cuda.deep_lanes import with_deep_lanes
from vecdist.codegen.cuda.privatisation import privatisable
from vecdist.codegen.cuda.spread_rows import spread_rows
from vecdist.codegen.fission import parts
from vecdist.graph.leaves import leaf
from vecdist.kernel.ir import Loop
from vecdist.kernel.lower import schedule
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes import contractions
from vecdist.passes.bind import bind
from vecdist.passes.contractions import contracted
from vecdist.passes.order import Structure, derived
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import scheduled


def of_chains(name, chains, **sizes):
    """The kernel of a model's gradient for chains, on a GPU; its arrays and lengths."""
    density = models_of_chains.density(name, **sizes)
    evaluation = density._evaluation("gradient")
    roots, _ = evaluation._traced(models_of_chains.points(density, chains))
    with mock.patch.object(contractions, "is_on_gpu", return_value=True):
        bound = bind(contracted(tuple(roots)))
    found = derived(Structure(bound.roots, evaluation.derivation, "nan"), Cuda.passes)
    kernel = scheduled(found, found.chosen(bound.lengths, Cuda.widest, Cuda.side_by_side))
    return kernel, [each.array for each in bound.leaves], bound.lengths


def dims(kernel):
    """The lengths of the chains of loops of each nest."""
    return [tuple(loop.dims()) for _, loop in kernel.nests()]


def assert_same(kernel, arrays, lengths):
    """Loops give the same, to the bit, however they are spread: each sum has its elements in their order."""
    other = spread_rows(kernel, lengths)
    plain, spread = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(spread, plain, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    return other


@pytest.mark.parametrize("name", models_of_chains.MODELS)
@pytest.mark.parametrize("chains", [1, 3])
def test_models_of_few_chains(name, chains):
    assert_same(*of_chains(name, chains, **models_of_chains.SMALL[name]))


@pytest.mark.parametrize("seed", range(24))
def test_random_models(seed):
    model = random_models.model(seed, lengths=(1, 2, 3), terms=2)
    arrays = random_model_runs.arrays_of(model)
    expression = model.density(arrays)
    bound = bind((expression.node, *[leaf(arrays[name]) for name in model.parameters]))
    found = derived(Structure(bound.roots, gradient_of, "nan"), Cuda.passes)
    kernel = scheduled(found, found.chosen(bound.lengths, Cuda.widest, Cuda.side_by_side))
    assert_same(kernel, [each.array for each in bound.leaves], bound.lengths)


def test_columns_of_a_gradient_are_rows():
    kernel, _, lengths = of_chains("factors", 256, n=5)
    axes = {length: dim for dim, length in lengths.items()}
    chains, factors, kinds, rows = (axes[length] for length in (256, 2, 6, 5))
    assert (chains, factors, kinds, rows) in dims(kernel)
    assert (f"{chains}*{factors}*{kinds}", rows) in dims(spread_rows(kernel, lengths))


def test_many_rows_stay_as_they_are():
    kernel, _, lengths = of_chains("regression", 256, n=800)
    (chains,) = [dim for dim, length in lengths.items() if length == 256]
    assert spread_rows(kernel, lengths | {chains: 2**20}) is kernel


def test_values_that_columns_need_are_computed_once():
    """The derivative in the predictor takes hundreds of operations, and each column of the design wants it."""
    large, *_ = of_chains("regression", 256, n=800)
    small, *_ = of_chains("regression", 2, n=20)
    statements = [[len(loop.body.items) for loop in _innermost(each)] for each in (large, small)]
    assert max(statements[0]) < 100 < max(statements[1])


def _innermost(kernel):
    """The loops inside of two others."""
    nests = [loop for _, loop in kernel.shared_nests()]
    return [deep for loop in nests for inner in loop.body.every_loop() for deep in inner.body.every_loop()]


def test_lanes_go_through_steps_together():
    kernel, _, lengths = of_chains("hidden_states", 64)
    known = with_deep_lanes(spread_rows(kernel, lengths), lengths)
    deep = [item for item in known.root.walk() if isinstance(item, Loop) and item.index in known.deep]
    assert any(loop.sequential for loop in deep)


def test_parts_of_a_body_are_what_needs_nothing_of_each_other():
    x, y = lazy(np.ones((4, 3))), lazy(np.ones((4, 5)))
    level = np.exp(lazy(np.ones((4, 1))))
    kernel = schedule(bind(((x * level).sum(1).node, (y * level).sum(1).node)).roots)
    ((_, rows),) = kernel.nests()
    found = parts(rows)
    assert len(found) == 2
    assert [part.loop for part in found] == [None, None]  # each has a sum behind it
    shared = {id(item) for _, item in found[0].items} & {id(item) for _, item in found[1].items}
    assert shared  # the exponential, which each has


def test_what_threads_add_up_for_themselves_stays():
    """They meet the same elements again and again, along loops that stay as they are."""
    values = np.ones((30, 2, 3))
    scale = np.ones((2, 3))
    expression = np.sin(lazy(values) * lazy(scale)).sum()
    bound = bind((expression.node, leaf(scale)))
    found = derived(Structure(bound.roots, gradient_of, "nan"), Cuda.passes)
    kernel = scheduled(found, found.chosen(bound.lengths, Cuda.widest, Cuda.side_by_side))
    assert privatisable(kernel)
    assert spread_rows(kernel, bound.lengths) is kernel
