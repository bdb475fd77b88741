"""Loops in order: what lanes share of them on CUDA where steps are associative, and which rows go together."""

from dataclasses import replace

import numpy as np
import pytest

from vecdist.codegen.cpu.blocking import block_size, fewest_turns, is_interchanged
from vecdist.codegen.cuda.cooperative_groups import over_groups
from vecdist.codegen.cuda.cut_rows import cut_rows
from vecdist.codegen.cuda.grid import (
    PIECES,
    PIECES_ACROSS,
    THREADS,
    Grid,
    counters,
    needs_grid_barrier,
    one_by_one,
    partial_places,
)
from vecdist.codegen.cuda.launch import COLUMNS, FEW, lanes_of, pieces_of
from vecdist.codegen.cuda.prefix_sums import depth, shared_words, staged_words
from vecdist.codegen.cuda.running_results import Change
from vecdist.kernel.code import For, If, lines, walk
from vecdist.kernel.expressions import ZERO, Name
from vecdist.kernel.ir import Block, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Accumulate, Load, Store, Total
from vecdist.runtime.cpu import threads

F8 = np.dtype("f8")
i, j = Name("i0"), Name("i1")


def running(op, factor=None, dim="n1"):
    """Rows with a loop in order that stores what ``op`` makes of the elements so far."""
    root = Block()
    rows = Loop("n0", Block(root, "i0"))
    along = Loop(dim, Block(rows.body, "i1"), sequential=True)
    taken = Accumulate("a2", Name("v1"), rows.body, F8, op, factor, ZERO if op == "last" else None)
    for item in (Load("v1", 0, (i, j), F8), taken, Total("v3", "a2", F8), Store(0, (i, j), Name("v3"))):
        along.body.put(0, item)
    rows.body.put(0, along)
    root.put(0, rows)
    shape = ("n0", dim)
    kernel = Kernel(root, (Slot(0, "dense", (), shape, F8),), (Output(shape, F8),), shape, False)
    return kernel, rows, along


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "linear", "last"])
def test_associative_steps_are_shared(op):
    alone = op == "last"
    kernel, rows, along = running(op, Name("v1") if op == "linear" else None)
    assert one_by_one(along) == alone and Grid(kernel).takes_blocks(rows) != alone
    *_, turns = over_groups(rows, {}, Grid(kernel))
    assert isinstance(turns, For) and turns.index == ("i1" if alone else "base")


def across(op):
    """The same with neighbours in memory in different rows."""
    kernel, rows, along = running(op, Name("v1") if op == "linear" else None)
    for number, (level, item) in enumerate(along.body.items):
        if isinstance(item, Load | Store):
            along.body.items[number] = level, replace(item, indices=(j, i))
    return kernel, rows, along


def test_a_tile_has_some_elements_for_each_lane():
    kernel, rows, along = running("sum")
    *_, turns = over_groups(rows, {}, Grid(kernel))
    assert depth(along) == 4 and str(turns.step) == "4 * lanes"
    found = list(lines(turns.body[:10]))
    assert found[:2] == ["room = i4(min(n1 - base, 4 * lanes))", "final = i4(room - 1)"]
    assert found[-2:] == ["inside3 = offset3 < room", "i1_3 = base + i8(min(offset3, final))"]
    stored = [item for item in walk(turns.body) if isinstance(item, Store)]
    assert [str(item) for item in stored] == [f"o0[i0, i1_{n}] = v3_{n}" for n in range(4)]


def test_lanes_and_warps_give_each_other_as_many_numbers_as_changes_have_parts():
    kernel, _, along = running("sum")
    assert shared_words(along) == 8 and staged_words(kernel) == 5 * THREADS
    kernel, _, along = running("linear", Name("v1"))
    assert depth(along) == 4 and shared_words(along) == 16 and staged_words(kernel) == 2 * 5 * THREADS


def test_elements_that_follow_one_another_meet_no_others_in_a_bank():
    """Where lanes of a warp leave what they have read, and where they find what they run up, is the same memory."""
    for lanes in (2, 8, 32):
        kernel, rows, _ = running("sum")
        _, _, *layout, _ = over_groups(rows, {}, Grid(kernel))
        text, place = "\n".join(lines(layout)), {}
        for thread in range(32):
            names = {"thread": thread, "lane": thread % lanes, "lanes": lanes, "min": min, "i4": int}
            exec(text, names)
            group = thread - thread % lanes
            for number in range(4):
                place[group, names[f"offset{number}"]] = names[f"left{number}"]
        assert sorted(place) == [(group, element) for group in range(0, 32, lanes) for element in range(4 * lanes)]
        for (group, element), found in place.items():
            assert found == (group + element // 4) * 5 + element % 4


def test_a_linear_change_behind_another():
    """Of h = a h + b: first (b1, a1), then (b2, a2)."""
    item = Accumulate("a2", Name("b"), Block(), F8, "linear", Name("a"))
    value, factor = (str(part) for part in Change(item, "t").after((Name("b1"), Name("a1"))))
    for b1, a1, b2, a2, wanted in [
        (3.0, 2.0, 1.0, 4.0, (13.0, 8.0)), (0.0, 2.0, 1.0, np.inf, (1.0, np.inf)), (0.0, np.inf, 1.0, 0.0, (1.0, 0.0)),
        (0.0, np.nan, 1.0, 0.0, (1.0, np.nan)), (np.nan, 0.0, 1.0, -np.inf, (np.nan, 0.0)),
    ]:  # fmt: skip
        names = {"b1": b1, "a1": a1, "t_a2": b2, "t_by_a2": a2, "np": np}
        np.testing.assert_equal((eval(value, names), eval(factor, names)), wanted)
    assert [str(part) for part in Change(item, "t").none] == ["f8(0)", "1.0"]


def test_rows_are_innermost_where_results_go_across_them_and_what_they_are_of_does_not():
    _, rows, along = running("sum")
    assert not is_interchanged(along, rows)
    items = [replace(item, indices=(j, i)) if isinstance(item, Store) else item for _, item in along.body.items]
    along.body.items[:] = [(0, item) for item in items]
    assert is_interchanged(along, rows)


@pytest.mark.parametrize(("first", "least"), [((j, i), 64), ((i, j), 1)])
def test_blocks_of_the_cpu_have_neighbours_enough_where_rows_lie_across_memory(first, least):
    _, rows, along = running("sum")
    items = [replace(item, indices=first) if isinstance(item, Load | Store) else item for _, item in along.body.items]
    along.body.items[:] = [(0, item) for item in items]
    assert fewest_turns(rows) == least
    assert str(block_size(rows)) == f"max({least}, 4096 // max(1, n1))"
    assert threads.block_size(rows, {"n1": 100_000}) == least and threads.block_size(rows, {"n1": 4}) == 1024


def test_rows_of_nothing_but_running_results_may_be_cut():
    kernel, rows, _ = running("sum")
    assert Grid(kernel).cut == [rows] and needs_grid_barrier(kernel)
    assert partial_places(Grid(kernel), 8) == PIECES and counters(kernel) == 4
    linear = Grid(running("linear", Name("v1"))[0])
    assert linear.piece_parts == {"whole_a2": 0, "whole_by_a2": PIECES} and partial_places(linear, 8) == 2 * PIECES
    linear = Grid(across("linear")[0])
    assert linear.piece_parts == {"whole_a2": 0, "whole_by_a2": PIECES_ACROSS}


@pytest.mark.parametrize("rows", [1, 3, FEW - 1, FEW, 1000, 1024, COLUMNS - 1, COLUMNS, 10**6])
@pytest.mark.parametrize("length", [1, 100, 10_000, 10**6])
def test_pieces_have_places_for_what_they_come_to(rows, length):
    for make in (running, across):
        kernel, loop, _ = make("sum")
        lengths = {"n0": rows, "n1": length}
        pieces, lanes = pieces_of(loop, lengths), lanes_of(loop, Grid(kernel), lengths)
        assert pieces == 1 or pieces * rows <= Grid(kernel).piece_places
        many = make is across and rows >= FEW
        assert pieces == 1 or (lanes == pieces if many else lanes == pieces * THREADS)
        assert pieces > 1 or not (length == 10**6 and rows <= (10_000 if many else 100))


def test_rows_with_sums_of_their_own_or_steps_one_by_one_are_not_cut():
    kernel, rows, _ = running("sum")
    rows.body.put(1, Total("v9", "a2", F8))
    assert not Grid(kernel).cut and not needs_grid_barrier(kernel)
    assert not Grid(running("last")[0]).cut


def test_a_cut_row_is_run_twice_with_the_grid_waiting_in_between():
    kernel, rows, _ = running("sum")
    *_, passes, again = cut_rows(rows, Grid(kernel))
    assert isinstance(passes, If) and str(passes.test) == "cut > 1"
    first, *waiting = passes.body
    assert "partials[0 * blocks + (0 + piece)] = whole_a2" in "\n".join(lines([first]))
    assert list(lines(first.body[:1])) == ["i0 = piece % n0"]
    assert "atomic.add(arrivals, 3, 1)" in "\n".join(lines(waiting))
    assert not [item for item in walk([first]) if isinstance(item, Store)]
    assert [item for item in walk([again]) if isinstance(item, Store)]
