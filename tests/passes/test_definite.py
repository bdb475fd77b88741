"""What calls of positive definite matrices have in common is computed once: how many are left, and their results."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy, logpdf
from vecdist.distributions import InverseWishart, MvNormal, Wishart
from vecdist.graph.leaves import leaf
from vecdist.graph.node import topological
from vecdist.lazy.array import LazyArray
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of, values
from vecdist.passes.order import Structure, derived
from vecdist.primitives.factorisations import times

rng = np.random.default_rng(31)


def normal(loc, matrix, x):
    return logpdf(MvNormal(loc, matrix), x).sum()


def arrays(length, own=(), events=()):
    """A location, matrices, and vectors."""
    a = rng.normal(size=(*own, length, length))
    return rng.normal(size=length), a @ a.swapaxes(-1, -2) + length * np.eye(length), rng.normal(size=(*events, length))


def plan_of(root, wrt, derivation):
    return derived(Structure(bind((root, *map(leaf, wrt))).roots, derivation))


def calls(found):
    """The names of the calls of a graph: each once, whatever is read of its results."""
    each = {(node.attrs[0], node.args) for node in topological(found.all) if node.op == "external"}
    return sorted(str(call) for call, _ in each)


def test_a_density_and_its_gradient_take_four_calls_between_two_kernels():
    given = arrays(20)
    root = normal(*map(lazy, given)).node
    found = plan_of(root, given, gradient_of)
    assert calls(found) == ["cholesky", "inv", "solve_triangular", "solve_triangular"]
    assert [bool(stage.roots or stage.flags) for stage in found.stages.stages] == [True, False, False, True]


def test_a_density_alone_takes_two_calls_between_two_kernels():
    given = arrays(20)
    found = plan_of(normal(*map(lazy, given)).node, (), values)
    assert calls(found) == ["cholesky", "solve_triangular"]
    assert [bool(stage.roots or stage.flags) for stage in found.stages.stages] == [True, False, True]


def test_a_gradient_alone_is_one_solution_and_an_inverse():
    given = arrays(20)
    found = plan_of(normal(*map(lazy, given)).node, given[:2], gradient_of)
    only = derived(Structure(found.graph[1:], values))
    assert calls(only) == ["cho_solve", "cholesky", "inv"]


def test_products_of_a_column_and_a_row_are_no_call():
    columns, rows = rng.normal(size=(3, 5)), rng.normal(size=(3, 4))
    product = times(lazy(columns)[..., None].node, lazy(rows)[:, None].node)
    assert calls(plan_of(product, (), values)) == []
    np.testing.assert_allclose(LazyArray(product).compute(), columns[..., None] * rows[:, None], rtol=1e-15)


def test_what_a_call_reads_is_not_left_for_later():
    """A sum that a later call needs stays before it; what nothing but results need waits for the last kernel."""
    a, b = lazy(rng.normal(size=(30, 30))), lazy(rng.normal(size=(30, 30)))
    first = a @ b
    second = (first * first.sum(0)) @ b
    value, slopes = vecdist.value_and_grad(second.sum() + first.max(), (a, b))
    x, y = np.asarray(a), np.asarray(b)
    assert value == pytest.approx(((x @ y) * (x @ y).sum(0) @ y).sum() + (x @ y).max(), rel=1e-12)
    step = 1e-6 * rng.normal(size=(30, 30))

    def at(x):
        return ((x @ y) * (x @ y).sum(0) @ y).sum() + (x @ y).max()

    assert (slopes[0] * step).sum() == pytest.approx((at(x + step) - at(x - step)) / 2.0, rel=1e-6)


CASES = [(length, own, events) for length in (17, 23, 40) for own, events in (
    ((), ()), ((), (6,)), ((), (2, 3)), ((3,), (3,)), ((3,), (2, 1)), ((2, 1), (4,)))]  # fmt: skip


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("case", range(len(CASES)))
def test_densities_and_gradients_of_any_batch_are_those_of_formulas(case):
    loc, matrix, x = arrays(*CASES[case])
    inverse, (_, size) = np.linalg.inv(matrix), np.linalg.slogdet(matrix)
    apart = x - loc
    alpha = (inverse @ apart[..., None])[..., 0]
    count = np.broadcast_shapes(matrix.shape[:-2], x.shape[:-1])
    terms = np.broadcast_to(-0.5 * ((apart * alpha).sum(-1) + size + x.shape[-1] * np.log(2.0 * np.pi)), count)
    outer = np.broadcast_to(0.5 * (alpha[..., None] * alpha[..., None, :] - inverse), (*count, *matrix.shape[-2:]))
    while outer.ndim > matrix.ndim:
        outer = outer.sum(0)
    kept = tuple(axis for axis, (n, m) in enumerate(zip(outer.shape, matrix.shape, strict=True)) if m == 1 != n)
    given = [lazy(each) for each in (loc, matrix, x)]
    value, (_, of_matrix, of_x) = vecdist.value_and_grad(normal(*given), given)
    assert value == pytest.approx(terms.sum(), rel=1e-11)
    np.testing.assert_allclose(of_matrix, outer.sum(kept, keepdims=True), rtol=1e-8, atol=1e-11)
    whole = np.broadcast_to(-alpha, (*count, x.shape[-1]))
    while whole.ndim > x.ndim:
        whole = whole.sum(0)
    same = tuple(axis for axis, (n, m) in enumerate(zip(whole.shape, x.shape, strict=True)) if m == 1 != n)
    np.testing.assert_allclose(of_x, whole.sum(same, keepdims=True), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", [Wishart, InverseWishart])
def test_matrices_of_densities_are_factored_once(family):
    """Also those that are replaced where they are not definite: of two matrices there are two factors."""
    scale, x = 6.0 * np.eye(12) + 0.1, 3.0 * np.eye(12) + 0.2
    root = logpdf(family(20.0, lazy(scale)), lazy(x)).node
    assert calls(plan_of(root, (), values)).count("cholesky") == 2
    assert calls(plan_of(root, (scale, x), gradient_of)).count("cholesky") == 2


def test_a_matrix_without_a_factor_has_finite_slopes_beside_others():
    """The unit matrix stands for it: nothing of its NaN reaches what is derived of the others."""
    x = np.stack([3.0 * np.eye(12) + 0.2, -np.eye(12)])
    scale = 6.0 * np.eye(12) + 0.1
    density = logpdf(Wishart(20.0, lazy(scale, "scale")), lazy(x, "x"))
    value, slopes = vecdist.value_and_grad(density[0], ("scale", "x"))
    assert density.compute()[1] == -np.inf
    wanted = 0.5 * (7.0 * np.linalg.inv(x[0]) - np.linalg.inv(scale))
    np.testing.assert_allclose(slopes[1][0], wanted, rtol=1e-9, atol=1e-12)
    assert np.isfinite(value) and not slopes[1][1].any() and np.isfinite(slopes[0]).all()
