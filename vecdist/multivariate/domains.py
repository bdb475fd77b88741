"""Where the parameters of families of vectors and matrices may lie, and what their errors show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from vecdist.constraints import Constraint, finite, nonnegative, positive
from vecdist.graph.node import Node, where
from vecdist.lazy.views import index_view
from vecdist.multivariate.events import event_length, every, over_event
from vecdist.multivariate.long_vectors import factor_of
from vecdist.multivariate.picked_rows import picked_rows
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import square
from vecdist.primitives.factorisations import diagonal, lower_part

DEFINITE = "positive, of a positive definite matrix"


class Check(NamedTuple):
    """A condition that must hold, over ``axes`` event axes, and what an error shows where it does not."""

    name: str
    holds: Node
    found: Node
    wanted: str
    axes: int = 0
    picked: Node | None = None  # the same for all of an event, where that is known of what they are picked of

    @property
    def of_event(self) -> Node:
        """Whether it holds for all of an event."""
        return every(self.holds, self.axes) if self.picked is None else self.picked


@final
@dataclass(frozen=True)
class Domain:
    """Where a parameter lies whose last axes are those of an event, a letter for each.

    ``checks(name, x, size)`` are those of the parameter ``x`` of that name, where ``size`` is the length of axis "k".
    """

    axes: str = ""
    checks: Callable[[str, Node, int], list[Check]] = lambda name, x, size: []

    def of(self, name: str, x: Node, size: int) -> list[Check]:
        """The checks of a parameter; of events that are picked of a table, each of those is looked at once."""
        found, rows = self.checks(name, x, size), picked_rows(x, len(self.axes))
        if rows is None:
            return found
        of_table = self.checks(name, rows.table, size)
        return [one._replace(picked=rows.of(each.of_event)) for one, each in zip(found, of_table, strict=True)]


def each(constraint: Constraint, axes: str = "k") -> Domain:
    """The arrays of whose elements each obeys ``constraint``."""
    return Domain(axes, lambda name, x, size: [Check(name, constraint.satisfied(x), x, str(constraint), len(axes))])


def number(constraint: Constraint) -> Domain:
    """The numbers that obey ``constraint``."""
    return each(constraint, "")


def tolerance(x: Node) -> float:
    """How far a sum that should be 1 may be from it: half the digits."""
    return float(np.sqrt(np.finfo(x.dtype).eps))


def _of_simplex(name: str, x: Node, size: int) -> list[Check]:
    total = over_event(x)
    return [
        *each(nonnegative).checks(name, x, size),
        Check(f"sum of {name}", abs(total - 1.0) <= tolerance(x), total, "1"),
    ]


def _ordered(name: str, x: Node, size: int) -> list[Check]:
    step = index_view(x, (..., slice(1, None))) - index_view(x, (..., slice(None, -1)))
    increasing = Check(f"step of {name}", step > 0.0, step, "positive", 1)
    return [*each(finite).checks(name, x, size), *([increasing] if event_length(x) > 1 else [])]


def _triangular(name: str, x: Node, size: int) -> list[Check]:
    if event_length(x) > entries.MOST:
        finite_below = each(finite, "kk").checks(name, lower_part(x), size)
        return [*each(positive).checks(f"diagonal of {name}", diagonal(x), size), *finite_below]
    rows = entries.lower(x)
    on_diagonal = _all_positive(f"diagonal of {name}", [row[-1] for row in rows], "positive")
    below = [element for row in rows for element in row[:-1]]
    if not below:
        return [on_diagonal]
    total = sum(below[1:], below[0])  # one comparison for all of them: what is not finite stays so
    return [on_diagonal, *number(finite).checks(f"sum below the diagonal of {name}", total, size)]


def _definite(name: str, x: Node, size: int) -> list[Check]:
    if event_length(x) > entries.MOST:
        found = square(diagonal(factor_of(x)))
        return [Check(f"pivot of {name}", positive.satisfied(found), found, DEFINITE, 1)]
    pivots = entries.factored(entries.symmetric(x)).pivots
    return [_all_positive(f"pivot of {name}", pivots, DEFINITE)]


def _degrees(name: str, x: Node, size: int) -> list[Check]:
    enough = replace(positive, name=f"a finite number above {size - 1}", lower=size - 1.0)
    return number(enough).checks(name, x, size)


def _all_positive(name: str, found: entries.Vector, wanted: str) -> Check:
    """A check of one number after the other; the error shows the first that fails."""
    shown = found[-1]
    for value in found[-2::-1]:
        shown = where(positive.satisfied(value), shown, value)
    return Check(name, positive.satisfied(shown), shown, wanted)


simplex: Domain = Domain("k", _of_simplex)
ordered: Domain = Domain("j", _ordered)
triangular: Domain = Domain("kk", _triangular)  # with a positive diagonal; what is above it is not read
definite: Domain = Domain("kk", _definite)  # of which (A + A') / 2 is read
degrees: Domain = Domain("", _degrees)  # of freedom of a matrix
