"""A few expressions that between them use everything a kernel may hold, for arrays of any length and dtype."""

import numpy as np

from vecdist import lazy, logpdf
from vecdist.distributions import Gamma, Normal

LENGTHS = (0, 1, 7, 255, 256, 257, 4095, 4096, 4097, 10_000)


def numbers(n, dtype="f8", low=-2, high=3):
    """Small whole numbers: exact in every dtype, whatever the order of a sum."""
    return np.random.default_rng(n).integers(low, high + 1, n).astype(dtype)


def matrix(n, dtype="f8", rows=5):
    """About ``n`` small whole numbers in rows."""
    return numbers(rows * -(-n // rows), dtype).reshape(rows, -1)


# Results of whole numbers: exact, and the same to the last bit everywhere.
EXACT = {
    "elementwise": lambda x: lazy(x) * 3 - np.abs(lazy(x)),
    "choice": lambda x: np.where(lazy(x) < 1, lazy(x) + 1, -lazy(x)),
    "sum": lambda x: (lazy(x) * 2 + 1).sum(),
    "several sums": lambda x: lazy(x).sum() * 2 + np.square(lazy(x)).sum(),
    "sum used again": lambda x: lazy(x) - lazy(x).sum(),
    "strided": lambda x: np.repeat(x, 2)[::2] * lazy(x),
    "slices": lambda x: lazy(x)[1:] - lazy(x)[:-1],
    "reversed": lambda x: (lazy(x)[::-1] * lazy(x)).sum(),
}
ROWS = {
    "row sums": lambda x: lazy(x).sum(axis=1),
    "column sums": lambda x: lazy(x).sum(axis=0),
    "row sum used again": lambda x: lazy(x) - lazy(x).sum(axis=1, keepdims=True),
    "column sums used again": lambda x: (lazy(x) - lazy(x).sum(axis=0)).sum(),
    "transposed": lambda x: lazy(x.T) * 2 + 1,
}


def positive(n, dtype="f8"):
    """Numbers between 0.1 and 9.9."""
    return np.random.default_rng(n + 1).uniform(0.1, 9.9, n).astype(dtype)


# Scalars of real numbers, with the arrays that gradients are taken in.
MODELS = {
    "Normal": lambda x, a, b: (logpdf(Normal(a, b), x).sum(), (a, b)),
    "Gamma": lambda x, a, b: (logpdf(Gamma(a, b), x).sum(), (x, a)),
    "softmax": lambda x, a, b: ((x * a - np.log(np.exp(lazy(x) * a).sum())).sum(), (x,)),
}
