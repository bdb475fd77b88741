"""Distribution functions over the whole line: at the ends of the support by the density there.

At a gap g from an end the lesser tail F is a multiple of g f, f being the density.  So at the end F is 0 and its
derivatives are f times those of g, though f be infinite.  Those of log F are infinite where g has any, and otherwise
those of log f: the multiple depends on what log f falls or rises with alone, and its logarithm is nothing beside that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from vecdist.constraints import Bound
from vecdist.distributions.base import Distribution, Parameters, mirrored
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, floor, ne, seldom
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import INFINITY, format_of, width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import repeated, times, with_slopes_of

Dots = tuple[Node | None, ...]
Family = type[Distribution]
BEYOND = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "log_cdf": (-math.inf, 0.0), "log_sf": (0.0, -math.inf)}
LOWER = {"cdf", "log_cdf"}
NEXT = {8: 2.0**-511, 4: 2.0**-63}  # a distance whose reciprocal may overflow when it is multiplied


def tail_everywhere(name: str, family: Family, p: Parameters, inside: Callable[[Node], Node], x: Node) -> Node:
    """A tail that is known inside the support, with its values outside; of whole numbers, a staircase."""
    support, (below, beyond), lower = family.reach(p), BEYOND[name], name in LOWER
    at = floor(x) if support.whole else x
    under, over = support.below(at), at >= support.upper if support.whole else support.beyond(at)
    value = inside(at)
    start, end = end_of(family, support.lower, x), end_of(family, support.upper, x)
    if start is not None and name in BEGUN:
        density = const(0.0, x.dtype) if support.open_lower else _density(family, p, start, 0)
        value = BEGUN[name](value, at, start, density)
    if start is not None and not support.open_lower:
        density = _density(family, p, start, 0, logarithm=below == -math.inf)
        under, below = at <= start, _at_end(below, lower, at, start, density, value)
    if end is not None and not support.open_upper:
        density = _density(family, p, end, 1, logarithm=beyond == -math.inf)
        over, beyond = at >= end, _at_end(beyond, not lower, end, at, density, value)
    (least, most), far = BEYOND[name], _far(family, p, x, lower)
    over = _or_far(over, support.upper, *((x, math.inf) if most == -math.inf else far))
    under = _or_far(under, support.lower, *((-x, math.inf) if least == -math.inf else (-far[0], far[1])))
    return where(under, below, where(over, beyond, value))


def _far(family: Family, p: Parameters, x: Node, lower: bool) -> tuple[Node, float]:
    """A distance as the formula of a tail has it, which for symmetric families is one of -x, and a far one."""
    if family.certain is None:
        return x, math.inf
    if family.symmetric and not lower:
        return -family.standardised(-x, mirrored(p)), family.certain
    return family.standardised(x, p), family.certain


def _or_far(outside: Node, bound: Bound, distance: Node, far: float) -> Node:
    """Whether a point is outside, or so far that it counts as infinite, which is outside of a finite bound."""
    beyond = eq(distance, far) if far == math.inf else distance > far
    if isinstance(bound, Node):
        return outside | beyond
    return outside if math.isfinite(bound) else beyond


def end_of(family: Family, bound: Bound, x: Node) -> Node | None:
    """An end of the support, where the density says how tails rise and fall from there."""
    if family.discrete or family.mixed or not (isinstance(bound, Node) or math.isfinite(bound)):
        return None
    return bound if isinstance(bound, Node) else const(bound, x.dtype)


def quantile_at_end(family: Family, p: Parameters, place: int, q: Node) -> Bound:
    """One of both ends as a quantile, at which ``q`` is 0 or 1: its slope in q is 1 over the density there."""
    support = family.reach(p)
    bound, is_open = ((support.lower, support.open_lower), (support.upper, support.open_upper))[place]
    end = end_of(family, bound, q)
    if end is None:
        return bound
    density = const(0.0, q.dtype) if is_open else _density(family, p, end, place)
    return with_slopes_of(end, end + from_end(q - float(place), 1.0 / density))


def _density(family: Family, p: Parameters, end: Node, place: int, logarithm: bool = False) -> Node:
    """The density at one of the ends, as the family states it or by its logarithm; or that.

    The end of the support, though slopes of the tail in parameters be those of a tail that begins elsewhere.
    """
    stated = getattr(family, "end_densities", None)
    if logarithm or stated is None:
        support = family.support(p)
        own = end_of(family, (support.lower, support.upper)[place], end)
        log_density = family.log_density(end if own is None else own, p)
        return log_density if logarithm else exp(log_density)
    return stated(p)[place]


def _at_end(value: float, lesser: bool, ahead: Node, behind: Node, density: Node, formula: Node) -> Node:
    """A tail, or its logarithm, that has this ``value`` at the end and beyond: the ``lesser`` tail or the other one."""
    if value == -math.inf:
        return log_tail_at_end(ahead, behind, density, formula)
    if lesser:
        return tail_at_end(ahead, behind, density, formula)
    return with_slopes_of(const(value, ahead.dtype), value - tail_at_end(ahead, behind, density, value - formula))


def begun_log(logarithm: Node, tail: Node, name: str, family: Family, p: Parameters, x: Node) -> Node:
    """That of a tail, or of g f where there is no more: next to an end where the density is neither 0 nor infinite."""
    support, lower = family.reach(p), name in LOWER
    is_open, bound = (support.open_lower, support.lower) if lower else (support.open_upper, support.upper)
    end = None if is_open else end_of(family, bound, x)
    if end is None:
        return logarithm
    gap, log_density = x - end if lower else end - x, _density(family, p, end, int(not lower), logarithm=True)
    begun = where(abs(log_density) < INFINITY, log(gap) + log_density, logarithm)
    return seldom(tail < 4.0 * format_of(x).smallest_normal, begun, logarithm)


def _begun(name: str, sign: float) -> Primitive:
    """A tail next to the start, whose derivative in the gap is the density there where the formula does not know it."""

    def tangent(dots: Dots, value: Node, x: Node, start: Node, density: Node, out: Node) -> Node | None:
        dot, gap = dots[0], _gap(dots[1:])
        if dot is None or gap is None:
            return dot
        unknown = (x - start < NEXT[width(x)]) & ne(dot, dot)
        return seldom(unknown, times(sign * gap, density), dot)

    return primitive(name, 4, expand=lambda value, *_: value, tangent=tangent, floating=True)


def _gap(dots: Dots) -> Node | None:
    ahead, behind = dots[:2]
    if ahead is None or behind is None:
        return ahead if behind is None else -behind
    return ahead - behind


def _slope_at_end(slope: Node | None, dots: Dots, ahead: Node, behind: Node) -> Node | None:
    """A slope at the end, whose own slopes are those of the formula; nothing beyond the end."""
    of_formula = dots[3]
    if slope is None and of_formula is None:
        return None
    slope = const(0.0, ahead.dtype) if slope is None else slope
    return seldom(eq(ahead - behind, 0.0), slope if of_formula is None else with_slopes_of(slope, of_formula), 0.0)


def _tail_tangent(dots: Dots, ahead: Node, behind: Node, density: Node, *_: Any) -> Node | None:
    gap = _gap(dots)
    return _slope_at_end(None if gap is None else times(gap, density), dots, ahead, behind)


def _log_tail_tangent(dots: Dots, ahead: Node, behind: Node, *_: Any) -> Node | None:
    gap, slope = _gap(dots), dots[2]
    if gap is not None:
        slope = where(eq(gap, 0.0), 0.0 if slope is None else slope, gap * math.inf)
    return _slope_at_end(slope, dots, ahead, behind)


begun_below: Primitive = _begun("begun_below", 1.0)
begun_beyond: Primitive = _begun("begun_beyond", -1.0)
BEGUN = {"cdf": begun_below, "sf": begun_beyond, "log_sf": begun_beyond}
from_end: Primitive = primitive(  # a gap of 0 times a slope, of which only the gap moves
    "from_end", 2, expand=times,
    tangent=lambda dots, gap, slope, out: None if dots[0] is None else times(dots[0], slope),
)
# The lesser tail at an end and beyond; ``ahead`` - ``behind`` is the gap, and ``formula`` has that tail inside.
tail_at_end: Primitive = primitive(
    "tail_at_end", 4, expand=lambda *at: repeated(const(0.0, at[0].dtype), *at[::-1]),
    tangent=_tail_tangent, floating=True,
)
log_tail_at_end: Primitive = primitive(  # its logarithm
    "log_tail_at_end", 4, expand=lambda *at: repeated(const(-math.inf, at[0].dtype), *at[::-1]),
    tangent=_log_tail_tangent, floating=True,
)
