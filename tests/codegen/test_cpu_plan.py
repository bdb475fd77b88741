"""The passes that plan loop nests for the CPU, each on a small nest: which statements come of it."""

import typing

import numpy as np
import pytest
from kernels import CASES, kernel_of

from vecdist.codegen.cpu.blocking import blocked, is_interchanged, strip_mined
from vecdist.codegen.cpu.fission import Phase, Rows, has_phases, passed, phases
from vecdist.codegen.cpu.interchange import interchanged, narrow_columns, tiled
from vecdist.codegen.cpu.mixed import Add
from vecdist.codegen.cpu.plan import planned, turns
from vecdist.codegen.cpu.reductions import narrowed, reduced
from vecdist.codegen.cpu.spelling import TABLE, spelled
from vecdist.codegen.cpu.unrolling import is_unrolled, unrolled
from vecdist.codegen.cpu.versioning import seldom_needed, versioned
from vecdist.kernel.code import Do, For, If, Return, Set, While, let, lines, walk
from vecdist.kernel.expressions import FALSE, ZERO, Constant, Name
from vecdist.kernel.ir import Block, Kernel, Loop, Output, Slot
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Statement, Store, Temp, Total
from vecdist.primitives import PRIMITIVES

F4, F8, B1, I8 = map(np.dtype, ("f4", "f8", "?", "i8"))
i, j = Name("i0"), Name("i1")
X, Y, Z = Name("x"), Name("y"), Name("z")
START, STOP = Name("start"), Name("stop")
SELDOM = next(name for name, primitive in PRIMITIVES.items() if primitive.seldom)


def nest(*items):
    """A loop over rows of items with their levels."""
    rows = Block(Block(), "i0")
    for level, item in items:
        rows.put(level, item)
    return Loop("n0", rows)


def columns(rows, *items, sequential=False):
    """A loop over columns, in a block that is a row."""
    body = Block(rows, "i1")
    for item in items:
        body.put(0, item)
    return Loop("n1", body, sequential)


def row_sum(dtype=F8, indices=(i, j)):
    """A loop over rows that needs the sum of each: its inner loop, and it."""
    loop = nest()
    home = loop.body
    inner = columns(home, Load("v1", 0, indices, dtype), Accumulate("a2", Name("v1"), home, dtype))
    home.put(0, Assign("v0", "neg", (X,), F8))
    home.put(0, inner)
    home.put(1, Total("v3", "a2", dtype))
    home.put(1, Assign("v4", "mul", (Name("v3"), Name("v0")), F8))
    home.put(1, Store(0, (i,), Name("v4")))
    return inner, loop


def column_sum(dtype):
    """A loop over rows that adds to an element per column."""
    loop = nest()
    inner = columns(loop.body, Load("v1", 0, (i, j), dtype), Scatter(0, (j,), Name("v1")))
    loop.body.put(0, inner)
    return inner, loop, (Output(("n1",), dtype, summed=True),)


def kernel(loop, *outputs, slots=()):
    root = loop.body.parent
    root.put(0, loop)
    return Kernel(root, slots, outputs, ("n0", "n1"), False)


def strip(buffers=()):
    """The rows of a strip."""
    return Rows(For("i0", STOP, (), START), dict(buffers))


def of_type(kind, items):
    return [item for item in walk(items) if isinstance(item, kind)]


def test_a_strip_mined_loop_runs_the_same_turns_in_strips():
    body = (Flag(X),)
    loop = strip_mined(For("i0", Name("end"), body, Name("begin")), 256, "start", "stop", lambda turns: (turns,))
    limit = Name("min")(START + 256, Name("end"))
    inner = For("i0", STOP, body, START)
    assert loop == For("start", Name("end"), (let("stop", limit), inner), Name("begin"), Constant(256))
    unnamed = strip_mined(For("i0", Name("end"), body), 256, "start", "", lambda turns: (turns, turns))
    inner = For("i0", limit, body, START)
    assert unnamed == For("start", Name("end"), (inner, inner), ZERO, Constant(256)), "whatever is made of the turns"


def test_blocks_of_a_loop_that_scatters_are_runs_with_sums_of_their_own():
    block = (Flag(X),)
    plain = nest((0, Flag(X)))
    assert blocked(kernel(plain), plain, block, False) == (For("block", Name("last"), block, Name("first")),)
    _, loop, outputs = column_sum(F8)
    blocks, stripes, loop_of_stripes = blocked(kernel(loop, *outputs), loop, block, False)
    assert [blocks.target, stripes.target] == [Name("blocks"), Name("stripes")]
    row, run = loop_of_stripes.body
    assert row == let("row_o0", Name("stripe") * Name("n1"))
    assert (loop_of_stripes.index, run.index, run.body) == ("stripe", "block", block)
    given = [{"blocks": 10, "stripes": 4, "stripe": stripe} for stripe in range(4)]
    found = [range(eval(str(run.start), each), eval(str(run.stop), each)) for each in given]
    assert [block for blocks in found for block in blocks] == list(range(10)), "each block is in one stripe"
    *_, loop_of_stripes = blocked(kernel(loop, *outputs), loop, block, True)
    _, begin, end, *run = loop_of_stripes.body
    assert tuple(run) == block and [begin.target, end.target] == [Name("begin"), Name("end")]
    given = [{**each, "size": 3, "n0": 29} for each in given]
    found = [range(eval(str(begin.value), each), eval(str(end.value), each)) for each in given]
    assert [row for rows in found for row in rows] == list(range(29)), "or each row, where all its blocks are one"


def test_unrolled_turns_have_names_and_indices_of_their_own():
    inner, loop = row_sum()
    assert unrolled(turns(inner, {}), 2) == (
        Load("v1_0", 0, (i, Constant(0)), F8),
        Accumulate("a2", Name("v1_0"), loop.body, F8),
        Load("v1_1", 0, (i, Constant(1)), F8),
        Accumulate("a2", Name("v1_1"), loop.body, F8),
    )


def test_loops_are_unrolled_that_are_short_and_may_run_in_any_order():
    inner, loop = row_sum()
    assert is_unrolled(inner, {"n1": 16}) and not has_phases(loop, {"n1": 16})
    assert not is_unrolled(inner, {"n1": 17}) and has_phases(loop, {"n1": 17})
    assert not is_unrolled(inner, {}), "its length is not known"
    scattered, _, _ = column_sum(F8)
    assert not is_unrolled(scattered, {"n1": 2})
    assert not is_unrolled(columns(loop.body, Flag(X), sequential=True), {"n1": 2})
    many = columns(loop.body, *[Flag(X)] * 100)
    assert is_unrolled(many, {"n1": 5}) and not is_unrolled(many, {"n1": 6})


def test_partial_sums_of_float32_are_narrow_and_those_of_float64_are_not():
    home = Block()
    single, double = Accumulate("a1", X, home, F4), Accumulate("a2", Y, home, F8)
    largest = Accumulate("a3", Z, home, F4, "max")
    run = (For("i0", Name("n0"), (single, double, largest)),)
    start, loop, end = narrowed(run, [single, double, largest])
    assert start == let("s_a1", Name("f4")(0))
    assert loop.body == (Accumulate("s_a1", X, home, F4), double, largest)
    assert end == let("a1", Name("a1") + Name("f8")(Name("s_a1"))), "added to what earlier runs found"
    *starts, loop, end = reduced(run, [single, double])
    assert starts == [let("s_a1", Name("f4")(0)), let("a2", Name("f8")(0))]
    assert end == let("a1", Name("f8")(Name("s_a1"))), "all there is"


def test_phases_part_inner_loops_from_what_needs_their_sums():
    inner, loop = row_sum()
    first, last = phases(loop)
    assert (first.loop, first.items) == (inner, (Total("v3", "a2", F8),))
    assert last.loop is None and [type(item) for item in last.items] == [Assign, Assign, Store]
    assert last.items[0].name == "v0", "which nothing needs before"
    assert passed([first, last]) == {"v3": F8}


def test_what_an_inner_loop_needs_is_computed_before_it_and_what_is_scattered_comes_last():
    needed, other = Assign("v0", "neg", (X,), F8), Assign("v5", "neg", (Y,), F8)
    loop = nest((0, Scatter(0, (X,), Name("v0"))), (0, needed), (0, other))
    loop.body.put(0, columns(loop.body, Store(1, (i, j), Name("v0"))))
    before, inner, after, scattered = phases(loop)
    assert before.items == (needed,) and inner.loop is not None and after.items == (other,)
    assert [type(item) for item in scattered.items] == [Scatter]


def test_booleans_are_computed_again_where_a_few_cheap_steps_do_that():
    def second(*steps):
        loop = nest((0, Load("v0", 0, (i,), F8)), *((0, step) for step in steps))
        read = (Name("v0"), Name(steps[-1].name))
        loop.body.put(0, columns(loop.body, *[Store(n, (i, j), each) for n, each in enumerate(read)]))
        return phases(loop)[1], passed(phases(loop))

    cheap = Assign("v1", "lt", (Name("v0"), ZERO), B1), Assign("v2", "not", (Name("v1"),), B1)
    phase, buffers = second(*cheap)
    assert phase.again == cheap and buffers == {"v0": F8}
    dear = Assign("v1", "exp", (Name("v0"),), F8), Assign("v2", "lt", (Name("v1"), ZERO), B1)
    phase, buffers = second(*dear)
    assert phase.again == (dear[1],) and buffers == {"v0": F8, "v1": F8}
    whole = Load("v1", 1, (i,), I8), Assign("v2", "lt", (Name("v1"), ZERO), B1)
    phase, buffers = second(*whole)
    assert phase.again == () and buffers == {"v0": F8, "v2": B1}, "integers are no narrower than booleans are awkward"


def test_rows_take_what_they_read_from_buffers_and_leave_what_others_read():
    rows = strip({"v0": F8, "v1": B1, "v2": F8, "v3": B1})
    made = Assign("v2", "mul", (Name("v0"), Name("v0")), F8), Assign("v3", "not", (Name("v1"),), B1)
    loop = rows.expanded(Phase(made), made)
    at = {n: Name(f"b_v{n}")[i - START] for n in range(4)}
    assert loop == For(
        "i0", STOP,
        (
            let("v0", at[0]), let("v1", at[1].differs(0)), *made,
            Set(at[2], Name("v2")), Set(at[3], Name("i1")(Name("v3"))),
        ),
        START,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "expected"), [((i, j), False), ((j, i), True), ((j,), True), ((j, j), True)], ids=str
)
def test_rows_become_innermost_where_no_element_lies_beside_the_next_along_a_row(indices, expected):
    inner, loop = row_sum(indices=indices)
    assert is_interchanged(inner, loop) is expected
    assert not is_interchanged(inner, Loop("1", loop.body)), "one row has no neighbours"


def test_an_interchanged_loop_keeps_the_sums_of_rows_in_buffers():
    inner, loop = row_sum(indices=(j, i))
    phase = Phase((Total("v3", "a2", F8),), inner)
    sums = inner.sums(loop.body)
    begun, several, single, ended = interchanged(strip({"a2": F8, "v3": F8}), phase, turns(inner, {}), sums, ())
    at = Name("b_a2")[i - START]
    assert begun == For("i0", STOP, (Set(at, Name("f8")(0)),), START)
    assert (single.index, single.stop, single.start) == ("i1", Name("n1"), several.stop)
    (rows,) = single.body
    load, add = inner.body.statements(0)
    assert rows == For("i0", STOP, (load, let("a2", at), add, Set(at, Name("a2"))), START)
    assert (several.index, several.step) == ("i1", Constant(4))
    (rows,) = several.body
    assert (rows.body[0], rows.body[-1]) == (let("a2", at), Set(at, Name("a2")))
    assert [item.indices for item in of_type(Load, [rows])] == [(j, i), *((j + turn, i) for turn in (1, 2, 3))]
    assert [item.value for item in of_type(Accumulate, [rows])] == [Name(f"v1_{turn}") for turn in range(4)]
    assert ended.body == (let("a2", at), Total("v3", "a2", F8), Set(Name("b_v3")[i - START], Name("v3")))


def test_an_interchanged_loop_adds_up_float32_for_few_columns_at_a_time():
    inner, loop = row_sum(F4, (j, i))
    phase, sums = Phase((Total("v3", "a2", F4),), inner), inner.sums(loop.body)
    _, few, _ = interchanged(strip({"a2": F8, "s_a2": F4}), phase, turns(inner, {}), sums, ())
    assert (few.index, few.stop, few.step) == ("first_column", Name("n1"), Constant(64))
    begun, several, found, ended = few.body
    narrow, wide = Name("b_s_a2")[i - START], Name("b_a2")[i - START]
    assert begun.body == (Set(narrow, Name("f4")(0)),)
    assert several.start == Name("first_column") and found.start == several.stop
    assert {item.name for item in of_type(Accumulate, [several, found])} == {"s_a2"}
    assert ended.body == (Set(wide, wide + Name("f8")(narrow)),)


def test_an_interchanged_loop_adds_up_a_column_before_it_scatters():
    loop = nest()
    inner = columns(loop.body, Load("v1", 0, (j, i), F8), Scatter(0, (j,), Name("v1")))
    loop.body.put(0, inner)
    outputs = (Output(("n1",), F8, summed=True),)
    (found,) = interchanged(strip(), Phase((), inner), turns(inner, {}), [], outputs)
    begun, rows, ended = found.body
    assert begun == let("t0", Name("f8")(0)) and rows.index == "i0"
    assert [(item.name, item.value) for item in of_type(Accumulate, [rows])] == [("t0", Name("v1"))]
    assert not of_type(Scatter, [rows]) and ended == Scatter(0, (j,), Name("t0"))


def test_float32_columns_are_added_up_in_tiles():
    inner, loop, outputs = column_sum(F4)
    sums = narrow_columns(inner, loop, outputs)
    assert sums == [inner.body.statements(0)[1]]
    tiles = tiled(strip({"s_v1_o0": F4}), Phase((), inner), turns(inner, {}), sums)
    limit, begun, several, rows, ended = tiles.body
    at = Name("b_s_v1_o0")[j - Name("first_column")]
    assert limit == let("last_column", Name("min")(Name("first_column") + 256, Name("n1")))
    assert [(each.index, each.start, each.stop) for each in (begun, *several.body, *rows.body, ended)] == [
        ("i1", Name("first_column"), Name("last_column"))
    ] * 4
    assert begun.body == (Set(at, Name("f4")(0)),) and rows.index == several.index == "i0"
    assert rows.body[0].body == (Load("v1", 0, (i, j), F4), Add(at, Name("v1")))
    assert several.body[0].body[2:4] == (Load("v1_1", 0, (i + 1, j), F4), Add(at, Name("v1_1")))
    assert len(several.body[0].body) == 8 and several.stop == rows.start and several.step == Constant(4)
    assert ended.body == (Scatter(0, (j,), at),)
    inner, loop, outputs = column_sum(F8)
    assert narrow_columns(inner, loop, outputs) == [], "float64 is added up where it belongs"


def seldom_items(*more):
    """A value that is seldom wanted, what it alone needs, and what all need."""
    rare = Assign("v1", "exp", (X,), F8), Assign("v2", SELDOM, (Name("v0"), Name("v1"), Name("v3")), F8)
    return (
        Assign("v0", "lt", (X, ZERO), B1), rare[0], Assign("v3", "neg", (X,), F8), rare[1],
        Store(0, (i,), Name("v2")), *more,
    )  # fmt: skip


def test_a_version_without_seldom_values_finds_out_whether_one_was_wanted():
    items = seldom_items()
    assert seldom_needed(items) == {"v1"}
    start, loop, again = versioned((For("i0", Name("n0"), items),), nest())
    assert start == let("seldom", FALSE)
    assert loop.body == (
        items[0], items[2], let("v2", Name("v3")), let("seldom", Name("seldom") | Name("v0")), items[4],
    )  # fmt: skip
    assert again == If(Name("seldom"), (For("i0", Name("n0"), items),))


def test_a_version_that_finds_out_scatters_nothing():
    scatter = Scatter(1, (Name("v3"),), Name("v2"))
    _, loop, again = versioned((For("i0", Name("n0"), seldom_items(scatter)),), nest())
    assert not of_type(Scatter, [loop])
    assert of_type(Scatter, again.body) == of_type(Scatter, again.orelse) == [scatter]
    assert of_type(Assign, again.body)[-1].op == SELDOM != of_type(Assign, again.orelse)[-1].op


def test_sums_and_flags_are_for_the_second_version_as_they_were():
    total, flag = Accumulate("a", Name("v2"), Block(), F8), Flag(Name("v0"))
    items = seldom_items(total, flag)
    loop = nest((0, total), (0, flag))
    *kept, start, back_a, back_bad, _, again = versioned((For("i0", Name("n0"), items),), loop)
    assert kept == [let("before_a", Name("a")), let("before_bad", Name("bad"))] and start == let("seldom", FALSE)
    assert (back_a, back_bad) == (let("a", Name("before_a")), let("bad", Name("before_bad")))
    assert again.body == (back_a, back_bad, For("i0", Name("n0"), items)) and again.orelse == ()


def test_a_block_without_seldom_values_has_one_version():
    items = (Assign("v0", "neg", (X,), F8),)
    assert versioned(items, nest()) is items


def test_seldom_values_of_seldom_values_are_not_asked_for():
    inner = Assign("v1", SELDOM, (X, Y, Z), F8)
    outer = Assign("v2", SELDOM, (Name("v0"), Name("v1"), Y), F8)
    assert seldom_needed((inner, outer, Store(0, (i,), Name("v2")))) == {"v1"}


def test_every_statement_is_in_the_table_that_spells_it():
    assert set(typing.get_args(Statement)) <= TABLE.keys()


def spelling(item, *buffers):
    slots = (
        Slot(0, "dense", (0, 1), ("n0", "n1"), F8), Slot(1, "strided", (0, 1, 2), ("n0", 1, "n1"), F8),
        Slot(2, "number", (), (), F8),
    )  # fmt: skip
    outputs = Output(("n0", "n1"), F8), Output(("n1",), F8, temporary=True)
    whole = Kernel(Block(), slots, outputs, ("n0", "n1"), True)
    (found,) = lines(spelled((item,), whole, buffers))
    return found


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (Load("v1", 0, (i, j), F8), "v1 = load(x0, i0 * n1 + i1, -1, 3)"),
        (Load("v1", 1, (i, j), F8), "v1 = load_bytes(x1, i0 * x1_s0 + i1 * x1_s2, -1, 3)"),
        (Load("v1", 2, (), F8), "v1 = x2"),
        (Load("v1", Temp(1), (j,), F8), "v1 = load(o1, i1, 1, 3)"),
        (Load("v1", 0, (i, j), F8, i < j), "v1 = load(x0, i0 * n1 + i1, -1, 3) if i0 < i1 else f8(0)"),
        (Assign("v1", "mul", (X, Y), F8), "v1 = x * y"),
        (Accumulate("a1", X, Block(), F8, "max"), "a1 = accumulate_max(a1, x)"),
        (Total("v1", "a1", F4), "v1 = f4(a1)"),
        (Store(0, (i, j), X), "store(o0, i0 * n1 + i1, x, 0, 3)"),
        (Scatter(1, (j,), X), "add_at(q_o1, row_o1 + i1, x, 1, 3)"),
        (Flag(X), "bad = bad | x"),
        (let("v1", Name("b_v1")[i].differs(0)), "v1 = load(b_v1, i0, 2, 3) != 0"),
        (Set(Name("b_v1")[i], X), "store(b_v1, i0, x, 2, 3)"),
        (Set(Name("p_a1")[i], X), "p_a1[i0] = x"),
        (Add(Name("b_v1")[i], X), "add_at(b_v1, i0, x, 2, 3)"),
    ],
    ids=str,
)
def test_statements_are_spelled_with_alias_scopes(item, text):
    assert spelling(item, "v1") == text


@pytest.mark.parametrize("name", CASES)
def test_what_is_planned_is_spelled_to_the_last_statement(name):
    whole = kernel_of(name)
    nests = planned(whole)
    assert [nest.loop for nest in nests] == [loop for _, loop in whole.nests()]
    for nest in nests:
        kept = [item for item in nest.loop.body.walk() if isinstance(item, Store | Scatter | Flag)]
        assert of_type(Store | Scatter | Flag, nest.items) == kept, "what is done is done once"
        code = spelled(nest.items, whole, nest.buffers)
        assert {type(item) for item in walk(code)} <= {Set, Do, If, For, While, Return}


def test_rows_that_an_index_chooses_lie_along_their_elements():
    inner, loop = row_sum(indices=(Name("v9"), j))
    assert is_interchanged(inner, loop), "an index that is known before is of no row"
    loop.body.put(0, Load("v9", 1, (i,), I8))
    assert not is_interchanged(inner, loop)
