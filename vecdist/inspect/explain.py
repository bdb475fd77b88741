"""What an expression becomes: its graph, its kernel, and what the kernel reads, writes and computes where."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

from vecdist.graph.leaves import Leaf
from vecdist.graph.memo import cached_property
from vecdist.graph.node import Node, rewrite, topological
from vecdist.inspect import chunks, stopwatch
from vecdist.inspect.chunks import Part, Round
from vecdist.inspect.costs import notes, placement, traffic
from vecdist.inspect.diagram import leaf_names, shape_text
from vecdist.inspect.listing import listing
from vecdist.inspect.notebook import details, drawing, quantity, summary, table
from vecdist.inspect.provenance import Steps, as_it_runs, provenance
from vecdist.kernel.ir import Kernel, Slot
from vecdist.kernel.lower import schedule
from vecdist.lazy.array import Expression, LazyArray, Wrt
from vecdist.lazy.compiled import Compiled
from vecdist.lazy.derivatives import leaves_of
from vecdist.model.logdensity import LogDensity
from vecdist.passes.bind import Bound
from vecdist.passes.column_reductions import scattered
from vecdist.passes.derivations import Derivation, gradient_of, partials_of, values
from vecdist.passes.hoist import kept
from vecdist.passes.order import ON_TARGET, passed
from vecdist.passes.recurrences import in_steps
from vecdist.passes.stages import MATMUL, Stage
from vecdist.primitives.structure import STRUCTURE, rebuilt
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, Program, element_count, length_of
from vecdist.runtime.chunks.program import ChunkedProgram
from vecdist.runtime.libraries import beside, target_of


class _Asked(NamedTuple):
    """What is asked for: the derivation of which roots, the names of its results, and how a launch is made of it."""

    roots: tuple[Node, ...]
    derivation: Derivation
    results: Sequence[str]
    errors: str = "raise"
    unnormalised: bool = False


def explain(
    expr: Expression | Compiled | LogDensity, wrt: Wrt | None = None, arrays: Sequence[Any] = ()
) -> Explanation:
    """What computing ``expr`` does, or with ``wrt`` computing its derivatives: compiled where it is new, but not run.

    With ``wrt`` it is the kernel of ``value_and_grad``, or of ``value_and_partials`` where ``expr`` is no scalar.
    Of a compiled function, or of a log density, it is the kernel of a call with ``arrays``, all chains or vectors of a
    batch together; ``wrt`` names arguments as there, the one of a log density is ``"x"``.  Of arrays in chunks it says
    how often, and in which chunks, they are read, and predicts the seconds.
    Raises ``TypeError`` where ``expr`` is none of these, and what those functions raise for ``wrt`` and ``arrays``.

    >>> import numpy as np, vecdist
    >>> x = vecdist.lazy(np.ones(1000, np.float32), "x")
    >>> explanation = vecdist.explain((x * 2).sum(), wrt=(x,))
    >>> print(explanation.graph)
    x0 = array x        float32[1000]
    %0 = mul(x0, 2)     float32[1000]
    %1 = sum(%0)        float32[1]
    %2 = reshape(%1)    float32          value
    >>> (kernel,) = explanation.kernels
    >>> kernel.launches, kernel.bytes_read, kernel.bytes_written
    (1, 4000, 4004)
    """
    return _explained(_asked(expr, wrt, arrays))


def _explained(asked: _Asked) -> Explanation:
    root, bound = asked.roots[0], pipeline.structure(asked.roots, asked.derivation, asked.errors)
    kind = target_of(bound.leaves)
    plan, filled = pipeline.fed(bound, asked.derivation, kind, asked.errors, asked.unnormalised)
    bound, names, results = filled.without(len(plan.constants)), leaf_names((root,)), asked.results
    slots = {node: f"x{node.attrs[0]}" for node in topological(plan.graph) if node.op == "slot"}
    device, in_chunks = LazyArray(root).device, isinstance(plan.program, ChunkedProgram)
    found = _of_chunks(plan, filled, results, device) if in_chunks else {}
    kernels = itertools.chain(*found.values()) if found else _reports(plan, asked.roots, bound, results, device)
    return Explanation(
        graph=listing((root,), names, results),
        derived=listing(plan.graph, slots, results),
        kernels=tuple(kernels),
        summary=summary(root),
        drawing=drawing(root),
        prepare=functools.partial(chunks.runner if in_chunks else _runner, plan, filled),
        rounds=chunks.rounds([(part, len(reports)) for part, reports in found.items()]),
        predict=functools.partial(chunks.predicted, plan, filled) if in_chunks else None,
    )


def _asked(expr: Any, wrt: Any, arrays: Sequence[Any]) -> _Asked:
    """What is asked of an expression, or of a function and its arguments."""
    if isinstance(expr, LazyArray):
        leaves = [] if wrt is None else leaves_of(expr, wrt)
        names = leaf_names((expr.node,))
        derivation = values if wrt is None else partials_of if expr.shape else gradient_of
        derivative = "partial" if expr.shape else "gradient"
        results = ["value", *(f"{derivative} in {leaf.attrs[0].name or names[leaf]}" for leaf in leaves)]
        return _Asked((expr.node, *leaves), derivation, results)
    if isinstance(expr, Compiled | LogDensity):
        return _Asked(*expr.explained(arrays, wrt))
    raise TypeError(f"explain wants a lazy array, a compiled function or a log density, not {type(expr).__name__}")


def _runner(plan: pipeline.Plan, bound: Bound) -> Callable[[], Any]:
    """A function that computes the results, each time that it is called."""
    shapes = [[length_of(dim, bound.lengths) for dim in root.shape] for root in plan.graph]
    lists = [leaf for leaf in bound.leaves if leaf.kind == "list"]  # given to each launch, as those of an expression
    feeds = Feed.each(bound.leaves, {leaf: place for place, leaf in enumerate(lists)})
    prepared = beside(target_of(bound.leaves), lists, plan.program.prepared(bound.lengths, shapes, feeds, pooled=False))
    return lambda: prepared([leaf.array for leaf in lists])


@final
@dataclass(frozen=True)
class KernelReport:
    """One kernel: its text in three stages, its memory traffic, and where its work is done.

    ``outline`` is the loop nest in primitives; ``loop_nest`` is the same when primitives are expanded; ``schedule`` is
    how it runs on its target, each run of statements below what it is a step of.  ``placement``
    counts the primitives at each depth (``"once"``, ``"per n0"``, ``"per n0, n1"``), ``statements`` the statements
    that these expand to.  ``bytes_read`` and ``bytes_written`` count each element that is touched once, however often
    it is: inputs in memory (numbers are arguments), outputs, and temporary arrays in both, but not what each block of a
    GPU keeps for itself, nor what was computed once from ``data``.  ``notes`` says in sentences what was decided: what
    is kept, gathered or added up by index, which loops wait for others, how rows are shared.
    """

    source: str
    outline: str
    loop_nest: str
    schedule: str
    launches: int
    bytes_read: int
    bytes_written: int
    placement: Mapping[str, Mapping[str, int]]
    statements: Mapping[str, int]
    notes: tuple[str, ...]
    device: str
    program: Program = field(repr=False)

    @cached_property
    def resources(self) -> dict[str, Any]:
        """What the compiler says of the kernel; on the CPU it compiles once more to say it."""
        return self.program.resources()

    @property
    def registers(self) -> int | None:
        """The registers of a thread on a GPU."""
        return None if self.device == "cpu" else self.resources.get("registers")

    def facts(self) -> list[tuple[str, str]]:
        """What there is to say of the kernel in a line each."""
        registers = [] if self.registers is None else [("registers per thread", str(self.registers))]
        return [
            ("kernel", f"{self.launches} launch{'' if self.launches == 1 else 'es'} on {self.device}"),
            ("memory", f"{quantity(self.bytes_read)} read, {quantity(self.bytes_written)} written"),
            *registers,
            *((place, self._work(place)) for place in self.placement),
            *(("note", note) for note in self.notes),
        ]

    def _work(self, place: str) -> str:
        counts = (f"{op} × {count}" if count > 1 else op for op, count in self.placement[place].items())
        return f"{', '.join(counts)} ({self.statements.get(place, 0)} statements)"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts())
        return "\n".join([*(f"{name:{width}}  {value}" for name, value in self.facts()), "", self.outline])

    __repr__ = __str__


@final
@dataclass(frozen=True)
class Explanation:
    """What an expression becomes, stage by stage, as text; in a notebook with its graph drawn.

    ``rounds`` are those over arrays in chunks, each with its rows, chunks, bytes and kernels; others have none.
    """

    graph: str
    derived: str
    kernels: tuple[KernelReport, ...]
    summary: str
    drawing: str
    prepare: Callable[[], Callable[[], Any]] = field(repr=False, compare=False)
    rounds: tuple[Round, ...] = ()
    predict: Callable[[], float] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def predicted_seconds(self) -> float | None:
        """Of arrays in chunks the time that all rounds will take, found by running them on the first few chunks.

        What the system keeps of files that were read is read sooner: after a first run this is the time of a second.
        """
        return None if self.predict is None else self.predict()

    @cached_property
    def seconds(self) -> float:
        """The time that computing it takes, measured when this is asked for: the median of several runs.

        Of arrays in chunks it is that of a whole run, or of a few; they are all read for it.
        """
        if self.rounds:
            return stopwatch.of_rounds(self.prepare())
        return stopwatch.seconds(self.prepare(), self.kernels[-1].device)

    @property
    def bytes_per_second(self) -> float:
        """The memory that all kernels read and write, as predicted, by the time that they take, as measured."""
        return sum(kernel.bytes_read + kernel.bytes_written for kernel in self.kernels) / self.seconds

    def __str__(self) -> str:
        parts = [self.summary, "", self.graph]
        if self.rounds:
            parts += ["", *(f"{name}    {value}" for name, value in self._rounds())]
        for kernel in self.kernels:
            parts += ["", str(kernel)]
        more = "more in .derived, and for each of .kernels in .loop_nest, .schedule, .source, .resources"
        return "\n".join([*parts, "", more])

    __repr__ = __str__

    def _rounds(self) -> list[tuple[str, str]]:
        return [(f"round {number}", str(each)) for number, each in enumerate(self.rounds, 1)]

    def _repr_html_(self) -> str:
        parts = [self.drawing, *([table(self._rounds())] if self.rounds else [])]
        for kernel in self.kernels:
            parts += [table(kernel.facts()), details("loop nest, in primitives", kernel.outline, ' open=""')]
            parts += [details("loop nest, as it runs", kernel.schedule), details("source", kernel.source)]
        return "\n".join([*parts, details("graph", self.graph), details("graph, derived", self.derived)])


def _of_chunks(
    plan: pipeline.Plan, bound: Bound, results: Sequence[str], device: str
) -> dict[Part, list[KernelReport]]:
    """The reports of each step of a program over chunks; what is counted is counted of all chunks."""
    found = {}
    for part in chunks.parts(plan, bound, results):
        sizes = [_reports(part.plan, (), part.bound(rows), part.results, device) for rows in part.sizes]
        found[part] = [_added(reports, part) for reports in zip(*sizes, strict=True)]
    return found


def _added(reports: Sequence[KernelReport], part: Part) -> KernelReport:
    """The report of a kernel that runs on chunks of several sizes: that of the largest, with the launches of all."""
    times, (first, *_) = tuple(part.sizes.values()), reports
    read, written = (
        sum(count * getattr(report, name) for count, report in zip(times, reports, strict=True))
        for name in ("bytes_read", "bytes_written")
    )
    return replace(
        first, launches=sum(times), bytes_read=read, bytes_written=written, notes=(part.told, *first.notes)
    )


def _reports(
    plan: pipeline.Plan, roots: Sequence[Node], bound: Bound, results: Sequence[str], device: str
) -> Iterator[KernelReport]:
    """A report for each kernel, in order; where there are several, products of matrices stand between them.

    Without ``roots`` nothing is told of where statements come from.
    """
    if not plan.steps:
        steps = provenance(plan, roots, bound) if roots else {}
        yield _report(plan, bound, results, device, _outline(plan), steps)
    named = dict(zip(plan.graph, results, strict=False))
    before: tuple[str, ...] = ()
    for step, stage in plan.steps:
        if step is None:
            before += _calls("before it", stage, bound, device)
            continue
        filled = [named.get(root, "for what follows") for root in stage.roots]
        report = _report(step, bound, filled, device, step.kernel)
        yield replace(report, notes=(*before, *report.notes, *_calls("after it", stage, bound, device)))
        before = ()


def _calls(when: str, stage: Stage, bound: Bound, device: str) -> tuple[str, ...]:
    """What is left to a library, or to a function of arrays, before or after a kernel, and why."""
    products = [each for each in stage.calls if each.call is MATMUL]
    found = []
    if products:
        many = len(products)
        what = "a product of matrices is a call" if many == 1 else f"{many} products of matrices are calls"
        library = "BLAS" if device == "cpu" else "cuBLAS"
        found.append(f"{when} {what} of {library}: each element is used many times over")
    for each in stage.calls:
        if each.call is not MATMUL:
            sizes = (element_count(shape, bound.lengths) * dtype.itemsize for shape, dtype in each.kinds)
            found.append(f"{when} {each.call} is called, and gives {sum(sizes):,} bytes: no kernel knows what it does")
    return tuple(found)


def _report(
    plan: pipeline.Plan, bound: Bound, results: Sequence[str], device: str, outline: Kernel, steps: Steps | None = None
) -> KernelReport:
    read, written = traffic(plan.kernel, bound, device)
    names = _names(plan.kernel, bound, results)
    return KernelReport(
        source=plan.program.source.text,
        outline=f"{names}\n\n{outline}",
        loop_nest=f"{names}\n\n{plan.kernel}",
        schedule=f"{names}\n\n{as_it_runs(plan.kernel, device, steps or {})}",
        launches=plan.program.launches(bound.lengths),
        bytes_read=read,
        bytes_written=written,
        placement=placement(outline),
        statements={place: sum(ops.values()) for place, ops in placement(plan.kernel).items()},
        notes=notes(plan, bound, results, device),
        device=device,
        program=plan.program,
    )


def _outline(plan: pipeline.Plan) -> Kernel:
    """The loop nests in primitives, where the same sums are scattered and the same values kept as in the kernel.

    A value is found again by what it becomes on the target, a sum by its shape and axes: what it sums may have become
    a choice of cases.
    """
    graph = _without_composites(plan.primitives)
    nodes = tuple(topological(graph))
    behind = dict(zip(passed(nodes, ON_TARGET), nodes, strict=True))
    found: dict[tuple[Any, ...], list[Node]] = {}
    for node in nodes:
        if node.args:
            found.setdefault((node.op, node.args[0].shape, node.attrs), []).append(node)

    def alike(node: Node) -> list[Node]:
        return found.get((node.op, node.args[0].shape, node.attrs), [])

    tall = [other for node in plan.chosen.sums for other in alike(node)]
    parts = [each._replace(node=other) for each in plan.chosen.parts for other in alike(each.node)]
    held = [replace(each, node=behind[each.node]) for each in plan.chosen.values if each.node in behind]
    return schedule(kept(scattered(graph, tall, plan.chosen.first, parts), held), leading=plan.chosen.leading)


def _without_composites(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with reductions that are made of others, as logsumexp is, taken apart, in steps too."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        expand = STRUCTURE[node.op].expand if node.op in STRUCTURE else None
        return expand(*args, *node.attrs) if expand else rebuilt(node, args)

    def apart(nodes: Sequence[Node]) -> tuple[Node, ...]:
        return rewrite(nodes, rule)

    return in_steps(apart)(apart(roots))


def _names(kernel: Kernel, bound: Bound, results: Sequence[str]) -> str:
    """What the names in a kernel stand for."""
    outputs = iter(results)
    lines = [f"x{slot.index}: {_slot_text(slot, bound.leaves)}" for slot in kernel.slots]
    for number, output in enumerate(kernel.outputs):
        role = next(outputs) if not output.temporary else "kept" if output.kept else "temporary"
        lines.append(f"o{number}: {shape_text(output)}, {role}{', added up' if output.summed else ''}")
    lines += [f"{name} = {bound.lengths[name]}" for name in kernel.lengths]
    return "\n".join(lines)


def _slot_text(slot: Slot, leaves: Sequence[Leaf]) -> str:
    if slot.index >= len(leaves):
        return f"{shape_text(slot)}, computed before"
    leaf = leaves[slot.index]
    if leaf.kind == "number":
        return f"the number {leaf.array.item():.6g}"
    return shape_text(leaf.array) + (f", {leaf.name}" if leaf.name else "")
