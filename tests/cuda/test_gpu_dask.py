"""Dask arrays of CuPy chunks on a real GPU: chunks are computed of where they lie, and results lie there."""

import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, lazy, logpdf, logsumexp, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.graph.leaves import on_host
from vecdist.parameters import positive, real

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array", reason="Dask is not installed")

pytestmark = pytest.mark.cuda
CHUNKS = (300, 1, 0, 299, 400)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(1000, 3)), RNG.gamma(2.0, 2.0, 1000)
B, S = np.array([0.5, 1.0, -1.0]), np.array(1.5)


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def cut(cupy, array):
    return da.from_array(cupy.asarray(array), chunks=(CHUNKS, *[-1] * (array.ndim - 1)))


def test_values_and_gradients_of_any_number_of_threads_are_the_same_bits(cupy):
    def found(b, s, x, y):
        value, slopes = value_and_grad(logpdf(Normal(lazy(x) @ b, s), y).sum() + logsumexp(lazy(y) * s), wrt=(b, s))
        assert isinstance(value, type(s)) or not isinstance(s, cupy.ndarray)
        return np.concatenate([np.ravel(on_host(each)) for each in (value, *slopes)])

    wanted, x, y = found(B, S, X, Y), cut(cupy, X), cut(cupy, Y)
    ways = []
    for workers in (1, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            ways.append(found(cupy.asarray(B), cupy.asarray(S), x, y))
    np.testing.assert_allclose(ways[0], wanted, rtol=1e-12)
    np.testing.assert_array_equal(ways[0], ways[1])


def test_rows_come_back_as_chunks_of_cupy(cupy):
    y, s = cut(cupy, Y), cupy.asarray(S)
    value, slope = vecdist.value_and_partials(logpdf(Gamma(s, 3.0), y), wrt=s)
    assert value.chunks == slope.chunks == (CHUNKS,) and isinstance(value._meta, cupy.ndarray)
    assert isinstance(value.compute(), cupy.ndarray)
    wanted, slopes = vecdist.value_and_partials(logpdf(Gamma(S, 3.0), Y), wrt=S)
    np.testing.assert_allclose(value.compute().get(), wanted, rtol=1e-12)
    np.testing.assert_allclose(slope.compute().get(), slopes, rtol=1e-10, atol=1e-12)


def test_chunks_that_do_not_lie_in_one_piece(cupy):
    turned = da.from_array(cupy.asarray(np.asfortranarray(X)), chunks=((300, 700), 3))
    every = cut(cupy, np.repeat(Y, 2)[: len(Y)]).map_blocks(lambda block: cupy.repeat(block, 2)[::2], dtype="f8")
    found = (lazy(turned) * lazy(da.from_array(cupy.asarray(Y), chunks=((300, 700),)))[:, None] ** 2).sum(axis=0)
    np.testing.assert_allclose(np.asarray(found), (X * Y[:, None] ** 2).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(float((every * lazy(2.0)).sum()), 2.0 * np.repeat(Y, 2)[: len(Y)].sum(), rtol=1e-13)


def test_an_invalid_row_is_named_by_its_place(cupy):
    bad = Y.copy()
    bad[601] = -1.0
    with pytest.raises(vecdist.InvalidParameter, match=r"Normal: scale\[601\] = -1.0"):
        np.asarray(logpdf(Normal(0.0, lazy(cut(cupy, bad))), 1.0).sum())


def test_log_densities(cupy):
    def model(x, y):
        return lambda b, s: {
            "prior": logpdf(Normal(0.0, 1.0), b).sum(), "likelihood": logpdf(Normal(lazy(x) @ b, s), y),
        }

    chunked = LogDensity(model(cut(cupy, X), cut(cupy, Y)), b=real(3), s=positive())
    whole = LogDensity(model(X, Y), b=real(3), s=positive())
    points = RNG.normal(size=(2, 4)) * 0.3
    values, gradients = chunked.logdensity_and_gradient(cupy.asarray(points))
    assert isinstance(gradients, cupy.ndarray)
    wanted, slopes = whole.logdensity_and_gradient(points)
    np.testing.assert_allclose(values.get(), wanted, rtol=1e-12)
    np.testing.assert_allclose(gradients.get(), slopes, rtol=1e-10, atol=1e-10)
