"""Extremes and products of long arrays on a CPU, whose blocks and pieces each have a part of them: beside NumPy."""

import numpy as np
import pytest
import random_axes
from scipy import special

import vecdist
from vecdist import lazy, logsumexp

BLOCK = 4096  # elements of one part


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("extreme", [np.max, np.min, np.ptp])
def test_nan_in_any_block_is_the_extreme(extreme, dtype):
    """Also where the part of a later block is a number."""
    compiled = vecdist.compile(lambda x: extreme(x))
    for length in (BLOCK - 1, BLOCK + 1, 5 * BLOCK + 3):
        x = np.random.default_rng(length).normal(size=length).astype(dtype)
        assert compiled(x) == extreme(x)
        for place in {0, length // 2, BLOCK - 2, length - 1}:
            given = x.copy()
            given[place] = np.nan
            assert np.isnan(compiled(given)), place


@pytest.mark.parametrize("kind", ["i2", "i8", "u1", "u8", "?"])
def test_extremes_of_integers_have_all_digits(kind):
    """Of which a double would have 53."""
    raw = np.random.default_rng(3).bytes(5 * BLOCK * 8 * np.dtype(kind).itemsize)
    x = np.frombuffer(raw, "u1" if kind == "?" else kind).reshape(-1, 8)
    x = x > 250 if kind == "?" else x
    for axis in (None, 0, -1):
        for extreme in (np.max, np.min):
            np.testing.assert_array_equal(extreme(lazy(x), axis=axis), extreme(x, axis=axis))


FUNCTIONS = {
    "max": (lambda x, axes: x.max(axis=axes), lambda x, axes: x.max(axis=axes)),
    "prod": (lambda x, axes: (1.0 + 0.01 * x).prod(axis=axes), lambda x, axes: (1.0 + 0.01 * x).prod(axis=axes)),
    "logsumexp": (lambda x, axes: logsumexp(x, axis=axes), lambda x, axes: special.logsumexp(x, axis=axes)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pieces_of_arrays_that_have_other_axes_in_memory(name):
    """A place is one number there, in which rows and their elements are added."""
    ours, theirs = FUNCTIONS[name]
    for shape, axes in (((2, 60), 1), ((60, 2), 0), ((3, 2, 40), (0, 2)), ((2, 40, 3), 1)):
        x = np.random.default_rng(len(shape)).normal(size=np.prod(shape))
        with random_axes.settings(random_axes.SHARED):
            found = vecdist.compile(lambda x, shape=shape, axes=axes: ours(x.reshape(shape), axes))(x)
        np.testing.assert_allclose(found, theirs(x.reshape(shape), axes), rtol=1e-12)
