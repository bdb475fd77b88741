"""On a real GPU: groups that never change, rows in tiles, very many elements, more sums than threads have room for."""

import numpy as np
import pytest

import vecdist
from vecdist import data, explain, lazy, logpdf, logsumexp, mixture, softmax, value_and_grad, value_and_partials
from vecdist.distributions import Gamma, Normal, Weibull

pytestmark = pytest.mark.cuda
RNG = np.random.default_rng(20241122)


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def both(cupy, build, *given):
    """Value and gradients by both backends, in host memory."""
    found = value_and_grad(*build(*map(cupy.asarray, given)))
    return [
        [np.asarray(array.get() if hasattr(array, "get") else array) for array in (value, *slopes)]
        for value, slopes in (found, value_and_grad(*build(*given)))
    ]


def grouped(mean, spread, y, group):
    density = logpdf(Normal(lazy(mean)[group], lazy(spread)), y).sum() + logpdf(Normal(0.0, 1.0), lazy(mean)).sum()
    return density, (mean, spread)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("rows", "groups"), [(1, 3), (3000, 7), (200_000, 1000), (1_000_000, 3)])
def test_sorted_groups(cupy, rows, groups, dtype):
    mean, spread, y = RNG.normal(size=groups).astype(dtype), np.array(1.5, dtype), RNG.normal(size=rows).astype(dtype)
    group = RNG.integers(0, groups, rows)
    for marked in (lambda mean, spread, y, group: grouped(mean, spread, y, data(group)),
                   lambda mean, spread, y, group: grouped(mean, spread, data(y), data(group))):
        found, wanted = both(cupy, marked, mean, spread, y, group)
        for mine, reference in zip(found, wanted, strict=True):
            rtol = 1e-11 if dtype == "f8" else 2e-5
            np.testing.assert_allclose(mine, reference, rtol=rtol, atol=rtol * np.abs(reference).max())


def test_sorted_groups_have_the_same_bits_every_time(cupy):
    mean, y, group = cupy.ones(50), cupy.asarray(RNG.normal(size=100_000)), cupy.asarray(RNG.integers(0, 50, 100_000))
    target, wrt = grouped(mean, cupy.asarray(2.0), y, data(group))
    results = {value_and_grad(target, wrt)[1][0].get().tobytes() for _ in range(20)}
    assert len(results) == 1


@pytest.mark.parametrize("shape", [(3, 5), (700, 33), (2, 100_003), (5000, 260)])
def test_rows_in_tiles(cupy, shape):
    table, row, column = RNG.normal(size=shape), RNG.normal(size=(shape[0], 1)), RNG.normal(size=shape[1])
    expression = lambda t, r, c: (np.tanh(lazy(t) * lazy(r)) + lazy(c), (t, r))  # noqa: E731
    value, slopes = value_and_partials(*expression(*map(cupy.asarray, (table, row, column))))
    wanted, references = value_and_partials(*expression(table, row, column))
    for mine, reference in zip((value, *slopes), (wanted, *references), strict=True):
        np.testing.assert_allclose(mine.get(), reference, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("parts", [2, 8, 40])
def test_mixtures_remember_their_exponentials(cupy, parts):
    x, centre, weight = RNG.normal(size=5001), RNG.normal(size=parts), RNG.normal(size=parts)
    build = lambda x, c, w: (logsumexp(w + logpdf(Normal(lazy(c), 1.0), x[:, None]), axis=-1).sum(), (c,))  # noqa: E731
    found, wanted = both(cupy, lambda x, c, w: build(lazy(x), c, lazy(w)), x, centre, weight)
    for mine, reference in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("marked", [lazy, data])
@pytest.mark.parametrize("family", [Gamma, Normal, Weibull])
@pytest.mark.parametrize("parts", [2, 3, 5, 8, 17, 70])
def test_components_have_parameters_of_their_own(cupy, parts, family, marked):
    """Each is added to by two loops of a row, and counted once."""
    x, first, second, raw = RNG.uniform(0.5, 3.0, 3001), *RNG.uniform(0.5, 2.0, (3, parts))
    build = lambda x, a, b, w: (  # noqa: E731
        logpdf(mixture(softmax(lazy(w)), family(lazy(a), lazy(b))), marked(x)).sum(), (a, b, w),
    )
    found, wanted = both(cupy, build, x, first, second, raw)
    for mine, reference in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-10, atol=1e-9)


def test_more_sums_than_shared_memory_holds(cupy):
    """Gradients of three regressions at once: those that do not fit beside the others are computed another way."""
    x, y, z = (RNG.normal(size=(3000, columns)) / 40 for columns in (900, 800, 1500))
    beta, gamma, delta = (RNG.normal(size=table.shape[1]) for table in (x, y, z))

    def build(x, y, z, beta, gamma, delta):
        mean = lazy(x) @ lazy(beta) + lazy(y) @ lazy(gamma) + lazy(z) @ lazy(delta)
        return logpdf(Normal(mean, 1.0), 0.5).sum(), (beta, gamma, delta)

    found, wanted = both(cupy, build, x, y, z, beta, gamma, delta)
    for mine, reference in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-10, atol=1e-9)


def test_more_elements_than_an_int32_counts(cupy):
    n = 2**31 + 1000
    if cupy.cuda.Device().mem_info[0] < 30 * 2**30:
        pytest.skip("wants 30 GiB of GPU memory")
    x = cupy.ones(n, "f4")
    x[-1] = 3.0
    doubled = vecdist.compile(lambda x: x * 2.0)(x)
    assert doubled.shape == (n,) and float(doubled[-1]) == 6.0 and float(doubled[2**31 - 1]) == 2.0
    del doubled
    total = vecdist.compile(lambda x: x.sum() * 0.5)(x)
    assert abs(float(total) - (n + 2) / 2) <= 128.0  # rounded to float32
    last = lazy(x)[cupy.asarray([n - 1, 0])]
    assert np.asarray(last).tolist() == [3.0, 1.0]


def test_explain_measures(cupy):
    x = cupy.ones(2**26, "f4")
    explanation = explain((lazy(x) * 2.0).sum(), wrt=(x,))
    assert 0 < explanation.bytes_per_second < 6e12 and explanation.seconds < 1.0


def test_a_launch_keeps_its_shared_memory_when_other_lengths_are_prepared(cupy):
    def regression(table, slopes):
        return logpdf(Normal(lazy(table) @ lazy(slopes), 1.0), 0.5).sum()

    function = vecdist.compile(regression)
    for columns in (900, 100, 900):
        table, slopes = RNG.normal(size=(2000, columns)), RNG.normal(size=columns) / 30.0
        _, (found,) = function.value_and_grad(cupy.asarray(table), cupy.asarray(slopes), wrt=(1,))
        np.testing.assert_allclose(found.get(), table.T @ (0.5 - table @ slopes), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(2, 1_000_003), (7, 40_001), (300, 3000)])
def test_few_long_rows_are_given_to_blocks(cupy, shape, dtype):
    table, scale = RNG.normal(size=shape).astype(dtype), RNG.normal(size=(shape[0], 1)).astype(dtype)
    build = lambda t, s: (logsumexp(lazy(t) * lazy(s), axis=1).sum(), (t, s))  # noqa: E731
    found, wanted = both(cupy, build, table, scale)
    for mine, reference in zip(found, wanted, strict=True):
        rtol = 1e-11 if dtype == "f8" else 2e-5
        np.testing.assert_allclose(mine, reference, rtol=rtol, atol=rtol * np.abs(reference).max())
