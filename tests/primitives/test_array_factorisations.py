"""Systems and inverses by LAPACK, of one matrix and of many, beside NumPy's of general matrices."""

import numpy as np
import pytest

from vecdist.primitives.array_factorisations import inverted_definite, solved_definite, solved_lower, solved_upper

LEADS = [(), (1,), (3,), (2, 2), (0,)]
LENGTHS = [1, 2, 11, 12, 17, 64, 65, 130]
NEAR = {"f4": 1e-4, "f8": 1e-11}


def definite(lead, length, dtype):
    a = np.random.default_rng(length).normal(size=(*lead, length, length))
    return (a @ a.swapaxes(-1, -2) / length + np.eye(length)).astype(dtype)


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_inverses_are_symmetric_and_those_of_numpy(length, lead, dtype):
    a = definite(lead, length, dtype)
    found = inverted_definite(a, np.linalg.cholesky(a))
    assert found.dtype == a.dtype and found.shape == a.shape
    if length >= 12:
        np.testing.assert_array_equal(found, found.swapaxes(-1, -2))
    np.testing.assert_allclose(found, np.linalg.inv(a.astype("f8")), rtol=0, atol=NEAR[dtype])
    assert np.isnan(inverted_definite(a, a + np.nan)).all()


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_systems_are_those_of_numpy(length, lead, columns, dtype):
    a = definite(lead, length, dtype)
    factor, b = np.linalg.cholesky(a), np.random.default_rng(1).normal(size=(*lead, length, columns)).astype(dtype)
    above = factor + np.triu(np.full_like(a, 7.0), 1)  # which nothing reads
    wide = factor.astype("f8")
    for found, left in (
        (solved_lower(above, b), wide), (solved_upper(above, b), wide.swapaxes(-1, -2)),
        (solved_definite(a, factor, b), a.astype("f8")),
    ):  # fmt: skip
        assert found.dtype == b.dtype and found.shape == b.shape
        np.testing.assert_allclose(found, np.linalg.solve(left, b), rtol=0, atol=10.0 * NEAR[dtype])


@pytest.mark.parametrize("dtype", NEAR)
def test_ill_conditioned_systems_leave_small_residuals(dtype):
    """Substitution is backward stable: Higham (2002), Accuracy and Stability of Numerical Algorithms, theorem 8.5."""
    rng, eps = np.random.default_rng(3), np.finfo(dtype).eps
    for length in (12, 32, 100):
        factor = np.tril(rng.normal(size=(2, length, length)) / length, -1)
        factor = (factor + np.eye(length) * np.logspace(0, -2, length)).astype(dtype)
        b = rng.normal(size=(2, length, 3)).astype(dtype)
        for found, left in ((solved_lower(factor, b), factor), (solved_upper(factor, b), factor.swapaxes(-1, -2))):
            wide = np.abs(left.astype("f8")) @ np.abs(found.astype("f8"))
            assert (np.abs(left.astype("f8") @ found - b) <= 2.0 * length * eps * wide).all()


@pytest.mark.parametrize("lead", [(), (2,)], ids=str)
def test_no_system_of_a_triangle_with_a_zero_on_its_diagonal_has_a_solution(lead):
    lower = np.tril(np.ones((*lead, 13, 13)))
    lower[..., 1, 1] = 0.0
    b = np.ones((*lead, 13, 2))
    assert np.isnan(solved_lower(lower, b)).all() and np.isnan(solved_upper(lower, b)).all()
    if lead:  # one matrix says nothing of another
        lower[0, 1, 1] = 1.0
        assert np.isfinite(solved_lower(lower, b)[0]).all() and np.isnan(solved_lower(lower, b)[1]).all()
