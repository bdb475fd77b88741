"""Arrays of the user that results are written to: what they must be."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, final

import numpy as np

from vecdist.runtime.cache import STRUCTURES


@final
@dataclass(frozen=True)
class Outputs:
    """The shapes and dtypes of the results of a run, and the arrays that it reads beside its arguments."""

    library: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...]
    captured: tuple[Any, ...]

    def check(self, out: Any, arrays: Sequence[Any], name: Callable[[int], str]) -> None:
        """Raise ``TypeError`` or ``ValueError`` unless the results may be written to the arrays ``out``.

        ``name(place)`` is what an error calls the argument at a place of ``arrays``.
        """
        if not isinstance(out, tuple | list) or len(out) != len(self.shapes):
            given = f"{len(out)} of them" if isinstance(out, tuple | list) else type(out).__name__
            raise TypeError(f"out is a tuple of {len(self.shapes)} arrays, one for each result in order; given {given}")
        for place, array in enumerate(out):
            self._check_one(f"out[{place}]" if len(out) > 1 else "out", array, self.shapes[place], self.dtypes[place])
        read = [(name(place), array) for place, array in enumerate(arrays)]
        read += [("an array that the function holds", array) for array in self.captured]
        for place, array in enumerate(out):
            others = [*read, *((f"out[{n}]", other) for n, other in enumerate(out[:place]))]
            over = next((said for said, other in others if _overlap(array, other)), None)
            if over is not None:
                raise ValueError(f"out[{place}] shares memory with {over}, which the kernel may still read or write")

    def _check_one(self, said: str, array: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
        if not self._is_array(array):
            known = {"cpu": "a NumPy", "cuda": "a CuPy"}[self.library]
            raise TypeError(f"{said} is {type(array).__name__}, but the result is {known} array")
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{said} has shape {array.shape} and dtype {array.dtype}, the result shape {shape} and dtype {dtype}"
            )
        if not array.flags.c_contiguous:
            raise ValueError(f"{said} is not C-contiguous; results are written in one piece")
        if isinstance(array, np.ndarray) and not (array.flags.writeable and array.flags.aligned):
            raise ValueError(f"{said} is read-only or not aligned")

    def _is_array(self, array: Any) -> bool:
        if self.library == "cpu":
            return isinstance(array, np.ndarray)
        import cupy

        return isinstance(array, cupy.ndarray)


def fresh_or_given(fresh: Sequence[str], given: Sequence[str]) -> list[str]:
    """The lines by which a function makes its outputs, or takes them from ``out`` where that is given."""
    if not fresh:  # of a kernel that does nothing but look for what is wrong
        return []
    return [
        "    if out is None:", *(f"        {line}" for line in fresh),
        "    else:", *(f"        {line}" for line in given),
    ]


def given_back(results: Sequence[str], failed: str) -> str:
    """The line by which a function returns all results, perhaps none, and whether it found anything wrong."""
    return f"    return ({''.join(f'{each}, ' for each in results)}), {failed}"


def written_as_run(lines: Sequence[str], names: dict[str, Any]) -> Any:
    """``run(arrays, out=None)`` with these lines, which know ``names``: lengths too, as text is read but once."""
    exec(_read("\n".join(["def run(arrays, out=None):", *lines])), names)
    return names["run"]


@functools.lru_cache(STRUCTURES)
def _read(text: str) -> CodeType:
    return compile(text, "<launch>", "exec")


def _overlap(array: Any, other: Any) -> bool:
    """Whether two arrays (or an array and a number) have memory in common; by their extents where that is on a GPU."""
    if isinstance(array, np.ndarray) and isinstance(other, np.ndarray):
        return np.shares_memory(array, other)
    if isinstance(array, np.ndarray | np.generic) or isinstance(other, np.ndarray | np.generic):
        return False
    (start, end), (first, last) = _extent(array), _extent(other)
    return max(start, first) < min(end, last)


def _extent(array: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array on a GPU, and of the one behind its last."""
    if not array.size:
        return 0, 0
    steps = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
    start = array.data.ptr
    return start + sum(s for s in steps if s < 0), start + sum(s for s in steps if s > 0) + array.itemsize
