"""The arguments of a launch, as Numba's kernels take them, and as the text of a function that launches one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vecdist.kernel.ir import Kernel
from vecdist.runtime.base import Feed


def array_arguments(array: Any) -> tuple:
    """A Numba array is seven arguments: two owners, the number and size of its elements, pointer, shape, strides."""
    return 0, 0, array.size, array.itemsize, array, array.size, array.itemsize


def holding(temporaries: Sequence[str]) -> list[str]:
    """The lines that keep temporary arrays alive which a capture has seen: each replay uses their memory."""
    return [f"    if on.is_capturing(): held.append(({', '.join(temporaries)},))"] if temporaries else []


def slot_arguments(kernel: Kernel, feeds: Sequence[Feed], names: dict[str, Any]) -> list[str]:
    """The text of each slot's arguments: an array or number, and the strides of an array that is not dense."""
    arguments = []
    for slot in kernel.slots:
        feed = feeds[slot.index]
        text = f"x{slot.index}" if feed.place is None else f"arrays[{feed.place}]"
        names |= {text: feed.array} if feed.place is None else {}
        arguments.append(text)
        if slot.layout == "strided":
            arguments += [f"{text}.strides[{axis}] // {feed.array.itemsize}" for axis in slot.axes]
    return arguments
