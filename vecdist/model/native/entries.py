"""Entries for C: functions without Python that give the log density and its gradient of one vector, or of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from vecdist.codegen.statements import element_count
from vecdist.kernel.ir import Kernel, Loop
from vecdist.model.evaluation import Prepared
from vecdist.model.native.language import C_BATCH, C_LOGP, kernel_caller, moved, status
from vecdist.runtime import compiler
from vecdist.runtime.base import Feed
from vecdist.runtime.cpu.backend import CpuProgram

MANY = ["def entry(rows, x, value, gradient, unused):", "    if rows < 1:", "        return 0 if rows == 0 else -1"]


@final
@dataclass(frozen=True)
class Entry:
    """Machine code at an ``address`` that is valid as long as this object lives; so do the data that it reads.

    It returns 0, or 1 where a value or an element of a gradient is not finite, or -1 where the vectors have another
    length or memory is short.
    """

    address: int
    work: float
    """The statements that it runs for each vector, roughly."""
    has_rows: bool
    """Whether most of them stand around inner loops, as those of a regression around the sums over columns."""
    held: Any


def for_one(prepared: Prepared, size: int) -> Entry | None:
    """``int f(uint64 D, double* x, double* gradient, double* value, void*)`` of a launch for one vector.

    ``None`` where the launch is not one compiled kernel of the CPU.
    """
    head = ["def entry(count, x, gradient, value, unused):", f"    if count != {size}:", "        return -1"]
    head.append("    rows = 1")
    return _entry(prepared, _written(prepared), 1, size, head, C_LOGP)


def for_each(prepared: Prepared, size: int) -> Entry | None:
    """``int f(int64 B, double* X, double* values, double* gradients, void*)``: launches for one vector, in turn.

    What a kernel does for the rows of one vector, it does for each.  ``None`` as for one.
    """
    return _entry(prepared, _written(prepared), 1, size, MANY, C_BATCH, in_turn=True)


def _written(prepared: Prepared) -> dict[str, str]:
    return {name: str(length) for name, length in prepared.lengths.items()}


def for_many(two: Prepared, three: Prepared, size: int) -> Entry | None:
    """``int f(int64 B, double* X, double* values, double* gradients, void*)`` of launches for two and three vectors.

    Their lengths tell those that grow with the number of vectors.  ``None`` as for one.
    """
    if two.program is not three.program:
        return None
    grown = {name: three.lengths[name] - length for name, length in two.lengths.items()}
    lengths = {name: f"{two.lengths[name] - 2 * each} + {each} * rows" for name, each in grown.items()}
    return _entry(two, lengths, 2, size, MANY, C_BATCH)


def _entry(
    prepared: Prepared, lengths: Mapping[str, str], rows: int, size: int, head: list[str], signature: Any,
    in_turn: bool = False,
) -> Entry | None:  # fmt: skip
    """An entry that begins with the lines ``head``, from a launch for so many rows; ``in_turn``, one for each row."""
    program = prepared.program
    if not isinstance(program, CpuProgram) or program.address is None:
        return None
    names: dict[str, Any] = {"np": np, "status": status, "call_kernel": kernel_caller(program.signature)}
    names |= {"moved": moved, "kernel": program.address}
    lines = [*head, *(f"    {name} = np.int64({text})" for name, text in lengths.items())]

    def array(pointer: str, count: int) -> str:
        """An array of so many numbers for each row."""
        if in_turn:
            return f"(moved({pointer}, row * {count}), ({count},), (8,))"
        return f"({pointer}, (rows * {count},), (8,))"

    arguments = list(_inputs(program, prepared.feeds, array("x", size), names))
    results = iter([array("value", 1), array("gradient", size)])
    for number, output in enumerate(program.source.kernel.outputs):
        if output.temporary:
            lines.append(f"    t{number} = np.empty({element_count(output.shape)}, np.{output.dtype})")
        arguments.append(f"t{number}" if output.temporary else next(results))
    slopes = 0 if next(results, None) else size
    arguments += [f"np.int64({lengths[name]})" for name in program.lengths]
    call = f"call_kernel(kernel, ({', '.join(arguments)},))"
    if in_turn:
        lines += ["    done = True", "    for row in range(rows):", f"        done = done & {call}"]
    else:
        lines.append(f"    done = {call}")
    lines.append(f"    return status(done, value, gradient, rows, {slopes} * rows)")
    exec("\n".join(lines), names)
    compiled = compiler.c_function(signature, names["entry"])
    work, has_rows = program.work(prepared.lengths) / rows, _has_rows(program.source.kernel)
    return Entry(cast("int", compiled.address), work, has_rows, (compiled, program, prepared.feeds))


def _has_rows(kernel: Kernel) -> bool:
    """Whether a loop has inner loops, and more statements around them than in them."""
    for _, loop in kernel.shared_nests():
        own = sum(not isinstance(item, Loop) for _, item in loop.body.items)
        inner = sum(not isinstance(item, Loop) for item in loop.body.walk()) - own
        if 0 < inner < own:
            return True
    return False


def _inputs(program: CpuProgram, feeds: Sequence[Feed], vectors: str, names: dict[str, Any]) -> Iterator[str]:
    """The text of each input, of what is given that of the vectors; numbers are put among the names."""
    for slot in program.slots:
        feed = feeds[slot.index]
        if feed.place is not None:
            yield vectors
        elif slot.layout == "number":
            names[f"x{slot.index}"] = feed.array
            yield f"x{slot.index}"
        else:
            array = feed.array.reshape(-1) if slot.layout == "dense" else feed.array
            yield f"({array.ctypes.data}, {array.shape}, {array.strides})"
