"""Values that leave an expression by the way, and return as constants: their derivatives are lost, which is said.

Only what ``lazy`` has marked is watched.  Nothing is said when a value leaves, for values are there to be looked at,
but when a derivative is asked for in what it was computed of: where the expression was not finished then, as it holds
what entered later, and does not hold the value itself as an expression too.  Each value is judged by the next
derivative alone; and a statement that asks for that of the same expression again, of other data perhaps, as loops do,
is not judged again: what was read in between belongs to the round before.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dis import opmap
from types import FrameType
from typing import Any, final

from vecdist.graph.leaves import BIRTHS, Leaf
from vecdist.graph.node import Node, rewrite, topological
from vecdist.primitives.indexing import INDEXING

MOST = 16  # exits of a leaf, and expressions derived in it, that are remembered
SILENT = ("matplotlib", "numpy.testing", "logging", "unittest", "_pytest")  # what they read, they show or compare
FORMATS = opmap["BINARY_OP"]  # of lazy arrays an expression: what reads one itself is "%f" % x
THROUGH = ("vecdist", "numpy", "scipy")
LAZY_IN_SCIPY = {"logsumexp", "softmax", "log_softmax"}  # which vecdist has by the same names
SAME = {"cast", "left", "reshape", "view", *INDEXING}  # elements as they are


class LostDerivative(UserWarning):
    """A value left an expression as a plain number or array before it was finished: what became of it is a constant.

    Mathematical functions of Python and SciPy compute at once.  NumPy's functions and those of ``vecdist`` keep
    expressions, ``.compute()`` and ``.item()`` read values without this warning.  So do formats (``f"{x:.2f}"``,
    ``"%.2f" % x``), truth and comparisons (``if x > 0``), logging, Matplotlib, and the comparisons of NumPy's, Python's
    and pytest's tests.  ``float(x)``, ``round(x, 2)``, ``math.isnan(x)`` and ``np.asarray(x)`` count, wherever the
    number goes, unless they are of the finished expression, or of an earlier round of a loop.

    >>> import math, warnings
    >>> import numpy as np, vecdist
    >>> s = np.array(2.0)
    >>> lost = vecdist.lazy(s) * math.log(vecdist.lazy(s))
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     value, slope = vecdist.value_and_grad(lost, wrt=s)
    >>> caught[0].category.__name__, round(float(slope), 3)
    ('LostDerivative', 0.693)
    >>> value, slope = vecdist.value_and_grad(vecdist.lazy(s) * np.log(vecdist.lazy(s)), wrt=s)
    >>> round(float(slope), 3)
    1.693
    """


@final
@dataclass(frozen=True)
class Exit:
    """A value that was read: when, of which expression, in which form, and where in the user's program."""

    time: int
    outline: Node
    form: str
    place: str


def left(node: Node, form: str, known: bool) -> bool:
    """Remember that the value of ``node`` is read, unless that is ``known``; whether it is known by now.

    Raises ``TypeError`` where a function of SciPy reads it that has a lazy form in vecdist.
    """
    frames = [*calls_outwards(sys._getframe(1))]
    asked = next((f.f_code.co_name for f in frames if module_of(f).startswith("scipy.special.")), "")
    if asked in LAZY_IN_SCIPY:
        raise TypeError(f"scipy.special.{asked} has no lazy form; use vecdist.{asked}, which is the same function")
    if known or node.dtype.kind != "f" or _shows(frames[-1]):
        return known
    marked = {leaf for leaf in _leaves(node) if leaf.marked}
    if marked:
        found = Exit(next(BIRTHS), _outline(node), form, _place(frames[-1]))
        for leaf in marked:
            leaf.exits = (*leaf.exits, found)[-MOST:]
    return True


def warn_of_lost(nodes: Sequence[Node], wrt: Sequence[Node]) -> None:
    """Warn where a value of an array of ``wrt`` left before an expression was finished, once for each array.

    ``nodes`` are the root of the expression, and all below it.
    """
    watched = [node.attrs[0] for node in wrt if node.attrs[0].marked]
    if not watched:
        return
    frames = [*calls_outwards(sys._getframe(1))]
    asked = hash((_place(frames[-1]), *_kinds(nodes)))
    found = [(leaf, _lost(leaf, nodes[0], wrt)) for leaf in watched if leaf.exits and asked not in leaf.asked]
    for leaf in watched:
        leaf.exits, leaf.asked = (), (*(each for each in leaf.asked if each != asked), asked)[-MOST:]
    for leaf, lost in found:
        if lost is not None:
            warnings.warn(
                f"a value of {leaf!r}, or of an expression of it, was read {lost.form} at {lost.place}, before this "
                "expression was finished: what was computed of it there is a constant, and has no derivative here. "
                "Write it by NumPy's functions of lazy arrays (np.log, not math.log), or read what is only looked at "
                "by .compute() or .item()",
                LostDerivative, stacklevel=len(frames) + 1,
            )


def _lost(leaf: Leaf, root: Node, wrt: Sequence[Node]) -> Exit | None:
    """The first value of a leaf that left before ``root`` was finished, and is not in it."""
    own = {node.attrs[0] for node in wrt}
    latest = max((each.born for each in _leaves(root) if each not in own), default=-1)
    inside = set(topological((_outline(root),)))
    return next((each for each in leaf.exits if each.time < latest and _is_lost(each, inside)), None)


def _kinds(nodes: Sequence[Node]) -> list[Any]:
    """What of nodes is the same in the next round of a loop: of leaves the shapes, and the values of numbers."""
    ops, shapes = [node.op for node in nodes], [node.shape for node in nodes]
    leaves = [node.attrs[0] for node in nodes if node.op == "leaf"]
    return ops + shapes + [leaf.array.item() for leaf in leaves if leaf.kind == "number"]


def _is_lost(found: Exit, inside: set[Node]) -> bool:
    """Whether what left is not in the expression too; elements as they are need not be read to be shown."""
    return found.outline not in inside or all(node.op in SAME for node in topological((found.outline,)))


def _leaves(node: Node) -> Iterator[Leaf]:
    return (each.attrs[0] for each in topological((node,)) if each.op == "leaf")


def _outline(root: Node) -> Node:
    """The expression without its arrays, which are not kept alive by it, but named; numbers are their values."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op != "leaf":
            return Node(node.op, args, node.attrs, node.shape, node.dtype)
        leaf = node.attrs[0]
        known = leaf.born if leaf.marked else leaf.array.tobytes() if leaf.kind == "number" else id(leaf.given)
        return Node("left", (), (known,), node.shape, node.dtype)

    return rewrite((root,), rule)[0]


def calls_outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of libraries that calls go through, from ``frame`` outwards, and the first that is another's."""
    while frame is not None:
        yield frame
        if not module_of(frame).startswith(THROUGH) or module_of(frame).startswith(SILENT):
            return
        frame = frame.f_back


def _shows(frame: FrameType) -> bool:
    """Whether what a frame reads is only shown or compared there."""
    return module_of(frame).startswith(SILENT) or frame.f_code.co_code[frame.f_lasti] == FORMATS


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def module_of(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""
