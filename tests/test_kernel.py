"""The loop-nest language by itself: blocks, levels, and how a kernel prints."""

import numpy as np

from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Cases, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Store, Total, reads, renamed

F8 = np.dtype("f8")
I0, I3 = Name("i0"), Name("i3")


def mean_deviation():
    """x - sum(x): a loop that adds up, and one at the next level that uses the sum."""
    root = Block()
    first, second = Loop("n0", Block(root, "i0")), Loop("n0", Block(root, "i3"))
    root.put(0, first)
    first.body.put(0, Load("v5", 0, (I0,), F8))
    first.body.put(0, Accumulate("a6", Name("v5"), root, F8))
    root.put(1, Total("v7", "a6", F8))
    root.put(1, second)
    second.body.put(0, Load("v9", 0, (I3,), F8, guard=I3 < Name("n0")))
    second.body.put(0, Assign("v10", "sub", (Name("v9"), Name("v7")), F8))
    second.body.put(0, Store(0, (I3,), Name("v10")))
    second.body.put(0, Flag(Name("v11")))
    slots, outputs = (Slot(0, "dense", (), ("n0",), F8),), (Output(("n0",), F8),)
    return Kernel(root, slots, outputs, ("n0",), True)


def test_a_kernel_prints_as_the_program_it_is():
    assert str(mean_deviation()).splitlines() == [
        "for i0 < n0:", "    v5 = x0[i0]", "    a6 += v5", "v7 = total a6",
        "for i3 < n0:", "    v9 = x0[i3] if i3 < n0", "    v10 = sub(v9, v7)", "    o0[i3] = v10", "    flag if v11",
    ]


def test_levels_order_a_block():
    kernel = mean_deviation()
    root = kernel.root
    assert list(root.levels) == [0, 1]
    assert [level for level, _ in kernel.nests()] == [0, 1]
    assert root.statements(0) == [] and [type(item) for item in root.statements(1)] == [Total]
    walked = [type(item).__name__ for item in root.walk()]
    assert walked == ["Loop", "Load", "Accumulate", "Total", "Loop", "Load", "Assign", "Store", "Flag"]


def test_loops_know_their_sums_and_lengths():
    kernel = mean_deviation()
    (_, first), (_, second) = kernel.nests()
    assert [item.name for item in first.sums(kernel.root)] == ["a6"] and second.sums(kernel.root) == []
    assert first.index == "i0" and first.dims() == ["n0"]
    inner = Loop("n1", Block(first.body, "i12"))
    first.body.put(0, inner)
    assert first.dims() == ["n0", "n1"]
    assert inner.body.chain() == [kernel.root, first.body, inner.body]


def test_both_sides_of_a_case_belong_to_its_loop():
    root = Block()
    body = Block(root, "i0")
    short, long = Block(body, "i0"), Block(body, "i0")
    body.put(0, Cases(Name("v0"), short, long))
    short.put(0, Assign("v3", "index", (Name("v1"),), F8))
    long.put(0, Assign("v3", "index", (Name("v2"),), F8))
    assert [item.args for item in body.walk()] == [(Name("v1"),), (Name("v2"),)]
    assert short.loop_body is body is long.loop_body is body.loop_body
    assert body.cases(0)[0].condition == Name("v0") and body.statements(0) == []


def test_an_empty_block_has_one_level():
    assert list(Block().levels) == [0] and list(Block().walk()) == []


def test_statements_know_what_they_read_and_can_be_renamed():
    load = Load("v9", 0, (I3 + 1,), F8, guard=I3 < Name("n0"))
    assert reads(load) == {"i3", "n0"}
    copy = renamed(load, {"i3": I3 * 4, "v9": Name("v9_1")})
    assert str(copy) == "v9_1 = x0[i3 * 4 + 1] if i3 * 4 < n0"
    assert str(renamed(Store(0, (I0,), Name("v9")), {"v9": Name("v9_1")})) == "o0[i0] = v9_1"
