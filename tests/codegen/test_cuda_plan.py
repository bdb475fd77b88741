"""The passes that plan loop nests for CUDA, each on a small nest: which statements come of it."""

import typing
from dataclasses import replace

import numpy as np
import pytest
from kernels import CASES, kernel_of
from nests import B1, F4, F8, I8, X, Y, column_sums, columns, doubled, i, j, nest, row_sum, table, vector

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.cooperative_groups import group, over_groups
from vecdist.codegen.cuda.grid import THREADS, Grid, needs_grid_barrier
from vecdist.codegen.cuda.plan import planned
from vecdist.codegen.cuda.prefetching import loads_ahead, prefetched, tile_ahead
from vecdist.codegen.cuda.privatisation import begun, ended, flushed_at_times, privatised
from vecdist.codegen.cuda.reductions import combined, halving, totals
from vecdist.codegen.cuda.render import function
from vecdist.codegen.cuda.spelling import TABLE, spelled
from vecdist.codegen.cuda.tiling import AHEAD, BASE, Tile, is_flat, sequential, tiled, unrolling
from vecdist.codegen.cuda.unroll_and_jam import jammed, loads, work
from vecdist.codegen.cuda.vectorisation import aligned, vectorised, with_neighbours
from vecdist.kernel.code import Do, For, If, Set, While, let, lines, walk
from vecdist.kernel.expressions import FALSE, TRUE, ZERO, Constant, Name, Several, names, word
from vecdist.kernel.ir import Block, Cases, Output, Slot
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Statement, Store, Temp, Total


def of_type(kind, items):
    return [item for item in walk(items) if isinstance(item, kind)]


def test_the_elements_of_a_tile_are_loaded_before_anything_is_computed():
    _, loop = doubled()
    items = jammed(Tile(loop, 4))
    names_of = [item.name for item in of_type(Load | Assign, items)]
    assert names_of == [f"v1_{number}" for number in range(4)] + [f"v2_{number}" for number in range(4)]
    assert [item.value for item in of_type(Store, items)] == [Name(f"v2_{number}") for number in range(4)]
    assert items[-1] == let("done", TRUE)
    assert Do(word("cuda.syncwarp")(cuda.EVERY_LANE)) in items, "no load waits for what is computed"


def test_each_element_is_in_one_tile_once():
    _, loop = doubled()
    for tile in (Tile(loop, 8), Tile(loop, 8, together=4), Tile(loop, 4, together=4), Tile(loop, 2, together=2)):
        given = [{"base": 0, "thread": thread} for thread in range(THREADS)]
        found = [eval(str(tile.element(BASE, copy)), each) for each in given for copy in range(tile.copies)]
        assert sorted(found) == list(range(tile.copies * THREADS))
        alone = [eval(str(tile.own(Constant(copy))), each) for each in given for copy in range(tile.copies)]
        assert alone == found


@pytest.mark.parametrize("length", [1, 1023, 1024, 1025, 10_000])
def test_tiles_of_a_loop_from_behind_come_once_each(length):
    """The last one, of few elements, comes last: what is loaded ahead are whole tiles."""
    _, loop = doubled()
    tile, given = Tile(loop, 4, backward=True), {str(loop.length): length}
    (top,) = tile.top
    given["top"] = eval(str(top.value), given.copy())
    found = [eval(str(tile.begins(Constant(turn))), given) for turn in range(0, length, 4 * THREADS)]
    whole, last = found[:-1], found[-1]
    assert whole == sorted(whole, reverse=True) and sorted(found) == list(range(0, length, 4 * THREADS))
    assert last == max(found)


def test_sums_of_a_tile_are_added_up_pairwise_before_they_are_converted():
    kernel, loop = nest((0, Load("v1", 0, (i,), F4)), slots=(vector(0),))
    loop.body.put(0, Accumulate("a2", Name("v1"), kernel.root, F4))
    loop.body.put(0, Accumulate("a3", Name("v1"), kernel.root, F4, "max"))
    items = work(Tile(loop, 4))
    added, largest = of_type(Accumulate, items)
    v = [Name(f"v1_{number}") for number in range(4)]
    assert added.value == (v[0] + v[1]) + (v[2] + v[3])
    assert largest.value == Name("s_a3")  # found one after another: a choice has its sides twice
    found = [item for item in of_type(Set, items) if item.target == largest.value]
    assert [item.value for item in found] == [v[0], *(combined("max", "f", largest.value, each) for each in v[1:])]


def test_a_whole_tile_takes_the_short_case_if_every_element_may():
    kernel, loop = nest()
    short, long = Block(loop.body, "i0"), Block(loop.body, "i0")
    short.put(0, Assign("v1", "neg", (X,), F8))
    long.put(0, Assign("v1", "exp", (X,), F8))
    loop.body.put(0, Assign("v0", "lt", (X, Y), B1))
    loop.body.put(0, Cases(Name("v0"), short, long))
    loop.body.put(0, Accumulate("a2", Name("v1"), kernel.root, F8))
    *_, branch = work(Tile(loop, 2))
    assert str(branch.test) == "v0_0 and v0_1"
    assert [item.op for item in of_type(Assign, branch.body)] == ["neg", "neg"]
    assert isinstance(branch.body[-2], Accumulate) and branch.body[-1] == let("done", TRUE), "added once"
    assert [item.op for item in of_type(Assign, sequential(loop.body))] == ["lt", "exp"]


def test_a_tile_that_is_not_whole_has_the_body_once():
    _, loop = doubled()
    start, whole, rest = tiled(Tile(loop, 8), (Flag(X),))
    assert start == let("done", FALSE) and whole == If(BASE + Constant(8) * THREADS <= Name("n0"), (Flag(X),))
    (few,) = rest.body
    assert few.body == sequential(loop.body) and few.step == Constant(THREADS)


@pytest.mark.parametrize(("count", "dtype", "copies"), [
    (10, F4, 8), (10, F8, 4), (240, F4, 4), (240, F8, 2), (241, F8, 1), (400, F4, 2), (401, F4, 1),
])
def test_long_bodies_are_unrolled_less(count, dtype, copies):
    _, loop = nest((0, Load("v0", 0, (i,), dtype)), *[(0, Assign("v1", "neg", (X,), dtype))] * (count - 1))
    assert unrolling(loop) == copies


def test_neighbours_are_loaded_and_stored_together():
    kernel, loop = doubled()
    tile = with_neighbours(Tile(loop, 8), kernel)
    assert tile.together == 4 and set(tile.vectors.values()) == {"x0", "o0"}
    items = vectorised(work(tile), tile, kernel)
    stores = of_type(Do, items)
    assert [str(item.call).split("(")[0] for item in stores] == ["store_4"] * 2 and not of_type(Store, items)
    values = [Name(f"v2_{number}") for number in range(8)]
    assert [item.call.args[2:] for item in stores] == [tuple(values[:4]), tuple(values[4:])]
    before, _ = tile_ahead(tile)
    fetched = [item for item in of_type(Set, vectorised(before, tile, kernel)) if isinstance(item.target, Several)]
    assert [str(item.value) for item in fetched] == [
        "load_4(x0, ahead + 4 * thread)", f"load_4(x0, ahead + 4 * thread + 4 * {THREADS})",
    ]
    assert str(aligned(tile)[1].test) == "not (aligned(o0) and aligned(x0))"


@pytest.mark.parametrize("change", [
    {"load": Load("v1", 0, (Name("n0") - 1 - i,), F4)}, {"load": Load("v1", 0, (i,), F4, X)},
    {"slot": vector(0, F4, "strided")},
])
def test_what_does_not_lie_side_by_side_is_loaded_alone(change):
    kernel, loop = doubled(**change)
    tile = with_neighbours(Tile(loop, 8), kernel)
    assert set(tile.vectors.values()) == {"o0"}, "which is stored to side by side"
    before, _ = tile_ahead(tile)
    assert len(of_type(Load, vectorised(before, tile, kernel))) == 8


def test_narrow_and_wide_arrays_share_the_width_of_the_wide_ones():
    items = [Load("v1", 0, (i,), F4), Load("v2", 1, (i,), F8), Load("v3", 2, (i,), B1)]
    kernel, loop = nest(*[(0, item) for item in items], slots=(vector(0), vector(1, F8), vector(2, B1)))
    tile = with_neighbours(Tile(loop, 4), kernel)
    assert tile.together == 2 and set(tile.vectors.values()) == {"x0", "x1"}


def test_the_next_tile_is_loaded_while_one_is_computed():
    _, loop = doubled()
    tile = Tile(loop, 2)
    before, now = tile_ahead(tile)
    assert [item.target for item in before[:2]] == [Name("f_v1_0"), Name("f_v1_1")], "set on every path"
    assert of_type(Load, loads(tile)) and not [item for item in now if isinstance(item, Load)]
    assert [let("v1_0", Name("f_v1_0")), let("v1_1", Name("f_v1_1"))] == [now[1], now[3]]
    assert now[-2] == let("ahead", BASE + Name("blocks") * tile.width)
    assert [item.indices for item in of_type(Load, now)] == [(tile.element(AHEAD, number),) for number in range(2)]


def test_an_index_that_is_data_is_not_loaded_ahead():
    _, loop = nest((0, Load("v1", 0, (i,), I8)), (0, Load("v2", 1, (Name("v1"),), F8)))
    assert [item.name for item in Tile(loop, 2).loads()] == ["v1"]
    assert sequential(loop.body) == tuple(loop.body.statements(0))


def test_lanes_share_the_loops_of_a_row_and_the_first_stores():
    kernel, loop, _ = row_sum()
    row = over_groups(loop, {}, Grid(kernel))
    (turns,) = [item for item in row if isinstance(item, For)][:1]
    assert turns == For("base", Name("n1"), turns.body, ZERO, turns.step), "in tiles, where a block may share it"
    assert row[-1] == If(cuda.LANE.equals(0), (Store(0, (i,), Name("v3")),))
    steps = [item for item in row if isinstance(item, While)]
    assert [item.test for item in steps] == [Name("hop") > 0], "lanes are chosen at launch"
    syncs = [item for item in walk(row) if item == cuda.SYNC]
    assert len(syncs) == 2, "warps of a block meet in shared memory, and leave it"
    assert "min(lanes, 32)" in str(list(group(loop, Grid(kernel), True))[1].value)


def test_lanes_that_are_known_take_elements_that_are_counted():
    kernel, loop, _ = row_sum(F4, fixed=(("n1", 20),))
    grid = Grid(kernel)
    assert grid.lanes == {loop: 4}
    row = over_groups(loop, {}, grid)
    (turns,) = [item for item in row if isinstance(item, For) and item.index == "turn_i1"]
    assert turns.stop == Constant(5) and turns.body[0] == let("i1", cuda.LANE + Constant(4) * Name("turn_i1"))
    narrow = let("s_a2", Name("s_a2") + Name("v1"))
    assert narrow in list(walk(row)) and let("a2", Name("f8")(Name("s_a2"))) in row, "sums of float32 are narrow"
    hops = [item for item in row if isinstance(item, For) and item.index == "turn"]
    assert [item.stop for item in hops] == [Constant(2)]
    uneven, loop, _ = row_sum(F4, fixed=(("n1", 19),))
    assert str(of_type(If, over_groups(loop, {}, Grid(uneven)))[0].test) == "i1 < n1"


def test_a_sequential_loop_is_run_by_the_first_lane():
    kernel, loop = nest()
    columns(loop.body, Flag(X), sequential=True)
    ((turns),) = over_groups(loop, {}, Grid(kernel))
    assert str(turns.stop) == "n1 if lane == 0 else 0"


def test_rows_without_sums_are_flat():
    kernel, loop = nest(outputs=(Output(("n0", "n1"), F8),), slots=(table(F8),))
    columns(loop.body, Load("v1", 0, (i, j), F8), Store(0, (i, j), Name("v1")))
    assert is_flat(loop) and Grid(kernel).apart
    _, rows, _ = row_sum()
    assert not is_flat(rows)


def test_loads_of_the_next_row_are_made_while_one_is_computed():
    kernel, loop, inner = row_sum(F4, fixed=(("n1", 8),))
    inner.body.put(0, Load("v4", 1, (j,), F4))
    kernel = replace(kernel, slots=(*kernel.slots, Slot(1, "dense", (0,), ("n1",), F4)))
    grid = Grid(kernel)
    found = loads_ahead(loop, {}, grid)
    assert {each.item.name: each.moves for each in found} == {"v1": True, "v4": False}
    before, row = prefetched(over_groups(loop, {}, grid), found, loop, grid)
    assert not of_type(Load, row), "all are known when the row begins"
    assert "g_v4[turn] = x1[lane + 1 * turn]" in "\n".join(lines(before)), "what no row changes is loaded once"
    assert [item.test for item in of_type(If, row) if "ahead" in names(item.test)] == [Name("ahead") < Name("n0")]
    assert let("v1", Name("g_v1")[Name("turn_i1")]) in list(walk(row))


def test_no_more_is_loaded_ahead_than_there_are_registers_for():
    kernel, loop, inner = row_sum(F8, fixed=(("n1", 64),))
    assert not loads_ahead(loop, {}, Grid(row_sum(F8)[0])), "whose lengths are not known"
    (each,) = loads_ahead(loop, {}, Grid(kernel))
    inner.body.put(0, Load("v4", 1, (i, j), F8))
    assert each.words == 32 and len(loads_ahead(loop, {}, Grid(kernel))) == 1


def test_sums_by_column_are_private_in_registers_where_lengths_are_known():
    kernel, loop = column_sums(F4, fixed=(("n1", 20),))
    (own,) = Grid(kernel).private_to(loop)
    assert own.registers == 5 and own.split
    (added,) = privatised((Scatter(0, (j,), Name("v1")),), [own])
    place = Name("sums_o0")[Name("turn_i1")]
    assert added == Set(place, place + Name("f4")(Name("v1")))
    assert of_type(If, list(flushed_at_times([own]))), "sums in float32 are short"
    assert len(of_type(For, list(begun([own])))) == 2 and list(walk(list(ended([own], [])))).count(cuda.SYNC) == 2


def test_sums_by_column_are_private_in_slots_where_lengths_are_not_known():
    kernel, loop = column_sums(F8)
    (own,) = Grid(kernel).private_to(loop)
    assert not own.registers and not list(flushed_at_times([own])) and own.size({"n1": 100}, 8) == 13
    (added,) = privatised((Scatter(0, (j,), Name("v1")),), [own])
    assert str(added.target) == f"slots[slot_base + (slot_o0 + (i1 >> shift)) * {THREADS} + thread]"
    again = [each for each in of_type(Set, list(ended([own], [own]))) if each.target.__class__ is not Name]
    assert again[0].target in (again[0].value.parts), "what an earlier nest left is kept"


def test_sums_whose_places_are_data_are_added_by_atomics():
    scatter = Scatter(0, (Name("v1"),), Name("v2"))
    kernel, _ = nest((0, scatter), outputs=(Output(("n1",), F8, summed=True),))
    grid = Grid(kernel)
    assert grid.atomic_outputs == [0] and not grid.private
    assert list(lines(spelled((scatter,), kernel))) == ["cuda.atomic.add(sums, at_o0 + v1, f8(v2))"]


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_results_are_combined_as_reductions_of_their_elements(op):
    both = combined(op, "f", Name("a"), Name("b"))
    reduce = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op]
    for a, b in [(2.0, 3.0), (3.0, 2.0), (np.nan, 1.0), (1.0, np.nan), (-0.5, -0.5)]:
        np.testing.assert_equal(eval(str(both), {"a": a, "b": b}), reduce(a, b))


@pytest.mark.parametrize("lanes", [1, 2, 8, 32])
def test_known_and_unknown_lanes_meet_over_the_same_distances(lanes):
    met = {}
    for kind, count in (("known", Constant(lanes)), ("unknown", Name("lanes"))):
        text = "\n".join(lines(halving(count, Do(Name("meet")(Name("hop"))))))
        met[kind] = []
        exec(text, {"lanes": lanes, "meet": met[kind].append})
    assert met["known"] == met["unknown"] and sum(met["known"]) == lanes - 1


def test_partial_results_are_read_a_few_at_a_time():
    sums = [Accumulate(f"a{number}", X, Block(), F8) for number in range(9)]
    read = [item for item in totals(sums, 2) if isinstance(item, For) and item.stop == cuda.BLOCKS]
    assert [len(item.body) for item in read] == [16, 2]
    assert str(read[1].body[0].value) == "partials[10 * blocks + other]"


def test_reductions_of_several_types_share_no_name():
    """A name that takes integers and floats would be a float, which not all integers are."""
    sums = [Accumulate("a1", X, Block(), F8), Accumulate("a2", X, Block(), I8)]
    given = {}
    for item in of_type(Set, list(totals(sums, 0))):
        if isinstance(item.target, Name) and item.target.id not in {"a1", "a2"} and "hop" not in item.target.id:
            given.setdefault(item.target.id, set()).add(str(item.value).startswith("i8("))
    assert given == {"found_a1": {False}, "found_a2": {True}}


def test_a_nest_that_needs_an_earlier_sum_waits_for_the_grid():
    text = "\n".join(lines(function(kernel_of("sum_used_again")).body))
    assert needs_grid_barrier(kernel_of("sum_used_again")) and "while cuda.atomic.add(arrivals, 1, 0) < blocks:" in text
    alone = "\n".join(lines(function(kernel_of("row_sums")).body))
    assert not needs_grid_barrier(kernel_of("row_sums")) and "arrivals" not in alone


def test_every_statement_can_be_spelled():
    assert set(typing.get_args(Statement)) <= set(TABLE)


@pytest.mark.parametrize(("statement", "text"), [
    (Assign("v1", "where", (Name("c"), X, Y), F8), "v1 = cuda.selp(c, x, y)"),
    (Assign("v1", "where", (Name("c"), X, Y), B1), "v1 = x if c else y"),
    (Assign("v1", "floor", (X,), F4), "v1 = floor_f4(x)"),
    (Assign("v1", "from_bits", (X,), F8), "v1 = from_bits_i8(x)"),
    (Load("v1", 0, (i, j), F4), "v1 = x0[i0 * n1 + i1]"),
    (Load("v1", 0, (i, j), F4, X), "v1 = x0[i0 * n1 + i1] if x else f4(0)"),
    (Load("v1", 1, (i,), B1), "v1 = x1[i0 * x1_s2] != 0"),
    (Load("v1", 2, (), F8), "v1 = x2"),
    (Load("v1", Temp(1), (i,), F4), "v1 = kept_f4[2 * keep_o1 + i0]"),
    (Store(0, (i,), X), "o0[i0] = x"),
    (Store(1, (i,), X), "kept_f4[2 * keep_o1 + i0] = x"),
    (Accumulate("a1", X, Block(), F4), "a1 = a1 + f8(x)"),
    (Total("v1", "a1", F4), "v1 = f4(a1)"),
    (Flag(X), "if x:\n    flag[0] = 1"),
])  # fmt: skip
def test_statements_in_the_words_of_cuda(statement, text):
    slots = (table(F4), Slot(1, "strided", (2,), ("n0",), B1), Slot(2, "number", (), (), F8))
    outputs = (Output(("n0",), F8), Output(("n0",), F4, temporary=True, kept=True))
    kernel, _ = nest(slots=slots, outputs=outputs)
    assert "\n".join(lines(spelled((statement,), kernel))) == text


@pytest.mark.parametrize("name", CASES)
def test_plans_are_statements_that_can_be_read(name):
    kernel = kernel_of(name)
    plans = planned(kernel)
    assert [plan.loop for plan in plans] == [loop for _, loop in kernel.nests()]
    for plan in plans:
        assert "\n".join(lines(plan.items))
        own = {item.op for item in plan.loop.body.walk() if isinstance(item, Assign)}
        assert {item.op for item in of_type(Assign, plan.items)} == own, "nothing is lost, and nothing comes to it"
    code = list(walk(spelled([item for plan in plans for item in plan.items], kernel)))
    assert not [item for item in code if isinstance(item, Statement)]


def test_a_body_is_held_once_beside_its_whole_tile():
    kernel, loop = doubled()
    (plan,) = planned(kernel)
    assert len(of_type(Assign, plan.items)) == unrolling(loop) + 1
