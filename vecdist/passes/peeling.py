"""Rows among the axes of a recurrence: leading ones along which every element of a carry goes its own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, broadcast
from vecdist.passes.recurrences import Running
from vecdist.primitives.recurrences import local, locals_of
from vecdist.primitives.scans import IN_ORDER
from vecdist.primitives.structure import STRUCTURE, Entry, is_along, is_reduction, rebuilt, view


class _Mixed(Exception):
    """A step is no recurrence of each row alone."""


def peeled(run: Running) -> Running:
    """The same recurrence with as many leading axes of its carries as can be as rows."""
    while all(start.ndim > run.step.rows for start in run.args[: run.step.carries]):
        try:
            run = _once(run)
        except _Mixed:
            break
    return run


def _once(run: Running) -> Running:
    step, tokens = run.step, locals_of(run.before(0))
    lengths = {token.shape[0] for token in tokens[: step.carries]}
    if len(lengths) != 1:
        raise _Mixed
    peel = _Peel(tokens, step.carries, lengths.pop())
    for node in topological(step.news):
        peel.of(node)
    news = [peel.root(new) for new in step.news]
    shapes = [token.shape[1:] for token in tokens[: step.carries]]
    if [new.shape for new in news] != shapes:
        raise _Mixed
    args = [
        arg if place < step.carries or peel.rows.get(token) else _with_row(arg, step.leading(place))
        for place, (arg, token) in enumerate(zip(run.args, tokens, strict=True))
    ]
    return Running(replace(step, news=tuple(news), rows=step.rows + 1), tuple(args))


class _Peel:
    """Nodes of a step without their leading axis, those of them that have one of rows."""

    def __init__(self, tokens: tuple[Node, ...], carries: int, length: Dim) -> None:
        self.tokens, self.length = tokens, length
        self.rows: dict[Node, bool] = dict.fromkeys(tokens[:carries], True)
        self.new: dict[Node, Node] = {token: _shorter(token) for token in tokens[:carries]}

    def of(self, node: Node) -> Node | None:
        """The node for one row; ``None`` of what only its use can tell."""
        if node in self.new or node.op == "local":
            return self.new.get(node)
        if node.op == "const":
            self.rows[node], self.new[node] = False, node
            return node
        if not node.args:
            raise _Mixed
        self.rows[node] = node.op != "extent" and any(self.rows.get(arg) for arg in node.args)
        self.new[node] = self.own(node) if self.rows[node] else self.shared(node)
        return self.new[node]

    def shared(self, node: Node) -> Node:
        """What is the same in all rows, as lengths of other axes, and what is computed of them."""
        if node.op != "extent":
            return rebuilt(node, tuple([self.argument(arg, arg.ndim + 1) for arg in node.args]))
        (source,) = node.args
        if source not in self.new or (self.rows[source] and -source.ndim in node.attrs[0]):
            raise _Mixed
        return Node("extent", (self.new[source],), node.attrs, (), node.dtype)

    def own(self, node: Node) -> Node:
        """What differs from row to row."""
        return self.structural(node) if node.op in STRUCTURE else self.elementwise(node)

    def root(self, node: Node) -> Node:
        """What a carry becomes: also something that was given."""
        return self.argument(node, node.ndim)

    def elementwise(self, node: Node) -> Node:
        args = tuple([self.argument(arg, node.ndim) for arg in node.args])
        return Node(node.op, args, node.attrs, broadcast(arg.shape for arg in args), node.dtype)

    def argument(self, arg: Node, ndim: int) -> Node:
        """An argument of an elementwise node of so many axes."""
        if self.rows.get(arg) and arg.ndim != ndim:
            raise _Mixed
        if arg.op == "local" and arg not in self.rows:
            self.rows[arg] = arg.ndim == ndim
            self.new[arg] = _shorter(arg) if arg.ndim == ndim else arg
        if self.rows[arg] != (arg.ndim == ndim):
            raise _Mixed
        return self.new[arg]

    def structural(self, node: Node) -> Node:
        shape = node.shape[1:]
        if node.op == "gather":
            return self.gathered(node)
        if is_reduction(node) or is_along(node) or node.op in IN_ORDER:
            if -node.ndim in node.attrs[0]:
                raise _Mixed
            args = tuple([self.argument(arg, node.ndim) for arg in node.args])
            return Node(node.op, args, node.attrs, shape, node.dtype)
        if node.op != "view" or node.attrs[0][0] != (0, 0, 1) or node.shape[:1] != node.args[0].shape[:1]:
            raise _Mixed
        return view(self.new[node.args[0]], list(_entries(node.attrs[0])), shape)

    def gathered(self, node: Node) -> Node:
        """What each row picks of what is its own, along other axes, or of what all rows share."""
        (source, *indices), (start, count) = node.args, node.attrs
        own = self.rows.get(source, start > 0)
        if own != (start > 0):
            raise _Mixed
        of = self.argument(source, source.ndim + (not own))
        picks = [self.argument(index, node.ndim - (source.ndim - start - count)) for index in indices]
        return Node("gather", (of, *picks), (start - own, count), node.shape[1:], node.dtype)


def _entries(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    for axis, start, step in entries[1:]:
        yield None if axis is None else axis - 1, start, step


def _shorter(token: Node) -> Node:
    return local(token.attrs[0], token.shape[1:], token.dtype)


def _with_row(arg: Node, leading: int) -> Node:
    """An argument that all rows share, with an axis of length 1 behind its leading ones."""
    entries = [(axis + (axis >= leading), 0, 1) for axis in range(arg.ndim)]
    return view(arg, entries, (*arg.shape[:leading], 1, *arg.shape[leading:]))
