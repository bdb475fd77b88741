"""Sums of products of arrays of several axes, at random: which loops stand in which is the whole difficulty.

Arrays have some of up to five axes, in any order, and are sliced, turned around or given to windows; their product is
summed over some axes, made another array of by a function, and summed again.
"""

from dataclasses import dataclass

import numpy as np

LENGTHS = (1, 2, 3, 5, 8, 9, 17, 33, 70)
FUNCTIONS = {"itself": lambda x: x, "square": np.square, "tanh": np.tanh, "softplus": lambda x: np.logaddexp(0.0, x)}


@dataclass(frozen=True)
class Tensors:
    """A scalar function of ``arrays``."""

    seed: int
    arrays: tuple[np.ndarray, ...]
    orders: tuple[tuple[int, ...], ...]  # of each, the axes of the product that its own are
    keys: tuple[tuple[slice, ...], ...]
    windowed: bool
    first: tuple[int, ...]  # the axes that are summed over before the function
    name: str

    def __call__(self, *arrays):
        product = 1.0
        ndim = 1 + max(axis for order in self.orders for axis in order)
        for array, order, key in zip(arrays, self.orders, self.keys, strict=True):
            part = array[key]
            places = sorted(order)
            part = part.transpose([order.index(axis) for axis in places])
            product = product * part[tuple(slice(None) if axis in places else None for axis in range(ndim))]
        if self.windowed:
            both = np.lib.stride_tricks.sliding_window_view(product, 2, axis=ndim - 1)
            product = both * (both[..., ::-1] + 0.5)
        found = FUNCTIONS[self.name](product.sum(self.first) if self.first else product)
        return (found * 0.25).sum()


def tensors(seed, dtype="f8", longest=LENGTHS[-1]):
    """The function of a seed."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(3, 6))
    lengths = [min(longest, int(each)) for each in rng.choice(LENGTHS, ndim)]
    while np.prod(lengths) > 40_000:
        lengths[int(np.argmax(lengths))] = 3
    lengths[-1] = max(2, lengths[-1])
    arrays, orders, keys = [], [], []
    for number in range(int(rng.integers(2, 4))):
        own = range(ndim) if number == 0 else sorted(rng.choice(ndim, int(rng.integers(1, ndim + 1)), replace=False))
        order = tuple(int(axis) for axis in rng.permutation(list(own)))
        key, shape = [], []
        for axis in order:
            kind = rng.choice(["whole", "slice", "turned", "steps"], p=[0.55, 0.25, 0.1, 0.1])
            n = lengths[axis]
            key.append({"whole": slice(None), "slice": slice(1, n + 1), "turned": slice(None, None, -1),
                        "steps": slice(0, 2 * n, 2)}[kind])  # fmt: skip
            shape.append({"slice": n + 2, "steps": 2 * n}.get(kind, n))
        arrays.append(rng.normal(size=shape).astype(dtype))
        orders.append(order)
        keys.append(tuple(key))
    first = tuple(axis for axis in range(ndim) if rng.random() < 0.4)
    windowed = bool(rng.random() < 0.4)
    name = str(rng.choice(list(FUNCTIONS)))
    return Tensors(seed, tuple(arrays), tuple(orders), tuple(keys), windowed, first, name)
