"""Random bits against the published vectors and whole numbers of Python; what is made of them; keys and places."""

import numpy as np
import pytest
import scipy.stats
from interpreting import by_interpreter
from reference import interpreted

import vecdist
from vecdist import random
from vecdist.graph.node import const
from vecdist.primitives.philox import open_unit, philox_first, philox_last, small_unit
from vecdist.runtime import pipeline
from vecdist.special.draws import uniforms

WORD = 2**32 - 1
# Counter, key and result: lines "philox4x32 10" of kat_vectors in Random123, by the authors of the paper.
PUBLISHED = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter, key):
    """Philox4x32-10 as the paper has it, in whole numbers of any size."""
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [right >> 32 ^ c[1] ^ k[0], right & WORD, left >> 32 ^ c[3] ^ k[1], left & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return tuple(c)


def pair(low, high):
    return low | high << 32


def words(number):
    return number & WORD, number >> 32


def first_bits(key, count, upper=(0, 0)):
    """The first halves for a key and the counters from 0 on."""
    return np.array([pair(*philox((*words(place), *upper), words(key))[:2]) for place in range(count)], np.uint64)


@pytest.mark.parametrize(("counter", "key", "wanted"), PUBLISHED)
def test_published_vectors(counter, key, wanted):
    assert philox(counter, key) == wanted
    nodes = [const(pair(*half), np.uint64) for half in (key, counter[:2], counter[2:])]
    found = interpreted((philox_first(*nodes), philox_last(*nodes)))
    assert [int(half) for half in found] == [pair(*wanted[:2]), pair(*wanted[2:])]


@pytest.mark.parametrize("seed", range(5))
def test_routines_use_the_same_bits(seed):
    low, high, tag, turn = (int(n) for n in np.random.default_rng(seed).integers(0, WORD, 4))
    place = int(np.random.default_rng(seed).integers(0, 2**53))
    c = philox((*words(place), turn, tag), (low, high))
    u, v, w = uniforms(*map(float, (low, high, place, tag, turn)))
    assert u == ((pair(c[0], c[1]) >> 12) + 0.5) / 2**52
    assert v == ((c[3] << 12 | c[0] & 4095) + 0.5) / 2**44
    assert w == (c[2] + 0.5) / 2**32


KEYS = [0, 7, 2**64 - 1, -3, np.uint64(2**63 + 5), np.int32(-9)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_bits_of_any_integer(key, execution):
    found = np.asarray(random.bits(key, (2, 3)))
    assert found.dtype == np.uint64
    np.testing.assert_array_equal(found.ravel(), first_bits(int(key) % 2**64, 6))


@pytest.mark.parametrize("shape", [(), 0, 1, 5, (1, 4), (4, 1), (2, 0), (2, 3, 2)], ids=str)
def test_places_are_in_row_major_order(shape, uncompiled):
    found = np.asarray(random.bits(11, shape))
    wanted = first_bits(11, found.size).reshape(shape)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.asarray(random.bits(11, shape).T), wanted.T)


def test_places_beside_arrays_that_are_repeated(uncompiled):
    """Axes that are one for the places alone are two where something is added to each row."""
    rows = np.array([[0], [1], [2]], np.uint64)
    found = np.asarray(random.bits(5, (3, 4)) + rows)
    np.testing.assert_array_equal(found, first_bits(5, 12).reshape(3, 4) + rows)
    part = np.asarray(random.bits(5, (3, 4))[1:, ::-2])
    np.testing.assert_array_equal(part, first_bits(5, 12).reshape(3, 4)[1:, ::-2])


def test_each_key_of_an_array_is_a_stream(uncompiled):
    keys = np.array([3, 2**40, -1])
    found = np.asarray(random.bits(keys[:, None], 4))
    np.testing.assert_array_equal(found, [first_bits(int(key) % 2**64, 4) for key in keys])
    np.testing.assert_array_equal(np.asarray(random.bits(keys, (2, 3)))[1, 2], first_bits(2**64 - 1, 6)[5])


def test_folded_keys(uncompiled):
    numbers = np.array([0, 1, 2**35])
    keys = np.asarray(random.fold_in(9, numbers))
    wanted = [pair(*philox((*words(int(n)), 0, 2**31), (9, 0))[:2]) for n in numbers]
    np.testing.assert_array_equal(keys, np.array(wanted, np.uint64))
    again = np.asarray(random.bits(random.fold_in(9, numbers)[:, None], 2))
    np.testing.assert_array_equal(again, [first_bits(key, 2) for key in wanted])


def test_another_key_compiles_nothing(uncompiled):
    np.asarray(random.uniform(1, 3))
    before = pipeline.compilations()
    first, second = (np.asarray(random.uniform(key, 3)) for key in (2, 2**63))
    assert pipeline.compilations() == before and (first != second).all()


def test_in_compiled_functions(uncompiled):
    moved = vecdist.compile(lambda key, x: x + random.uniform(key, x.shape))
    before = None
    for key in (1, 2, 3):
        found = moved(np.uint64(key), np.zeros(4))
        np.testing.assert_array_equal(found, np.asarray(random.uniform(key, 4)))
        assert before is None or pipeline.compilations() == before
        before = pipeline.compilations()


def test_a_key_for_each_chain(uncompiled):
    keys = np.array([4, 5, 6], np.uint64)
    chains = vecdist.compile(lambda key, x: x + random.normal(key, x.shape), in_axes=(0, None))
    found = chains(keys, np.zeros(4))
    np.testing.assert_array_equal(found, [np.asarray(random.normal(int(key), 4)) for key in keys])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_uniform_numbers_are_inside_the_interval(dtype):
    dtype = np.dtype(dtype)
    ends = [const(0, np.uint64), const(2**64 - 1, np.uint64)]
    low, high = interpreted(tuple(open_unit(bits, dtype) for bits in ends))
    digits = 53 if dtype == "f8" else 24
    assert low.dtype == dtype and (float(low), float(high)) == (2.0**-digits, 1 - 2.0**-digits)
    small, great = interpreted(tuple(small_unit(bits, dtype) for bits in ends))
    assert 0 < small <= 2.0**-32 and great <= 1


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_are_distributed_as_they_should(dtype):
    with by_interpreter():
        uniform, normal = (np.asarray(draw(3, 200_000, dtype)) for draw in (random.uniform, random.normal))
    assert uniform.dtype == normal.dtype == dtype
    assert scipy.stats.kstest(uniform, "uniform").pvalue > 1e-4
    assert scipy.stats.kstest(normal, "norm").pvalue > 1e-4
    far = (abs(normal[:, None]) > [3, 4]).sum(axis=0)
    assert scipy.stats.binomtest(far[0], normal.size, 2 * scipy.stats.norm.sf(3)).pvalue > 1e-4
    assert scipy.stats.binomtest(far[1], normal.size, 2 * scipy.stats.norm.sf(4)).pvalue > 1e-4


def test_streams_are_independent():
    """Neighbouring keys, neighbouring places and folded keys: no correlation beyond chance."""
    with by_interpreter():
        keys = np.asarray(random.fold_in(1, np.arange(20)))
        for each in (np.arange(20), keys):
            found = np.asarray(random.normal(each[:, None], 2000))
            correlations = np.corrcoef(found)[np.triu_indices(20, 1)] * np.sqrt(2000)
            assert scipy.stats.kstest(correlations, "norm").pvalue > 1e-4
            assert abs(np.corrcoef(found.ravel()[1:], found.ravel()[:-1])[0, 1]) < 4 / np.sqrt(found.size)


@pytest.mark.parametrize("shape", [60, (60, 2)], ids=str)
def test_rows_in_the_order_of_their_groups_keep_their_numbers(shape, uncompiled):
    group, effects = vecdist.data(np.arange(60) * 7 % 5), np.linspace(-1.0, 1.0, 5)
    rows = vecdist.data(np.linspace(0.0, 3.0, 60))
    each = (slice(None), None) if shape == (60, 2) else slice(None)

    def total(numbers):
        return (np.square(vecdist.lazy(effects)[group] - rows)[each] * numbers).sum()

    wanted = vecdist.value_and_grad(total(np.asarray(random.normal(3, shape))), wrt=effects)
    found = vecdist.value_and_grad(total(random.normal(3, shape)), wrt=effects)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)


def test_the_same_bits_for_any_number_of_threads(threads):
    np.testing.assert_array_equal(np.asarray(random.bits(8, 1000))[::97], first_bits(8, 1000)[::97])


@pytest.mark.parametrize("key", [0.5, True, np.ones(3), None, "key"], ids=repr)
def test_keys_that_are_none(key):
    with pytest.raises(TypeError):
        random.bits(key)


def test_shapes_and_dtypes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"a key of shape \(3,\) and a shape \(2,\) do not broadcast"):
        random.uniform(np.arange(3), 2)
    with pytest.raises(ValueError, match="no negative lengths"):
        random.uniform(1, (2, -1))
    with pytest.raises(TypeError, match="float32 or float64, not int64"):
        random.normal(1, 2, int)
