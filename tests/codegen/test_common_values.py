"""What earlier nests have computed is read: the same results, to the bit, from fewer statements."""

from dataclasses import replace

import loop_executor
import numpy as np
import pytest
import random_chains
import random_model_runs
import random_models
import random_tensors
from test_data_layout import net, of_gradient
from test_spread_rows import of_chains

from vecdist import lazy
from vecdist.codegen import common_values
from vecdist.codegen.common_values import with_common_values
from vecdist.graph.memo import Memo
from vecdist.kernel.expressions import Constant, Name
from vecdist.kernel.ir import Block, Cases, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Assign, Load, Store, Temp

F8 = np.dtype("f8")
MOST = 2**26  # bytes of what is stored


@pytest.fixture
def everything(monkeypatch):
    """Whatever is computed again is read."""
    monkeypatch.setattr(common_values, "SAVED", 1)
    monkeypatch.setattr(common_values, "_known", Memo(1))


def statements(kernel):
    return sum(not isinstance(item, Loop) for item in kernel.root.walk())


def assert_same(kernel, arrays, lengths):
    """Loops give the same, to the bit, with all that is left out; whether something is."""
    other = with_common_values(kernel, lengths, MOST)
    plain, fewer = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(fewer, plain, strict=False):  # and what nests leave to each other behind that
        np.testing.assert_array_equal(mine, wanted)
    return other is not kernel


def test_random_nets(everything):
    found = [assert_same(*of_gradient(*net(seed, 2, 4, (3, 2)))) for seed in range(6)]
    assert all(found)


def test_random_functions_of_chains(everything):
    cases = [random_chains.case(seed, lengths=(1, 2, 3))[0] for seed in random_chains.SEEDS]
    assert sum(assert_same(*of_gradient(total, wrt)) for (total, _), wrt in cases) > len(cases) // 3


def test_random_models(everything):
    models = [random_models.model(seed, lengths=(1, 2, 3), terms=2) for seed in range(8)]
    arrays = [random_model_runs.arrays_of(model) for model in models]
    given = [[each[name] for name in model.parameters] for model, each in zip(models, arrays, strict=True)]
    kernels = [of_gradient(model.density(a), wrt) for model, a, wrt in zip(models, arrays, given, strict=True)]
    assert sum(assert_same(*kernel) for kernel in kernels) > 1


def test_random_tensors(everything):
    functions = [random_tensors.tensors(seed, longest=3) for seed in range(12)]
    assert sum(assert_same(*of_gradient(each(*map(lazy, each.arrays)), each.arrays)) for each in functions) > 0


def two_loops(first, second):
    """A sum over rows of what a sum over columns is made of, and one over columns of rows; before, and now."""
    x, w = np.linspace(-1.0, 1.0, 12).reshape(4, 3), np.linspace(0.5, 2.0, 6).reshape(3, 2)
    hidden = np.cos(x @ lazy(w))
    roots = (first(hidden) / hidden.sum(axis=0)).sum(), second(hidden)
    kernel, _, lengths = of_gradient(roots[0] + roots[1].sum(), [w])
    return kernel, with_common_values(kernel, lengths, MOST)


def test_statements_that_nothing_else_needs_are_left_out():
    kernel, other = two_loops(lambda h: h * h, np.sin)
    assert statements(other) < statements(kernel)
    temporary = other.outputs[len(kernel.outputs) :]
    assert temporary and all(output.temporary for output in temporary)
    read = {item.source for item in other.root.walk() if isinstance(item, Load)}
    assert {Temp(len(kernel.outputs) + place) for place in range(len(temporary))} <= read


def test_a_few_statements_are_computed_again(monkeypatch):
    monkeypatch.setattr(common_values, "SAVED", 10_000)
    monkeypatch.setattr(common_values, "_known", Memo(1))
    kernel, other = two_loops(lambda h: h * h, np.sin)
    assert other is kernel


def of_pairs(turned, ways=False):
    """A kernel of two nests over pairs of elements, of which the second has them the other way round, or not.

    Some of what they compute they may have in two ways.
    """
    root = Block()
    for number in range(2):
        outer = Block(root, f"i{number}")
        inner = Block(outer, f"j{number}")
        pair = Name(outer.index), Name(inner.index)
        value = f"v{number}_0"
        for place, index in enumerate(pair[::-1] if number and turned else pair):
            inner.put(0, Load(f"x{number}_{place}", 0, (index,), F8))
        inner.put(0, Assign(value, "sub", (Name(f"x{number}_0"), Name(f"x{number}_1")), F8))
        for place in range(1, 3):
            inner.put(0, Assign(f"v{number}_{place}", "mul", (Name(value), Constant(0.5)), F8))
            value = f"v{number}_{place}"
        if ways:
            inner.put(0, Assign(f"less{number}", "lt", (Name(value), Constant(0.0)), np.dtype(bool)))
            sides = [Block(inner, inner.index) for _ in range(2)]
            for side, factor in zip(sides, (3.0, 2.0), strict=True):
                side.put(0, Assign(f"w{number}", "mul", (Name(value), Constant(factor)), F8))
            inner.put(0, Cases(Name(f"less{number}"), *sides))
            value = f"w{number}"
        inner.put(1, Store(number, pair, Name(value)))
        outer.put(0, Loop("n0", inner))
        root.put(number, Loop("n0", outer))
    outputs = Output(("n0", "n0"), F8), Output(("n0", "n0"), F8)
    return Kernel(root, (Slot(0, "dense", (0,), ("n0",), F8),), outputs, ("n0",), flagged=False)


@pytest.mark.parametrize("turned", [False, True])
def test_blocks_read_nothing_of_other_chains(everything, turned):
    """What another block computes may not be there yet; that of the grid is."""
    kernel, lengths = of_pairs(turned), {"n0": 3}
    by_block = replace(kernel, by_block="n0")
    assert (with_common_values(by_block, lengths, MOST) is by_block) is turned
    other = with_common_values(kernel, lengths, MOST)
    (read,) = [item.indices for item in other.root.walk() if isinstance(item, Load) and isinstance(item.source, Temp)]
    assert read == ((Name("j1"), Name("i1")) if turned else (Name("i1"), Name("j1")))
    found, wanted = (loop_executor.run_loops(each, [np.arange(3.0)], lengths)[0][:2] for each in (other, kernel))
    np.testing.assert_array_equal(found, wanted)


def test_what_is_computed_in_one_of_two_ways_is_computed_again(everything):
    kernel, lengths = of_pairs(False, ways=True), {"n0": 3}
    other = with_common_values(kernel, lengths, MOST)
    cases = [item for _, nest in other.nests() for loop in nest.body.every_loop() for item in loop.body.cases(0)]
    assert other is not kernel and len(cases) == 2
    found, wanted = (loop_executor.run_loops(each, [np.arange(3.0)], lengths)[0][:2] for each in (other, kernel))
    np.testing.assert_array_equal(found, wanted)


def test_what_has_many_elements_is_computed_again():
    kernel, _, lengths = of_chains("net", 256, n=500, hidden=10)
    whole = with_common_values(kernel, lengths, 2**30)
    for most in (256 * 512 * 16 - 1, 256 * 512 * 16 * 8, 256 * 512 * 16 * 12):  # of which one value has these elements
        other = with_common_values(kernel, lengths, most)
        stored = [output for output in other.outputs if output.common]
        assert sum(256 * 512 * 16 * output.dtype.itemsize for output in stored) <= most
        assert len(stored) < len(whole.outputs) - len(kernel.outputs)
        assert bool(stored) is (most > 256 * 512 * 16)


def test_lengths_that_change_a_little_make_the_same():
    kernel, _, lengths = of_chains("net", 256, n=500, hidden=10)
    (rows,) = [dim for dim, length in lengths.items() if length == 500]
    assert with_common_values(kernel, lengths, 2**30) is with_common_values(kernel, lengths | {rows: 300}, 2**30)


def test_the_layers_of_a_net_are_computed_once():
    kernel, _, lengths = of_chains("net", 256, n=500, hidden=10)
    other = with_common_values(kernel, lengths, 2**30)
    assert statements(kernel) - statements(other) > 100
