"""Axes along which a kernel may go piece by piece: what it finds at one place needs nothing of the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.kernel.expressions import Expr, Name, names
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Accumulate, Load, Scatter, Statement, Store, Temp


@final
@dataclass(frozen=True)
class Batch:
    """So many places along the first axis of all results, of this length."""

    dim: str
    size: int

    def of(self, lengths: Mapping[str, int]) -> dict[str, int]:
        """The lengths of a batch."""
        return {**lengths, self.dim: min(self.size, lengths[self.dim])}

    def starts(self, lengths: Mapping[str, int]) -> list[int]:
        """Where batches begin, all as long as the first: the last may go again through some of the one before."""
        length, size = lengths[self.dim], self.of(lengths)[self.dim]
        return [*range(0, length - size, size), length - size]


Batches = Callable[[Sequence[Kernel], Sequence[Kernel], Mapping[str, int]], Batch | None]
"""Of loop nests before lengths are known, and behind what these decide, at some lengths."""


def all_at_once(_nests: Sequence[Kernel], _kernels: Sequence[Kernel], _lengths: Mapping[str, int]) -> Batch | None:
    """No batches."""
    return None


def first_axis(kernel: Kernel) -> str:
    """The length of the first axis of all results; empty where these have no such axis together."""
    dims = {output.shape[0] if output.shape else 1 for output in kernel.outputs if not output.temporary}
    dim = dims.pop() if len(dims) == 1 else 1
    return dim if isinstance(dim, str) else ""


def axis_apart(kernel: Kernel) -> str:
    """The length of that axis where its places are apart, as those of chains are; else empty."""
    dim = first_axis(kernel)
    return dim if dim and _is_apart(kernel, dim) else ""


def _is_apart(kernel: Kernel, dim: str) -> bool:
    inside: set[Statement] = set()
    indices: set[str] = set()
    for loop in (item for item in kernel.root.walk() if isinstance(item, Loop) and dim in item.dim.split("*")):
        if loop.dim != dim or loop.sequential or not _keeps_sums(loop):
            return False
        indices.add(loop.index)
        inside.update(item for item in loop.body.walk() if not isinstance(item, Loop))
    given = [slot.shape for slot in kernel.slots]
    made = [[each for each in output.shape if each != 1] for output in kernel.outputs]
    if not indices or any(dim in shape[1:] for shape in (*given, *made)):
        return False
    items = [item for item in kernel.root.walk() if not isinstance(item, Loop)]
    return all(_is_at_its_place(item, kernel, dim, indices, item in inside) for item in items)


def _keeps_sums(loop: Loop) -> bool:
    """Whether nothing is added up over a loop."""
    own = {loop.body} | {item.body for item in loop.body.walk() if isinstance(item, Loop)}
    return all(item.home.loop_body in own for item in loop.body.walk() if isinstance(item, Accumulate))


def _is_at_its_place(item: Statement, kernel: Kernel, dim: str, indices: Collection[str], inside: bool) -> bool:
    """Whether a statement uses the index along the axis for nothing but the place in what has that axis."""
    hidden = {dim, *indices}
    if not isinstance(item, Load | Store | Scatter):
        return hidden.isdisjoint(names(*item.expressions()))
    shape = kernel.slot_of(item.source if isinstance(item, Load) else Temp(item.output)).shape
    if inside and not isinstance(item, Load) and dim not in shape:
        return False
    others: Sequence[Expr] = item.expressions()
    if dim in shape:
        first, *others = others
        if not isinstance(first, Name) or first.id not in indices:
            return False
    return hidden.isdisjoint(names(*others))
