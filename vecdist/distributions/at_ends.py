"""Distribution functions at an end of the support, by the density there.

At a gap g from the end the lesser tail F is a multiple of g f, f being the density.  So at the end F is 0 and its
derivatives are f times those of g, though f be infinite.  Those of log F are infinite where g has any, and otherwise
those of log f: the multiple depends on what log f falls or rises with alone, and its logarithm is nothing beside that.
"""

from __future__ import annotations

import math

from vecdist.distributions.formulas import times
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp
from vecdist.primitives.table import primitive

Dots = tuple[Node | None, ...]


def _gap(dots: Dots) -> Node | None:
    ahead, behind = dots[:2]
    if ahead is None or behind is None:
        return ahead if behind is None else -behind
    return ahead - behind


def _at_end(slope: Node | None, dots: Dots, ahead: Node, behind: Node) -> Node | None:
    """A slope at the end, whose own slopes are those of the formula; nothing beyond the end."""
    of_formula = dots[3]
    if slope is None and of_formula is None:
        return None
    slope = const(0.0, ahead.dtype) if slope is None else slope
    return where(eq(ahead - behind, 0.0), slope if of_formula is None else with_slopes_of(slope, of_formula), 0.0)


def _tail_tangent(dots: Dots, ahead: Node, behind: Node, log_density: Node, *_: Node) -> Node | None:
    gap = _gap(dots)
    return _at_end(None if gap is None else times(gap, exp(log_density)), dots, ahead, behind)


def _log_tail_tangent(dots: Dots, ahead: Node, behind: Node, *_: Node) -> Node | None:
    gap, slope = _gap(dots), dots[2]
    if gap is not None:
        slope = where(eq(gap, 0.0), 0.0 if slope is None else slope, gap * math.inf)
    return _at_end(slope, dots, ahead, behind)


with_slopes_of = primitive(  # a value that a formula has too, where that has the right derivatives
    "with_slopes_of", 2, expand=lambda value, formula: value, tangent=lambda dots, value, formula, out: dots[1],
    floating=True,
)
# The lesser tail at an end and beyond; ``ahead`` - ``behind`` is the gap, and ``formula`` has that tail inside.
tail_at_end = primitive(
    "tail_at_end", 4, expand=lambda ahead, behind, log_density, formula: const(0.0, ahead.dtype),
    tangent=_tail_tangent, floating=True,
)
log_tail_at_end = primitive(  # its logarithm
    "log_tail_at_end", 4, expand=lambda ahead, behind, log_density, formula: const(-math.inf, ahead.dtype),
    tangent=_log_tail_tangent, floating=True,
)


def at_end(value: float, lesser: bool, ahead: Node, behind: Node, log_density: Node, formula: Node) -> Node:
    """A tail, or its logarithm, that has this ``value`` at the end and beyond: the ``lesser`` tail or the other one."""
    if value == -math.inf:
        return log_tail_at_end(ahead, behind, log_density, formula)
    if lesser:
        return tail_at_end(ahead, behind, log_density, formula)
    return with_slopes_of(const(value, ahead.dtype), value - tail_at_end(ahead, behind, log_density, value - formula))
