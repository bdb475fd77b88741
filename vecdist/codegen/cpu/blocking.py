"""Blocking: the outermost loop in blocks that threads share, long loops in strips of a width that vectors like."""

from __future__ import annotations

from dataclasses import replace

from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.statements import element_count
from vecdist.kernel.code import For, let
from vecdist.kernel.expressions import Constant, Expr, Name, joined, length, word
from vecdist.kernel.ir import Kernel, Loop

BLOCK = 4096  # elements in one block: its values stay in the first-level cache, its partial sums cost nothing
STRIP = 256  # turns of a loop in one strip, at most


def lowest(a: Expr, b: Expr) -> Expr:
    return word("min")(a, b)


def highest(a: Expr | int, b: Expr | int) -> Expr:
    return word("max")(a, b)


def strip_mined(loop: For[Item], width: int, first: str, last: str = "") -> For[Item]:
    """A loop as one over strips; inside it the same from ``first`` to ``last``, or to what that would be."""
    stop = lowest(Name(first) + width, loop.stop)
    strip = replace(loop, start=Name(first), stop=Name(last) if last else stop)
    return For(first, loop.stop, ((let(last, stop), strip) if last else (strip,)), loop.start, Constant(width))


def block_size(loop: Loop) -> Expr:
    """The turns of an outermost loop that are one block."""
    inner = [length(int(dim) if dim.isdigit() else dim) for dim in loop.dims()[1:]]
    return highest(1, Constant(BLOCK) // highest(1, joined("*", inner))) if inner else Constant(BLOCK)


def block_count(loop: Loop, size: Expr) -> Expr:
    return (loop.length + size - 1) // size


def stripes(kernel: Kernel) -> Expr:
    """The most stripes: each has sums of its own for every scattered output."""
    summed = [element_count(output.shape) for output in kernel.outputs if output.summed]
    return word("stripe_limit")(joined("+", summed))


def blocked(kernel: Kernel, loop: Loop, body: Items) -> Items:
    """What is done in each block from ``first`` to ``last``; of a loop that scatters, in each of such stripes.

    A stripe is a run of blocks that adds to sums of its own, whoever runs it.
    """
    stripe, count, last = Name("stripe"), Name("stripes"), Name("last")
    if not loop.scatters():
        return (For("block", last, body, Name("first")),)
    blocks = Name("blocks")
    rows = [let(f"row_o{each}", stripe * element_count(kernel.outputs[each].shape)) for each in loop.scatters()]
    run = For("block", blocks * (stripe + 1) // count, body, blocks * stripe // count)
    return (
        let("blocks", block_count(loop, Name("size"))),
        let("stripes", lowest(blocks, stripes(kernel))),
        For("stripe", last, (*rows, run), Name("first")),
    )
