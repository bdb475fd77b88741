"""Constraints: where a parameter or a value may lie."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import bit_and, bit_or, eq, floor, ne
from vecdist.primitives.floating import largest_count
from vecdist.primitives.table import Primitive

Bound = Any  # a float, a node, or a function of the other parameters that gives a node


@final
@dataclass(frozen=True)
class Constraint:
    """An interval, of the real numbers or of the whole numbers.

    An infinite bound is absent, no comparison is made, unless it is open: then infinity itself lies outside.  A bound
    may be a node, or a function of the other parameters that ``among`` makes a node.  Counts without an upper bound go
    up to half of the largest float; ``light`` ones, whose mass falls faster than a geometric one, not even that far.
    """

    name: str
    lower: Bound = -math.inf
    upper: Bound = math.inf
    open_lower: bool = False
    open_upper: bool = False
    whole: bool = False
    light: bool = False

    def __str__(self) -> str:
        return self.name

    def among(self, parameters: SimpleNamespace) -> Constraint:
        """This constraint with its bounds as the other parameters make them."""
        lower, upper = (bound(parameters) if callable(bound) else bound for bound in (self.lower, self.upper))
        return replace(self, lower=lower, upper=upper)

    def satisfied(self, x: Node) -> Node:
        """Whether ``x`` lies inside; a NaN does not."""
        tests: list[Any] = []
        if not _absent(self.lower, self.open_lower):
            tests.append(x > self.lower if self.open_lower else x >= self.lower)
        if not _absent(self.upper, self.open_upper):
            tests.append(x < self.upper if self.open_upper else x <= self.upper)
        if self.whole:
            tests.append(eq(x - floor(x), 0.0))
        return _joined(bit_and, tests or [eq(x, x)])

    def violated(self, x: Node, known_whole: bool = False) -> Node | None:
        """Whether ``x`` lies outside, or ``None`` where nothing does; a NaN is not outside, so that it stays a NaN.

        Nothing asks whether an ``x`` that is ``known_whole`` is a whole number, or how large a count is.
        """
        tests: list[Any] = []
        if not _absent(self.lower, self.open_lower):
            tests.append(self.below(x))
        if not _absent(self.upper, self.open_upper):
            tests.append(self.beyond(x))
        elif self.whole and not known_whole and x.dtype.kind == "f":
            tests.append(x > (largest_count(x.dtype) if self.light else float(np.finfo(x.dtype).max) / 2))
        if self.whole and not known_whole:
            tests.append(ne(x - floor(x), 0.0) & eq(x, x))
        return _joined(bit_or, tests) if tests else None

    def below(self, x: Node) -> Node:
        """Whether ``x`` lies below all that is inside."""
        return x <= self.lower if self.open_lower else x < self.lower

    def beyond(self, x: Node) -> Node:
        """Whether ``x`` lies above all that is inside."""
        return x >= self.upper if self.open_upper else x > self.upper


def _absent(bound: Bound, is_open: bool) -> bool:
    return not is_open and isinstance(bound, float) and math.isinf(bound)


def _joined(operation: Primitive, tests: list[Node]) -> Node:
    result, *rest = tests
    for test in rest:
        result = operation(result, test)
    return result


real: Constraint = Constraint("a number")
finite: Constraint = Constraint("a finite number", open_lower=True, open_upper=True)
below_infinity: Constraint = Constraint("a number below infinity", open_upper=True)
positive: Constraint = Constraint("a finite positive number", lower=0.0, open_lower=True, open_upper=True)
positive_or_infinite: Constraint = Constraint("a positive number", lower=0.0, open_lower=True)
nonnegative: Constraint = Constraint("a finite number of at least 0", lower=0.0, open_upper=True)
unit_interval: Constraint = Constraint("a number between 0 and 1", lower=0.0, upper=1.0)
open_unit_interval: Constraint = Constraint(
    "a number between 0 and 1, both excluded", lower=0.0, upper=1.0, open_lower=True, open_upper=True
)
positive_unit_interval: Constraint = Constraint("a number above 0, up to 1", lower=0.0, upper=1.0, open_lower=True)
nonnegative_or_infinite: Constraint = Constraint("a number of at least 0", lower=0.0)
integer: Constraint = Constraint("a whole number", open_lower=True, open_upper=True, whole=True)
count: Constraint = Constraint("a whole number of at least 0", lower=0.0, whole=True)
light_count: Constraint = replace(count, light=True)
positive_count: Constraint = Constraint("a whole number of at least 1", lower=1.0, open_upper=True, whole=True)
binary: Constraint = Constraint("0 or 1", lower=0.0, upper=1.0, whole=True)


def above(parameter: str) -> Constraint:
    """The finite numbers above another parameter."""
    return replace(finite, name=f"a finite number above {parameter}", lower=lambda p: getattr(p, parameter))


def above_or_infinite(parameter: str) -> Constraint:
    """The numbers above another parameter, infinity among them."""
    return replace(above(parameter), name=f"a number above {parameter}", open_upper=False)


def from_on(parameter: str, kind: Constraint) -> Constraint:
    """What ``kind`` allows, from another parameter on."""
    return replace(kind, name=f"{kind} from {parameter} on", lower=lambda p: getattr(p, parameter), open_lower=False)


def up_to(parameter: str, kind: Constraint) -> Constraint:
    """What ``kind`` allows, up to another parameter."""
    return replace(kind, name=f"{kind} up to {parameter}", upper=lambda p: getattr(p, parameter), open_upper=False)


def between(lower: str, upper: str) -> Constraint:
    """The numbers from one parameter to another, both included."""
    return interval(lambda p: getattr(p, lower), lambda p: getattr(p, upper), f"a number from {lower} to {upper}")


def interval(lower: Bound, upper: Bound, name: str = "a number within bounds") -> Constraint:
    """The numbers from ``lower`` to ``upper``, both included."""
    return Constraint(name, lower=lower, upper=upper)


def beginning(lower: Bound, open_lower: bool = False) -> Constraint:
    """The finite numbers from ``lower`` on."""
    return Constraint("a finite number from a bound on", lower=lower, open_lower=open_lower, open_upper=True)


def whole_interval(lower: Bound, upper: Bound) -> Constraint:
    """The whole numbers from ``lower`` to ``upper``, both included."""
    return Constraint("a whole number within bounds", lower=lower, upper=upper, whole=True)


def count_up_to(upper: Bound) -> Constraint:
    """The whole numbers from 0 to ``upper``."""
    return whole_interval(0.0, upper)
