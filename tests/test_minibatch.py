"""Log densities estimated from some of the rows: which rows these are, and what is made of them."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.distributions import Bernoulli, Exponential, Gamma, Normal, Poisson
from vecdist.parameters import positive, real
from vecdist.runtime import pipeline
from vecdist.samplers.kernels import evaluated

ROWS, COLUMNS = 120, 3
RNG = np.random.default_rng(5)
X = RNG.normal(size=(ROWS, COLUMNS))
Y = (RNG.random(ROWS) < 0.4).astype(float)
POINTS = RNG.normal(size=(4, COLUMNS + 1))


def logistic(beta, scale, x, y):
    prior = logpdf(Normal(0.0, scale), beta).sum(), logpdf(Exponential(1.0), scale)
    return {"prior": prior, "likelihood": logpdf(Bernoulli(logit=x @ beta), y)}


def logistic_in_numpy(v, x, y, share):
    """The estimate and its gradient, by hand."""
    beta, scale, logit = v[:-1], np.exp(v[-1]), x @ v[:-1]
    prior = stats.norm.logpdf(beta, 0.0, scale).sum() + stats.expon.logpdf(scale) + v[-1]
    slopes = share * (y - special.expit(logit)) @ x - beta / scale**2
    of_scale = (beta**2).sum() / scale**2 - len(beta) - scale + 1.0
    return prior + share * (y * logit - np.logaddexp(0.0, logit)).sum(), np.append(slopes, of_scale)


@pytest.fixture(scope="module")
def density():
    return LogDensity(logistic, rows={"x": X, "y": Y}, beta=real(COLUMNS), scale=positive())


def test_an_estimate_is_that_of_the_rows(density):
    for v, size in zip(POINTS, (50, 7, 1, ROWS), strict=True):
        batch = RNG.integers(0, ROWS, size)
        value, gradient = density.logdensity_and_gradient(v, batch=batch)
        wanted, slopes = logistic_in_numpy(v, X[batch], Y[batch], ROWS / size)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-12, atol=1e-12)
        assert isinstance(value, float) and density.logdensity(v, batch=batch) == pytest.approx(value, rel=1e-14)
    assert float(density.trace(v, batch)) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize(("size", "points"), [(10, POINTS[0]), (40, POINTS)])
def test_the_mean_over_a_partition_is_the_log_density(density, size, points):
    batches = RNG.permutation(ROWS).reshape(-1, size)
    values, gradients = zip(*(density.logdensity_and_gradient(points, batch=batch) for batch in batches), strict=True)
    value, gradient = density.logdensity_and_gradient(points)
    np.testing.assert_allclose(np.mean(values, axis=0), value, rtol=1e-12)
    np.testing.assert_allclose(np.mean(gradients, axis=0), gradient, rtol=1e-12, atol=1e-12)


def test_vectors_share_a_batch_or_have_their_own(density):
    own = RNG.integers(-ROWS, ROWS, (2, 2, 40))
    values, gradients = density.logdensity_and_gradient(POINTS.reshape(2, 2, -1), batch=own)
    assert values.shape == (2, 2) and gradients.shape == (2, 2, COLUMNS + 1)
    rows = {"x": X[own], "y": Y[own]}
    by_rows = density.logdensity_and_gradient(POINTS.reshape(2, 2, -1), batch=rows)
    np.testing.assert_allclose(by_rows[1], gradients, rtol=1e-12)
    for place, v in enumerate(POINTS):
        batch = own.reshape(4, -1)[place]
        wanted, slopes = logistic_in_numpy(v, X[batch], Y[batch], ROWS / 40)
        np.testing.assert_allclose(values.ravel()[place], wanted, rtol=1e-12)
        np.testing.assert_allclose(gradients.reshape(4, -1)[place], slopes, rtol=1e-11, atol=1e-12)
        shared = density.logdensity_and_gradient(POINTS, batch=batch)
        np.testing.assert_allclose(shared[1][place], slopes, rtol=1e-11, atol=1e-12)
    out = np.empty((2, 2)), np.empty((2, 2, COLUMNS + 1))
    density.logdensity_and_gradient(POINTS.reshape(2, 2, -1), out, batch=own)
    np.testing.assert_array_equal(out[1], gradients)


def test_other_batches_compile_nothing(density):
    v = POINTS[0]
    for batch in (np.arange(30), {"x": X[:30], "y": Y[:30]}):
        density.logdensity_and_gradient(v, batch=batch)
    for size in (2, 3, 4, 5, 30, 64):  # of several arrays up to 16 rows, more, and many are programs of their own
        density.logdensity_and_gradient(POINTS, batch=RNG.integers(0, ROWS, (4, size)))
    before = pipeline.compilations()
    for size in (2, 3, 4, 5, 31, 64, 65, ROWS, 1000):
        batch = RNG.integers(0, ROWS, size)
        density.logdensity_and_gradient(v, batch=batch)
        density.logdensity_and_gradient(v, batch={"x": X[batch], "y": Y[batch]})
        density.logdensity_and_gradient(POINTS, batch=RNG.integers(0, ROWS, (4, size)))
    assert pipeline.compilations() == before


def drawn(seed):
    """A model of rows at random: its rows, the model, and the same by NumPy and SciPy."""
    rng = np.random.default_rng(seed)
    count, groups = int(rng.integers(5, 40)), 4
    rows = {"x": rng.normal(size=(count, 2)), "group": rng.integers(0, groups, count)}
    rows["y"] = rng.poisson(2.0, count) + 1.0
    if rng.random() < 0.5:
        rows["x"] = np.repeat(rows["x"], 2, axis=0)[::2]  # strided
    family = ("normal", "gamma", "poisson", "two")[seed % 4]

    def model(slope, effect, scale, x, group, y):
        mean = np.exp(0.1 * (x @ slope + effect[group]))
        terms = {
            "normal": lambda: logpdf(Normal(mean, scale), y),
            "gamma": lambda: logpdf(Gamma(mean / scale, scale), y),
            "poisson": lambda: logpdf(Poisson(mean * scale), y),
        }
        prior = logpdf(Normal(0.0, 2.0), slope).sum() + logpdf(Normal(0.0, scale), effect).sum()
        found = {"a": terms["gamma"](), "b": terms["poisson"]()} if family == "two" else terms[family]()
        return {"prior": prior, "likelihood": found}

    def by_scipy(v, batch):
        slope, effect, log_scale = v[:2], v[2 : 2 + groups], v[-1]
        x, group, y, scale = rows["x"][batch], rows["group"][batch], rows["y"][batch], np.exp(log_scale)
        mean = np.exp(0.1 * (x @ slope + effect[group]))
        terms = {
            "normal": stats.norm.logpdf(y, mean, scale),
            "gamma": stats.gamma.logpdf(y, mean / scale, scale=scale),
            "poisson": stats.poisson.logpmf(y, mean * scale),
        }
        prior = stats.norm.logpdf(slope, 0.0, 2.0).sum() + stats.norm.logpdf(effect, 0.0, scale).sum() + log_scale
        found = terms["gamma"] + terms["poisson"] if family == "two" else terms[family]
        return prior + count / len(batch) * found.sum()

    return LogDensity(model, rows=rows, slope=real(2), effect=real(groups), scale=positive()), by_scipy, count


@pytest.mark.parametrize("seed", range(8))
def test_random_models_on_the_rows_that_are_picked(uncompiled, seed):
    density, by_scipy, count = drawn(seed)
    rng = np.random.default_rng(seed)
    v, batch = rng.normal(0.0, 0.5, density.ndim), rng.integers(0, count, int(rng.integers(1, 2 * count)))
    value, gradient = density.logdensity_and_gradient(v, batch=batch)
    assert value == pytest.approx(by_scipy(v, batch), rel=1e-11)
    steps = 1e-5 * np.eye(density.ndim)
    wanted = [(by_scipy(v + step, batch) - by_scipy(v - step, batch)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-6)


def test_of_a_file_only_the_rows_are_read(tmp_path, uncompiled):
    path = tmp_path / "rows"
    seen = np.memmap(path, np.float64, "w+", shape=(2**26, 1))  # half a gigabyte, of which nothing is written
    seen[[3, 2**25]] = [[1.0], [5.0]]
    density = LogDensity(lambda mu, y: {"likelihood": logpdf(Normal(mu, 1.0), y[:, 0])}, mu=real(), rows={"y": seen})
    _, gradient = density.logdensity_and_gradient(np.zeros(1), batch=[3, 2**25])
    assert gradient.tolist() == [2.0**25 * 6.0]
    maps = Path("/proc/self/smaps").read_text()  # what Linux says of each mapping
    assert int(re.search(rf"{re.escape(str(path))}\n.*?Rss: +(\d+) kB", maps, re.DOTALL).group(1)) < 1024


def test_rows_of_a_dask_array_are_read_by_their_chunks(density):
    chunked = pytest.importorskip("dask.array").from_array
    rows = {"x": chunked(X, chunks=(32, 3)), "y": chunked(Y, chunks=32)}
    read = LogDensity(logistic, rows=rows, beta=real(COLUMNS), scale=positive())
    for batch in (np.array([70, -1, 3, 70]), RNG.integers(0, ROWS, (4, 40))):
        found, wanted = (each.logdensity_and_gradient(POINTS, batch=batch) for each in (read, density))
        np.testing.assert_array_equal(found[1], wanted[1])


def test_a_density_of_rows_is_one_of_data_as_any_other(density, uncompiled):
    closed = LogDensity(lambda beta, scale: logistic(beta, scale, vecdist.data(X), Y), beta=real(3), scale=positive())
    np.testing.assert_allclose(density(POINTS), closed(POINTS), rtol=1e-13)
    assert density.pointwise_loglikelihood(POINTS[0])["likelihood"].shape == (ROWS,)
    again = pickle.loads(pickle.dumps(density.joint.rows))
    np.testing.assert_array_equal(np.asarray(again["x"]), X)


def test_what_cannot_be_meant(density):
    v = POINTS[0]
    for batch in ([], [0.5], [True], 3, np.zeros((2, 0), int)):
        with pytest.raises(IndexError, match="whole numbers of its rows"):
            density.logdensity(v, batch=batch)
    for batch, row in (([0, ROWS], ROWS), ([-ROWS - 1, 2], -ROWS - 1)):
        with pytest.raises(IndexError, match=f"row {row}, and there are {ROWS} of them"):
            density.logdensity_and_gradient(v, batch=batch)
    with pytest.raises(ValueError, match="one batch, or one each"):
        density.logdensity(POINTS, batch=np.zeros((3, 5), int))
    with pytest.raises(ValueError, match="rows of x, y; given x"):
        density.logdensity(v, batch={"x": X})
    with pytest.raises(ValueError, match=r"as many rows of each name.*\[2, 3\]"):
        density.logdensity(v, batch={"x": X[:2], "y": Y[:3]})
    with pytest.raises(ValueError, match=r"rows of x have shape \(..., B, 3\); given \(2, 2\)"):
        density.logdensity(v, batch={"x": X[:2, :2], "y": Y[:2]})
    with pytest.raises(ValueError, match="made without rows="):
        LogDensity(lambda mu: -(mu**2), mu=real()).logdensity(np.zeros(1), batch=[0])


@pytest.mark.parametrize(
    ("model", "rows", "said"),
    [
        (lambda mu, y: {"likelihood": (y - mu).sum()}, {"y": Y}, "'likelihood' has shape \\(\\), of 120 rows"),
        (lambda mu, y: {"likelihood": {"a": y - mu, "b": mu * np.ones(7)}}, {"y": Y}, "'b' has shape \\(7,\\)"),
        (lambda mu, y: (y - mu).sum(), {"y": Y}, 'returns {"prior": ..., "likelihood": ...}'),
        (lambda mu, y: {"prior": (y * mu).sum(), "likelihood": y - mu}, {"y": Y}, "prior depends on the rows y"),
        (lambda mu, y: {"likelihood": y - mu}, {"y": Y[:0]}, r"y has shape \(0,\)"),
        (lambda mu, y: {"likelihood": y - mu}, {"y": 1.0}, r"y has shape \(\)"),
        (lambda mu, y, x: {"likelihood": y - mu}, {"y": Y, "x": X[:3]}, "a first axis in common"),
        (lambda mu: {"likelihood": -mu}, {"mu": Y}, "parameters and rows named mu"),
    ],
)
def test_models_and_rows_that_do_not_fit(model, rows, said):
    with pytest.raises(ValueError, match=said):
        LogDensity(model, rows=rows, mu=real())


def test_a_model_that_does_not_take_the_rows():
    with pytest.raises(TypeError, match="does not take the declared parameters"):
        LogDensity(lambda mu: {"likelihood": mu}, rows={"y": Y}, mu=real())


def test_what_is_not_a_number_has_no_density(uncompiled):
    density = LogDensity(lambda mu, y: {"likelihood": np.log(mu) * y}, rows={"y": Y + 1.0}, mu=real())
    assert density.logdensity(np.array([-1.0]), batch=[0, 1]) == -np.inf
    values, _ = density.logdensity_and_gradient(np.array([[-1.0], [1.0]]), batch=[0, 1])
    assert values.tolist() == [-np.inf, 0.0]


class TestBatchesOfAKey:
    """Which rows make the batch of a step."""

    def test_an_epoch_takes_every_row_once(self):
        for rows, size in ((1, 1), (2, 1), (3, 2), (24, 5), (97, 97), (1000, 10)):
            steps = rows // size
            found = evaluated(vecdist.random.minibatch(3, np.arange(2 * steps), size, rows))
            assert found.shape == (2 * steps, size) and found.min() >= 0 and found.max() < rows
            for epoch in found.reshape(2, -1):
                assert len(np.unique(epoch)) == steps * size
        assert (np.sort(found[:100].ravel()) == np.arange(1000)).all() and (found[:100] != found[100:]).any()

    @pytest.mark.parametrize(("rows", "size"), [(16, 16), (24, 5), (101, 3)])
    def test_rows_and_pairs_of_them_are_equally_likely(self, rows, size):
        count = 8000
        found = np.concatenate([
            evaluated(vecdist.random.minibatch(np.arange(first, first + 500), 1, size, rows))
            for first in range(0, count, 500)
        ])
        for place in (0, size - 1):
            assert stats.chisquare(np.bincount(found[:, place], minlength=rows)).pvalue > 1e-4
        near = (found[:, 1] - found[:, 0]) % rows  # any of 1 to rows - 1, as likely
        assert stats.chisquare(np.bincount(near, minlength=rows)[1:]).pvalue > 1e-4

    def test_the_kernel_finds_what_the_interpreter_does(self):
        before = pipeline.compilations()
        for rows, key in ((1000, 1), (2**40 + 5, 2)):
            lazily = vecdist.random.minibatch(np.array([key, 8]), np.array([4, 9]), 20, rows)
            np.testing.assert_array_equal(np.asarray(lazily), evaluated(lazily))
        assert pipeline.compilations() <= before + 1

    def test_a_lazy_batch_is_a_batch(self, density):
        batch = vecdist.random.minibatch(1, 2, 30, ROWS)
        assert density.logdensity(POINTS[0], batch=batch) == density.logdensity(POINTS[0], batch=evaluated(batch))

    @pytest.mark.parametrize(("size", "rows"), [(0, 5), (6, 5), (1, 0), (-1, 5), (1, 2**53 + 1)])
    def test_what_cannot_be_meant(self, size, rows):
        with pytest.raises(ValueError, match="a batch has 1 to all of the rows"):
            vecdist.random.minibatch(1, 0, size, rows)
