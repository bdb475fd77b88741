"""Strip mining: a long loop that lanes share is cut into strips, and each block takes one strip of all rows.

Chains that are more than a group has lanes for are such a loop: of a strip, each thread keeps the sums in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.privatisation import REGISTERS, Private, private_sums, privatisable, scatters
from vecdist.kernel.code import Code, let
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Total

WIDTHS = (64, 32)  # elements of a strip: two of a lane, or one


def strips(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The length that is cut into strips, with their width, where there is one."""
    nests = [loop for _, loop in kernel.shared_nests()]
    deep = {each.dim for rows in nests for inner in rows.body.every_loop() for each in _loops_of(inner)}
    for dim in dict.fromkeys(inner.dim for rows in nests for inner in rows.body.every_loop()):
        cut = [rows for rows in nests if any(inner.dim == dim for inner in rows.body.every_loop())]
        length = lengths.get(dim, 0)
        if length <= min(WIDTHS) or dim in deep or not all(_may_be_cut(kernel, rows, dim) for rows in cut):
            continue
        sums = [own for rows in cut if (own := [each for each in private_sums(kernel, {}, 1) if each.loop is rows])]
        if sums and (length > max(WIDTHS) or not _fit(kernel, sums, dim, length)):
            widths = [width for width in WIDTHS if width < length and _fit(kernel, sums, dim, width)]
            if widths:
                return ((dim, widths[0]),)
    return ()


def _may_be_cut(kernel: Kernel, rows: Loop, dim: str) -> bool:
    """Whether strips of inner loops are apart from each other, and nobody else keeps sums of what they add to.

    Every strip goes through all that there is of other loops, and keeps nothing of them but sums, which one strip has.
    """
    inner, fixed = rows.body.every_loop(), dict(kernel.fixed)
    beside = [loop for loop in inner if loop.dim != dim]
    deep = [each for loop in inner for each in _loops_of(loop)]
    known = {item: loop for item, loop in privatisable(kernel).items() if item.output not in kernel.far}
    if any(loop.sequential for loop in inner) or any(each.dim not in fixed for each in deep):
        return False
    if any(loop.dim not in fixed or loop.sums(kernel.root) or {*scatters(loop)} - {*known} for loop in beside):
        return False
    if any(isinstance(item, Total) for _, item in rows.body.items):
        return False
    others = {item.output for item, loop in known.items() if loop is not rows}
    indices, own = {Name(loop.index) for loop in inner}, [item for item in scatters(rows) if item in known]
    return all(item.indices[0] in indices and item.output not in others | {*kernel.near} for item in own)


def _loops_of(loop: Loop) -> list[Loop]:
    return [each for each in loop.body.walk() if isinstance(each, Loop)]


def _fit(kernel: Kernel, sums: Sequence[Sequence[Private]], dim: str, width: int) -> bool:
    """Whether a thread has registers for its sums of a strip in each nest; those of two beside as many factors."""
    lengths, several = {**dict(kernel.fixed), dim: width}, width > min(WIDTHS)

    def words(each: Private) -> int:
        return each.size(lengths, min(WIDTHS)) * (each.output.dtype.itemsize // 4 if several else 1)

    return all(sum(map(words, own)) <= REGISTERS for own in sums)


def known_strip(kernel: Kernel) -> Iterator[Code]:
    """Which strip a block takes, and which of those that take it the block is: they are as many for each."""
    for dim, width in kernel.strips:
        strips = Name("strips")
        yield let(strips.id, (Name(dim) + (width - 1)) // width)
        yield let(cuda.STRIP.id, cuda.BLOCK % strips)
        yield let(cuda.MEMBER.id, cuda.BLOCK // strips)
        yield let(cuda.MEMBERS.id, cuda.BLOCKS // strips)
