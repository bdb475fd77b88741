"""What an expression is worth: the interpreter, straight from the graph as a user builds it."""

import numpy as np

from vecdist.graph.node import Node, rewrite, topological
from vecdist.passes.loops import merged
from vecdist.passes.recurrences import in_steps
from vecdist.primitives.structure import extent, rebuilt
from vecdist.runtime.interpreter import interpret


def numbered(roots):
    """``roots`` with slots for their arrays, and the arrays: no lengths united, no axes merged, nothing simplified."""
    arrays = []

    def rule(node, args):
        if node.op == "leaf":
            arrays.append(node.attrs[0].array)
            return Node("slot", (), (len(arrays) - 1, "dense", ()), node.shape, node.dtype)
        if node.op == "extent" and args:
            return extent([args[0].shape[axis] for axis in node.attrs[0]])
        return args[0] if node.op == "checked" else rebuilt(node, args)

    every = in_steps(lambda news: rewrite(news, rule))(roots)
    return rewrite(every, rule), arrays


def interpreted(roots, derivation=lambda roots: roots):
    """The values of ``roots``, or of what is derived from them, by NumPy.

    A loop and its derivatives, which are loops that do what it does and more, take their turns together: each of them
    alone, of a second derivative of four arguments, would be all that it does forty times.
    """
    graph, arrays = numbered(roots)
    return interpret(merged(derivation(graph)), arrays, {})


def interpreted_bound(bound, graph=None):
    """The values of a bound graph, or of one that was made of it, for the arrays and lengths that it was bound to."""
    return interpret(graph or bound.roots, [leaf.array for leaf in bound.leaves], bound.lengths)


def ops(roots):
    """The names of the operations below ``roots``."""
    return {node.op for node in topological(roots)}


def slot(index, shape=(), dtype=np.float64, layout="dense", axes=()):
    """An input of a bound graph."""
    return Node("slot", (), (index, layout if shape else "number", axes), tuple(shape), np.dtype(dtype))


def assert_same(found, wanted, rtol=0.0):
    """Equal shapes, dtypes and values, NaN for NaN; ``rtol`` where the order of a sum may differ."""
    for mine, reference in zip(found, wanted, strict=True):
        assert mine.shape == reference.shape and mine.dtype == reference.dtype
        np.testing.assert_allclose(mine, reference, rtol=rtol, atol=0)
