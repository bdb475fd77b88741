"""What one loop of a row computes, a later one finds in local memory."""

import numpy as np

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda.value_reuse import reused
from vecdist.kernel.code import Set
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Assign
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values

ROWS = np.ones((40, 6))


def reuse_of(expression, derivation=values, wrt=(), room=8):
    """What the loops along the rows of a kernel keep for each other, with these loops."""
    _, kernel = lower(bind((expression.node, *(lazy(array).node for array in wrt))), derivation, "nan")
    (loop,) = (loop for _, loop in kernel.nests() if loop.body.every_loop())
    dims = {inner.dim: room for inner in loop.body.every_loop()}
    return reused(loop.body, dims), [inner for level in loop.body.levels for inner in loop.body.loops(level)]


def test_exponentials_are_computed_once():
    reuse, loops = reuse_of(logsumexp(lazy(ROWS) * 2.0, axis=1).sum(), gradient_of, (ROWS,))
    statements = [sum(isinstance(item, Assign) for item in reuse.bodies[loop]) for loop in loops]
    before = [sum(isinstance(item, Assign) for _, item in loop.body.items) for loop in loops]
    assert len(reuse.arrays) == 1 and statements[-1] < before[-1] / 3
    (name,) = reuse.arrays
    recalled = [item.value for item in reuse.bodies[loops[-1]] if isinstance(item, Set)]
    assert recalled == [Name(name)[Name(f"turn_{loops[-1].index}")]]
    (first,) = {made for _, made in reuse.arrays.values()}
    kept = [item.target.array for item in reuse.bodies[first] if isinstance(item, Set)]
    assert kept == [Name(name)]


def test_what_is_cheap_or_has_no_room_is_computed_again():
    cheap, _ = reuse_of((lazy(ROWS) + 1.0) / (lazy(ROWS) + 1.0).sum(axis=1, keepdims=True))
    none, _ = reuse_of(logsumexp(lazy(ROWS), axis=1).sum(), gradient_of, (ROWS,), room=0)
    assert not cheap.arrays and not none.bodies


def test_loops_over_other_lengths_share_nothing():
    other = np.ones((40, 9))
    both = np.exp(lazy(ROWS)).sum(axis=1) * np.exp(lazy(other)).sum(axis=1)
    reuse, loops = reuse_of(both)
    assert not reuse.arrays and all(isinstance(loop, Loop) for loop in loops)
