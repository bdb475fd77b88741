"""An expression as a linear combination: terms that vary along a loop, with coefficients that do not."""

from __future__ import annotations

from collections.abc import Collection

from vecdist.graph.node import Node, const, where

Terms = dict[Node, Node]


def linear(node: Node, whole: Collection[Node] = ()) -> tuple[Terms, Node | None]:
    """Terms with their coefficients, and a constant part: ``node`` is their sum.

    A node without an axis longer than 1 does not vary; a term is one of ``whole``, or what no rule takes apart.
    """
    if not _varies(node):
        return {}, node
    if node in whole:
        return {node: const(1, node.dtype)}, None
    match node.op, node.args:
        case "neg", (x,):
            return _scaled(*linear(x, whole), const(-1, node.dtype))
        case "add", (x, y):
            return _added(linear(x, whole), linear(y, whole))
        case "sub", (x, y):
            return _added(linear(x, whole), _scaled(*linear(y, whole), const(-1, node.dtype)))
        case "mul", (x, y) if not _varies(x):
            return _scaled(*linear(y, whole), x)
        case "mul", (x, y) if not _varies(y):
            return _scaled(*linear(x, whole), y)
        case "where", (condition, x, y) if not _varies(condition):
            return _chosen(condition, linear(x, whole), linear(y, whole))
    return {node: const(1, node.dtype)}, None


def _varies(node: Node) -> bool:
    return any(dim != 1 for dim in node.shape)


def _scaled(terms: Terms, constant: Node | None, factor: Node) -> tuple[Terms, Node | None]:
    scaled = {term: _times(coefficient, factor) for term, coefficient in terms.items()}
    return scaled, None if constant is None else _times(constant, factor)


def _times(x: Node, y: Node) -> Node:
    if x.is_const(1):
        return y
    return x if y.is_const(1) else x * y


def _added(a: tuple[Terms, Node | None], b: tuple[Terms, Node | None]) -> tuple[Terms, Node | None]:
    terms = dict(a[0])
    for term, coefficient in b[0].items():
        terms[term] = terms[term] + coefficient if term in terms else coefficient
    constants = [constant for constant in (a[1], b[1]) if constant is not None]
    return terms, constants[0] + constants[1] if len(constants) == 2 else (constants or [None])[0]


def _chosen(condition: Node, a: tuple[Terms, Node | None], b: tuple[Terms, Node | None]) -> tuple[Terms, Node | None]:
    """A choice between two combinations, coefficient by coefficient."""
    terms = {
        term: where(condition, a[0].get(term, 0.0), b[0].get(term, const(0, term.dtype)))
        for term in dict.fromkeys([*a[0], *b[0]])
    }
    if a[1] is None and b[1] is None:
        return terms, None
    known = a[1] if a[1] is not None else b[1]
    assert known is not None
    zero = const(0, known.dtype)
    return terms, where(condition, zero if a[1] is None else a[1], zero if b[1] is None else b[1])
