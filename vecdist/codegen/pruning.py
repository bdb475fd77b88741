"""What a function computes, without what nobody asked for: derivatives cost nothing where values alone are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vecdist.kernel.code import Code, For, If, Return, Set, While, bodies, expressions, walk, with_bodies
from vecdist.kernel.expressions import Expr, Name, Several, names

UNUSED = "_"


def pruned(body: Sequence[Code], used: frozenset[int]) -> tuple[Code, ...]:
    """A function's statements for these of its results; assignments that none of them needs are left out.

    Functions here have no effects but their results, and one return, which comes last.
    """
    *body, last = body
    assert isinstance(last, Return) and last.value is not None
    result = last.value
    if isinstance(result, Several):
        parts = enumerate(result.items)
        result = Several(tuple([part if place in used else Name(UNUSED) for place, part in parts]))
    return (*_kept(body, _needed(body, result)), Return(result))


def _needed(body: Sequence[Code], result: Expr) -> set[str]:
    """The names on which the result depends, in whatever order the statements run."""
    found, pairs = set(names(result)), []
    for item in walk(body):
        if isinstance(item, If | While | For):
            found.update(names(*expressions(item)))
        elif isinstance(item, Set):
            pairs += [(set(names(place)), set(names(value))) for place, value in _pairs(item)]
    while True:
        before = len(found)
        for places, read in pairs:
            if places & found:
                found |= read
        if len(found) == before:
            return found


def _pairs(item: Set) -> Iterator[tuple[Expr, Expr]]:
    """What is assigned to, each with its value."""
    if isinstance(item.target, Several) and isinstance(item.value, Several):
        yield from zip(item.target.items, item.value.items, strict=True)
    else:
        yield item.target, item.value


def _kept(body: Sequence[Code], needed: set[str]) -> tuple[Code, ...]:
    found = []
    for item in body:
        if isinstance(item, Set):
            found += _needed_part(item, needed)
        else:
            inside = with_bodies(item, lambda block: _kept(block, needed))
            found += [inside] if any(bodies(inside)) else []
    return tuple(found)


def _needed_part(item: Set, needed: set[str]) -> Iterator[Set]:
    """An assignment without those of several names that nobody needs; of a call, these are named as unused."""
    wanted = [pair for pair in _pairs(item) if not needed.isdisjoint(names(pair[0]))]
    if not wanted:
        return
    if not isinstance(item.target, Several):
        yield item
    elif isinstance(item.value, Several):
        places, values = zip(*wanted, strict=True)
        yield Set(Several(places), Several(values))
    else:
        each = [place if not needed.isdisjoint(names(place)) else Name(UNUSED) for place in item.target.items]
        yield Set(Several(tuple(each)), item.value)
