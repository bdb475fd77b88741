"""Random recurrences: values, gradients, directional derivatives and Hessians, beside loops of NumPy."""

import numpy as np
import pytest
from random_recurrences import complex_slopes, problem
from reference import interpreted

import vecdist
from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node
from vecdist.passes.derivations import Derivation, gradient_of

INTERPRETED, COMPILED = range(300, 360), range(400, 416)


def expression(made, arrays):
    """The number that a problem makes of its arrays, lazily, and its results."""
    starts, sequences, shared = made.parts([vecdist.lazy(array) for array in arrays])
    carry, ys = vecdist.scan(
        made.step(shared), tuple(starts), sequences, length=made.steps, reverse=made.reverse, mask=made.mask()
    )
    return made.total_of(carry, ys), carry, ys


@pytest.mark.parametrize("seed", INTERPRETED)
def test_values_and_gradients_are_those_of_a_loop(seed):
    made = problem(seed)
    arrays = made.arrays()
    total, carry, ys = expression(made, arrays)
    wanted, last, stacked = made.by_loop(arrays)
    assert [each.shape for each in carry] == [np.shape(each) for each in last]
    assert ys.shape == stacked.shape
    value, *slopes = interpreted([total.node, *map(leaf, arrays)], gradient_of)
    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)
    for found, slope in zip(slopes, made.slopes(arrays), strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", INTERPRETED[:20])
def test_second_derivatives_are_differences_of_first_ones(seed):
    """Hessians times a vector, and the gradient's derivative along it by central differences of complex steps."""
    made = problem(seed)
    arrays = made.arrays()
    ways = [np.asarray(np.random.default_rng(seed).normal(size=each.shape)) for each in arrays]
    total, *_ = expression(made, arrays)
    leaves = [leaf(each) for each in (*arrays, *ways)]
    seeds = [Node("tied", (way,), (), way.shape, way.dtype) for way in leaves[len(arrays) :]]
    found = interpreted([total.node, *leaves[: len(arrays)], *seeds], Derivation("hvp"))
    ahead, behind = (
        made.slopes([each + step * way for each, way in zip(arrays, ways, strict=True)]) for step in (1e-5, -1e-5)
    )
    for mine, more, less in zip(found, ahead, behind, strict=True):
        np.testing.assert_allclose(mine, (more - less) / 2e-5, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", COMPILED)
def test_kernels_compute_what_loops_do(seed):
    """Values and gradients, in one kernel."""
    made = problem(seed)
    arrays = made.arrays()
    function = vecdist.compile(lambda *given: expression(made, given)[0])
    value, slopes = function.value_and_grad(*arrays)
    assert value == pytest.approx(made.by_loop(arrays)[0], rel=1e-12, abs=1e-12)
    for found, slope in zip(slopes, made.slopes(arrays), strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("execution", "seed"), [
    *(("uncompiled", seed) for seed in range(500, 510)),
    *(pytest.param("compiled", seed, marks=pytest.mark.slow) for seed in (502, 510)),
], indirect=["execution"])
def test_recurrences_are_given_what_others_have_left(execution, seed):
    """A number and an array of one are among the arguments of the next, in whose steps they are read."""
    one, other = problem(seed), problem(seed + 100)
    first, second = one.arrays(), other.arrays()

    def both(total, *given):
        number, last = total(one, given[: len(first)])
        scale = 1.0 + 0.1 * np.tanh(number) + 0.1 * np.sin(last[0]).sum()
        return total(other, [scale * each for each in given[len(first) :]])[0]

    function = vecdist.compile(lambda *given: both(lambda made, arrays: expression(made, arrays)[:2], *given))
    value, slopes = function.value_and_grad(*first, *second)
    by_loops = lambda *given: both(lambda made, arrays: made.by_loop(arrays)[:2], *given)  # noqa: E731
    assert value == pytest.approx(by_loops(*first, *second), rel=1e-12, abs=1e-12)
    for found, slope in zip(slopes, complex_slopes(by_loops, [*first, *second]), strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("seed", COMPILED[:3])
def test_explain_tells_of_recurrences(seed):
    made = problem(seed)
    arrays = made.arrays()
    _, carry, _ = expression(made, arrays)
    function = vecdist.compile(lambda *given: expression(made, given)[0])
    (kernel, *_) = vecdist.explain(function, tuple(range(len(arrays))), arrays).kernels
    assert "for " in kernel.schedule
    assert "behind the last step" in vecdist.explain(carry[0]).graph


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("seed", COMPILED[:6])
def test_chains_are_recurrences_side_by_side(seed):
    made = problem(seed)
    arrays = made.arrays()
    many = [np.stack([each, 0.5 * each, -each]) for each in arrays]
    function = vecdist.compile(lambda *given: expression(made, given)[0], in_axes=(0,) * len(many))
    values, slopes = function.value_and_grad(*many, wrt=tuple(range(len(many))))
    for chain in range(3):
        alone = [each[chain] for each in many]
        assert values[chain] == pytest.approx(made.by_loop(alone)[0], rel=1e-12, abs=1e-12)
        for found, slope in zip(slopes, made.slopes(alone), strict=True):
            np.testing.assert_allclose(found[chain], slope, rtol=1e-9, atol=1e-11)
