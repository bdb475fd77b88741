"""How the value of an expression is read: computed once, and by which doors it becomes an array or a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.leaves import NoValueYet, is_dask
from vecdist.graph.node import Node
from vecdist.lazy.asking import explained
from vecdist.lazy.exits import left
from vecdist.lazy.on_device import device_of
from vecdist.runtime import pipeline
from vecdist.runtime.libraries import loaded


class Readable:
    """What has a node, and the value of it once that was computed.

    ``compute`` and ``item`` ask for the value; the other doors are opened by Python and by functions of NumPy's arrays
    too, which go on with a constant, and are remembered.
    """

    __slots__ = ("__weakref__", "_failed", "_left", "_value", "node")

    def __init__(self, node: Node) -> None:
        self.node: Node = node
        self._value: Any = None
        self._failed: Any = False
        self._left = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.node.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.node.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def device(self) -> str:
        """Where it is computed: ``"cpu"`` or ``"cuda:0"``."""
        return device_of((self.node,))

    def compute(self) -> Any:
        """The value, as an array of the library that the inputs belong to, in memory; computed once and kept.

        Raises ``InvalidParameter`` for an invalid parameter: on a GPU not here, which would wait for the device, but
        when the value reaches the host.
        """
        if self._value is None:
            value, self._failed = self._launched()
            self._value = value if isinstance(value, np.ndarray | np.generic) else self._loaded(value)
            if isinstance(self._value, np.ndarray):  # it is kept: whoever wants to write takes a copy, np.array(x)
                self._value.flags.writeable = False
        if isinstance(self._failed, bool | np.bool_):
            self._raise_if_failed()
        return self._value

    def to_dask(self) -> Any:
        """The value as a Dask array, of whose rows nothing is computed yet, where the expression has Dask arrays.

        What is computed of sums over all rows is computed now.  Raises ``TypeError`` where the value has no rows of
        Dask arrays.  A chunk with an invalid parameter raises ``InvalidParameter`` when it is computed.

        >>> import dask.array, numpy as np, vecdist
        >>> x = dask.array.from_array(np.arange(6.0), chunks=2)
        >>> (2.0 * vecdist.lazy(x)).to_dask().sum(split_every=2).compute()
        np.float64(30.0)
        """
        (value,), failed = pipeline.launch((self.node,), pipeline.values, (self.shape,))
        pipeline.raise_if(failed, (self.node,))
        if not is_dask(value):
            raise TypeError("the value has no rows of Dask arrays; it is in memory: np.asarray(x)")
        return value

    def _launched(self) -> tuple[Any, Any]:
        try:
            (value,), failed = pipeline.launch((self.node,), pipeline.values, (self.shape,))
        except NoValueYet as error:
            raise explained(error) from None
        return value, failed

    def _loaded(self, value: Any) -> Any:
        """A value of arrays in chunks, in memory; the error of an invalid parameter names it by its place."""
        try:
            return loaded(value)
        except pipeline.InvalidParameter:
            self._failed = True
            self._raise_if_failed()

    def item(self) -> Any:
        """The value of an array of one element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"only an array of one element is a number; this one has shape {self.shape}")
        return np.asarray(self._on_host()).item()

    def _on_host(self) -> Any:
        value = pipeline.on_host(self.compute())
        self._raise_if_failed()
        return value

    def _raise_if_failed(self) -> None:
        if self._failed is not False and bool(self._failed):
            self._value = None
            pipeline.raise_invalid((self.node,))

    def _leave(self, form: str) -> None:
        """Remember that the value is read: once, for the first time is before all others."""
        self._left = left(self.node, form, self._left)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._leave("as a NumPy array")
        return np.array(self._on_host(), dtype=dtype, copy=copy)

    def __dlpack__(self, **keywords: Any) -> Any:
        self._leave("by DLPack")
        return self.compute().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.compute().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device == "cpu":
            raise AttributeError("this lazy array is computed on the CPU")
        self._leave("as a CUDA array")
        return self.compute().__cuda_array_interface__

    def __float__(self) -> float:
        self._leave("as a Python number")
        return float(self.item())

    def __int__(self) -> int:
        self._leave("as a Python number")
        return int(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        self._leave("as a Python number")
        return round(self.item(), digits)

    def __index__(self) -> int:
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError(f"an index is a whole number, not an array of shape {self.shape} and dtype {self.dtype}")
        return int(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a lazy array of shape {self.shape} is ambiguous; choose between values with "
                "np.where(condition, yes, no), which stays in the kernel, or make a function of numbers with branches "
                "one of arrays by vecdist.function"
            )
        return bool(self.item())

    def __format__(self, spec: str) -> str:
        """Of an array without axes its number, as NumPy has it; without a format, the array as it is shown."""
        if spec and self.shape:
            raise TypeError(f"no number, but an array of shape {self.shape}, was to be written in the format {spec!r}")
        return format(self.item(), spec) if spec else str(self)
