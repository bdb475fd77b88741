"""Branches in the place of choices compute the same, to the bit: values and gradients, by Python and compiled."""

from unittest import mock

import numpy as np
import pytest
import random_choices
from random_choices import ALWAYS, NEVER, with_branches
from scipy import special

import vecdist
from vecdist import lazy
from vecdist.codegen.cpu import plan as cpu
from vecdist.codegen.cuda import plan as cuda
from vecdist.graph.leaves import leaf
from vecdist.kernel.code import If, walk
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of, values
from vecdist.runtime.cpu import language
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower


def computed(seed, dtype):
    scalar, arrays = random_choices.expression(seed, 9, dtype)
    value, gradient = vecdist.value_and_grad(scalar, wrt=arrays)
    return np.asarray(value), *map(np.asarray, gradient)


def compare(seed, dtype):
    with NEVER():
        wanted = computed(seed, dtype)
    with ALWAYS():
        found = computed(seed, dtype)
    for mine, other in zip(found, wanted, strict=True):
        assert mine.tobytes() == other.tobytes(), seed


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("first", range(0, 40, 8))
def test_random_choices_by_python(first):
    for seed in range(first, first + 8):
        compare(seed, ("f8", "f4")[seed % 2])


@pytest.fixture
def strict():
    """Operations are rounded one by one, in order: which become one, and which partial sums, depends on branches."""
    with (
        mock.patch.dict(language.MODE, fastmath=set()),
        mock.patch.object(language, "LOOSE", ()),
        mock.patch.object(language, "VERSION", "strict"),
    ):
        yield


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_random_choices_compiled(seed):
    compare(seed, ("f8", "f4")[seed % 2])


def test_random_choices_become_branches():
    def count(plan):
        return sum(isinstance(item, If) for nest in plan.planned(kernel) for item in walk(nest.items))

    found = []
    for seed in range(20):
        scalar, arrays = random_choices.expression(seed, 9)
        _, kernel = lower(bind((scalar.node, *map(leaf, arrays))), gradient_of)
        with NEVER():
            before = count(cpu), count(cuda)
        with ALWAYS():
            found.append((count(cpu) - before[0], count(cuda) - before[1]))
    assert min(map(min, found)) >= 0 and np.mean(found) > 3


def cell(c, f, i, g, z, zb):
    """An LSTM cell of several time scales: flushed, copied or updated."""
    new = np.tanh(g) / (1.0 + np.exp(-i))
    return np.where(z == 1.0, new, np.where(zb == 0.0, c, c / (1.0 + np.exp(-f)) + new))


def controls(length):
    """Controls of an LSTM cell: each combination in turn."""
    return [np.arange(length) // each % 2 * 1.0 for each in (1, 2)]


def test_what_two_of_three_formulas_of_a_cell_need_is_left_out_in_the_third():
    rng = np.random.default_rng(0)
    given = [lazy(rng.normal(size=50)) for _ in range(4)]
    _, kernel = lower(bind((cell(*given, *map(lazy, controls(50))).node,)), values, target=Cuda)
    with with_branches(48):
        (nest,) = cuda.planned(kernel)
    tests = {str(item.test) for item in walk(nest.items) if isinstance(item, If)}
    assert any(" or not " in test for test in tests)


def test_explain_shows_branches_and_says_which_choices_are_some():
    """On the CPU a loop of elements is a branch's side where it is not taken in vectors."""
    rng = np.random.default_rng(0)
    given = [lazy(rng.normal(size=50)) for _ in range(4)]
    of_cell = vecdist.explain(cell(*given, *map(lazy, controls(50))))
    assert not any("branches" in note for note in of_cell.kernels[0].notes), "vectors compute both sides"
    x = lazy(np.linspace(0.1, 3.0, 50))
    (kernel,) = vecdist.explain(np.where(x > 1.0, special.gammainc(x, 2.0), x)).kernels
    assert "    if v" in kernel.schedule
    assert any(note.endswith("where what one side needs is dear") for note in kernel.notes), kernel.notes
