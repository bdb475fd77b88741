"""Long rows, and short ones beside them: whichever way a kernel is planned, the numbers are the same."""

import numpy as np
import pytest
from interpreting import by_interpreter

import vecdist
from vecdist import lazy, logpdf, logsumexp, value_and_grad
from vecdist.codegen.cpu.row_sizes import LONG, SHORT
from vecdist.distributions import Gamma, Laplace, Normal
from vecdist.runtime.cpu.threads import Threaded
from vecdist.runtime.pipeline import compilations

LENGTHS = (LONG - 1, 600)


def arrays(chains, count, dtype, groups=5):
    """Means of groups, scales, and what is seen, some of it far out and some at an end of the support."""
    rng = np.random.default_rng([chains, count])
    effects, scales = rng.normal(size=(chains, groups)), rng.uniform(0.5, 2.0, (chains, 1))
    seen = rng.gamma(2.0, 1.0, count)
    seen[::7] = 1e-30
    group = rng.integers(-groups, groups, count)
    return effects.astype(dtype), scales.astype(dtype), group, seen.astype(dtype)


def grouped(effects, scales, group, seen):
    return logpdf(Gamma(scales, np.exp(effects[:, group])), seen).sum() + logpdf(Normal(0.0, 1.0), effects).sum()


def mixed(effects, scales, group, seen):
    parts = logpdf(Laplace(effects[:, None, :], scales[:, :, None]), seen[:, None])
    return logsumexp(parts, axis=-1).sum()


def rows_again(effects, scales, group, seen):
    """What is seen in a row's first part decides of its second."""
    middle = logpdf(Normal(scales, 1.0), seen).mean(axis=1, keepdims=True)
    return (np.exp(effects[:, group] * 0.1) * middle).sum() + (middle**2).sum()


@pytest.mark.parametrize(
    ("model", "dtype"), [(grouped, "f8"), (grouped, "f4"), (mixed, "f8"), (rows_again, "f8")],
    ids=lambda each: getattr(each, "__name__", each),
)  # fmt: skip
def test_values_and_gradients(model, dtype):
    fast = vecdist.compile(model)
    for chains in (3, 20):
        for count in LENGTHS:
            given = arrays(chains, count, dtype)
            value, slopes = fast.value_and_grad(*given, wrt=(0, 1))
            effects, scales, group, seen = (array.astype("f8") if array.dtype.kind == "f" else array for array in given)
            wide = lazy(effects), lazy(scales)
            with by_interpreter():
                truth, wanted = value_and_grad(model(*wide, group, seen), wide)
            rtol = 1e-11 if dtype == "f8" else 2e-4
            np.testing.assert_allclose(value, truth, rtol=rtol)
            for mine, other in zip(slopes, wanted, strict=True):
                np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol * max(1.0, np.abs(other).max()))


def tabled(shapes, scales, seen):
    return logpdf(Gamma(np.exp(shapes), np.exp(scales)), seen).sum()


def weighed(shapes, scales, seen):
    """Elements that are summed over rows need a reduction of their row."""
    return logsumexp(shapes + logpdf(Gamma(2.0, np.exp(scales)), seen), axis=-1).sum()


def row_sums(shapes, scales, seen):
    return (np.exp(shapes) * seen).sum(axis=-1).sum() + ((seen - scales) ** 2).sum(axis=-2).sum()


@pytest.mark.parametrize(
    ("model", "chains"), [(tabled, (3, 1)), (weighed, (3, 1)), (row_sums, ())],
    ids=lambda each: getattr(each, "__name__", str(each)),
)  # fmt: skip
def test_tables_of_few_columns(model, chains):
    fast, rng = vecdist.compile(model), np.random.default_rng(5)
    for rows, columns in ((40, SHORT), (300, SHORT + 1)):
        given = *rng.normal(scale=0.3, size=(2, *chains, columns)), rng.gamma(2.0, 1.0, (rows, columns))
        value, slopes = fast.value_and_grad(*given, wrt=(0, 1))
        wide = tuple(map(lazy, given[:2]))
        with by_interpreter():
            truth, wanted = value_and_grad(model(*wide, given[2]), wide)
        np.testing.assert_allclose(value, truth, rtol=1e-12)
        for mine, other in zip(slopes, wanted, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(other).max()))


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    """Also where rows add to elements of their own, for which no thread has copies."""
    given = arrays(6, 5000, "f8", groups=300)
    explained = vecdist.explain(grouped(*map(lazy, given)), wrt=())
    assert "each row of the loop" in str(explained)
    alone = vecdist.compile(grouped).value_and_grad(*given, wrt=(0, 1))
    monkeypatch.setattr("vecdist.runtime.cpu.backend.Trial", _shared)
    together = vecdist.compile(grouped).value_and_grad(*given, wrt=(0, 1))
    np.testing.assert_array_equal(alone[0], together[0])
    for one, other in zip(alone[1], together[1], strict=True):
        np.testing.assert_array_equal(one, other)


def _shared(alone, shared, work, pace):
    """A launch that is always shared."""
    found = shared()
    assert isinstance(found, Threaded)
    found.run = found.__call__
    return found


def test_only_two_plans_for_all_lengths():
    fast = vecdist.compile(lambda a, x: logpdf(Normal(a, 1.0), x).sum())
    before = compilations()
    for count in (9, LONG - 1, LONG, 10 * LONG):
        fast.value_and_grad(np.zeros((4, 1)), np.zeros(count), wrt=0)
    assert compilations() - before <= 2
