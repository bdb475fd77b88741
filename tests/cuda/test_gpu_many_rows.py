"""Many rows that are reduced on a GPU, of random shapes and with extreme elements, beside NumPy in double precision."""

import numpy as np
import pytest
import scipy.special

from vecdist import compile as compile_function
from vecdist import logsumexp, softmax

pytestmark = pytest.mark.cuda
SHAPES = (
    (2048, 4096), (3000, 1500), (4096, 1000), (9000, 500), (20_000, 200), (33_000, 65), (70_000, 100), (300_000, 17),
)  # fmt: skip


def standardised(x):
    apart = x - x.mean(axis=-1)[:, None]
    return apart / np.sqrt((apart * apart).mean(axis=-1) + 1e-5)[:, None]


FUNCTIONS = {
    "softmax": (lambda x: softmax(x, axis=-1), lambda x: scipy.special.softmax(x, axis=-1)),
    "logsumexp": (lambda x: logsumexp(x, axis=-1), lambda x: scipy.special.logsumexp(x, axis=-1)),
    "standardised": (standardised, standardised),
    "extremes": (lambda x: x.max(axis=-1) * 0.5 + x.min(axis=-1), lambda x: x.max(axis=-1) * 0.5 + x.min(axis=-1)),
    "sum of squares": (lambda x: (x * x).sum(axis=-1), lambda x: (x * x).sum(axis=-1)),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_random_rows(name, dtype):
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng([20261130, *name.encode()])
    ours, theirs = FUNCTIONS[name]
    function = compile_function(ours)
    for rows, columns in SHAPES:
        shape = rows + int(rng.integers(0, 9)), columns - int(rng.integers(0, 9))
        x = (rng.normal(size=shape) * 10 ** rng.uniform(-2, 1.5, (shape[0], 1))).astype(dtype)
        wanted, tolerance = theirs(x.astype("f8")), 3e-5 if dtype == "f4" else 1e-11
        found = function(cupy.asarray(x)).get()
        scale = np.maximum(1.0, np.abs(wanted))
        assert np.max(np.abs(found - wanted) / scale) < tolerance, shape


def test_gradients_are_shares():
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(20261130)
    function = compile_function(lambda x, weights: (logsumexp(x, axis=-1) * weights).sum())
    for shape in SHAPES:
        x, weights = (3 * rng.normal(size=shape)).astype("f4"), rng.normal(size=shape[0]).astype("f4")
        _, (found,) = function.value_and_grad(cupy.asarray(x), cupy.asarray(weights), wrt=(0,))
        wanted = scipy.special.softmax(x.astype("f8"), axis=-1) * weights[:, None]
        np.testing.assert_allclose(found.get(), wanted, rtol=3e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_of_extreme_elements(dtype):
    """Of infinities, NaN and numbers whose exponentials are beyond the format, rows are as those on the CPU."""
    cupy = pytest.importorskip("cupy")
    largest = float(np.finfo(dtype).max)
    x = np.random.default_rng(7).choice([0.0, -1e3, 1e3, -np.inf, largest, -largest, 1.0], (5000, 90)).astype(dtype)
    x[::7, 3], x[::11, 40], x[::13] = np.inf, np.nan, -np.inf
    tolerance = 1e-5 if dtype == "f4" else 1e-12
    for ours, _ in (FUNCTIONS[name] for name in ("softmax", "logsumexp", "extremes")):
        function = compile_function(ours)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(function(cupy.asarray(x)).get(), function(x), rtol=tolerance)
