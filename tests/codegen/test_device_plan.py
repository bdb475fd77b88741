"""The plan of loop nests for one thread: which statements it makes, and what it keeps."""

import numpy as np
import pytest

from vecdist import device_function, lazy
from vecdist.codegen.device.plan import planned
from vecdist.codegen.device.render import SHORT, memory, render
from vecdist.kernel.code import lines

ROWS = np.arange(12.0).reshape(4, 3)


def made(density, *arguments, gradient=False):
    return device_function(density, arguments, gradient).made


def plan(found):
    """The statements, loads left out."""
    return [line for line in lines(planned(found.kernel)) if " = x" not in line]


def test_loops_run_in_order_with_sums_in_names():
    def below_the_largest(x):
        products = lazy(ROWS[:, 0]) * x
        return (products - products.max()).sum()

    found = made(below_the_largest, "float64")
    assert plan(found) == [
        "a8 = f8(-np.inf)", "for i5 in range(n0):", "    v7 = mul(v6, v2)", "    a8 = max(a8, v7)", "v9 = total a8",
        "a11 = f8(0)", "for i0 in range(n0):", "    v3 = mul(v1, v2)", "    v10 = sub(v3, v9)", "    a11 += v10",
        "v12 = total a11", "o0[] = v12",
    ]  # fmt: skip
    assert memory(found.kernel, found.returned) == [("o0", 1, np.float64)]


@pytest.mark.parametrize(("dtype", "total"), [("f8", "o1"), ("f4", "q1")])
def test_slopes_are_added_up_row_by_row(dtype, total):
    """In the array that is given, or beside it in float64, to be rounded when all rows are done."""
    found = made(lambda w: (lazy(ROWS.astype(dtype)) @ w).sum(), np.zeros(3, dtype), gradient=True)
    lines = plan(found)
    assert lines[:2] == ["for place in range(3):", f"    {total}[place] = f8(0)"]
    assert f"        {total}[i3] = {total}[i3] + f8(v4)" in lines
    assert ("    o1[place] = f4(q1[place])" in lines) == (dtype == "f4")
    beside = [("q1", 3, np.float64)] if dtype == "f4" else []
    assert memory(found.kernel, found.returned) == [("o0", 1, np.dtype(dtype)), *beside]


def test_what_later_loops_read_is_kept():
    found = made(lambda w: (w.cumsum() * w).sum(), np.zeros(3))
    assert memory(found.kernel, found.returned) == [("o0", 1, np.float64), ("o1", 3, np.float64)]
    assert plan(found).index("        o1[i3] = v6") < plan(found).index("    v8 = o1[i7]")


def test_both_targets_spell_the_same_plan():
    """In words of their own: for memory, and for elements."""
    found = made(lambda w: (lazy(ROWS.astype("f4")) @ w).sum(), np.zeros(3, "f4"), gradient=True)
    cpu, cuda = (render(found.kernel, found.returned, target).text for target in ("cpu", "cuda"))
    assert "q1 = room(3, f8)" in cpu and "q1 = cuda.local.array(3, memory_f8)" in cuda
    assert "store(q1, i3, load(q1, i3, 2, 5) + f8(v4), 2, 5)" in cpu and "q1[i3] = q1[i3] + f8(v4)" in cuda
    for line in ("n0 = 4", "for i0 in range(n0):", "def density(x0, x1, o1):", "return (r0,)"):
        assert line in cpu and line in cuda


def test_loops_of_many_turns_stay_loops():
    """Their lengths are no constants for Numba, which would let a GPU's compiler write them out."""
    found = made(lambda x: (lazy(np.ones(SHORT + 1)) * x).sum() + (lazy(np.ones(SHORT)) * x).prod(), "float64")
    text = render(found.kernel, found.returned, "cuda").text
    assert f" = i8({SHORT + 1})" in text and f" = {SHORT}\n" in text
