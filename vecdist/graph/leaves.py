"""Leaves: arrays as they enter an expression."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

import numpy as np

from vecdist.graph.chunked import Chunked, of_dask
from vecdist.graph.memo import in_children
from vecdist.graph.node import Node

NUMBERS = (bool, int, float)
BIRTHS = itertools.count()


@final
class Leaf:
    """An array in an expression: what the user gave, and the same data as the kernels read it.

    ``kind`` is ``"numpy"``, ``"cupy"``, ``"number"``, or ``"list"`` of what was written as one, which may stand beside
    arrays of either library.  Leaves are compared by identity, and one array object makes one leaf, which is how
    ``wrt`` finds it again.  ``traced`` marks an argument of a function that is being compiled, ``constant`` data that
    never change; ``derived`` holds what was computed of these, ``launches`` what was prepared for expressions of them.
    ``marked`` is what the user made lazy, ``exits`` are the values of it that were read by the way, ``asked`` is what
    it was derived in; ``born`` counts leaves and exits in their order.
    """

    __slots__ = (
        "__weakref__", "array", "asked", "born", "constant", "derived", "exits", "given", "kind", "launches", "marked",
        "name", "traced",
    )
    lock: ClassVar[Any] = threading.RLock()  # an object that is read as an array may make leaves of its own

    def __init__(
        self, given: Any, array: Any, kind: str, name: str | None = None, traced: bool = False, constant: bool = False
    ) -> None:
        if isinstance(array, Chunked):
            array.name = name
        self.given: Any = given
        self.array: Any = array
        self.kind: str = kind
        self.name: str | None = name
        self.traced: bool = traced
        self.constant: bool = constant
        self.derived: dict[Any, Any] = {}
        self.launches: Any = None
        self.born: int = next(BIRTHS)
        self.marked: bool = False
        self.exits: tuple[Any, ...] = ()
        self.asked: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return self.name or f"{self.array.dtype}{list(self.array.shape)}"


_leaves: weakref.WeakValueDictionary[int, Leaf] = weakref.WeakValueDictionary()
_constants: weakref.WeakValueDictionary[int, Leaf] = weakref.WeakValueDictionary()


def _reopen() -> None:
    Leaf.lock = threading.RLock()


in_children(_reopen)


def array_kind(value: Any) -> str:
    """The library that ``value`` belongs to: ``"cupy"``, ``"number"``, or ``"numpy"`` for all that NumPy can read."""
    if isinstance(value, Chunked):
        return value.library
    if isinstance(value, (*NUMBERS, np.generic)):
        return "number"
    return "cupy" if type(value).__module__.partition(".")[0] == "cupy" else "numpy"


def leaf(value: Any, name: str | None = None) -> Node:
    """The node of an array or number; the same node for the same array object, unless it gets a second name.

    Raises ``TypeError`` for dtypes that are not boolean, integer, float32 or float64.
    """
    with Leaf.lock:
        known = _leaves.get(id(value))
        if known is not None and known.given is value and known.name is None:
            known.name = name
        if known is None or known.given is not value or (name and known.name != name):
            kind, array = entered(value)
            known = Leaf(value, array, "list" if isinstance(value, list | tuple) else kind, name)
            if not isinstance(value, NUMBERS):
                _leaves[id(value)] = known
    array = known.array
    return Node("leaf", (), (known,), array.shape, array.dtype)


def constant(value: Any, name: str | None = None) -> Node:
    """The node of an array that never changes."""
    with Leaf.lock:
        known = _constants.get(id(value))
        if known is None or known.given is not value:
            kind, array = entered(value)
            known = Leaf(value, array, kind, name, constant=kind != "number")
            if not isinstance(value, NUMBERS):
                _constants[id(value)] = known
    return Node("leaf", (), (known,), known.array.shape, known.array.dtype)


def is_weak(value: Any) -> bool:
    """Whether ``value`` is a Python number, which takes the dtype of what is beside it; NumPy's have their own."""
    return isinstance(value, NUMBERS) and not isinstance(value, np.generic)


def number(value: bool | int | float, dtype: np.dtype) -> Node:
    """The node of a Python number, of the dtype that it takes beside other values.

    Raises ``OverflowError`` for an integer beyond all numbers of that dtype.
    """
    try:
        array = np.asarray(value, dtype)
    except OverflowError:
        raise OverflowError(f"an integer of {int(value).bit_length()} bits is beyond all {dtype} numbers") from None
    return Node("leaf", (), (Leaf(value, array, "number"),), (), array.dtype)


def argument(value: Any, name: str) -> Node:
    """The node of an argument of a function that is being compiled: never the same as another's."""
    kind, array = entered(value)
    return Node("leaf", (), (Leaf(value, array, kind, name, traced=True),), array.shape, array.dtype)


def chunked(array: Chunked, name: str | None = None) -> Node:
    """The node of an array that is read in pieces."""
    return Node("leaf", (), (Leaf(array.source, array, array.library, name),), array.shape, array.dtype)


def entered(value: Any) -> tuple[str, Any]:
    """The library of ``value``, and the array as expressions hold it: of a Dask array, what it is but for its elements.

    Raises ``TypeError`` for dtypes that kernels cannot read.
    """
    held = getattr(value, "node", None)
    if held is not None and held.op == "leaf" and isinstance(held.attrs[0].array, Chunked):
        value = held.attrs[0].array  # as an argument of a compiled function
    if is_dask(value):
        value = of_dask(value)
        check_dtype(value.dtype)
    kind = array_kind(value)
    return kind, value if kind == "cupy" or isinstance(value, Chunked) else readable(value)


def is_dask(value: Any) -> bool:
    """Whether ``value`` is a Dask array, which need not be imported to be told."""
    return type(value).__module__.partition(".")[0] == "dask" and hasattr(value, "chunks")


def readable(value: Any) -> np.ndarray:
    """``value`` as an array of a supported dtype, native and aligned; a copy only where it is not that already.

    Raises ``TypeError`` for other dtypes, and for what is no array in memory or more than one.
    """
    array = in_memory(value)
    check_dtype(array.dtype)
    return np.require(array, array.dtype.newbyteorder("="), ["ALIGNED"])


def in_memory(value: Any) -> np.ndarray:
    """All that NumPy can read as an array; ``TypeError`` where that would lose a mask, or load an array of chunks."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            "a masked array would lose its mask; give its parts, x.data and x.mask, and choose with np.where(mask, "
            "otherwise, y), or give the elements that are there, x.compressed()"
        )
    if is_dask(value):
        raise TypeError("a Dask array would be loaded whole here; load it yourself, x.compute()")
    return np.asarray(value)


def check_dtype(dtype: np.dtype) -> None:
    """Raise ``TypeError`` unless kernels can read ``dtype``."""
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or (dtype.kind == "f" and dtype.itemsize < 4):
        raise TypeError(
            f"arrays of dtype {dtype} cannot enter an expression; "
            "wanted booleans, integers, float32 or float64 (convert with .astype first)"
        )


class NoValueYet(TypeError):
    """The value of an expression, of ``roots``, was asked for while a function of its arguments is being compiled."""

    roots: Sequence[Node] = ()
    arguments = function = ""
    words = ""
    instead = "choose by np.where(condition, a, b), or by branches of a vecdist.function"

    def told(self, roots: Sequence[Node], arguments: str, function: str) -> Self:
        """This error, which names what the user wrote."""
        self.roots, self.arguments, self.function = roots, arguments, function
        return self

    def asked(self, words: str, instead: str | None) -> Self:
        """This error, with the words that asked for the value, and what to write instead."""
        self.words, self.instead = words, instead or self.instead
        return self

    def __str__(self) -> str:
        return (
            f"the value of an expression of {self.arguments} was asked for while {self.function} is being compiled, "
            f"{f'by `{self.words}`, ' if self.words else ''}when it has none yet: {self.instead}"
        )


def on_host(array: Any) -> np.ndarray:
    """The array in host memory."""
    return array.get() if hasattr(array, "get") else in_memory(array)
