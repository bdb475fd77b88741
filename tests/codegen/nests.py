"""Small nests of a kernel for CUDA: rows, columns along them, and what they read and store."""

import numpy as np

from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Store, Total

F4, F8, B1, I8 = map(np.dtype, ("f4", "f8", "?", "i8"))
i, j = Name("i0"), Name("i1")
X, Y = Name("x"), Name("y")


def nest(*items, outputs=(), slots=(), fixed=(), flagged=False):
    """A kernel of one loop over rows of items with their levels, and that loop."""
    root = Block()
    loop = Loop("n0", Block(root, "i0"))
    for level, item in items:
        loop.body.put(level, item)
    root.put(0, loop)
    return Kernel(root, slots, outputs, ("n0", "n1"), flagged, fixed), loop


def columns(rows, *items, sequential=False, index="i1"):
    """A loop over columns, in a block that is a row."""
    inner = Loop("n1", Block(rows, index), sequential)
    for item in items:
        inner.body.put(0, item)
    rows.put(0, inner)
    return inner


def row_sum(dtype=F8, fixed=()):
    """A kernel that stores the sum of each row, the loop over rows, and the one along them."""
    kernel, loop = nest(outputs=(Output(("n0",), F8),), slots=(table(dtype),), fixed=fixed)
    home = loop.body
    inner = columns(home, Load("v1", 0, (i, j), dtype), Accumulate("a2", Name("v1"), home, dtype))
    home.put(1, Total("v3", "a2", dtype))
    home.put(1, Store(0, (i,), Name("v3")))
    return kernel, loop, inner


def column_sums(dtype=F4, fixed=()):
    """A kernel that adds to an element for each column, and the loop over rows."""
    kernel, loop = nest(outputs=(Output(("n1",), dtype, summed=True),), slots=(table(dtype),), fixed=fixed)
    columns(loop.body, Load("v1", 0, (i, j), dtype), Scatter(0, (j,), Name("v1")))
    return kernel, loop


def table(dtype):
    return Slot(0, "dense", (0, 1), ("n0", "n1"), dtype)


def vector(number, dtype=F4, layout="dense"):
    return Slot(number, layout, (0,), ("n0",), dtype)


def doubled(dtype=F4, load=None, slot=None):
    """A kernel that stores twice what it loads, and its loop."""
    items = [load or Load("v1", 0, (i,), dtype), Assign("v2", "add", (Name("v1"), Name("v1")), dtype)]
    outputs = (Output(("n0",), dtype),)
    return nest(*[(0, item) for item in (*items, Store(0, (i,), Name("v2")))], outputs=outputs,
                slots=(slot or vector(0, dtype),))
