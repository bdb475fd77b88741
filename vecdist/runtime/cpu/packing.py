"""Calls of machine code with all its arguments in one array of 64 bit words: how many there are costs no wrapper.

Numba's own wrappers take each array apart in a dozen basic blocks, and those of a thousand arrays take LLVM minutes.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Any, final

import numpy as np
from numba import types

from vecdist.runtime.cpu.crew import Crew, Job

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # which lets other threads of Python run meanwhile
SIGN, WORDS = 1 << 63, 1 << 64


def words(signature: Sequence[Any], arguments: Sequence[Any]) -> Iterator[int]:
    """Arguments of these types, one behind another, as words."""
    for kind, given in zip(signature, arguments, strict=True):
        yield from _words(kind, given)


def _words(kind: Any, given: Any) -> tuple[int, ...]:
    """An argument of a type: of an array its address, shape and strides, of a number its value, or its bits.

    Of one that goes by its address alone the address; it must lie in one piece.
    """
    if isinstance(kind, types.CPointer):
        return (given.__array_interface__["data"][0],)
    if isinstance(kind, types.Array):
        return given.__array_interface__["data"][0], *given.shape, *given.strides
    if isinstance(kind, types.Float):
        return (int(np.float64(given).view(np.int64)),)
    value = int(given)
    return (value - WORDS if value >= SIGN else value,)


@final
class Packed:
    """Machine code at an address, for arguments of these types; numbers that are the last call's are not packed again.

    Of arrays none is held.
    """

    def __init__(self, address: int, signature: Sequence[Any]) -> None:
        self.signature = tuple(signature)
        self.address = address
        self.entry: Any = ENTRY(address)
        sizes = [1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1 for kind in signature]
        starts = itertools.accumulate(sizes[:-1], initial=0)
        every = [*zip(range(len(sizes)), starts, self.signature, strict=True)]
        self.arrays: list[tuple[int, int, Any]] = [each for each in every if _is_array(each[2])]
        self.numbers: list[tuple[int, int, Any]] = [each for each in every if not _is_array(each[2])]
        self._last: tuple[list[Any], np.ndarray] = [None] * len(self.numbers), np.empty(sum(sizes), np.int64)

    def __call__(self, *arguments: Any) -> None:
        known, last = self._last
        packed = last.copy()  # what others run by meanwhile
        given = [arguments[place] for place, _, _ in self.numbers]
        for each, number in itertools.compress(zip(self.numbers, given, strict=True), map(is_not, given, known)):
            _, start, kind = each
            (packed[start],) = _words(kind, number)
        for place, start, kind in self.arrays:
            for behind, word in enumerate(_words(kind, arguments[place]), start):
                packed[behind] = word
        self._last = given, packed
        self.entry(packed.ctypes.data)

    def shared(self, *arguments: Any) -> Shared:
        """The machine code with what follows on its first three arguments."""
        kinds = self.signature[: 3 + len(arguments)]
        return Shared(self, np.fromiter(words(kinds, (0, 0, 0, *arguments)), np.int64), arguments)


def _is_array(kind: Any) -> bool:
    return isinstance(kind, types.CPointer | types.Array)


@final
@dataclass(frozen=True)
class Shared:
    """Machine code of a kernel for arguments that are known, and held: what nest it runs, and which of its parts."""

    code: Packed
    words: np.ndarray
    held: tuple[Any, ...]

    def given(self, *arguments: Any) -> Shared:
        """The same with more arguments behind the others: all that are left."""
        more = np.fromiter(words(self.code.signature[-len(arguments) :], arguments), np.int64)
        return Shared(self.code, np.concatenate((self.words, more)), (*self.held, *arguments))

    def alone(self, nest: int, last: int) -> None:
        """All parts of a nest, up to the ``last``, by the thread that calls."""
        self.words[:3] = nest, 0, last
        self.code.entry(self.words.ctypes.data)

    def together(self, crew: Crew, nest: int, job: Job) -> bool:
        """All parts of a nest by a crew, unless it is busy: whether they have been run."""
        return crew.share(self.code.address, self.words, nest, job)
