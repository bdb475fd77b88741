"""Steps that pick of what they have computed, and what is derived of them afterwards: both find the same element."""

import numpy as np
import pytest

from vecdist import lazy, scan, value_and_grad

VALUES = (
    lambda c, x, a: a * c[:, None] + x * a, lambda c, x, a: np.exp(a * 0.1) * c[:, None] + x,
    lambda c, x, a: (a @ c)[:, None] * x + a * c, lambda c, x, a: np.tanh(a * c + x) * c[:, None] + a,
)  # fmt: skip


def in_turn(step, carry, sequence):
    """``scan`` by NumPy."""
    found = []
    for element in sequence:
        carry, out = step(carry, element)
        found.append(out)
    return carry, np.stack(found)


def total(scanned, value, weights):
    """What the last carry and the places of all steps come to."""

    def of(table, start, sequence):
        def step(carry, x):
            v = value(carry, x, table)
            largest = (v == v.max(axis=1, keepdims=True)) * v
            return np.tanh(np.max(v, axis=0)) + 0.1 * carry + largest.sum(1) * 0.01, np.argmax(v, axis=0) * 1.0

        last, places = scanned(step, start, sequence)
        return (places * weights).sum() + (last * np.arange(1, len(last.shape) + 1)).sum()

    return of


@pytest.mark.parametrize("size", [3, 8])
@pytest.mark.parametrize("kind", range(4))
def test_extremes_in_steps(kind, size):
    rng = np.random.default_rng(kind)
    arrays = [rng.normal(size=shape) for shape in ((size, size), size, (10, size))]
    weights = rng.normal(size=(10, size))
    by_numpy, ways = total(in_turn, VALUES[kind], weights), [rng.normal(size=array.shape) for array in arrays]
    given = [lazy(array) for array in arrays]
    value, slopes = value_and_grad(total(scan, VALUES[kind], weights)(*given), given)
    assert value == pytest.approx(by_numpy(*arrays), rel=1e-9)
    after, before = (
        by_numpy(*[array + by * way for array, way in zip(arrays, ways, strict=True)]) for by in (1e-6, -1e-6)
    )
    found = sum((slope * way).sum() for slope, way in zip(slopes, ways, strict=True))
    assert found == pytest.approx((after - before) / 2e-6, rel=1e-4, abs=1e-4)
