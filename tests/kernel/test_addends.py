"""Parts of an output: what a sum is taken apart into adds up to it, and where rounding is meant it is none."""

from unittest import mock

import numpy as np
import pytest
from cuda import few_rows_cases
from loop_executor import run_loops
from reference import interpreted

import vecdist
from vecdist import hvp, lazy
from vecdist.kernel.addends import addends
from vecdist.passes import few_rows
from vecdist.passes.bind import bind
from vecdist.passes.column_reductions import candidates, scattered
from vecdist.runtime import pipeline
from vecdist.runtime.cuda.backend import Cuda

BIG = 12582912.0
ROWS = np.cos(np.arange(12.0).reshape(3, 4))
WEIGHTS = np.sin(np.arange(20.0).reshape(4, 5))


def parts(expression):
    """The parts of an expression whose sums are scattered."""
    roots = bind((expression.node,)).roots
    return addends(*scattered(roots, tuple(candidates(roots))))


def sums():
    """The sums of columns, and numbers beside them."""
    return (lazy(ROWS) ** 2).sum(axis=0), lazy(np.arange(4.0))


@pytest.mark.parametrize(
    ("made", "many"),
    [
        (lambda s, t: s, 1),
        (lambda s, t: 2.0 * s - t, 2),
        (lambda s, t: -(s + 1.0) / 3.0 + 2.0 * (t - 4.0), 0),  # a quotient is none of parts
        (lambda s, t: s * 0.5 - (t + 7.0), 2),
        (lambda s, t: 3.0 + s * 0.5 - t, 3),
        (lambda s, t: s - ((s * 0.6 + BIG) - BIG) * 1.6, 0),  # what is behind the nearest multiple
        (lambda s, t: t - ((s + t) - s), 0),  # what rounding left
        (lambda s, t: (s + t) - t, 0),
    ],
)
def test_parts(made, many):
    found = parts(made(*sums()))
    assert len(found) == many and len({part.node for part in found}) == many


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_reduced_arguments_beside_sums(dtype):
    """Sines of sums over rows that come first: their arguments are reduced when the sums are done."""
    x, weights, way = ROWS.astype(dtype), WEIGHTS.astype(dtype), np.cos(WEIGHTS).astype(dtype)
    found = []

    def launch(roots, derivation, shapes, errors="raise", known=None):
        bound = bind(tuple(roots))
        _, kernel = pipeline.lower(bound, derivation, "nan", Cuda)
        arrays, failed = run_loops(kernel, [np.array(leaf.array) for leaf in bound.leaves], bound.lengths)
        found.extend(zip(arrays, interpreted(roots, derivation), strict=True))
        return [array.reshape(shape) for array, shape in zip(arrays, shapes, strict=True)], failed

    with mock.patch.object(few_rows, "LONG", few_rows_cases.LONG), mock.patch.object(pipeline, "launch", launch):
        leaf = lazy(weights)
        layer = np.sin(x @ leaf)
        hvp(((vecdist.softmax(layer @ layer.T, axis=1) @ layer) ** 2).sum(), leaf, way)
    assert found
    for mine, wanted in found:
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=np.sqrt(np.finfo(dtype).eps))
