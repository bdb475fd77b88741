"""Outputs in pieces: a gradient of a vector that is read in slices has loops of its own for each slice."""

import numpy as np
import pytest

from vecdist import jacobian, lazy, value_and_grad
from vecdist.graph.leaves import leaf
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Load, Store
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.joins import parted, pieces
from vecdist.runtime.pipeline import lower

LENGTH = 12


def items(kernel, kind):
    return [item for item in kernel.root.walk() if isinstance(item, kind)]


def found(function, x):
    """The pieces of the gradient of a function of slices, whether they lie side by side, and its kernel."""
    total = function(lazy(x))
    bound = bind((total.node, leaf(x)))
    graph, kernel = lower(bound, gradient_of)
    return graph[1], [each.side_by_side(bound.lengths) for each in parted(graph[1:])] == [True], kernel


@pytest.mark.parametrize(("slices", "joined"), [
    ([(0, 5), (5, 12)], True), ([(5, 12), (0, 5)], True), ([(0, 3), (3, 4), (4, 12)], True),
    ([(0, 5), (4, 12)], False), ([(0, 5), (6, 12)], False), ([(1, 12)], False), ([(0, 7), (0, 7), (7, 12)], True),
])
def test_slices_that_lie_side_by_side_are_joined(slices, joined):
    x = np.linspace(0.5, 2.0, LENGTH)
    root, together, kernel = found(lambda v: sum((np.sin(v[a:b]) * (a + 1.0)).sum() for a, b in slices), x)
    assert together == joined
    assert len(pieces(root)) == (len(set(slices)) if len(slices) > 1 else 1)
    if joined:
        stores = [item for item in items(kernel, Store) if item.output == 1]
        assert len(stores) == len(set(slices)) and not [item for item in items(kernel, Load) if item.guard]


def test_a_matrix_in_a_vector_is_stored_row_by_row():
    x = np.linspace(0.5, 2.0, LENGTH)
    *_, kernel = found(lambda v: np.exp(v.reshape(3, 4) * np.arange(1.0, 4.0)[:, None]).sum(), x)
    (store,) = [item for item in items(kernel, Store) if item.output == 1]
    assert "//" not in str(store) and "%" not in str(store)
    assert max(len(loop.dims()) for _, loop in kernel.nests() if isinstance(loop, Loop)) == 2


def test_single_numbers_are_stored_without_a_loop():
    x = np.array([0.5, 1.5, 2.5])
    root, together, kernel = found(lambda v: v[0] * np.exp(v[1]) + v[1] * v[2] ** 2, x)
    assert together and len(pieces(root)) == 3 and not kernel.nests()
    np.testing.assert_allclose(
        value_and_grad(lazy(x)[0] * np.exp(lazy(x)[1]) + lazy(x)[1] * lazy(x)[2] ** 2, wrt=x)[1],
        [np.exp(1.5), 0.5 * np.exp(1.5) + 2.5**2, 2 * 1.5 * 2.5],
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.usefixtures("uncompiled")
def test_random_slices_of_vectors_and_of_rows_of_vectors(seed):
    """Gaps, overlaps, steps and matrices among the slices; beside the slopes of sums of sines."""
    rng = np.random.default_rng(seed)
    shape = ((LENGTH,), (3, LENGTH))[seed % 2]
    x = rng.normal(size=shape)
    cuts = sorted({0, LENGTH, *(int(cut) for cut in rng.integers(1, LENGTH, 3))})
    slices = [slice(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    if rng.integers(2):
        slices += [slice(int(rng.integers(0, 4)), None, int(rng.integers(1, 3))) for _ in range(rng.integers(1, 3))]
    if rng.integers(2):
        slices.pop(int(rng.integers(len(slices))))
    weights = rng.normal(size=len(slices))

    def total(v):
        parts = (np.sin(v[..., part] * weight) for part, weight in zip(slices, weights, strict=True))
        return sum((part.reshape(-1) if seed % 3 else part).sum() for part in parts)

    wanted = np.zeros(shape)
    for part, weight in zip(slices, weights, strict=True):
        wanted[..., part] += weight * np.cos(x[..., part] * weight)
    value, slope = value_and_grad(total(lazy(x)), wrt=x)
    np.testing.assert_allclose(value, float(total(x)), rtol=1e-13)
    np.testing.assert_allclose(slope, wanted, rtol=1e-13, atol=1e-15)


def test_rows_of_a_jacobian_are_joined_each():
    x = np.linspace(0.5, 2.0, 6)
    rows = np.asarray(jacobian(np.stack([np.sin(lazy(x)[:2]).sum(), (lazy(x)[2:] ** 2).sum()]), wrt=x))
    np.testing.assert_allclose(rows, [[*np.cos(x[:2]), 0, 0, 0, 0], [0, 0, *2 * x[2:]]])


def test_pieces_that_begin_behind_a_product_of_matrices():
    """The kernel that stores them reads none of the slices."""
    rng = np.random.default_rng(3)
    x, left = rng.normal(size=30 * 20 + 7), rng.normal(size=(40, 30))
    value, slope = value_and_grad(((left @ lazy(x)[7:].reshape(30, 20)) ** 2).sum() + lazy(x)[:7].sum() * 2.0, wrt=x)
    product = left @ x[7:].reshape(30, 20)
    np.testing.assert_allclose(value, (product**2).sum() + 2.0 * x[:7].sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, [*np.full(7, 2.0), *(2.0 * left.T @ product).ravel()], rtol=1e-11, atol=1e-11)
