"""Steps in a straight line compute what they do with loops in them; their carries are no memory any more."""

from itertools import count

import numpy as np
import pytest
from loop_executor import loops, run_loops
from random_recurrences import problem

import vecdist
from vecdist.graph.leaves import leaf
from vecdist.kernel import written_out as written_out_steps
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Accumulate
from vecdist.kernel.written_out import written_out
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of
from vecdist.passes.order import Structure, derived


def lowered(roots):
    """A structure, and its loop nests for its lengths; none where it has calls between kernels."""
    bound = bind(roots)
    found = derived(Structure(bound.roots, gradient_of))
    if found.stages:
        return bound, None
    return bound, schedule(found.all).with_fixed(bound.lengths, 64)


def total(made, arrays):
    """What a problem makes of its arrays."""
    starts, sequences, shared = made.parts([vecdist.lazy(array) for array in arrays])
    step, mask = made.step(shared), made.mask()
    carry, ys = vecdist.scan(step, tuple(starts), sequences, length=made.steps, reverse=made.reverse, mask=mask)
    return made.total_of(carry, ys)


def in_steps(kernel):
    """The loops inside those that run in order."""
    return [inner for loop in loops(kernel) if loop.sequential for inner in loop.body.every_loop()]


def alone(seed):
    """The first of several random problems that is one kernel, with what it is bound to."""
    made = (problem(each) for each in count(seed, 1000))
    every = (lowered((total(each, arrays).node, *map(leaf, arrays))) for each in made for arrays in [each.arrays()])
    return next((bound, kernel) for bound, kernel in every if kernel is not None)


@pytest.mark.parametrize("seed", range(700, 740))
def test_a_straight_line_computes_the_same(seed, monkeypatch):
    monkeypatch.setattr(written_out_steps, "MOST", 10_000)  # however long
    bound, kernel = alone(seed)
    given = [each.array for each in bound.leaves], bound.lengths
    straight = written_out(kernel)
    assert not in_steps(straight)
    wanted, found = run_loops(kernel, *given)[0], run_loops(straight, *given)[0]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14)


def grown(carry, length):
    """A recurrence of a row, of so many elements, with a sum in each step."""
    start, x = vecdist.lazy(np.linspace(0.1, 0.2, length)), vecdist.lazy(np.linspace(0.0, 1.0, 4 * length))
    return vecdist.scan(lambda c, e: (carry(c, e), c.max()), start, x.reshape(4, length))


@pytest.mark.parametrize("last", [False, True])
def test_carries_wait_in_registers(last):
    carry, largest = grown(lambda c, e: np.tanh(c) * e.sum() + c.max(), 3)
    bound, kernel = lowered((carry.sum().node,) if last else (largest.sum().node,))
    straight = written_out(kernel)
    (loop,) = [each for each in loops(straight) if each.sequential]
    items = [item for _, item in loop.body.items]
    assert sum(isinstance(item, Accumulate) and item.op == "last" for item in items) == 3
    assert not any(" % 2" in str(item) for item in items), "no half of any memory"
    given = [each.array for each in bound.leaves], bound.lengths
    np.testing.assert_allclose(run_loops(straight, *given)[0], run_loops(kernel, *given)[0], rtol=1e-14)


@pytest.mark.parametrize(("length", "expected"), [(16, True), (17, False)])
def test_long_rows_stay_loops(length, expected):
    carry, _ = grown(lambda c, e: np.tanh(c) + e * c.max(), length)
    _, kernel = lowered((carry.sum().node,))
    assert in_steps(kernel)
    assert (not in_steps(written_out(kernel))) is expected


def test_a_kernel_without_recurrences_stays_as_it_is():
    x = vecdist.lazy(np.ones((4, 3)))
    _, kernel = lowered((np.exp(x).sum(axis=1).sum().node,))
    assert written_out(kernel) is kernel
