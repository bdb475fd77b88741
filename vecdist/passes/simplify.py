"""Algebra that makes a graph smaller: constants folded, neutral elements gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vecdist.graph.node import Node, cast, const, rewrite
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.structure import rebuilt
from vecdist.primitives.table import PRIMITIVES


def simplify(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` by the rules below: none changes a shape, a dtype or a NaN.

    The sign of a zero may change: ``x + 0`` becomes ``x``.
    """
    return rewrite(roots, simplified)


def simplified(node: Node, args: tuple[Node, ...]) -> Node:
    """The same operation on other arguments, as simple as it gets."""
    node = rebuilt(node, args)
    if args and args[0].op == "const" and all(arg.op == "const" for arg in args) and node.op in PRIMITIVES:
        folded = _fold(node)
        if folded is not None:
            return folded
    rule = RULES.get(node.op)
    better = rule(node, *args) if rule is not None else None
    if better is None or better is node:
        return node
    better = cast(better, node.dtype)
    return better if better.shape == node.shape else node


def _fold(node: Node) -> Node | None:
    meaning = PRIMITIVES[node.op].meaning
    if meaning is None or node.op in {"cast", "bits", "from_bits"}:
        return None
    with np.errstate(all="ignore"):
        value = meaning(*(arg.dtype.type(arg.value) for arg in node.args))
    return const(node.dtype.type(value).item(), node.dtype)


def _add(node: Node, x: Node, y: Node) -> Node | None:
    if x.is_const(0):
        return y
    if y.is_const(0):
        return x
    if y.op == "neg":
        return x - y.args[0]
    if x.op == "neg":
        return y - x.args[0]
    return None


def _sub(node: Node, x: Node, y: Node) -> Node | None:
    if y.is_const(0):
        return x
    if x.is_const(0):
        return -y
    return x + y.args[0] if y.op == "neg" else None


def _mul(node: Node, x: Node, y: Node) -> Node | None:
    for a, b in ((x, y), (y, x)):
        if a.is_const(1):
            return b
        if a.is_const(-1):
            return -b
        if a.op == "neg" and b.op == "const":
            return a.args[0] * -b.value
    return x.args[0] * y.args[0] if x.op == y.op == "neg" else None


def _div(node: Node, x: Node, y: Node) -> Node | None:
    if y.is_const(1):
        return x
    return -x if y.is_const(-1) else None


def _neg(node: Node, x: Node) -> Node | None:
    if x.op == "neg":
        return x.args[0]
    return x.args[1] - x.args[0] if x.op == "sub" else None


def _abs(node: Node, x: Node) -> Node | None:
    if x.op == "neg":
        return abs(x.args[0])
    return x if x.op in {"abs", "square", "sqrt"} else None


def _of_opposite(node: Node, x: Node, y: Node) -> Node | None:
    """What compares a negative with a constant compares the number with its negative."""
    if x.op == "neg" and y.op == "const":
        return _OPPOSITE[node.op](x.args[0], const(-y.value, y.dtype))
    if x.op == "const" and y.op == "neg":
        return _OPPOSITE[node.op](const(-x.value, x.dtype), y.args[0])
    return None


_OPPOSITE: dict[str, Callable[[Node, Node], Node]] = {"eq": eq, "lt": lambda x, y: y < x}


def _where(node: Node, condition: Node, yes: Node, no: Node) -> Node | None:
    if condition.op == "const":
        return yes if condition.value else no
    return yes if yes is no else None


def _and(node: Node, x: Node, y: Node) -> Node | None:
    if node.dtype.kind != "b":
        return None
    if x.is_const(True) or y.is_const(False):
        return y
    return x if y.is_const(True) or x.is_const(False) or x is y else None


def _or(node: Node, x: Node, y: Node) -> Node | None:
    if node.dtype.kind != "b":
        return None
    if x.is_const(False) or y.is_const(True):
        return y
    return x if y.is_const(False) or x.is_const(True) or x is y else None


def _loop(node: Node, active: Node, *given: Node) -> Node | None:
    return given[node.attrs[1]] if active.is_const(False) else None


def _reduction(node: Node, x: Node) -> Node | None:
    """What is reduced over axes of one element is that."""
    return x if all(x.shape[axis] == 1 for axis in node.attrs[0]) else None


RULES: dict[str, Callable[..., Node | None]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "neg": _neg, "abs": _abs, "where": _where, "seldom": _where,
    "and": _and, "or": _or, "loop": _loop, **dict.fromkeys(_OPPOSITE, _of_opposite),
    **dict.fromkeys(("sum", "prod", "max", "min", "logsumexp"), _reduction),
}
