"""Bounds, each of which may be absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from vecdist.constraints import Constraint
from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import ceil
from vecdist.wrappers.derived import Wrapper


class Bounded(Wrapper):
    """A wrapper whose parameters are bounds, ``lower`` and ``upper``, in this order."""

    discrete: bool

    @classmethod
    def bounds(cls, p: Parameters) -> tuple[Node | None, Node | None]:
        """Both bounds, ``None`` for one that is absent."""
        return getattr(p, "lower", None), getattr(p, "upper", None)

    @classmethod
    def first(cls, lower: Node) -> Node:
        """The first number from a bound on that there can be."""
        return ceil(lower) if cls.discrete else lower

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        above = (lambda p: p.lower) if "lower" in cls.own else -math.inf
        return {
            "lower": Constraint("a number below infinity", open_upper=True),
            "upper": Constraint("a number above lower", lower=above, open_lower=True),
        }


def given_bounds(lower: Operand | None, upper: Operand | None) -> dict[str, Any]:
    """The bounds that are there: what is ``None``, or a number and infinite, is not."""
    there = {}
    if lower is not None and not _is(lower, -math.inf):
        there["lower"] = lower
    if upper is not None and not _is(upper, math.inf):
        there["upper"] = upper
    return there


def _is(bound: Any, infinite: float) -> bool:
    return isinstance(bound, float | np.floating) and bound == infinite
