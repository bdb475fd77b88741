"""Branches in the place of choices: which statements go into them, and that what is computed stays the same."""

import random

import numpy as np
import pytest

from vecdist.codegen.cpu.spelling import scalar
from vecdist.codegen.demand import ALWAYS, either
from vecdist.codegen.reverse_if_conversion import branched
from vecdist.kernel.code import For, Function, If, Return, let, walk
from vecdist.kernel.expressions import Name, Several, operation
from vecdist.kernel.statements import Accumulate, Assign, Load, Store, Temp

F8, B1 = np.dtype("f8"), np.dtype("?")
c, d, x, y, z = map(Name, "cdxyz")


def assign(name, op, *args):
    return Assign(name, op, args, B1 if op in {"lt", "not", "and"} else F8)


def chain(name, start, length):
    """Statements that lead from a value to another, ``length`` of them."""
    between = [start, *(Name(f"{name}_{step}") for step in range(1, length)), Name(name)]
    return [assign(made.id, "add", read, y) for read, made in zip(between, between[1:], strict=False)]


def store(value):
    return Store(0, (), value)


def names(items):
    return [item.name for item in items if isinstance(item, Assign)]


def branches(items):
    return [item for item in walk(items) if isinstance(item, If)]


def test_cheap_sides_stay_choices():
    items = (*chain("a", x, 3), *chain("b", y, 3), assign("w", "where", c, Name("a"), Name("b")), store(Name("w")))
    assert branched(items, 4) == items


def test_what_one_side_needs_goes_into_a_branch():
    items = (*chain("a", x, 3), *chain("b", y, 1), assign("w", "where", c, Name("a"), Name("b")), store(Name("w")))
    (branch, last) = branched(items, 3)
    assert branch.test == c and last == store(Name("w"))
    assert names(branch.body) == ["a_1", "a_2", "a", "w"] and names(branch.orelse) == ["b", "w"]
    assert branch.body[-1] == assign("w", "index", Name("a"))


def test_what_both_sides_need_or_others_do_stays_outside():
    shared, kept = chain("s", x, 5), chain("k", x, 5)
    used = [assign("a", "mul", Name("s"), x), assign("b", "mul", Name("s"), Name("k"))]
    items = (*shared, *kept, *used, *chain("e", Name("a"), 5), assign("w", "where", c, Name("e"), Name("b")))
    found = branched((*items, store(Name("w")), store(Name("k"))), 5)
    (branch,) = branches(found)
    assert names(found) == [*names(shared), *names(kept)]
    assert names(branch.body) == ["a", *names(chain("e", x, 5)), "w"] and names(branch.orelse) == ["b", "w"]


def test_choices_by_one_condition_and_its_negation_share_a_branch():
    one, other = chain("a", x, 4), chain("b", y, 4)
    choices = [assign("v", "where", c, Name("a"), x), assign("w", "where", Name("n"), Name("b"), x)]
    items = (assign("n", "not", c), *one, *other, *choices, store(Name("v")), store(Name("w")))
    (branch,) = branches(branched(items, 4))
    assert names(branch.body) == [*names(one), "v", "w"] and names(branch.orelse) == [*names(other), "v", "w"]


def test_choices_on_sides_of_choices_are_branches_in_branches():
    test = assign("d", "lt", y, x)
    inner = assign("u", "where", d, Name("a"), x)
    items = (test, *chain("a", x, 4), inner, assign("w", "where", c, y, Name("u")), store(Name("w")))
    outer, _ = branched(items, 4)
    (within,) = branches(outer.orelse)
    assert (outer.test, within.test) == (c, d)
    assert names(outer.orelse) == ["d", "w"] and names(within.body) == [*names(chain("a", x, 4)), "u"]


def test_what_several_sides_need_has_a_branch_of_its_own():
    """A cell that is flushed, copied or updated: what two of the three formulas need is left out in the third."""
    shared = chain("s", x, 6)
    inner = [*chain("a", Name("s"), 1), assign("u", "where", d, y, Name("a"))]
    items = (*shared, *inner, assign("w", "where", c, Name("s"), Name("u")), store(Name("w")))
    of_shared, outer, _ = branched(items, 6)
    assert of_shared == If(operation("or", c, operation("not", d)), tuple(shared))
    assert outer.test == c and names(outer.body) == ["w"]


def test_a_choice_between_what_depends_on_another_has_a_branch_behind_it():
    first = [*chain("a", x, 4), assign("v", "where", c, Name("a"), x)]
    second = [assign("m", "mul", Name("v"), y), *chain("b", Name("m"), 4), assign("w", "where", c, Name("b"), x)]
    found = branched((*first, *second, store(Name("m")), store(Name("w"))), 4)
    assert [item.test if isinstance(item, If) else getattr(item, "name", "") for item in found] == [c, "m", c, "", ""]
    (joined, *_) = branched((*first, *second, store(Name("v")), store(Name("w"))), 4)
    assert names(joined.body) == [*names(first), *names(second)], "what one side alone does is done in one"


def test_what_is_known_to_others_or_has_effects_stays_in_order():
    load = Load("t", Temp(1), (), F8)
    items = (*chain("a", x, 4), store(x), load, assign("w", "where", c, Name("a"), Name("t")), store(Name("w")))
    found = branched(items, 4)
    assert [type(item) for item in found] == [Store, Load, If, Store]
    assert branched(items[:-1], 4, kept=("a", "w"))[: 4] == items[:4]
    running = (Accumulate("r", x, None, F8), *items)
    assert branched(running, 4)[0] == running[0]


def test_loads_are_made_early_unless_their_place_is_computed():
    early, late = Load("e", 0, (Name("i"),), F8), Load("g", 0, (Name("p"),), F8)
    place, sum_of_both = assign("p", "add", x, y), assign("a", "add", Name("e"), Name("g"))
    found = branched((early, place, late, sum_of_both, assign("w", "where", c, Name("a"), x), store(Name("w"))), 4)
    assert found[0] == early and found[1].body[:3] == (place, late, sum_of_both)


def test_names_that_are_given_twice_or_read_before_are_left_alone():
    side = [*chain("a", x, 4), assign("w", "where", c, Name("a"), x), store(Name("w"))]
    twice = (let("x", y), *side, let("x", Name("w")))
    assert branched(twice, 4) == twice
    later = (*side, let("x", Name("w")))
    assert branched(later, 4) == later


def test_blocks_inside_are_converted_where_they_are_scalar():
    side = (*chain("a", x, 4), assign("w", "where", c, Name("a"), x), store(Name("w")))
    loop = For("i", Name("n"), side)
    assert branches(branched((loop,), 4)) and not branches(branched((loop,), 4, lambda run, outer: outer))
    around = For("j", Name("m"), (*side, loop))
    (outer,) = branched((around,), 4, lambda run, outer: outer)
    assert isinstance(outer.body[0], If) and outer.body[-1] == loop
    read = (loop, store(Name("a")))
    assert branched(read, 4) == read, "what is read behind a loop is computed in every turn"


def test_demands_are_said_in_few_words():
    of = lambda *paths: frozenset(map(frozenset, paths))  # noqa: E731
    yes, no, also = ("c", True), ("c", False), ("d", True)
    assert either(of([yes]), of([no])) == ALWAYS
    assert either(of([yes]), of([no, also])) == of([yes], [also])
    assert either(of([yes]), of([yes, also])) == of([yes])
    many = [of([(name, True)]) for name in "abcdefg"]
    found = many[0]
    for each in many[1:]:
        found = either(found, each)
    assert found == ALWAYS


def programs(seed, length):
    """Random statements with choices among them, and what is read of them."""
    rng = random.Random(seed)
    floats, tests = ["x", "y", "z"], ["c", "d"]
    items = []
    for number in range(length):
        kind, name = rng.choices(("number", "test", "choice", "store"), (6, 1, 3, 0.4))[0], f"v{number}"
        one, other = (Name(each) for each in rng.choices(floats[-12:], k=2))
        if kind == "number":
            items.append(assign(name, rng.choice(("add", "sub", "mul")), one, other))
        elif kind == "choice":
            items.append(assign(name, "where", Name(rng.choice(tests[-5:])), one, other))
        elif kind == "store":
            items.append(let(f"out{number}", one))
            continue
        else:
            op = rng.choice(("lt", "not", "and"))
            few = [Name(rng.choice(tests)) for _ in range(2)]
            items.append(assign(name, op, *([one, other] if op == "lt" else few[: 1 if op == "not" else 2])))
        (tests if kind == "test" else floats).append(name)
    return (*items, let("out", Name(floats[-1])))


def program(items):
    """What computes statements, in Python, in which a name that was not given a value is an error."""
    results = [item.target for item in items if hasattr(item, "target")]
    body = (*scalar(items), Return(Several(tuple(results))))
    space = {"select": lambda test, yes, no: yes if test else no}
    exec(str(Function("program", tuple("xyzcd"), body)), space)
    return space["program"]


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_random_programs_compute_the_same(first):
    count = 0
    for seed in range(first, first + 50):
        items = programs(seed, 12 + seed % 60)
        found = branched(items, 1 + seed % 7)
        results = [item.target for item in items if hasattr(item, "target")]
        assert [item.target for item in found if hasattr(item, "target")] == results
        count += len(branches(found))
        with_branches, without = program(found), program(items)
        for number in range(8):
            rng = random.Random(number)
            given = {name: rng.uniform(-2, 2) for name in "xyz"} | {"c": number % 2 == 0, "d": number // 2 % 2 == 0}
            assert with_branches(**given) == without(**given), seed
    assert count > 25
