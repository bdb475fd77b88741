"""How partial results of a CUDA grid become whole: by trees in a warp and a block, in fixed order over blocks.

Reductions leave one partial result per block.  Scattered outputs are added up in two ways: where each thread meets the
same elements again and again, in slots of its own in shared memory; elsewhere by atomic additions to one array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS, WARP, WARPS, Grid
from vecdist.codegen.statements import ACCUMULATOR, Item, Items, element_count, start, type_name
from vecdist.kernel.code import Code, Do, For, If, Set, While, let
from vecdist.kernel.expressions import ONE, Choice, Constant, Element, Expr, Name, operation, word
from vecdist.kernel.statements import Accumulate

TOGETHER = 8  # results whose partial ones are read in one loop: as many loads in flight, in as many registers
ARRIVALS, PARTIALS, SHARED = map(Name, ("arrivals", "partials", "shared"))
PARTS = 64  # of an element that one thread adds up in the time that lanes take to meet a few times
ELEMENT, HOP, OTHER, WHOLE, TEAM = map(Name, ("element", "hop", "other", "whole", "team"))
WHOLE_WARP = Name("u4")(cuda.EVERY_LANE)


def combined(op: str, kind: str, a: Expr, b: Expr) -> Expr:
    """Two results of a reduction as one; NaN is larger, and smaller, than any number."""
    if op in {"sum", "prod"}:
        return a + b if op == "sum" else a * b
    better = a >= b if op == "max" else a <= b
    return Choice(operation("or", better, a.differs(a)) if kind == "f" else better, a, b)


def found(item: Accumulate) -> Name:
    """What another thread found; each reduction has a name for it, as it has a type."""
    return Name(f"found_{item.name}")


def taken(item: Accumulate) -> Set:
    """What another thread found, taken into this one's result."""
    return let(item.name, combined(item.op, item.dtype.kind, Name(item.name), found(item)))


def begun(items: Iterable[Accumulate]) -> Iterator[Set]:
    """What reductions begin with."""
    return (let(item.name, start(item)) for item in items)


def to_partial(item: Accumulate) -> Expr:
    """A result as memory holds it, whose elements are float64."""
    return Name(item.name) if item.dtype.kind == "f" else word("as_f8")(word("i8")(Name(item.name)))


def from_partial(item: Accumulate, found: Expr) -> Expr:
    return found if item.dtype.kind == "f" else Name(ACCUMULATOR[item.dtype.kind])(word("as_i8")(found))


def over_lanes(items: Sequence[Accumulate], lanes: Expr, mask: Expr = WHOLE_WARP) -> Items:
    """The results of lanes combined pairwise, so that each has the same ones."""
    return halving(lanes, *_of_others(items, mask), *map(taken, items))


def _of_others(items: Sequence[Accumulate], mask: Expr) -> list[Set]:
    """What lanes that are a hop away have found."""
    return [Set(found(item), from_partial(item, cuda.shuffled(mask, to_partial(item), HOP))) for item in items]


def halving(lanes: Expr, *body: Code) -> Items:
    """Statements for each distance between lanes, from the farthest on; a compiler unrolls those that it knows."""
    if isinstance(lanes, Constant):
        farthest = Constant(int(lanes.value) // 2)
        hops = (int(lanes.value) - 1).bit_length()
        return (For("turn", Constant(hops), (let("hop", farthest >> Name("turn")), *body)),) if hops else ()
    return in_turn(lanes, *body)


def in_turn(lanes: Expr | int, *body: Code) -> Items:
    """The same in a loop that no compiler unrolls, for what is done once in a launch."""
    first = Constant(lanes // 2) if isinstance(lanes, int) else lanes // 2
    return let("hop", first), While(HOP > 0, (*body, let("hop", HOP // 2)))


def to_shared(item: Accumulate, place: Element) -> If[Code]:
    """The result of a warp to memory of the block, by its first lane."""
    return If((cuda.THREAD % WARP).equals(0), (Set(place, to_partial(item)),))


def of_warps(item: Accumulate, shared: Expr, number: int) -> Items:
    """The results of the warps of a block, one after another."""
    first, other = shared[number * WARPS], shared[Constant(number * WARPS) + OTHER]
    body = Set(found(item), from_partial(item, other)), taken(item)
    return let(item.name, from_partial(item, first)), For("other", Constant(WARPS), body, ONE)


def _to_warps(sums: Sequence[Accumulate]) -> Iterator[Item]:
    """The results of each warp to memory of the block."""
    yield from in_turn(WARP, *_of_others(sums, WHOLE_WARP), *map(taken, sums))
    for number, item in enumerate(sums):
        yield to_shared(item, SHARED[Constant(number * WARPS) + cuda.THREAD // WARP])
    yield cuda.SYNC


def _of_each(sums: Sequence[Accumulate]) -> bool:
    """Whether threads can add up what warps found, one of them for each of several sums."""
    return 1 < len(sums) <= THREADS and all(item.op == "sum" and item.dtype.kind == "f" for item in sums)


def _by_one_thread(sums: Sequence[Accumulate], end: Set) -> If[Code]:
    """What warps found added up in their order, each sum by a thread, which ends with what it does with the whole."""
    own, count = cuda.THREAD * WARPS, Constant(len(sums))
    add = let("whole", WHOLE + SHARED[own + OTHER])
    return If(count > cuda.THREAD, (let("whole", SHARED[own]), For("other", Constant(WARPS), (add,), ONE), end))


def block_results(sums: Sequence[Accumulate], done: int) -> Iterator[Item]:
    """The results of a block to their places among the partial results."""
    if not sums:
        return
    yield from _to_warps(sums)
    if _of_each(sums):
        yield _by_one_thread(sums, Set(PARTIALS[(Constant(done) + cuda.THREAD) * cuda.BLOCKS + cuda.BLOCK], WHOLE))
        yield cuda.SYNC
        return
    for number, item in enumerate(sums):
        place = PARTIALS[Constant(done + number) * cuda.BLOCKS + cuda.BLOCK]
        whole = *of_warps(item, SHARED, number), Set(place, to_partial(item))
        yield If(cuda.THREAD.equals(number % WARPS * WARP + number // WARPS), whole)
    yield cuda.SYNC


def totals(sums: Sequence[Accumulate], done: int) -> Iterator[Item]:
    """The partial results of all blocks combined in a fixed order, by all threads of a block together."""
    for first in range(0, len(sums), TOGETHER):
        few = sums[first : first + TOGETHER]
        yield from begun(few)
        loads = [
            Set(found(item), from_partial(item, PARTIALS[Constant(number) * cuda.BLOCKS + OTHER]))
            for number, item in enumerate(few, done + first)
        ]
        yield For("other", cuda.BLOCKS, (*loads, *map(taken, few)), cuda.THREAD, Constant(THREADS))
    if sums:
        yield from _to_warps(sums)
        yield from _wholes(sums)
        yield cuda.SYNC


def _wholes(sums: Sequence[Accumulate]) -> Iterator[Item]:
    """What warps found combined, so that each thread has all results."""
    if not _of_each(sums):
        for number, item in enumerate(sums):
            yield from of_warps(item, SHARED, number)
        return
    yield _by_one_thread(sums, Set(SHARED[cuda.THREAD * WARPS], WHOLE))
    yield cuda.SYNC
    for number, item in enumerate(sums):
        yield let(item.name, SHARED[number * WARPS])


def whole_outputs(grid: Grid, level: int, first: Expr, step: Expr) -> Iterator[Item]:
    """Fill the outputs that no later loop adds to, from the first element of a thread on.

    A team of lanes adds up what blocks found for an element, in an order that depends on nothing but their number.
    """
    for output in grid.kernel.finished(level):
        described, share = grid.kernel.outputs[output], (first, step)
        body: list[Item] = [let("whole", cuda.F8(0))]
        result = Name(type_name(described.dtype))(WHOLE)
        ends: list[Item] = [Set(Name(f"o{output}")[ELEMENT], result)]
        if output in grid.atomic_outputs:
            place = cuda.SUMS[Name(f"at_o{output}") + ELEMENT]
            ends = [let("whole", WHOLE + place), Set(place, Constant(0.0)), *ends]
        if output in grid.private_outputs:
            share, parts, member = (first // TEAM, step // TEAM), grid.parts(output), cuda.THREAD % TEAM
            yield from _team(element_count(described.shape), parts, step)
            part = cuda.SUMS[Name(f"part_o{output}") + ELEMENT * parts + OTHER]
            body.append(For("other", parts, (let("whole", WHOLE + part),), member, TEAM))
            mask = cuda.lanes_mask(TEAM, member)
            body += in_turn(TEAM, let("whole", WHOLE + cuda.shuffled(mask, WHOLE, HOP)))
            ends = [If(member.equals(0), tuple(ends))]
        yield For("element", element_count(described.shape), (*body, *ends), *share)


def _team(count: Expr, parts: Expr, threads: Expr) -> Iterator[Item]:
    """As many lanes as there are threads for, of so many elements, where one has not many parts to add up."""
    crowded = (TEAM > 1) & (count * TEAM > threads) & (parts < TEAM * PARTS)
    yield let("team", Constant(WARP))
    yield While(crowded, (let("team", TEAM // 2),))


def barrier(counter: int) -> Iterator[Item]:
    """Wait until every block has come here; the launch is cooperative, so all of them run at once."""
    wait = While(cuda.atomic_add(ARRIVALS, counter, 0) < cuda.BLOCKS, ())
    yield cuda.SYNC
    yield If(cuda.THREAD.equals(0), (cuda.FENCE, Do(cuda.atomic_add(ARRIVALS, counter, 1)), wait, cuda.FENCE))
    yield cuda.SYNC


def places(grid: Grid) -> list[Set]:
    """Where the sums of each scattered output begin: one array for atomics, one row per element for blocks."""
    counts = [element_count(output.shape) for output in grid.kernel.outputs]
    atomic = [(f"at_o{output}", counts[output]) for output in grid.atomic_outputs]
    private = [(f"part_o{output}", grid.parts(output) * counts[output]) for output in grid.private_outputs]
    return cuda.one_after_another([*atomic, *private])[0]
