"""NUTS: its random numbers, its trees beside trees of lists, its moments, and chains that depend on nothing else."""

import functools

import numpy as np
import pytest
from listed_trees import Listed
from posteriors import (
    COVARIANCE,
    MEAN,
    GammaRegression,
    Gaussian,
    Groups,
    eight_schools_density,
    eight_schools_moments,
    gamma_regression_grid,
)
from scipy import stats
from test_moments import check_means, check_moments
from test_runs import Nowhere, Positive, hill

from vecdist import logpdf, random
from vecdist.distributions import Normal
from vecdist.samplers import nuts
from vecdist.samplers.density import Target
from vecdist.samplers.kernels import evaluated
from vecdist.samplers.run import Wanted
from vecdist.samplers.trees import draws, growing, learning, run
from vecdist.samplers.trees.chains import Chains
from vecdist.samplers.trees.places import DONE, PHASE, X

FIXED = {"draws": 40, "warmup": 0, "step_size": 0.3, "progress": False}
FIELDS = ("positions", "log_densities", "energies", "acceptance", "divergences", "steps", "step_size", "metric")


@pytest.mark.parametrize(("counter", "key", "wanted"), [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
])  # fmt: skip
def test_bits_are_those_that_the_authors_publish(counter, key, wanted):
    one, two, three, four = map(np.uint64, counter)
    half = np.uint64(32)
    word = np.uint64(key[0]) | np.uint64(key[1]) << half
    found = draws.bits(word, one | two << half, three | four << half)
    assert found == (wanted[0] | wanted[1] << 32, wanted[2] | wanted[3] << 32)


def test_random_numbers_are_uniform_and_normal():
    keys = [np.uint64(key) for key in range(60)]
    uniforms = [draws.uniform(key, event) for key in keys for event in range(50)]
    normals = [draws.normal(key, place, event) for key in keys for place in range(5) for event in range(10)]
    assert stats.kstest(uniforms, "uniform").pvalue > 1e-3
    assert stats.kstest(normals, "norm").pvalue > 1e-3
    assert 0.0 < draws.unit(np.uint64(0)) < draws.unit(np.uint64(2**64 - 1)) < 1.0


def problem(seed):
    """A random normal distribution, some of them cut off, with a step size and a metric that need not fit."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    root = rng.normal(size=(ndim, ndim))
    precision, mean = root @ root.T + 0.1 * np.eye(ndim), rng.normal(size=ndim)
    step, deepest = float(np.exp(rng.uniform(-3.5, 0.7))), int(rng.integers(1, 8))
    metric = np.linalg.inv(precision) if rng.uniform() < 0.4 else np.exp(rng.normal(size=ndim))
    edge = rng.uniform(0.5, 3.0) if rng.uniform() < 0.3 else np.inf
    return mean, precision, step, deepest, metric, edge


def by_numpy(mean, precision, edge, x):
    apart = x - mean
    value = -0.5 * apart @ precision @ apart if apart[0] < edge else -np.inf
    return value, -precision @ apart


@pytest.mark.parametrize("seed", range(40))
def test_trees_are_those_of_lists(seed):
    """By the machine run as Python, draw by draw."""
    mean, precision, step, deepest, metric, edge = problem(seed)
    density = functools.partial(by_numpy, mean, precision, edge)
    wanted = Wanted(1, 12, 0, 0, metric, step, 0.8, None, False)
    chains = Chains(wanted, deepest, np.array([seed], np.uint64), mean[None])
    state = (array if array is chains.ends else array[0] for array in chains.arrays)
    v, a, n, key, ends, positions, told, seen = state
    listed = Listed(density, seed, mean, step, chains.scale[0].copy(), deepest)
    with np.errstate(all="ignore"):
        while n[PHASE] != DONE:
            value, gradient = density(v[X * len(mean) : (X + 1) * len(mean)])
            growing.advance(v, v, a, n, key, ends, value, gradient, positions, told, seen)
        for place in range(12):
            chosen, acceptance, divergent, steps = listed.draw()
            np.testing.assert_allclose(chains.positions[0, place], chosen["x"], rtol=1e-7, atol=1e-9)
            wanted = [chosen["value"], chosen["energy"], acceptance, divergent, steps]
            np.testing.assert_allclose(chains.told[0, place], wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(40, 64))
def test_compiled_chains_are_those_of_lists(seed):
    mean, precision, step, deepest, metric, _ = problem(seed)

    def density(x):
        apart = x - mean
        return -0.5 * (apart[:, None] * precision * apart).sum()

    given = {"metric": metric, "step_size": step, "max_depth": deepest, "initial": mean, "progress": False}
    found = nuts(density, chains=3, draws=10, warmup=0, key=seed, **given)
    keys = evaluated(random.fold_in(seed, np.arange(3)))
    factor = np.sqrt(metric) if metric.ndim == 1 else np.linalg.cholesky(metric)
    for chain, key in enumerate(keys):
        listed = Listed(functools.partial(by_numpy, mean, precision, np.inf), key, mean, step, factor, deepest)
        for place in range(10):
            chosen, acceptance, divergent, steps = listed.draw()
            np.testing.assert_allclose(found.positions[chain, place], chosen["x"], rtol=1e-6, atol=1e-8)
            assert (found.steps[chain, place], found.divergences[chain, place]) == (steps, divergent)
            np.testing.assert_allclose(found.acceptance[chain, place], acceptance, rtol=1e-6)
            np.testing.assert_allclose(found.energies[chain, place], chosen["energy"], rtol=1e-6, atol=1e-8)


def test_what_is_learnt_is_the_covariance():
    rng = np.random.default_rng(5)
    seen = rng.normal(size=(200, 3)) @ np.linalg.cholesky(COVARIANCE).T
    for metric in ("diagonal", "dense"):
        chains = Chains(Wanted(1, 0, 400, 0, metric, 0.1, 0.8, None, False), 3, np.zeros(1, np.uint64), MEAN[None])
        v, n = chains.vectors[0], chains.integers[0]
        for row in seen:
            v[growing.CHOSEN_X * 3 : growing.CHOSEN_X * 3 + 3] = row
            learning.remember(v, n)
        learning.rescale(v, n)
        wanted = np.cov(seen.T) * 200 / 205 + 1e-3 * 5 / 205 * np.eye(3)
        found = chains.scale[0] @ chains.scale[0].T if metric == "dense" else chains.scale[0] ** 2
        np.testing.assert_allclose(found, wanted if metric == "dense" else np.diag(wanted), rtol=1e-10)


@pytest.mark.parametrize("metric", ["diagonal", "unit", "dense"])
def test_moments_of_a_gaussian(metric):
    found = nuts(Gaussian(), chains=16, draws=500, warmup=300, metric=metric, key=1, progress=False)
    check_moments(found, MEAN, np.sqrt(np.diag(COVARIANCE)))
    assert 0.75 < found.acceptance.mean() < 0.95 and not found.divergences.any()
    assert found.step_size.shape == (16,) and len(set(found.step_size)) == 16
    learnt = found.metric.mean(axis=0)
    if metric != "unit":
        np.testing.assert_allclose(learnt if learnt.ndim == 1 else np.diag(learnt), np.diag(COVARIANCE), rtol=0.2)


def test_moments_of_models():
    mean, scale = Groups().moments()
    check_moments(nuts(Groups(), chains=16, draws=400, warmup=300, key=3, progress=False), mean, scale)
    found = nuts(GammaRegression(), chains=16, draws=400, warmup=300, metric="dense", key=4, progress=False)
    mean, scale, _ = gamma_regression_grid(found.positions.mean(axis=(0, 1)), found.positions.std(axis=(0, 1)))
    check_moments(found, mean, scale)


def test_eight_schools():
    wanted = eight_schools_moments()
    unpacked = nuts(eight_schools_density(), chains=32, draws=400, warmup=300, key=5, progress=False).unpacked
    theta = unpacked["mu"][..., None] + unpacked["tau"][..., None] * unpacked["eta"]
    for mean, values in zip(wanted.values(), (unpacked["mu"], unpacked["tau"], theta), strict=True):
        check_means(values, mean, 2000)


def test_rejecting_what_is_not_finite_leaves_the_distribution_right():
    found = nuts(hill, chains=32, initial=np.zeros(2), key=11, **FIXED | {"draws": 400, "step_size": 0.5})
    x, wanted = found.positions[:, 20:, 0], stats.truncnorm(-np.inf, 1.5)
    assert found.divergences.any() and (x < 1.5).all()
    check_means(x[..., None], [wanted.mean()], 500)
    check_means(x[..., None] ** 2, [wanted.var() + wanted.mean() ** 2], 500)


def test_draws_depend_on_nothing_but_the_chain(monkeypatch):
    given = FIXED | {"warmup": 60, "step_size": None, "key": 9}
    few, many = (nuts(Gaussian(), chains=chains, **given) for chains in (3, 40))
    monkeypatch.setattr(run, "SPAN", 0.0)  # one gradient at a time
    slow = nuts(Gaussian(), chains=3, **given)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:3])
        np.testing.assert_array_equal(getattr(few, name), getattr(slow, name))
    assert len(np.unique(many.positions[:, -1, 0])) == 40
    other = nuts(Gaussian(), chains=3, **given | {"key": 10})
    assert not (few.positions == other.positions).any(axis=(0, 2)).any()


@pytest.mark.parametrize("chains", [1, 7])
def test_launches_of_all_chains_give_the_same_draws(monkeypatch, chains):
    given = FIXED | {"warmup": 30, "step_size": None, "key": 9, "chains": chains, "metric": "dense"}
    alone = nuts(Groups(), **given)
    monkeypatch.setattr(run.Gradients, "entry", None)
    launched = nuts(Groups(), **given)
    np.testing.assert_allclose(launched.positions[:, :5], alone.positions[:, :5], rtol=1e-6)  # chaos takes over later
    np.testing.assert_array_equal(launched.steps[:, :5], alone.steps[:, :5])
    target = Target.of(Groups())
    points = np.random.default_rng(0).normal(size=(5, 7))
    monkeypatch.undo()
    by_entry = run.Gradients(target)(points)
    monkeypatch.setattr(run.Gradients, "entry", None)
    for one, other in zip(by_entry, run.Gradients(target)(points), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_trees_are_no_deeper_than_asked():
    found = nuts(Gaussian(), chains=2, **FIXED | {"step_size": 1e-3}, max_depth=4)
    assert (found.steps == 15).all()
    assert (nuts(Gaussian(), chains=2, **FIXED, max_depth=1).steps == 1).all()


def test_a_metric_that_is_given_stays():
    for metric in (np.array([1.0, 2.0, 25.0]), COVARIANCE):
        found = nuts(Gaussian(), chains=2, key=15, metric=metric, **FIXED | {"warmup": 30})
        np.testing.assert_allclose(found.metric, np.broadcast_to(metric, found.metric.shape), rtol=1e-12)


def test_chains_begin_where_the_density_is_finite():
    found = nuts(Positive(), chains=32, key=13, **FIXED)
    assert np.isfinite(found.log_densities).all() and (found.positions > 0.0).all()
    with pytest.raises(ValueError, match="at none of 100 points"):
        nuts(Nowhere(), chains=2, **FIXED)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scales_that_are_far_from_one(scale):
    found = nuts(lambda x: logpdf(Normal(0.0, scale), x).sum(), initial=np.full(2, scale), key=1, draws=300, warmup=300,
                 chains=8, progress=False)  # fmt: skip
    check_moments(found, np.zeros(2), np.full(2, scale))


def test_a_density_that_is_flat_is_told():
    with pytest.warns(UserWarning, match="does not fall"):
        nuts(lambda x: -0.5 * x[0] ** 2 + 0.0 * x[1], initial=np.zeros(2), draws=50, warmup=50, max_depth=4,
             progress=False)  # fmt: skip


@pytest.mark.parametrize(("warmup", "before"), [(0, 6), (30, 3)])
def test_an_interruption_returns_what_was_drawn(monkeypatch, warmup, before):
    whole, turns = nuts(Gaussian(), chains=3, key=14, **FIXED), []
    make = run.alone

    def interrupted(*given):
        inner = make(*given)

        def some(most):
            turns.append(most)
            if len(turns) > before:
                raise KeyboardInterrupt
            inner(most)

        return some

    monkeypatch.setattr(run, "alone", interrupted)
    part = nuts(Gaussian(), chains=3, key=14, **FIXED | {"warmup": warmup})
    done = part.positions.shape[1]
    assert part.interrupted and not whole.interrupted
    assert part.acceptance.shape == part.steps.shape == (3, done) and (0 < done < 40 if not warmup else done == 0)
    if not warmup:
        np.testing.assert_array_equal(part.positions, whole.positions[:, :done])


def test_progress_is_shown_on_stderr(capsys):
    nuts(Gaussian(), chains=3, **FIXED | {"progress": True})
    out, err = capsys.readouterr()
    last = err.rstrip("\n").rpartition("\r")[2]
    assert out == "" and err.endswith("\n")
    assert "40/40 of 3 chains" in last and "step size 0.3" in last and "0 divergences" in last and "draws/s" in last


@pytest.mark.parametrize(("arguments", "message"), [
    ({"step_size": None}, "step_size must be given"),
    ({"chains": 0}, "given 0 chains"),
    ({"metric": "full"}, "metric is one of"),
    ({"max_depth": 0}, "max_depth is between 1 and 20"),
    ({"max_depth": 21}, "max_depth is between 1 and 20"),
    ({"initial": np.zeros(2)}, "initial has shape"),
    ({"initial": np.array([0.0, np.inf, 0.0])}, "not finite where chain 0"),
])  # fmt: skip
def test_what_cannot_be_meant(arguments, message):
    with pytest.raises(ValueError, match=message):
        nuts(Gaussian(), **{"chains": 4, **FIXED, **arguments})


def test_no_draws_are_no_draws():
    found = nuts(Gaussian(), chains=2, draws=0, warmup=0, step_size=0.1, progress=False)
    assert found.positions.shape == (2, 0, 3) and found.steps.shape == (2, 0)
