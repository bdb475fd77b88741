"""Products and sums that say the same: which is taken where, and random ones beside NumPy and finite differences."""

import math

import numpy as np
import pytest
from reference import interpreted

from vecdist import compile as compile_function
from vecdist import lazy, logpdf, logsumexp, value_and_grad
from vecdist.distributions import Normal
from vecdist.graph.leaves import leaf
from vecdist.graph.node import topological
from vecdist.passes import contractions
from vecdist.passes.contractions import contracted
from vecdist.passes.derivations import gradient_of
from vecdist.passes.few_rows import TALL
from vecdist.runtime import pipeline

pytestmark = pytest.mark.usefixtures("small_products_are_calls")


class There(np.ndarray):
    """What is taken for an array of a GPU."""


There.__module__ = "cupy"


def given(*shapes, gpu=True, dtype="f4"):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.normal(size=shape), dtype) for shape in shapes]
    return [array.view(There) for array in arrays] if gpu else arrays


def ops(*roots):
    """What roots are made of once they are contracted."""
    return {node.op for node in topological(contracted([getattr(root, "node", root) for root in roots]))}


def total(e):
    return logpdf(Normal(e, 2.0), 1.5).sum()


@pytest.mark.parametrize(("vectors", "rows", "columns", "summed"), [
    (8, 5000, 16, True), (4, 1024, 37, True), (64, 103, 7, True), (16, 700, 16, True), (1000, 5000, 4, True),
    (2, 5000, 38, True), (4, 966, 200, True), (64, 500, 30, True), (8, 5000, 64, True), (4, 400_000, 60, True),
    (2, 5000, 600, False), (4, 50, 200, False), (16, 5000, 38, False), (8, 200_000, 64, False),
    (1000, 20_000, 30, False), (5000, 6000, 2, True), (1000, 700, 16, True), (4096, 300, 24, True),
    (300, 4096, 24, True), (4096, 800, 32, False), (5000, 300, 24, False), (20_000, 600, 2, False),
    (20_000, 50, 2, False),
])  # fmt: skip
def test_few_vectors_and_a_design_are_summed_on_a_gpu(vectors, rows, columns, summed):
    b, x = given((vectors, columns), (rows, columns))
    for product in (lazy(b) @ lazy(x).T, lazy(x) @ lazy(b).T):
        assert ("product" in ops(total(product), leaf(b))) is not summed
        assert "product" in ops(product), "the products themselves are asked for"
        if vectors < TALL:
            assert "product" in ops(total(product), leaf(x)), "so is the slope in the design"
        assert "product" in ops(logsumexp(product, axis=0).sum(), leaf(b)), "they are not only summed over rows"


def test_rows_of_float64_have_less_room():
    for columns, summed in ((8, True), (16, False)):
        b, x = given((4096, columns), (800, columns), dtype="f8")
        assert ("product" in ops(total(lazy(b) @ lazy(x).T), leaf(b))) is not summed


def test_products_of_few_elements_are_sums_on_a_gpu(monkeypatch):
    monkeypatch.setattr(contractions, "FEW", 2**16)
    for columns, found in ((32, False), (33, True)):
        for gpu in (True, False):
            a, b = given((64, 32), (32, columns), gpu=gpu)
            graph = contracted([np.tanh(lazy(a) @ lazy(b)).node])
            assert any(node.op == "product" for node in topological(graph)) == (found or not gpu)


def test_a_library_is_left_what_it_multiplies_sooner():
    b, x = given((8, 5000), (5000, 16), gpu=False)
    assert "product" in ops(total(lazy(b) @ lazy(x)))
    b, x, w = given((8, 16), (5000, 16), (8, 3))
    hidden = np.tanh(lazy(x) @ lazy(b).T)
    assert [node.op for node in topological(contracted([total(hidden @ lazy(w)).node]))].count("product") == 2
    design = np.sin(lazy(x))
    assert "product" in ops(total(lazy(b) @ design.T)), "a design that is computed would be computed for each vector"


def test_designs_are_summed_where_their_rows_come_first():
    """Not beside what leaves no room for them; and in a nest of their own beside others that are crowded."""
    b, x, w, y = given((64, 30), (20_000, 30), (64, 1, 3), (5000, 1))
    of_design = total(lazy(b) @ lazy(x).T)
    pairs = lazy(w) * lazy(y)  # of which the largest are taken: such rows are in no strips

    def found(*terms, wrt=(b,)):
        return ops_of(pipeline.structure((sum(terms).node, *map(leaf, wrt)), gradient_of))

    assert "product" not in found(of_design)
    assert "product" in found(of_design, logsumexp(pairs, axis=-1).sum(), wrt=(b, w))
    b, x = given((32, 30), (20_000, 30))
    assert "product" not in found(total(lazy(b) @ lazy(x).T), logsumexp(pairs, axis=-1).sum(), wrt=(b, w))


def ops_of(bound):
    return {node.op for node in topological(bound.roots)}


@pytest.mark.parametrize("gpu", [True, False])
def test_sums_over_many_columns_are_products(gpu):
    b, x = given((16, 200), (966, 200), gpu=gpu)
    for found in (
        (lazy(b)[:, None] * lazy(x)).sum(-1), (lazy(x)[:, None] * lazy(b)).sum(-1),
        (lazy(b).T[:, :, None] * lazy(x).T[:, None]).sum(0), (lazy(x)[None, :, None] * lazy(b)[:, None, None]).sum(3),
    ):  # fmt: skip
        assert "product" in ops(total(found))
    few = (lazy(b)[:2, None] * lazy(x)).sum(-1)
    assert "product" not in ops(total(few))
    pairs = lazy(b)[:, None] - lazy(x)
    assert "product" not in ops(total((pairs * pairs).sum(-1)), total((lazy(b)[:, None] * pairs).sum(-1)))


def test_few_columns_of_many_pairs_stay_in_kernels():
    a, b = given((3000, 3), (2000, 3), gpu=False)
    assert "product" not in ops(np.exp(-(lazy(a)[:, None] * lazy(b)).sum(-1)).sum())


def random_contraction(seed):
    """A function of two arrays, in which they are multiplied and summed in one of many ways, and these arrays."""
    rng = np.random.default_rng(seed)
    rows, columns, between = (int(rng.choice([1, 2, 5, 17, 40, 70])) for _ in range(3))
    gaps = [int(each) for each in rng.integers(0, 2, 3)]
    order = rng.permutation(3)
    shapes = [(rows, between), (between, columns)]
    form = rng.choice(["product", "sum", "sum of more"])
    a, b = (rng.normal(size=shape).astype("f8") for shape in shapes)

    def between_axes(x, axes):
        """``x`` with an axis of its own for each of the three, in their order, and axes of length 1 among them."""
        missing = ({0, 1, 2} - set(axes)).pop()
        whole = np.expand_dims(x, 2).transpose(np.argsort([*axes, missing])).transpose(order)
        for place in (2, 1, 0):
            whole = np.expand_dims(whole, place) if gaps[place] else whole
        return whole

    def function(a, b):
        if form == "product":
            e = a @ b
        else:
            pairs = between_axes(a, (0, 2)) * between_axes(b, (2, 1))
            e = pairs.sum(sum(gaps[: list(order).index(2) + 1]) + list(order).index(2), keepdims=form == "sum of more")
            e = e + pairs if form == "sum of more" else e
        weights = np.cos(np.arange(math.prod(e.shape))).reshape(e.shape)
        return (np.tanh(0.2 * e) * weights).sum()

    return function, (a, b)


@pytest.mark.parametrize("gpu", [True, False])
def test_random_contractions(gpu):
    changed = 0
    for seed in range(60):
        function, arrays = random_contraction(seed)
        held = [array.view(There) if gpu else array for array in arrays]
        roots = function(*map(lazy, held)).node, leaf(held[1])
        again = contracted(roots)
        changed += again != roots
        value, slope = interpreted(again, gradient_of)
        assert value == pytest.approx(function(*arrays), rel=1e-12, abs=1e-14), seed
        (a, b), way = arrays, np.random.default_rng(seed).normal(size=arrays[1].shape) / arrays[1].size
        wanted = (function(a, b + 1e-5 * way) - function(a, b - 1e-5 * way)) / 2e-5
        assert (slope * way).sum() == pytest.approx(wanted, rel=1e-6, abs=1e-8), seed
    assert changed >= (10 if gpu else 6)


def test_both_ways_are_computed():
    b, x = given((17, 40), (50, 40), gpu=False, dtype="f8")
    wanted = np.tanh(x @ b.T).sum()
    ways = (
        lambda b, x: np.tanh(b @ x.T).sum(), lambda b, x: np.tanh((b[:, None] * x).sum(-1)).sum(),
        lambda b, x: np.tanh((x[:, None] * b).sum(-1)).sum(),
    )  # fmt: skip
    slopes = (1.0 - np.tanh(b @ x.T) ** 2) @ x
    for way in ways:
        value, (slope,) = compile_function(way).value_and_grad(b, x, wrt=(0,))
        assert value == pytest.approx(wanted, rel=1e-12)
        np.testing.assert_allclose(slope, slopes, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(value_and_grad(way(lazy(b), lazy(x)), wrt=b)[1], slopes, rtol=1e-11, atol=1e-12)
