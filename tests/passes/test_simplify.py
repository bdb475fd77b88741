"""Simplification keeps every value, NaN and infinity among them, every shape and every dtype."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import ops, slot

import vecdist
from vecdist.graph.node import Node, cast, const, topological, where
from vecdist.passes.simplify import simplify
from vecdist.passes.verify import verify
from vecdist.primitives.loops import local, loop
from vecdist.primitives.reductions import reduced
from vecdist.runtime.interpreter import interpret

SPECIAL = [0.0, 1.0, -1.0, 2.0, -0.5, math.inf, -math.inf, math.nan, 1e30, 3.0]
X, Y = slot(0, ("n",)), slot(1, ("n",))
B, C = slot(2, ("n",), np.bool_), slot(4, ("n", 1))


@st.composite
def graphs(draw, dtype):
    """A random elementwise graph rich in the constants that rules look for."""
    constant = st.sampled_from(SPECIAL).map(lambda value: const(value, dtype))
    numbers = [slot(0, ("n",), dtype), slot(1, ("n",), dtype), slot(3, (), dtype)]
    tests = [slot(2, ("n",), np.bool_), const(True, np.bool_), const(False, np.bool_)]
    for _ in range(draw(st.integers(1, 12))):
        x, y = (draw(st.one_of(st.sampled_from(numbers), constant)) for _ in range(2))
        p, q = (draw(st.sampled_from(tests)) for _ in range(2))
        kind = draw(st.sampled_from(("add", "sub", "mul", "div", "neg", "where", "lt", "and", "or", "not")))
        match kind:
            case "add" | "sub" | "mul" | "div":
                divisor = y if y.op == "const" else abs(y)  # the sign of a zero may change, and so that of its quotient
                numbers.append({"add": x + y, "sub": x - y, "mul": x * y, "div": x / divisor}[kind])
            case "neg":
                numbers.append(-x)
            case "where":
                numbers.append(where(p, x, y))
            case "lt":
                tests.append(x < y)
            case _:
                tests.append({"and": p & q, "or": p | q, "not": ~p}[kind])
    return (numbers[-1], tests[-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_graphs_keep_their_values(dtype):
    values = np.array(SPECIAL, dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    arrays = [x, y, np.arange(x.size) % 3 == 0, dtype(-2.5)]

    @settings(max_examples=150)
    @given(graphs(dtype))
    def check(roots):
        better = simplify(roots)
        for old, new, a, b in zip(
            roots, better, *(interpret(graph, arrays, {"n": x.size}) for graph in (roots, better)), strict=True
        ):
            assert (old.shape, old.dtype) == (new.shape, new.dtype)
            np.testing.assert_array_equal(a, b)
        verify(better)

    check()


@settings(max_examples=100)
@given(graphs(np.float64))
def test_a_second_pass_finds_little_and_a_third_nothing(roots):
    once = simplify(roots)
    again = simplify(simplify(once))
    assert simplify(again) == again
    assert len(set(topological(again))) <= len(set(topological(roots)))


RULES = {
    "x + 0": (X + 0.0, X), "0 + x": (0.0 + X, X), "x - 0": (X - 0.0, X), "0 - x": (0.0 - X, -X),
    "x + -y": (X + -Y, X - Y), "-x + y": (-X + Y, Y - X), "x - -y": (X - -Y, X + Y),
    "x * 1": (X * 1.0, X), "1 * x": (1.0 * X, X), "x * -1": (X * -1.0, -X), "-x * 3": (-X * 3.0, X * -3.0),
    "-x * -y": (-X * -Y, X * Y), "x / 1": (X / 1.0, X), "x / -1": (X / -1.0, -X),
    "--x": (-(-X), X), "-(x - y)": (-(X - Y), Y - X),
    "where true": (where(const(True, "?"), X, Y), X), "where false": (where(const(False, "?"), X, Y), Y),
    "where same": (where(B, X, X), X),
    "b & true": (B & const(True, "?"), B), "b & b": (B & B, B), "b & false": (B & const(False, "?"), const(False, "?")),
    "b | false": (B | const(False, "?"), B), "b | b": (B | B, B),
    **{f"{op} of one": (reduced(op, C, (-1,)), C) for op in ("sum", "prod", "max", "min", "logsumexp")},
    "folded": (X + (const(2.0) * 3.0 - 1.0), X + 5.0),
    "folded division": (X + const(1.0) / 0.0, X + math.inf),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    node, wanted = RULES[name]
    (found,) = simplify((node,))
    if wanted.op == "const" and node.shape:
        assert found is node, "a constant has no axes: the shape is worth more than the rule"
    else:
        assert found is wanted


NOT_RULES = {
    "x * 0": X * 0.0, "x - x": X - X, "x / x": X / X, "x == x": X <= X, "0 / x": 0.0 / X,
    "repeated": where(B, slot(3), slot(3)), "sum of some": reduced("sum", slot(5, ("n", 1, 3)), (-2, -1)),
}


@pytest.mark.parametrize("name", NOT_RULES)
def test_what_a_nan_or_a_shape_forbids(name):
    assert simplify((NOT_RULES[name],)) == (NOT_RULES[name],)


def test_folding_keeps_the_dtype():
    (found,) = simplify((const(0.1, np.float32) + const(0.2, np.float32),))
    assert found.dtype == np.float32 and found.value == float(np.float32(0.1) + np.float32(0.2))
    (found,) = simplify((cast(X, np.float32) * 1,))
    assert found.dtype == np.float32
    (found,) = simplify((const(1, np.int64) < const(2, np.int64),))
    assert found is const(True, np.bool_)


def test_structure_is_rebuilt_around_simpler_arguments():
    x = slot(0, ("n", "m"))
    summed = Node("sum", (x * 1.0 + 0.0,), ((-1,),), ("n", 1), x.dtype)
    (found,) = simplify((summed - 0.0,))
    assert found is Node("sum", (x,), ((-1,),), ("n", 1), x.dtype)
    assert ops((found,)) == {"sum", "slot"}


def test_a_loop_that_is_not_active_is_what_it_starts_with():
    turn = local(0, np.float64)
    (never,) = loop(const(False, np.bool_), [X], [], turn < 9.0, [turn * 2.0])
    (some,) = loop(B, [X], [], turn < 9.0, [turn * 2.0])
    assert simplify((never, some)) == (X, some)


@pytest.mark.parametrize("function", [vecdist.softmax, vecdist.log_softmax, vecdist.logsumexp])
def test_functions_along_an_axis_of_one(function):
    """What is summed there is computed in each row, in no loop of its own."""
    x, w = np.arange(6.0).reshape(2, 3), np.ones((3, 1))
    wanted = {"softmax": 2.0, "log_softmax": 0.0, "logsumexp": 15.0}[function.__name__]
    value, (gradient,) = vecdist.value_and_grad(function(vecdist.lazy(x) @ w, axis=1).sum(), (x,))
    assert float(value) == wanted
    np.testing.assert_array_equal(gradient, np.full((2, 3), function is vecdist.logsumexp))
