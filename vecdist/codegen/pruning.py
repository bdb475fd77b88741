"""What a function computes, without what nobody asked for: derivatives cost nothing where values alone are wanted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

UNUSED = "_"


def pruned(definition: ast.FunctionDef, used: frozenset[int]) -> ast.FunctionDef:
    """The function with only these of its results; assignments that none of them needs are left out.

    Functions here have no effects but their results, and one return, which comes last.
    """
    *body, last = definition.body
    assert isinstance(last, ast.Return) and last.value is not None
    if isinstance(last.value, ast.Tuple):
        parts = enumerate(last.value.elts)
        last.value.elts = [part if place in used else ast.Name(UNUSED, ast.Load()) for place, part in parts]
    needed = _needed(body, last.value)
    definition.body = [*_kept(body, needed), last]
    return definition


def names(item: ast.AST) -> set[str]:
    """The names that occur in it."""
    return {node.id for node in ast.walk(item) if isinstance(node, ast.Name)}


def _needed(body: Sequence[ast.stmt], result: ast.expr) -> set[str]:
    """The names on which the result depends, in whatever order the statements run."""
    statements = [node for item in body for node in ast.walk(item)]
    found = names(result)
    for node in statements:
        if isinstance(node, ast.If | ast.While):
            found |= names(node.test)
        elif isinstance(node, ast.For):
            found |= names(node.iter)
    while True:
        before = len(found)
        for node in statements:
            if isinstance(node, ast.Assign | ast.AugAssign):
                found |= set().union(*(names(value) for place, value in _pairs(node) if names(place) & found))
        if len(found) == before:
            return found


def _pairs(item: ast.Assign | ast.AugAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to, each with its value."""
    target = item.targets[0] if isinstance(item, ast.Assign) else item.target
    if isinstance(target, ast.Tuple) and isinstance(item.value, ast.Tuple):
        yield from zip(target.elts, item.value.elts, strict=True)
    else:
        yield target, item.value


def _kept(body: Sequence[ast.stmt], needed: set[str]) -> Iterator[ast.stmt]:
    for item in body:
        if isinstance(item, ast.Assign | ast.AugAssign):
            if not any(names(place) & needed for place, _ in _pairs(item)):
                continue
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Tuple):
                _without_unused(item, needed)
        elif isinstance(item, ast.If | ast.While | ast.For):
            item.body, item.orelse = list(_kept(item.body, needed)), list(_kept(item.orelse, needed))
            if not item.body and not item.orelse:
                continue
            item.body = item.body or [ast.Pass()]
        yield item


def _without_unused(item: ast.Assign, needed: set[str]) -> None:
    """Leave out of an assignment to several names those that nobody needs; of a call, name them as unused."""
    (places,) = item.targets
    assert isinstance(places, ast.Tuple)
    if isinstance(item.value, ast.Tuple):
        wanted = [(place, part) for place, part in _pairs(item) if names(place) & needed]
        places.elts, item.value.elts = [place for place, _ in wanted], [part for _, part in wanted]
    else:
        places.elts = [place if names(place) & needed else ast.Name(UNUSED, ast.Store()) for place in places.elts]
