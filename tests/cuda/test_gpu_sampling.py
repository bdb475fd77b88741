"""On a real GPU: the CPU's random bits, and draws that are the same but for rounding, on any grid."""

import numpy as np
import pytest
from families import arrays

from vecdist import compile as compiled
from vecdist import random, sample
from vecdist.distributions import FAMILIES, Categorical, Dirichlet, Gamma, MvNormal, Normal
from vecdist.runtime import pipeline

pytestmark = pytest.mark.cuda

# Transcendental functions round otherwise there: a count may be the next one, or a try be rejected, once in many draws.
CLOSE, FEW = {"f4": 1e-4, "f8": 1e-11}, 1e-3


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def assert_alike(found, wanted, dtype):
    """Nearly all elements are close, relative to their size or to that of the others."""
    found = found.compute().get()
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    with np.errstate(invalid="ignore"):
        close = np.isclose(found, wanted, rtol=CLOSE[dtype], atol=CLOSE[dtype] * np.nanmedian(abs(wanted)))
    assert (~close).mean() <= FEW


@pytest.mark.parametrize("shape", [(), 1, 31, 257, 2049, 100_003, (3, 70_001), (50_000, 7), (0, 3)], ids=str)
def test_bits(cupy, shape):
    wanted = np.asarray(random.bits(2**63 + 9, shape))
    found = random.bits(cupy.asarray(np.uint64(2**63 + 9)), shape).compute()
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(found.get(), wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_uniform_numbers_have_the_same_bits_and_normal_ones_are_close(cupy, dtype):
    keys = np.arange(5, dtype=np.uint64)[:, None]
    there = cupy.asarray(keys)
    found = random.uniform(there, 10_001, dtype).compute().get()
    np.testing.assert_array_equal(found, np.asarray(random.uniform(keys, 10_001, dtype)))
    assert_alike(random.normal(there, 10_001, dtype), np.asarray(random.normal(keys, 10_001, dtype)), dtype)


def test_folded_keys(cupy):
    numbers = np.arange(1000)
    found = random.fold_in(3, cupy.asarray(numbers)).compute().get()
    np.testing.assert_array_equal(found, np.asarray(random.fold_in(3, numbers)))


@pytest.mark.parametrize("name", FAMILIES)
def test_families(cupy, name):
    _, parameters = arrays(name, "f8")
    wanted = np.asarray(sample(4, FAMILIES[name](*parameters), 5))
    found = sample(4, FAMILIES[name](*map(cupy.asarray, parameters)), 5)
    assert found.device.startswith("cuda")
    assert_alike(found, wanted, "f8")


def test_draws_in_float32(cupy):
    shape = np.geomspace(0.01, 100, 4001).astype("f4")
    wanted = np.asarray(sample(4, Gamma(shape, np.float32(2)), 10))
    assert_alike(sample(4, Gamma(cupy.asarray(shape), np.float32(2)), 10), wanted, "f4")


def test_vectors(cupy):
    matrix, probs = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.25, 0.0, 0.75])
    for family, parameters in ((MvNormal, (np.zeros(2), matrix)), (Categorical, (probs,)), (Dirichlet, (probs + 0.5,))):
        wanted = np.asarray(sample(4, family(*parameters), 3000))
        assert_alike(sample(4, family(*map(cupy.asarray, parameters)), 3000), wanted, "f8")


def test_a_key_for_each_chain_and_no_compilation_for_another(cupy):
    chains = compiled(lambda key, x: x + sample(key, Normal(0.0, 1.0), x.shape), in_axes=(0, None))
    x = cupy.zeros(33)
    before = None
    for first in (0, 100):
        keys = cupy.arange(first, first + 20, dtype=np.uint64)
        found = chains(keys, x).get()
        wanted = np.stack([np.asarray(sample(int(key), Normal(0.0, 1.0), 33)) for key in keys.get()])
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert before is None or pipeline.compilations() == before
        before = pipeline.compilations()
