"""Where statements stand, which loops are shared, and what is kept between loops."""

import numpy as np
import pytest
from loop_executor import depths, loops, run_loops, statements
from reference import assert_same, interpreted

from vecdist import lazy, logpdf
from vecdist.distributions import Gamma, Normal
from vecdist.graph.leaves import leaf
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Accumulate, Load, Store
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.simplify import simplify
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.pipeline import lower, values

N, M = 3, 4
X = np.arange(1.0, 13.0).reshape(N, M)
COLUMN, ROW, SCALAR = X[:, :1].copy(), X[0].copy(), np.array(2.0)


def kernel_of(*results, wrt=(), derivation=None):
    """The loop nests of results (with the gradient of the first), and a check that they are right."""
    roots = (*(result.node for result in results), *(leaf(array) for array in wrt))
    derivation = derivation or (gradient_of if wrt else values)
    bound = bind(roots)
    _, kernel = lower(bound, derivation, "nan")
    found, _ = run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    wanted = interpreted(roots, derivation)
    assert_same([mine.reshape(w.shape) for mine, w in zip(found, wanted, strict=True)], wanted, rtol=1e-12)
    return kernel


def unexpanded(*results):
    """The loop nests with every primitive as one statement, to see where each stands."""
    return schedule(simplify(bind([result.node for result in results]).roots))


def lgamma(x):
    from vecdist import LazyArray

    return LazyArray(PRIMITIVES["lgamma"](lazy(x).node))


def temporaries(kernel):
    return sum(output.temporary for output in kernel.outputs)


def levels(kernel):
    return {level for level, _ in kernel.nests()}


def test_statements_stand_where_their_inputs_stop_varying():
    assert depths(unexpanded(lgamma(SCALAR) * X), "lgamma") == [0]
    assert depths(unexpanded(lgamma(COLUMN) * X), "lgamma") == [1]
    assert depths(unexpanded(lgamma(X) * 2.0), "lgamma") == [1], "axes that stay together are one loop"
    assert depths(unexpanded(lgamma(X) * COLUMN), "lgamma") == [2]
    assert depths(unexpanded((lgamma(SCALAR) + lgamma(COLUMN) + lgamma(X)).sum()), "lgamma") == [0, 1, 2]


def test_a_parameter_of_the_inner_axis_is_computed_there():
    """Rows are the outer loop: what varies along columns only is computed for each element, from one load."""
    kernel = unexpanded(lgamma(ROW) + COLUMN)
    assert depths(kernel, "lgamma") == [2]


def test_densities_and_gradients_do_their_parameter_work_outside():
    kernel = kernel_of(logpdf(Gamma(COLUMN, SCALAR), X).sum(), wrt=(COLUMN, SCALAR))
    assert {depth for depth, item in statements(kernel, Load)} == {0, 1, 2}
    inner = [item for depth, item in statements(kernel) if depth == 2]
    outer = [item for depth, item in statements(kernel) if depth == 1]
    assert len(outer) > 3 * len(inner) / 2, "lgamma and digamma of the shape are computed once for each row"


def test_one_loop_for_value_and_gradients():
    kernel = kernel_of(logpdf(Normal(SCALAR, np.array(1.5)), ROW).sum(), wrt=(SCALAR,))
    assert len(loops(kernel)) == 1 and levels(kernel) == {0} and temporaries(kernel) == 0
    assert sum(isinstance(item, Load) for item in kernel.root.walk()) == 3


def test_sums_over_the_same_lengths_share_a_loop():
    kernel = kernel_of(lazy(ROW).sum() + (lazy(ROW) ** 2).sum(), lazy(ROW) * 2.0)
    assert len(loops(kernel)) == 1
    assert len(statements(kernel, Accumulate)) == 2


def test_sums_over_different_lengths_do_not_share():
    x, y = np.ones(3), np.ones(5)
    kernel = kernel_of((lazy(x) * 2.0).sum() + lazy(y).sum())
    assert [loop.dim for loop in loops(kernel)] == ["n0", "n1"] and levels(kernel) == {0}


def test_a_row_sum_is_an_inner_loop():
    kernel = kernel_of(lazy(X).sum(axis=1))
    (outer, inner) = loops(kernel)
    assert outer.body is inner.body.parent and not kernel.root.loops(1)
    assert [depth for depth, _ in statements(kernel, Store)] == [1]


def test_a_row_sum_that_the_row_uses_again_is_two_inner_loops():
    kernel = kernel_of(lazy(X) - lazy(X).sum(axis=1, keepdims=True))
    outer, *inner = loops(kernel)
    assert len(inner) == 2 and all(loop.body.parent is outer.body for loop in inner)
    assert temporaries(kernel) == 0 and levels(kernel) == {0}


def test_a_softmax_reads_each_row_in_one_outer_loop():
    z = np.exp(lazy(X))
    kernel = kernel_of((np.log(z.sum(axis=1)) * COLUMN[:, 0]).sum(), wrt=(X,))
    assert len(kernel.nests()) == 1 and temporaries(kernel) == 0


def test_a_sum_over_everything_that_is_used_again_opens_a_second_level():
    kernel = kernel_of(lazy(ROW) - lazy(ROW).sum())
    assert levels(kernel) == {0, 1} and temporaries(kernel) == 0
    kernel = kernel_of(((lazy(ROW) - lazy(ROW).mean()) ** 2).sum())
    assert levels(kernel) == {0, 1}


def test_sums_of_sums_of_sums_take_a_level_each():
    x = lazy(ROW)
    y = x - x.sum()
    kernel = kernel_of(y / (y * y).sum())
    assert levels(kernel) == {0, 1, 2}


def test_one_level_where_no_sum_is_used_again():
    total = logpdf(Normal(COLUMN, SCALAR), X).sum() + logpdf(Normal(0.0, 1.0), COLUMN).sum()
    assert levels(kernel_of(total, wrt=(COLUMN, SCALAR))) == {0}
    assert levels(kernel_of(lazy(X).sum(axis=0), lazy(X).sum(axis=1), lazy(X).sum())) == {0}


def test_a_sum_is_kept_where_it_would_be_computed_again():
    """Column sums inside a loop over rows: once, to a temporary, instead of once for each row."""
    kernel = kernel_of(lazy(X) - lazy(X).sum(axis=0))
    assert temporaries(kernel) == 1 and levels(kernel) == {0, 1}
    assert temporaries(kernel_of((lazy(X) - lazy(X).sum(axis=0)).sum())) == 1


@pytest.mark.parametrize("result", [
    lazy(X).sum(axis=0), lazy(X) - lazy(X).sum(axis=1, keepdims=True), lazy(X) - lazy(X).sum(),
    lazy(X).sum(axis=1) * 2.0, (lazy(X) * COLUMN).sum(axis=0),
])
def test_no_other_sum_is_kept(result):
    assert temporaries(kernel_of(result)) == 0


def test_values_are_computed_once_however_often_they_are_used():
    z = lgamma(X)
    assert depths(unexpanded(z * z + z, z.sum(), (z * 2.0).sum()), "lgamma") == [1]


def test_loads_are_not_repeated():
    x = lazy(ROW)
    assert len(statements(kernel_of(x * x + x, (x * 3.0).sum()), Load)) == 3 - 1, "x, and the number 3"


def test_slices_of_one_array_are_loads_at_shifted_places():
    x = lazy(ROW)
    kernel = kernel_of(x[1:] - x[:-1])
    assert sorted(str(*item.indices) for _, item in statements(kernel, Load)) == ["i0", "i0 + s0"]


def test_gradients_of_slices_are_guarded_not_stored_twice():
    x = lazy(ROW)
    kernel = kernel_of((x[1:] * x[:-1]).sum(), wrt=(ROW,))
    guarded = [item for _, item in statements(kernel, Load) if item.guard]
    assert guarded and len(statements(kernel, Store)) == 2


def test_what_does_not_vary_is_not_guarded():
    """A mean inside the gradient of a slice is the one that is known already, not a copy of it for each element."""
    x = lazy(X)
    kernel = kernel_of((np.broadcast_to(x[:, :1], (N, 7)) ** 3).sum() * x.mean(), wrt=(X,))
    assert temporaries(kernel) == 0 and len(statements(kernel, Accumulate)) == 3


def test_empty_lengths_give_zero_sums():
    empty = np.zeros((0, 4))
    kernel = kernel_of(lazy(empty).sum(), lazy(empty).sum(axis=0), lazy(empty).sum(axis=1))
    assert len(kernel.outputs) == 3


def test_a_kernel_prints_as_loops():
    text = str(kernel_of(lazy(X).sum(axis=1)))
    assert text.splitlines()[0].startswith("for i") and "total a" in text and "o0[" in text


def test_flags_stand_where_their_condition_is_known():
    bound = bind((logpdf(Normal(COLUMN, SCALAR), X).sum().node,))
    _, kernel = lower(bound, values, "raise")
    assert kernel.flagged
    arrays = [leaf.array for leaf in bound.leaves]
    assert not run_loops(kernel, arrays, bound.lengths)[1]
    bad = [array if array.ndim else np.array(-1.0) for array in arrays]
    assert run_loops(kernel, bad, bound.lengths)[1]


def test_what_is_put_at_one_place_of_a_row_is_computed_once_for_the_row():
    kernel = kernel_of((np.exp(lazy(X)[:, 0]) * np.exp(lazy(X)[:, 2])).sum(), wrt=[X])
    before, _, inner = str(kernel).rpartition("for ")
    assert "x0[" in before and "mul(" in before
    assert "x0[" not in inner and "mul(" not in inner


def test_a_sum_that_is_put_at_one_place_of_a_row_is_summed_once_for_the_row():
    """As the slope in a scale among the parameters of many chains: no pass over the data for each of these."""
    data = np.linspace(0.5, 2.0, 5)
    x = lazy(X)
    for row in (np.exp(x[:, 2:3] * data).sum(axis=1), (np.exp(x[:, 1:2]) * np.exp(x[:, 3:] * data)).sum(axis=1)):
        kernel = kernel_of(row.sum(), wrt=(X,))
        assert max(depth for depth, _ in statements(kernel, Accumulate)) == 2


@pytest.mark.parametrize("scattered", [False, True])
def test_a_sum_of_many_terms_has_no_depth(scattered):
    """As a model of many log densities, added one by one; some parts may be added up by index."""
    x, index = np.arange(3.0), np.array([0, 2, 2, 1])
    terms = [(lazy(x) * float(place)).sum() for place in range(1100)]
    if scattered:
        terms.append((lazy(x)[index] * np.arange(4.0)).sum())
    total = sum(terms)
    bound = bind((total.node, lazy(x).node))
    graph, kernel = lower(bound, gradient_of)
    assert len(kernel.outputs) == 2 == len(graph)
