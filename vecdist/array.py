"""Lazy arrays: what a user holds.  Shape and dtype are known, nothing is computed until a value is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from vecdist import pipeline
from vecdist.expr import Node, cast, const, topological
from vecdist.leaves import NUMBERS, leaf, number
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.structure import drop_axes, reshape, summed
from vecdist.shapes import normalise_axes
from vecdist.views import broadcast_view, index_view, transpose_view

_BY_UFUNC = {ufunc: entry for entry in PRIMITIVES.values() for ufunc in entry.ufuncs}


@final
class LazyArray(NDArrayOperatorsMixin):
    """An array that is an expression.

    It broadcasts, indexes and reduces like a NumPy array and takes part in NumPy functions, and everything gives another
    lazy array.  ``np.asarray(lazy)``, ``float(lazy)`` and the like compute it, in one kernel, once.

    >>> import numpy as np, vecdist
    >>> x = vecdist.lazy(np.array([1.0, 2.0, 3.0]))
    >>> y = (np.sqrt(x) * 2).sum()
    >>> y.shape, y.dtype
    ((), dtype('float64'))
    >>> round(float(y), 3)
    8.293
    """

    __slots__ = ("__weakref__", "_failed", "_value", "node")
    __array_priority__ = 1000.0
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, node: Node) -> None:
        self.node = node
        self._value: Any = None
        self._failed: Any = False

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
        leaves = [node.attrs[0] for node in topological((self.node,)) if node.op == "leaf"]
        on_device = [found.array for found in leaves if found.kind == "cupy"]
        return f"cuda:{on_device[0].device.id}" if on_device else "cpu"

    @property
    def T(self) -> LazyArray:  # noqa: N802 (NumPy's name)
        """The transpose."""
        return self.transpose()

    def compute(self) -> Any:
        """The value, as an array of the library that the inputs belong to; computed once and kept.

        Raises ``InvalidParameter`` for an invalid parameter: on a GPU not here, which would wait for the device, but
        when the value reaches the host.
        """
        if self._value is None:
            (self._value,), self._failed = pipeline.launch((self.node,), pipeline.values, (self.shape,))
        if isinstance(self._failed, bool | np.bool_):
            self._raise_if_failed()
        return self._value

    def _raise_if_failed(self) -> None:
        if self._failed is not False and bool(self._failed):
            self._value = None
            pipeline.raise_invalid((self.node,))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = pipeline.on_host(self.compute())
        self._raise_if_failed()
        return np.array(value, dtype=dtype, copy=copy)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.compute().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.compute().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device == "cpu":
            raise AttributeError("this lazy array is computed on the CPU")
        return self.compute().__cuda_array_interface__

    def item(self) -> Any:
        """The value of an array of one element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"only an array of one element is a number; this one has shape {self.shape}")
        return np.asarray(self).item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a lazy array of shape {self.shape} is ambiguous; choose between values with "
                "np.where(condition, yes, no), which stays in the kernel"
            )
        return bool(self.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no axes has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        from vecdist.explain import summary

        return summary(self.node)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from vecdist.explain import mimebundle

        return mimebundle(self.node)

    def __getitem__(self, key: Any) -> LazyArray:
        return LazyArray(index_view(self.node, key))

    def transpose(self, *axes: Any) -> LazyArray:
        """The array with its axes in another order; reversed where none is given."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], Iterable) else axes
        return LazyArray(transpose_view(self.node, tuple(order) if order and order != (None,) else None))

    def reshape(self, *shape: Any) -> LazyArray:
        """The same elements in row-major order with another shape; one length may be -1."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], Iterable) else shape
        lengths = [int(length) for length in wanted]
        if lengths.count(-1) == 1:
            known = -int(np.prod(lengths, dtype=np.int64))
            lengths[lengths.index(-1)] = self.size // known if known else 0
        if np.prod(lengths, dtype=np.int64) != self.size or any(length < 0 for length in lengths):
            raise ValueError(f"an array of shape {self.shape} cannot be reshaped to {tuple(wanted)}")
        return LazyArray(reshape(self.node, tuple(lengths)))

    def ravel(self) -> LazyArray:
        """All elements along one axis."""
        return self.reshape(-1)

    def astype(self, dtype: Any) -> LazyArray:
        """The array converted to ``dtype``."""
        return LazyArray(cast(self.node, dtype))

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> LazyArray:
        """The sum over ``axis``; float32 is added up in float64 and rounded once."""
        axes = normalise_axes(axis, self.ndim)
        total = summed(self.node, axes, dtype)
        return LazyArray(total if keepdims else drop_axes(total, axes))

    def mean(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> LazyArray:
        """The mean over ``axis``."""
        axes = normalise_axes(axis, self.ndim)
        node = self.node if self.dtype.kind == "f" else cast(self.node, np.float64)
        node = node if dtype is None else cast(node, dtype)
        total = LazyArray(node).sum(axis, keepdims=keepdims).node
        count = Node("extent", (self.node,), (axes,), (), np.dtype(np.float64))
        return LazyArray(total / cast(count, node.dtype))

    def dot(self, other: Any) -> LazyArray:
        """The matrix product, as ``self @ other``."""
        return matmul(self, other)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if any(hasattr(value, "__dask_graph__") for value in inputs):
            return NotImplemented
        if method == "reduce" and ufunc is np.add:
            keywords.pop("out", None)
            return inputs[0].sum(**keywords)
        function = _composite_ufuncs().get(ufunc.__name__)
        entry = _BY_UFUNC.get(ufunc.__name__)
        if method != "__call__" or (keywords.pop("where", True) is not True) or keywords:
            return NotImplemented
        if function is not None:
            return function(*inputs)
        if entry is None:
            raise TypeError(f"no lazy form of the ufunc {ufunc.__name__}; use np.asarray(x) to compute x first")
        return LazyArray(entry(*operands(*inputs)))

    def __array_function__(self, function: Callable, types: Any, args: Any, keywords: Any) -> Any:
        from vecdist.functions import FUNCTIONS

        known = FUNCTIONS.get(function.__name__)
        if known is None:
            raise TypeError(
                f"np.{function.__name__} has no lazy form; use np.{function.__name__}(np.asarray(x)) to compute x "
                f"first, or one of: {', '.join(sorted(FUNCTIONS))}"
            )
        return known(*args, **keywords)


def lazy(array: Any, name: str | None = None) -> LazyArray:
    """``array`` as a lazy array: a leaf of expressions, which ``wrt`` finds by the array itself or by ``name``.

    >>> import numpy as np, vecdist
    >>> b = np.array([0.5, 1.5])
    >>> vecdist.value_and_grad((vecdist.lazy(b) ** 2).sum(), wrt=(b,))
    (np.float64(2.5), (array([1., 3.]),))
    """
    if isinstance(array, LazyArray):
        return array
    return LazyArray(leaf(array, name))


def operands(*values: Any) -> list[Node]:
    """The nodes of values; Python numbers take the dtype that NumPy would give them beside the others."""
    nodes = [
        value if isinstance(value, NUMBERS) else value.node if isinstance(value, LazyArray) else leaf(value)
        for value in values
    ]
    dtype = np.result_type(*(n.dtype if isinstance(n, Node) else n for n in nodes))
    return [n if isinstance(n, Node) else number(n, dtype) for n in nodes]


def where(condition: Any, yes: Any, no: Any) -> LazyArray:
    """``yes`` where ``condition`` holds, else ``no``; derivatives too are chosen, never scaled."""
    from vecdist.expr import where as choose

    (test,) = operands(condition)
    return LazyArray(choose(cast(test, np.bool_), *operands(yes, no)))


def matmul(left: Any, right: Any) -> LazyArray:
    """The matrix product of arrays of one or two axes."""
    a, b = (LazyArray(node) for node in operands(left, right))
    if not a.ndim or not b.ndim or a.ndim > 2 or b.ndim > 2:
        raise ValueError(f"a matrix product wants arrays of 1 or 2 axes, given shapes {a.shape} and {b.shape}")
    inner = 0 if b.ndim == 1 else -2
    if a.shape[-1] != b.shape[inner]:
        raise ValueError(f"inner lengths differ in a matrix product of shapes {a.shape} and {b.shape}")
    if b.ndim == 1:
        return (a * b).sum(axis=-1)
    return (a[..., None] * b).sum(axis=-2)


def power(base: Any, exponent: Any) -> LazyArray:
    """``base ** exponent``; small whole exponents are products."""
    if isinstance(exponent, (int, float)) and exponent in _POWERS:
        (x,) = operands(base)
        return LazyArray(_POWERS[exponent](x))
    return LazyArray(PRIMITIVES["pow"](*operands(base, exponent)))


_POWERS: dict[float, Callable[[Node], Node]] = {
    0.5: lambda x: PRIMITIVES["sqrt"](x),
    1: lambda x: x,
    2: lambda x: PRIMITIVES["square"](x),
    3: lambda x: PRIMITIVES["square"](x) * x,
    4: lambda x: PRIMITIVES["square"](PRIMITIVES["square"](x)),
    -1: lambda x: PRIMITIVES["reciprocal"](x),
}


def floor_divide(left: Any, right: Any) -> LazyArray:
    """The largest whole number below the quotient."""
    x, y = operands(left, right)
    return LazyArray(cast(PRIMITIVES["floor"](x / y), np.result_type(x.dtype, y.dtype)))


def remainder(left: Any, right: Any) -> LazyArray:
    """What is left of ``left`` after a floor division, with the sign of ``right``."""
    x, y = operands(left, right)
    return LazyArray(x - floor_divide(LazyArray(x), LazyArray(y)).node * y)


def _composite_ufuncs() -> dict[str, Callable[..., LazyArray]]:
    return {
        "power": power, "matmul": matmul, "floor_divide": floor_divide, "remainder": remainder,
        "invert": lambda x: LazyArray(~operands(x)[0]),
    }


__all__ = ["LazyArray", "const", "lazy", "matmul", "operands", "where"]
