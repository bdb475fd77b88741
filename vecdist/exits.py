"""Values that leave an expression by the way, and return as constants: their derivatives are lost, which is said.

Only what ``lazy`` has marked is watched.  Nothing is said when a value leaves, for values are there to be looked at,
but when a derivative is asked for in what it was computed of: where the expression was not finished then, as it holds
what entered later, and does not hold the value itself as an expression too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import final

from vecdist.expr import Node, rewrite, topological
from vecdist.leaves import BIRTHS, Leaf
from vecdist.primitives.indexing import INDEXING

MOST = 16  # exits of a leaf that are remembered
SILENT = ("matplotlib", "numpy.testing")  # what they read, they show or compare
THROUGH = ("vecdist", "numpy", "scipy")
LAZY_IN_SCIPY = {"logsumexp", "softmax", "log_softmax"}  # which vecdist has by the same names
SAME = {"cast", "left", "reshape", "view", *INDEXING}  # elements as they are


class LostDerivative(UserWarning):
    """A value left an expression as a plain number or array before it was finished: what became of it is a constant.

    Mathematical functions of Python and SciPy compute at once.  NumPy's functions and those of ``vecdist`` keep
    expressions, ``.compute()`` and ``.item()`` read values without this warning.

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
    frames = [*_frames(sys._getframe(1))]
    asked = next((f.f_code.co_name for f in frames if _module(f).startswith("scipy.special.")), "")
    if asked in LAZY_IN_SCIPY:
        raise TypeError(f"scipy.special.{asked} has no lazy form; use vecdist.{asked}, which is the same function")
    if known or node.dtype.kind != "f" or _module(frames[-1]).startswith(SILENT):
        return known
    marked = {leaf for leaf in _leaves(node) if leaf.marked}
    if marked:
        found = Exit(next(BIRTHS), _outline(node), form, f"{frames[-1].f_code.co_filename}:{frames[-1].f_lineno}")
        for leaf in marked:
            leaf.exits = (*leaf.exits, found)[-MOST:]
    return True


def warn_of_lost(root: Node, wrt: Sequence[Node]) -> None:
    """Warn where a value of an array of ``wrt`` left before ``root`` was finished, once for each array."""
    watched = [node.attrs[0] for node in wrt if node.attrs[0].exits]
    if not watched:
        return
    own = {node.attrs[0] for node in wrt}
    latest = max((leaf.born for leaf in _leaves(root) if leaf not in own), default=-1)
    inside = set(topological((_outline(root),)))
    for leaf in watched:
        lost = next((each for each in leaf.exits if each.time < latest and _is_lost(each, inside)), None)
        if lost is not None:
            leaf.exits = ()
            depth = len([*_frames(sys._getframe(1))])
            warnings.warn(
                f"a value of {leaf!r}, or of an expression of it, was read {lost.form} at {lost.place}, before this "
                "expression was finished: what was computed of it there is a constant, and has no derivative here. "
                "Write it by NumPy's functions of lazy arrays (np.log, not math.log), or read what is only looked at "
                "by .compute() or .item()",
                LostDerivative, stacklevel=depth + 1,
            )


def _is_lost(found: Exit, inside: set[Node]) -> bool:
    """Whether what left is not in the expression too; elements as they are need not be read to be shown."""
    return found.outline not in inside or all(node.op in SAME for node in topological((found.outline,)))


def _leaves(node: Node) -> Iterator[Leaf]:
    return (each.attrs[0] for each in topological((node,)) if each.op == "leaf")


def _outline(root: Node) -> Node:
    """The expression without its arrays, which are not kept alive by it; numbers are their values."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op != "leaf":
            return Node(node.op, args, node.attrs, node.shape, node.dtype)
        leaf = node.attrs[0]
        known = repr(leaf.array) if leaf.kind == "number" and not leaf.marked else leaf.born
        return Node("left", (), (known,), node.shape, node.dtype)

    return rewrite((root,), rule)[0]


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of libraries that calls go through, from ``frame`` outwards, and the first that is another's."""
    while frame is not None:
        yield frame
        if not _module(frame).startswith(THROUGH) or _module(frame).startswith(SILENT):
            return
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""
