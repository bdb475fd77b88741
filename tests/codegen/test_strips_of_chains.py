"""Chains that blocks take strips of: all loops over them go with these, or none."""

import numpy as np
import pytest

from vecdist import LogDensity
from vecdist.kernel.ir import Loop
from vecdist.parameters import real
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower

SHAPE, CHAINS = (7, 17, 16), 70


def joined(table):
    """Rows of two pieces, each of which all chains have."""
    weights = np.cos(np.arange(2.0 * np.prod(SHAPE)))
    return (np.concatenate([np.tanh(table).ravel(), table.ravel()]) * weights).sum()


def kernel_of(density):
    points = np.zeros((CHAINS, density.dimension))
    evaluation = density._evaluation("gradient")
    roots, _ = evaluation._traced(points)
    return lower(bind(tuple(roots)), evaluation.derivation, "nan", Cuda)[1]


def deep(kernel):
    """The lengths of loops in loops of rows."""
    inner = [loop for _, rows in kernel.nests() for loop in rows.body.every_loop()]
    return {each.dim for loop in inner for each in loop.body.walk() if isinstance(each, Loop)}


@pytest.mark.parametrize("beside", [False, True])
def test_strips(beside):
    """Sums of all elements of a chain are loops over three axes, of which that over chains is the innermost."""
    kernel = kernel_of(LogDensity(lambda a: joined(a) + (a.sum() if beside else 0.0), a=real(SHAPE)))
    cut = {dim for dim, _ in kernel.strips}
    assert cut.isdisjoint(deep(kernel))
    assert bool(cut) is not beside
