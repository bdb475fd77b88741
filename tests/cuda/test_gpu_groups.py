"""Sums by groups on a GPU, whose rows stand in runs of any length, in any order, and are marked as data or not."""

import numpy as np
import pytest

import vecdist
from vecdist.distributions import Normal
from vecdist.graph.leaves import on_host

pytestmark = pytest.mark.cuda


def rows_in_runs(rng, rows, groups, run):
    """The group of each row: about ``run`` neighbours have the same, or all of a group where it is 0."""
    if not run:
        return np.sort(rng.integers(0, groups, rows))
    starts = np.flatnonzero(rng.random(rows) < 1 / run)
    return rng.integers(0, groups, len(starts) + 1)[np.searchsorted(starts, np.arange(rows), side="right")]


@pytest.mark.parametrize("mark", [vecdist.data, np.asarray], ids=["data", "changing"])
@pytest.mark.parametrize("chains", [(), (3,), (40,)], ids=str)
@pytest.mark.parametrize("run", [0, 1, 2, 9, 20, 100, 5000])
def test_gradients_in_means_of_groups(run, chains, mark):
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(run)
    rows, groups = int(rng.integers(20_000, 200_000)), int(rng.choice([1, 7, 300, 3000]))
    group, y = rows_in_runs(rng, rows, groups, run), rng.normal(size=rows).astype("f4")
    means, scale = rng.normal(size=(*chains, groups)).astype("f4"), np.float32(0.7)
    index = cupy.asarray(group)
    index = index if mark is np.asarray else mark(index)
    density = vecdist.compile(lambda means, y: vecdist.logpdf(Normal(means[..., index], scale), y).sum())
    value, slopes = density.value_and_grad(cupy.asarray(means), cupy.asarray(y), wrt=0)
    errors = (y - means[..., group].astype("f8")) / scale
    wanted = -0.5 * np.square(errors) - np.log(scale) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(on_host(value), wanted.sum(), rtol=2e-6)
    each = errors.reshape(-1, rows) / scale
    sums = np.stack([np.bincount(group, row, groups) for row in each]).reshape(means.shape)
    size = np.stack([np.bincount(group, abs(row), groups) for row in each]).reshape(means.shape)
    assert (abs(on_host(slopes) - sums) <= 1e-6 * size + 1e-6).all()
