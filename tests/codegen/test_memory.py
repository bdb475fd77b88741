"""What one loop of a row computes, a later one remembers."""

import numpy as np

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda.memory import remembered
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Assign
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values

ROWS = np.ones((40, 6))


def memory_of(expression, derivation=values, wrt=(), room=8):
    """What the rows of a kernel remember, with the loops along them."""
    _, kernel = lower(bind((expression.node, *(lazy(array).node for array in wrt))), derivation, "nan")
    (loop,) = (loop for _, loop in kernel.nests() if loop.body.every_loop())
    dims = {inner.dim: room for inner in loop.body.every_loop()}
    return remembered(loop.body, dims), [inner for level in loop.body.levels for inner in loop.body.loops(level)]


def test_exponentials_are_computed_once():
    memory, loops = memory_of(logsumexp(lazy(ROWS) * 2.0, axis=1).sum(), gradient_of, (ROWS,))
    statements = [sum(isinstance(item, Assign) for _, item in memory.bodies[loop].items) for loop in loops]
    before = [sum(isinstance(item, Assign) for _, item in loop.body.items) for loop in loops]
    assert len(memory.arrays) == 1 and statements[-1] < before[-1] / 3
    (name,) = memory.arrays
    recalled = [item for _, item in memory.bodies[loops[-1]].items if isinstance(item, Assign) and name in item.args[0]]
    assert [item.args for item in recalled] == [(f"{name}[turn_{loops[-1].index}]",)]


def test_what_is_cheap_or_has_no_room_is_computed_again():
    cheap, _ = memory_of((lazy(ROWS) + 1.0) / (lazy(ROWS) + 1.0).sum(axis=1, keepdims=True))
    none, _ = memory_of(logsumexp(lazy(ROWS), axis=1).sum(), gradient_of, (ROWS,), room=0)
    assert not cheap.arrays and not none.bodies


def test_loops_over_other_lengths_share_nothing():
    other = np.ones((40, 9))
    both = np.exp(lazy(ROWS)).sum(axis=1) * np.exp(lazy(other)).sum(axis=1)
    memory, loops = memory_of(both)
    assert not memory.arrays and all(isinstance(loop, Loop) for loop in loops)
