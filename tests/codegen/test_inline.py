"""Routines in the place of their calls or as functions: results shared where that is certain, and none for nothing."""

import ast
from math import exp

import pytest

from vecdist.codegen import inline, routines
from vecdist.codegen.frontend import statements
from vecdist.codegen.inline import inlined, routine
from vecdist.codegen.routines import is_routine, with_needs
from vecdist.kernel.code import Function, lines
from vecdist.primitives import PRIMITIVES, Primitive

TABLE = (3.0, 2.0, 1.0)
PLACES = (0.25, 0.5)
HALF = 0.5


def polynomial(x, coefficients):
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


def halves(x, limit):
    """Two values, by a loop."""
    n = 0.0
    while x > limit and n < 100.0:
        x = x * HALF
        n += 1.0
    return x, n


def mantissa(x, limit):
    rest, _ = halves(x, limit)
    return rest


def exponent(x, limit):
    _, n = halves(x, limit)
    return n


def mixed(x, limit):
    y = polynomial(x, TABLE) if x < limit else exp(-x) * polynomial(1.0 / x, TABLE)
    z = PLACES[0]
    for k in range(2):
        z += PLACES[k] * y
    return z


def early(x):
    if x > 0.0:
        return x
    return -x


def long(x: float, limit: float) -> tuple[bool, float, float]:
    """More statements than are put in the place of a call."""
    rest, n = halves(x, limit)
    total = 0.0
    product = 1.0
    k = 0.0
    while k < 5.0:
        k += 1.0
        total += rest / k
        product *= n + k
    if total > product:
        total -= 1.0
        product += 1.0
    return total > 0.0, total, product


def summed(x, limit):
    _, total, _ = long(x, limit)
    return total


def multiplied(x, limit):
    _, _, product = long(x, limit)
    return product


def turned(x, y):
    return x - y, x + y


def turned_thrice(x, y):
    """Both results take the places of what they are made of."""
    for _ in range(3):
        x, y = turned(x, y)
    return x * y


def two(x, limit):
    rest, _ = halves(x, limit)
    other, _ = halves(limit, x)
    return rest, other


def unasked(x, limit):
    """Nobody wants what the second call in there returns."""
    rest, _ = two(x, limit)
    return rest


def powers(base):
    """A routine that takes a function, and a number, from around it."""

    def power(x, y):
        total, factor = turned(x, base)
        return total * factor * y

    return power


power = powers(3.0)
WRITTEN = (mantissa, exponent, mixed, early, summed, multiplied, turned_thrice, unasked, power)
ROUTINES = {f.__name__: f for f in WRITTEN}


@pytest.fixture(autouse=True)
def entries_of_the_table(monkeypatch):
    entries = {name: Primitive(name, 2, code="", routine=function) for name, function in ROUTINES.items()}
    for module in (inline, routines):
        monkeypatch.setattr(module, "PRIMITIVES", PRIMITIVES | entries)


def put(*texts):
    """The lines of a function of these, routines in the place of their calls, and the tables and routines it needs."""
    (found,), tables, called = inlined([Function("kernel", (), statements(ast.parse("\n".join(texts)).body))])
    return list(lines(found.body)), tables, called


def run(source, **values):
    """What such lines compute."""
    found, tables, called = source
    scope = {"f4": float, "f8": float, **values, **dict(tables)}
    for each in with_needs(called):
        scope |= dict(each.tables)
        exec(f"import math\n{each.function}", scope)
    exec("\n".join(["import math", *found]), scope)
    return scope


@pytest.mark.parametrize("x", [0.3, 5.0])
def test_a_call_becomes_statements_that_compute_the_same(x):
    source = put("v1 = f8(mixed(v0, 2.0))")
    assert not any("mixed(" in line or "polynomial(" in line for line in source[0]) and not source[2]
    assert run(source, v0=x)["v1"] == mixed(x, 2.0)


@pytest.mark.parametrize("function", [turned_thrice, power], ids=["in the places of its arguments", "closure"])
def test_results_and_closures(function):
    source = put(f"v2 = f8({function.__name__}(v0, v1))")
    assert run(source, v0=0.75, v1=2.5)["v2"] == function(0.75, 2.5)


def test_source_without_routines_is_left_alone():
    texts = ["v0 = f8(x0)", "for i in range(n):", "    o0[i] = v0"]
    assert put(*texts) == (texts, (), ())


def test_functions_of_the_same_arguments_are_computed_once():
    source = put("v1 = f8(mantissa(v0, 1.0))", "v2 = f4(exponent(v0, 1.0))")
    assert sum("while" in line for line in source[0]) == 1
    scope = run(source, v0=40.0)
    assert (scope["v1"], scope["v2"]) == (0.625, 6.0)


@pytest.mark.parametrize("texts", [
    ["v1 = f8(mantissa(v0, 1.0))", "v2 = f8(exponent(v0, 2.0))"],
    ["if v0 > 0.0:", "    v1 = f8(mantissa(v0, 1.0))", "else:", "    v1 = f8(exponent(v0, 1.0))"],
])
def test_nothing_is_shared_with_other_arguments_or_from_another_branch(texts):
    assert sum("while" in line for line in put(*texts)[0]) == 2


def test_what_came_before_a_branch_is_shared_in_it():
    texts = ["v1 = f8(mantissa(v0, 1.0))", "if v0 > 0.0:", "    v2 = f8(exponent(v0, 1.0))"]
    source = put(*texts)
    assert sum("while" in line for line in source[0]) == 1
    assert run(source, v0=40.0)["v2"] == 6.0


def test_a_call_whose_results_nobody_wants_is_left_out():
    source = put("v1 = f8(unasked(v0, 1.0))")
    assert sum("while" in line for line in source[0]) == 1
    assert run(source, v0=40.0)["v1"] == 0.625


def test_loops_over_tables_are_written_out_and_indexed_ones_are_constants():
    found, tables, _ = put("v1 = f8(mixed(v0, 2.0))")
    assert tables == (("PLACES", PLACES),)
    assert not any("TABLE" in line or "coefficient" in line for line in found)


def test_a_function_that_returns_early_is_refused():
    with pytest.raises(ValueError, match="early: a routine has one return"):
        put("v1 = f8(early(v0))")


def test_long_functions_are_called_and_compute_the_same():
    source = put("v1 = f8(summed(v0, 1.0))")
    (called,) = source[2]
    assert called.name.startswith("long_") and any(f"{called.name}(" in line for line in source[0])
    assert called.parameters == ("f8", "f8") and called.results == ("f8",)
    assert run(source, v0=40.0)["v1"] == summed(40.0, 1.0)


def test_one_call_gives_all_that_is_wanted_of_its_arguments():
    source = put("v1 = f8(summed(v0, 1.0))", "v2 = f4(multiplied(v0, 1.0))")
    assert sum("long_" in line for line in source[0]) == 1
    assert [each.results for each in source[2]] == [("f8", "f8")]
    scope = run(source, v0=40.0)
    assert (scope["v1"], scope["v2"]) == (summed(40.0, 1.0), multiplied(40.0, 1.0))


def test_what_nobody_wants_of_a_function_is_left_out_of_it():
    assert "product" not in str(routine(mixed_sums, frozenset({0})).function)
    assert "total" not in str(routine(mixed_sums, frozenset({1})).function)
    assert routine(long, frozenset({0})).results == ("b1",)


def mixed_sums(x: float) -> tuple[float, float]:
    total, product = 0.0, 1.0
    while x > 1.0:
        x = x / 2.0
        total, product = total + x, product * x
    if x > 0.5:
        product += 1.0
    return total, product


def test_equal_functions_have_equal_names_and_others_have_others():
    names = {routine(long, frozenset(used)).name for used in ({0}, {1}, {0, 1}, {1, 2})}
    assert len(names) == 4
    assert routine(long, frozenset({0})).name in names


def test_every_routine_computes_the_same():
    """Each entry of the table: what is left calls types, functions of Python, and what comes with it."""
    names = [name for name in PRIMITIVES if is_routine(name)]
    assert names
    for name in names:
        entry = PRIMITIVES[name]
        text = entry.code.format(*(f"v{place}" for place in range(entry.arity)), dtype="f8")
        source = put(f"v9 = {text}")
        point = [0.5] * entry.arity
        found = run(source, **{f"v{place}": x for place, x in enumerate(point)})["v9"]
        wanted = entry.routine(*(point[1:-1] if entry.seldom else point))
        assert found == pytest.approx(wanted, rel=1e-14, nan_ok=True), name
        if entry.seldom:
            assert run(source, v0=False, **{f"v{place}": 0.25 for place in range(1, entry.arity)})["v9"] == 0.25
