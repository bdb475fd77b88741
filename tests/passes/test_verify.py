"""Every way to break the grammar is named, with the node that breaks it."""

import numpy as np
import pytest
from reference import slot

from vecdist.graph.node import Node, const, where
from vecdist.passes.verify import IllegalGraph, verify
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.loops import Loop, local
from vecdist.primitives.structure import drop_axes, extent, pad, reshape, summed, view

F8, F4, BOOL = np.dtype("f8"), np.dtype("f4"), np.dtype("?")
X = slot(0, ("n", "m"))
N = slot(1, ("n", 1))
S = slot(2, ("n", "m"), np.float32)


def node(op, args, attrs=(), shape=("n", "m"), dtype=F8):
    return Node(op, args, attrs, shape, dtype)


BROKEN = {
    "unknown operation": (node("frobnicate", (X,)), "no primitive of this name"),
    "no code": (PRIMITIVES["lgamma"](X), "neither target has code"),
    "arity": (node("add", (X,)), "it takes 2 arguments"),
    "shape": (node("add", (X, X), shape=("n",)), "broadcast to"),
    "shape not repeated": (node("add", (N, N)), "broadcast to"),
    "no broadcast": (node("add", (X, slot(3, ("k", "m")))), "lengths n and k"),
    "mixed dtypes": (node("add", (X, S)), "arguments of dtypes"),
    "comparison of another dtype": (node("lt", (X, X)), "a comparison is a boolean"),
    "boolean arithmetic": (node("add", (slot(4, ("n", "m"), "?"),) * 2, dtype=BOOL), "a comparison is a boolean"),
    "loop of another dtype": (
        node("loop", (slot(5, (), "?"), X), (Loop(local(0, F4) < 1.0, (local(0, F4),)), 0), dtype=F4), "the dtype that",
    ),
    "leaf with arguments": (node("slot", (X,), (0, "dense", ())), "a leaf has no arguments"),
    "sum of two": (node("sum", (X, X), ((-1,),), ("n", 1)), "it takes one argument"),
    "extreme changes dtype": (node("max", (S,), ((-1,),), ("n", 1)), "it keeps the dtype"),
    "view without an axis": (node("view", (X,), (((0, 0, 1),),)), "one entry per axis"),
    "pad without an axis": (node("pad", (N,), (((0, 0, 1),),)), "one entry per axis"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_graphs_are_named(name):
    broken, complaint = BROKEN[name]
    with pytest.raises(IllegalGraph, match=complaint) as error:
        verify((X, -broken if broken.op not in {"sum", "view"} and broken.dtype == F8 else broken))
    assert str(error.value).startswith(f"{broken.op} {broken.shape} {broken.dtype}")


def test_a_sum_keeps_its_axes_with_length_1():
    with pytest.raises(IllegalGraph, match="sum"):
        verify((node("sum", (X,), ((-1,),), ("n", "m")),))


def test_a_branch_of_another_dtype_is_broken():
    with pytest.raises(IllegalGraph, match="where"):
        verify((node("where", (X < 0, X, S)),))
    with pytest.raises(IllegalGraph, match="where"):
        verify((node("where", (X, X, X)),))


def test_legal_graphs_pass_unchanged():
    roots = (
        where(X < N, X * 2.0, N / X),
        drop_axes(summed(X, (-1,)), (-1,)),
        pad(view(X, ((None, "s0", 1), (0, 0, 1)), ("m",)), ((None, "s0", 1), (0, 0, 1)), ("n", "m")),
        reshape(X, ("k",)),
        extent(("n", "m")) * const(2.0),
        (X < 0) & ~(N < 1),
    )
    assert verify(roots) == roots
