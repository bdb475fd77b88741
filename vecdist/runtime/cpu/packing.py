"""Calls of machine code with all its arguments in one array of 64 bit words: how many there are costs no wrapper.

Numba's own wrappers take each array apart in a dozen basic blocks, and those of a thousand arrays take LLVM minutes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np
from numba import types

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # which lets other threads of Python run meanwhile
SIGN, WORDS = 1 << 63, 1 << 64


def words(signature: Sequence[Any], arguments: Sequence[Any]) -> Iterator[int]:
    """Arguments of these types: of an array its address, shape and strides, of a number its value, or its bits."""
    for kind, given in zip(signature, arguments, strict=True):
        if isinstance(kind, types.Array):
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

    def shared(self, *arguments: Any) -> Callable[[int, int, int], None]:
        """A function of the first three arguments, for all others, which it holds: threads call it side by side."""
        packed = np.fromiter(words(self.signature, (0, 0, 0, *arguments)), np.int64)

        def some(number: int, first: int, last: int, held: Any = arguments) -> None:
            own = packed.copy()
            own[:3] = number, first, last
            self.entry(own.ctypes.data)

        return some
