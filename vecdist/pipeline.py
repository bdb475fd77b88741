"""The straight line from an expression to arrays, and the cache of what was compiled on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.arrangement import arranged
from vecdist.backends.base import Backend, Feed, Program
from vecdist.backends.staged import StagedProgram, Step
from vecdist.cache import of_structures
from vecdist.expr import Node, cast, topological
from vecdist.kernel import Kernel
from vecdist.leaves import Leaf, NoValueYet, on_host
from vecdist.memo import Memo, cached_property
from vecdist.passes.bind import Bound, bind
from vecdist.passes.checks import split_checks
from vecdist.passes.choices import choices
from vecdist.passes.expand import expand, to_elementary
from vecdist.passes.factor import factor
from vecdist.passes.grouping import Sorting, groupings, sorted_rows
from vecdist.passes.hoist import hoistable, kept, narrow
from vecdist.passes.powers import powers
from vecdist.passes.settle import settle
from vecdist.passes.simplify import simplify
from vecdist.passes.specialise import scalar, specialise, without_constants
from vecdist.passes.stages import Stage, Stages, staged
from vecdist.passes.tall import candidates, scattered, tall_sums
from vecdist.passes.verify import verify
from vecdist.primitives.indexing import INDEXING
from vecdist.primitives.reductions import reduced
from vecdist.schedule import schedule

Pass = Callable[[Sequence[Node]], tuple[Node, ...]]
Chosen = tuple[tuple[Node, ...], tuple[Node, ...]]
Derivation = Callable[[tuple[Node, ...]], tuple[Node, ...]]


@final
@dataclass(frozen=True)
class Plan:
    """A compiled structure: its graph as derived, its loop nests and its program.

    ``constants`` fill the last slots, from data that never change, where all of ``conditions`` hold of these data.
    ``primitives`` is the graph before primitives are taken apart, ``sortings`` are the groups by which rows are sorted.
    ``steps`` are the plans of several kernels, each with the products of matrices that follow it.
    """

    graph: tuple[Node, ...]
    kernel: Kernel
    program: Program
    constants: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()
    chosen: Chosen = ((), ())
    primitives: tuple[Node, ...] = ()
    sortings: tuple[Sorting, ...] = ()
    steps: tuple[tuple[Plan | None, Stage], ...] = ()


@final
@dataclass(frozen=True)
class Derived:
    """A structure as derived, and its roots and flags after every pass, ready to be scheduled."""

    graph: tuple[Node, ...]
    roots: tuple[Node, ...]
    flags: tuple[Node, ...]
    constants: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()
    primitives: tuple[Node, ...] = ()
    slots: int = 0

    @cached_property
    def choices(self) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """What depends on which lengths are large: sums over the rows of an array, values to keep."""
        graph = (*self.roots, *self.flags)
        return candidates(graph), hoistable(graph)

    @cached_property
    def stages(self) -> Stages | None:
        """The kernels and library calls that follow one another, where there is a product of matrices."""
        return staged(self.roots, self.flags, self.slots + len(self.constants))

    @cached_property
    def parts(self) -> tuple[Derived, ...]:
        """What each kernel computes."""
        stages = self.stages.stages if self.stages else ()
        return tuple(Derived(stage.roots, stage.roots, stage.flags) for stage in stages) or (self,)

    def chosen(self, lengths: Mapping[str, int], widest: int | None) -> Chosen:
        """The choice for these lengths."""
        sums, values = self.choices
        return tall_sums(sums, lengths, widest), narrow(values, lengths, widest)

    def kernel(self, chosen: Chosen) -> Kernel:
        """The loop nests of a choice."""
        tall, values = chosen
        graph = verify(kept(scattered((*self.roots, *self.flags), tall), values))
        return schedule(graph[: len(self.roots)], graph[len(self.roots) :])


LIBRARY = {"cpu": "numpy", "cuda": "cupy"}
ON_PRIMITIVES: tuple[Pass, ...] = (simplify, factor, powers, simplify)
ON_TARGET: tuple[Pass, ...] = (
    choices, to_elementary, simplify, choices, expand, simplify, choices, verify,
)  # fmt: skip

_settled: Memo[Settled] = of_structures()
_derived: Memo[Derived] = of_structures()
_kernels: Memo[list[Kernel]] = of_structures()
_plans: Memo[Plan] = of_structures()
_backends: dict[str, Backend] = {}


def compilations() -> int:
    """How many structures this process has compiled (or loaded from the cache on disk)."""
    return _plans.made


def evaluate(
    roots: Sequence[Node], derivation: Derivation, shapes: Sequence[Sequence[int]], errors: str = "raise"
) -> list[Any]:
    """The arrays of what ``derivation`` makes of ``roots``, each of its shape in ``shapes``, from one launch.

    Raises ``InvalidParameter`` where ``errors`` is ``"raise"`` and a parameter is invalid.
    """
    arrays, failed = launch(roots, derivation, shapes, errors)
    raise_if(failed, roots)
    return arrays


def launch(
    roots: Sequence[Node], derivation: Derivation, shapes: Sequence[Sequence[int]], errors: str = "raise"
) -> tuple[list[Any], Any]:
    """As ``evaluate``, but the flag of invalid parameters is returned as it is: on a GPU, perhaps not yet known."""
    bound = bind(roots)
    traced = next((leaf for leaf in bound.leaves if leaf.traced), None)
    if traced is not None:
        raise NoValueYet().told(roots, repr(traced), "its function")
    plan, bound, constants = fed(bound, derivation, library(bound.leaves), errors)
    run = plan.program.prepared(bound.lengths, shapes, [*map(Feed.of, bound.leaves), *constants])
    arrays, failed = run(())
    return list(arrays), failed


def raise_if(failed: Any, roots: Sequence[Node]) -> None:
    """Raise the error of an invalid parameter where the flag of a launch is set; on a GPU this waits for the launch."""
    if failed is not False and bool(failed):
        raise_invalid(roots)


@final
class Fed(NamedTuple):
    """A plan, and what fills its slots: ``bound`` with the order of its rows, and constants of data."""

    plan: Plan
    bound: Bound
    constants: Sequence[Feed] = ()


def fed(bound: Bound, derivation: Derivation, kind: str, errors: str, dropped: tuple[int, ...] = ()) -> Fed:
    """The plan for a structure, and what fills its slots.

    Terms of the value that depend on nothing but the slots in ``dropped`` are left out.
    """
    if bound.constant:
        first = settled(bound.roots, derivation, errors, bound.constant)
        rows, sortings = arranged(bound, groupings(first.roots, bound.constant), LIBRARY[kind])
        plan = planned(rows, derivation, kind, errors, bound.constant, dropped, sortings)
        found = _constants(plan, rows, kind)
        if found is not None:
            return Fed(plan, rows, [Feed(None, value) for value in found])
    return Fed(planned(bound, derivation, kind, errors, dropped=dropped), bound)


def _constants(plan: Plan, bound: Bound, kind: str) -> list[Any] | None:
    """The constants of a plan, computed once for its data; ``None`` where they do not stand for them.

    That is where a condition fails (an element outside the support, say) or a mean is not finite: then each element is
    computed, with all its edges.
    """
    first, *others = (bound.leaves[place] for place in bound.constant)
    store = first.derived  # which lives as long as the data do; parameters are no part of it
    if not (plan.constants or plan.conditions):
        return []
    key = (plan.constants, plan.conditions, *others, *bound.lengths.items())
    if key not in store:
        tested = [node for node in plan.conditions if all(bound.lengths.get(str(dim), dim) for dim in node.shape)]
        holding = [reduced("min", cast(node, np.int8), tuple(range(-node.ndim, 0))) for node in tested]
        roots = (*plan.constants, *(scalar(node) for node in holding))
        found = _computed(Bound(roots, bound.leaves, bound.lengths), kind) if roots else []
        usable = all(found[len(plan.constants) :]) and all(np.isfinite(each) for each in found if not np.ndim(each))
        store[key] = found[: len(plan.constants)] if usable else None
    return store[key]


def _computed(bound: Bound, kind: str) -> list[Any]:
    """The values of roots: arrays, and numbers of the host."""
    program = planned(bound, values, kind, "nan").program
    shapes = [[int(bound.lengths.get(str(dim), dim)) for dim in root.shape] for root in bound.roots]
    run = program.prepared(bound.lengths, shapes, [Feed.of(leaf) for leaf in bound.leaves])
    return [array if np.ndim(array) else on_host(array)[()] for array in run(())[0]]


def planned(
    bound: Bound,
    derivation: Derivation,
    kind: str,
    errors: str,
    data: tuple[int, ...] = (),
    dropped: tuple[int, ...] = (),
    sortings: tuple[Sorting, ...] = (),
) -> Plan:
    """The plan for a structure, compiled where it is new; the slots in ``data`` never change."""
    key = (bound.roots, derivation, kind, errors, data, dropped, sortings)
    target = backend(kind)
    known = Known(data, dropped, sortings, len(bound.leaves), target.picks)
    found = _derived(key, lambda: derived(bound.roots, derivation, errors, target.passes, known))
    chosen = tuple(part.chosen(bound.lengths, target.widest) for part in found.parts)
    nests = _kernels((key, chosen), lambda: [part.kernel(each) for part, each in zip(found.parts, chosen, strict=True)])
    widths = {width for sorting in sortings for width in sorting.widths}
    kernels = [kernel.with_fixed(bound.lengths, target.fixed, widths, target.fixed_from) for kernel in nests]
    whole = (key, chosen, tuple(kernel.fixed for kernel in kernels))
    return _plans(whole, lambda: _plan(found, kernels, chosen, target, sortings))


def _plan(
    found: Derived, kernels: Sequence[Kernel], chosen: Sequence[Chosen], target: Backend, sortings: tuple[Sorting, ...]
) -> Plan:
    """The plan of a structure, whose kernels are compiled here."""
    stages = found.stages
    programs = [target.compile(kernel) if kernel.outputs or kernel.flagged else None for kernel in kernels]
    last = max(place for place, program in enumerate(programs) if program is not None)
    program = programs[last]
    assert program is not None
    if stages:
        shapes = [tuple(root.shape for root in stage.roots) for stage in stages.stages]
        steps = [Step(*each) for each in zip(stages.stages, programs, shapes, strict=True)]
        program = StagedProgram(stages, steps, LIBRARY[target.name])
    each = zip(found.parts, kernels, programs, chosen, strict=True)
    plans = [Plan(part.roots, k, done, chosen=choice) if done else None for part, k, done, choice in each]
    together = tuple(zip(plans, stages.stages, strict=True)) if stages else ()
    ends = (found.constants, found.conditions, chosen[last], found.primitives, sortings, together)
    return Plan(found.graph, kernels[last], program, *ends)


@final
@dataclass(frozen=True)
class Known:
    """What is known of the inputs: which slots in ``data`` never change, and groups of their rows.

    Terms that depend on the slots in ``dropped`` alone are left out; new slots are numbered from ``slots`` on;
    ``picks`` says that rows which change may be picked in the order of groups that do not.
    """

    data: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    sortings: tuple[Sorting, ...] = ()
    slots: int = 0
    picks: bool = True


@final
class Settled(NamedTuple):
    """The graph as derived, it with its flags behind it after the first passes, and what these take for granted."""

    graph: tuple[Node, ...]
    roots: tuple[Node, ...]
    conditions: tuple[Node, ...]


def settled(roots: tuple[Node, ...], derivation: Derivation, errors: str, data: tuple[int, ...] = ()) -> Settled:
    """The graph before any array is looked at; the slots in ``data`` never change."""

    def made() -> Settled:
        plain, failures = split_checks(roots)
        graph = derivation(plain)
        flags = failures if errors == "raise" else ()
        return Settled(graph, *settle(passed((*graph, *flags), ON_PRIMITIVES), data, len(graph)))

    return _settled((roots, derivation, errors, data), made)


def derived(
    roots: tuple[Node, ...],
    derivation: Derivation,
    errors: str = "raise",
    last: Sequence[Pass] = (),
    known: Known = Known(),
) -> Derived:
    """The derived graph after every pass."""
    graph, (first, *others), conditions = settled(roots, derivation, errors, known.data)
    first = without_constants(first, known.dropped) if known.dropped else first
    special = specialise((first, *others), known.data, known.slots)
    special = sorted_rows(special, known.sortings, known.data, len(graph), known.picks)
    lowered = passed(special.roots, (*ON_TARGET, *last))
    raised = tuple(flag for flag in lowered[len(graph) :] if not flag.is_const(False))
    conditions = (*conditions, *special.conditions)
    primitives = special.roots[: len(graph)]
    return Derived(graph, lowered[: len(graph)], raised, special.constants, conditions, primitives, known.slots)


def lower(
    bound: Bound, derivation: Derivation, errors: str = "raise", target: Backend | type[Backend] = Backend
) -> tuple[tuple[Node, ...], Kernel]:
    """The derived graph of a structure and its loop nests."""
    found = derived(tuple(bound.roots), derivation, errors, target.passes)
    kernel = found.kernel(found.chosen(bound.lengths, target.widest))
    return found.graph, kernel.with_fixed(bound.lengths, target.fixed, least=target.fixed_from)


def passed(graph: Sequence[Node], passes: Sequence[Pass]) -> tuple[Node, ...]:
    """A graph after several passes."""
    for transform in passes:
        graph = transform(graph)
    return tuple(graph)


def values(roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """The derivation that derives nothing."""
    return roots


def library(leaves: Sequence[Leaf]) -> str:
    """The array library of an expression; an error that names both where they are mixed."""
    by_kind: dict[str, Leaf] = {}
    for leaf in leaves:
        by_kind.setdefault(leaf.kind, leaf)
    if "numpy" in by_kind and "cupy" in by_kind:
        raise TypeError(
            f"NumPy and CuPy arrays are mixed: {by_kind['numpy']!r} is a NumPy array and {by_kind['cupy']!r} a CuPy "
            "array; move one with cupy.asarray(x) or x.get()"
        )
    return "cuda" if "cupy" in by_kind else "cpu"


def backend(kind: str) -> Backend:
    """The backend of that name, loaded when it is first asked for."""
    if kind not in _backends:
        if kind == "cpu":
            from vecdist.backends.cpu import Cpu

            _backends[kind] = Cpu()
        else:
            from vecdist.backends.cuda import Cuda

            _backends[kind] = Cuda()
    return _backends[kind]


def raise_invalid(roots: Sequence[Node]) -> None:
    """Raise the error for the first invalid parameter, found by computing the checks one by one."""
    for node in topological(roots):
        if node.op != "checked":
            continue
        pairs = zip(node.attrs, node.args[1::2], node.args[2::2], strict=True)
        for (family, name, wanted), valid, parameter in pairs:
            if valid.is_const(True):
                continue
            shapes: Any = (valid.shape, parameter.shape)
            ok, given = evaluate((valid, parameter), values, shapes, "nan")
            ok, given = np.broadcast_arrays(on_host(ok), on_host(given))
            if not ok.all():
                index = tuple(int(i) for i in np.argwhere(~ok)[0])
                where = f"[{', '.join(map(str, index))}]" if index else ""
                error = InvalidIndex if family.startswith(INDEXING) else InvalidParameter
                raise error(f"{family}: {name}{where} = {given[index]!s} is invalid; wanted {wanted}")
    raise AssertionError("the kernel raised its flag, but every check holds")


class InvalidParameter(ValueError):
    """A parameter outside its domain."""


class InvalidIndex(InvalidParameter, IndexError):
    """An element of an index array that is out of range."""
