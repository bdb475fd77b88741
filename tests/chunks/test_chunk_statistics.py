"""Data in chunks that never change: what depends on them alone is computed once, and chunks are read no more."""

import dask.array as da
import numpy as np
import pytest
from scipy import special

import vecdist
from vecdist import LogDensity, data, lazy, logpdf, value_and_grad
from vecdist.distributions import Beta, Gamma, LogNormal, Normal, Poisson, StudentT
from vecdist.parameters import positive, real
from vecdist.runtime.chunks import moments
from vecdist.samplers import hmc

ROWS = 500
RNG = np.random.default_rng(5)
POSITIVE, REAL = RNG.gamma(3.0, 1.5, ROWS), RNG.normal(2.0, 3.0, ROWS)
COUNTS, UNIT = RNG.poisson(3.0, ROWS), RNG.beta(2.0, 3.0, ROWS)
CASES = {
    "Gamma": (Gamma, (2.5, 1.25), POSITIVE), "Normal": (Normal, (0.5, 2.0), REAL), "Poisson": (Poisson, (2.5,), COUNTS),
    "LogNormal": (LogNormal, (0.5, 1.5), POSITIVE), "Beta": (Beta, (1.5, 2.0), UNIT),
    "Normal of few digits": (Normal, (0.5, 2.0), (REAL + 1e4).astype(np.float32)),
}  # fmt: skip


ONCE = 1.0 + 50 / ROWS  # passes: one, and some rows, whose mean is near that of all


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few rows are some."""
    monkeypatch.setattr(moments, "SOME", 50)


class Counted:
    """What gives slices, and counts how often all rows were read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.rows = array, array.shape, array.dtype, 0

    def __getitem__(self, key):
        found = self.array[key]
        self.rows += len(found)
        return found

    def passes(self):
        """How often since this was asked last."""
        found, self.rows = self.rows / self.shape[0], 0
        return found


def flat(found):
    return np.hstack([np.ravel(found[0]), *map(np.ravel, found[1])])


@pytest.mark.parametrize("name", CASES)
def test_sufficient_statistics_are_computed_once(uncompiled, name):
    family, parameters, x = CASES[name]
    source = Counted(x)
    file, chunks = data(vecdist.chunked(source, rows=130)), data(da.from_array(x, chunks=130))
    for factor in (1.0, 1.1, 0.9):
        given = tuple(np.asarray(parameter * factor, x.dtype if x.dtype == np.float32 else float)
                      for parameter in parameters)  # fmt: skip
        wanted = flat(value_and_grad(logpdf(family(*given), x.astype(float)).sum(), wrt=given))
        found = flat(value_and_grad(logpdf(family(*given), file).sum(), wrt=given))
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if x.dtype == np.float32 else 1e-11)
        assert source.passes() == (ONCE if factor == 1.0 else 0)
        np.testing.assert_array_equal(flat(value_and_grad(logpdf(family(*given), chunks).sum(), wrt=given)), found)


@pytest.mark.parametrize("name", ["Gamma", "Normal", "LogNormal"])
def test_second_derivatives_read_the_rows_no_more(uncompiled, name):
    family, parameters, x = CASES[name]
    source, points = Counted(x), np.array(parameters)
    once = data(vecdist.chunked(source, rows=130))

    def second(seen):
        return vecdist.hessian(logpdf(family(lazy(points)[0], lazy(points)[1]), seen).sum(), points)

    for _ in range(2):
        np.testing.assert_allclose(second(once), second(x), rtol=1e-10, atol=1e-10)
    assert source.passes() == ONCE


FAR = {
    "far from zero": 1e8 + RNG.normal(size=ROWS), "sorted": np.sort(RNG.normal(size=ROWS)) ** 3,
    "a step": np.where(np.arange(ROWS) < 50, 0.0, 1e6) + RNG.normal(size=ROWS), "one value": np.full(ROWS, 0.1),
    "one row": np.array([0.3]), "whole numbers": np.arange(ROWS) * 10**12,
}  # fmt: skip


@pytest.mark.parametrize("name", FAR)
def test_nothing_cancels_in_means_and_variances(uncompiled, name):
    """Judged by sums in extended precision: the first rows may be anywhere."""
    x = FAR[name]
    exact = x.astype(np.longdouble)
    mean, spread = np.array(float(exact.mean()) + 0.5 * float(exact.std())), np.array(float(exact.std()) + 0.1)
    total = logpdf(Normal(mean, spread), data(vecdist.chunked(x, rows=130))).sum()
    value, (of_mean, of_spread) = value_and_grad(total, wrt=(mean, spread))
    z = (exact - mean) / spread
    np.testing.assert_allclose(value, float((-0.5 * z**2 - np.log(spread) - 0.5 * np.log(2 * np.pi)).sum()), rtol=1e-13)
    tolerance = 1e-13 * len(x) / float(spread)
    np.testing.assert_allclose(of_mean, float((z / spread).sum()), rtol=1e-12, atol=tolerance)
    np.testing.assert_allclose(of_spread, float(((z**2 - 1) / spread).sum()), rtol=1e-12, atol=tolerance)


def test_means_of_means_and_arrays_in_memory_take_more_rounds(uncompiled):
    """What is near is not looked for where other arrays have rows."""
    x, a = data(vecdist.chunked(REAL, rows=130)), np.array(0.7)
    scaled = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean())
    z = (REAL - REAL.mean()) / REAL.std()
    for _ in range(2):
        np.testing.assert_allclose(float(logpdf(Normal(lazy(a), 1.0), scaled).sum()),
                                   (-0.5 * (z - 0.7) ** 2 - 0.5 * np.log(2 * np.pi)).sum(), rtol=1e-12)  # fmt: skip
        np.testing.assert_allclose(float(((x - data(UNIT)) * lazy(a)).sum()), 0.7 * (REAL - UNIT).sum(), rtol=1e-12)


def test_a_function_of_data_alone_is_read_once(uncompiled):
    source, a = Counted(np.stack([REAL, POSITIVE], axis=1)), np.array([0.5, -1.5])
    table = data(vecdist.chunked(source, rows=77, name="table"))
    moments, x = table.T @ table, source.array
    quadratic = (lazy(a) @ moments @ a) * table.max() + table.sum(axis=0) @ a
    wanted = a @ (x.T @ x) @ a * x.max() + x.sum(axis=0) @ a
    for place in range(2):
        value, slope = value_and_grad(quadratic, wrt=a)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose(slope, 2.0 * x.T @ x @ a * x.max() + x.sum(axis=0), rtol=1e-12)
        assert source.passes() == 1 - place


def test_what_is_left_reads_its_rows_without_the_constants(uncompiled):
    """A dear function of data is a constant, what has parameters in each row is not."""
    source, b = Counted(POSITIVE), np.array(0.3)
    y, x = data(vecdist.chunked(source, rows=130)), data(vecdist.chunked(UNIT, rows=130))
    total = (y * np.tanh(lazy(b) * x) - vecdist.special.lgamma(y)).sum()
    for passes in (ONCE + 1, 1):
        value, slope = value_and_grad(total, wrt=b)
        wanted = (POSITIVE * np.tanh(0.3 * UNIT)).sum() - special.gammaln(POSITIVE).sum()
        np.testing.assert_allclose(value, wanted, rtol=1e-11)
        np.testing.assert_allclose(slope, (POSITIVE * UNIT / np.cosh(0.3 * UNIT) ** 2).sum(), rtol=1e-11)
        assert source.passes() == passes
    source, t = Counted(REAL), np.array(4.0)
    heavy = logpdf(StudentT(t, 0.0, 1.0), data(vecdist.chunked(source, rows=130))).sum()
    for _ in range(2):
        value_and_grad(heavy, wrt=t)
        assert source.passes() == 1, "nothing of it is a sum of data alone"


def test_edges_of_the_support_are_found(uncompiled):
    for wrong, wanted in ((-1.0, -np.inf), (np.nan, np.nan)):
        x = np.where(np.arange(ROWS) == 400, wrong, POSITIVE)
        a = np.array(2.0)
        total = logpdf(Gamma(a, 1.0), data(vecdist.chunked(x, rows=130))).sum()
        np.testing.assert_array_equal([float(total), float(total)], [wanted, wanted])
    bad = np.array(-1.0)
    with pytest.raises(vecdist.InvalidParameter, match=r"shape = -1\.0 is invalid"):
        logpdf(Gamma(bad, 1.0), data(vecdist.chunked(POSITIVE, rows=130))).sum().compute()


@pytest.mark.parametrize("unnormalised", [False, True])
def test_log_densities_read_their_rows_no_more(uncompiled, unnormalised):
    def model(mu, sigma, y):
        return {"prior": logpdf(Normal(0.0, 5.0), mu), "likelihood": logpdf(Normal(mu, sigma), y)}

    source, points = Counted(REAL), np.random.default_rng(0).normal(size=(3, 2))
    kinds = {"mu": real(), "sigma": positive()}
    rows, whole = {"y": vecdist.chunked(source, rows=130)}, {"y": REAL}
    found, wanted = (LogDensity(model, rows=each, unnormalised=unnormalised, **kinds) for each in (rows, whole))
    for x in (points[0], points[1], points):
        for mine, other in zip(found.logdensity_and_gradient(x), wanted.logdensity_and_gradient(x), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-11)
        np.testing.assert_allclose(found.logdensity(x), wanted.logdensity(x), rtol=1e-11)
    assert source.passes() == ONCE, "what one structure has asked for is known in others"


def test_functions_that_others_compile_hold_statistics_but_no_chunks():
    """Machine code reads no files: where sums of data are all that is needed, it has these."""
    def model(y):
        return lambda mu, sigma: logpdf(Normal(mu, sigma), y).sum()

    x, kinds = np.array([0.3, 0.1]), {"mu": real(), "sigma": positive()}
    once, again = (LogDensity(model(y), **kinds) for y in (data(vecdist.chunked(REAL)), vecdist.chunked(REAL)))
    wanted = LogDensity(model(REAL), **kinds).logdensity(x)
    np.testing.assert_allclose(vecdist.device_function(once)(x), wanted, rtol=1e-12)
    assert once.c_logp_address and once.c_batch_address
    with pytest.raises(TypeError, match="reads no arrays in chunks"):
        vecdist.device_function(again)
    with pytest.raises(NotImplementedError, match="reads arrays in chunks"):
        _ = again.c_logp_address


def test_samplers_read_the_rows_no_more(uncompiled):
    def model(y):
        return lambda mu, sigma: logpdf(Normal(0.0, 5.0), mu) + logpdf(Normal(mu, sigma), y).sum()

    start = np.array([2.0, 1.0])
    asked = {"chains": 3, "draws": 3, "warmup": 0, "step_size": 0.01, "initial": start, "progress": False}
    source = Counted(REAL)
    in_pieces = LogDensity(model(data(vecdist.chunked(source, rows=130))), mu=real(), sigma=positive())
    found = hmc(in_pieces, **asked)
    assert source.passes() == ONCE
    wanted = hmc(LogDensity(model(REAL), mu=real(), sigma=positive()), **asked)
    np.testing.assert_allclose(found.positions, wanted.positions, rtol=1e-9)


def test_data_are_arrays_that_are_there():
    with pytest.raises(TypeError, match="not an expression"):
        data(vecdist.chunked(REAL) * 2.0)
    x = data(vecdist.chunked(REAL, name="x"))
    assert repr(x.node.attrs[0]) == "x"
