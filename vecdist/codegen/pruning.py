"""What a function computes, without what nobody asked for: derivatives cost nothing where values alone are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vecdist.kernel.code import Code, Each, For, If, Set, While, expressions, walk
from vecdist.kernel.expressions import Expr, Name, Several, names

UNUSED = "_"


def pruned(body: Sequence[Code], results: Sequence[Expr]) -> tuple[Code, ...]:
    """Statements of a function of which these results are wanted: assignments that none of them needs are left out.

    Functions here have no effects but their results.
    """
    return tuple(_kept(body, _needed(body, results)))


def _needed(body: Sequence[Code], results: Sequence[Expr]) -> set[str]:
    """The names on which the results depend, in whatever order the statements run."""
    found = set(names(*results))
    assignments = []
    for item in walk(body):
        if isinstance(item, Set):
            assignments += [(set(names(target)), set(names(value))) for target, value in _pairs(item)]
        else:
            found.update(names(*expressions(item)))
    while True:
        before = len(found)
        for targets, read in assignments:
            if targets & found:
                found |= read
        if len(found) == before:
            return found


def _pairs(item: Set) -> list[tuple[Expr, Expr]]:
    """What is assigned to, each with its value."""
    if isinstance(item.target, Several) and isinstance(item.value, Several):
        return list(zip(item.target.items, item.value.items, strict=True))
    return [(item.target, item.value)]


def _kept(body: Sequence[Code], needed: set[str]) -> Iterator[Code]:
    for item in body:
        match item:
            case Set():
                yield from _assignment(item, needed)
            case If(_, inner, orelse):
                new = replace(item, body=tuple(_kept(inner, needed)), orelse=tuple(_kept(orelse, needed)))
                if new.body or new.orelse:
                    yield new
            case While(_, inner) | For(_, _, inner) | Each(_, _, inner):
                new = replace(item, body=tuple(_kept(inner, needed)))
                if new.body:
                    yield new
            case _:
                yield item


def _assignment(item: Set, needed: set[str]) -> Iterator[Set]:
    """An assignment to what is needed; of a call's results, those that nobody needs are named as unused."""
    wanted = [(target, value) for target, value in _pairs(item) if not needed.isdisjoint(names(target))]
    if not wanted:
        return
    if not isinstance(item.target, Several):
        yield item
    elif isinstance(item.value, Several):
        targets, values = zip(*wanted, strict=True)
        yield Set(Several(targets), Several(values))
    else:
        places = [each if not needed.isdisjoint(names(each)) else Name(UNUSED) for each in item.target.items]
        yield Set(Several(tuple(places)), item.value)
