"""Which loops of a nest are the rows of one on the CPU: those around a loop whose elements are the innermost ones."""

from __future__ import annotations

from collections.abc import Mapping

from vecdist.codegen.collapsing import chain, rearranged
from vecdist.codegen.cpu.blocking import takes_columns
from vecdist.kernel.ir import Kernel, Loop


def collapsed(kernel: Kernel) -> Kernel:
    """A kernel whose nests are rows of such loops, for all threads to share; itself where it has none."""
    fixed = dict(kernel.fixed)
    return rearranged(kernel, lambda loop: _outer(loop, fixed), lambda loop: ())


def _outer(loop: Loop, fixed: Mapping[str, int]) -> list[Loop]:
    loops = chain(loop)
    return loops[:-1] if len(loops) > 2 and takes_columns(loops[-1], fixed) else []
