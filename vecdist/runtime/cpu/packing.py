"""Calls of machine code with all its arguments in one array of 64 bit words: how many there are costs no wrapper.

Numba's own wrappers take each array apart in a dozen basic blocks, and those of a thousand arrays take LLVM minutes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numba import types

from vecdist.runtime.cpu.crew import Crew, Job

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # which lets other threads of Python run meanwhile
SIGN, WORDS = 1 << 63, 1 << 64


def words(signature: Sequence[Any], arguments: Sequence[Any]) -> Iterator[int]:
    """Arguments of these types: of an array its address, shape and strides, of a number its value, or its bits.

    Of one that goes by its address alone the address; it must lie in one piece.
    """
    for kind, given in zip(signature, arguments, strict=True):
        if isinstance(kind, types.CPointer):
            yield given.__array_interface__["data"][0]
        elif isinstance(kind, types.Array):
            yield given.__array_interface__["data"][0]
            yield from given.shape
            yield from given.strides
        elif isinstance(kind, types.Float):
            yield int(np.float64(given).view(np.int64))
        else:
            value = int(given)
            yield value - WORDS if value >= SIGN else value


@final
class Packed:
    """Machine code at an address, for arguments of these types; the integers behind the others vary little."""

    def __init__(self, address: int, signature: Sequence[Any]) -> None:
        self.signature = tuple(signature)
        self.address = address
        self.entry: Any = ENTRY(address)
        self.first: int = max((n for n, kind in enumerate(signature, 1) if kind != types.int64), default=0)
        self._last: tuple[tuple[Any, ...], np.ndarray] = (), np.empty(0, np.int64)

    def __call__(self, *arguments: Any) -> None:
        given, behind = arguments[: self.first], arguments[self.first :]
        known, last = self._last
        if known != behind:
            last = np.fromiter(words(self.signature[self.first :], behind), np.int64)
            self._last = behind, last
        packed = np.concatenate((np.fromiter(words(self.signature[: self.first], given), np.int64), last))
        self.entry(packed.ctypes.data)

    def shared(self, *arguments: Any) -> Shared:
        """The machine code with what follows on its first three arguments."""
        kinds = self.signature[: 3 + len(arguments)]
        return Shared(self, np.fromiter(words(kinds, (0, 0, 0, *arguments)), np.int64), arguments)


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
