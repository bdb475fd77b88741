"""Which reductions the threads of a CPU share, and in how many pieces."""

import numpy as np
import pytest

from vecdist import lazy, logsumexp
from vecdist.kernel.ir import Loop
from vecdist.passes.bind import bind
from vecdist.passes.shared_reductions import THREADS
from vecdist.runtime.cpu.backend import Cpu
from vecdist.runtime.pipeline import lower, values


def pieces(function, shape):
    """Into how many pieces axes of a large array are cut, each time that it is gone through."""
    bound = bind((function(lazy(np.broadcast_to(np.float32(1.0), shape))).node,))
    kernel = lower(bound, values, "nan", Cpu)[1]
    loops = [item for _, nest in kernel.nests() for item in nest.body.walk() if isinstance(item, Loop)]
    return [loop.step for loop in loops if loop.step > 1]


@pytest.mark.parametrize(
    ("function", "shape", "found"),
    [
        (lambda x: x.max(axis=0), (40_000, 100), [THREADS]),
        (lambda x: x.min(axis=1), (2, 2_000_000), [THREADS // 2]),
        (lambda x: x.prod(axis=(0, 2)), (30, 5, 20_000), [8]),
        (lambda x: x.max(axis=0), (40_000, 20_000), []),  # columns enough for all threads
        (lambda x: x.max(axis=1), (100, 40_000), []),
        (lambda x: x.max(axis=0), (400, 100), []),  # short
        (lambda x: x.max(), (2, 2_000_000), []),  # of which blocks have parts
        (lambda x: x.sum(axis=0), (40_000, 100), []),  # scattered
        (lambda x: x.sum(axis=1), (2, 2_000_000), []),
        (lambda x: logsumexp(x, axis=0), (40_000, 100), [THREADS]),  # whose sum is scattered
        (lambda x: logsumexp(x, axis=1), (2, 2_000_000), [THREADS // 2] * 2),
        (lambda x: x - x.max(axis=0), (4000, 1000), []),  # a thread finds its columns in the cache again
        (lambda x: x - x.max(axis=0), (40_000, 100), [THREADS]),
    ],
)
def test_few_results_of_many_elements_are_shared(function, shape, found):
    assert pieces(function, shape) == found


def test_what_is_kept_is_found_behind_results_in_pieces():
    """The logarithm of a sum, one for each column, which elements would find again."""
    x = lazy(np.broadcast_to(np.float32(1.0), (40_000, 100)))
    bound = bind((np.exp(x - logsumexp(x, axis=0)).node,))
    *_, (_, elements) = lower(bound, values, "nan", Cpu)[1].nests()
    (columns,) = elements.body.every_loop()
    assert len(columns.body.items) < 45, "an exponential alone"
