"""What cuBLAS is asked for, by a stand-in that reads columns from memory as it does."""

import numpy as np
import pytest
from cublas_stand_in import matrix, stand_in

from vecdist.primitives import device_products


@pytest.fixture
def library(monkeypatch):
    """CuPy, as far as products need it; pieces are short."""
    monkeypatch.setattr(device_products, "LONG", 40)
    monkeypatch.setattr(device_products, "PIECE", 16)
    yield stand_in(monkeypatch)
    device_products._known.cache_clear()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("ways", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("shape", [(3, 5, 4), (1, 39, 2), (4, 48, 3), (2, 53, 5), (5, 41, 1), (70, 50, 70), (1, 1, 1)])
def test_products_of_matrices_that_lie_in_any_way(library, shape, ways, dtype):
    rows, between, columns = shape
    a, b = matrix(rows, between, ways[0], dtype, 1), matrix(between, columns, ways[1], dtype, 2)
    found = device_products.product(a, b)
    assert found.shape == (rows, columns) and found.dtype == a.dtype
    np.testing.assert_allclose(found, a @ b, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5)


def test_what_cublas_cannot_read_is_left_to_cupy(library):
    a, b = matrix(6, 8, False, "f8", 1), matrix(8, 4, False, "f8", 2)
    whole = a.astype("i8"), b.astype("i8")
    for left, right in ((a[:, ::2], b[::2]), (a[:0], b), (a.astype("f4"), b), (a, b[:, 0]), whole):
        np.testing.assert_array_equal(device_products.product(left, right), left @ right)
