"""Programs that take some places of an axis at a time: each batch is a launch, which fills its part of the results."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, final

from vecdist.codegen.source import Source
from vecdist.kernel.apart import Batch
from vecdist.kernel.ir import Loop
from vecdist.runtime.base import Feed, Program, Runner


@final
class Batched(Program):
    """A program that is run on one batch after another."""

    def __init__(self, program: Program, batch: Batch, library: str) -> None:
        self.program, self.batch, self.library = program, batch, library
        self.source: Source = program.source

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """The launch of a batch, over and over, on parts of the arrays that have its axis."""
        inner, starts = self.batch.of(lengths), self.batch.starts(lengths)
        size, own = inner[self.batch.dim], self.cut()
        given = [place for place, feed in enumerate(feeds) if feed.place is not None or place in own]
        part = [Feed(given.index(n), each.array[:size] if n in own else each.array) if n in given else each
                for n, each in enumerate(feeds)]  # fmt: skip
        run = self.program.prepared(inner, [(size, *shape[1:]) for shape in shapes], part, pooled)
        made, empty = [*zip(map(tuple, shapes), self.dtypes(), strict=True)], importlib.import_module(self.library).empty
        known = [(feeds[place].place, feeds[place].array, place in own) for place in given]

        def every(arrays: Sequence[Any], out: Sequence[Any] | None = None) -> tuple[Sequence[Any], Any]:
            results = [empty(*each) for each in made] if out is None else out
            found = [(array if place is None else arrays[place], cut) for place, array, cut in known]
            failed = False
            for start in starts:
                batch = slice(start, start + size)
                one = run([array[batch] if cut else array for array, cut in found], [each[batch] for each in results])
                failed = one[1] if failed is False else failed | one[1]
            return results, failed

        return every

    def cut(self) -> set[int]:
        """The slots of arrays that have the axis."""
        return {slot.index for slot in self.source.kernel.slots if self.batch.dim in slot.shape}

    def dtypes(self) -> list[Any]:
        """The dtypes of the results."""
        return [output.dtype for output in self.source.kernel.outputs if not output.temporary]

    def lanes(self, loop: Loop, lengths: Mapping[str, int]) -> int:
        return self.program.lanes(loop, self.batch.of(lengths))

    def resources(self) -> dict[str, Any]:
        return self.program.resources()
