"""Compiled functions: an expression traced once for each set of shapes, then called with arrays at little cost."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from vecdist import pipeline
from vecdist.array import LazyArray, lazy
from vecdist.backends.base import Feed, Runner
from vecdist.derivatives import gradient_of, partials_of
from vecdist.expr import Node
from vecdist.leaves import argument, array_kind, readable
from vecdist.passes.bind import bind


def compile(function: Callable[..., Any], errors: str = "nan") -> Compiled:  # noqa: A001 (numba and torch say so too)
    """A function from lazy arrays to a lazy array, made into a function from arrays to an array.

    ``function`` is run once for each combination of shapes and dtypes; a kernel is compiled for each new *structure*,
    so other lengths and other data do not compile again.  ``errors="nan"`` gives NaN for invalid parameters,
    ``errors="raise"`` raises ``InvalidParameter``.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> f = vecdist.compile(lambda mu, x: vecdist.logpdf(Normal(mu, 1.0), x).sum())
    >>> mu, x = np.array(0.0), np.array([1.0, 2.0])
    >>> round(float(f(mu, x)), 4)
    -4.3379
    >>> value, (grad,) = f.value_and_grad(mu, x, wrt=(mu,))
    >>> float(grad)
    3.0
    """
    if not callable(function):
        raise TypeError(f"compile wants a function of lazy arrays, given {function!r}")
    if errors not in ("nan", "raise"):
        raise ValueError(f'errors is "nan" or "raise", given {errors!r}')
    return Compiled(function, errors)


@final
class Compiled:
    """What ``compile`` gives: called with NumPy or CuPy arrays, it returns arrays of the same library."""

    def __init__(self, function: Callable[..., Any], errors: str) -> None:
        self.function = function
        self.errors = errors
        self.names = _parameter_names(function)
        self._by_shape: dict[tuple, Runner] = {}
        self._by_layout: dict[tuple, Runner] = {}
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "compiled")

    def __repr__(self) -> str:
        return f"<vecdist.compile of {self.__name__}>"

    def __call__(self, *arrays: Any) -> Any:
        """The value for ``arrays``."""
        try:
            return self._by_shape[tuple([array.shape for array in arrays])](arrays)[0][0]
        except (KeyError, AttributeError, TypeError):  # new shapes, dtypes or layouts, or Python numbers
            pass
        return self._run(arrays, None)[0]

    def value_and_grad(self, *arrays: Any, wrt: Any = None) -> tuple[Any, Any]:
        """The value, which must be a scalar, and its gradient in each array that ``wrt`` names.

        ``wrt`` names arguments by position, by name or by the array itself, one or a tuple; all floating-point
        arguments where it is left out.  The gradients come likewise.
        """
        return self._derivatives(arrays, wrt, "gradient")

    def value_and_partials(self, *arrays: Any, wrt: Any = None) -> tuple[Any, Any]:
        """The value and its elementwise partial derivatives, each of the value's shape."""
        return self._derivatives(arrays, wrt, "partials")

    def _derivatives(self, arrays: Sequence[Any], wrt: Any, kind: str) -> tuple[Any, Any]:
        try:
            found = self._by_shape[kind, wrt, *[array.shape for array in arrays]](arrays)[0]
        except (KeyError, AttributeError, TypeError):  # as in a call, or wrt by arrays, which have no hash
            found = None
        if found is None:
            found = self._run(arrays, (kind, self._places(arrays, wrt)), wrt)
        return found[0], found[1:] if wrt is None or isinstance(wrt, tuple | list) else found[1]

    def _places(self, arrays: Sequence[Any], wrt: Any) -> tuple[int, ...]:
        """The positions of the arguments that ``wrt`` names."""
        if wrt is None:
            return tuple(n for n, a in enumerate(arrays) if np.result_type(a).kind == "f")
        return tuple(self._place(arrays, item) for item in (wrt if isinstance(wrt, tuple | list) else (wrt,)))

    def _place(self, arrays: Sequence[Any], item: Any) -> int:
        if isinstance(item, int) and not isinstance(item, bool) and -len(arrays) <= item < len(arrays):
            return item % len(arrays)
        if isinstance(item, str) and item in self.names:
            return self.names.index(item)
        places = [place for place, array in enumerate(arrays) if array is item]
        if len(places) == 1:
            return places[0]
        if places:
            names = " and ".join(map(self._name, places))
            raise ValueError(f"wrt names an array that is given twice, as {names}; name one by position or name")
        given = repr(item) if isinstance(item, str | int) else f"an array of shape {np.shape(item)}"
        raise ValueError(f"wrt names {given}, which is no argument of {self!r}; its arguments: {', '.join(self.names)}")

    def _run(
        self, arrays: Sequence[Any], derivative: tuple[str, tuple[int, ...]] | None, wrt: Any = None
    ) -> Sequence[Any]:
        """The general way: find or build the runner for these layouts."""
        arrays = _readable(arrays)
        key = (derivative, *(_layout(array) for array in arrays))
        runner = self._by_layout.get(key)
        if runner is None:
            runner = self._by_layout[key] = self._build(arrays, derivative)
        shapes = tuple(array.shape for array in arrays)
        if derivative is None:
            self._by_shape.setdefault(shapes, runner)
        elif _is_key(wrt):
            self._by_shape.setdefault((derivative[0], wrt, *shapes), runner)
        return runner(arrays)[0]

    def _build(self, arrays: Sequence[Any], derivative: tuple[str, tuple[int, ...]] | None) -> Runner:
        """Trace the function for these arrays, and compile what is new in it."""
        nodes = [argument(a, self._name(n)) for n, a in enumerate(arrays)]
        result = self.function(*(LazyArray(node) for node in nodes))
        if not isinstance(result, LazyArray):
            given = type(result).__name__
            raise TypeError(f"a compiled function returns a lazy array; {self.__name__} returned {given}")
        leaves = [nodes[place] for place in derivative[1]] if derivative else []
        wrong = next((leaf for leaf in leaves if leaf.dtype.kind != "f"), None)
        if wrong is not None:
            raise TypeError(f"derivatives are in floating-point arrays; {wrong.attrs[0]!r} is of dtype {wrong.dtype}")
        derivation, shapes = _derivation(result, leaves, derivative[0] if derivative else "value")
        bound = bind((result.node, *leaves))
        kind = pipeline.library(bound.leaves)
        plan = pipeline.planned(bound, derivation, kind, self.errors)
        places = {node.attrs[0]: place for place, node in enumerate(nodes)}
        feeds = [Feed.of(leaf, places.get(leaf)) for leaf in bound.leaves]
        run = plan.program.prepared(bound.lengths, shapes, feeds)
        run = _guarded(run, arrays) if kind == "cuda" else run
        return self._raising(run) if self.errors == "raise" else run

    def _raising(self, run: Runner) -> Runner:
        def checked(arrays: Sequence[Any]) -> tuple[list[Any], Any]:
            results, failed = run(arrays)
            if failed:
                self.function(*(lazy(array) for array in arrays)).compute()  # raises, naming what is invalid
            return results, False

        return checked

    def _name(self, place: int) -> str:
        return self.names[place] if place < len(self.names) else f"argument {place}"


def _is_key(wrt: Any) -> bool:
    """Whether ``wrt`` names arguments by position or name, so that it may be looked up."""
    items = wrt if isinstance(wrt, tuple) else (wrt,)
    return all(item is None or isinstance(item, int | str) for item in items)


def _derivation(result: LazyArray, leaves: Sequence[Node], kind: str) -> tuple[pipeline.Derivation, list]:
    if kind == "value":
        return pipeline.values, [result.shape]
    if kind == "gradient":
        if result.shape != ():
            raise ValueError(
                f"value_and_grad wants a scalar, the function gives shape {result.shape}; sum it, or use "
                "value_and_partials for elementwise derivatives"
            )
        return gradient_of, [(), *(leaf.shape for leaf in leaves)]
    return partials_of, [result.shape] * (1 + len(leaves))


def _readable(arrays: Sequence[Any]) -> list[Any]:
    """Arguments as arrays that kernels can read; beside CuPy arrays numbers stay numbers, which any device can take."""
    on_device = any(array_kind(array) == "cupy" for array in arrays)
    return [
        array if array_kind(array) == "cupy"
        else readable(array)[()] if on_device and array_kind(array) == "number"
        else readable(array)
        for array in arrays
    ]


def _layout(array: Any) -> tuple:
    """What of an array the structure may depend on."""
    return (array_kind(array), array.shape, array.dtype, array.flags.c_contiguous)


def _guarded(run: Runner, arrays: Sequence[Any]) -> Runner:
    """``run`` for arrays laid out as ``arrays`` are, ``TypeError`` for others: a CUDA kernel would not notice."""
    dtypes, strides = [array.dtype for array in arrays], [array.strides for array in arrays]

    def guarded(given: Sequence[Any]) -> tuple[list[Any], Any]:
        if [array.dtype for array in given] != dtypes or [array.strides for array in given] != strides:
            raise TypeError("a kernel compiled for other dtypes or layouts")
        return run(given)

    return guarded


def _parameter_names(function: Callable) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
