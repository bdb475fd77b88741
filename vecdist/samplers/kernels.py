"""Several results of the same arrays from one launch, written into arrays that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.graph.leaves import argument
from vecdist.lazy.array import LazyArray
from vecdist.passes.bind import bind
from vecdist.passes.derivations import Derivation, gradient_of, values
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed
from vecdist.runtime.interpreter import interpret
from vecdist.runtime.libraries import target_of

LARGE = 1 << 15  # elements from which compiling pays: the interpreter keeps every step of a calculation

Run = Callable[[Sequence[Any], Sequence[Any]], Any]
"""``run(arrays, out)`` computes from ``arrays`` what it writes to ``out``."""


def fused(
    function: Callable[..., Sequence[LazyArray]],
    arrays: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    derivation: Derivation = values,
) -> Run:
    """A function of lazy arrays that gives several, or what ``derivation`` makes of them, as one kernel.

    ``arrays`` are examples of its arguments, ``shapes`` those of its results.  Arrays of other shapes must not be given
    to what it returns, which checks nothing: invalid parameters give NaN.
    """
    nodes = [argument(array, f"argument {place}") for place, array in enumerate(arrays)]
    bound = bind([found.node for found in function(*map(LazyArray, nodes))])
    plan, bound = pipeline.fed(bound, derivation, target_of(bound.leaves), "nan")
    places = {node.attrs[0]: place for place, node in enumerate(nodes)}
    return plan.program.prepared(bound.lengths, list(shapes), Feed.each(bound.leaves, places))


def evaluated(expression: LazyArray) -> np.ndarray:
    """The value of a lazy array; of a small one, which is needed once, by NumPy, so that no kernel is compiled for it.

    Random bits, and uniform numbers, are the same in either way.
    """
    if expression.size > LARGE:
        return np.asarray(expression)
    bound = bind([expression.node])
    (value,) = interpret(bound.roots, [leaf.array for leaf in bound.leaves], bound.lengths)
    return value.reshape(expression.shape)


def value_and_gradient(trace: Callable[[LazyArray], LazyArray], example: Any) -> Callable[[Any], tuple[Any, Any]]:
    """The value and the gradient of a scalar function of one lazy vector, as a function of arrays like ``example``."""
    node = argument(example, "x")
    bound = bind((trace(LazyArray(node)).node, node))
    plan, bound = pipeline.fed(bound, gradient_of, target_of(bound.leaves), "nan")
    run = plan.program.prepared(bound.lengths, [(), example.shape], Feed.each(bound.leaves, {node.attrs[0]: 0}))
    return lambda x: tuple(run((x,))[0])  # type: ignore[return-value]
