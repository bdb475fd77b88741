"""Routines in the place of their calls: names of their own, results shared where that is certain, loops over tables."""

from math import exp

import pytest

from vecdist.codegen import inline
from vecdist.codegen.inline import inlined, is_routine
from vecdist.primitives import PRIMITIVES, Primitive

TABLE = (3.0, 2.0, 1.0)
PLACES = (0.25, 0.5)
HALF = 0.5
HEADER = "from language import *"


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


ROUTINES = {f.__name__: f for f in (mantissa, exponent, mixed, early)}


@pytest.fixture(autouse=True)
def routines(monkeypatch):
    entries = {name: Primitive(name, 2, code="", routine=function) for name, function in ROUTINES.items()}
    monkeypatch.setattr(inline, "PRIMITIVES", PRIMITIVES | entries)


def run(lines, **values):
    """What a source of these lines computes, its first line left out."""
    scope = {"f4": float, "f8": float, **values}
    exec("\n".join(lines[1:]), scope)
    return scope


@pytest.mark.parametrize("x", [0.3, 5.0])
def test_a_call_becomes_statements_that_compute_the_same(x):
    lines = inlined([HEADER, "v1 = f8(mixed(v0, 2.0))"])
    assert not any("mixed(" in line or "polynomial(" in line for line in lines)
    assert run(lines, v0=x)["v1"] == mixed(x, 2.0)


def test_source_without_routines_is_left_alone():
    texts = [HEADER, "def kernel(x0, o0):\n    v0 = f8(x0)", "    o0[0] = v0"]
    assert inlined(texts) == "\n".join(texts).split("\n")


def test_functions_of_the_same_arguments_are_computed_once():
    lines = inlined([HEADER, "v1 = f8(mantissa(v0, 1.0))", "v2 = f4(exponent(v0, 1.0))"])
    assert sum("while" in line for line in lines) == 1
    scope = run(lines, v0=40.0)
    assert (scope["v1"], scope["v2"]) == (0.625, 6.0)


@pytest.mark.parametrize("texts", [
    ["v1 = f8(mantissa(v0, 1.0))", "v2 = f8(exponent(v0, 2.0))"],
    ["if v0 > 0.0:", "    v1 = f8(mantissa(v0, 1.0))", "else:", "    v1 = f8(exponent(v0, 1.0))"],
])
def test_nothing_is_shared_with_other_arguments_or_from_another_branch(texts):
    assert sum("while" in line for line in inlined([HEADER, *texts])) == 2


def test_what_came_before_a_branch_is_shared_in_it():
    texts = ["v1 = f8(mantissa(v0, 1.0))", "if v0 > 0.0:", "    v2 = f8(exponent(v0, 1.0))"]
    lines = inlined([HEADER, *texts])
    assert sum("while" in line for line in lines) == 1
    assert run(lines, v0=40.0)["v2"] == 6.0


def test_loops_over_tables_are_written_out_and_indexed_ones_are_constants():
    lines = inlined([HEADER, "v1 = f8(mixed(v0, 2.0))"])
    assert "PLACES = (0.25, 0.5)" in lines
    assert not any("TABLE" in line or "coefficient" in line for line in lines)


def test_a_function_that_returns_early_is_refused():
    with pytest.raises(ValueError, match="early: a routine has one return"):
        inlined([HEADER, "v1 = f8(early(v0))"])


def test_every_routine_can_be_inlined():
    """Each entry of the table: what is left calls nothing but types, the mathematical functions and built-in ones."""
    names = [name for name in PRIMITIVES if is_routine(name)]
    assert names
    for name in names:
        arguments = ", ".join(f"v{place}" for place in range(PRIMITIVES[name].arity))
        text = "\n".join(inlined([HEADER, f"v9 = f8({name}({arguments}))"])[1:])
        point = [0.5] * PRIMITIVES[name].arity
        scope = {"f8": float, **{f"v{place}": x for place, x in enumerate(point)}}
        exec(text, scope)
        assert scope["v9"] == pytest.approx(PRIMITIVES[name].routine(*point), rel=1e-14, nan_ok=True), name
