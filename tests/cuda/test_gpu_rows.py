"""Few long rows on a GPU, of random shapes: chains over the same data, beside the CPU in double precision."""

import numpy as np
import pytest

from vecdist import compile as compile_function
from vecdist import logpdf, logsumexp
from vecdist.distributions import Gamma, Normal, Poisson

pytestmark = pytest.mark.cuda
CHAINS = (1, 2, 3, 4, 8, 13, 16, 33, 64, 65, 100, 128, 129, 300)
ROWS = (1, 31, 257, 1023, 1024, 1025, 5000, 70_001)


def line(rng, chains, n):
    """A straight line, with a parameter of each element."""
    given = [0.3 * rng.normal(size=(chains, size)) for size in (1, 1, 1, n)]

    def density(a, b, s, own, x, y):
        return logpdf(Normal(a + b * x + own, np.exp(s)), y).sum() - 0.5 * (own**2).sum()

    return density, given, [rng.normal(size=n), rng.normal(size=n)]


def each(rng, chains, n):
    """A value of each chain, weighed."""
    given = [0.3 * rng.normal(size=(chains, 1)) for _ in range(2)]

    def density(e, s, y, weight):
        return (logpdf(Gamma(np.exp(s), np.exp(e)), y).sum(axis=1) * weight).sum()

    return density, given, [0.05 + rng.gamma(2.0, size=n), rng.normal(size=chains)]


def mixture(rng, chains, n):
    count = int(rng.integers(1, 7))
    given = [0.5 * rng.normal(size=(chains, 1, count)) for _ in range(3)]

    def density(w, e, s, y):
        weights = w - logsumexp(w, axis=-1, keepdims=True)
        return logsumexp(weights + logpdf(Normal(e, np.exp(s)), y), axis=-1).sum()

    return density, given, [rng.normal(size=(n, 1))]


def table(rng, chains, n):
    columns = int(rng.choice([1, 2, 7, 40, 90]))
    given = [0.3 * rng.normal(size=(chains, 1, columns)) for _ in range(2)]

    def density(e, s, y):
        return logpdf(Normal(e, np.exp(s)), y).sum()

    return density, given, [rng.normal(size=(max(1, n // columns), columns))]


def groups(rng, chains, n):
    """Effects of groups that cross, few and many of them."""
    counts = [int(10 ** rng.uniform(0, 4)) for _ in range(2)]
    given = [0.3 * rng.normal(size=(chains, count)) for count in counts]
    data = [rng.integers(0, count, n) for count in counts]

    def density(a, b, first, second, y):
        prior = -0.5 * (a**2).sum() - 0.5 * (b**2).sum()
        return logpdf(Poisson(np.exp(a[..., first] + b[..., second])), y).sum() + prior

    return density, given, [*data, rng.poisson(2.0, n)]


def design(rng, chains, n):
    columns = int(rng.choice([1, 3, 12, 64, 200, 1100]))
    n = min(n, 10_000_000 // columns)
    given = [rng.normal(size=(chains, columns)) / columns, rng.normal(size=(chains, 1))]

    def density(beta, s, x, y):
        return logpdf(Normal(beta @ x.T, np.exp(s)), y).sum()

    return density, given, [rng.normal(size=(n, columns)), rng.normal(size=n)]


def single(rng, chains, n):
    """One chain over rows of many columns."""
    columns = int(rng.choice([100, 700, 1500, 5000]))

    def density(beta, x, y):
        return logpdf(Normal(x @ beta, 1.5), y).sum()

    n = min(n, 10_000_000 // columns)
    return density, [rng.normal(size=columns) / columns], [rng.normal(size=(n, columns)), rng.normal(size=n)]


KINDS = (line, each, mixture, table, groups, design, single)


@pytest.mark.parametrize("seed", range(84))
def test_random_rows(seed):
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng([20261123, seed])
    kind, chains, n = KINDS[seed % len(KINDS)], int(rng.choice(CHAINS)), int(rng.choice(ROWS))
    n = min(n, max(1, 3_000_000 // chains))
    density, given, data = kind(rng, chains, n)
    dtype = np.dtype(rng.choice(["f4", "f8"]))
    arrays = [array.astype(dtype) if array.dtype.kind == "f" else array for array in (*given, *data)]
    wide = [array.astype("f8") if array.dtype.kind == "f" else array for array in arrays]
    wrt = tuple(range(len(given)))
    wanted, slopes = compile_function(density).value_and_grad(*wide, wrt=wrt)
    function = compile_function(density)
    for _ in range(2):  # counters and sums are left as they were found
        value, found = function.value_and_grad(*map(cupy.asarray, arrays), wrt=wrt)
    tolerance = 2e-5 if dtype == np.float32 else 1e-11
    for mine, truth in zip((value, *found), (wanted, *slopes), strict=True):
        largest = max(1.0, float(np.max(np.abs(truth), initial=0.0)))
        np.testing.assert_allclose(mine.get(), truth, rtol=tolerance, atol=tolerance * largest)
