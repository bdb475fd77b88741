"""Arrays that are reduced along some axes, at random, and what is made of their elements with the results.

Arrays have one to four axes, in any order in memory; beside them are arrays that vary along some axes only.  Small
numbers stand for what is long or many in ``settings``, so that few elements are reduced in several steps.
"""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy as np

from vecdist import logsumexp
from vecdist.codegen.cuda import collapsing, flattening, launch, wide_rows
from vecdist.passes import shared_reductions, split_reductions
from vecdist.runtime.cpu.backend import Cpu

SMALL = {
    split_reductions: {
        "BUSY": 40, "WARPS": 30, "PARTIAL": 48, "LONG": 60, "FEW": 3, "PIECE": 4, "TURNS": 2, "APART": 6, "LANES": 2,
        "MOST": 6, "SEVERAL": 3,
    },
    flattening: {"MANY": 24, "AMPLE": 24},
    collapsing: {"AMPLE": 24, "SHORT": 3},
    launch: {"PLENTY": 64, "AT_ONCE": 32},
    wide_rows: {"ROWS": 4},
}


SHARED = {  # and no loop is written out
    shared_reductions: {"THREADS": 8, "BLOCK": 3, "LEAST": 4, "LONG": 2},
    Cpu: {"fixed": 1, "fixed_behind": 1},
}


@contextmanager
def settings(small=SMALL):
    """Inside, little is much on a GPU, or what is ``SHARED`` by the threads of a CPU."""
    with ExitStack() as stack:
        for module, numbers in small.items():
            stack.enter_context(mock.patch.multiple(module, **numbers))
        yield


def centred(x, y, axes):
    return x - x.mean(axis=axes, keepdims=True) * y


def scaled(x, y, axes):
    apart = x - x.mean(axis=axes, keepdims=True)
    return apart / np.sqrt((apart * apart).mean(axis=axes, keepdims=True) + 0.5) + y


def between(x, y, axes):
    low, high = x.min(axis=axes, keepdims=True), x.max(axis=axes, keepdims=True)
    return (x - low) * y / (high - low + 1.0)


FUNCTIONS = {
    "sum": lambda x, y, axes: (x * y).sum(axis=axes),
    "extremes": lambda x, y, axes: (x * y).max(axis=axes) - 0.5 * (x + y).min(axis=axes),
    "product": lambda x, y, axes: (1.0 + 0.01 * x * y).prod(axis=axes),
    "shares": lambda x, y, axes: np.exp(x - logsumexp(x * y, axis=axes, keepdims=True)),
    "sums of extremes": lambda x, y, axes: (x.max(axis=axes, keepdims=True) * y + x).sum(),
    "tanh": lambda x, y, axes: np.tanh(x * y).sum(axis=axes),
    "largest squares": lambda x, y, axes: (x * x).max(axis=axes) + np.abs(y).max(),
    "centred": centred, "scaled": scaled, "between": between,
}  # fmt: skip


@dataclass(frozen=True)
class Reduction:
    """A function of two arrays."""

    name: str
    axes: tuple[int, ...]
    arrays: tuple[np.ndarray, np.ndarray]
    exact: bool  # whether elements are of any kind, beside which there are no derivatives to be judged
    whole: bool  # whether results are added up, with weights
    shape: tuple[int, ...]  # of the first array, which may be given as one long row of numbers

    def __call__(self, x, y):
        found = FUNCTIONS[self.name](x if x.shape == self.shape else x.reshape(self.shape), y, self.axes)
        return (found * (1.5 - np.tanh(found))).sum() if self.whole else found


def reduction(seed, dtype="f8", most=400, longest=60, flat=0.2):
    """The reduction of a seed, of at most so many elements, whose array is ``flat`` in a share of all cases."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 5))
    lengths = [int(each) for each in np.exp(rng.uniform(0.0, np.log(longest), ndim))]
    while np.prod(lengths) > most:
        lengths[int(np.argmax(lengths))] //= 2
    order = rng.permutation(ndim) if rng.random() < 0.3 else np.arange(ndim)
    x = rng.normal(size=[lengths[axis] for axis in order]).transpose(np.argsort(order))
    y = rng.normal(size=[n if rng.random() < 0.5 else 1 for n in lengths])
    name = str(rng.choice(list(FUNCTIONS)))
    exact = name in {"extremes", "largest squares", "sum"} and rng.random() < 0.4
    if exact:
        x.flat[rng.integers(0, x.size, 2)] = rng.choice([np.nan, np.inf, -np.inf, 0.0], 2)
    count = int(rng.integers(1, ndim + 1))
    axes = tuple(sorted(int(axis) for axis in rng.choice(ndim, count, replace=False)))
    whole = not exact and bool(rng.random() < 0.5)
    given = x.ravel() if rng.random() < flat else x
    return Reduction(name, axes, (given.astype(dtype), y.astype(dtype)), exact, whole, x.shape)
