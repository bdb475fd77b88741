"""Computed values that are compared with elements picked from them, at random: extremes, places, ranks.

A value that is computed again elsewhere with other last bits is not found there.
"""

import numpy as np
from random_array_programs import Program, Step

LENGTHS = (1, 2, 3, 5, 8, 17, 33, 40)
VALUES = {
    "mean": lambda x, y, z: x.mean(0) * 1.3, "sum of products": lambda x, y, z: (x * y).sum(-1) / 3.1,
    "product": lambda x, y, z: x @ np.sin(y[0, 0]) * 0.7, "contracted": lambda x, y, z: x * y + z * x,
    "one contraction": lambda x, y, z: x * y + z, "exp": lambda x, y, z: np.exp(x * 0.3) * y + z,
    "centred": lambda x, y, z: x - x.mean(0, keepdims=True) * y, "cumsum": lambda x, y, z: np.cumsum(x * y, axis=1),
    "softmax": lambda x, y, z: np.exp(x * y) / np.exp(x * y).sum(-1, keepdims=True), "std": lambda x, y, z: x.std(0),
    "polynomial": lambda x, y, z: (x * y) * (x * y) + z * (x * y) + x,
}  # fmt: skip
PICKED = {
    "max": lambda v: np.max(v, axis=0), "min": lambda v: np.min(v, axis=-1), "largest of all": np.max,
    "argmax": lambda v: np.argmax(v, axis=-1) * 1.0, "argmin": lambda v: np.argmin(v, axis=0) * 1.0,
    "cummax": lambda v: np.maximum.accumulate(v, axis=0), "sort": lambda v: np.sort(v, axis=-1),
    "rank": lambda v: np.searchsorted(np.sort(v.ravel()), v) * v, "median": lambda v: np.median(v, axis=0),
    "at largest": lambda v: np.take_along_axis(v, np.argmax(v, axis=-1)[..., None], axis=-1),
    "shifted": lambda v: np.log(np.exp(v - np.max(v, axis=-1, keepdims=True)).sum(-1)),
    "below median": lambda v: (v <= np.median(v, axis=0)) * v, "above": lambda v: (v >= np.quantile(v, 0.5)) * v,
    "largest alone": lambda v: (v == v.max(axis=-1, keepdims=True)) * v * v,
}


def program(seed, dtype="f8"):
    """What was picked from a value of three arrays; beside it, or not, a product that is then not contracted."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.choice(LENGTHS, 3))
    if rng.random() < 0.2:
        shape = (*rng.choice([2, 3], 2), int(rng.choice([300, 1500])))
    arrays = tuple(rng.normal(size=shape).astype(dtype) for _ in range(3))
    value, picked = str(rng.choice(list(VALUES))), str(rng.choice(list(PICKED)))
    steps = [Step(value, (0, 1, 2), VALUES[value], 1.0), Step(picked, (3,), PICKED[picked], 1.0)]
    if rng.random() < 0.5:
        steps += [Step("multiply", (0, 1), np.multiply, 0.5), Step("tanh", (3,), np.tanh, 1.0)]
    return Program(arrays, tuple(steps))
