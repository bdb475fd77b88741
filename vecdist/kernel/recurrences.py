"""Recurrences as loop nests: rows side by side, and in each a loop over steps in order, whose body is one step.

A carry of a single number stays in a register.  One of several lies in memory twice, as it is before a step and as it
becomes, in turns; neighbouring rows are neighbours there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, Shape
from vecdist.kernel.context import Context, Index
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, length
from vecdist.kernel.ir import Block, Output
from vecdist.kernel.needs import Crowded, Needs, dear
from vecdist.kernel.places import Value
from vecdist.kernel.regions import imagined
from vecdist.kernel.statements import Accumulate, Load, Store, Temp, Total
from vecdist.passes.recurrences import in_memory, spread
from vecdist.primitives.recurrences import STEP_LEAVES, Recurrence, locals_of
from vecdist.primitives.structure import Entry, view

if TYPE_CHECKING:
    from vecdist.kernel.lower import _Lowering


@final
@dataclass(frozen=True)
class Carry:
    """A carry: the node that stands for it, what it becomes, and the register or the memory that holds it."""

    node: Node
    new: Node
    register: str = ""
    before: str = ""
    memory: int = -1
    start: Expr | None = None


@final
@dataclass(frozen=True)
class Run:
    """The loops of a recurrence: ``rows`` are the places of its rows, ``step`` is that of elements in a turn."""

    level: int
    rows: tuple[Index | None, ...]
    row: Block
    turns: Block
    step: Index
    steps: Dim
    carries: tuple[Carry, ...] = ()

    def context(self, own: tuple[Index | None, ...] = ()) -> Context:
        """Where a node of the step is computed."""
        return Context((*self.rows, *own), None, self.turns)

    def source(self, node: Node, at: Context) -> Context:
        """The context of an argument itself: an element is that of a turn, what is shared belongs to no turn."""
        if node.op == "element":
            return Context((self.step, *at.indices), at.guard)
        return Context(at.indices, at.guard)

    @property
    def after(self) -> int:
        """The level of a row's block from which carries are what the last step left."""
        return 1 + next(level for level, item in self.row.items if getattr(item, "body", None) is self.turns)


def output(lowering: _Lowering, number: int, node: Node) -> int:
    """Fill an output with a carry before each step, or behind the last; the level is returned."""
    step, place, last = node.attrs
    run = lowering.run(node.args, step)
    carry = run.carries[place]
    if not last:
        _store_each(lowering, run, number, carry)
        return run.level
    if not carry.register:
        return _copied(lowering, run, number, carry, node)
    name = lowering.name("v")
    run.row.put(run.after, Total(name, carry.register, node.dtype))
    indices = tuple([index.value for index in run.rows if index is not None])
    run.row.put(run.after, Store(number, indices, Name(name)))
    return run.level


def begun(lowering: _Lowering, args: tuple[Node, ...], step: Recurrence) -> Run:
    """The loops of a recurrence, in which all its carries are computed."""
    starts = args[: step.carries]
    dims = starts[0].shape[: step.rows]
    rows = [axis for axis, dim in enumerate(dims) if dim != 1]
    memories = {place: _memory(lowering, start, step) for place, start in enumerate(starts) if start.ndim > step.rows}
    shape = (*([dims[axis] for axis in rows] or ["1"]), args[step.carries].shape[0])
    probes = [_probe(arg, step, place, rows, shape) for place, arg in enumerate(args)]
    ready = max((level + 1 for _, level in memories.values()), default=0)
    context, level = lowering.over_axes(shape, probes, in_order=True, least=ready)
    *outer, along = (index for index in context.indices if index is not None)
    places = dict(zip(rows, outer, strict=False))
    at = length(shape[-1]) - 1 - along.value if step.backwards else along.value
    run = Run(
        level, tuple([places.get(axis) for axis in range(len(dims))]), outer[-1].block, along.block,
        replace(along, value=at), shape[-1],
    )  # fmt: skip
    leaves = _leaves(lowering, args, step)
    news = _written(step, args, leaves)
    carries = []
    for place, (start, new) in enumerate(zip(starts, news, strict=True)):
        if place in memories:
            carries.append(Carry(leaves[place], new, memory=memories[place][0]))
        else:
            value = lowering.value(start, Context(run.rows))
            register, before = lowering.name("a"), lowering.name("v")
            run.turns.put(0, Total(before, register, start.dtype))
            carries.append(Carry(leaves[place], new, register, before, start=value.of))
    lowering.known |= dict.fromkeys(leaves, (run, None))
    news = _held(lowering, run, news)
    carries = [replace(carry, new=new) for carry, new in zip(carries, news, strict=True)]
    run = replace(run, carries=tuple(carries))
    lowering.known |= {carry.node: (run, carry) for carry in carries}
    for carry in carries:
        _advance(lowering, run, carry)
    return run


def _held(lowering: _Lowering, run: Run, news: tuple[Node, ...]) -> tuple[Node, ...]:
    """What carries become, with memory of a turn for what would be computed again and again in one."""
    rows = len(run.rows)
    while True:
        nodes = list(topological(news, lambda node: () if node.op in STEP_LEAVES else node.args))
        carried: set[Node] = set()
        for node in nodes:
            if node.op == "carry" or not carried.isdisjoint(node.args):
                carried.add(node)
        varying = {node for node in carried if any(dim != 1 for dim in node.shape[rows:])}
        lowering.dear |= dear(nodes, reductions=True) & varying
        needs = Needs(lowering)
        for new in (*news, *(node.args[0] for node in nodes if node.op == "stored")):
            trial = imagined(run.turns, new.shape[rows:])
            needs.of(new, Context((*run.rows, *trial.indices), None, run.turns))
        if not needs.crowded <= varying:  # what a step is given, which all turns may read
            raise Crowded(needs.crowded - varying)
        if not needs.crowded:
            lowering.turning |= {node: run for node in nodes if node.op == "stored"}
            return news
        news = in_memory(news, needs.crowded)


def _memory(lowering: _Lowering, start: Node, step: Recurrence) -> tuple[int, int]:
    """The output that holds a carry twice, with its start in the first half, and the level at which it is filled."""
    number = len(lowering.outputs)
    own, rows = start.shape[step.rows :], start.shape[: step.rows]
    lowering.outputs.append(Output((2, *own, *rows), start.dtype, temporary=True))
    context, level = lowering.over_axes(start.shape, [start])
    value, block = lowering.value(start, context), context.home(lowering.root)
    values = [index for index in (*context.indices[step.rows :], *context.indices[: step.rows]) if index is not None]
    at = value.level if value.block is block else 0
    block.put(at, Store(number, (ZERO, *[index.value for index in values]), value.of))
    return number, level


def _probe(arg: Node, step: Recurrence, place: int, rows: list[int], shape: Shape) -> Node:
    """An argument's elements at the first of its own indices, over the loops of rows and steps: as much as it needs."""
    ahead = step.leading(place) - step.rows
    entries: list[Entry] = [(len(shape) - 1, 0, 1)] if ahead else []
    for axis in range(step.rows):
        varies = axis in rows and arg.shape[ahead + axis] != 1
        entries.append((rows.index(axis) if varies else None, 0, 1))
    entries += [(None, 0, 1)] * (arg.ndim - len(entries))
    return view(arg, entries, shape)


def _leaves(lowering: _Lowering, args: tuple[Node, ...], step: Recurrence) -> list[Node]:
    """What stands for each argument in the step, of the shape of its rows and its own."""
    found = []
    for place, arg in enumerate(args):
        sequence = step.carries <= place < step.carries + step.elements
        kind = "element" if sequence else "carry" if place < step.carries else "shared"
        inner = () if kind == "carry" else (arg,)
        shape = arg.shape[1:] if sequence else arg.shape
        found.append(Node(kind, inner, (len(lowering.runs), place), shape, arg.dtype))
    return found


def _written(step: Recurrence, args: tuple[Node, ...], leaves: list[Node]) -> tuple[Node, ...]:
    """The news of a step for all rows, in terms of what stands for its arguments."""
    (example,) = {Node("recurrence", args, (step, 0, False), (), args[0].dtype)}
    given = dict(zip(locals_of(example), leaves, strict=True))
    return spread(step.news, {}, given, step.rows)


def _advance(lowering: _Lowering, run: Run, carry: Carry) -> None:
    """What a carry becomes in a step."""
    own = carry.node.shape[len(run.rows) :]
    context, _ = _over_own(lowering, run, carry.new, own)
    value, block = lowering.value(carry.new, context), context.home(lowering.root)
    at = value.level if value.block is block else 0
    if carry.register:
        block.put(at, Accumulate(carry.register, value.of, run.row, carry.node.dtype, "last", start=carry.start))
    else:
        block.put(at, Store(carry.memory, _places(run, context, 1), value.of))


def _over_own(lowering: _Lowering, run: Run, node: Node, own: Shape) -> tuple[Context, int]:
    """Loops over the own axes of a node in a turn, each at the level that it needs in them, and that of the first."""
    trial = imagined(run.turns, own)
    needs = lowering.needs(node, Context((*run.rows, *trial.indices), None, run.turns))
    block, before = run.turns, run.turns
    indices: list[Index | None] = []
    for dim, tried in zip(own, trial.indices, strict=True):
        if tried is None:
            indices.append(None)
            continue
        block = lowering.loop(block, str(dim), needs.get(before, 0))
        before = tried.block
        indices.append(Index(Name(block.index), block))
    return run.context(tuple(indices)), needs.get(run.turns, 0)


def half(turn: str, ahead: int) -> Expr:
    """Which half of its memory a carry lies in before a turn, or ``ahead`` of it."""
    return (Name(turn) + ahead) % 2


def _places(run: Run, context: Context, ahead: int) -> tuple[Expr, ...]:
    """Where a carry in memory lies: which half, its own place, and its row."""
    return (half(run.turns.index, ahead), *_rows_last(run, context))


def _rows_last(run: Run, context: Context) -> tuple[Expr, ...]:
    """The own indices of what a step has in memory, and then those of its row: neighbouring rows are neighbours."""
    each = (*context.indices[len(run.rows) :], *context.indices[: len(run.rows)])
    return tuple([index.value for index in each if index is not None])


def _store_each(lowering: _Lowering, run: Run, number: int, carry: Carry) -> None:
    """Store a carry before each step."""
    context, _ = _over_own(lowering, run, carry.node, carry.node.shape[len(run.rows) :])
    value, block = lowering.value(carry.node, context), context.home(lowering.root)
    indices = [index.value for index in context.indices if index is not None]
    at = value.level if value.block is block else 0
    block.put(at, Store(number, (run.step.value, *indices), value.of))


def _copied(lowering: _Lowering, run: Run, number: int, carry: Carry, node: Node) -> int:
    """Store a carry that lies in memory, when all steps are done."""
    context, level = lowering.over_axes(node.shape, [], least=run.level + 1)
    block, name, rows = context.home(lowering.root), lowering.name("v"), len(run.rows)
    each = [index.value for index in (*context.indices[rows:], *context.indices[:rows]) if index is not None]
    half = length(run.steps) % Constant(2)
    block.put(0, Load(name, Temp(carry.memory), (half, *each), node.dtype))
    block.put(0, Store(number, tuple([index.value for index in context.indices if index is not None]), Name(name)))
    return level


def held(lowering: _Lowering, node: Node) -> tuple[int, int]:
    """The memory in which a turn holds a value for the loops behind it, and the level at which that is filled."""
    if node not in lowering.held_in:
        run, number = lowering.turning[node], len(lowering.outputs)
        rows = len(run.rows)
        lowering.outputs.append(Output((*node.shape[rows:], *node.shape[:rows]), node.dtype, temporary=True))
        context, level = _over_own(lowering, run, node.args[0], node.shape[rows:])
        found, block = lowering.value(node.args[0], context), context.home(lowering.root)
        at = found.level if found.block is block else 0
        block.put(at, Store(number, _rows_last(run, context), found.of))
        lowering.held_in[node] = number, level
    return lowering.held_in[node]


def reload(lowering: _Lowering, node: Node, at: Context, within: Block) -> Value:
    """An element of what a turn holds."""
    number, level = held(lowering, node)
    block, name = at.home(lowering.root), lowering.name("v")
    level = max(level + 1 if block is within else 0, at.level(block))
    there = at.guard.value if at.guard else None
    indices = _rows_last(lowering.turning[node], at)
    block.put(level, Load(name, Temp(number), indices, node.dtype, there))
    return Value(Name(name), block, level)


def value(lowering: _Lowering, node: Node, at: Context) -> Value:
    """What stands for an argument of a recurrence, where its step is computed."""
    run, carry = lowering.known[node]
    if carry is None:
        return lowering.value(node.args[0], run.source(node, at))
    if carry.register:
        return Value(Name(carry.before), run.turns, 0)
    block, name = at.home(lowering.root), lowering.name("v")
    level = at.level(block)
    there = at.guard.value if at.guard else None
    block.put(level, Load(name, Temp(carry.memory), _places(run, at, 0), node.dtype, there))
    return Value(Name(name), block, level)
