"""Programs of several steps: kernels, and between them products of matrices by BLAS or cuBLAS, or other calls."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.shapes import Shape
from vecdist.passes.stages import Called, Stage, Stages
from vecdist.primitives.calls import Call, computed
from vecdist.primitives.factorisations import MATMUL
from vecdist.runtime.base import Feed, Program, Runner, length_of
from vecdist.runtime.cpu.pool import POOLED_FROM, Pool
from vecdist.runtime.outputs import written_as_run


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
        """All steps in a straight line; arrays of steps stand before the arguments in what kernels are given."""
        library = importlib.import_module(self.library)
        extra = self.stages.slots
        moved = [Feed(None if feed.place is None else feed.place + extra, feed.array) for feed in feeds]
        examples, text = self._examples(lengths, moved), _Text(self.stages, feeds)
        for step in self.steps:
            if step.program is not None:
                kernel = step.program.prepared(lengths, _known(step.shapes, lengths), examples, pooled)
                text.kernel(kernel, step.stage.fills, step.program.source.kernel.flagged)
            for called in step.stage.calls:
                text.call(_bound(called, lengths, library, pooled and library is np), called)
        run = text.run([tuple(shape) for shape in shapes])
        run = run if library is not np else _quiet(run)
        run.capturable = False  # as it is: what passes between steps is memory that is given back
        run.refused = self.refused(lengths)
        return run if library is np else self._repeated(run, lengths)

    def _repeated(self, run: Any, lengths: Mapping[str, int]) -> Runner:
        """A run that a GPU replays where it is asked for often: one that has our own calls alone, and reports nothing.

        Users' functions are called each time, whatever else they do.
        """
        calls = [each for step in self.steps for each in step.stage.calls]
        flagged = any(step.program is not None and step.program.source.kernel.flagged for step in self.steps)
        if run.refused or flagged or not all(_is_ours(each, lengths, self.library) for each in calls):
            return run
        from vecdist.runtime.cuda.repeated import Repeated, size_of

        arrays = [(_known([shape], lengths)[0], dtype) for _, shape, dtype in self._filled()]
        return Repeated(run, size_of([*arrays, *(kind for each in calls for kind in _kinds(each, lengths))]))

    def refused(self, lengths: Mapping[str, int] | None = None) -> tuple[str, ...]:
        """The names of calls that a CUDA graph cannot hold: at known ``lengths`` it can those of small matrices."""
        calls = [each for step in self.steps for each in step.stage.calls]
        own = [each.call if lengths is None else _own(each, lengths, self.library) for each in calls]
        return tuple(dict.fromkeys(each.name for each in own if not each.capturable))

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


@final
class _Text:
    """The lines of a function that runs steps: kernels and calls by names, and what they leave in slots."""

    def __init__(self, stages: Stages, feeds: Sequence[Feed]) -> None:
        self.stages, self.feeds = stages, feeds
        self.names: dict[str, Any] = {}
        self.lines: list[str] = []
        self.filled: set[int] = set()
        self.flags: list[str] = []

    def kernel(self, run: Runner, fills: Sequence[int], flagged: bool) -> None:
        """A kernel, which is given all that is known."""
        name, flag = self._named("kernel", run), f"flag{len(self.lines)}"
        first = self.stages.first
        known = ", ".join(f"s{n}" if n in self.filled else "None" for n in range(first, first + self.stages.slots))
        self.lines.append(f"    {self._targets(fills)}, {flag} = {name}(({known}, *arrays))")
        self.flags += [flag] if flagged else []

    def call(self, function: Callable[..., Sequence[Any]], called: Called) -> None:
        """A call of what lies in slots."""
        given = [self._array(each.slot) + (".T" if each.transposed else "") for each in called.operands]
        name = self._named("call", function)
        self.lines.append(f"    {self._targets(called.slots)} = {name}({', '.join(given)})")

    def run(self, shapes: Sequence[tuple[int, ...]]) -> Any:
        """The function, which gives results of these shapes."""
        shaped = zip(self.stages.results, shapes, strict=True)
        results = [f"{self._array(slot)}.reshape({shape})" for slot, shape in shaped]
        return written_as_run([
            *self.lines,
            f"    results, failed = [{', '.join(results)}], {' | '.join(self.flags) or False}",
            "    if out is None:",
            "        return results, failed",
            "    for target, value in zip(out, results):",
            "        target[...] = value",
            "    return list(out), failed",
        ], self.names)  # fmt: skip

    def _named(self, kind: str, value: Any) -> str:
        name = f"{kind}{len(self.names)}"
        self.names[name] = value
        return name

    def _targets(self, slots: Sequence[int | None]) -> str:
        """What takes as many results as there are slots, of which some may be read by nothing."""
        self.filled.update(slot for slot in slots if slot is not None)
        return f"[{', '.join('_' if slot is None else f's{slot}' for slot in slots)}]"

    def _array(self, slot: int) -> str:
        """What fills a slot: an array of a step, or what was given."""
        if slot >= self.stages.first:
            return f"s{slot}"
        feed = self.feeds[slot]
        return self._named("given", feed.array) if feed.place is None else f"arrays[{feed.place}]"


def _bound(called: Called, lengths: Mapping[str, int], library: Any, pooled: bool) -> Callable[..., list[Any]]:
    """A call as a function of its operands."""
    kinds = _kinds(called, lengths)
    call = _own(called, lengths, library.__name__)
    memory = _memory(call, kinds, pooled)
    if call is not called.call and len(kinds) == 1:  # our own, whose result needs no looking at
        function = call.function
        return (lambda *given: [function(*given, out=memory())]) if memory else lambda *given: [function(*given)]

    def run(*given: Any) -> list[Any]:
        return computed(call, called.ahead, given, kinds, library, memory and memory())

    return run


def _own(called: Called, lengths: Mapping[str, int], library: str) -> Call:
    """A call, or what stands for it where matrices are small."""
    target = {"numpy": "cpu", "cupy": "cuda"}.get(library)
    if target is None:
        return called.call
    matrices = importlib.import_module(f"vecdist.runtime.{target}.matrices")
    return matrices.small(called.call, *_known([called.last], lengths), called.kinds[0][1])


def _is_ours(called: Called, lengths: Mapping[str, int], library: str) -> bool:
    """Whether a call does nothing but launch work of this package."""
    return called.call is MATMUL or _own(called, lengths, library) is not called.call


def _quiet(run: Runner) -> Any:
    """As in kernels: what is not finite is seen in the results."""

    def quiet(arrays: Sequence[Any], out: Any = None) -> tuple[Sequence[Any], Any]:
        with np.errstate(all="ignore"):
            return run(arrays, out)

    return quiet


def _kinds(called: Called, lengths: Mapping[str, int]) -> list[tuple[tuple[int, ...], Any]]:
    """The shapes and dtypes of what a call gives."""
    shapes = _known([shape for shape, _ in called.kinds], lengths)
    return [(shape, dtype) for shape, (_, dtype) in zip(shapes, called.kinds, strict=True)]


def _memory(
    call: Call, kinds: Sequence[tuple[tuple[int, ...], Any]], pooled: bool
) -> Callable[[], np.ndarray] | None:
    """What gives memory, used again and again, for a large result of a call that can write to it."""
    (shape, dtype), *_ = kinds
    count = math.prod(shape)
    if not (pooled and call.writes and count * np.dtype(dtype).itemsize >= POOLED_FROM):
        return None
    pool = Pool(count, np.dtype(dtype))
    return lambda: pool().reshape(shape)


def _known(shapes: Sequence[Shape], lengths: Mapping[str, int]) -> list[tuple[int, ...]]:
    return [tuple(length_of(dim, lengths) for dim in shape) for shape in shapes]
