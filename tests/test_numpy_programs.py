"""Random compositions of NumPy's functions of arrays: values, and derivatives of two orders."""

import numpy as np
import pytest
from interpreting import by_interpreter
from numpy.random import Generator

from vecdist import hvp, lazy, value_and_grad


def along(x, axis, key):
    return x[tuple(key if place == axis else slice(None) for place in range(x.ndim))]


def padded(x, axis, rng: Generator):
    widths = [(1, 2) if place == axis else (0, 0) for place in range(x.ndim)]
    return np.pad(x, widths, str(rng.choice(["constant", "edge", "reflect", "wrap"])))


STEPS = [  # of an array, an axis of it, and what is chosen at random
    lambda x, axis, rng: np.flip(x, axis), lambda x, axis, rng: np.roll(x, int(rng.integers(-3, 4)), axis),
    lambda x, axis, rng: np.concatenate([x, x * 0.5, along(x, axis, slice(1))], axis), padded,
    lambda x, axis, rng: np.stack([x, np.sin(x)], axis) if x.ndim < 3 else x.sum(axis),
    lambda x, axis, rng: np.repeat(x, 2, axis) if x.size < 40 else along(x, axis, slice(None, None, 2)),
    lambda x, axis, rng: np.diff(x, 1, axis) if x.shape[axis] > 1 else np.tanh(x),
    lambda x, axis, rng: np.tril(x) if x.ndim > 1 else np.diag(x), lambda x, axis, rng: np.cumsum(x, axis),
    lambda x, axis, rng: np.diagonal(x) * 1.5 if x.ndim > 1 else x * x.sum(),
    lambda x, axis, rng: x - np.mean(x, axis, keepdims=True), lambda x, axis, rng: np.swapaxes(x.reshape(-1, 1), 0, -1),
    lambda x, axis, rng: np.tanh(x) * x, lambda x, axis, rng: x * np.var(x, axis, keepdims=True),
    lambda x, axis, rng: np.select([x > 0.3, x < -0.3], [x**2, np.arctan2(x, 1.5)], 0.5 * x),
    lambda x, axis, rng: np.sort(x, axis), lambda x, axis, rng: x - np.quantile(x, 0.3, axis, keepdims=True),
    lambda x, axis, rng: np.gradient(x, axis=axis) if x.shape[axis] > 1 else np.sinc(x),
    lambda x, axis, rng: np.insert(x, [0, x.shape[axis]], 0.25 * along(x, axis, slice(1)), axis),
    lambda x, axis, rng: np.take_along_axis(x, np.argsort(rng.random(x.shape), axis), axis),
]


def program(seed, x, y):
    rng = np.random.default_rng(seed)
    for _ in range(int(rng.integers(2, 6))):
        x = STEPS[int(rng.integers(len(STEPS)))](x, int(rng.integers(x.ndim)), rng)
        x = np.concatenate([x, y * 2]) if x.ndim == 1 and rng.random() < 0.3 else x
    return (x * np.cos(np.arange(x.size)).reshape(x.shape)).sum()


def check(seed):
    rng = np.random.default_rng((1, seed))
    x, y = rng.normal(size=rng.integers(1, 4, size=int(rng.integers(1, 4)))), rng.normal(size=2)
    direction, step = rng.normal(size=x.shape), 1e-6

    def difference(function):
        return (function(x + step * direction) - function(x - step * direction)) / (2 * step)

    def slopes(x):
        with by_interpreter():
            return value_and_grad(program(seed, lazy(x), y), wrt=x)[1]

    value, slope = value_and_grad(program(seed, lazy(x), lazy(y)), wrt=x)
    np.testing.assert_allclose(value, program(seed, x, y), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(slope, slopes(x), rtol=1e-9, atol=1e-10)
    by_steps = difference(lambda x: program(seed, x, y))
    np.testing.assert_allclose((slope * direction).sum(), by_steps, rtol=1e-4, atol=1e-6)
    with by_interpreter():
        second = hvp(program(seed, lazy(x), lazy(y)), x, direction)
    np.testing.assert_allclose(second, difference(slopes), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_generated_programs(uncompiled, seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 45))
def test_compiled_programs(seed):
    check(seed)
