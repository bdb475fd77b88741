"""Blocking: an outermost loop in blocks, which threads share; long loops in strips, which fit buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from vecdist.codegen.collapsing import chain, loops_in
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.statements import element_count, lies_along
from vecdist.kernel.code import For, let
from vecdist.kernel.expressions import ONE, ZERO, Constant, Expr, Name, joined, length, names
from vecdist.kernel.ir import Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Made, Scatter

BLOCK = 4096  # elements in one block: its values stay in the first-level cache, its partial sums cost nothing
STRIP = 256  # turns of a strip, at most
SEVERAL = 4  # rows of sums that wait in buffers, so that a block is worth its beginning
FEW = 8  # elements that fill a vector
ROWS = 64  # whose elements fill cache lines and vectors
TILE = 8192  # elements of rows that are multiplied, in whole vectors: they stay in the first-level cache
LANES = 16  # rows of a product, which are multiplied together
MIN, MAX = Name("min"), Name("max")
FIRST = Name("block") * Name("size")  # the first turn of a block


def strip_mined(loop: For[Item], width: int, first: str, last: str, inside: Callable[[For[Item]], Items]) -> For[Item]:
    """A loop over strips, with what ``inside`` makes of the turns of each: from ``first`` to before ``last``.

    Where the end of a strip has no name its value is written.
    """
    stop = MIN(Name(first) + width, loop.stop)
    turns = replace(loop, start=Name(first), stop=Name(last) if last else stop)
    return For(first, loop.stop, (*([let(last, stop)] if last else []), *inside(turns)), loop.start, Constant(width))


def blocked(kernel: Kernel, loop: Loop, block: Items, whole: bool) -> Items:
    """A block again from ``first`` to before ``last``; of a loop that scatters, the blocks of such stripes.

    A stripe is a run of blocks that adds to sums of its own, whoever runs it; rows that add to their own need none.
    Where it is a ``whole`` one, its blocks are one, from the first row of the first of them on.
    """
    first, last = Name("first"), Name("last")
    shared = striped(kernel, loop)
    own = [let(f"row_o{each}", ZERO) for each in loop.scatters() if each not in (*shared, *kernel.own_sums)]
    if not shared:
        return *own, For("block", last, block, first)
    blocks, stripe, count = Name("blocks"), Name("stripe"), Name("stripes")
    places = [(each, stripe * element_count(kernel.outputs[each].shape)) for each in shared]
    rows = [*own, *[let(f"row_o{each}", place) for each, place in places]]
    start, stop = blocks * stripe // count, blocks * (stripe + 1) // count
    limits = let("blocks", block_count(loop, Name("size"))), let("stripes", MIN(blocks, stripe_limit(kernel)))
    if whole:
        rows += [let("begin", start * Name("size")), let("end", MIN(stop * Name("size"), loop.length))]
        return *limits, For("stripe", last, (*rows, *block), first)
    return *limits, For("stripe", last, (*rows, For("block", stop, block, start)), first)


def is_interchanged(inner: Loop, loop: Loop) -> bool:
    """Whether the rows become the innermost loop: no element of a row lies beside the next one along it.

    One array whose elements do not is enough where the loop is in order: no vector is lost, and cache lines are.
    """
    if inner.size or loop.dim == "1" or inner.dim == "1":
        return inner.size == "short"
    if is_piece_of(inner, loop):
        return False
    if inner.body.every_loop():
        return is_across(inner, loop)
    along = lies_along(inner, loop)
    return not (all(along) if inner.sequential and along else any(along))


def is_across(inner: Loop, rows: Loop) -> bool:
    """Whether loops that stand in each other alone read what lies together for neighbouring rows."""
    last = chain(inner)[-1]
    if last.body.every_loop() or any(each.sequential for each in chain(inner)) or is_piece_of(inner, rows):
        return False
    loads = [item for _, item in last.body.items if isinstance(item, Load) and rows.index in names(*item.indices)]
    beside = [rows.index in names(item.indices[-1]) and rows.index not in names(*item.indices[:-1]) for item in loads]
    return bool(beside) and all(beside)


def is_piece_of(inner: Loop, rows: Loop) -> bool:
    """Whether each row goes through a piece of a length, its own."""
    own = {rows.index, *(item.name for _, item in rows.body.items if isinstance(item, Assign))}
    return any(not own.isdisjoint(names(each.start)) for each in (inner, *loops_in(inner)))


def turns_of(loop: Loop, body: Items = (), masked: bool = False) -> For[Item]:
    """The turns of an inner loop, which may go through a piece of a length: neighbours."""
    if loop.step == 1:
        return For(loop.index, loop.length, body, masked=masked)
    size = (loop.length + (loop.step - 1)) // loop.step
    start, stop = MIN(loop.start * size, loop.length), MIN(loop.start * size + size, loop.length)
    return For(loop.index, stop, body, start, masked=masked)


def takes_columns(loop: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether the elements of a loop that is not short are the innermost ones of those inside it."""
    return fixed.get(loop.dim, FEW) >= FEW and any(is_across(each, loop) for each in loop.body.every_loop())


def is_product(inner: Loop, rows: Loop) -> bool:
    """Whether an inner loop multiplies elements that rows have side by side, and does nothing else.

    By a vector that all rows have, or each by a number of its own.
    """
    items, row, column = [item for _, item in inner.body.items], Name(rows.index), Name(inner.index)
    loads = {Name(item.name): item.indices for item in items if isinstance(item, Load)}
    matrix = {name for name, indices in loads.items() if indices[-2:] == (row, column)}
    vector = {name for name, at in loads.items() if at[-1:] == (column,) and row.id not in names(*at)}
    blocks = inner.body.chain()[rows.body.depth - 1 : -1]
    number = {Name(item.name) for block in blocks for _, item in block.items if isinstance(item, Made)}
    others = [item for item in items if not isinstance(item, Load | Accumulate | Scatter)]
    products = [item.args for item in others if isinstance(item, Assign) and item.op == "mul"]
    pairs = [len(matrix & {*args}) == len((vector | number) & {*args}) == 1 for args in products]
    return not inner.sequential and bool(products) and len(products) == len(others) and all(pairs)


def is_shared(inner: Loop, rows: Loop) -> bool:
    """Whether an inner loop, as one over chains, multiplies what its turns share of each row, and sums up none of it.

    It then comes outside of a strip of rows, whose elements are read from memory once.
    """
    loops = loops_in(inner)
    if not any(is_product(each, rows) for each in loops) or any(each.sequential for each in (inner, rows, *loops)):
        return False
    every = [item for each in (inner, *loops) for _, item in each.body.items]
    known = {inner.index, *(each.index for each in loops), *(block.index for block in rows.body.chain()[:-1])}
    added = [item for item in every if isinstance(item, Scatter)]
    fixed = all(known.issuperset(names(*item.indices)) for item in added)
    return bool(added) and fixed and not inner.sums(rows.body) and not any(isinstance(item, Cases) for item in every)


def fewest_turns(loop: Loop) -> int:
    """The turns of an outermost loop that a block has at least: neighbours, where these are the innermost loop."""
    changed = [each for each in loop.body.every_loop() if is_interchanged(each, loop)]
    if not changed:
        return SEVERAL if any(takes_columns(each, {}) for each in loop.body.every_loop()) else 1
    return ROWS if any(each.sequential for each in changed) else STRIP


def own_dims(loop: Loop) -> list[str]:
    """The lengths of the longest chain of loops inside an outermost one, without those whose turns share its rows."""
    found = [each.dims()[is_shared(each, loop) :] for each in loop.body.every_loop()]
    return max(found, key=len, default=[])


def multiplies(loop: Loop) -> bool:
    """Whether rows, or loops whose turns share them, multiply what lies along their columns."""
    shared = [found for each in loop.body.every_loop() if is_shared(each, loop) for found in each.body.every_loop()]
    return any(is_product(each, loop) for each in (*loop.body.every_loop(), *shared))


def block_of(loop: Loop, width: Any, most: Any = MAX, least: Any = MIN) -> Any:
    """The turns of an outermost loop that are one block, where each has so many elements in the loops inside."""
    rows = BLOCK // most(1, width)
    if not multiplies(loop):
        return most(fewest_turns(loop), rows)
    return most(most(LANES, least(ROWS, TILE // most(1, width) // LANES * LANES)), rows // ROWS * ROWS)


def block_size(loop: Loop) -> Expr:
    """The turns of an outermost loop that are one block."""
    inner = [length(int(dim) if dim.isdigit() else dim) for dim in own_dims(loop)]
    return block_of(loop, joined("*", inner)) if inner else Constant(BLOCK)


def block_count(loop: Loop, size: Expr) -> Expr:
    return (loop.length + size - 1) // size


def stripe_limit(kernel: Kernel) -> Expr:
    """The most stripes: each has sums of its own for every output that several rows add to."""
    summed = [element_count(kernel.outputs[each].shape) for each in kernel.shared_sums]
    return Name("stripe_limit")(joined("+", summed or [ZERO]))


def stripe_count(kernel: Kernel, output: int) -> Expr:
    """How many stripes add to an output in any nest: one at least, and one alone where rows add to their own."""
    if output not in kernel.shared_sums:
        return ONE
    loops = [loop for _, loop in kernel.nests() if output in loop.scatters()]
    most = reduce(MAX, [block_count(loop, block_size(loop)) for loop in loops], ONE)
    return MIN(most, stripe_limit(kernel))


def striped(kernel: Kernel, loop: Loop) -> list[int]:
    """The outputs that an outermost loop adds to and to whose elements several rows may add."""
    return [each for each in loop.scatters() if each in kernel.shared_sums]
