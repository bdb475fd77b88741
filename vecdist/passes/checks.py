"""Checks of parameters: taken out of the expression, to be raised by the same kernel."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite, topological
from vecdist.primitives.structure import rebuilt


def split_checks(roots: Sequence[Node]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """``roots`` without their checks, and one boolean per check that is true where it fails.

    A node ``checked(value, valid_1, parameter_1, ...)`` has the value of its first argument.
    """
    plain = dict(zip(roots, rewrite(roots, _without), strict=True))
    failures: dict[Node, None] = {}
    for node in topological(roots):
        if node.op == "checked":
            for valid in rewrite(node.args[1::2], _without):
                if not valid.is_const(True):
                    failures[~valid] = None
    return tuple(plain[root] for root in roots), tuple(failures)


def _without(node: Node, args: tuple[Node, ...]) -> Node:
    return args[0] if node.op == "checked" else rebuilt(node, args)
