"""Layers of a net for chains: what loops leave to each other lies along the rows of the data.  For the simulator."""

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda import data_layout, deep_lanes, spread_rows
from vecdist.passes import hoist

BENT = {
    "tanh": np.tanh, "cosine": np.cos, "bell": lambda h: np.exp(-(h**2)), "root": lambda h: np.sqrt(1.0 + h**2),
}  # fmt: skip
ENDS = {  # what is made of the last layer, and of the data
    "squares": lambda last, y: -((last.sum(axis=-1) - y) ** 2).sum(),
    "classes": lambda last, y: last[..., 0].sum() - logsumexp(last, axis=-1).sum(),
    "rows": lambda last, y: np.log(1.0 + (last**2).sum(axis=-2)).sum() + (last * y[:, None]).sum(),
}


def case(seed):
    """What is computed, in which arrays it is derived, and a number of lanes."""
    rng = np.random.default_rng([20261130, seed])
    dtype = ("f8", "f4")[seed % 2]

    def drawn(*shape):
        return rng.normal(0.0, 0.4, shape).astype(dtype)

    chains, rows, inputs = int(rng.choice([1, 2, 2])), int(rng.choice([65, 70])), int(rng.choice([1, 2, 3]))
    widths = [int(each) for each in rng.choice([5, 9], rng.integers(1, 3))]
    x, y = drawn(rows, inputs), drawn(rows)
    weights = [drawn(chains, before, after) for before, after in zip([inputs, *widths], widths, strict=False)]
    levels = [drawn(chains, 1, width) for width in widths]
    bent, end = BENT[str(rng.choice([*BENT]))], ENDS[str(rng.choice([*ENDS]))]
    values = x
    for weight, level in zip(weights, levels, strict=True):
        values = bent(values @ lazy(weight) + lazy(level))
    return ((end(values, y),), (*weights, *levels)), 1, 1 << int(rng.integers(6))


def cases(seeds=range(12)):
    return {f"layers {seed}": case(seed) for seed in seeds}


@contextmanager
def settings(seed):
    """Little is worth memory; rows are many, and lanes go on together, in most cases."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(hoist, "WORK", 1))
        stack.enter_context(mock.patch.object(data_layout, "SECTOR", 0))
        for module in (spread_rows, deep_lanes) if seed % 3 else ():
            stack.enter_context(mock.patch.object(module, "BUSY", 1))
        if seed % 3 == 2:  # whatever it costs
            stack.enter_context(mock.patch.object(deep_lanes, "BETTER", 0))
        yield
