"""Products, solutions and determinants by SciPy's library and by NumPy's, and how many threads either is left with."""

import threading

import numpy as np
import pytest

from vecdist.primitives import array_factorisations, host_library, host_products
from vecdist.primitives.array_factorisations import factored, inverted, sign_and_log, solved, solved_lower
from vecdist.primitives.host_library import NUMPY, SCIPY, Quiet, quiet
from vecdist.primitives.host_products import product


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=["SciPy's", "NumPy's"])
def any_size(request, monkeypatch):
    """All sizes are worth threads; SciPy is there, or not."""
    for module in (host_library, host_products, array_factorisations):
        monkeypatch.setattr(module, "FEW", 0)
    for name in ("SMALL", "SHORT"):
        monkeypatch.setattr(host_products, name, 0)
    if request.param == "NumPy's":
        for module in (host_products, array_factorisations):
            monkeypatch.setattr(module, "routine", lambda name, dtype: None)
        monkeypatch.setattr(array_factorisations, "_lapack", lambda name, dtype: None)


def _close(found, expected, dtype):
    size = np.abs(expected).max(initial=1e-300)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=200 * np.finfo(dtype).eps)


LAYOUTS = [lambda x: x, lambda x: np.asfortranarray(x.mT).mT, lambda x: np.repeat(x, 2, -1)[..., ::2],
           lambda x: x.mT.copy().mT]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 7, 3), (1, 4, 6), (6, 4, 1), (4, 1, 5), (0, 3, 2), (3, 0, 2), (40, 33, 20)])
def test_products_of_any_layout(any_size, rng, dtype, shape):
    rows, inner, columns = shape
    for lead in ((), (2,), (0,)):
        a, b = (rng.normal(size=(*lead, *each)).astype(dtype) for each in ((rows, inner), (inner, columns)))
        expected = np.einsum("...ij,...jk->...ik", a.astype("f8"), b.astype("f8"))
        for left in LAYOUTS:
            for right in LAYOUTS:
                found = product(left(a), right(b))
                assert found.dtype == dtype
                _close(found, expected, dtype)
        out = np.full(expected.shape, np.nan, dtype)
        assert product(a, b, out) is out
        _close(out, expected, dtype)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30), (1, 5), (5, 1)])
def test_a_matrix_times_itself_turned_is_symmetric(any_size, rng, shape):
    a = rng.normal(size=shape)
    for left in (a, a.T, np.asfortranarray(a)):
        found = product(left, left.T)
        _close(found, np.einsum("ij,kj->ik", left, left), "f8")
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("lead", [(), (3,), (2, 2), (0,)])
def test_systems_inverses_and_determinants(any_size, rng, dtype, lead):
    a = (rng.normal(size=(*lead, 9, 9)) + 5 * np.eye(9)).astype(dtype)
    b, wide = rng.normal(size=(*lead, 9, 4)).astype(dtype), a.astype("f8")
    _close(solved(a, b), np.linalg.solve(wide, b.astype("f8")), dtype)
    _close(solved(a.mT, b), np.linalg.solve(wide.mT, b.astype("f8")), dtype)
    _close(inverted(a), np.linalg.inv(wide), dtype)
    for matrices in (a, a[..., ::-1, :]):
        found, expected = sign_and_log(matrices), np.linalg.slogdet(matrices.astype("f8"))
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], rtol=100 * np.finfo(dtype).eps)
        assert found[0].dtype == found[1].dtype == dtype
    definite = a @ a.mT + np.eye(9, dtype=dtype)
    factor = factored(definite)
    _close(product(factor, factor.mT), definite, dtype)
    _close(product(factor, solved_lower(factor, b)), b, dtype)


def test_singular_matrices(any_size):
    assert np.isnan(solved(np.ones((3, 3)), np.eye(3))).all()
    found = inverted(np.stack([np.eye(3), np.zeros((3, 3))]))
    np.testing.assert_array_equal(found[0], np.eye(3))
    assert np.isnan(found[1]).all()
    with np.errstate(divide="ignore"):
        assert [each.item() for each in sign_and_log(np.zeros((3, 3)))] == [0.0, -np.inf]


class Library:
    """A library that takes so many threads."""

    def __init__(self, threads):
        self.threads = threads
        self.quiet = Quiet(lambda: self.threads, self.limit)

    def limit(self, threads):
        self.threads = threads


def test_threads_are_given_back_when_the_last_leaves():
    library = Library(7)
    with library.quiet:
        with library.quiet:
            assert library.threads == 1
        assert library.threads == 1
    assert library.threads == 7
    with pytest.raises(ZeroDivisionError), library.quiet:
        raise ZeroDivisionError
    assert library.threads == 7


def test_what_a_user_sets_meanwhile_remains():
    library = Library(7)
    with library.quiet:
        library.threads = 3
    assert library.threads == 3


def test_a_child_has_all_threads_again():
    library = Library(7)
    library.quiet.__enter__()
    library.quiet._left_by_all()
    assert library.threads == 7
    with library.quiet:
        assert library.threads == 1
    assert library.threads == 7


@pytest.mark.parametrize("module", [NUMPY, SCIPY])
def test_libraries_keep_their_threads(module, rng):
    a = rng.normal(size=(40, 40)) + 9 * np.eye(40)
    context = quiet(module)
    before = context._count() if isinstance(context, Quiet) else None

    def work():
        for _ in range(50):
            solved_lower(factored(product(a, a.T)), solved(a, a))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert before is None or context._count() == before > 0


@pytest.mark.parametrize("module", ["no.such.module", "math", "numpy"])
def test_other_libraries_are_left_alone(module):
    with quiet.__wrapped__(module):
        assert product(np.eye(50), np.eye(50)).trace() == 50
