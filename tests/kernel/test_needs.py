"""What slices of slices need: values that are wanted at many places for each element are in memory, others are not."""

import numpy as np
import pytest
from loop_executor import run_loops, statements
from reference import assert_same, interpreted

from vecdist import lazy, scan, value_and_grad
from vecdist.graph.leaves import leaf
from vecdist.kernel.context import THROUGH
from vecdist.kernel.expressions import Constant, Name, further
from vecdist.kernel.statements import Store
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.primitives.structure import STRUCTURE
from vecdist.runtime.pipeline import lower, values


def kernel_of(result, wrt=()):
    """The loop nests of a result and its gradient, found to be right."""
    roots = (result.node, *(leaf(array) for array in wrt))
    derivation, bound = gradient_of if wrt else values, bind(roots)
    _, kernel = lower(bound, derivation, "nan")
    found, _ = run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)
    wanted = interpreted(roots, derivation)
    assert_same([mine.reshape(w.shape) for mine, w in zip(found, wanted, strict=True)], wanted, rtol=1e-11)
    return kernel


def means(u):
    return 0.5 * (u[1:] + u[:-1])


def heat(u):
    beside = np.pad(u, 1)
    return u + 0.1 * (beside[2:] - 2.0 * u + beside[:-2])


def turned(u):
    return u + 0.1 * (np.roll(u, 1) - np.roll(u, -1))


@pytest.mark.parametrize("step", [means, heat, turned])
def test_work_grows_with_the_number_of_steps(step):
    """It doubled, or tripled, with each."""
    array, lengths = np.random.default_rng(1).normal(size=9), []
    for steps in (3, 6):
        u = lazy(array)
        for _ in range(steps):
            u = np.sin(step(u))
        lengths.append(len(list(statements(kernel_of((u * u).sum(), wrt=(array,)), object))))
    assert lengths[1] < 2.6 * lengths[0]


def test_a_few_places_need_no_memory():
    u = np.exp(lazy(np.arange(9.0)) * 0.1 + 0.2)
    assert len(list(statements(kernel_of(u[2:] - 2.0 * u[1:-1] + u[:-2]), Store))) == 1
    many = np.sin(u * 0.3 + 1.0) * u
    assert len(list(statements(kernel_of(sum(many[k : k + 4] * (k + 1.0) for k in range(6))), Store))) == 2


def test_columns_need_no_memory():
    """Each place along the axis is another element."""
    u = np.sin(lazy(np.arange(24.0).reshape(3, 8)) * 0.3 + 1.0) * 2.0 - 0.3
    assert len(list(statements(kernel_of(sum(u[:, k] * (k + 1.0) for k in range(8))), Store))) == 1


@pytest.mark.parametrize("seed", range(20))
def test_random_slices(seed):
    rng = np.random.default_rng(seed)
    array = rng.normal(size=(2, 8)[rng.integers(2) :])
    pool = [lazy(array)]
    for _ in range(rng.integers(4, 11)):
        u = pool[-1 if rng.integers(3) else rng.integers(len(pool))]
        step = (means, heat, turned, lambda u: u[..., ::-1], lambda u: u - u.mean())[rng.integers(5)]
        if u.ndim == 1 and u.shape[0] > 2:
            pool.append((np.sin, np.abs, np.tanh)[rng.integers(3)](step(u)) + 0.1 * u.mean())
        elif u.ndim == 2:
            pool.append(np.cos(u[0] * u[1, ::-1]) + u[:, 1:].sum(axis=0).mean())
    kernel_of(sum((each * each).sum() for each in pool[-3:]), wrt=(array,))


@pytest.mark.parametrize("step", [means, heat, turned])
def test_work_in_a_turn_grows_with_the_number_of_stages(step):
    array, lengths = np.random.default_rng(1).normal(size=7), []
    for stages in (3, 6):

        def turn(u, x, stages=stages):
            for _ in range(stages):
                u = np.sin(step(np.pad(u, (0, 1)) if step is means else u) + x)
            return u, None

        last = scan(turn, lazy(array), np.array([0.1, 0.3]))[0]
        lengths.append(len(list(statements(kernel_of((last * last).sum(), wrt=(array,)), object))))
    assert lengths[1] < 2.6 * lengths[0]


def test_kernels_of_many_steps():
    array = np.random.default_rng(2).normal(size=40)

    def total(u):
        for _ in range(12):
            u = np.sin(means(u))
        return (u * u).sum()

    value, slope = value_and_grad(total(lazy(array)), wrt=array)
    np.testing.assert_allclose(value, total(array), rtol=1e-13)
    along = np.cos(np.arange(40.0))
    np.testing.assert_allclose(slope @ along, total(array + 1e-30j * along).imag / 1e-30, rtol=1e-12)


def test_moves_of_an_index_have_one_order():
    i, s, t = Name("i"), Name("s"), Name("t")
    assert further(further(i, t), s) == further(further(i, s), t) == i + s + t
    assert further(further(i, s), s, backwards=True) == i
    assert further(further(i - 2, s), Constant(2)) == i + s


def test_what_moves_elements_has_a_place_to_read_them_from():
    assert {op for op, each in STRUCTURE.items() if each.moves} == {*THROUGH, "gather"}
