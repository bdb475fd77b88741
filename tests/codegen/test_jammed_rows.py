"""Rows that share what they load are written out: the same sums, to the bit, by fewer loads."""

from dataclasses import replace

import loop_executor
import numpy as np
import pytest
import random_chains
from test_data_layout import net, of_gradient

from vecdist import lazy
from vecdist.codegen.cuda import jammed_rows as passes
from vecdist.codegen.cuda.block_per_chain import by_blocks
from vecdist.codegen.cuda.jammed_rows import jammed_rows
from vecdist.kernel.statements import Accumulate, Load

MOST = passes.MOST


def of_blocks(total, wrt):
    """The kernel of a gradient whose blocks take a chain each, all other lengths known; its arrays and lengths."""
    kernel, arrays, lengths = of_gradient(total, wrt)
    fixed = tuple((dim, lengths[dim]) for dim in kernel.inner_dims() if lengths.get(dim, 1) > 1)
    with random_chains.settings():
        return replace(by_blocks(kernel, lengths), fixed=fixed), arrays, lengths


def forced(kernel, lengths):
    with random_chains.settings():
        return jammed_rows(kernel, lengths)


def assert_same(kernel, arrays, lengths):
    """Loops give the same, to the bit, with rows that are written out; whether some are."""
    other = forced(kernel, lengths)
    plain, together = (loop_executor.run_loops(each, arrays, lengths)[0] for each in (kernel, other))
    for mine, wanted in zip(together, plain, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    return other is not kernel


def test_random_nets():
    cases = [net(seed, 2, 5, (3, 2)[: 1 + seed % 2]) for seed in range(4)]
    assert all(assert_same(*of_blocks(*case)) for case in cases)


def test_random_functions_of_chains():
    cases = [random_chains.case(seed, lengths=(1, 2, 3))[0] for seed in random_chains.SEEDS[::2]]
    assert sum([assert_same(*of_blocks(total, wrt)) for (total, _), wrt in cases]) > len(cases) // 3


@pytest.fixture
def gradient():
    """The gradient of each of two chains in a matrix of parameters, of sums over nine rows."""
    rng = np.random.default_rng(8)
    w = rng.normal(size=(2, 4, 3))
    return of_blocks(np.tanh(np.tanh(rng.normal(size=(9, 4)) @ lazy(w)).sum(axis=-1)).sum(), [w])


def loads_and_sums(kernel):
    """How many loads the loops over rows of the last nest have, and how many sums."""
    (nest,) = [loop for level, loop in kernel.nests() if level == max(at for at, _ in kernel.nests())]
    items = [item for loop in nest.body.walk() if hasattr(loop, "body") for _, item in loop.body.items]
    inside = [item for item in items if isinstance(item, Accumulate)]
    return sum(isinstance(item, Load) for item in items), len(inside)


def test_what_rows_share_is_loaded_once(gradient):
    kernel, _, lengths = gradient
    assert loads_and_sums(kernel) == (2, 1)
    assert loads_and_sums(forced(kernel, lengths)) == (1 + 3, 3)


@pytest.mark.parametrize("name", ["MOST", "LEAST", "LONG"])
def test_rows_are_few_and_long_and_leave_work_for_others(gradient, name):
    kernel, _, lengths = gradient
    limits = {"MOST": 2, "LEAST": 10, "LONG": 10}
    with pytest.MonkeyPatch.context() as patch, random_chains.settings():
        patch.setattr(passes, name, limits[name])
        assert jammed_rows(kernel, lengths) is kernel


def test_nothing_changes_where_no_block_takes_a_chain(gradient):
    kernel, _, lengths = gradient
    whole = replace(kernel, by_block="")
    assert forced(whole, lengths) is whole
