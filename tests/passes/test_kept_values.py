"""What is gathered or broadcast is computed once, also behind sums; results beside NumPy."""

import numpy as np
import pytest

from vecdist import lazy, log_softmax, softmax, value_and_grad
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values


def kernel_of(result, wrt=()):
    bound = bind((result.node, *map(leaf, wrt)))
    return lower(bound, gradient_of if wrt else values)[1]


def in_memory(kernel):
    """The number of axes of each output that is no result."""
    return sorted(sum(dim != 1 for dim in output.shape) for output in kernel.outputs if output.temporary)


def test_what_a_sum_normalises_is_computed_once_for_all_that_pick_it():
    logits, picks = np.linspace(-1.0, 2.0, 5), np.arange(40) % 5
    chosen = softmax(lazy(logits))[picks]
    kernel = kernel_of((chosen**2).sum())
    assert any(output.temporary and len(output.shape) == 1 for output in kernel.outputs)
    wanted = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose((chosen**2).sum(), (wanted[picks] ** 2).sum(), rtol=1e-13)


@pytest.mark.parametrize(("count", "kept"), [(3, False), (999, False), (1000, True), (5000, True)])
def test_few_elements_that_are_picked_are_computed_alone(count, kept):
    theta, picks = np.linspace(-2.0, 2.0, 1000), np.arange(count) * 7 % 1000
    result = np.exp(lazy(theta) * 0.3 + 0.1)[picks]
    assert any(output.kept and output.dtype.kind == "f" for output in kernel_of(result).outputs) == kept
    np.testing.assert_allclose(result, np.exp(theta * 0.3 + 0.1)[picks], rtol=1e-14)


def test_weights_that_sums_normalise_are_not_computed_again_for_each_row():
    logits, x = np.linspace(-1.0, 2.0, 6).reshape(2, 3), np.linspace(0.0, 1.0, 50)
    weights = np.exp(log_softmax(lazy(logits), axis=1))
    rows = np.sin(lazy(x)[:, None, None] * weights).sum(axis=(1, 2))
    assert 2 in in_memory(kernel_of(rows))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, np.sin(x[:, None, None] * shares).sum(axis=(1, 2)), rtol=1e-13)


def test_a_sum_that_elements_read_through_a_reshape_is_one():
    """Not a sum for each element of the row."""
    flat = np.linspace(-1.0, 1.0, 12)
    total = (log_softmax(lazy(flat).reshape(3, 4), axis=1) * np.arange(4.0)).sum()
    bound = bind((total.node, leaf(flat)))
    kernel = lower(bound, gradient_of)[1]
    for _, nest in kernel.nests():
        assert np.prod([bound.lengths.get(dim, 1) for dim in nest.dims()]) <= 12
    rows = flat.reshape(3, 4)
    share = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(value_and_grad(total, wrt=flat)[1], (np.arange(4.0) - 6.0 * share).ravel(), rtol=1e-12)


def test_cotangents_of_what_is_broadcast_are_summed_once_however_many_made_it():
    sizes = []
    for count in (6, 12):
        v, design = np.linspace(0.1, 1.0, count), np.cos(np.arange(30.0 * count)).reshape(30, count)
        total = ((design * np.stack([np.exp(lazy(v)[k]) for k in range(count)])).sum(axis=1) ** 2).sum()
        sizes.append(sum(output.summed for output in kernel_of(total, wrt=(v,)).outputs))
        residual = design @ np.exp(v)
        np.testing.assert_allclose(value_and_grad(total, wrt=v)[1], 2.0 * (residual @ design) * np.exp(v), rtol=1e-11)
    assert sizes[0] == sizes[1] <= 1
