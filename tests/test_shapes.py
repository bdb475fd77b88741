"""Broadcasting of known and of symbolic lengths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecdist.graph.shapes import BroadcastError, broadcast, broadcast_axes, normalise_axes

SHAPES = st.lists(st.sampled_from((0, 1, 2, 3)), max_size=4).map(tuple)


@given(st.lists(SHAPES, max_size=4))
def test_broadcasts_as_numpy_does(shapes):
    try:
        wanted = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(BroadcastError):
            broadcast(shapes)
    else:
        assert broadcast(shapes) == wanted


def test_symbols_are_lengths():
    assert broadcast([("n", 1), ("m",)]) == ("n", "m")
    assert broadcast([("n",), ("n",), (1, 1)]) == (1, "n")
    with pytest.raises(BroadcastError, match="lengths n and m"):
        broadcast([("n",), ("m",)])
    with pytest.raises(BroadcastError, match="lengths n and 3"):
        broadcast([("n",), (3,)])


@given(SHAPES, SHAPES)
def test_broadcast_axes_are_those_with_a_stride_of_zero(a, b):
    a, b = ([length or 4 for length in shape] for shape in (a, b))  # NumPy gives empty arrays any strides
    try:
        into = np.broadcast_shapes(a, b)
    except ValueError:
        return
    strides = np.broadcast_to(np.ones(a), into).strides
    assert broadcast_axes(a, into) == tuple(
        axis for axis in range(-len(into), 0) if into[axis] > 1 and strides[axis] == 0
    )


def test_an_axis_may_be_repeated_no_times():
    assert broadcast_axes((1, 3), (0, 3)) == (-2,)
    assert broadcast_axes((), (0,)) == (-1,)
    assert broadcast_axes((0,), (0,)) == ()


def test_axes_are_negative_and_sorted():
    assert normalise_axes(None, 3) == (-3, -2, -1)
    assert normalise_axes(1, 3) == (-2,)
    assert normalise_axes((-1, 0), 3) == (-3, -1)
    assert normalise_axes((), 3) == ()
    assert normalise_axes(None, 0) == ()


@pytest.mark.parametrize(("axes", "message"), [
    (3, "axis 3"), (-4, "axis -4"), ((0, -3), "repeated"), ((1, 1), "repeated"),
])
def test_bad_axes_are_named(axes, message):
    with pytest.raises(ValueError, match=message):
        normalise_axes(axes, 3)
