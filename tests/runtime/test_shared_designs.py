"""Regressions of several chains over one design on the CPU: a strip of rows serves all chains; judged by NumPy."""

import numpy as np
import pytest
from scipy.special import expit, gammaln
from uncompiled import uncompiled

import vecdist
from vecdist.distributions import Bernoulli, Normal, Poisson


def bernoulli(rng, dtype, rows):
    def density(score, sizes, y):
        return vecdist.logpdf(Bernoulli(logit=score), y)

    def wanted(score, sizes, y):
        return y * score - np.logaddexp(0, score), y - expit(score), np.zeros_like(score)

    return density, wanted, rng.integers(0, 2, rows).astype(dtype)


def poisson(rng, dtype, rows):
    def density(score, sizes, y):
        return vecdist.logpdf(Poisson(np.exp(score)), y)

    def wanted(score, sizes, y):
        return y * score - np.exp(score) - gammaln(y + 1), y - np.exp(score), np.zeros_like(score)

    return density, wanted, rng.poisson(1.5, rows).astype(dtype)


def normal(rng, dtype, rows):
    """Of which the scale has a predictor, too."""

    def density(score, sizes, y):
        return vecdist.logpdf(Normal(score, np.exp(sizes)), y)

    def wanted(score, sizes, y):
        z = (y - score) * np.exp(-sizes)
        return -0.5 * z**2 - sizes - 0.5 * np.log(2 * np.pi), z * np.exp(-sizes), z**2 - 1

    return density, wanted, rng.normal(size=rows).astype(dtype)


@pytest.mark.parametrize("seed", range(24))
def test_random_designs(seed):
    check(*made(np.random.default_rng(seed), 700, 300))


@pytest.mark.parametrize("seed", range(6))
def test_random_designs_without_a_compiler(seed):
    with uncompiled():
        check(*made(np.random.default_rng(1000 + seed), 150, 20))


def made(rng, most_rows, most_columns):
    """A log density of one chain, what its terms and slopes are, and its arrays, those of chains first."""
    dtype = rng.choice([np.float32, np.float64])
    chains, rows = int(rng.integers(1, 20)), int(rng.integers(1, most_rows))
    columns = int(rng.integers(1, rng.choice([4, 20, most_columns])))
    density, wanted, y = [bernoulli, poisson, normal][rng.integers(3)](rng, dtype, rows)
    x = rng.normal(size=(rows, columns)).astype(dtype)
    if rng.random() < 0.2:
        x = np.asfortranarray(x)
    beta, gamma = ((rng.normal(size=(chains, columns)) / (3 * np.sqrt(columns))).astype(dtype) for _ in range(2))
    level = rng.normal(size=chains).astype(dtype)
    offset = (0.2 * rng.normal(size=rows)).astype(dtype)
    return density, wanted, (beta, gamma, level), (x, offset, y)


def check(density, wanted, parameters, data):
    def of_chain(beta, gamma, level, x, offset, y):
        return density(x @ beta + level + offset, x @ gamma, y).sum() - 0.5 * (beta**2).sum()

    chains = vecdist.compile(of_chain, in_axes=(0, 0, 0, None, None, None))
    values, found = chains.value_and_grad(*parameters, *data, wrt=(0, 1, 2))
    eps = np.finfo(parameters[0].dtype).eps
    beta, gamma, level, x, offset, y = (np.asarray(each, np.float64) for each in (*parameters, *data))
    terms, of_score, of_size = wanted(beta @ x.T + level[:, None] + offset, gamma @ x.T, y)
    gradients = of_score @ x - beta, of_size @ x, of_score.sum(-1)
    sizes = np.abs(of_score) @ np.abs(x) + np.abs(beta), np.abs(of_size) @ np.abs(x), np.abs(of_score).sum(-1)
    assert np.all(np.abs(values - terms.sum(-1) + 0.5 * (beta**2).sum(-1)) <= 40 * eps * (1 + np.abs(terms).sum(-1)))
    for one, gradient, size in zip(found, gradients, sizes, strict=True):
        assert np.all(np.abs(one - gradient) <= 60 * eps * (1 + size))


def source_of(chains, rows=3000, columns=20):
    rng = np.random.default_rng(1)
    x, beta = rng.normal(size=(rows, columns)), rng.normal(size=(chains, columns))
    y = rng.integers(0, 2, rows).astype(float)
    compiled = vecdist.compile(lambda b, x, y: vecdist.logpdf(Bernoulli(logit=x @ b), y).sum(), in_axes={"b": 0})
    return vecdist.explain(compiled, (0,), (beta, x, y)).kernels


@pytest.mark.parametrize("chains", [2, 8, 16])
def test_a_strip_of_the_design_serves_all_chains(chains):
    (kernel,) = source_of(chains)
    lines = [line.strip() for line in kernel.source.split("\n")]
    strip = lines.index("stop = min(start + 256, end)")
    of_chains = lines.index("for i3 in range(n0):")
    products = [place for place, line in enumerate(lines) if line.startswith("gemv")]
    assert strip < of_chains < min(products) and len(products) == 2


def test_a_library_multiplies_for_very_many():
    assert not any("gemv" in kernel.source for kernel in source_of(400, 300, 60))


def test_sums_of_columns_that_are_no_product_of_rows():
    x, y = np.random.default_rng(3).normal(size=(2, 50, 300))
    np.testing.assert_allclose((vecdist.lazy(x) * y).sum(axis=0), (x * y).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose((vecdist.lazy(x) * y[0]).sum(axis=0), (x * y[0]).sum(axis=0), rtol=1e-12)
