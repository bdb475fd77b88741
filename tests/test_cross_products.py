"""Regressions on data as quadratic forms: beside balls of 300 bits, and where rows are read as before."""

import flint
import numpy as np
import pytest
from uncompiled import uncompiled

import vecdist
from vecdist import InvalidParameter, chunked, data, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import positive, real
from vecdist.runtime import cross_products, pipeline
from vecdist.samplers import hmc, nuts

EPS = np.finfo(float).eps
UNITS = 4.0  # of rounding; of a hundred such problems none is off by more than 1.2, in either way


@pytest.fixture
def used(monkeypatch):
    """Whether each structure that was asked for was collapsed."""
    seen = []

    def told(bound, kind):
        found = cross_products.collapsed(bound, kind)
        seen.append(found is not bound)
        return found

    monkeypatch.setattr(pipeline, "collapsed", told)
    return seen


def problem(seed, rows=60):
    """A regression whose columns have any scales and levels, some of one number, and slopes near and far."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 8))
    scale, level = 10.0 ** rng.uniform(-6, 6, count), rng.choice([0.0, 1.0, 1e3, 1e6], count)
    x = (rng.normal(size=(rows, count)) + level) * scale
    if rng.uniform() < 0.4:
        x[:, 0] = rng.choice([1.0, 3.7])
    slopes = rng.normal(size=count) / scale
    y = x @ slopes + rng.choice([0.0, 1e5]) + 10.0 ** rng.uniform(-1, 1) * rng.normal(size=rows)
    guess = slopes + rng.choice([1e-3, 1.0, 1e4]) * rng.normal(size=count) / scale
    return x, y, guess, float(rng.normal()), float(10.0 ** rng.uniform(-2, 2))


def exactly(x, y, b, a, s):
    """The log density, its slopes, and by how much terms of single rows are larger than these, by balls."""
    flint.ctx.prec = 300
    ball = flint.arb
    s_, half = ball(s), ball(1) / 2
    value, in_a, in_b, in_s = ball(0), ball(0), [ball(0)] * len(b), ball(0)
    for row, seen in zip(x.tolist(), y.tolist(), strict=True):
        z = (ball(seen) - sum((ball(u) * ball(v) for u, v in zip(row, b.tolist(), strict=True)), ball(a))) / s_
        value -= z * z * half + s_.log() + (2 * ball.pi()).log() * half
        in_a += z / s_
        in_b = [each + z / s_ * ball(u) for each, u in zip(in_b, row, strict=True)]
        in_s += (z * z - 1) / s_
    return float(value), np.array([*map(float, in_b), float(in_a), float(in_s)])


def model(x, y):
    return lambda b, a, s: logpdf(Normal(x @ b + a, s), y).sum()


def derived(x, y, b, a, s):
    given = [lazy(each) for each in (b, a, s)]
    found, slopes = vecdist.value_and_grad(model(x, y)(*given), wrt=given)
    return float(found), np.concatenate([np.atleast_1d(np.asarray(each)) for each in slopes])


def errors(found, wanted, x, y, b, a, s):
    """Errors of a value and its slopes, in units of rounding what rows are made of."""
    value, slopes = wanted
    large = np.abs(y) + np.abs(x) @ np.abs(b) + abs(a)
    z = np.abs(y - x @ b - a) + 4.0 * EPS * large
    by_value = EPS * ((z * (z + large)).sum() / s**2 + len(y) * (1.0 + abs(np.log(s))))
    columns = np.column_stack([np.abs(x), np.ones(len(y))])
    by_slope = np.append(EPS * (columns * (z + large)[:, None]).sum(axis=0) / s**2, 4.0 * by_value / s)
    return max(abs(found[0] - value) / by_value, (np.abs(found[1] - slopes) / by_slope).max())


@pytest.mark.parametrize("seed", range(40))
def test_regressions_of_any_scale(seed, used):
    """The errors are those that rounding a row's own numbers makes, as they are where rows are read."""
    x, y, b, a, s = problem(seed)
    wanted = exactly(x, y, b, a, s)
    found, read = derived(data(x), data(y), b, a, s), derived(lazy(x), lazy(y), b, a, s)
    assert used[0]
    assert errors(found, wanted, x, y, b, a, s) < UNITS
    assert errors(read, wanted, x, y, b, a, s) < UNITS
    near = np.abs(np.concatenate([[wanted[0]], wanted[1]]))
    np.testing.assert_allclose([found[0], *found[1]], [wanted[0], *wanted[1]], rtol=1e-8, atol=1e-10 * near.max())


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_nearly_cancel(seed, used):
    """As far as they may, so that most digits that may be lost are: the errors are those of rows' own numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 3))
    x[:, 2] = x[:, 0] + 0.04 * rng.normal(size=200)
    x = x * [1e3, 1e-4, 1e3] + [1e6, 0.0, 5e5]
    b = rng.normal(size=3) * [1e-3, 1e4, 1e-3]
    y = x @ b + 0.2 * rng.normal(size=200)
    found = derived(data(x), data(y), b, 0.01, 0.5)
    assert used[0]
    assert errors(found, exactly(x, y, b, 0.01, 0.5), x, y, b, 0.01, 0.5) < UNITS


def test_what_nearly_cancels_is_read_by_row(used):
    """Columns that nearly depend on one another, or what is regressed on them on all: bits are those of rows."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3))
    close = x.copy()
    close[:, 2] = x[:, 0] + 1e-3 * rng.normal(size=50)
    twice = np.column_stack([x, x[:, 1]])
    for rows, noise in ((close, 1.0), (twice, 1.0), (x, 1e-6)):
        b = np.ones(rows.shape[1])
        y = rows @ b + noise * rng.normal(size=50)
        kept, read = (float(model(mark(rows), mark(y))(lazy(b), 0.5, 2.0)) for mark in (data, lazy))
        assert kept == read
    wide = rng.normal(size=(400, cross_products.MOST))
    float(model(data(wide), data(wide[:, 0] + rng.normal(size=400)))(lazy(np.ones(wide.shape[1])), 0.5, 2.0))
    assert not any(used)


FORMS = {
    "square": lambda x, y, b, c: ((y - x @ b) ** 2).sum(),
    "by hand": lambda x, y, b, c: ((y - (x * b).sum(axis=1)) * (y - x @ b - c)).sum() / (1.0 + c * c),
    "two lines": lambda x, y, b, c: ((x @ b + c) * (y * c - x @ (2.0 * b)) + (y - x @ b) / c).sum(),
    "logarithms": lambda x, y, b, c: (c - ((np.log(y * y) - x @ b) / c) ** 2 - x @ b).mean(),
    "two matrices": lambda x, y, b, c: ((y - x @ b - (x * x) @ (c * b)) ** 2).sum(),
    "a line alone": lambda x, y, b, c: (x @ b + c).sum() + ((y - x @ b) ** 2).sum(),
}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", FORMS)
def test_forms_and_their_derivatives(name, used):
    rng = np.random.default_rng(3)
    x, y, b = rng.normal(size=(80, 3)) + 2.0, rng.normal(size=80), np.array([0.5, -1.0, 2.0])

    def by(mark, order):
        rows, seen = mark(x), mark(y)
        at = lazy(b)
        found = FORMS[name](rows, seen, at, lazy(1.5))
        return np.asarray(vecdist.hessian(found, at) if order else vecdist.value_and_grad(found, wrt=[at])[1][0])

    value = float(FORMS[name](data(x), data(y), lazy(b), lazy(1.5)))
    assert used == [True]
    np.testing.assert_allclose(value, FORMS[name](x, y, b, 1.5), rtol=1e-12)
    for order in (0, 1):
        np.testing.assert_allclose(by(data, order), by(lazy, order), rtol=1e-10, atol=1e-9)


def test_what_is_not_finite_is_what_it_was(used):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    density = vecdist.LogDensity(model(data(x), data(y)), b=real(2), a=real(), s=positive())
    for wrong in (np.inf, -np.inf, np.nan):
        assert not np.isfinite(density.logdensity(np.array([wrong, 1.0, 0.0, 0.0])))
    assert used[0]
    with pytest.raises(InvalidParameter, match=r"Normal: loc\[0\] = -?inf"):
        float(model(data(x), data(y))(lazy(np.array([np.inf, 1.0])), 0.0, 1.0))
    with pytest.raises(InvalidParameter, match=r"Normal: \w+ = -1\.0"):
        float(model(data(x), data(y))(lazy(np.ones(2)), 0.0, -1.0))
    del used[:]
    outside = np.where(np.arange(30) == 7, np.inf, y)
    assert float(model(data(x), data(outside))(lazy(np.ones(2)), 0.0, 1.0)) == -np.inf
    assert not any(used)


class Counted:
    """An array that counts how often it is read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.ndim, self.reads = array, array.shape, array.dtype, array.ndim, 0

    def __getitem__(self, key):
        self.reads += 1
        return self.array[key]


def test_rows_in_chunks_are_read_once():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(5000, 4)) * [1.0, 1e3, 1e-4, 1.0] + 5.0, rng.normal(size=5000)
    files = Counted(x), Counted(y)
    kept = [data(chunked(file, rows=700)) for file in files]
    density, memory = (
        vecdist.LogDensity(model(*rows), b=real(4), a=real(), s=positive()) for rows in (kept, (data(x), data(y)))
    )
    points = rng.normal(size=(6, 6)) * [1.0, 1e-3, 1e4, 1.0, 1.0, 1.0]
    found = density.logdensity_and_gradient(points[0])
    reads = [file.reads for file in files]
    for point in points:
        found, wanted = density.logdensity_and_gradient(point), memory.logdensity_and_gradient(point)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-9)
    assert [file.reads for file in files] == reads


def test_many_vectors_samplers_and_functions_of_numba(used):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)

    def density(mark):
        return vecdist.LogDensity(model(mark(x), mark(y)), b=real(3), a=real(), s=positive())

    kept, read = density(data), density(lazy)
    points = rng.normal(size=(7, 5))
    values, gradients = kept.logdensity_and_gradient(points)
    with uncompiled():
        wanted = density(lazy).logdensity_and_gradient(points)
    for one, other in zip((values, gradients), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    slopes = np.empty(5)
    value = vecdist.device_function(kept, gradient=True)(points[0], slopes)
    np.testing.assert_allclose(value, wanted[0][0], rtol=1e-12)
    np.testing.assert_allclose(slopes, wanted[1][0], rtol=1e-10)
    given = {"chains": 3, "draws": 4, "warmup": 0, "step_size": 0.05, "initial": np.zeros(5), "progress": False}
    for sampler in (hmc, nuts):
        del used[:]
        one = sampler(kept, **given)
        assert any(used)
        np.testing.assert_allclose(one.positions, sampler(read, **given).positions, rtol=1e-6, atol=1e-9)
