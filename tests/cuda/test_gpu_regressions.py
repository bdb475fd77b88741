"""Designs that chains share, and wide ones: one launch where a thread has room for the sums, and what NumPy finds."""

import numpy as np
import pytest

import vecdist
from vecdist import logpdf
from vecdist.distributions import Bernoulli, Normal, Poisson
from vecdist.passes.contractions import by_library

pytestmark = pytest.mark.cuda

TOLERANCE = {"f4": 3e-6, "f8": 3e-14}


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def drawn(seed, rows, columns, dtype, *lead):
    """A design, counts, offsets and slopes; some designs are slices, which begin anywhere, or lie by columns."""
    rng = np.random.default_rng(seed)
    whole = (rng.normal(size=(rows + 1, columns + 2)) / np.sqrt(columns)).astype(dtype)
    design = [whole[1:, :columns].copy(), whole[1:, 1 : columns + 1], np.asfortranarray(whole[1:, :columns])][seed % 3]
    slopes = rng.normal(size=(*lead, columns)).astype(dtype)
    return design, rng.poisson(1.5, rows).astype(dtype), rng.normal(size=lead).astype(dtype) * 0.3, slopes


def truth(design, counts, start, slopes, family):
    """Values, and gradients in offsets and slopes, by NumPy in float64."""
    x, y, a, b = (each.astype("f8") for each in (design, counts, start, slopes))
    score = b @ x.T + a[..., None]
    if family == "Poisson":
        mean = np.exp(score)
        value, slope = y * score - mean - np.array([sum(np.log(np.arange(1, n + 1))) for n in y]), y - mean
    else:
        y = (y > 1).astype("f8")
        value, slope = y * score - np.logaddexp(0.0, score), y - 1 / (1 + np.exp(-score))
    prior = -0.5 * (b * b).sum(-1) - 0.5 * b.shape[-1] * np.log(2 * np.pi)
    return value.sum(-1) + prior, slope.sum(-1), slope @ x - b


def density(family):
    def total(start, slopes, design, counts):
        score = start + design @ slopes
        rows = Poisson(np.exp(score)) if family == "Poisson" else Bernoulli(logit=score)
        seen = counts if family == "Poisson" else np.where(counts > 1, 1.0, 0.0).astype(counts.dtype)
        return logpdf(rows, seen).sum() + logpdf(Normal(0.0, 1.0), slopes).sum()

    return total


def judged(found, wanted, dtype):
    value, (start, slopes) = found
    for mine, other in zip((value, start, slopes), wanted, strict=True):
        assert mine.dtype == dtype
        scale = np.abs(other).max() + np.sqrt(np.abs(wanted[0]).max())
        np.testing.assert_allclose(mine.get(), other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("seed", range(30))
def test_chains_over_one_design(cupy, seed):
    rng = np.random.default_rng(100 + seed)
    chains = int(rng.choice([1, 2, 3, 4, 8, 16, 31, 64, 65, 100, 128, 200, 300, 1000, 3000, 9000]))
    columns = int(rng.choice([2, 3, 5, 8, 12, 13, 24, 25, 30, 36, 37, 50]))
    rows = int(rng.choice([60, 100, 333, 800] if seed % 3 else [1024, 3001, 20_000]))
    dtype, family = ("f4", "f8")[seed % 2], ("Poisson", "Bernoulli")[seed // 2 % 2]
    design, counts, start, slopes = drawn(seed, rows, columns, dtype, chains)
    fast = vecdist.compile(density(family), in_axes=(0, 0, None, None))
    given = *map(cupy.asarray, (start, slopes)), cupy.asarray(design, order="A"), cupy.asarray(counts)
    found = fast.value_and_grad(*given, wrt=(0, 1))
    judged(found, truth(design, counts, start, slopes, family), dtype)
    again = fast.value_and_grad(*given, wrt=(0, 1))
    assert all((mine == other).all() for mine, other in zip((found[0], *found[1]), (again[0], *again[1]), strict=True))
    if columns <= 36 and not by_library((rows, columns), chains, np.dtype(dtype), on_gpu=True, is_summed=True):
        kernels = vecdist.explain(fast, (0, 1), given).kernels
        assert sum(kernel.launches for kernel in kernels) == 1


SCORES = {
    "rows": lambda slopes, design: slopes @ design.T,
    "columns": lambda slopes, design: (design @ slopes.T).T,
    "sum": lambda slopes, design: (slopes[:, None] * design).sum(-1),
    "turned sum": lambda slopes, design: (design.T[:, :, None] * slopes.T[:, None]).sum(0).T,
}


@pytest.mark.parametrize("seed", range(32))
def test_products_with_one_design_written_by_hand(cupy, seed):
    rng = np.random.default_rng(300 + seed)
    vectors, rows = int(rng.choice([1, 2, 4, 8, 30, 64, 300, 4100])), int(rng.choice([60, 700, 1023, 1024, 5000]))
    columns, dtype = int(rng.choice([2, 7, 16, 17, 37, 38, 64, 200])), ("f4", "f8")[seed // 4 % 2]
    score, family = SCORES[[*SCORES][seed % 4]], ("Poisson", "Bernoulli")[seed // 8 % 2]
    design, counts, start, slopes = drawn(seed, rows, columns, dtype, vectors)

    def total(start, slopes, design, counts):
        of_rows = start[:, None] + score(slopes, design)
        seen = Poisson(np.exp(of_rows)) if family == "Poisson" else Bernoulli(logit=of_rows)
        counts = counts if family == "Poisson" else np.where(counts > 1, 1.0, 0.0).astype(counts.dtype)
        return logpdf(seen, counts).sum() + logpdf(Normal(0.0, 1.0), slopes).sum()

    given = *map(cupy.asarray, (start, slopes)), cupy.asarray(design, order="A"), cupy.asarray(counts)
    value, *wanted = truth(design, counts, start, slopes, family)
    fast = vecdist.compile(total)
    found = fast.value_and_grad(*given, wrt=(0, 1))
    judged(found, (value.sum(), *wanted), dtype)
    again = fast.value_and_grad(*given, wrt=(0, 1))
    assert all((mine == other).all() for mine, other in zip((found[0], *found[1]), (again[0], *again[1]), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_wide_designs(cupy, seed):
    rng = np.random.default_rng(200 + seed)
    columns = int(rng.choice([65, 96, 100, 128, 200, 255, 256, 500, 1000, 1024, 1025, 1500, 2047, 2048]))
    rows, dtype = int(rng.choice([2048, 2100, 4097])), ("f4", "f8")[seed % 2]
    family = ("Poisson", "Bernoulli")[seed // 2 % 2]
    design, counts, start, slopes = drawn(seed, rows, columns, dtype)
    fast = vecdist.compile(density(family))
    given = *map(cupy.asarray, (start, slopes)), cupy.asarray(design, order="A"), cupy.asarray(counts)
    judged(fast.value_and_grad(*given, wrt=(0, 1)), truth(design, counts, start, slopes, family), dtype)


def test_products_whose_elements_are_wanted_are_left_to_a_library(cupy):
    design, _, _, slopes = (cupy.asarray(each) for each in drawn(0, 5000, 24, "f4", 100))
    fast = vecdist.compile(lambda slopes, design: np.tanh(design @ slopes), in_axes=(0, None))
    np.testing.assert_allclose(fast(slopes, design).get(), np.tanh(slopes @ design.T).get(), rtol=1e-5, atol=1e-6)
    assert "product(" in vecdist.explain(fast, arrays=(slopes, design)).derived
