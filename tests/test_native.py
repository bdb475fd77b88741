"""Functions for C: the kernels of a log density, called without Python."""

import ctypes
import pickle
import threading

import densities
import numba
import numpy as np
import pytest
from densities import schools

from vecdist import LogDensity, data, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.model.native import calls
from vecdist.model.native.calls import FEW
from vecdist.parameters import positive, real

POINTERS = [ctypes.c_void_p] * 4


def one(density, x, size=None):
    """What the function for one vector returns, the value and the gradient."""
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, *POINTERS)(density.c_logp_address)
    value, gradient = np.full(1, np.nan), np.full(x.size, np.nan)
    addresses = (x.ctypes.data, gradient.ctypes.data, value.ctypes.data, None)
    return function(x.size if size is None else size, *addresses), value[0], gradient


def many(density, x):
    """What the function for many vectors returns, the values and the gradients."""
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *POINTERS)(density.c_batch_address)
    values, gradients = np.full(len(x), np.nan), np.full(x.shape, np.nan)
    return function(len(x), x.ctypes.data, values.ctypes.data, gradients.ctypes.data, None), values, gradients


@pytest.fixture(scope="module")
def density():
    return schools()


def points(count, size=10, seed=0):
    return np.random.default_rng(seed).normal(size=(count, size))


def test_one_vector(density):
    for x in points(5):
        status, value, gradient = one(density, x)
        assert status == 0 and value == pytest.approx(densities.schools_oracle(x), rel=1e-13)
        wanted, slopes = density.logdensity_and_gradient(x)
        assert value == wanted and np.array_equal(gradient, slopes)
        assert density(x) == pytest.approx(value, rel=1e-14)


def test_calls_in_functions_that_numba_compiles(density):
    entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, *POINTERS)(density.c_logp_address)

    @numba.njit
    def evaluated(x, gradient, value):
        return entry(x.size, x.ctypes, gradient.ctypes, value.ctypes, value.ctypes)

    x, gradient, value = points(1)[0], np.empty(10), np.empty(1)
    assert evaluated(x, gradient, value) == 0
    wanted, slopes = density.logdensity_and_gradient(x)
    assert value[0] == wanted and np.array_equal(gradient, slopes)


def test_many_vectors(density):
    for count in (0, 1, 2, 7, 100):
        x = points(count, seed=count)
        status, values, gradients = many(density, x)
        assert status == 0
        for place in range(count):
            _, value, gradient = one(density, x[place])
            assert values[place] == pytest.approx(value, rel=1e-14)
            np.testing.assert_allclose(gradients[place], gradient, rtol=1e-13, atol=1e-14)


def test_what_they_return(density):
    x = points(3)
    assert one(density, x[0], size=9)[0] == one(density, x[0], size=11)[0] == -1
    bad = x[0].copy()
    bad[8] = np.nan
    status, value, _ = one(density, bad)
    assert status == 1 and value == -np.inf
    bad[8] = 1e300
    status, value, _ = one(density, bad)
    assert status == 1 and value == -np.inf
    x[1, 9] = 1e5
    status, values, gradients = many(density, x)
    assert status == 1 and np.isfinite(values).tolist() == [True, False, True] and np.isfinite(gradients[[0, 2]]).all()


def test_numbers_of_vectors_that_change_prepare_nothing():
    """Few vectors, and the third number of many, are met by the functions for any number, with the same results."""
    density = schools()
    for count in (2, 3, 9, 10, 4, 1, 11, 30):
        x = points(count, seed=count)
        values, gradients = density.logdensity_and_gradient(x)
        for place in range(count):
            _, value, gradient = one(density, x[place])
            assert values[place] == pytest.approx(value, rel=1e-14)
            np.testing.assert_allclose(gradients[place], gradient, rtol=1e-13, atol=1e-14)
    assert {count for count in density._evaluation("gradient").batches if count >= FEW} == {9, 10}
    shaped, _ = density.logdensity_and_gradient(x.reshape(5, 3, 2, 10))
    np.testing.assert_array_equal(shaped.ravel(), values)
    np.testing.assert_array_equal(density.logdensity_and_gradient(np.asfortranarray(x))[0], values)


COLUMNS = np.random.default_rng(3).normal(size=(29, 3))


def squares(b, tau):
    z = data(COLUMNS) @ b - 0.3
    return (-0.5 * tau * (z * z + 0.1 * (z * z) ** 2 + 0.2 * z * (1.0 + z)) * (1.0 + 0.5 * z * z)).sum() + (b * b).sum()


@pytest.mark.parametrize("threads", [1, 3], indirect=True)
def test_a_regression_of_many_vectors_is_that_of_each(threads, monkeypatch):
    """Its C function is there, though many vectors make a product of matrices, which is a call of a library."""
    monkeypatch.setattr(calls, "SEVERAL_KERNELS", 1)
    density = LogDensity(squares, b=real(3), tau=positive())
    for count in (2, 7, 8, 33, 75):
        x = points(count, size=4, seed=count)
        alone = [one(density, each)[1:] for each in x]
        status, values, gradients = many(density, x)
        assert status == 0
        assert values.tolist() == [value for value, _ in alone]
        np.testing.assert_array_equal(gradients, [gradient for _, gradient in alone])
        for found, wanted in zip(density.logdensity_and_gradient(x), (values, gradients), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    assert density._evaluation("gradient").batches == {8, 32, 64}, "no more launches than sizes of pieces"
    b, tau = x[0, :3], np.exp(x[0, 3])
    z = COLUMNS @ b - 0.3
    rows = (z**2 + 0.1 * z**4 + 0.2 * z * (1.0 + z)) * (1.0 + 0.5 * z * z)
    assert values[0] == pytest.approx(-0.5 * tau * rows.sum() + b @ b + x[0, 3], rel=1e-12)
    bad = x[:9].copy()
    bad[4, 3] = np.inf
    status, values, _ = many(density, bad)
    assert status == 1 and np.isfinite(values).tolist() == [place != 4 for place in range(9)]


def test_pieces_of_many_vectors():
    for count in (8, 9, 63, 64, 100, 1000):
        for least in (8, 9, 33, 200):
            pieces = list(calls._pieces(count, 64, least))
            assert [place for first, last, _ in pieces for place in range(first, last)] == list(range(count))
            sizes = {last - first for first, last, whole in pieces if whole}
            assert all(size & (size - 1) == 0 and size >= least for size in sizes)
            assert [whole for *_, whole in pieces[:-1]] == [True] * (len(pieces) - 1)


def test_threads_call_them(density):
    x = points(24)
    alone = [one(density, each)[1:] for each in x]
    failures, start = [], threading.Barrier(24)

    def work(place):
        start.wait()
        for _ in range(200):
            status, value, gradient = one(density, x[place])
            if status or value != alone[place][0] or not np.array_equal(gradient, alone[place][1]):
                failures.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_addresses_stay_and_pickles_have_their_own(density):
    assert density.c_logp_address == density.c_logp_address != density.c_batch_address
    again = pickle.loads(pickle.dumps(density))
    x = points(1)[0]
    address = again.c_logp_address
    assert address != density.c_logp_address
    assert one(again, x)[1] == one(density, x)[1]


DATA = np.arange(24.0).reshape(2, 12)


def turned_model(mu):
    """Reads strided and whole data, numbers of several kinds, and an array that nobody else keeps."""
    rows, own = lazy(DATA[:, ::3].T), lazy(np.full(1000, 2.0))
    shifted = np.cumsum(mu * np.array([1, 2], dtype=np.int32)) + True
    return logpdf(Normal(shifted, 2.0), rows).sum() + np.where(mu > 0.0, mu, 0.5 * mu).sum() * 3 + (own * mu[0]).sum()


@pytest.mark.slow
def test_data_of_all_layouts_are_read_where_they_lie():
    """Which change there, as others than data() may, and live as long as the function."""
    density = LogDensity(turned_model, mu=real(2))
    x = points(3, size=2)
    for _ in range(2):
        others = [np.full(1000, float(n)) for n in range(20)]  # what would be written where freed data were
        for each in x:
            centre = np.cumsum(each * [1, 2]) + 1
            terms = -0.5 * ((DATA[:, ::3].T - centre) / 2.0) ** 2 - np.log(2.0) - 0.5 * np.log(2.0 * np.pi)
            wanted = terms.sum() + 3.0 * np.where(each > 0, each, 0.5 * each).sum() + 2000.0 * each[0]
            assert len(others) == 20 and one(density, each)[1] == pytest.approx(wanted, rel=1e-13)
            assert density.logdensity_and_gradient(each)[0] == pytest.approx(wanted, rel=1e-13)
        DATA[0, 3] += 1.0


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("make", [
    lambda: schools(dtype=np.float32),
    lambda: LogDensity(lambda a: (a @ lazy(np.eye(2))).sum(), a=real((2, 2))),
    schools,
], ids=["float32", "products", "uncompiled"])
def test_there_are_none_for_others(make):
    with pytest.raises(NotImplementedError, match="one kernel of the CPU in float64"):
        _ = make().c_logp_address
    assert np.isfinite(make().logdensity_and_gradient(np.zeros(make().ndim))[0])
