"""Random draws from distributions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from vecdist import random
from vecdist.distributions.base import Compound, Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.graph.shapes import Lengths, Shape, broadcast
from vecdist.lazy.array import LazyArray, Operand
from vecdist.primitives.structure import full
from vecdist.verbs.density import evaluated, operands_of
from vecdist.verbs.tails_and_moments import stated


def sample(key: Operand, distribution: Distribution | Compound, shape: Lengths = ()) -> LazyArray:
    """Independent draws: a lazy array of ``shape``, then the batch axes, then those of an event, if it has any.

    ``key`` is an integer, or integers that broadcast with that shape, as in ``vecdist.random``: the same key and
    distribution give the same draws on every device, and another key compiles nothing.  The dtype is that of the
    parameters, also of whole numbers (``.astype(int)`` makes them indices).  Where a parameter is invalid a draw is
    NaN, and computing it raises ``InvalidParameter``.  Draws are differentiated in the parameters where they are smooth
    functions of them and of random numbers; where they are accepted or rejected a derivative raises
    ``NotImplementedError``, as does a family without a formula.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma, Normal
    >>> np.asarray(vecdist.sample(7, Normal(np.array([0.0, 100.0]), 1.0), 2)).round(2)
    array([[  0.65, 100.65],
           [  1.8 , 101.07]])
    >>> np.asarray(vecdist.sample(7, Gamma(np.array([1e-3, 3.0]), 2.0))).round(2)
    array([0.  , 4.34])
    """
    if isinstance(distribution, Compound):
        return distribution.sample(key, shape)
    nodes = operands_of("sample", distribution).values()
    batch, dtype = broadcast(node.shape for node in nodes), np.result_type(*(node.dtype for node in nodes))
    formula = _drawing((*random.lengths(shape), *batch), dtype)
    return evaluated("sample", distribution, formula, beside=[random.key_node(key)])


@lru_cache(maxsize=512)
def _drawing(shape: Shape, dtype: np.dtype) -> Callable[..., Node]:
    """The formula of draws of a shape: always the same, so that its graphs are known."""

    def formula(family: type[Distribution], p: Parameters, key: Node) -> Node:
        draws = random.stream(LazyArray(key), shape, dtype)
        return full(drawn(family, p, draws), broadcast((draws.key.shape, draws.shape)))

    return formula


def drawn(family: type[Distribution], p: Parameters, random: Stream) -> Node:
    """One draw for each element: by the formula that a family states, or else its quantile at a uniform number."""
    draw, quantile = getattr(family, "draw", None), stated(family, "quantile")
    if draw is not None:
        return draw(random, p)
    if quantile is None:
        raise NotImplementedError(
            f"sample of {family.__name__} is not there: the family states neither draws nor a quantile; a subclass "
            "may, by a static method draw(random, p) or quantile(q, p)"
        )
    return quantile(random.uniform(), p)
