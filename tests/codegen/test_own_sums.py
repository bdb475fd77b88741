"""Sums that each row has of its own wait in buffers of a block on the CPU; judged by NumPy."""

import numpy as np
import pytest
from uncompiled import uncompiled

import vecdist
from vecdist.distributions import Normal


def made(rng, chains, effects, rows, dtype):
    """Effects of groups for each chain, which groups rows have, and what is observed."""
    each = rng.normal(size=(chains, effects)).astype(dtype)
    group = rng.integers(0, effects, rows)
    return each, group, rng.normal(size=rows).astype(dtype)


def of_groups(each, group, y):
    return vecdist.logpdf(Normal(each[group], 1.0), y).sum() - 0.5 * (each**2).sum()


def check(each, group, y):
    values, (found,) = vecdist.compile(of_groups, in_axes=(0, None, None)).value_and_grad(each, group, y, wrt=(0,))
    eps, wide = np.finfo(each.dtype).eps, np.float64(each)
    apart = np.float64(y) - wide[:, group]
    wanted, sizes = -wide, np.abs(wide)
    for chain in range(len(each)):
        np.add.at(wanted[chain], group, apart[chain])
        np.add.at(sizes[chain], group, np.abs(apart[chain]))
    terms = -0.5 * apart**2 - 0.5 * np.log(2 * np.pi)
    value = terms.sum(-1) - 0.5 * (wide**2).sum(-1)
    assert np.all(np.abs(values - value) <= 20 * eps * (1 + np.abs(terms).sum(-1) + (wide**2).sum(-1)))
    assert np.all(np.abs(found - wanted) <= 10 * eps * (1 + sizes))


@pytest.mark.parametrize("seed", range(12))
def test_random_groups_of_chains(seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.choice([1, 2, 7, 64, 300])), int(rng.choice([1, 3, 40, 5000])), int(rng.choice([1, 30, 900])))
    check(*made(rng, *shape, rng.choice([np.float32, np.float64])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 5, 20), (70, 3, 4), (1, 300, 2)])
def test_groups_of_chains_without_a_compiler(shape, dtype):
    """Which looks whether each element that is read or written is one of its array."""
    with uncompiled():
        check(*made(np.random.default_rng(7), *shape, dtype))


def source_of(function, *arrays, wrt=(0,)):
    (kernel,) = vecdist.explain(function, wrt, arrays).kernels
    return kernel.source


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_block_has_the_sums_of_its_rows(dtype):
    each, group, y = made(np.random.default_rng(1), 50, 200, 300, dtype)
    source = source_of(vecdist.compile(of_groups, in_axes=(0, None, None)), each, group, y)
    assert source.count("clear(") == 1 and "add_rows" not in source
    assert any(f"q_o{number} = o{number}" in source for number in range(4)) == (dtype == np.float64)
    assert source.count("copy_to(") == (dtype == np.float32)


def test_a_block_of_more_rows_than_there_are_has_room_for_these():
    """Blocks are as long as their inner loops are short, here by the rows: two chains, not thousands, have effects."""
    each, group, y = made(np.random.default_rng(1), 2, 50_000, 3, np.float32)
    source = source_of(vecdist.compile(of_groups, in_axes=(0, None, None)), each, group, y)
    (room,) = (line for line in source.splitlines() if " = empty(" in line and "q_o" in line)
    assert "empty(min(size, n" in room


def test_sums_of_several_nests_are_those_of_the_whole_kernel():
    """The prior of a layer's weights is added in the first nest, what the second layer says of them in a later one."""
    rng = np.random.default_rng(2)
    x, first, second = rng.normal(size=(100, 4)), rng.normal(size=(5, 4, 7)), rng.normal(size=(5, 7))

    def density(first, second, x):
        return vecdist.logpdf(Normal(np.tanh(x @ first) @ second, 1.0), 0.0).sum() - 0.5 * (first**2).sum()

    compiled = vecdist.compile(density, in_axes=(0, 0, None))
    source = source_of(compiled, first, second, x, wrt=(0, 1))
    assert "add_rows(" in source and "zeros(" in source
