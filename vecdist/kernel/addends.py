"""An output as a sum of parts, each of which one loop nest adds to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node, const, topological
from vecdist.graph.shapes import Shape

PARTED = {"add", "sub", "neg", "mul", "view"}


@final
@dataclass(frozen=True)
class Addend:
    """``factor * node``, repeated to ``shape``: that of the output, but for axes of length 1."""

    node: Node
    shape: Shape
    factor: Node | None = None

    @property
    def scattered(self) -> bool:
        """Whether the part adds to elements that its indices name, rather than to each element once."""
        return self.node.op == "scatter" and self.node.shape == self.shape


def addends(root: Node) -> list[Addend]:
    """The parts of an output that scatters take part in; none where there is no scatter, so that it is stored.

    None, too, where something is in two of the parts: what they round to between each other is meant, as where an
    argument is reduced by ``x - ((x * c + big) - big) / c``.
    """
    within = _within(root)
    parts = list(_parts(Addend(root, root.shape), within)) if root in within else []
    each_once = len({part.node for part in parts}) == len(parts)
    return parts if each_once and any(part.scattered for part in parts) else []


def _parts(whole: Addend, within: Collection[Node]) -> Iterator[Addend]:
    """The parts of an addend in order, however many there are: each that can be is taken apart in turn."""
    stack = [whole]
    while stack:
        part = stack.pop()
        parts = _taken_apart(part, within) if part.node.shape == part.shape and part.node in within else None
        if parts is None:
            yield part
        else:
            stack += reversed(parts)


def _taken_apart(part: Addend, within: Collection[Node]) -> list[Addend] | None:
    """The addends that add up to one; ``None`` where it stays whole."""
    node, shape = part.node, part.shape
    match node.op, node.args:
        case "add", (x, y):
            return [Addend(x, shape, part.factor), Addend(y, shape, part.factor)]
        case "sub", (x, y):
            return [Addend(x, shape, part.factor), _scaled(Addend(y, shape, part.factor), None)]
        case "neg", (x,):
            return [_scaled(replace(part, node=x), None)]
        case "mul", (x, y):
            inside, factor = (x, y) if x in within else (y, x)
            parts = [] if factor in within else list(_parts(_scaled(replace(part, node=inside), factor), within))
            if parts and not (_varies(factor) and any(p.scattered and p.node.attrs[1] for p in parts)):
                return parts
        case "view", (x,) if _same_elements(node):
            if part.factor is None or not part.factor.shape:
                return [Addend(x, x.shape, part.factor)]
    return None


def _within(root: Node) -> set[Node]:
    """The nodes from which a scatter is reached through operations that a sum can be taken apart by."""
    found: set[Node] = set()
    for node in topological((root,), lambda node: node.args if node.op in PARTED else ()):
        if node.op == "view":
            reached = node.args[0] in found and _same_elements(node)
        else:
            reached = any(arg in found and arg.shape == node.shape for arg in node.args if node.op in PARTED)
        if reached or node.op == "scatter":
            found.add(node)
    return found


def _varies(node: Node) -> bool:
    return any(dim != 1 for dim in node.shape)


def _same_elements(view: Node) -> bool:
    """Whether a view only drops axes of length 1, or puts them in."""
    (source,), (entries,) = view.args, view.attrs
    kept = [axis for (axis, start, step), dim in zip(entries, source.shape, strict=True) if dim != 1]
    whole = all((start, step) == (0, 1) for (_, start, step), d in zip(entries, source.shape, strict=True) if d != 1)
    varying = [axis for axis, dim in enumerate(view.shape) if dim != 1]
    return whole and kept == varying


def _scaled(part: Addend, factor: Node | None) -> Addend:
    """A part times ``factor``, or its negative."""
    if factor is None:
        return replace(part, factor=_minus_one(part.node) if part.factor is None else -part.factor)
    return replace(part, factor=factor if part.factor is None else part.factor * factor)


def _minus_one(node: Node) -> Node:
    return const(-1, node.dtype)
