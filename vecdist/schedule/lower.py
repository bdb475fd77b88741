"""Lower a graph into loop nests: each value where its inputs stop varying, loops over the same lengths fused.

Fusion falls out of naming: a loop is found by its block, its length and its level, so that all outputs and sums over
the same lengths share one loop, and only a sum that another sum needs opens a later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from vecdist.expr import Node, topological
from vecdist.kernel import (
    Accumulate,
    Assign,
    Block,
    Cases,
    Flag,
    Kernel,
    Load,
    Loop,
    Output,
    Scatter,
    Slot,
    Store,
    Total,
)
from vecdist.primitives.structure import STRUCTURE, is_reduction
from vecdist.schedule.addends import Addend, addends
from vecdist.schedule.context import THROUGH, Context, Index
from vecdist.shapes import Dim, Shape

TYPES = {"i1", "i2", "i4", "i8"}  # what generated source calls its types, no index may be called


@final
@dataclass(frozen=True)
class Value:
    """The name of a computed value, the block that knows it and the level from which it does."""

    name: str
    block: Block
    level: int


def schedule(roots: Sequence[Node], flags: Sequence[Node] = ()) -> Kernel:
    """The loop nests that fill one output per root, and raise the flag where one of ``flags`` is true."""
    nodes = list(topological((*roots, *flags)))
    lowering = _Lowering()
    for node in nodes:
        if node.op == "kept":
            lowering.keep(node)
    for root in roots:
        lowering.output(root)
    for flag in flags:
        lowering.flag(flag)
    slots = sorted(
        (_slot(node) for node in nodes if node.op == "slot"),
        key=lambda slot: slot.index,
    )
    return Kernel(
        lowering.root, tuple(slots), tuple(lowering.outputs), tuple(_lengths(nodes)), bool(flags)
    )


def _slot(node: Node) -> Slot:
    index, layout, axes = node.attrs
    return Slot(index, layout, axes, node.shape, node.dtype)


def _lengths(nodes: Sequence[Node]) -> list[str]:
    """Every symbol that the kernel needs a number for, in a fixed order."""
    found: dict[str, None] = {}
    for node in nodes:
        dims: list[Dim] = [*node.shape, *(node.attrs[0] if node.op == "extent" else ())]
        if node.op in {"view", "pad"}:
            dims += [start for _, start, _ in node.attrs[0]]
        found.update(dict.fromkeys(dim for dim in dims if isinstance(dim, str)))
    return sorted(found, key=lambda name: (name[0], int(name[1:])))


class _Lowering:
    """The state of one lowering: blocks so far, and what has been computed in them."""

    def __init__(self) -> None:
        self.root = Block()
        self.outputs: list[Output] = []
        self.values: dict[tuple[Node, Context], Value] = {}
        self.loops: dict[tuple[Block, str, int], Loop] = {}
        self.split: dict[tuple[Block, str], Cases] = {}
        self.temporaries: dict[Node, tuple[int, int]] = {}
        self.names = 0
        self.first = 0  # the first level of outermost loops: those that fill what is kept come before

    def name(self, prefix: str) -> str:
        self.names += 1
        name = f"{prefix}{self.names - 1}"
        return self.name(prefix) if name in TYPES else name

    def output(self, root: Node, temporary: bool = False) -> int:
        """Open loops, compute ``root`` in them and store it, or add its parts to it; the level is returned."""
        number, parts = len(self.outputs), addends(root)
        self.outputs.append(Output(root.shape, root.dtype, temporary, bool(parts)))
        if parts:
            return max(self.added(number, part) for part in parts)
        context, level = self.over_axes(root.shape, [root])
        value = self.value(root, context)
        block = context.home(self.root)
        indices = tuple(index.text for index in context.indices if index is not None)
        at = value.level if value.block is block else 0
        block.put(at, Store(number, indices, value.name))
        return level

    def added(self, number: int, part: Addend) -> int:
        """Open the loops of one part of a summed output, and add it there; the level is returned."""
        node, shape, values, picks, start, after = part.node, part.shape, part.node, (), 0, len(part.shape)
        if part.scattered:
            values, *picks = node.args
            start, shape, after = node.attrs[0], values.shape, node.ndim - sum(node.attrs)
        values = values if part.factor is None else values * part.factor
        context, level = self.over_axes(shape, [values], picks, len(shape) - after)
        value = self.value(values, context)
        picked = [self.value(pick, Context(context.indices[: len(shape) - after])) for pick in picks]
        loops = [None if i is None else i.text for i in context.indices]
        names = [*loops[:start], *(pick.name for pick in picked), *loops[len(shape) - after :]]
        block = context.home(self.root)
        indices = tuple(str(n) for n, dim in zip(names, part.shape, strict=True) if dim != 1)
        at = max((known.level for known in (value, *picked) if known.block is block), default=0)
        block.put(at, Scatter(number, indices, value.name))
        return level

    def keep(self, node: Node) -> None:
        """Fill a temporary output with a value before all other loops."""
        number = len(self.outputs)
        self.first = 0
        self.output(node.args[0], temporary=True)
        self.outputs[number] = replace(self.outputs[number], kept=True)
        self.temporaries[node] = (number, 0)
        self.first = 1

    def flag(self, root: Node) -> None:
        context, _ = self.over_axes(root.shape, [root])
        value = self.value(root, context)
        block = context.home(self.root)
        block.put(value.level if value.block is block else 0, Flag(value.name))

    def over_axes(
        self, shape: Shape, nodes: Sequence[Node], picks: Sequence[Node] = (), ahead: int = 0
    ) -> tuple[Context, int]:
        """Loops over ``shape``, outermost first, each at the level that ``nodes`` need in them.

        ``picks`` vary along the first ``ahead`` axes alone.
        """
        trial = _trial(self.root, shape)
        needs: dict[Block, int] = {}
        for node in nodes:
            _raise_to(needs, self.needs(node, trial))
        for node in picks:
            _raise_to(needs, self.needs(node, Context(trial.indices[:ahead])))
        block, at = self.root, self.root
        indices: list[Index | None] = []
        for dim, index in zip(shape, trial.indices, strict=True):
            if index is None:
                indices.append(None)
                continue
            block = self.loop(block, str(dim), needs.get(at, self.first if at is self.root else 0))
            at = index.block
            indices.append(Index(block.index, block))
        return Context(tuple(indices)), needs.get(self.root, self.first)

    def loop(self, block: Block, dim: str, level: int) -> Block:
        """The body of the loop over ``dim`` in ``block`` at ``level``."""
        key = (block, dim, level)
        if key not in self.loops:
            self.loops[key] = Loop(dim, Block(block, self.name("i")))
            block.put(level, self.loops[key])
        return self.loops[key].body

    def needs(self, node: Node, context: Context) -> dict[Block, int]:
        """The level that each block must have reached before ``node`` can be computed in ``context``."""
        levels: dict[Block, int] = {}
        for source in _structure_below(node):
            at = context.at(source)
            if source.op == "gather":
                places = _picked_axes(source, at)
                for pick in source.args[1:]:
                    _raise_to(levels, self.needs(pick, places))
                known = Index("", places.home(self.root), gathered=True)
                _raise_to(levels, self.needs(source.args[0], _through_gather(source, at, [known] * len(source.args))))
            elif source.op in THROUGH:
                _raise_to(levels, self.needs(source.args[0], THROUGH[source.op](at, source, self.root)))
            elif self.is_temporary(source, at):
                _raise_to(levels, {self.root: self.temporary(source)[1] + 1})
            else:
                _raise_to(levels, self.needs_of_sum(source, at))
        return levels

    def needs_of_sum(self, node: Node, context: Context) -> dict[Block, int]:
        home = context.home(self.root)
        inner = self.needs(node.args[0], _inside(context, node, home))
        outside = {block: level for block, level in inner.items() if block in home.chain()}
        return {**outside, home: inner.get(home, self.first if home is self.root else 0) + 1}

    def is_temporary(self, node: Node, context: Context) -> bool:
        """Whether a reduction is kept: it would be computed again along a loop that it does not vary on, or is summed
        up by scattering.
        """
        if node.op in {"scatter", "kept"} or context.gathered():
            return True
        home = context.home(self.root)
        return not set(home.chain()) - {self.root} <= context.blocks()

    def temporary(self, node: Node) -> tuple[int, int]:
        """The output that keeps a sum for later loops, and the level at which it is filled."""
        if node not in self.temporaries:
            number = len(self.outputs)
            level = self.output(node, temporary=True)
            self.temporaries[node] = (number, level)
        return self.temporaries[node]

    def value(self, root: Node, context: Context) -> Value:
        """``root`` computed in ``context``, with all it needs."""
        for node in _region(root):
            at = context.at(node)
            if (node, at) not in self.values:
                self.values[node, at] = self.compute(node, at, context)
        return self.values[root, context.at(root)]

    def compute(self, node: Node, at: Context, context: Context) -> Value:
        match node.op:
            case "const":
                return Value(_literal(node), self.root, 0)
            case "slot":
                block = at.home(self.root)
                outside = at.moved(block, block.loop_body)  # a case loads nothing that its loop has not loaded
                if (node, outside) not in self.values:
                    self.values[node, outside] = self.load(node.attrs[0], node, outside)
                return self.values[node, outside]
            case "extent":
                count = " * ".join(node.attrs[0]) or "1"
                return self.assign("index", (f"float({count})",), node.dtype, self.root, 0)
            case "gather":
                return self.gathered(node, at)
            case op if op in {"scatter", "kept"} or is_reduction(node):
                return self.reload(node, at) if self.is_temporary(node, at) else self.reduction(node, at)
            case "view" | "reshape":
                return self.value(node.args[0], THROUGH[node.op](at, node, self.root))
            case "pad":
                return self.padded(node, at)
            case "cases":
                return self.cases(node, context)
        args = [self.values[arg, context.at(arg)] for arg in node.args]
        blocks = (at.home(self.root), *(arg.block for arg in args))
        block = max(blocks, key=lambda block: len(block.chain()))
        level = max((arg.level for arg in args if arg.block is block), default=0)
        return self.assign(node.op, tuple(arg.name for arg in args), node.dtype, block, level)

    def assign(self, op: str, args: tuple[str, ...], dtype: np.dtype, block: Block, level: int) -> Value:
        name = self.name("v")
        block.put(level, Assign(name, op, args, dtype))
        return Value(name, block, level)

    def load(self, slot: int, node: Node, at: Context, level: int = 0) -> Value:
        block = at.home(self.root)
        level = max(level, at.level(block))
        indices = tuple(index.text for index in at.indices if index is not None)
        name = self.name("v")
        block.put(level, Load(name, slot, indices, node.dtype, at.guard.text if at.guard else None))
        return Value(name, block, level)

    def reload(self, node: Node, at: Context) -> Value:
        """A sum from the temporary output that holds it; outputs are numbered downwards from -1 as slots."""
        number, level = self.temporary(node)
        in_root = at.home(self.root) is self.root
        return self.load(-1 - number, node, at, level + 1 if in_root else 0)

    def gathered(self, node: Node, at: Context) -> Value:
        """An element picked by indices that are computed first."""
        places = _picked_axes(node, at)
        picked = [self.value(pick, places) for pick in node.args[1:]]
        found = [Index(pick.name, pick.block, pick.level, gathered=True) for pick in picked]
        return self.value(node.args[0], _through_gather(node, at, found))

    def padded(self, node: Node, at: Context) -> Value:
        inner = THROUGH["pad"](at, node, self.root)
        value = self.value(node.args[0], inner)
        if inner.guard is None:
            return value
        block = max((value.block, inner.guard.block), key=lambda block: len(block.chain()))
        guard = self.assign("index", (inner.guard.text,), np.dtype(bool), inner.guard.block, 0)
        level = value.level if value.block is block else 0
        zero = "0" if node.dtype.kind in "iu" else f"{node.dtype.kind}{node.dtype.itemsize}(0.0)"
        return self.assign("where", (guard.name, value.name, zero), node.dtype, block, level)

    def cases(self, node: Node, context: Context) -> Value:
        """A value computed in two blocks of the loop, one of which runs; all cases of a loop share them."""
        test, *sides = node.args
        condition = self.value(test, context)
        block = condition.block
        if (block, condition.name) not in self.split:
            short, long = Block(block, block.index), Block(block, block.index)
            self.split[block, condition.name] = Cases(condition.name, short, long)
            block.put(condition.level, self.split[block, condition.name])
        both = self.split[block, condition.name]
        name = self.name("v")
        for side, inner in zip(sides, (both.short, both.long), strict=True):
            value = self.value(side, context.moved(block, inner))
            inner.put(value.level if value.block is inner else 0, Assign(name, "index", (value.name,), node.dtype))
        return Value(name, block, condition.level + 1)

    def reduction(self, node: Node, at: Context) -> Value:
        """The loops of a reduction in the block where it stops varying."""
        home = at.home(self.root)
        trial = _inside(at, node, home)
        needs = self.needs(node.args[0], trial)
        first = self.first if home is self.root else 0
        block, before, level = home, home, needs.get(home, first)
        indices: list[Index | None] = []
        for dim, kept, tried in zip(node.args[0].shape, at.indices, trial.indices, strict=True):
            if kept is None and tried is not None:
                block = self.loop(block, str(dim), needs.get(before, self.first if before is self.root else 0))
                before = tried.block
                indices.append(Index(block.index, block))
            else:
                indices.append(kept)
        value = self.value(node.args[0], Context(tuple(indices), at.guard))
        name = self.name("a")
        inner = value.level if value.block is block else 0
        block.put(inner, Accumulate(name, value.name, home, node.dtype, node.op))
        result = self.name("v")
        home.put(level + 1, Total(result, name, node.dtype))
        return Value(result, home, level + 1)


def _raise_to(levels: dict[Block, int], others: dict[Block, int]) -> None:
    for block, level in others.items():
        levels[block] = max(levels.get(block, 0), level)


def _picked_axes(node: Node, context: Context) -> Context:
    """The context of the indices of a gather: without the axes of its source that come after the indexed ones."""
    start, count = node.attrs
    after = node.args[0].ndim - start - count
    return Context(context.indices[: node.ndim - after], context.guard)


def _through_gather(node: Node, context: Context, picked: Sequence[Index]) -> Context:
    """The context of the source of a gather."""
    start, count = node.attrs
    source = node.args[0]
    behind = context.indices[node.ndim - (source.ndim - start - count) :] if source.ndim > start + count else ()
    inside = (None if dim == 1 else i for dim, i in zip(source.shape[start : start + count], picked, strict=False))
    return Context((*context.indices[:start], *inside, *behind), context.guard)


def _trial(parent: Block, shape: Sequence[Dim]) -> Context:
    """Indices of imagined loops over the varying axes of ``shape``, nested in ``parent``."""
    indices: list[Index | None] = []
    for dim in shape:
        if dim == 1:
            indices.append(None)
        else:
            parent = Block(parent)
            indices.append(Index("", parent))
    return Context(tuple(indices))


def _inside(context: Context, node: Node, home: Block) -> Context:
    """The context of the argument of a sum, with imagined loops over the axes that are summed."""
    shape = [
        dim if kept == 1 else 1
        for dim, kept in zip(node.args[0].shape, node.shape, strict=True)
    ]
    loops = _trial(home, shape).indices
    indices = tuple(
        kept if kept is not None else loop
        for kept, loop in zip(context.indices, loops, strict=True)
    )
    return Context(indices, context.guard)


def _structure_below(root: Node) -> Iterator[Node]:
    """The structural nodes that ``root`` reaches through elementwise nodes alone."""
    return (node for node in _region(root) if node.op in STRUCTURE)


def _region(root: Node) -> Iterator[Node]:
    """The elementwise nodes from ``root`` down to leaves and structural nodes, arguments first."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if node.op not in STRUCTURE and node.op != "cases":
                stack.extend((arg, False) for arg in reversed(node.args))


def _literal(node: Node) -> str:
    """A constant as text of its own type; what Python's own numbers are not, they would widen."""
    value = node.value
    if node.dtype.kind == "b" or (node.dtype == np.float64 and abs(value) < float("inf")):
        return repr(value)
    text = repr(value) if abs(value) < float("inf") else f"float('{value}')"
    return f"{node.dtype.kind}{node.dtype.itemsize}({text})"
