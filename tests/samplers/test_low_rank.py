"""Metrics of a diagonal and a few directions: their algebra, what is learnt of draws, and samplers that use them."""

import functools

import numpy as np
import pytest
from listed_trees import Listed
from test_trees import by_numpy

from vecdist import lazy
from vecdist.samplers import chees, ess, hmc, low_rank, nuts
from vecdist.samplers.low_rank import LowRank, applied, of_covariances, of_rows, packed_inverse, unpacked
from vecdist.samplers.run import Wanted
from vecdist.samplers.trees import growing, places
from vecdist.samplers.trees.chains import Chains

SAMPLERS = {"nuts": nuts, "hmc": hmc, "chees": chees}


def factor(seed):
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 50))
    used = int(rng.integers(0, min(ndim, low_rank.RANK) + 1))
    directions = np.linalg.qr(rng.normal(size=(ndim, ndim)))[0][:used]
    return LowRank(np.exp(rng.normal(size=ndim)), directions, np.exp(2.0 * rng.normal(size=used)) - 1.0)


def strong(ndim, directions, seed, longest=30.0):
    """A covariance of very different scales, with directions that are up to so many times as long, or as short."""
    rng = np.random.default_rng(seed)
    along = np.linalg.qr(rng.normal(size=(ndim, directions)))[0]
    more = np.exp(rng.uniform(np.log(longest / 3.0), np.log(longest), directions))
    more[::3] = 1.0 / more[::3]
    root = np.exp(2.0 * rng.normal(size=ndim))[:, None] * (np.eye(ndim) + (along * (more - 1.0)) @ along.T)
    return root @ root.T


def quadratic(precision, x):
    return -0.5 * (x * (precision * x).sum(axis=1)).sum()


def whitened(covariance, metric):
    """By how much standard deviations differ that the metric makes equal."""
    root = np.linalg.cholesky(metric)
    inner = np.linalg.solve(root, np.linalg.solve(root, covariance).T)
    values = np.linalg.eigvalsh(inner)
    return np.sqrt(values[-1] / values[0])


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_those_of_a_matrix(seed):
    found = factor(seed)
    x = np.random.default_rng(seed).normal(size=(3, len(found.scale)))
    np.testing.assert_allclose(unpacked(found.packed), found.matrix, rtol=1e-12, atol=1e-13)
    by_kernel = np.asarray(applied(lazy(found.packed), lazy(x)))
    np.testing.assert_allclose(by_kernel, x @ found.matrix.T, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.gradients(x @ found.matrix), x, rtol=1e-9, atol=1e-10)
    inverse = unpacked(packed_inverse(found.packed))
    np.testing.assert_allclose(inverse @ found.matrix, np.eye(x.shape[1]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_few_draws_of_a_normal_distribution_say_all_of_it(seed):
    """Twice as many as there are coordinates: the covariance of gradients makes good what that of draws is wrong by."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(2, low_rank.RANK))
    covariance = strong(ndim, max(1, ndim // 4), seed)
    x = rng.normal(3.0, 1.0, size=(2 * ndim + 2, ndim)) @ np.linalg.cholesky(covariance).T
    found = of_rows(x, -np.linalg.solve(covariance, x.T).T)
    assert found is not None
    assert whitened(covariance, found.matrix @ found.matrix.T) < low_rank.STRONG**2 * 1.05
    own = found.directions @ found.directions.T
    np.testing.assert_allclose(own, np.eye(len(own)), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fewer_draws_than_coordinates_say_what_is_strong(seed):
    covariance, rng = strong(120, 3, seed), np.random.default_rng(seed)
    x = rng.normal(size=(80, 120)) @ np.linalg.cholesky(covariance).T
    found = of_rows(x, -np.linalg.solve(covariance, x.T).T)
    assert found is not None
    diagonal = whitened(covariance, np.diag(np.diag(covariance)))
    assert whitened(covariance, found.matrix @ found.matrix.T) < 0.4 * diagonal


def test_scales_of_coordinates_are_of_no_consequence():
    covariance, rng = strong(12, 3, 1), np.random.default_rng(1)
    x = rng.normal(size=(40, 12)) @ np.linalg.cholesky(covariance).T
    g = -np.linalg.solve(covariance, x.T).T
    units = 2.0 ** rng.integers(-300, 300, size=12)
    one, other = of_rows(x, g), of_rows(x * units, g / units)
    assert one is not None and other is not None
    np.testing.assert_allclose(other.scale, one.scale * units, rtol=1e-12)
    np.testing.assert_allclose(np.abs(other.directions), np.abs(one.directions), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.more, one.more, rtol=1e-9)


def test_draws_that_say_nothing_leave_the_metric():
    x = np.random.default_rng(0).normal(size=(9, 3))
    broken = x.copy()
    broken[4, 1] = np.nan
    for positions, gradients in ((x[:1], x[:1]), (np.ones((9, 3)), x), (x, np.zeros((9, 3))), (x, broken), (broken, x)):
        assert of_rows(positions, gradients) is None
    assert of_covariances(np.full((2, 2), np.inf), np.eye(2), 9) is None


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_those_of_lists(seed):
    """By the machine run as Python, with a factor that is not learnt."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(2, 6))
    covariance, mean = strong(ndim, 1, seed, 4.0), rng.normal(size=ndim)
    density = functools.partial(by_numpy, mean, np.linalg.inv(covariance), np.inf)
    chains = Chains(Wanted(1, 8, 0, 0, "low-rank", 0.4, 0.8, None, False), 5, np.array([seed], np.uint64), mean[None])
    x = rng.normal(size=(3 * ndim, ndim)) @ np.linalg.cholesky(covariance).T
    found = of_rows(x, -np.linalg.solve(covariance, x.T).T)
    assert found is not None
    chains.low_rank[0] = found
    chains._put_low_rank(0)
    state = (array if array is chains.ends else array[0] for array in chains.arrays)
    v, a, n, key, ends, positions, told, seen = state
    listed = Listed(density, seed, mean, 0.4, found.matrix, 5)
    while n[places.PHASE] != places.DONE:
        value, gradient = density(v[:ndim])
        growing.advance(v, v, a, n, key, ends, value, gradient, positions, told, seen)
    for place in range(8):
        chosen, acceptance, divergent, steps = listed.draw()
        np.testing.assert_allclose(chains.positions[0, place], chosen["x"], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(chains.told[0, place, 2:], [acceptance, divergent, steps], rtol=1e-6)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_few_strong_directions_are_found(name):
    """In 60 dimensions, by as many draws: the chains are right, and take a few steps where a diagonal takes many."""
    covariance = strong(60, 3, 2)
    density = functools.partial(quadratic, np.linalg.inv(covariance))
    given = {"chains": 12, "warmup": 300, "draws": 150, "initial": np.zeros(60), "key": 3, "progress": False}
    found = SAMPLERS[name](density, metric="low-rank", **given)
    other = SAMPLERS[name](density, metric="diagonal", **given | {"draws": 20})
    assert found.steps.mean() < 0.2 * other.steps.mean()
    sizes = np.minimum(ess(found.positions), ess(found.positions**2))
    z = found.positions.mean(axis=(0, 1)) / np.sqrt(np.diag(covariance) / sizes)
    assert np.abs(z).max() < 4.5 and sizes.min() > 300
    spread = found.positions.reshape(-1, 60).std(axis=0) / np.sqrt(np.diag(covariance))
    assert np.abs(spread - 1.0).max() < 0.15
    for metric in found.metric if found.metric.ndim == 3 else [found.metric]:
        assert whitened(covariance, metric) < 5.0 < 0.2 * whitened(covariance, np.diag(np.diag(covariance)))


def test_chains_learn_alone_and_alike(monkeypatch):
    """However many there are, and however many gradients between two looks at them; by launches, too."""
    from vecdist.samplers.trees import run

    density = functools.partial(quadratic, np.linalg.inv(strong(8, 2, 4)))
    given = {"initial": np.zeros(8), "metric": "low-rank", "warmup": 60, "draws": 5, "key": 1, "progress": False}
    few, many = (nuts(density, chains=chains, **given) for chains in (2, 9))
    monkeypatch.setattr(run, "SPAN", 0.0)
    slow = nuts(density, chains=2, **given)
    for other in (many, slow):
        np.testing.assert_array_equal(other.positions[:2], few.positions)
        np.testing.assert_array_equal(other.metric[:2], few.metric)
    monkeypatch.setattr(run.Gradients, "entry", None)
    launched = nuts(density, chains=2, **given)
    assert launched.positions.shape == few.positions.shape and (launched.step_size > 0.0).all()
    assert whitened(strong(8, 2, 4), launched.metric[0]) < 10.0
