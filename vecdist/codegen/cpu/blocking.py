"""Blocking: an outermost loop in blocks, which threads share; long loops in strips, which fit buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce

from vecdist.codegen.collapsing import chain
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.statements import element_count, lies_along
from vecdist.kernel.code import For, let
from vecdist.kernel.expressions import ONE, ZERO, Constant, Expr, Name, joined, length, names
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Load

BLOCK = 4096  # elements in one block: its values stay in the first-level cache, its partial sums cost nothing
STRIP = 256  # turns of a strip, at most
SEVERAL = 4  # rows of sums that wait in buffers, so that a block is worth its beginning
FEW = 8  # elements that fill a vector
ROWS = 64  # whose elements fill cache lines and vectors
MIN, MAX = Name("min"), Name("max")


def strip_mined(loop: For[Item], width: int, first: str, last: str, inside: Callable[[For[Item]], Items]) -> For[Item]:
    """A loop over strips, with what ``inside`` makes of the turns of each: from ``first`` to before ``last``.

    Where the end of a strip has no name its value is written.
    """
    stop = MIN(Name(first) + width, loop.stop)
    turns = replace(loop, start=Name(first), stop=Name(last) if last else stop)
    return For(first, loop.stop, (*([let(last, stop)] if last else []), *inside(turns)), loop.start, Constant(width))


def blocked(kernel: Kernel, loop: Loop, block: Items) -> Items:
    """A block again from ``first`` to before ``last``; of a loop that scatters, the blocks of such stripes.

    A stripe is a run of blocks that adds to sums of its own, whoever runs it; rows that add to their own need none.
    """
    first, last = Name("first"), Name("last")
    shared = striped(kernel, loop)
    own = [let(f"row_o{each}", ZERO) for each in loop.scatters() if each not in shared]
    if not shared:
        return *own, For("block", last, block, first)
    blocks, stripe, count = Name("blocks"), Name("stripe"), Name("stripes")
    places = [(each, stripe * element_count(kernel.outputs[each].shape)) for each in shared]
    rows = [*own, *[let(f"row_o{each}", place) for each, place in places]]
    run = For("block", blocks * (stripe + 1) // count, block, blocks * stripe // count)
    limits = let("blocks", block_count(loop, Name("size"))), let("stripes", MIN(blocks, stripe_limit(kernel)))
    return *limits, For("stripe", last, (*rows, run), first)


def is_interchanged(inner: Loop, loop: Loop) -> bool:
    """Whether the rows become the innermost loop: no element of a row lies beside the next one along it.

    One array whose elements do not is enough where the loop is in order: no vector is lost, and cache lines are.
    """
    if inner.size or loop.dim == "1" or inner.dim == "1":
        return inner.size == "short"
    if inner.body.every_loop():
        return is_across(inner, loop)
    along = lies_along(inner, loop)
    return not (all(along) if inner.sequential and along else any(along))


def is_across(inner: Loop, rows: Loop) -> bool:
    """Whether loops that stand in each other alone read what lies together for neighbouring rows."""
    last = chain(inner)[-1]
    if last.body.every_loop() or any(each.sequential for each in chain(inner)):
        return False
    loads = [item for _, item in last.body.items if isinstance(item, Load) and rows.index in names(*item.indices)]
    beside = [rows.index in names(item.indices[-1]) and rows.index not in names(*item.indices[:-1]) for item in loads]
    return bool(beside) and all(beside)


def takes_columns(loop: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether the elements of a loop that is not short are the innermost ones of those inside it."""
    return fixed.get(loop.dim, FEW) >= FEW and any(is_across(each, loop) for each in loop.body.every_loop())


def fewest_turns(loop: Loop) -> int:
    """The turns of an outermost loop that a block has at least: neighbours, where these are the innermost loop."""
    changed = [each for each in loop.body.every_loop() if is_interchanged(each, loop)]
    if not changed:
        return SEVERAL if any(takes_columns(each, {}) for each in loop.body.every_loop()) else 1
    return ROWS if any(each.sequential for each in changed) else STRIP


def block_size(loop: Loop) -> Expr:
    """The turns of an outermost loop that are one block."""
    inner = [length(int(dim) if dim.isdigit() else dim) for dim in loop.dims()[1:]]
    return MAX(fewest_turns(loop), Constant(BLOCK) // MAX(1, joined("*", inner))) if inner else Constant(BLOCK)


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
