"""Expansion leaves only what both targets have code for, and the same value."""

import numpy as np
import pytest
from reference import assert_same, slot

from vecdist.graph.node import topological
from vecdist.passes.expand import expand
from vecdist.passes.simplify import simplify
from vecdist.passes.verify import verify
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.structure import summed
from vecdist.runtime.interpreter import interpret

# those of as many arguments as they are given are made by functions of their own
EXPANDED = sorted(name for name, entry in PRIMITIVES.items() if entry.expand is not None and entry.arity)


def applied(name, dtype):
    entry = PRIMITIVES[name]
    dtype = np.uint64 if name.startswith("philox") else dtype  # words of random bits
    return entry(*(slot(number, ("n",), dtype) for number in range(entry.arity)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", EXPANDED)
def test_nothing_is_left_without_code(name, dtype):
    node = applied(name, dtype)
    (expanded,) = expand((node,))
    assert (expanded.shape, expanded.dtype) == (node.shape, node.dtype)
    left = {n.op for n in topological((expanded,))} - {"slot", "const"}
    assert all(PRIMITIVES[op].code is not None for op in left)
    verify((expanded,))
    verify(simplify((expanded,)))


def test_expansion_is_complete_in_one_call():
    roots = tuple(applied(name, np.float64) for name in EXPANDED)
    once = expand(roots)
    assert expand(once) == once


def test_structure_and_code_are_left_alone():
    x = slot(0, ("n", "m"))
    node = summed(summed(x * 2.0, (-1,)) + x, (-2,))
    assert expand((node,)) == (node,)


def test_what_stands_below_an_expansion_is_expanded_too():
    x = slot(0, ("n",))
    inner = PRIMITIVES["lgamma"](x)
    outer = PRIMITIVES["exp"](PRIMITIVES["log"](inner))
    values = np.array([0.5, 3.0, 7.5])
    below, found = interpret((inner, outer), [values], {"n": 3})
    assert_same(interpret(expand((outer,)), [values], {"n": 3}), (found,))
    np.testing.assert_allclose(found, below, rtol=1e-13)
