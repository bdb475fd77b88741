"""Random reductions along some axes on a GPU, of a few elements in many steps and of millions, beside NumPy."""

import contextlib
import warnings

import numpy as np
import pytest
import random_axes
from interpreting import by_interpreter

import vecdist
from vecdist import lazy, value_and_grad

pytestmark = pytest.mark.cuda


def judged(given, found, dtype):
    """Compare with the interpreter, which adds up in float64."""
    wide = [lazy(array.astype("f8")) for array in given.arrays]
    with by_interpreter(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.asarray(given(*wide).compute())
    tolerance = 1e-10 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(found.get(), wanted, rtol=tolerance, atol=tolerance * max(1.0, np.sqrt(wanted.size)))


@pytest.mark.parametrize("part", range(12))
def test_little_is_much(part):
    """Kernels of small arrays as those of large ones are."""
    import cupy

    for seed in range(1000 + part, 1120, 12):
        dtype = "f4" if seed % 4 == 3 else "f8"
        given = random_axes.reduction(seed, dtype)
        with random_axes.settings():
            found = vecdist.compile(given)(*map(cupy.asarray, given.arrays))
        judged(given, cupy.asarray(found), dtype)


@pytest.mark.parametrize("part", range(12))
def test_many_elements(part):
    import cupy

    for seed in range(2000 + part, 2048, 12):
        dtype = "f4" if seed % 4 == 3 else "f8"
        given = random_axes.reduction(seed, dtype, 3_000_000, 200_000)
        found = vecdist.compile(given)(*map(cupy.asarray, given.arrays))
        judged(given, cupy.asarray(found), dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_programs_of_several_lengths(dtype):
    """What is divided by numbers that a program knows is one for each."""
    import cupy

    functions = [
        lambda x: x - x[:1],
        lambda x: x - x[:, :1],
        lambda x: x - x.max(axis=0),
        lambda x: x.max(axis=0, keepdims=True) * x,
    ]
    for function in functions:
        compiled = vecdist.compile(function)
        for shape in ((1100, 1000), (1000, 1100), (3, 400_000), (400_000, 3), (5000, 230), (7, 5), (1, 1_200_000)):
            x = np.random.default_rng(shape[0]).normal(size=shape).astype(dtype)
            assert np.array_equal(compiled(cupy.asarray(x)).get(), function(x)), shape


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_gradients_of_columns(dtype):
    import cupy

    def density(x, scale):
        apart = x - x.mean(axis=0)
        return (apart * apart / (scale + (apart * apart).mean(axis=0))).sum() + x.max(axis=0).sum()

    rng = np.random.default_rng(3)
    for rows, columns in ((30_000, 40), (300, 5000), (200_000, 7)):
        x, scale = rng.normal(size=(rows, columns)).astype(dtype), rng.uniform(1, 2, columns).astype(dtype)
        value, slopes = vecdist.compile(density).value_and_grad(cupy.asarray(x), cupy.asarray(scale))
        wide = [lazy(array.astype("f8")) for array in (x, scale)]
        with by_interpreter(), contextlib.suppress(RuntimeWarning):
            truth, wanted = value_and_grad(density(*wide), wide)
        rtol = 1e-9 if dtype == "f8" else 2e-4
        np.testing.assert_allclose(float(value), truth, rtol=rtol)
        for mine, other in zip(slopes, wanted, strict=True):
            np.testing.assert_allclose(mine.get(), other, rtol=rtol, atol=rtol * np.abs(other).max())
