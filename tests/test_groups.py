"""Rows in groups that never change: sorted once, summed piece by piece, the same as when each row is added by index."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import interpreted, ops

from vecdist import compile as compile_function
from vecdist import data, explain, hessian, lazy, logpdf, logsumexp, value_and_grad
from vecdist.distributions import Exponential, Normal
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived, settled
from vecdist.passes.sort_by_key import groupings
from vecdist.runtime import pipeline
from vecdist.runtime.cpu.backend import Cpu
from vecdist.runtime.interpreter import interpret
from vecdist.runtime.segments import segments
from vecdist.runtime.sorted_rows import arranged

RNG = np.random.default_rng(20241121)


def in_groups(target, wrt):
    """Value and gradient by NumPy from the graph in which rows are sorted, and that graph."""
    bound = bind((target.node, *(lazy(array).node for array in wrt)))
    first = settled(Structure(bound.roots, gradient_of, "nan", bound.constant))
    rows, sortings = arranged(bound, groupings(first.all, bound.constant), "numpy")
    graph = derived(Structure(bound.roots, gradient_of, "nan", bound.constant, (), sortings, len(rows.leaves)))
    arrays = [leaf.array for leaf in rows.leaves]
    constants = interpret(graph.constants, arrays, rows.lengths)
    assert all(np.all(condition) for condition in interpret(graph.conditions, arrays, rows.lengths))
    return interpret(graph.primitives, [*arrays, *constants], rows.lengths), graph.primitives


def check(model, arguments, *groups, rtol=1e-11):
    """A model of groups against the plain graph, and no sum by index in it."""
    (value, *slopes), graph = in_groups(model(*map(lazy, arguments), *map(data, groups)), arguments)
    plain = model(*map(lazy, arguments), *groups)
    wanted, *others = interpreted((plain.node, *(lazy(argument).node for argument in arguments)), gradient_of)
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    for found, reference, argument in zip(slopes, others, arguments, strict=True):
        np.testing.assert_allclose(np.reshape(found, argument.shape), reference, rtol=rtol, atol=rtol * 100)
    assert not any("scatter" in ops((root,)) for root in graph)
    return graph


def varying_means(rows, groups, y=None, dtype="f8"):
    """A model of normal rows with a mean for each group, its arguments and its groups."""
    y = RNG.normal(size=rows).astype(dtype) if y is None else y
    group = RNG.integers(0, groups, rows)

    def model(mean, log_scale, group):
        return logpdf(Normal(mean[group], np.exp(log_scale)), y).sum() + logpdf(Normal(0.0, 1.0), mean).sum()

    return model, (RNG.normal(size=groups).astype(dtype), np.array(0.3, dtype)), group


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (5, 9), (600, 7), (5000, 2)])
def test_means_of_groups(rows, groups):
    model, arguments, group = varying_means(rows, groups)
    check(model, arguments, group)
    check(lambda mean, log_scale, group: model(mean, log_scale, group), arguments, group - groups)  # from the end


def test_observations_that_are_data_are_put_in_order_once():
    y = data(RNG.normal(size=300))
    model, arguments, group = varying_means(300, 7, y)
    graph = check(model, arguments, group)
    assert "gather" not in ops(graph)


def test_groups_of_very_different_sizes():
    group = np.concatenate([np.zeros(20000, int), RNG.integers(0, 3000, 3000)])
    y = RNG.normal(size=group.size)
    check(lambda mean, group: logpdf(Normal(mean[group], 1.0), y).sum(), (RNG.normal(size=3000),), group)


def test_crossed_groups():
    n = 400
    people, items, x, y = RNG.integers(0, 30, n), RNG.integers(0, 11, n), RNG.normal(size=n), RNG.normal(size=n)

    def model(person, item, slope, people, items):
        return logpdf(Normal(person[people] + item[items] + slope[items] * x, 1.5), y).sum()

    check(model, tuple(RNG.normal(size=size) for size in (30, 11, 11)), people, items)


def test_pairs_of_indices():
    i, j = RNG.integers(0, 4, 250), RNG.integers(0, 6, 250)
    y = RNG.normal(size=250)
    check(lambda table, i, j: logpdf(Normal(table[i, j], 2.0), y).sum(), (RNG.normal(size=(4, 6)),), i, j)
    check(lambda table, i: logpdf(Normal(table[i, 2], 2.0), y).sum(), (RNG.normal(size=(4, 6)),), i)


def test_rows_of_a_table():
    """Each row of the data picks a row of coefficients, which it multiplies with its own."""
    group, x, y = RNG.integers(0, 9, 120), RNG.normal(size=(120, 3)), RNG.normal(size=120)

    def model(table, beta, group):
        return logpdf(Normal((table[group] * x).sum(axis=1) + x @ beta, 1.0), y).sum()

    check(model, (RNG.normal(size=(9, 3)), RNG.normal(size=3)), group)


def test_reductions_within_a_row():
    group, x = RNG.integers(0, 9, 120), RNG.normal(size=120)

    def model(centre, weight, group):
        logs = logpdf(Normal(centre[None, :], 1.0), x[:, None]) + weight[group][:, None]
        return logsumexp(logs, axis=1).sum() + logs.max(axis=1).sum()

    check(model, (RNG.normal(size=3), RNG.normal(size=9)), group)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(7, 12))
def test_any_groups(rows, groups):
    y = np.linspace(-1.0, 2.0, len(rows))
    model = lambda rate, group: (logpdf(Exponential(rate=np.exp(rate[group])), np.exp(y)) * y).sum()  # noqa: E731
    check(model, (np.linspace(-0.5, 0.5, groups),), np.array(rows))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=300), st.integers(1, 3))
@example([2] + [1] * 500, 1)  # where pieces of one row would be cheapest, were it not that they never get fewer
def test_pieces_add_up_to_their_groups(sizes, dear):
    """Each row counts once, in a piece of its group, and each group has one piece in the end."""
    sizes = np.array(sizes) ** dear // 40 ** (dear - 1)
    index = np.random.default_rng(len(sizes)).permutation(np.repeat(np.arange(len(sizes)), sizes))
    if not index.size:
        return
    found = segments([index], [len(sizes)], np)
    values = np.arange(1.0, index.size + 1)
    for place, level in enumerate(found.levels):
        inside = np.arange(level.width) < level.count
        assert level.order.shape == inside.shape
        if place == 0:
            assert np.array_equal(np.sort(level.order[inside]), np.arange(index.size))
            assert np.array_equal(np.broadcast_to(found.owners[0], inside.shape)[inside], index[level.order[inside]])
        values = np.where(inside, values[level.order], 0).sum(axis=1)
    assert np.array_equal(values, np.bincount(index, np.arange(1.0, index.size + 1), len(sizes)))


@pytest.mark.usefixtures("execution")
def test_sums_of_a_kernel_are_the_same_and_say_so():
    model, arguments, group = varying_means(5000, 3, data(RNG.normal(size=5000)))
    targets = [model(*map(lazy, arguments), given) for given in (group, data(group))]
    (wanted, slopes), (found, others) = (value_and_grad(target, wrt=arguments) for target in targets)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    for mine, reference in zip(others, slopes, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-11)
    (kernel,) = explain(targets[1], wrt=arguments).kernels
    assert any("sorted by groups" in note for note in kernel.notes)
    assert not any("adds to" in note for note in kernel.notes)


@pytest.mark.usefixtures("execution")
def test_other_parameters_and_data_of_the_same_sizes_do_not_compile_again():
    model, arguments, group = varying_means(600, 7)
    value_and_grad(model(*map(lazy, arguments), data(group)), wrt=arguments)
    before = pipeline.compilations()
    again, others, group = varying_means(900, 7)
    found, _ = value_and_grad(again(*map(lazy, others), data(group)), wrt=others)
    np.testing.assert_allclose(found, interpreted((again(*map(lazy, others), group).node,))[0], rtol=1e-13)
    assert pipeline.compilations() == before


@pytest.mark.usefixtures("uncompiled")
def test_rows_that_change_are_added_up_by_index_where_that_is_faster():
    model, arguments, group = varying_means(500, 3)
    (kernel,) = explain(model(*map(lazy, arguments), data(group)), wrt=arguments).kernels
    assert any("by index, in stripes" in note for note in kernel.notes)
    assert not any("sorted" in note for note in kernel.notes)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("wrong", [7, -8])
def test_an_index_out_of_range_is_named(wrong):
    model, arguments, group = varying_means(40, 7)
    group[[12, 30]] = wrong
    with pytest.raises(IndexError, match=rf"index\[12\] = {wrong}"):
        value_and_grad(model(*map(lazy, arguments), data(group)), wrt=arguments)


@pytest.mark.usefixtures("execution")
def test_an_invalid_parameter_of_a_group_is_raised_unless_the_group_is_empty():
    y, group, rate = np.ones(40), np.arange(40) % 3, np.array([1.0, 2.0, 3.0, 4.0])
    target = lambda rate: logpdf(Exponential(rate=lazy(rate)[data(group)]), y).sum()  # noqa: E731
    rate[3] = -1.0
    value, slopes = value_and_grad(target(rate), wrt=rate)
    assert np.isfinite(value) and slopes[3] == 0
    bad = np.array([1.0, -2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match=r"rate.* = -2"):
        value_and_grad(target(bad), wrt=bad)


@pytest.mark.usefixtures("execution")
def test_chains_of_parameters():
    y, group = RNG.normal(size=200), data(RNG.integers(0, 6, 200))
    model = lambda mean, scale: logpdf(Normal(mean[group], scale), y).sum()  # noqa: E731
    means, scales = RNG.normal(size=(4, 6)), np.array([1.0, 2.0, 0.5, 1.5])
    chains, single = compile_function(model, in_axes=(0, 0)), compile_function(model)
    values, (slopes, others) = chains.value_and_grad(means, scales, wrt=(0, 1))
    for place in range(4):
        value, (slope, other) = single.value_and_grad(means[place], scales[place], wrt=(0, 1))
        np.testing.assert_allclose([values[place], others[place]], [value, other], rtol=1e-12)
        np.testing.assert_allclose(slopes[place], slope, rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("execution")
def test_second_derivatives():
    y, group, mean = np.exp(RNG.normal(size=50)), RNG.integers(0, 4, 50), RNG.normal(size=4)
    found, wanted = (
        hessian(logpdf(Exponential(rate=np.exp(lazy(mean)[rows])), y).sum(), wrt=mean) for rows in (data(group), group)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_single_precision():
    model, arguments, group = varying_means(5000, 3, dtype="f4")
    (value, *slopes), _ = in_groups(model(*map(lazy, arguments), data(group)), arguments)
    assert value.dtype == np.float32 and all(slope.dtype == np.float32 for slope in slopes)
    wanted, *_ = interpreted((model(*map(lazy, arguments), group).node,))
    np.testing.assert_allclose(value, wanted, rtol=1e-6)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("picks", [False, True])
@pytest.mark.parametrize("mark", [data, lazy])
@pytest.mark.parametrize("rows", [50, 2000])
def test_rows_behind_other_axes(monkeypatch, rows, mark, picks):
    """Data of several columns with the rows last, and chains: axes before the rows, at every level of pieces."""
    monkeypatch.setattr(Cpu, "picks", picks)
    y, weight, group = RNG.normal(size=rows), RNG.normal(size=(3, rows)), RNG.integers(0, 2, rows)
    effects = RNG.normal(size=(5, 2))

    def target(effects):
        return (np.square(effects[data(group)] - mark(y)) * data(weight)).sum()

    values, (slopes,) = compile_function(target, in_axes=(0,)).value_and_grad(effects)
    apart = effects[:, group] - y
    np.testing.assert_allclose(values, (np.square(apart)[:, None] * weight).sum(axis=(1, 2)), rtol=1e-11, atol=1e-11)
    wanted = [[(2 * row * weight.sum(axis=0))[group == place].sum() for place in range(2)] for row in apart]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-11, atol=1e-11)
