"""Calls of machine code with all its arguments in one array of 64 bit words: how many there are costs no wrapper.

Numba's own wrappers take each array apart in a dozen basic blocks, and those of a thousand arrays take LLVM minutes.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_, itemgetter
from typing import Any, final

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from vecdist.runtime.cpu import calling
from vecdist.runtime.cpu.call_loops import KINDS, SAID
from vecdist.runtime.cpu.crew import Crew, Job
from vecdist.runtime.exports import places

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # which lets other threads of Python run meanwhile
CONTIGUOUS, ALIGNED = 0x1, 0x100  # flags of NumPy's arrays
SIGN, WORDS = 1 << 63, 1 << 64
TYPES = np.ndarray, float, np.float64, np.float32  # whose memory is read


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
    if value != given:
        raise TypeError(f"{given} where a whole number is read")
    return (value - WORDS if value >= SIGN else value,)


@final
class Packed:
    """Machine code at an address, for arguments of these types; integers that are the last call's are not packed again.

    Of arrays none is held.
    """

    def __init__(self, address: int, signature: Sequence[Any]) -> None:
        self.signature = tuple(signature)
        self.address = address
        self.entry: Any = ENTRY(address)
        *starts, self.count = places(self.signature)
        every = [*zip(range(len(starts)), starts, self.signature, strict=True)]
        arrays = [(place, start, *_required(kind)) for place, start, kind in every if _is_array(kind)]
        floats = [(place, start) for place, start, kind in every if isinstance(kind, types.Float)]
        told = [*map(id, TYPES), len(arrays), len(floats), *itertools.chain(*arrays, *floats)]
        self.told: np.ndarray = np.array(told, np.int64)
        self.others = [each for each in every if not _is_array(each[2]) and not isinstance(each[2], types.Float)]
        chosen = [place for place, _, _ in self.others]
        self._others: Any = itemgetter(*chosen) if len(chosen) > 1 else lambda given: [given[each] for each in chosen]
        self._launch, self._told = calling.launch(), self.told.ctypes.data
        self._last: tuple[Any, np.ndarray, int] = [None] * len(chosen), np.zeros(self.count, np.int64), 0

    def __call__(self, *arguments: Any) -> None:
        given = self._others(arguments)
        known, _held, filled = self._last
        if not (filled and all(map(is_, given, known))):
            _held, filled = self._with(given)
        if self._launch(self.address, filled, self.count, self._told, id(arguments)):
            self.slowly(arguments)

    def at(self, lengths: Sequence[int]) -> Callable[..., None]:
        """The same for arguments that end with these lengths, of which nothing else is an integer: they are known."""
        if len(self.others) != len(lengths):
            return self
        launch, code, count, told = self._launch, self.address, self.count, self._told
        held, filled = self._with(lengths)

        def call(*arguments: Any, held: tuple[Any, ...] = (held, self)) -> None:
            if launch(code, filled, count, told, id(arguments)):
                self.slowly(arguments)

        return call

    def slowly(self, arguments: Sequence[Any]) -> None:
        """A call with arguments of other types in Python than usual; ``TypeError`` for what is no such array."""
        kinds = zip(self.signature, arguments, strict=True)
        given = np.fromiter(words(self.signature, [_of_type(*each) for each in kinds]), np.int64)
        self.entry(given.ctypes.data)

    def _with(self, given: Sequence[Any]) -> tuple[np.ndarray, int]:
        """Words that have these integers, and where they lie."""
        packed = self._last[1].copy()  # what others run by meanwhile
        for (_, start, kind), number in zip(self.others, given, strict=True):
            (packed[start],) = _words(kind, number)
        self._last = given, packed, packed.ctypes.data
        return self._last[1:]

    def shared(self, *arguments: Any) -> Shared:
        """The machine code with what follows on its first three arguments."""
        kinds = self.signature[: 3 + len(arguments)]
        return Shared(self, np.fromiter(words(kinds, (0, 0, 0, *arguments)), np.int64), arguments)


def _of_type(kind: Any, given: Any) -> Any:
    """An argument as code reads it; ``TypeError`` where it is an array of other elements, or lies in pieces."""
    if not _is_array(kind):
        return given
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{given!r} where an array is read")
    axes, _, flags = _required(kind)
    apart = flags & CONTIGUOUS and not given.flags.c_contiguous
    if given.dtype != as_dtype(kind.dtype) or apart or not given.flags.aligned or (axes and given.ndim != axes):
        raise TypeError(f"an array of {given.dtype} and strides {given.strides} where {kind} is read")
    return given


def _required(kind: Any) -> tuple[int, int, int]:
    """Of an array: the axes of which lengths and strides are read, the type of its elements, and its flags."""
    whole = isinstance(kind, types.CPointer) or kind.layout == "C"
    elements = ctypes.c_int64.from_address(id(as_dtype(kind.dtype)) + 8 * KINDS).value & SAID
    return getattr(kind, "ndim", 0), elements, ALIGNED | CONTIGUOUS * whole


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
