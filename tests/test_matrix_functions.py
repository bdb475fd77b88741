"""NumPy's functions of matrices that have orthogonal factors or are made of others, on lazy arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreting import by_interpreter, nothing_computed
from numerical import differences
from test_statistics import assert_numpys

import vecdist
from vecdist import hvp, lazy, value_and_grad

linalg = np.linalg
CHEAP = settings(max_examples=15)
DTYPES = ("f8", "f4", "i4")


def numbers(*shape, seed=0, dtype="f8"):
    x = np.random.default_rng((seed, *shape)).normal(size=shape)
    return np.rint(4 * x).astype(dtype) if dtype == "i4" else x.astype(dtype)


LEADS = st.sampled_from([(), (2,), (1, 3), (0,)])
LENGTHS = st.integers(1, 5)


@CHEAP
@given(LEADS, LENGTHS, LENGTHS, st.sampled_from(DTYPES))
def test_products_of_vectors_and_matrices(lead, rows, columns, dtype):
    a, x, y = (numbers(*shape, dtype=dtype) for shape in ((*lead, rows, columns), (columns,), (*lead, rows)))
    assert_numpys(np.matvec, a, x)
    assert_numpys(np.matvec, a[..., :1], x)
    assert_numpys(np.vecmat, y, a)
    assert_numpys(np.vecmat, y > 0, a > 0)
    assert_numpys(np.vecdot, a, x)
    assert_numpys(np.vecdot, a > 0, x)
    assert_numpys(lambda y, a: np.vecdot(y[..., None], a, axis=-2), y, a)
    assert_numpys(lambda a, x: linalg.vecdot(a, x), a, x)
    assert_numpys(lambda a, y: linalg.vecdot(a, y[..., None], axis=-2), a, y)
    assert_numpys(lambda a: linalg.matmul(a, linalg.matrix_transpose(a)), a)
    assert_numpys(lambda a: a.mT, a)
    assert_numpys(lambda a: linalg.diagonal(a, offset=1), a)
    assert_numpys(lambda a: linalg.trace(a, offset=-1), a)
    assert_numpys(lambda x: linalg.outer(x, x[:2]), x)
    assert_numpys(lambda a: linalg.tensordot(a, a, axes=a.ndim), a)
    assert_numpys(lambda x: linalg.cross(np.append(x, [1, 2, 3])[:3], [2, 0, 1]), x)


ORDERS = st.sampled_from([None, 1, 2, np.inf, -np.inf, -1, 0, 3, 2.5])


@CHEAP
@given(LEADS, LENGTHS, LENGTHS, st.sampled_from(DTYPES), ORDERS, st.booleans())
def test_norms_and_singular_values(lead, rows, columns, dtype, order, keepdims):
    a = numbers(*lead, rows, columns, dtype=dtype)
    how = {"rtol": 2e-5 if dtype == "f4" else 1e-12}
    assert_numpys(lambda a: linalg.norm(a, order, -1, keepdims), a, **how)
    assert_numpys(lambda a: linalg.norm(a, order, (0, -1), keepdims), a, **how)
    assert_numpys(lambda a: linalg.norm(a, order), a, **how)
    assert_numpys(lambda a: linalg.vector_norm(a, keepdims=keepdims, axis=-2), a, **how)
    assert_numpys(lambda a: linalg.vector_norm(a, keepdims=keepdims, ord=3), a, **how)
    for each in ("fro", "nuc", 2, -2, 1, -np.inf, 3):
        assert_numpys(lambda a, each=each: linalg.matrix_norm(a, keepdims=keepdims, ord=each), a, **how)
        assert_numpys(lambda a, each=each: linalg.norm(a, each, (-1, -2), keepdims), a, **how)
    assert_numpys(linalg.svdvals, a, **how)
    assert_numpys(lambda a: linalg.svd(a, compute_uv=False), a, **how)
    if a.size:
        assert_numpys(linalg.matrix_rank, a)
        assert_numpys(lambda a: linalg.matrix_rank(a * 0, tol=1.0), a)
        assert_numpys(lambda a: linalg.cond(a), a, rtol=1e-3 if dtype == "f4" else 1e-9)


@CHEAP
@given(LEADS, LENGTHS, LENGTHS, st.sampled_from(DTYPES))
def test_factors_and_pseudo_inverses(lead, rows, columns, dtype):
    a, b = numbers(*lead, rows, columns, dtype=dtype), numbers(rows, 2, dtype=dtype)
    how = {"rtol": 2e-4 if dtype == "f4" else 1e-10}
    for place in range(3):
        assert_numpys(lambda a, place=place: linalg.svd(a, full_matrices=False)[place], a, **how)
    for place in range(2):
        assert_numpys(lambda a, place=place: linalg.qr(a)[place], a, **how)
    assert_numpys(lambda a: linalg.qr(a, "r"), a, **how)
    if np.linalg.cond(a).max(initial=0.0) < 100:
        assert_numpys(linalg.pinv, a, **how)
    assert_numpys(lambda a: linalg.pinv(a, rtol=0.3), a, **how)
    if not lead and (dtype == "f8" or np.linalg.cond(a) < 100):
        for place in (0, 1, 3):
            assert_numpys(lambda a, b, place=place: linalg.lstsq(a, b)[place], a, b, **how)
            assert_numpys(lambda a, b, place=place: linalg.lstsq(a, b[:, 0])[place], a, b, **how)
        with by_interpreter():
            assert int(linalg.lstsq(lazy(a), b)[2]) == linalg.lstsq(a, b)[2]


@CHEAP
@given(st.lists(LENGTHS, min_size=2, max_size=6), st.booleans(), st.booleans(), st.integers(-3, 6))
def test_chains_and_powers(lengths, first, last, power):
    every = [numbers(*pair, seed=place) for place, pair in enumerate(zip(lengths, lengths[1:], strict=False))]
    every[0], every[-1] = every[0][0] if first else every[0], every[-1][..., 0] if last else every[-1]
    if all(each.ndim for each in every):
        assert_numpys(lambda *every: linalg.multi_dot(every), *every, rtol=1e-11)
    square = numbers(2, lengths[0], lengths[0]) + 3 * np.eye(lengths[0])
    assert_numpys(lambda a: linalg.matrix_power(a, power), square, rtol=1e-10)
    equations = square[0].reshape(lengths[0], 1, lengths[0])
    assert_numpys(lambda a: linalg.tensorinv(a, ind=1), equations, rtol=1e-10)
    assert_numpys(lambda a, b: linalg.tensorsolve(a, b), equations[:, 0].reshape(1, -1, 1, lengths[0]),
                  numbers(1, lengths[0]), rtol=1e-10)


A, B, S = numbers(4, 3), numbers(4, 2), numbers(3, 3, seed=5)
SMOOTH = {
    "svd": lambda a, b: sum((each**2).sum() * (1 + place) + np.sin(each[0] ** 2).sum() for place, each in enumerate(
        linalg.svd(a * b[:, :1] + a, full_matrices=False))),
    "svd of wide matrices": lambda a, b: sum(np.sin(each[0] ** 2).sum() * (1 + place) for place, each in enumerate(
        linalg.svd(np.stack([a.T, a.T * b[:, 0]]), full_matrices=False))),
    "square svd": lambda a, b: (
        np.sin(linalg.svd(a.T @ a + S * b[0, 0])[2][0] ** 2).sum() + linalg.svd(a[:3])[0][1, 2] ** 2),
    "singular values": lambda a, b: np.sin(linalg.svdvals(a)).sum() * linalg.norm(b, "nuc") + linalg.cond(a * b[:, :1]),
    "qr": lambda a, b: sum(np.sin(each[1] ** 2).sum() for each in linalg.qr(np.stack([a, a * b[:, :1]]))),
    "qr of wide matrices": lambda a, b: np.sin(linalg.qr((a * b[:, 1:]).T)[1] * linalg.qr(a.T, "r")).sum(),
    "pinv": lambda a, b: np.sin(linalg.pinv(a * b[:, :1])).sum() + np.sin(linalg.pinv(a.T @ b)).sum(),
    "lstsq": lambda a, b: np.sin(linalg.lstsq(a, b)[0]).sum() + np.sin(linalg.lstsq(a, b[:, 0])[1]).sum(),
    "chain": lambda a, b: np.sin(linalg.multi_dot([b.T, a, a.T, b[:, 0]])).sum(),
    "power": lambda a, b: np.sin(linalg.matrix_power(a.T @ a / 3, 5)).sum() * linalg.matrix_norm(b, ord=2),
    "vectors": lambda a, b: np.sin(np.vecdot(a, a[:1]) * np.matvec(b, b[0]) * np.vecmat(a[:, 0], a).sum()).sum(),
    "norms": lambda a, b: linalg.vector_norm(a, ord=3) * linalg.matrix_norm(b, ord=-2) + linalg.cond(a[:3], "fro"),
    "parts": lambda a, b: (
        (np.sin(np.modf(3 * a)[0]) * np.modf(3 * a)[1] * b[0, 0]).sum() + linalg.trace(a, offset=1) ** 2),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    """By differences of NumPy's values, and those of second order by differences of the first."""
    function = SMOOTH[name]
    directions = np.cos(np.arange(12.0)).reshape(4, 3), np.sin(np.arange(8.0) + 1).reshape(4, 2)

    def slopes(a, b):
        return value_and_grad(function(lazy(a), lazy(b)), wrt=(a, b))

    with by_interpreter():
        value, grads = slopes(A, B)
        ahead, behind = (slopes(A + h * directions[0], B + h * directions[1])[1] for h in (1e-5, -1e-5))
        seconds = hvp(function(a := lazy(A), b := lazy(B)), (a, b), directions)
        along = vecdist.jvp(function(a, b), (a, b), directions)[1]
    np.testing.assert_allclose(value, function(A, B), rtol=1e-10)
    for place, grad in enumerate(grads):
        size = 1.0 + np.abs(grad).max()
        np.testing.assert_allclose(grad, differences(function, place, A, B), rtol=1e-5, atol=1e-7 * size)
        wanted = (ahead[place] - behind[place]) / 2e-5
        np.testing.assert_allclose(seconds[place], wanted, rtol=1e-5, atol=1e-6 * (1.0 + np.abs(wanted).max()))
    np.testing.assert_allclose(along, sum((d * g).sum() for d, g in zip(directions, grads, strict=True)), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_compiled_programs(name):
    value, grads = value_and_grad(SMOOTH[name](lazy(A), lazy(B)), wrt=(A, B))
    with by_interpreter():
        wanted, truths = value_and_grad(SMOOTH[name](lazy(a := A.copy()), lazy(b := B.copy())), wrt=(a, b))
    np.testing.assert_allclose(value, wanted, rtol=1e-11)
    for grad, truth in zip(grads, truths, strict=True):
        np.testing.assert_allclose(grad, truth, rtol=1e-8, atol=1e-9)


def test_values_that_are_equal_have_derivatives():
    """That of their sum, also where vectors are there that nobody asks for."""
    turned = np.eye(3)[:, [1, 0, 2]]
    for function in (linalg.svdvals, lambda a: linalg.svd(a)[1], lambda a: linalg.svd(a.T[None])[1]):
        with by_interpreter():
            _, slope = value_and_grad(function(a := lazy(turned)).sum(), a)
        np.testing.assert_allclose(slope, turned, atol=1e-12)
    with by_interpreter():
        _, slope = value_and_grad(linalg.eigh(a := lazy(np.eye(3)))[0].sum(), a)
    np.testing.assert_allclose(slope, np.eye(3), atol=1e-12)


def test_compiled_chains_of_matrices():
    """Factors, for many matrices at once, in a program of kernels and calls."""
    def run(a):
        return np.sin(linalg.svdvals(a)).sum() + linalg.pinv(a)[0, 0] + linalg.qr(a)[1][0, 1]

    function, many = vecdist.compile(run, in_axes=(0,)), numbers(3, 4, 2)
    values, (slopes,) = function.value_and_grad(many)
    for a, value, slope in zip(many, values, slopes, strict=True):
        assert value == pytest.approx(run(a), rel=1e-12)
        np.testing.assert_allclose(slope, differences(run, 0, a), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda a, b: linalg.svd(a), TypeError, r"np.linalg.svd of matrices of shape \(4, 3\) wants full_matrices=False"),
    (lambda a, b: linalg.svd(a[0]), linalg.LinAlgError, r"svd wants matrices .* shape \(3,\)"),
    (lambda a, b: linalg.qr(a, "complete"), TypeError, "np.linalg.qr.*no mode 'complete'"),
    (lambda a, b: linalg.svd(a[:3], hermitian=True), TypeError, "np.linalg.svd.*hermitian"),
    (lambda a, b: linalg.lstsq(a, b[:3]), linalg.LinAlgError, r"as many rows: \(4, 3\) and \(3, 2\)"),
    (lambda a, b: linalg.pinv(a, 0.1, rtol=0.1), ValueError, "rcond or rtol"),
    (lambda a, b: linalg.multi_dot([a]), ValueError, "two arrays or more"),
    (lambda a, b: linalg.multi_dot([a, b[0], a]), linalg.LinAlgError, "vectors at its ends"),
    (lambda a, b: linalg.matrix_power(a, 2), linalg.LinAlgError, "matrix_power wants square"),
    (lambda a, b: linalg.norm(a, "max"), ValueError, "not 'max'"),
    (lambda a, b: linalg.norm(a[0], "fro"), ValueError, "not 'fro'"),
    (lambda a, b: linalg.norm(a[None], 2), ValueError, "one axis or two, not 3"),
    (lambda a, b: linalg.outer(a, b), ValueError, r"two vectors, given shapes \(4, 3\) and \(4, 2\)"),
    (lambda a, b: linalg.tensorinv(a, 0), ValueError, "ind=0"),
    (lambda a, b: linalg.tensorsolve(a, b), linalg.LinAlgError, "as many equations"),
    (lambda a, b: a[0].mT, ValueError, r"\(3,\)"),
    (lambda a, b: np.vecdot(a, b), ValueError, "np.vecdot: the vectors have 3 and 2 elements"),
    (lambda a, b: np.matvec(a[0], b), ValueError, r"np.matvec wants matrices and vectors, given shapes \(3,\)"),
    (lambda a, b: np.matmul(a, b, axes=[(0, 1), (0, 1), (0, 1)]), TypeError, "np.matmul.*axes"),
])
def test_what_does_not_fit_is_told(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(A), lazy(B))
