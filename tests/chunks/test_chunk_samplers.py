"""Samplers of log densities whose rows are in chunks: the draws are those of arrays in memory."""

import dask
import dask.array as da
import numpy as np
import pytest
from chunk_models import chunks_by_interpreter

import vecdist
from vecdist import LogDensity, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import positive, real
from vecdist.samplers import chees, hmc, nuts, sghmc, sgld

ROWS, BATCH = 200, 8
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 2))
Y = X @ [1.0, -0.5] + RNG.normal(size=ROWS)
FIXED = {"warmup": 0, "step_size": 0.03, "draws": 6, "key": 3, "progress": False}
STARTS = np.array([[0.8, -0.3, 0.1], [1.2, -0.6, 0.0], [1.0, -0.5, 0.2]])


class Slices:
    """What gives slices and no more, and remembers which."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, key):
        rows = key[0] if isinstance(key, tuple) else key
        assert isinstance(rows, slice)
        self.read.append((rows.start, rows.stop))
        return self.array[key]


def terms(b, s, x, y):
    return {"prior": logpdf(Normal(0.0, 1.0), b).sum(), "likelihood": logpdf(Normal(lazy(x) @ b, s), y)}


def closed(x, y):
    """A density whose function holds its data."""
    return LogDensity(lambda b, s: terms(b, s, x, y), b=real(2), s=positive())


def of_rows(x, y):
    return LogDensity(terms, rows={"x": x, "y": y}, b=real(2), s=positive())


def cut(array, rows=64):
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def assert_same_draws(found, wanted, **tolerance):
    np.testing.assert_allclose(found.positions, wanted.positions, **tolerance)


@pytest.mark.parametrize("way", ["closed", "rows"])
def test_trajectories_are_those_of_arrays_in_memory(way, uncompiled):
    make = {"closed": closed, "rows": of_rows}[way]
    wanted = hmc(make(X, Y), chains=3, initial=STARTS, trajectory=0.2, **FIXED)
    source = Slices(Y)
    with chunks_by_interpreter():
        in_pieces = make(vecdist.chunked(X, rows=64), vecdist.chunked(source, rows=64))
        found = hmc(in_pieces, chains=3, initial=STARTS, trajectory=0.2, **FIXED)
        by_dask = []
        for workers in (1, 3):
            with dask.config.set(scheduler="threads", num_workers=workers):
                by_dask.append(hmc(make(cut(X), cut(Y)), chains=3, initial=STARTS, trajectory=0.2, **FIXED))
    assert_same_draws(found, wanted, rtol=1e-8)
    for other in by_dask:
        np.testing.assert_array_equal(other.positions, found.positions, "the tree of sums is the same")
    passes, steps = len(source.read) // 4, int(wanted.steps.sum())
    assert source.read == [(0, 64), (64, 128), (128, 192), (192, 200)] * passes
    if way == "rows":  # which are data
        assert passes == 2, "of a normal regression, means and products of columns alone are read"
    else:
        assert steps < passes <= steps * 1.05 + 5, "one pass of all chains for each step, and some at either end"


def test_trees_are_those_of_arrays_in_memory():
    """Of chunks, of pieces in turn, and of devices."""
    given = FIXED | {"chains": 3, "initial": STARTS, "max_depth": 3, "draws": 3}
    wanted = nuts(closed(X, Y), **given)
    two = vecdist.devices(["cpu"] * 2)
    ways = (cut(X), cut(Y)), (vecdist.chunked(X, rows=70), vecdist.chunked(Y, rows=70)), (two.shard(X), two.shard(Y))
    for x, y in ways:
        with chunks_by_interpreter():
            found = nuts(closed(x, y), **given)
        np.testing.assert_array_equal(found.steps, wanted.steps)
        assert_same_draws(found, wanted, rtol=1e-7)
    with pytest.raises(ValueError, match="has one device"):
        nuts(closed(X, Y), device=two, **given)


def test_lengths_are_learnt_from_chains_of_chunks():
    with chunks_by_interpreter():
        draws = chees(closed(cut(X), cut(Y)), chains=16, draws=40, warmup=60, initial=STARTS[0], progress=False)
    wanted = chees(closed(X, Y), chains=16, draws=40, warmup=60, initial=STARTS[0], progress=False)
    apart = abs(draws.positions.mean(axis=(0, 1)) - wanted.positions.mean(axis=(0, 1)))
    assert (apart < 0.5 * wanted.positions.std(axis=(0, 1))).all() and not draws.divergences.any()


@pytest.mark.parametrize(("sampler", "center"), [(sgld, None), (sghmc, None), (sgld, STARTS[0])])
def test_batches_are_the_same_rows_wherever_these_are(sampler, center, tmp_path, uncompiled):
    asked = {
        **FIXED, "step_size": 1e-3, "warmup": 2, "steps": 2, "batch": BATCH, "chains": 3, "center": center,
        "initial": STARTS,
    }  # fmt: skip
    wanted = sampler(of_rows(X, Y), **asked)
    file = np.memmap(tmp_path / "x", np.float64, "w+", shape=X.shape)
    file[:] = X
    read = Slices(Y)
    with chunks_by_interpreter():
        for x, y in (
            (vecdist.chunked(file, rows=64), vecdist.chunked(read, rows=64)), (cut(X), cut(Y)), (X, cut(Y)),
        ):
            assert_same_draws(sampler(of_rows(x, y), **asked), wanted, rtol=1e-9)
    if center is None:
        steps = 2 * (2 + 6) + 2 * 2 + 3  # of the run, of the variance of gradients, and at the start
        assert sum(stop - start for start, stop in read.read) <= 3 * BATCH * steps, "no rows but those of batches"


def test_rows_of_batches_have_the_dtype_that_their_array_said(uncompiled):
    mixed = cut(Y).map_blocks(lambda block: block.astype("f4"), dtype="f8", meta=np.empty(0))
    density = of_rows(X, mixed)
    found = density.logdensity(STARTS[0], batch=np.array([5, 3, 5, -1]))
    wanted = of_rows(X, Y.astype("f4").astype("f8")).logdensity(STARTS[0], batch=np.array([5, 3, 5, -1]))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_some_chains_have_as_many_numbers_as_chains(uncompiled):
    """Lengths that are the same by chance are no reason to confuse axes."""
    asked = {**FIXED, "step_size": 1e-3, "batch": BATCH, "center": np.zeros(3), "steps": 1}
    for chains in (2, 3):
        assert np.isfinite(sgld(of_rows(X, Y), chains=chains, **asked).positions).all()
