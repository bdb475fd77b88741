"""Which loops of a nest are the rows of one on the CPU: those around a loop whose elements are the innermost ones."""

from __future__ import annotations

from collections.abc import Mapping

from vecdist.codegen.collapsing import are_values, chain, rearranged
from vecdist.codegen.cpu.blocking import is_piece_of, takes_columns
from vecdist.kernel.ir import Kernel, Loop

SEVERAL = 4  # values of a row that each of its pieces finds for itself, at most


def collapsed(kernel: Kernel) -> Kernel:
    """A kernel whose nests are rows of such loops, for all threads to share; itself where it has none."""
    fixed = dict(kernel.fixed)
    return rearranged(kernel, lambda loop: _outer(loop, fixed), lambda loop: ())


def _outer(loop: Loop, fixed: Mapping[str, int]) -> list[Loop]:
    loops = chain(loop)
    return loops[:-1] if len(loops) > 2 and takes_columns(loops[-1], fixed) else _around_pieces(loop)


def _around_pieces(loop: Loop) -> list[Loop]:
    """The loops around those over pieces of rows, with few values beside them; none where these are of columns."""
    found = [loop]
    while not any(is_piece_of(each, found[-1]) for each in found[-1].body.every_loop()):
        inner = found[-1].body.every_loop()
        values = [item for _, item in found[-1].body.items if not isinstance(item, Loop)]
        if len(inner) != 1 or not are_values(values, SEVERAL):
            return []
        found += inner
    return found if len(found) > 1 else []
