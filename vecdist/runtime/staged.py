"""Programs of several steps: kernels, and between them products of matrices by BLAS or cuBLAS, or other calls."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.shapes import Shape
from vecdist.passes.stages import Called, Operand, Stage, Stages
from vecdist.primitives.calls import computed
from vecdist.runtime.base import Feed, Program, Runner, length_of
from vecdist.runtime.cpu.pool import POOLED_FROM, Pool


@final
@dataclass(frozen=True)
class Step:
    """A stage with its kernel, if it has one, and the shapes of what this fills."""

    stage: Stage
    program: Program | None
    shapes: tuple[Shape, ...]


@final
class StagedProgram(Program):
    """Runs its steps in turn; what passes between them lies in arrays."""

    def __init__(self, stages: Stages, steps: Sequence[Step], library: str) -> None:
        self.stages: Stages = stages
        self.steps: tuple[Step, ...] = tuple(steps)
        self.library: str = library
        self.source = next(step.program.source for step in reversed(steps) if step.program is not None)

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """A function that runs all steps; arrays of steps stand before the arguments in the list that kernels read."""
        extra, library = self.stages.slots, importlib.import_module(self.library)
        moved = [Feed(None if feed.place is None else feed.place + extra, feed.array) for feed in feeds]
        examples = self._examples(lengths, moved)
        runs = [
            (step, step.program and step.program.prepared(lengths, _known(step.shapes, lengths), examples, pooled),
             [(called, kinds := _kinds(called, lengths), _memory(called, kinds, pooled and library is np))
              for called in step.stage.calls])
            for step in self.steps
        ]  # fmt: skip
        feeds = [feed if feed.place is None else Feed(feed.place, None) for feed in feeds]

        def run(arrays: Sequence[Any], out: Any = None) -> tuple[list[Any], Any]:
            found: list[Any] = [None] * extra
            with np.errstate(all="ignore"):  # as in kernels: what is not finite is seen in the results
                failed = self._ran(runs, found, feeds, arrays, library)
            results = [self._array(slot, found, feeds, arrays) for slot in self.stages.results]
            results = [value.reshape(tuple(shape)) for value, shape in zip(results, shapes, strict=True)]
            if out is None:
                return results, failed
            for target, value in zip(out, results, strict=True):
                target[...] = value
            return list(out), failed

        run.capturable = False  # CuPy does not call cuBLAS while a stream captures
        return run

    def _ran(
        self, runs: Sequence[Any], found: list[Any], feeds: Sequence[Feed], arrays: Sequence[Any], library: Any
    ) -> Any:
        """Run all steps, put what they give in place, and tell whether a flag was raised."""
        failed: Any = False
        for step, kernel, calls in runs:
            if kernel is not None:
                values, flag = kernel((*found, *arrays))
                failed = flag if failed is False else failed | flag
                for slot, value in zip(step.stage.fills, values, strict=True):
                    found[slot - self.stages.first] = value
            for called, kinds, memory in calls:
                given = [self._operand(each, found, feeds, arrays) for each in called.operands]
                values = computed(called.call, called.ahead, given, kinds, library, memory and memory())
                for slot, value in zip(called.slots, values, strict=True):
                    if slot is not None:
                        found[slot - self.stages.first] = value
        return failed

    def _array(self, slot: int, found: Sequence[Any], feeds: Sequence[Feed], arrays: Sequence[Any]) -> Any:
        """What fills a slot: an array of a step, or what was given."""
        if slot >= self.stages.first:
            return found[slot - self.stages.first]
        feed = feeds[slot]
        return feed.array if feed.place is None else arrays[feed.place]

    def _operand(self, operand: Operand, found: Sequence[Any], feeds: Sequence[Feed], arrays: Sequence[Any]) -> Any:
        value = self._array(operand.slot, found, feeds, arrays)
        return value.T if operand.transposed else value

    def _examples(self, lengths: Mapping[str, int], feeds: Sequence[Feed]) -> list[Feed]:
        """What fills every slot: of arrays of steps, one of their shape and dtype stands for them."""
        library = importlib.import_module(self.library)
        kinds = {slot: (shape, dtype) for slot, shape, dtype in self._filled()}
        made = []
        for number in range(self.stages.first, self.stages.first + self.stages.slots):
            shape, dtype = kinds.get(number, ((), "f8"))
            made.append(Feed(number - self.stages.first, library.empty(_known([shape], lengths)[0], dtype)))
        return [*feeds, *made]

    def _filled(self) -> list[tuple[int, Shape, Any]]:
        """The slots that kernels read and steps fill, with their shapes and dtypes."""
        programs = [step.program for step in self.steps if step.program is not None]
        slots = [slot for program in programs for slot in program.source.kernel.slots]
        return [(slot.index, slot.shape, slot.dtype) for slot in slots if slot.index >= self.stages.first]

    def resources(self) -> dict[str, Any]:
        """What the compiler says of the last kernel."""
        return next(step.program.resources() for step in reversed(self.steps) if step.program is not None)


def _kinds(called: Called, lengths: Mapping[str, int]) -> list[tuple[tuple[int, ...], Any]]:
    """The shapes and dtypes of what a call gives."""
    shapes = _known([shape for shape, _ in called.kinds], lengths)
    return [(shape, dtype) for shape, (_, dtype) in zip(shapes, called.kinds, strict=True)]


def _memory(
    called: Called, kinds: Sequence[tuple[tuple[int, ...], Any]], pooled: bool
) -> Callable[[], np.ndarray] | None:
    """What gives memory, used again and again, for a large result of a call that can write to it."""
    (shape, dtype), *_ = kinds
    count = math.prod(shape)
    if not (pooled and called.call.writes and count * np.dtype(dtype).itemsize >= POOLED_FROM):
        return None
    pool = Pool(count, np.dtype(dtype))
    return lambda: pool().reshape(shape)


def _known(shapes: Sequence[Shape], lengths: Mapping[str, int]) -> list[tuple[int, ...]]:
    return [tuple(length_of(dim, lengths) for dim in shape) for shape in shapes]
