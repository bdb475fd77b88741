"""What stands in for compiled kernels in other tests speaks the whole language, and sees what goes wrong."""

import numpy as np
import pytest
from uncompiled import LANGUAGE, load, load_bytes, store, uncompiled

from vecdist import lazy, logcdf, logpdf, value_and_partials
from vecdist.distributions import Beta, Gamma, GeneralizedExtremeValue, StudentT, VonMises
from vecdist.runtime import pipeline
from vecdist.runtime.cpu import language as cpu_language


def test_every_word_is_spoken():
    assert set(cpu_language.__all__) <= set(LANGUAGE)


X, Y, K = np.linspace(0.5, 3.0, 12).reshape(3, 4), np.linspace(1.0, 2.0, 8, dtype="f4")[::2], np.array([2, 0, 2])


def everything():
    """Functions made of bits, extremes, products, strides, integers and an index array, in one expression."""
    rows = np.exp(lazy(X) - lazy(Y).sum()).max(axis=1) + (lazy(X)[:, 1:] - lazy(X)[:, :-1]).prod(axis=1)
    return rows[K] * (lazy(K) % 4) + np.where(lazy(K) > 1, K, -1)


def test_a_kernel_is_what_its_source_says(request):
    wanted = np.asarray(everything())
    request.getfixturevalue("uncompiled")
    np.testing.assert_allclose(np.asarray(everything()), wanted, rtol=1e-13)
    assert pipeline.compilations() == 1, "what was compiled before is out of sight"


@pytest.mark.parametrize("use", [
    lambda x: load(x, 4, -1, 0), lambda x: load(x, -1, -1, 0), lambda x: store(x, 4, 1.0, 0, 1),
    lambda x: load_bytes(x[::-1], 8, -1, 0), lambda x: load_bytes(x[::2], 24, -1, 0),
])
def test_an_index_that_leaves_its_array_is_noticed(use):
    with pytest.raises(AssertionError, match=r"of 4|of an array"):
        use(np.arange(4.0))


def test_strided_elements_are_found():
    x = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    assert [load_bytes(x, -32 * row, -1, 0) for row in range(3)] == [8.0, 4.0, 0.0]


Z, A, B = np.linspace(0.05, 3.0, 60), np.linspace(0.1, 9.0, 60), np.linspace(2.0, 0.3, 60)


@pytest.mark.parametrize(("verb", "distribution", "x"), [
    (logpdf, GeneralizedExtremeValue(0.3 * B, A, B - 1.5), Z), (logcdf, Gamma(A, B), Z), (logcdf, Beta(A, B), Z / 4),
    (logcdf, StudentT(A), Z), (logpdf, VonMises(A, B), Z),
], ids=range(5))
def test_programs_with_derivatives_compute_values_by_the_same_operations(verb, distribution, x):
    """What differs in compiled kernels is which products and sums become one instruction."""
    with uncompiled():
        value = np.asarray(verb(distribution, x))
        arrays = [array for array in distribution.parameters.values() if isinstance(array, np.ndarray)]
        beside, _ = value_and_partials(verb(distribution, x), (x, *arrays))
    np.testing.assert_array_equal(beside, value)
