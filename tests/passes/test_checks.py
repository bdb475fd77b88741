"""Checks leave the expression and become booleans that are true where they fail."""

import numpy as np
from reference import ops, slot

from vecdist.graph.node import Node, const
from vecdist.passes.checks import split_checks
from vecdist.runtime.interpreter import interpret

X, S = slot(0, ("n",)), slot(1, ("n",))


def checked(value, *pairs):
    labels = tuple(("Normal", f"parameter {number}", "positive") for number in range(len(pairs)))
    return Node("checked", (value, *(part for pair in pairs for part in pair)), labels, value.shape, value.dtype)


def test_checks_are_taken_out():
    root = checked(X * S, (0.0 < S, S)) + 1.0
    (plain,), failures = split_checks((root,))
    assert plain is X * S + 1.0
    assert failures == (~(0.0 < S),)


def test_nested_checks_are_found_once_each():
    inner = checked(X * S, (0.0 < S, S))
    outer = checked(inner + inner, (0.0 < S, S), (inner < 5.0, inner))
    plain, failures = split_checks((outer, inner))
    assert "checked" not in ops((*plain, *failures))
    assert set(failures) == {~(0.0 < S), ~(X * S < 5.0)}


def test_checks_that_always_hold_are_gone():
    plain, failures = split_checks((checked(X, (const(True, np.bool_), S)),))
    assert plain == (X,) and failures == ()


def test_a_nan_fails_its_check():
    _, failures = split_checks((checked(X, (0.0 < S, S)),))
    (failed,) = interpret(failures, [np.ones(4), np.array([1.0, 0.0, -1.0, np.nan])], {"n": 4})
    assert failed.tolist() == [False, True, True, True]


def test_expressions_without_checks_are_themselves():
    assert split_checks((X * S, X)) == ((X * S, X), ())
