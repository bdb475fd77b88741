"""Blocks that take a chain through all nests: which nests may be so, and that these give the same."""

import loop_executor
import numpy as np
import pytest
import random_chains
import random_model_runs
import random_models
from test_data_layout import of_gradient
from test_explain import OnGpu
from test_spread_rows import of_chains

from vecdist import lazy
from vecdist.codegen.cuda.block_per_chain import by_blocks
from vecdist.codegen.cuda.grid import Grid
from vecdist.inspect.costs import notes
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline
from vecdist.runtime.cuda.backend import Cuda


def forced(kernel, lengths):
    with random_chains.settings():
        return by_blocks(kernel, lengths)


def assert_same(kernel, arrays, lengths):
    """Loops give the same, to the bit, in the order in which blocks take them; whether these take several."""
    other = forced(kernel, lengths)
    plain, moved = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(moved, plain, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    return bool(other.by_block)


def test_random_functions_of_chains():
    cases = [random_chains.case(seed, lengths=(1, 2, 3))[0] for seed in random_chains.SEEDS]
    assert sum(assert_same(*of_gradient(total, wrt)) for (total, _), wrt in cases) > len(cases) // 3


def test_random_models():
    models = [random_models.model(seed, lengths=(1, 2, 3), terms=2) for seed in range(6)]
    arrays = [random_model_runs.arrays_of(model) for model in models]
    given = [[each[name] for name in model.parameters] for model, each in zip(models, arrays, strict=True)]
    for model, each, wrt in zip(models, arrays, given, strict=True):
        assert_same(*of_gradient(model.density(each), wrt))


@pytest.fixture
def chains():
    """The values of five chains for six rows, behind a sum for each of them, and what they are made of."""
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(6, 3)), rng.normal(size=(5, 3, 2))
    values = np.tanh(x @ lazy(w))
    return values - np.log(np.exp(values).sum(axis=-2, keepdims=True)), w


def test_what_chains_leave_to_themselves_is_a_block_s(chains):
    values, w = chains
    kernel, _, lengths = of_gradient((values**2).sum(), [w])
    other = forced(kernel, lengths)
    assert lengths[other.by_block] == 5
    assert {level for level, _ in other.nests()} == {level for level, _ in kernel.nests()}
    assert Grid(kernel).waits and not Grid(other).waits


@pytest.mark.parametrize(
    "between",
    [
        lambda values: values - values.mean(axis=0),  # what all chains have
        lambda values: values * values[::-1],  # another one's
        lambda values: values / np.exp(values).sum(),  # a single number
        lambda values: values[[0, 0, 3, 1, 4]],  # those that are picked, to whose gradients others add
        lambda values: np.cumsum(values, axis=0),
    ],
    ids=["means", "reversed", "total", "picked", "running"],
)
def test_chains_that_need_others_are_not(chains, between):
    values, w = chains
    kernel, arrays, lengths = of_gradient(np.sin(between(values)).sum(), [w])
    assert not forced(kernel, lengths).by_block
    assert not assert_same(kernel, arrays, lengths)


def test_what_is_of_no_chain_comes_before(chains):
    values, w = chains
    y = np.linspace(-1.0, 1.0, 300)
    slope = np.array(0.3)
    shared = np.cos(slope * lazy(y)).reshape(6, 50).sum(axis=-1)
    kernel, arrays, lengths = of_gradient((values * shared[:, None]).sum(), [w])
    other = forced(kernel, lengths)
    assert other.by_block and Grid(other).waits
    own = other.block_nests()
    assert own and all(lengths[loop.dim] == 5 for loop in own)
    assert all(level < other.block_level for level, loop in other.shared_nests() if loop not in own)
    assert assert_same(kernel, arrays, lengths)


@pytest.mark.parametrize(
    ("name", "chains", "sizes", "expected"),
    [
        ("net", 4096, {"n": 500, "hidden": 10}, True),
        ("net", 256, {"n": 500, "hidden": 10}, True),
        ("net", 64, {"n": 500, "hidden": 10}, False),  # for which there are too many multiprocessors
        ("net", 4096, {"n": 20, "hidden": 3}, False),  # whose threads would have nothing to do
        ("regression", 256, {"n": 800}, False),  # which leaves nothing
    ],
)
def test_a_chain_is_a_block_s_where_that_is_faster(name, chains, sizes, expected):
    kernel, _, lengths = of_chains(name, chains, **sizes)
    assert bool(by_blocks(kernel, lengths).by_block) is expected


def test_lanes_are_those_that_keep_a_block_busy():
    kernel, _, lengths = of_chains("net", 1024, n=500, hidden=10)
    sized = Cuda.sized(kernel, lengths)
    lanes = Grid(sized).by_block
    assert lanes
    for loop, number in lanes.items():
        rows = loop.turns(lengths) // 1024
        assert number in {2**power for power in range(6)} | {256}
        assert rows > 1 or number == 256  # a row alone has all of them


def test_lanes_that_go_through_steps_together_are_of_one_warp():
    """They wait for each other between steps, which warps of a block do not."""
    kernel, _, lengths = of_chains("two_normals", 300)
    with random_chains.settings():
        grid = Grid(Cuda.sized(kernel, lengths))
    steps = [lanes for loop, lanes in grid.by_block.items() if grid.has_steps(loop)]
    assert steps and max(steps) <= 32
    assert max(grid.by_block.values()) == 256


def test_blocks_that_take_a_chain_each_are_explained():
    rng = np.random.default_rng(3)
    first, second = lazy(rng.normal(size=(256, 3, 9))), lazy(rng.normal(size=(256, 9, 9)))
    hidden = np.tanh(np.tanh(rng.normal(size=(300, 3)) @ first) @ second)
    bound = bind(((hidden.sum(axis=-1) ** 2).sum().node, first.node, second.node))
    _, kernel = pipeline.lower(bound, gradient_of, "nan", Cuda)
    found = notes(pipeline.Plan((), kernel, OnGpu()), bound, ["value", "gradient", "gradient"], "cuda:0")
    (order,) = [note for note in found if "run one after another" in note]
    assert f"; a block takes each element of {kernel.by_block} through" in order and "barrier" not in order
    assert any(note.endswith("would compute again") for note in found)
