"""Kernels of every shape that code is generated for, small enough that their source can be read."""

import numpy as np

from vecdist import lazy, logpdf
from vecdist.distributions import Normal
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values

X = np.arange(1.0, 13.0).reshape(3, 4)
SINGLE = X[0].astype("f4")
ROW, MU, SIGMA, ACROSS, COUNTS = X[0].copy(), np.array(0.5), np.array(2.0), X.T, np.arange(4)

CASES = {
    "elementwise_float32": ((lazy(SINGLE) * 2.0 + np.sqrt(lazy(SINGLE)),), ()),
    "normal_sum_with_gradient": ((logpdf(Normal(MU, SIGMA), ROW).sum(),), (MU, SIGMA)),
    "row_sums": (((lazy(X) * ROW).sum(axis=1),), ()),
    "sum_used_again": ((lazy(ROW) - lazy(ROW).mean(),), ()),
    "strided_slice_with_gradient": (((lazy(ACROSS)[1:] * lazy(ACROSS)[:-1]).sum(),), (ACROSS,)),
    "running_sum_with_gradient": (((lazy(ROW).cumsum() * ROW).sum(),), (ROW,)),
    "integers_and_booleans": ((np.where(lazy(COUNTS) < 2, lazy(COUNTS) * 3, -1).sum(), lazy(COUNTS) < 2), ()),
}


def kernel_of(name):
    """The loop nests of a case: its results, with the gradient where there are arrays to take it in."""
    results, wrt = CASES[name]
    roots = (*(result.node for result in results), *(leaf(array) for array in wrt))
    _, kernel = lower(bind(roots), gradient_of if wrt else values, "raise")
    return kernel
