"""Sums of each row's own: where one nest alone adds to an output, each row to its elements, blocks finish their sums.

They wait in a buffer of the block, which stays in a cache, and are rounded when it ends; wide ones are added up where
the output lies.  All other sums are in arrays of the whole kernel, which later nests and other stripes add to.
"""

from __future__ import annotations

from collections.abc import Iterator

from vecdist.codegen.cpu.blocking import FIRST, MIN
from vecdist.codegen.statements import ACCUMULATOR, element_count, type_name
from vecdist.kernel.code import Do, Set, let
from vecdist.kernel.expressions import ZERO, Expr, Name
from vecdist.kernel.ir import Kernel, Loop


def sums_of_all(kernel: Kernel, loop: Loop | None = None) -> list[int]:
    """The outputs, or those that a nest adds to, whose sums are arrays of the whole kernel."""
    summed = loop.scatters() if loop else [number for number, output in enumerate(kernel.outputs) if output.summed]
    return [each for each in summed if each not in kernel.own_sums]


def finished(kernel: Kernel, level: int) -> list[int]:
    """Those of them to which the nests of a level are the last to add."""
    return [each for each in kernel.finished(level) if each not in kernel.own_sums]


def made(kernel: Kernel, loop: Loop) -> Iterator[Set]:
    """Where the rows of a block add up their own sums."""
    for output in _own(kernel, loop):
        rows = MIN(Name("size"), loop.length)
        room = Name("empty")(rows * _width(kernel, output), Name(_kind(kernel, output)))
        yield let(f"q_o{output}", Name(f"o{output}") if _is_wide(kernel, output) else room)


def begun(kernel: Kernel, loop: Loop) -> Iterator[Set | Do]:
    """What a block begins with: nothing is added up yet."""
    for output in _own(kernel, loop):
        first, row = FIRST * _width(kernel, output), Name(f"row_o{output}")
        yield let(row.id, ZERO if _is_wide(kernel, output) else ZERO - first)
        yield Do(Name("clear")(Name(f"q_o{output}"), row + first, _count(kernel, output)))


def ended(kernel: Kernel, loop: Loop) -> Iterator[Do]:
    """What a block ends with: its sums are rounded."""
    for output in _own(kernel, loop):
        if not _is_wide(kernel, output):
            place = FIRST * _width(kernel, output)
            yield Do(Name("copy_to")(Name(f"q_o{output}"), Name(f"o{output}"), place, _count(kernel, output)))


def _own(kernel: Kernel, loop: Loop) -> list[int]:
    return [each for each in loop.scatters() if each in kernel.own_sums]


def _kind(kernel: Kernel, output: int) -> str:
    return ACCUMULATOR[kernel.outputs[output].dtype.kind]


def _is_wide(kernel: Kernel, output: int) -> bool:
    """Whether an output has the type of its sums."""
    return type_name(kernel.outputs[output].dtype) == _kind(kernel, output)


def _width(kernel: Kernel, output: int) -> Expr:
    """The elements of a row."""
    return element_count(kernel.outputs[output].shape[1:])


def _count(kernel: Kernel, output: int) -> Expr:
    """The elements of the rows of a block."""
    return (Name("end") - FIRST) * _width(kernel, output)
