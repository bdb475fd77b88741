"""Programs that take some places of an axis at a time: each batch is a launch, which fills its part of the results."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, final

from vecdist.codegen.source import Source
from vecdist.kernel.apart import Batch
from vecdist.kernel.ir import Loop
from vecdist.runtime.base import Feed, Program, Runner


def in_places(array: Any, length: int) -> Any:
    """An array with so many places along its first axis, where several of its own are one."""
    return array if array.shape[0] == length else array.reshape(length, -1)  # which lies in order, so that it is a view


@final
class Batched(Program):
    """A program that is run on one batch after another."""

    def __init__(self, program: Program, batch: Batch, library: str) -> None:
        self.program, self.batch, self.library = program, batch, library
        self.source: Source = program.source

    def __reduce__(self) -> tuple[Any, ...]:
        return Batched, (self.program, self.batch, self.library)

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """The launch of a batch, over and over, on parts of the arrays that have its axis."""
        inner, starts = self.batch.of(lengths), self.batch.starts(lengths)
        length, size, cut = lengths[self.batch.dim], inner[self.batch.dim], self._cut()
        given = [slot for slot, feed in enumerate(feeds) if feed.place is not None or slot in cut]
        known = [(feeds[slot], slot in cut) for slot in given]
        part = list(feeds)
        for place, (feed, is_cut) in enumerate(known):
            part[given[place]] = Feed(place, in_places(feed.array, length)[:size] if is_cut else feed.array)
        run = self.program.prepared(inner, [(size, math.prod(shape) // length) for shape in shapes], part, pooled)
        made = list(zip(map(tuple, shapes), self._dtypes(), strict=True))
        library = importlib.import_module(self.library)

        def every(arrays: Sequence[Any], out: Sequence[Any] | None = None) -> tuple[Sequence[Any], Any]:
            results = [library.empty(*each) for each in made] if out is None else out
            whole = [(feed.array if feed.place is None else arrays[feed.place], is_cut) for feed, is_cut in known]
            whole = [(in_places(array, length) if is_cut else array, is_cut) for array, is_cut in whole]
            filled, failed = [in_places(each, length) for each in results], False
            for start in starts:
                end = start + size
                found = [array[start:end] if is_cut else array for array, is_cut in whole]
                _, one = run(found, [each[start:end] for each in filled])
                failed = one if failed is False else failed | one
            return results, failed

        return every

    def _cut(self) -> set[int]:
        """The slots of arrays that have the axis."""
        return {slot.index for slot in self.source.kernel.slots if self.batch.dim in slot.shape}

    def _dtypes(self) -> list[Any]:
        """The dtypes of the results."""
        return [output.dtype for output in self.source.kernel.outputs if not output.temporary]

    def lanes(self, loop: Loop, lengths: Mapping[str, int]) -> int:
        return self.program.lanes(loop, self.batch.of(lengths))

    def launches(self, lengths: Mapping[str, int]) -> int:
        return len(self.batch.starts(lengths))

    def resources(self) -> dict[str, Any]:
        return self.program.resources()
