"""Inverse links as users write them: logarithms of exponentials, and logistic functions in parts.

``log(exp(x))`` is ``x`` where ``exp(x)`` overflows, or is zero, too, and so are its derivatives; ``1 / (1 + exp(-x))``
rounds to 1, and its logarithm to 0, where ``log_sigmoid(x)`` does not; ``log(p exp(a) + (1 - p) exp(b))`` of a share is
a ``logaddexp``; a determinant, whose logarithm is there where it overflows, is a sign times an exponential.  What is
shorter is also sooner computed: a mean that is an exponential is the most frequent one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vecdist.graph.node import Node, rewrite
from vecdist.primitives.elementary import log, log_sigmoid, logaddexp, sigmoid, softplus
from vecdist.primitives.structure import rebuilt

DEPTH = 8  # operations of one logarithm that are looked through


def links(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with these functions by name."""
    return rewrite(roots, _named)


def _named(node: Node, args: tuple[Node, ...]) -> Node:
    found, rule = rebuilt(node, args), RULES.get(node.op)
    better = rule(*args) if rule is not None else None
    return better if better is not None and (better.shape, better.dtype) == (node.shape, node.dtype) else found


def _log(x: Node, depth: int = DEPTH, signed: bool = True) -> Node | None:
    """The logarithm of what is positive by its form: of exponentials, shares, and what is made of these.

    Of products and quotients, where these may be ``signed``, it is enough that one part is: that of the other tells.
    """
    if not depth:
        return None
    if x.op == "exp":
        return x.args[0]
    if x.op == "sigmoid":
        return log_sigmoid(x.args[0])
    if x.op == "sub":
        one, share = x.args
        return log_sigmoid(_opposite(share.args[0])) if one.is_const(1) and share.op == "sigmoid" else None
    if x.op == "add" and (more := _more_than_one(x)) is not None:
        return softplus(more)
    if x.op == "div" and x.args[0].is_const(1):
        inside = _log(x.args[1], depth - 1, signed)
        return None if inside is None else _opposite(inside)
    make = OF_PARTS.get(x.op)
    if make is None:
        return None
    parts = [_log(arg, depth - 1, signed and x.op not in UNSIGNED) for arg in x.args]
    if signed and x.op in PRODUCTS and any(part is not None for part in parts):
        parts = [log(arg) if part is None else part for arg, part in zip(x.args, parts, strict=True)]
    return make(x, *parts) if all(part is not None for part in parts) else None


def _log1p(x: Node) -> Node | None:
    """The same of 1 and more."""
    if x.op == "exp":
        return softplus(x.args[0])
    share = x.args[0] if x.op == "neg" else x
    return log_sigmoid(_opposite(share.args[0])) if share is not x and share.op == "sigmoid" else None


def _div(x: Node, y: Node) -> Node | None:
    """``1 / (1 + exp(-x))``, and the same as ``exp(x) / (1 + exp(x))``."""
    more = _more_than_one(y)
    if more is None:
        return None
    if x.is_const(1):
        return sigmoid(_opposite(more))
    return sigmoid(more) if x.op == "exp" and x.args[0] is more else None


def _more_than_one(x: Node) -> Node | None:
    """The number whose exponential is added to 1."""
    if x.op != "add" or not any(arg.is_const(1) for arg in x.args):
        return None
    return next((arg.args[0] for arg in x.args if arg.op == "exp"), None)


def _opposite(x: Node) -> Node:
    return x.args[0] if x.op == "neg" else -x


OF_PARTS: dict[str, Callable[..., Node]] = {  # logarithms, by those of what a value is made of
    "view": lambda x, a: rebuilt(x, (a,)),
    "sqrt": lambda x, a: 0.5 * a,
    "square": lambda x, a: 2.0 * a,
    "mul": lambda x, a, b: a + b,
    "div": lambda x, a, b: a - b,
    "add": lambda x, a, b: logaddexp(a, b),
}
PRODUCTS, UNSIGNED = {"mul", "div"}, {"add", "square"}  # in the latter signs of parts are lost
RULES: dict[str, Callable[..., Node | None]] = {"log": _log, "log1p": _log1p, "div": _div}
