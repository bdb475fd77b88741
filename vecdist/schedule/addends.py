"""An output as a sum of parts, each of which one loop nest adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from vecdist.expr import Node, const
from vecdist.shapes import Shape


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
    """The parts of an output that scatters take part in; none where there is no scatter, so that it is stored."""
    parts = list(_parts(Addend(root, root.shape)))
    return parts if any(part.scattered for part in parts) else []


def _parts(part: Addend) -> Iterator[Addend]:
    node, shape = part.node, part.shape
    if node.shape == shape and _within(node):
        match node.op, node.args:
            case "add", (x, y):
                yield from _parts(Addend(x, shape, part.factor))
                yield from _parts(Addend(y, shape, part.factor))
                return
            case "sub", (x, y):
                yield from _parts(Addend(x, shape, part.factor))
                yield from _parts(_scaled(Addend(y, shape, part.factor), None))
                return
            case "neg", (x,):
                yield from _parts(_scaled(replace(part, node=x), None))
                return
            case "mul", (x, y):
                inside, factor = (x, y) if _within(x) else (y, x)
                parts = [] if _within(factor) else list(_parts(_scaled(replace(part, node=inside), factor)))
                if parts and not (_varies(factor) and any(p.scattered and p.node.attrs[1] for p in parts)):
                    yield from parts
                    return
            case "view", (x,) if _same_elements(node):
                if part.factor is None or not part.factor.shape:
                    yield from _parts(Addend(x, x.shape, part.factor))
                    return
    yield part


def _within(node: Node) -> bool:
    """Whether a scatter is reached through operations that a sum can be taken apart by."""
    if node.op == "scatter":
        return True
    if node.op == "view":
        return _same_elements(node) and _within(node.args[0])
    parted = node.op in {"add", "sub", "neg", "mul"}
    return parted and any(_within(arg) and arg.shape == node.shape for arg in node.args)


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
