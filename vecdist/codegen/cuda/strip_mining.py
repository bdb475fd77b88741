"""Strip mining: a long loop that lanes share is cut into strips, and each block takes one strip of all rows.

Chains that are more than a group has lanes for are such a loop: of a strip, each thread keeps the sums in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.privatisation import REGISTERS, private_sums, privatisable, scatters
from vecdist.kernel.code import Code, let
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Total

WIDTHS = (64, 32)  # elements of a strip: two of a lane, or one


def strips(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The length that is cut into strips, with their width, where there is one."""
    for _, loop in kernel.shared_nests():
        dims = {inner.dim for inner in loop.body.every_loop()}
        dims -= {*dict(kernel.fixed)} if len(dims) > 1 else set()  # of short ones every strip goes through all
        if len(dims) != 1 or not _may_be_cut(kernel, loop):
            continue
        dim = dims.pop()
        length = lengths.get(dim, 0)
        if length > max(WIDTHS) or (length > min(WIDTHS) and not _fits(kernel, loop, dim, length)):
            widths = [width for width in WIDTHS if width < length and _fits(kernel, loop, dim, width)]
            if widths:
                return ((dim, widths[0]),)
    return ()


def _may_be_cut(kernel: Kernel, rows: Loop) -> bool:
    """Whether strips of inner loops are apart from each other, and nobody else keeps sums of what they add to."""
    inner = rows.body.every_loop()
    deep = [each for loop in inner for each in loop.body.walk() if isinstance(each, Loop)]
    if any(loop.sequential for loop in inner) or any(each.dim not in dict(kernel.fixed) for each in deep):
        return False
    if any(isinstance(item, Total) for _, item in rows.body.items):
        return False
    known = {item: loop for item, loop in privatisable(kernel).items() if item.output not in kernel.far}
    own = [item for item in scatters(rows) if item in known]
    others = {item.output for item, loop in known.items() if loop is not rows}
    indices = {Name(loop.index) for loop in inner}
    apart = all(item.indices[0] in indices and item.output not in others | {*kernel.near} for item in own)
    return bool(own) and apart


def _fits(kernel: Kernel, rows: Loop, dim: str, width: int) -> bool:
    """Whether a thread has registers for its sums of a strip; those of two elements stand beside as many factors."""
    own = [each for each in private_sums(kernel, {}, 1) if each.loop is rows]
    lengths = {**dict(kernel.fixed), dim: width}
    several = width > min(WIDTHS)
    words = [each.size(lengths, min(WIDTHS)) * (each.output.dtype.itemsize // 4 if several else 1) for each in own]
    return bool(own) and sum(words) <= REGISTERS


def known_strip(kernel: Kernel) -> Iterator[Code]:
    """Which strip a block takes, and which of those that take it the block is: they are as many for each."""
    for dim, width in kernel.strips:
        strips = Name("strips")
        yield let(strips.id, (Name(dim) + (width - 1)) // width)
        yield let(cuda.STRIP.id, cuda.BLOCK % strips)
        yield let(cuda.MEMBER.id, cuda.BLOCK // strips)
        yield let(cuda.MEMBERS.id, cuda.BLOCKS // strips)
