"""Lower a graph into loop nests: each value where its inputs stop varying, loops over the same lengths fused.

Fusion falls out of naming: a loop is found by its block, its length and its level, so that all outputs and sums over
the same lengths share one loop, and only a sum that another sum needs opens a later one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, Shape, in_turn
from vecdist.kernel import pieces, recurrences, scans
from vecdist.kernel.addends import Addend, addends
from vecdist.kernel.context import THROUGH, Context, Index, guard
from vecdist.kernel.expressions import ONE, ZERO, Constant, Expr, Name, joined, length, of_type, word
from vecdist.kernel.ir import WHOLE, Block, Cases, Kernel, Loop, Output, Piece, Slot
from vecdist.kernel.needs import OFTEN, STORED, Crowded, Needs, dear, often_computed
from vecdist.kernel.places import Places, Value
from vecdist.kernel.recurrences import Carry, Run
from vecdist.kernel.regions import (
    imagined,
    inside,
    literal,
    picked_axes,
    raise_to,
    region,
    through_gather,
)
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Operator, Scatter, Store, Temp, Total, carried
from vecdist.passes.hoist import IN_MEMORY
from vecdist.passes.recurrences import in_memory
from vecdist.primitives.loops import Loop as Turns
from vecdist.primitives.recurrences import STEP_LEAVES, Recurrence
from vecdist.primitives.scans import SCANS
from vecdist.primitives.structure import is_reduction

APART = {"const", "local", "slot", "extent", "position", "cases", "gather", *THROUGH, *STEP_LEAVES, *IN_MEMORY}
OUTPUTS = {"recurrence": recurrences.output, "join": pieces.output}
TYPES = {"i1", "i2", "i4", "i8"}  # what generated source calls its types, no index may be called


def schedule(
    roots: Sequence[Node], flags: Sequence[Node] = (), made: dict[str, Node] | None = None, leading: Sequence[Dim] = ()
) -> Kernel:
    """The loop nests that fill one output per root, and raise the flag where one of ``flags`` is true.

    ``made`` is told which node each name is the value of; loops over the lengths ``leading`` stand outside others.
    """
    most = OFTEN
    while True:
        try:
            return _scheduled(roots, flags, made, leading, most)
        except Crowded as crowded:
            most = STORED
            every = in_memory((*roots, *flags), crowded.nodes)
            roots, flags = every[: len(roots)], every[len(roots) :]


def _scheduled(
    roots: Sequence[Node], flags: Sequence[Node], made: dict[str, Node] | None, leading: Sequence[Dim], most: int
) -> Kernel:
    """The same, unless a value is wanted at more than so many places."""
    nodes = list(topological((*roots, *flags)))
    lowering = _Lowering(nodes, leading)
    for node in nodes:
        if node.op == "kept":
            lowering.keep(node)
    for root in roots:
        lowering.output(root)
    for flag in flags:
        lowering.flag(flag)
    crowded = often_computed(lowering, most)
    if crowded:
        raise Crowded(crowded)
    if made is not None:
        known = ((value.of, node) for found in lowering.values.values() for node, value in found.items())
        made |= {value.id: node for value, node in known if isinstance(value, Name)}
    slots = sorted((_slot(node) for node in nodes if node.op == "slot"), key=lambda slot: slot.index)
    return Kernel(lowering.root, tuple(slots), tuple(lowering.outputs), tuple(_lengths(nodes)), bool(flags))


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
        dims += node.attrs if node.op == "join" else ()
        if node.op == "recurrence":  # whose steps may have slices
            dims += _lengths(list(topological(node.attrs[0].news)))
        found.update(dict.fromkeys(dim for dim in dims if isinstance(dim, str)))
    return sorted(found, key=lambda name: (name[0], int(name[1:])))


class _Lowering:
    """The state of one lowering: blocks so far, and what has been computed in them."""

    def __init__(self, nodes: Sequence[Node], leading: Sequence[Dim]) -> None:
        self.leading = leading
        self.dear = dear(nodes)
        self.root = Block()
        self.outputs: list[Output] = []
        self.values: defaultdict[Context, dict[Node, Value]] = defaultdict(dict)
        self.below: dict[Node, tuple[Node, ...]] = {}  # what nodes need that is no function of elements
        self.bare: set[Node] = set()  # nodes that need none
        self.loops: dict[tuple[Block, str, int, bool, Piece], Loop] = {}
        self.split: dict[tuple[Block, Name], Cases] = {}
        self.temporaries: dict[Node, tuple[int, int]] = {}
        self.turns: dict[tuple[Turns, tuple[Expr, ...], Block], Value] = {}
        self.names = 0
        self.runs: dict[tuple[tuple[Node, ...], Recurrence], Run] = {}
        self.known: dict[Node, tuple[Run, Carry | None]] = {}  # what stands for arguments in steps
        self.turning: dict[Node, Run] = {}  # by what they have in memory of a turn
        self.held_in: dict[Node, tuple[int, int]] = {}  # what turns have in memory
        self.first = 0  # the first level of outermost loops: those that fill what is kept come before

    def name(self, prefix: str) -> str:
        self.names += 1
        name = f"{prefix}{self.names - 1}"
        return self.name(prefix) if name in TYPES else name

    def output(self, root: Node, temporary: bool = False) -> int:
        """Open loops, compute ``root`` in them and store it, or add its parts to it; the level is returned."""
        root = root.args[0] if root.op == "stored" else root
        number, parts = len(self.outputs), addends(root)
        self.outputs.append(Output(root.shape, root.dtype, temporary, bool(parts)))
        if parts:
            return max(self.added(number, part) for part in parts)
        rule = scans.output if root.op in SCANS else OUTPUTS.get(root.op)
        if rule is not None:
            return rule(self, number, root)
        context, level = self.over_axes(root.shape, [root])
        value = self.value(root, context)
        block = context.home(self.root)
        assert not temporary or block is not self.root, "a single number is stored when all loops are done"
        indices = tuple(index.value for index in context.indices if index is not None)
        at = value.level if value.block is block else 0
        block.put(at, Store(number, indices, value.of))
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
        loops = [ZERO if i is None else i.value for i in context.indices]
        every = [*loops[:start], *(pick.of for pick in picked), *loops[len(shape) - after :]]
        block = context.home(self.root)
        indices = tuple(index for index, dim in zip(every, part.shape, strict=True) if dim != 1)
        at = max((known.level for known in (value, *picked) if known.block is block), default=0)
        if block is self.root:  # additions belong to a loop: whoever runs it knows when all are done
            level = max(level, at)
            block, at = self.loop(self.root, "1", level), 0
        block.put(at, Scatter(number, indices, value.of))
        return level

    def run(self, args: tuple[Node, ...], step: Recurrence) -> Run:
        """The loops of a recurrence."""
        if (args, step) not in self.runs:
            self.runs[args, step] = recurrences.begun(self, args, step)
        return self.runs[args, step]

    def held(self, node: Node) -> tuple[int, int]:
        """The output that holds a value for what stands behind it in a turn, and the level at which that is filled."""
        return recurrences.held(self, node)

    def keep(self, node: Node) -> None:
        """Fill a temporary output with a value before all other loops."""
        number, self.first = len(self.outputs), 0
        level = self.output(node.args[0], temporary=True)
        assert level == 0, "what is kept before all other loops needs no other"
        self.outputs[number] = replace(self.outputs[number], kept=True)
        self.temporaries[node] = (number, 0)
        self.first = 1

    def flag(self, root: Node) -> None:
        context, _ = self.over_axes(root.shape, [root])
        value = self.value(root, context)
        block = context.home(self.root)
        block.put(value.level if value.block is block else 0, Flag(value.of))

    def over_axes(
        self, shape: Shape, nodes: Sequence[Node], picks: Sequence[Node] = (), ahead: int = 0, in_order: bool = False,
        least: int = 0,
    ) -> tuple[Context, int]:
        """Loops over ``shape``, outermost first, each at the level that ``nodes`` need in them.

        ``picks`` vary along the first ``ahead`` axes alone; ``in_order`` says that the last axis is a sequence; what is
        known from level ``least`` on is needed, too.
        """
        leading = () if in_order else self.leading
        trial = imagined(self.root, shape, leading)
        needs: dict[Block, int] = {self.root: least} if least else {}
        for node in nodes:
            raise_to(needs, self.needs(node, trial))
        for node in picks:
            raise_to(needs, self.needs(node, Context(trial.indices[:ahead])))
        block, at = self.root, self.root
        indices: list[Index | None] = [None] * len(shape)
        for axis in in_turn(shape, leading):
            index = trial.indices[axis]
            if index is not None:
                level = needs.get(at, self.first if at is self.root else 0)
                block, at = self.loop(block, str(shape[axis]), level, in_order and axis == -1), index.block
                indices[axis] = Index(Name(block.index), block)
        return Context(tuple(indices)), needs.get(self.root, self.first)

    def loop(self, block: Block, dim: str, level: int, sequential: bool = False, piece: Piece = WHOLE) -> Block:
        """The body of the loop over ``dim`` in ``block`` at ``level``."""
        key = (block, dim, level, sequential, piece)
        if key not in self.loops:
            self.loops[key] = Loop(dim, Block(block, self.name("i")), sequential, "", *piece)
            block.put(level, self.loops[key])
        return self.loops[key].body

    def needs(self, node: Node, context: Context) -> dict[Block, int]:
        """The level that each block must have reached before ``node`` can be computed in ``context``."""
        return Needs(self).levels(node, context)

    def is_temporary(self, node: Node, context: Context) -> bool:
        """Whether a reduction is kept: it would be computed again along a loop that it does not vary on, or is summed
        up by scattering.
        """
        if node.op in IN_MEMORY or context.within:
            return node.op in IN_MEMORY  # a step has no memory of its own but carries: it computes sums again
        if context.gathered() or context.is_split():
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
        places = Places(context, self.values)
        found = places.of(root)
        if found is not None:
            return found
        for node in region(root, lambda arg: places.of(arg) is None):
            if places.of(node) is None:  # what another needed is known by now
                places.put(node, self.compute(node, places))
        return places.here[root]

    def compute(self, node: Node, places: Places) -> Value:
        if node.op in APART or is_reduction(node):
            return self.apart(node, places)
        args = [places.here[arg] for arg in node.args]
        block = places.home(node, self.root)
        for arg in args:
            if arg.block is not block and arg.block.depth > block.depth:
                block = arg.block
        level = max([arg.level for arg in args if arg.block is block], default=0)
        values = tuple([arg.of for arg in args])
        if node.op == "loop":
            return self.turned(node, values, block, level)
        return self.assign(node.attrs[0] if node.op == "formula" else node.op, values, node.dtype, block, level)

    def apart(self, node: Node, places: Places) -> Value:
        """What is no elementwise function of its arguments."""
        at = places.context_of(node)
        match node.op:
            case "const":
                return Value(literal(node), self.root, 0)
            case "local":
                return Value(carried(node.attrs[0]), self.root, 0)
            case "slot":
                block = at.home(self.root)
                outside = at.moved(block, block.loop_body)  # a case loads nothing that its loop has not loaded
                if node not in self.values[outside]:
                    self.values[outside][node] = self.load(node.attrs[0], node, outside)
                return self.values[outside][node]
            case "extent":
                count = joined("*", [length(dim) for dim in node.attrs[0]] or [ONE])
                return self.assign("index", (word("float")(count),), node.dtype, self.root, 0)
            case "position":
                block, place = at.home(self.root), at.place(node.shape)
                return self.assign("index", (place,), node.dtype, block, at.level(block))
            case "gather":
                return self.gathered(node, at)
            case "view" | "reshape" | "windows":
                return self.value(node.args[0], THROUGH[node.op](at, node, self.root))
            case "pad" | "shifted" | "overlaps":
                return self.padded(node, at)
            case "cases":
                return self.cases(node, places.context)
            case "carry" | "element" | "shared":
                return recurrences.value(self, node, at)
        return self.reload(node, at) if self.is_temporary(node, at) else self.reduction(node, at)

    def turned(self, node: Node, args: tuple[Expr, ...], block: Block, level: int) -> Value:
        """A carry of a loop, which is run once for all of them."""
        loop, place = node.attrs
        if len(loop.news) == 1:
            return self.assign(loop, args, node.dtype, block, level)
        if (loop, args, block) not in self.turns:
            every = np.dtype([("", new.dtype) for new in loop.news])
            self.turns[loop, args, block] = self.assign(loop, args, every, block, level)
        return self.assign("index", (self.turns[loop, args, block].of[place],), node.dtype, block, level)

    def assign(self, op: Operator, args: tuple[Expr, ...], dtype: np.dtype, block: Block, level: int) -> Value:
        name = self.name("v")
        block.put(level, Assign(name, op, args, dtype))
        return Value(Name(name), block, level)

    def load(self, source: int | Temp, node: Node, at: Context, level: int = 0) -> Value:
        block = at.home(self.root)
        level = max(level, at.level(block))
        indices = tuple(index.value for index in at.indices if index is not None)
        name = self.name("v")
        block.put(level, Load(name, source, indices, node.dtype, at.guard.value if at.guard else None))
        return Value(Name(name), block, level)

    def reload(self, node: Node, at: Context) -> Value:
        """A sum from the temporary output that holds it."""
        if at.within and node.op == "stored":
            return recurrences.reload(self, node, at, at.within)
        number, level = self.temporary(node)
        in_root = at.home(self.root) is self.root
        return self.load(Temp(number), node, at, level + 1 if in_root else 0)

    def gathered(self, node: Node, at: Context) -> Value:
        """An element picked by indices that are computed first."""
        places = picked_axes(node, at)
        picked = [self.value(pick, places) for pick in node.args[1:]]
        found = [Index(pick.of, pick.block, pick.level, True, at.guard is not None) for pick in picked]
        return self.value(node.args[0], through_gather(node, at, found))

    def padded(self, node: Node, at: Context) -> Value:
        value = self.value(node.args[0], THROUGH[node.op](at, node, self.root))
        known = guard(at, node, self.root)
        if known is None:
            return value
        block = max((value.block, known.block), key=lambda block: block.depth)
        there = self.assign("index", (known.value,), np.dtype(bool), known.block, known.level)
        level = max(each.level for each in (value, there) if each.block is block)
        nothing = node.attrs[2] if node.op == "shifted" else 0
        other = Constant(nothing) if node.dtype.kind in "iu" else of_type(node.dtype, float(nothing))
        return self.assign("where", (there.of, value.of, other), node.dtype, block, level)

    def cases(self, node: Node, context: Context) -> Value:
        """A value computed in two blocks of the loop, one of which runs; all cases of a loop share them."""
        test, *sides = node.args
        condition = self.value(test, context)
        block, holds = condition.block, condition.of
        assert isinstance(holds, Name)
        if (block, holds) not in self.split:
            short, long = Block(block, block.index), Block(block, block.index)
            self.split[block, holds] = Cases(holds, short, long)
            block.put(condition.level, self.split[block, holds])
        both = self.split[block, holds]
        name = self.name("v")
        for side, inner in zip(sides, (both.short, both.long), strict=True):
            value = self.value(side, context.moved(block, inner))
            inner.put(value.level if value.block is inner else 0, Assign(name, "index", (value.of,), node.dtype))
        return Value(Name(name), block, condition.level + 1)

    def reduction(self, node: Node, at: Context) -> Value:
        """The loops of a reduction in the block where it stops varying."""
        home = at.home(self.root)
        trial = inside(at, node, home, self.leading)
        needs = self.needs(node.args[0], trial)
        first = self.first if home is self.root else 0
        block, before, level = home, home, needs.get(home, first)
        indices = list(at.indices)
        for axis in in_turn(node.args[0].shape, self.leading):
            tried, part = trial.indices[axis], at.indices[axis]
            if tried is not None and tried is not part:
                level_of_loop = needs.get(before, first if before is home else 0)
                piece = WHOLE if part is None else (part.value, node.attrs[1])
                block = self.loop(block, str(node.args[0].shape[axis]), level_of_loop, piece=piece)
                before = tried.block
                indices[axis] = Index(Name(block.index), block)
        value = self.value(node.args[0], replace(at, indices=tuple(indices)))
        name, result = self.name("a"), self.name("v")
        block.put(value.level if value.block is block else 0, Accumulate(name, value.of, home, node.dtype, node.op))
        home.put(level + 1, Total(result, name, node.dtype))
        return Value(Name(result), home, level + 1)
