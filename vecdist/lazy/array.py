"""Lazy arrays: what a user holds.  Shape and dtype are known, nothing is computed until a value is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import ArrayLike, DTypeLike, NDArray

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import check_dtype, constant, is_dask, is_weak, leaf, number
from vecdist.graph.node import Node, Scalar, cast
from vecdist.graph.node import where as choose
from vecdist.graph.shapes import normalise_axes
from vecdist.lazy.indexing import pick, picks
from vecdist.lazy.methods import Methods
from vecdist.lazy.operators import Operators
from vecdist.lazy.parts import part
from vecdist.lazy.reading import Readable
from vecdist.lazy.refusals import INSTEAD, WHY
from vecdist.lazy.ufuncs import apply, check_shapes
from vecdist.lazy.views import broadcast_view, index_view, transpose_view
from vecdist.primitives.products import by_loops, is_small, product
from vecdist.primitives.reductions import reduced
from vecdist.primitives.scans import running
from vecdist.primitives.structure import drop_axes, reshape, summed
from vecdist.primitives.table import Primitive

Axes: TypeAlias = int | Sequence[int] | None
"""One axis, several, or all of them."""


@final
class LazyArray(Readable, Methods, Operators):
    """An array that is an expression.

    It broadcasts, indexes and reduces like a NumPy array and takes part in NumPy functions, and everything gives
    another lazy array.  ``np.asarray(lazy)``, ``float(lazy)`` and the like compute it, in one kernel, once.

    >>> import numpy as np, vecdist
    >>> x = vecdist.lazy(np.array([1.0, 2.0, 3.0]))
    >>> y = (np.sqrt(x) * 2).sum()
    >>> y.shape, y.dtype
    ((), dtype('float64'))
    >>> round(float(y), 3)
    8.293
    """

    __slots__ = ()
    __array_priority__: float = 1000.0

    @property
    def T(self) -> LazyArray:  # noqa: N802 (NumPy's name)
        """The transpose."""
        return self.transpose()

    @property
    def mT(self) -> LazyArray:  # noqa: N802 (NumPy's name)
        """The transposes of the matrices in the last two axes."""
        if self.ndim < 2:
            raise ValueError(f"mT is of matrices in the last two axes, and the shape is {self.shape}")
        return self.transpose(*range(self.ndim - 2), -1, -2)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a lazy array of no axes is a number, which has no length and no elements")
        return self.shape[0]

    def __iter__(self) -> Iterator[LazyArray]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        from vecdist.inspect.notebook import summary

        return summary(self.node, self._value is not None)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from vecdist.inspect.notebook import mimebundle

        return mimebundle(self.node, self._value is not None)

    def __getitem__(self, key: Any) -> LazyArray:
        return LazyArray(pick(self.node, key) if picks(key) else part(index_view(self.node, key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "a lazy array does not change: write x = np.where(np.arange(n) == i, value, x) to replace an element, "
            "x = vecdist.add_at(x, i, value) to add to it, or np.stack, np.concatenate or np.block to make the whole"
        )

    def transpose(self, *axes: Any) -> LazyArray:
        """The array with its axes in another order; reversed where none is given."""
        order = tuple(axes[0] if len(axes) == 1 and isinstance(axes[0], Iterable) else axes)
        return LazyArray(transpose_view(self.node, None if order in ((), (None,)) else order))

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

    def astype(self, dtype: DTypeLike) -> LazyArray:
        """The array converted to ``dtype``."""
        check_dtype(np.dtype(dtype))
        return LazyArray(cast(self.node, dtype))

    def sum(self, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> LazyArray:
        """The sum over ``axis``; float32 is added up in float64, but for short stretches of it."""
        axes = self.axes(axis)
        source = self if dtype is None else self.astype(dtype)
        total = summed(source.node, axes, dtype or (np.uint64 if self.dtype.kind == "u" else None))
        return LazyArray(total if keepdims else drop_axes(total, axes))

    def mean(self, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> LazyArray:
        """The mean over ``axis``."""
        source = self.astype(dtype or (self.dtype if self.dtype.kind == "f" else np.float64))
        count = Node("extent", (self.node,), (self.axes(axis),), (), np.dtype(np.float64))
        return source.sum(axis, keepdims=keepdims) / LazyArray(cast(count, source.dtype))

    def prod(self, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> LazyArray:
        """The product over ``axis``; its derivative is right where an element is 0."""
        source = self if dtype is None else self.astype(dtype)
        if dtype is None and self.dtype.kind in "biu":
            source = self.astype(np.uint64 if self.dtype.kind == "u" else np.int64)
        return source._reduced("prod", axis, keepdims)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None) -> LazyArray:
        """The running sum along ``axis``, of all elements in order where it is left out; float32 runs in float64."""
        return self._running("cumsum", axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None) -> LazyArray:
        """The running product along ``axis``, as ``cumsum``; its derivatives are right where any elements are 0."""
        return self._running("cumprod", axis, dtype)

    def _running(self, op: str, axis: int | None, dtype: Any) -> LazyArray:
        whole = {"b": np.int64, "i": np.int64, "u": np.uint64}.get(self.dtype.kind, self.dtype)
        source = (self.ravel() if axis is None else self).astype(dtype or whole)
        (place,) = source.axes(0 if axis is None else axis)
        return LazyArray(running(op, source.node, place))

    def max(self, axis: Axes = None, keepdims: bool = False) -> LazyArray:
        """The largest element over ``axis``, NaN where one is; elements that share it share its derivative."""
        return self._extreme("max", axis, keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> LazyArray:
        """The smallest element over ``axis``, NaN where one is; elements that share it share its derivative."""
        return self._extreme("min", axis, keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> LazyArray:
        """Whether an element over ``axis`` is true."""
        return (self != 0).astype(np.int8)._reduced("max", axis, keepdims, if_empty=0) > 0

    def all(self, axis: Axes = None, keepdims: bool = False) -> LazyArray:
        """Whether every element over ``axis`` is true."""
        return (self != 0).astype(np.int8)._reduced("min", axis, keepdims, if_empty=1) > 0

    def _extreme(self, op: str, axis: Any, keepdims: bool) -> LazyArray:
        if any(self.shape[each] == 0 for each in self.axes(axis)):
            raise ValueError(f"{op} over an axis of length 0, of an array of shape {self.shape}, has no value")
        if self.dtype.kind == "b":
            return self.astype(np.int8)._reduced(op, axis, keepdims) > 0
        return self._reduced(op, axis, keepdims)

    def _reduced(self, op: str, axis: Any, keepdims: bool, if_empty: int | None = None) -> LazyArray:
        axes = self.axes(axis)
        found = LazyArray(reduced(op, self.node, axes))
        if if_empty is not None and any(self.shape[each] == 0 for each in axes):
            found = LazyArray(broadcast_view(number(if_empty, self.dtype), found.shape))
        return found if keepdims else LazyArray(drop_axes(found.node, axes))

    def take(self, indices: Operand, axis: int | None = None) -> LazyArray:
        """The elements at ``indices`` along ``axis``; of all elements in order where it is left out."""
        if axis is None:
            return self.ravel()[np.asarray(indices) if isinstance(indices, int) else indices]
        (place,) = normalize_axis_tuple(axis, self.ndim)
        return self[(*[slice(None)] * place, np.asarray(indices) if isinstance(indices, int) else indices)]

    def axes(self, axis: Axes) -> tuple[int, ...]:
        """``axis`` as NumPy reads it, as negative integers."""
        return normalise_axes(None if axis is None else normalize_axis_tuple(axis, self.ndim), self.ndim)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if any(hasattr(x, "__of_lazy_arrays__") or (hasattr(x, "__dask_graph__") and not is_dask(x)) for x in inputs):
            return NotImplemented
        (out,) = keywords.pop("out", (None,))
        if out is not None and not (out is inputs[0] and isinstance(out, LazyArray)):  # x += y gives x another value
            raise TypeError(
                f"np.{ufunc.__name__} cannot write a lazy array into another (out=, or an operator such as +=); "
                "write a = a + x"
            )
        if method != "__call__":
            return _by_method(ufunc, method, inputs, keywords)
        if ufunc.signature is not None or ufunc.nout > 1:
            return _of_several(ufunc, inputs, keywords)
        if keywords:
            raise TypeError(f"np.{ufunc.__name__} of a lazy array takes no {', '.join(keywords)}: {INSTEAD}")
        return LazyArray(apply(ufunc, *map(_operand, inputs)))

    def __array_function__(self, function: Callable, types: Any, args: Any, keywords: Any) -> Any:
        return _called(function, args, keywords)


Operand: TypeAlias = ArrayLike | LazyArray
"""What can stand in an expression: a number, an array, what NumPy makes an array of, or a lazy array."""

Expression: TypeAlias = LazyArray | NDArray[Any]
"""A lazy array, also one that a function of NumPy gives: type checkers are told that this is an array of NumPy's."""

Wrt: TypeAlias = Operand | Sequence[Operand]
"""An array of an expression, or the name of one, or several of these."""


def _called(function: Callable, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A function of NumPy by its lazy form."""
    from vecdist.lazy import convolution, fourier, linear_algebra, numpy_functions

    module = function.__module__.replace("numpy", "np", 1)
    tables = {"np": numpy_functions, "np.linalg": linear_algebra, "np.fft": fourier,
              "np.lib.stride_tricks": convolution}  # fmt: skip
    name, table = f"{module}.{function.__name__}", tables[module].FUNCTIONS if module in tables else {}
    known = table.get(function.__name__)
    if known is None:
        reason = WHY.get(function.__name__, "vecdist.external takes a function with its derivatives")
        raise TypeError(
            f"{name} has no lazy form: {reason}; use {name}(np.asarray(x)) where the value of x is known "
            "(NUMPY.md lists the functions that have one)"
        )
    return _bound(name, known, args, keywords)


def _by_method(ufunc: np.ufunc, method: str, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What a method of a ufunc, such as ``reduce``, gives; NumPy's along the first axis where none is given."""
    from vecdist.lazy.ufunc_methods import method_of

    first = {} if method == "outer" else {"axis": 0}
    return _bound(f"np.{ufunc.__name__}.{method}", method_of(ufunc, method), inputs, {**first, **keywords})


def _of_several(ufunc: np.ufunc, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A ufunc of vectors or matrices, or one of several results."""
    from vecdist.lazy.ufunc_forms import FORMS

    known, name = FORMS.get(ufunc.__name__), f"np.{ufunc.__name__}"
    if known is None:
        raise TypeError(f"{name}({', '.join(keywords)}) has no lazy form: {INSTEAD}")
    return _bound(name, known, inputs, keywords) if keywords else known(*inputs)


def _bound(name: str, known: Callable, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What a lazy form gives, if it has such parameters."""
    try:
        bound = inspect.signature(known).bind(*args, **keywords)
    except TypeError as error:
        wanted = ", ".join(inspect.signature(known).parameters)
        raise TypeError(f"{name} of a lazy array: {error}; it takes {wanted}") from None
    return known(*bound.args, **bound.kwargs)


def lazy(array: Operand, name: str | None = None) -> LazyArray:
    """``array`` as a lazy array: a leaf of expressions, which ``wrt`` finds by the array itself or by ``name``.

    >>> import numpy as np, vecdist
    >>> b = np.array([0.5, 1.5])
    >>> vecdist.value_and_grad((vecdist.lazy(b) ** 2).sum(), wrt=(b,))
    (np.float64(2.5), (array([1., 3.]),))
    """
    if not isinstance(array, LazyArray):
        array = LazyArray(leaf(array, name))
        array.node.attrs[0].marked = True
    return array


def as_lazy(array: Operand) -> LazyArray:
    """``array`` as a lazy array, which nobody has asked for."""
    return array if isinstance(array, LazyArray) else LazyArray(leaf(array))


def data(array: Operand, name: str | None = None) -> LazyArray:
    """``array`` as a lazy array whose elements never change: what depends on it alone is computed once.

    Sums that need nothing of it but means and variances read it no more (sufficient statistics, centred and in
    float64); dear functions of it are kept.  Results change by rounding alone.  No derivative is taken in it; changing
    the array in place afterwards is not noticed.  Of arrays in chunks, Dask's or those of ``chunked``, what depends on
    them alone, and has no rows of its own, is kept.  Raises ``TypeError`` for an argument of a compiled function, which
    changes from call to call.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> x, shape = np.array([0.5, 1.0, 2.0]), np.array(2.0)
    >>> total = vecdist.logpdf(Gamma(shape, 1.0), vecdist.data(x)).sum()
    >>> round(float(total), 6)
    -3.5
    """
    if isinstance(array, LazyArray):
        leaf = array.node.attrs[0] if array.node.op == "leaf" else None
        if leaf is not None and isinstance(leaf.array, Chunked):
            return LazyArray(constant(leaf.array, name or leaf.name))
        raise TypeError("data marks an array that is there, not an expression or an argument of a compiled function")
    return LazyArray(constant(array, name))


def _operand(value: Any) -> Node | Scalar:
    """The node of a value; Python numbers stay, for their dtype depends on what they meet."""
    if isinstance(value, LazyArray):
        return value.node
    return value if is_weak(value) else leaf(value)


def operands(*values: Operand) -> list[Node]:
    """The nodes of values; Python numbers take the dtype that NumPy would give them beside the others."""
    nodes = [_operand(value) for value in values]
    dtype = np.result_type(*(n.dtype if isinstance(n, Node) else n for n in nodes))
    return [n if isinstance(n, Node) else number(n, dtype) for n in nodes]


def of_arrays(entry: Primitive, values: Sequence[Any]) -> LazyArray:
    """A primitive of arrays and numbers."""
    if any(isinstance(value, Node) for value in values):
        raise TypeError(f"{entry.name} takes nodes, as a family's formulas do, or arrays, but not both at once")
    nodes = [_operand(value) for value in values]
    check_shapes(entry.name, [node for node in nodes if isinstance(node, Node)])
    return LazyArray(entry(*nodes))


def where(condition: Operand, yes: Operand, no: Operand) -> LazyArray:
    """``yes`` where ``condition`` holds, else ``no``; derivatives too are chosen, never scaled."""
    (test,) = operands(condition)
    branches = operands(yes, no)
    check_shapes("np.where", [test, *branches])
    return LazyArray(choose(cast(test, np.bool_), *branches))


def matmul(left: Operand, right: Operand) -> LazyArray:
    """The matrix product, of stacks of matrices in each other's place; of two, by BLAS where that is sooner."""
    a, b = (LazyArray(node) for node in operands(left, right))
    if not a.ndim or not b.ndim:
        raise ValueError(f"a matrix product wants arrays of 1 axis or more, given shapes {a.shape} and {b.shape}")
    dtype = np.result_type(a.dtype, b.dtype)
    inner = 0 if b.ndim == 1 else -2
    if a.shape[-1] != b.shape[inner]:
        raise ValueError(f"inner lengths differ in a matrix product of shapes {a.shape} and {b.shape}")
    if a.ndim == b.ndim == 2 and dtype.kind == "f" and 0 not in (*a.shape, *b.shape):
        multiplied = by_loops if is_small(a.shape[0], *b.shape) else product
        return LazyArray(multiplied(cast(a.node, dtype), cast(b.node, dtype)))
    if a.ndim > 1 and b.ndim > 2:
        check_shapes("np.matmul", [a[..., 0, 0].node, b[..., 0, 0].node])
        b = b[..., None, :, :]
    total = (a * b).sum(axis=-1) if b.ndim == 1 else (a[..., None] * b).sum(axis=-2)
    return total.astype(dtype)


__all__ = ["LazyArray", "as_lazy", "data", "lazy", "matmul", "of_arrays", "operands", "where"]
