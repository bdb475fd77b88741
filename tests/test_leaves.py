"""Arrays as leaves: one leaf for one array object, never a copy without need, never a leak."""

import gc
import weakref

import numpy as np
import pytest

from vecdist.graph.leaves import argument, array_kind, leaf, number

READABLE = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, "f4", "f8")


def test_one_array_is_one_leaf():
    x = np.ones(3)
    assert leaf(x) is leaf(x)
    assert leaf(x) is not leaf(x.copy())


def test_the_leaf_reads_the_array_in_place():
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    assert np.shares_memory(leaf(x).attrs[0].array, x)
    assert leaf(x).shape == (3, 2) and leaf(x).attrs[0].array.strides == x.strides


@pytest.mark.parametrize("dtype", READABLE)
def test_readable_dtypes(dtype):
    assert leaf(np.ones(2, dtype)).dtype == np.dtype(dtype)


@pytest.mark.parametrize("array", [
    np.ones(2, "f2"), np.ones(2, np.longdouble), np.ones(2, complex), np.array(["a"]), np.array([None]),
    np.ones(2, "M8[s]"), np.ones(2, "V8"),
], ids=lambda array: str(array.dtype))
def test_other_dtypes_are_refused(array):
    with pytest.raises(TypeError, match="cannot enter an expression"):
        leaf(array)


def test_foreign_byte_order_and_alignment_are_mended():
    swapped = np.arange(3.0).astype(">f8")
    assert leaf(swapped).attrs[0].array.dtype.isnative
    np.testing.assert_array_equal(leaf(swapped).attrs[0].array, [0, 1, 2])
    crooked = np.zeros(25, "u1")[1:].view("f8")
    assert leaf(crooked).attrs[0].array.flags.aligned


def test_lists_and_scalars_are_read():
    assert leaf([1.0, 2.0]).shape == (2,)
    assert leaf(2.5).attrs[0].kind == "number" and leaf(np.float32(2)).attrs[0].kind == "number"
    assert number(1, np.dtype("f4")).dtype == np.float32


def test_kinds():
    assert [array_kind(value) for value in (True, 1, 1.5, np.int8(1))] == ["number"] * 4
    assert array_kind(np.ones(2)) == array_kind([1]) == "numpy"


def test_arguments_are_never_shared():
    x = np.ones(3)
    assert argument(x, "a") is not argument(x, "b")
    assert argument(x, "a") is not leaf(x)
    assert argument(x, "a").attrs[0].traced


def test_a_name_makes_a_leaf_of_its_own():
    x = np.ones(3)
    assert leaf(x, "mu").attrs[0].name == "mu"
    assert repr(leaf(x, "mu").attrs[0]) == "mu" and repr(leaf(np.ones(3)).attrs[0]) == "float64[3]"


def test_a_leaf_does_not_outlive_its_expression():
    class Array(np.ndarray):
        pass

    x = np.ones(3).view(Array)
    alive = weakref.ref(x)
    node = leaf(x)
    del x
    gc.collect()
    assert alive() is not None, "the expression holds its data"
    del node
    gc.collect()
    assert alive() is None


def test_a_new_array_at_an_old_address_is_a_new_leaf():
    for _ in range(50):
        x = np.ones(3)
        node = leaf(x)
        assert node.attrs[0].given is x
        del node, x
