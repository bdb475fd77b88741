"""Rows that a thread has for itself, and rows that go in tiles."""

import numpy as np
import pytest
from nests import F4, F8, columns, i, j, nest, table, vector

from vecdist.codegen.cuda.grid import Grid
from vecdist.codegen.cuda.plan import planned
from vecdist.codegen.cuda.spelling import spelled
from vecdist.codegen.cuda.tiling import is_flat, takes_tiles
from vecdist.kernel.code import For, If, lines, walk
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Output
from vecdist.kernel.statements import Accumulate, Load, Store, Total


def of_type(kind, items):
    return [item for item in walk(items) if isinstance(item, kind)]


def test_rows_whose_elements_all_add_to_a_sum_go_tile_by_tile_unless_they_lie_in_registers():
    for fixed, tiles in ((), True), ((("n0", 100), ("n1", 20)), False):
        kernel, loop = nest(slots=(table(F8),), fixed=fixed)
        columns(loop.body, Load("v1", 0, (i, j), F8), Accumulate("a2", Name("v1"), kernel.root, F8))
        assert is_flat(loop) and not Grid(kernel).apart and takes_tiles(loop, Grid(kernel)) == tiles
        assert ("split" in str(of_type(For, planned(kernel)[0].items)[0].stop)) == tiles


def test_what_a_row_adds_itself_is_added_once():
    """By one lane of its first tile, whether there are elements or not."""
    kernel, loop = nest((0, Load("v0", 1, (i,), F8)), slots=(table(F8), vector(1, F8)))
    own, each = Accumulate("a1", Name("v0"), kernel.root, F8), Accumulate("a2", Name("v1"), kernel.root, F8)
    loop.body.put(0, own)
    columns(loop.body, Load("v1", 0, (i, j), F8), each)
    (rows,) = [item for item in of_type(For, planned(kernel)[0].items) if "split" in str(item.stop)]
    alone, tile = [item for item in rows.body if isinstance(item, If)]
    assert alone.body == (own,) and "lane" in str(alone.test) and "base" in str(alone.test)
    assert own not in of_type(Accumulate, tile.body)


@pytest.mark.parametrize(("dtype", "width", "together"), [
    (F8, 8, 2), (F4, 8, 4), (F4, 6, 2), (F4, 5, 1), (F8, 5, 1), (np.dtype("i2"), 8, 1),
])
def test_a_thread_with_a_row_for_itself_stores_and_loads_neighbours_in_one_instruction(dtype, width, together):
    outputs = (Output(("n0", "n1"), dtype),)
    kernel, loop = nest((0, Load("v0", 1, (i,), F8)), outputs=outputs, fixed=(("n1", width),),
                        slots=(table(dtype), vector(1, F8)))
    home = loop.body
    columns(home, Load("v1", 0, (i, j), dtype), Accumulate("a2", Name("v1"), home, F8), Store(0, (i, j), Name("v1")))
    home.put(1, Total("v3", "a2", F8))
    (planned_nest,) = planned(kernel)
    text = "\n".join(lines(spelled(planned_nest.items, kernel)))
    stores = [line.strip() for line in text.splitlines() if line.strip().startswith(("store_", "o0["))]
    loads = [line.split("= ")[1] for line in text.splitlines() if "= load_" in line]
    one = "o0[i0 * n1 + turn] = s0_i1[turn]"
    many = f"store_{together}(o0, i0 * n1 + turn, {', '.join(f's0_i1[turn + {n}]' for n in range(together))})"
    assert stores == ([many, one] if together > 1 else ["o0[i0 * n1 + i1] = v1"])
    assert loads == [f"load_{together}(x0, ahead * n1 + (lane + 1 * turn))"] * (2 if together > 1 else 0)
