"""Binding parts structure from data: equal structure gives equal nodes, whatever the lengths, starts and arrays."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import programs
from reference import assert_same, interpreted, interpreted_bound

from vecdist import lazy
from vecdist.graph.leaves import leaf
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, rewrite, topological
from vecdist.passes import lengths
from vecdist.passes.bind import bind, rebound
from vecdist.passes.outline import outline


def structure(*results):
    return bind([result.node for result in results]).roots


def slots(*results):
    """The slots of a structure: layout, axes and shape, in order."""
    found = [node for node in topological(structure(*results)) if node.op == "slot"]
    return [(*node.attrs[1:], node.shape) for node in sorted(found, key=lambda node: node.attrs[0])]


def array(*shape, dtype=float):
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)


@settings(max_examples=100)
@given(programs())
def test_a_structure_with_its_arrays_is_the_expression(program):
    bound = bind(program.roots)
    wanted = interpreted(program.roots)
    assert_same([mine.reshape(v.shape) for mine, v in zip(interpreted_bound(bound), wanted, strict=True)], wanted)


def stretched(roots, lengths):
    """Expressions of the same operations, on arrays of other lengths that lie in the same way."""
    arrays = {}

    def rule(node, args):
        shape = tuple(lengths[dim] for dim in node.shape)
        if node.op != "leaf":
            return Node(node.op, args, node.attrs, shape, node.dtype)
        given = node.attrs[0]
        dense = given.array.flags.c_contiguous
        fresh = np.zeros(shape, node.dtype) if dense else np.zeros((*shape, 2), node.dtype)[..., 0]
        return arrays.setdefault(given, node if given.kind == "number" else leaf(fresh))

    return rewrite(roots, rule)


@settings(max_examples=200)
@given(programs(checks=True), st.permutations([2, 3, 4, 5, 7, 8, 16, 64]))
def test_what_differs_in_lengths_alone_is_bound_without_looking_again(program, others):
    """As it would be bound; where other lengths are equal, or are 1, it is bound anew."""
    memo = Memo()
    first = rebound(memo, program.roots, outline(program.roots))
    assert first == bind(program.roots)
    met = sorted({dim for node in topological(program.roots) for dim in node.shape} - {1})
    longer = stretched(program.roots, {1: 1, **dict(zip(met, [*others, *range(100, 200)], strict=False))})
    assert rebound(memo, longer, outline(longer)) == bind(longer)
    equal = stretched(program.roots, {1: 1, **dict.fromkeys(met, 6)})
    assert rebound(memo, equal, outline(equal)) == bind(equal)


@pytest.mark.parametrize("name", ["elementwise", "two lengths", "row sums", "slice", "mean", "reshape", "broadcast_to"])
def test_other_lengths_are_looked_up(name):
    memo, build = Memo(), SAME[name]
    for n, m in ((3, 4), (7, 2), (5, 9)):
        roots = (build(n, m).node,)
        assert rebound(memo, roots, outline(roots)) == bind(roots)
    assert memo.made == 1


SAME = {
    "elementwise": lambda n, m: lazy(array(n)) * np.exp(array(n)),
    "two lengths": lambda n, m: lazy(array(n, 1)) * array(m),
    "row sums": lambda n, m: (lazy(array(n, m)) / array(m)).sum(axis=1),
    "slice": lambda n, m: lazy(array(n))[1:] - lazy(array(n))[:-1],
    "start": lambda n, m: lazy(array(n + m))[m:],
    "mean": lambda n, m: lazy(array(n, m)).mean(axis=0),
    "reshape": lambda n, m: lazy(array(n, m)).reshape(m, n) + 1.0,
    "strided": lambda n, m: lazy(array(n, 2 * m)[:, ::2]) + array(m),
    "broadcast_to": lambda n, m: np.broadcast_to(lazy(array(m)), (n, m)) * 2.0,
}


@pytest.mark.parametrize("name", SAME)
def test_other_lengths_are_the_same_structure(name):
    build = SAME[name]
    assert structure(build(3, 4)) == structure(build(7, 2)) == structure(build(5, 9))


def test_zero_and_square_lengths_are_the_same_structure():
    build = SAME["two lengths"]
    assert structure(build(3, 4)) == structure(build(0, 4)) == structure(build(4, 4))


def test_numbers_are_data():
    x = array(5)
    assert structure(lazy(x) * 2.0) == structure(lazy(x) * -3.0)
    assert slots(lazy(x) * 2.0) == [("dense", (), ("n0",)), ("number", (), ())]
    assert structure(lazy(x) * 2.0) == structure(lazy(array(9)) * np.float64(7.0))


def test_dtype_and_layout_are_structure():
    x = array(6)
    assert structure(lazy(x)) != structure(lazy(x.astype("f4")))
    assert structure(lazy(x)) != structure(lazy(array(12)[::2]))
    assert structure(lazy(x) * x) != structure(lazy(x) * x.copy()), "one array twice is one slot"


def test_lengths_that_must_be_equal_share_a_symbol():
    bound = bind(((lazy(array(3, 1)) * array(4) + array(3, 1)).node,))
    assert bound.lengths == {"n0": 3, "n1": 4}
    assert slots(lazy(array(3, 1)) * array(4) + array(3, 1))[0] == ("dense", (), ("n0", 1))


def test_equal_lengths_that_need_not_be_equal_are_two_symbols():
    assert bind(((lazy(array(4, 1)) * array(4)).node,)).lengths == {"n0": 4, "n1": 4}


def test_a_length_of_1_is_a_length_where_nothing_is_repeated():
    """One row of data is data of any number of rows; only a true broadcast is another structure."""
    assert structure(lazy(array(1)) + array(1)) == structure(lazy(array(8)) + array(8))
    assert structure(lazy(array(1)) + array(8)) != structure(lazy(array(8)) + array(8))
    assert structure(lazy(array(1, 4)) * array(4)).__len__() == 1


def test_axes_that_stay_together_are_one():
    dense = lazy(array(3, 4, 5)) * array(3, 4, 5)
    assert slots(dense) == [("dense", (), ("n0",))] * 2
    assert bind((dense.node,)).lengths == {"n0": 60}
    assert bind((dense.sum().node,)).lengths == {"n0": 60}


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x.sum(axis=(0, 1)), 2),
        (lambda x: x.max(axis=0), 2),  # whose results have the other two
        (lambda x: x - x.mean(axis=(1, 2), keepdims=True), 2),
        (lambda x: x - x.mean(keepdims=True), 1),
        (lambda x: x / (x.var(axis=(1, 2), keepdims=True) + 1e-5), 2),  # a number has no axes
        (lambda x: x / x.sum(axis=1, keepdims=True), 3),
        (lambda x: x.sum(axis=(0, 2)), 3),
        (lambda x: x - x.mean(axis=0) + x[:, :, :1], 3),
        (lambda x: x.mean(axis=2, keepdims=True) - x.mean(axis=(1, 2), keepdims=True), 3),
    ],
)
def test_axes_that_are_reduced_together_or_kept_together_are_one(function, wanted):
    x = np.random.default_rng(1).normal(size=(3, 4, 5))
    found = function(lazy(x))
    (slot,) = slots(found)[:1]
    assert len(slot[2]) == wanted
    np.testing.assert_allclose(found, function(x), rtol=1e-12)
    assert found.shape == function(x).shape


def test_axes_that_are_told_apart_are_not_merged():
    x = array(3, 4, 5)
    assert slots(lazy(x) * array(5))[0][2] == ("n0", "n1"), "the first two may merge, the last may not"
    assert slots(lazy(x).sum(axis=1))[0][2] == ("n0", "n1", "n2")
    assert slots(lazy(x) + array(4, 1))[0][2] == ("n0", "n1", "n2")
    assert slots(lazy(x)[:, 1:])[0][2] == ("n0", "n1", "n2")
    assert slots(lazy(x.transpose(2, 0, 1)) + 1.0)[0][2] == ("n0", "n1", "n2")


def test_strided_arrays_are_read_in_place():
    x = array(4, 6)
    assert slots(lazy(x[:, ::2])) == [("strided", (0, 1), ("n0", "n1"))]
    assert slots(lazy(x.T)) == [("strided", (0, 1), ("n0", "n1"))]
    assert np.shares_memory(bind((lazy(x.T).node,)).leaves[0].array, x)


def test_starts_of_slices_are_arguments():
    bound = bind((lazy(array(9))[2:7].node,))
    assert bound.lengths == {"n0": 5, "n1": 9, "s0": 2} or set(bound.lengths.values()) == {5, 9, 2}
    assert structure(lazy(array(9))[2:7]) == structure(lazy(array(20))[11:13])
    assert structure(lazy(array(9))[2:7]) != structure(lazy(array(9))[2:7:2]), "steps are compiled in"
    assert structure(lazy(array(9))[3]) == structure(lazy(array(9))[-1])


def test_a_mean_counts_what_it_adds_up():
    bound = bind((lazy(array(3, 4)).mean(axis=0).node,))
    assert interpreted_bound(bound)[0].tolist() == array(3, 4).mean(axis=0).tolist()


def test_sums_over_axes_of_length_1():
    x = array(1, 4)
    (found,) = interpreted_bound(bind(((lazy(x) + array(3, 4)).sum(axis=0).node,)))
    np.testing.assert_array_equal(found, (x + array(3, 4)).sum(axis=0))
    (found,) = interpreted_bound(bind((lazy(x).sum(axis=0).node,)))
    np.testing.assert_array_equal(found.ravel(), x[0])


def test_axes_of_many_arrays_are_merged_in_a_few_walks():
    arrays = [array(2, 3, 4, 5) for _ in range(20)]
    total = sum((lazy(each) * 2.0).sum() for each in arrays)
    with mock.patch.object(lengths, "_mergeable", wraps=lengths._mergeable) as walks:
        assert bind((total.node,)).lengths == {f"n{place}": 120 for place in range(20)}
    assert walks.call_count <= 4
