"""Choices between values of one function become its values at choices, where that is less work."""

import numpy as np
import pytest
from reference import slot

from vecdist.graph.node import Node, topological, where
from vecdist.passes.sink_selects import sink_selects
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.runtime.interpreter import interpret

X, Y, Z = (slot(place, ("n",)) for place in range(3))
ROW = slot(3, ("m", 1))
CHOICE = X > 0.5
ARRAYS = [np.array([0.2, 0.7, 0.9, 0.1]), np.array([0.0, 1e-310, 2.0, 3.0]), np.array([-1.0, 0.5, 1e-20, -0.25])]


def count(op: str, *roots: Node) -> int:
    return sum(node.op == op for node in topological(sink_selects(roots)))


@pytest.mark.parametrize(("root", "op"), [
    (where(CHOICE, log(Y), log(Z)), "log"),
    (where(CHOICE, log(Y), log1p(Z)), "log_plus"),
    (where(CHOICE, log(Y), log1p(Z) - X), "log_plus"),
    (where(CHOICE, X + log1p(Y), log(Z)), "log_plus"),
    (where(CHOICE, log(Y), where(Y > 2.5, log1p(Z), log(X) + Z)), "log_plus"),
    (where(CHOICE, 1.0 / Y, -(1.0 / Z)), "div"),
    (where(CHOICE, exp(X), where(Y > 2.5, exp(Y), exp(Z))), "exp"),
], ids=str)
def test_one_is_computed_with_the_same_value(root, op):
    assert count(op, root) == 1
    with np.errstate(all="ignore"):
        (found,), (wanted,) = (interpret(roots, ARRAYS, {"n": 4}) for roots in (sink_selects((root,)), (root,)))
    np.testing.assert_allclose(found, wanted, rtol=4e-16)


@pytest.mark.parametrize("roots", [
    (where(CHOICE, log(ROW), log(Z)),),  # one of them is computed for each row
    (where(CHOICE, log(Y), log(Z)), log(Y)),  # and here is used again
    (where(CHOICE, log(Y), exp(Z)),),
], ids=str)
def test_what_would_be_more_work_stays(roots):
    assert sink_selects(roots) == roots
