"""The straight line from an expression to arrays, and the caches of what was found on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, NoValueYet, on_host
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.kernel.apart import Batch
from vecdist.kernel.ir import Kernel
from vecdist.kernel.lower import schedule
from vecdist.kernel.written_out import written_out
from vecdist.passes.bind import Binding, Bound, rebound
from vecdist.passes.contractions import contracted, is_on_gpu
from vecdist.passes.derivations import Derivation, values
from vecdist.passes.few_rows import reduced_rows, served
from vecdist.passes.order import NOTHING_CHOSEN, Chosen, Derived, Pass, Structure, derived, settled
from vecdist.passes.outline import Outline, outline
from vecdist.passes.products_as_loops import products_as_loops
from vecdist.passes.sort_by_key import Sorting, groupings
from vecdist.passes.stages import Stage
from vecdist.primitives.factorisations import FACTORING
from vecdist.primitives.indexing import INDEXING
from vecdist.runtime.base import Backend, Feed, Program, Runner
from vecdist.runtime.batched import Batched
from vecdist.runtime.cache import of_structures
from vecdist.runtime.collector import uncollected
from vecdist.runtime.constants import specialised_to
from vecdist.runtime.cross_products import collapsed
from vecdist.runtime.libraries import LIBRARY, beside, target_of
from vecdist.runtime.sorted_rows import arranged
from vecdist.runtime.staged import StagedProgram, Step
from vecdist.runtime.turns import making_something


@final
@dataclass(frozen=True)
class Plan:
    """A compiled structure: its graph as derived, its loop nests and its program.

    ``constants`` fill the last slots, from data that never change, where all of ``conditions`` hold of these data.
    ``primitives`` is the graph before primitives are taken apart, ``sortings`` are the groups by which rows are sorted.
    ``lowered`` is what the loop nests were scheduled from, after the ``passes`` of the target; ``steps`` are the plans
    of several kernels, each with the products of matrices that follow it.
    """

    graph: tuple[Node, ...]
    kernel: Kernel
    program: Program
    constants: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()
    chosen: Chosen = NOTHING_CHOSEN
    primitives: tuple[Node, ...] = ()
    sortings: tuple[Sorting, ...] = ()
    steps: tuple[tuple[Plan | None, Stage], ...] = ()
    lowered: Derived | None = None
    passes: tuple[Pass, ...] = ()


KEPT = 256  # values that one thread keeps for its loops, in place of computing them again

_launches: Memo[Runner] = of_structures()
_bindings: Memo[Binding] = of_structures()
_settled: Memo[Derived] = of_structures()
_derived: Memo[Derived] = of_structures()
_kernels: Memo[list[Kernel]] = of_structures()
_plans: Memo[Plan] = of_structures()
_backends: dict[str, Backend] = {}


def compilations() -> int:
    """How many structures this process has compiled (or loaded from the cache on disk)."""
    return _plans.made


def evaluate(
    roots: Sequence[Node], derivation: Derivation, shapes: Sequence[Sequence[int]], errors: str = "raise",
    found: Outline | None = None,
) -> list[Any]:
    """The arrays of what ``derivation`` makes of ``roots``, each of its shape in ``shapes``, from one launch.

    ``found`` is the outline of ``roots``, where that is known.  Raises ``InvalidParameter`` where ``errors`` is
    ``"raise"`` and a parameter is invalid.
    """
    arrays, failed = launch(roots, derivation, shapes, errors, found)
    raise_if(failed, roots)
    return arrays


def launch(
    roots: Sequence[Node], derivation: Derivation, shapes: Sequence[Sequence[int]], errors: str = "raise",
    found: Outline | None = None,
) -> tuple[list[Any], Any]:
    """As ``evaluate``, but the flag of invalid parameters is returned as it is: on a GPU, perhaps not yet known."""
    found = found or outline(roots)
    key = (found.key, derivation, errors, tuple(map(tuple, shapes)))
    run = _launches_of(found.data())(key, lambda: _launch(roots, derivation, shapes, errors, found))
    arrays, failed = run(found.arrays())
    return list(arrays), failed


def _launches_of(data: Leaf | None) -> Memo[Runner]:
    """Where launches are kept: together, or with the first of the data that never change, whose constants they hold."""
    if data is None:
        return _launches
    if data.launches is None:
        data.launches = of_structures()
    return data.launches


@uncollected
def _launch(
    roots: Sequence[Node], derivation: Derivation, shapes: Sequence[Sequence[int]], errors: str, found: Outline
) -> Runner:
    """The launch for all expressions of one outline: a function of the arrays in its leaves, which it does not hold."""
    traced = next((leaf for leaf in found.leaves if leaf.traced), None)
    if traced is not None:
        raise NoValueYet().told(roots, repr(traced), "its function")
    kind = target_of(found.leaves)
    plan, filled = fed(structure(roots, derivation, errors, found), derivation, kind, errors)
    places = {leaf: place for place, leaf in enumerate(found.leaves)}
    run = plan.program.prepared(filled.lengths, shapes, Feed.each(filled.leaves, places), pooled=False)
    return beside(kind, found.leaves, run)


def structure(
    roots: Sequence[Node], derivation: Derivation, errors: str = "nan", found: Outline | None = None
) -> Bound:
    """The structure of ``roots``, whose outline may be known, and its arrays; what has other lengths is looked up.

    Long designs are multiplied in kernels where all that is derived leaves their loops the first.
    """
    for in_kernels in (True, False):
        sooner = contracted(roots, in_kernels)
        known = found if found is not None and sooner == tuple(roots) else outline(sooner)
        bound = rebound(_bindings, sooner, known)
        plain = not is_on_gpu(known.nodes) or served(reduced_rows(bound.roots), bound.lengths)
        if plain or _serves(bound, derivation, errors):
            break
    return bound


def _serves(bound: Bound, derivation: Derivation, errors: str) -> bool:
    """Whether the loops over the rows of long designs come first on a GPU."""
    target = backend("cuda")
    asked = Structure(bound.roots, derivation, errors, slots=len(bound.leaves), picks=target.picks)
    parts = _derived_of("cuda", asked).parts
    chosen = [target.chosen(part, bound.lengths) for part in parts]
    return all(served(part.rows, bound.lengths, each.first) for part, each in zip(parts, chosen, strict=True))


def raise_if(failed: Any, roots: Sequence[Node]) -> None:
    """Raise the error of an invalid parameter where the flag of a launch is set; on a GPU this waits for the launch."""
    if failed is not False and bool(failed):
        raise_invalid(roots)


@uncollected
def fed(
    bound: Bound, derivation: Derivation, kind: str, errors: str, unnormalised: bool = False
) -> tuple[Plan, Bound]:
    """The plan for a structure, and what fills its slots: with the order of rows, and with constants of data.

    With ``unnormalised`` the terms of the value are left out that depend on data and numbers alone.
    """
    bound = collapsed(bound, kind)
    dropped = bound.unvarying if unnormalised else ()
    if any(isinstance(leaf.array, Chunked) for leaf in bound.leaves):
        from vecdist.runtime.chunks.program import chunked

        return chunked(bound, derivation, kind, errors, dropped)
    if bound.constant:
        asked = Structure(bound.roots, derivation, errors, bound.constant)
        rows, sortings = arranged(bound, groupings(first(asked).all, bound.constant), LIBRARY[kind])
        asked = structured(rows, derivation, kind, errors, bound.constant, dropped, sortings)
        found = specialised_to(rows, kind, asked, lambda asked: _derived_of(kind, asked))
        if found is not None:
            asked, _, leaves = found
            return planned(rows, kind, asked), rows.with_leaves(leaves)
    return planned(bound, kind, structured(bound, derivation, kind, errors, dropped=dropped)), bound


def compiled(bound: Bound, kind: str) -> Program:
    """A program of the roots of ``bound``."""
    return planned(bound, kind, structured(bound, values, kind, "nan")).program


def results(program: Program, bound: Bound) -> list[Any]:
    """What a program of the roots of ``bound`` gives: arrays, and numbers of the host."""
    shapes = [[int(bound.lengths.get(str(dim), dim)) for dim in root.shape] for root in bound.roots]
    run = program.prepared(bound.lengths, shapes, Feed.each(bound.leaves, {}), pooled=False)
    return [array if np.ndim(array) else on_host(array)[()] for array in run(())[0]]


def structured(
    bound: Bound, derivation: Derivation, kind: str, errors: str, data: tuple[int, ...] = (),
    dropped: tuple[int, ...] = (), sortings: tuple[Sorting, ...] = (), rows: frozenset[str] = frozenset(),
) -> Structure:  # fmt: skip
    """What is asked for of a structure; the slots in ``data`` never change."""
    slots, picks = len(bound.leaves), backend(kind).picks
    return Structure(bound.roots, derivation, errors, data, dropped, sortings, slots, picks, rows)


def _derived_of(kind: str, asked: Structure) -> Derived:
    return _derived((kind, asked), lambda: derived(asked, backend(kind).passes, first(asked)))


@making_something()
def planned(bound: Bound, kind: str, asked: Structure) -> Plan:
    """The plan for what is asked of a structure, compiled where it is new."""
    target = backend(kind)
    sized = _sized(bound.lengths, kind, asked)
    batch = target.batch(sized.nests, sized.kernels, bound.lengths)
    sized = _sized(batch.of(bound.lengths), kind, asked) if batch else sized
    whole = (*sized.key, tuple(kernel.known for kernel in sized.kernels), batch)
    return _plans(whole, lambda: _plan(sized, target, asked.sortings, batch))


class _Sized(NamedTuple):
    """What is compiled of a structure at some lengths, and what it is known by but for these."""

    key: tuple[Any, ...]
    found: Derived
    chosen: tuple[Chosen, ...]
    nests: list[Kernel]
    kernels: list[Kernel]


def _sized(lengths: Mapping[str, int], kind: str, asked: Structure) -> _Sized:
    """The loop nests of a structure, with what depends on these lengths."""
    target = backend(kind)
    found = target.called(_derived_of(kind, asked), lengths)
    chosen = tuple(target.chosen(part, lengths) for part in found.parts)
    key = ((kind, asked, found.all), chosen)
    nests = _kernels(key, lambda: [scheduled(*pair) for pair in zip(found.parts, chosen, strict=True)])
    widths = {width for sorting in asked.sortings for width in sorting.widths}
    return _Sized(key, found, chosen, nests, [target.sized(kernel, lengths, widths) for kernel in nests])


def scheduled(part: Derived, chosen: Chosen, made: dict[str, Node] | None = None) -> Kernel:
    """The loop nests of what a kernel computes, with what was chosen; ``made`` is told whose value each name is."""
    return schedule(*part.with_chosen(chosen), made, chosen.leading)


def first(asked: Structure) -> Derived:
    """A structure after its first passes, which need to know no more of it than this."""
    own = Structure(asked.roots, asked.derivation, asked.errors, asked.data, refuted=asked.refuted)
    return _settled(own, lambda: settled(own))


def _plan(sized: _Sized, target: Backend, sortings: tuple[Sorting, ...], batch: Batch | None) -> Plan:
    """The plan of a structure, whose kernels are compiled here."""
    found, chosen, kernels = sized.found, sized.chosen, _nested(sized.kernels, target)
    stages = found.stages
    programs = [target.compile(kernel) if kernel.outputs or kernel.flagged else None for kernel in kernels]
    if batch is not None:
        programs = [each and Batched(each, batch, LIBRARY[target.name]) for each in programs]
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
    return Plan(found.graph, kernels[last], program, *ends, found.parts[last], target.passes)


def lower(
    bound: Bound, derivation: Derivation, errors: str = "raise", target: Backend | type[Backend] = Backend
) -> tuple[tuple[Node, ...], Kernel]:
    """The derived graph of a structure and its loop nests."""
    found = derived(Structure(bound.roots, derivation, errors), target.passes)
    kernel = scheduled(found, target.chosen(found, bound.lengths))
    (nested,) = _nested([target.sized(kernel, bound.lengths)], target)
    return found.graph, nested


def _nested(kernels: Sequence[Kernel], target: Backend | type[Backend]) -> list[Kernel]:
    """The loop nests of kernels as a target wants them."""
    for change in target.nests:
        kernels = list(map(change, kernels))
    return list(kernels)


def sequential(
    bound: Bound, derivation: Derivation, kind: str, unnormalised: bool = False
) -> tuple[Kernel, tuple[Leaf, ...]]:
    """The loop nests of a structure for one thread that does everything at these lengths, and what fills its slots.

    Products of matrices are loops among others; what depends on constant data alone is known before.  ``TypeError``
    where more is read of arrays in chunks than that.
    """
    bound = collapsed(bound, kind)
    dropped, rows = bound.unvarying if unnormalised else (), _rows(bound)
    asked = Structure(bound.roots, derivation, "nan", bound.constant, dropped, (), len(bound.leaves), False, rows)
    known = specialised_to(bound, kind, asked, _in_loops) if bound.constant else None
    plain = asked._replace(data=(), slots=0, rows=frozenset()) if bound.constant else asked
    _, found, leaves = known or (plain, _in_loops(plain), [])
    if rows and reads_chunks(found.all, bound):
        raise TypeError(
            "what others compile reads no arrays in chunks; those of which no more is needed than sums, means and "
            "variances may be marked, vecdist.data(x)"
        )
    whole, values = found.chosen(bound.lengths, None), found.chosen(bound.lengths, KEPT).values
    kernel = scheduled(found, Chosen(whole.sums, values, joins=whole.joins))
    outputs = tuple([replace(output, kept=False) for output in kernel.outputs])
    fixed = replace(kernel, outputs=outputs, fixed=tuple(bound.lengths.items()))
    return written_out(fixed), (*bound.leaves, *leaves)


def _in_loops(asked: Structure) -> Derived:
    return derived(asked, (products_as_loops,), first(asked))


def _rows(bound: Bound) -> frozenset[str]:
    """The lengths of rows of arrays in chunks."""
    if not any(isinstance(leaf.array, Chunked) for leaf in bound.leaves):
        return frozenset()
    from vecdist.runtime.chunks.program import cuts

    return frozenset(cuts(bound).values())


def reads_chunks(roots: Sequence[Node], bound: Bound) -> bool:
    """Whether anything is read of arrays in chunks."""
    slots = {node.attrs[0] for node in topological(roots) if node.op == "slot"}
    return any(isinstance(bound.leaves[slot].array, Chunked) for slot in slots if slot < len(bound.leaves))


def backend(kind: str) -> Backend:
    """The backend of that name, loaded when it is first asked for."""
    if kind not in _backends:
        if kind == "cpu":
            from vecdist.runtime.cpu.backend import Cpu

            _backends[kind] = Cpu()
        else:
            from vecdist.runtime.cuda.backend import Cuda

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
            found = first_wrong(valid, parameter)
            if found is not None:
                index, given = found
                where = f"[{', '.join(map(str, index))}]" if index else ""
                error = next((each for start, each in ERRORS.items() if family.startswith(start)), InvalidParameter)
                raise error(f"{family}: {name}{where} = {given!s} is invalid; wanted {wanted}")
    raise AssertionError("the kernel raised its flag, but every check holds")


def first_wrong(valid: Node, parameter: Node) -> tuple[tuple[int, ...], Any] | None:
    """The place where a check fails first, and what stands there; ``None`` where it holds everywhere."""
    if any(isinstance(leaf.array, Chunked) for leaf in outline((valid, parameter)).leaves):
        from vecdist.runtime.chunks.failures import first_wrong_of_chunks

        return first_wrong_of_chunks(valid, parameter)
    shapes: Any = (valid.shape, parameter.shape)
    ok, given = evaluate((valid, parameter), values, shapes, "nan")
    ok, given = np.broadcast_arrays(on_host(ok), on_host(given))
    if ok.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~ok)[0])
    return index, given[index]


class InvalidParameter(ValueError):
    """A parameter outside its domain."""


class InvalidIndex(InvalidParameter, IndexError):
    """An element of an index array that is out of range."""


class InvalidMatrix(InvalidParameter, np.linalg.LinAlgError):
    """A matrix that has no factor, or no inverse."""


ERRORS = {INDEXING: InvalidIndex, FACTORING: InvalidMatrix}  # by what a check begins with
