"""How partial results of a CUDA grid become whole: by trees in a warp and a block, in fixed order over blocks.

Reductions leave one partial result per block.  Scattered outputs are added up in two ways: where each thread meets the
same elements again and again, in slots of its own in shared memory; elsewhere by atomic additions to one array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vecdist.codegen.cuda.grid import THREADS, WARP, WARPS, Grid
from vecdist.codegen.cuda.words import (
    BLOCK,
    BLOCKS,
    ELEMENT,
    EVERY_LANE,
    F8,
    FENCE,
    FOUND,
    HOP,
    OTHER,
    SUMS,
    SYNC,
    THREAD,
    U4,
    WHOLE,
    atomic_add,
    shuffled,
)
from vecdist.codegen.statements import ACCUMULATOR, element_count, start, type_name
from vecdist.kernel.code import Code, Do, For, If, Set, While, let
from vecdist.kernel.expressions import TRUE, ZERO, Choice, Constant, Element, Expr, Name, operation, word
from vecdist.kernel.statements import Accumulate

TOGETHER = 8  # results whose partial ones are read in one loop: as many loads in flight, in as many registers
HOPS = 16, 8, 4, 2, 1  # to the lanes of a warp, pairwise
ARRIVALS, PARTIALS = Name("arrivals"), Name("partials")


def combined(op: str, kind: str, a: Expr, b: Expr) -> Expr:
    """Two results of a reduction as one; NaN is larger, and smaller, than any number."""
    if op in {"sum", "prod"}:
        return a + b if op == "sum" else a * b
    better = a >= b if op == "max" else a <= b
    return Choice(operation("or", better, a.differs(a)) if kind == "f" else better, a, b)


def taken(item: Accumulate, found: Expr) -> Set:
    """A result of another thread taken into this one's."""
    return let(item.name, combined(item.op, item.dtype.kind, Name(item.name), found))


def begun(items: Iterable[Accumulate]) -> Iterator[Set]:
    """What reductions begin with."""
    return (let(item.name, start(item)) for item in items)


def to_partial(item: Accumulate) -> Expr:
    """A result as memory holds it, whose elements are float64."""
    return Name(item.name) if item.dtype.kind == "f" else word("as_f8")(word("i8")(Name(item.name)))


def from_partial(item: Accumulate, found: Expr) -> Expr:
    return found if item.dtype.kind == "f" else Name(ACCUMULATOR[item.dtype.kind])(word("as_i8")(found))


def over_lanes(item: Accumulate, mask: Expr, lanes: int) -> Iterator[Code]:
    """The results of lanes combined pairwise, so that each has the same one."""
    for hop in HOPS:
        if hop < lanes:
            yield let("found", shuffled(mask, Name(item.name), hop))
            yield taken(item, FOUND)


def over_some_lanes(item: Accumulate, mask: Expr, lanes: Expr) -> Iterator[Code]:
    """As ``over_lanes``, of as many as are known at launch."""
    yield let("hop", lanes // 2)
    yield While(HOP > 0, (let("found", shuffled(mask, Name(item.name), HOP)), taken(item, FOUND), let("hop", HOP // 2)))


def to_shared(item: Accumulate, place: Element) -> If[Code]:
    """The result of a warp to memory of the block, by its first lane."""
    return If((THREAD % WARP).equals(0), (Set(place, to_partial(item)),))


def of_warps(item: Accumulate, shared: Expr, number: int) -> Iterator[Code]:
    """The results of the warps of a block, one after another."""
    yield let(item.name, from_partial(item, shared[number * WARPS]))
    for warp in range(1, WARPS):
        yield let("found", from_partial(item, shared[number * WARPS + warp]))
        yield taken(item, FOUND)


def _to_warps(sums: Sequence[Accumulate]) -> Iterator[Code]:
    """The results of each warp to memory of the block."""
    for number, item in enumerate(sums):
        for hop in HOPS:
            yield let("found", from_partial(item, shuffled(U4(EVERY_LANE), to_partial(item), hop)))
            yield taken(item, FOUND)
        yield to_shared(item, Name("shared")[Constant(number * WARPS) + THREAD // WARP])
    yield SYNC


def block_results(sums: Sequence[Accumulate], done: int) -> Iterator[Code]:
    """The results of a block to their places among the partial results."""
    if not sums:
        return
    yield from _to_warps(sums)
    for number, item in enumerate(sums):
        place = PARTIALS[Constant(done + number) * BLOCKS + BLOCK]
        found = *of_warps(item, Name("shared"), number), Set(place, to_partial(item))
        yield If(THREAD.equals(number % WARPS * WARP + number // WARPS), found)
    yield SYNC


def totals(sums: Sequence[Accumulate], done: int) -> Iterator[Code]:
    """The partial results of all blocks combined in a fixed order, by all threads of a block together."""
    for first in range(0, len(sums), TOGETHER):
        few = sums[first : first + TOGETHER]
        yield from begun(few)
        loads = [
            let(f"found_{item.name}", from_partial(item, PARTIALS[Constant(number) * BLOCKS + OTHER]))
            for number, item in enumerate(few, done + first)
        ]
        both = [taken(item, Name(f"found_{item.name}")) for item in few]
        yield For("other", BLOCKS, (*loads, *both), THREAD, Constant(THREADS))
    if sums:
        yield from _to_warps(sums)
        for number, item in enumerate(sums):
            yield from of_warps(item, Name("shared"), number)
        yield SYNC


def whole_outputs(grid: Grid, level: int, first: Expr, step: Expr) -> Iterator[Code]:
    """Fill the outputs that no later loop adds to, from the first element of a thread on.

    A warp adds up what blocks found for an element, in an order that depends on nothing but their number.
    """
    for output in grid.kernel.finished(level):
        by_warp = output in grid.private_outputs
        body: list[Code] = [let("whole", F8(0))]
        if by_warp:
            found = SUMS[Name(f"part_o{output}") + ELEMENT * BLOCKS + OTHER]
            body.append(For("other", BLOCKS, (let("whole", WHOLE + found),), THREAD % WARP, Constant(WARP)))
            body += [let("whole", WHOLE + shuffled(U4(EVERY_LANE), WHOLE, hop)) for hop in HOPS]
        ends = list[Code]()
        if output in grid.atomic_outputs:
            place = SUMS[Name(f"at_o{output}") + ELEMENT]
            ends += [let("whole", WHOLE + place), Set(place, Constant(0.0))]
        described = grid.kernel.outputs[output]
        ends.append(Set(Name(f"o{output}")[ELEMENT], Name(type_name(described.dtype))(WHOLE)))
        body.append(If((THREAD % WARP).equals(0) if by_warp else TRUE, tuple(ends)))
        share = (first // WARP, step // WARP) if by_warp else (first, step)
        yield For("element", element_count(described.shape), tuple(body), *share)


def barrier(counter: int) -> Iterator[Code]:
    """Wait until every block has come here; the launch is cooperative, so all of them run at once."""
    wait = While(atomic_add(ARRIVALS, counter, 0) < BLOCKS, ())
    yield SYNC
    yield If(THREAD.equals(0), (FENCE, Do(atomic_add(ARRIVALS, counter, 1)), wait, FENCE))
    yield SYNC


def places(grid: Grid) -> Iterator[Set]:
    """Where the sums of each scattered output begin: one array for atomics, one row per element for blocks."""
    place: Expr = ZERO
    for output in grid.atomic_outputs:
        yield let(f"at_o{output}", place)
        place = Name(f"at_o{output}") + element_count(grid.kernel.outputs[output].shape)
    for output in grid.private_outputs:
        yield let(f"part_o{output}", place)
        place = Name(f"part_o{output}") + BLOCKS * element_count(grid.kernel.outputs[output].shape)
