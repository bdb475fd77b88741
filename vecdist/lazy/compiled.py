"""Compiled functions: an expression traced once for each set of shapes, then called with arrays at little cost."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from vecdist.graph.chunked import laid_out
from vecdist.graph.leaves import Leaf, argument, array_kind, entered, readable
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.asking import in_front
from vecdist.lazy.on_device import device_of, in_host_memory, on_device
from vecdist.passes.batched import Chains
from vecdist.passes.bind import Bound
from vecdist.passes.derivations import Derivation, gradient_of, partials_of, values
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed
from vecdist.runtime.cuda.graphs import Replayed, is_replayable
from vecdist.runtime.libraries import target_of
from vecdist.runtime.outputs import Outputs

Run = Callable[..., tuple[Sequence[Any], Any]]
"""``run(arrays)``, or ``run(arrays, out)``, gives the results and whether a parameter was invalid."""
Derivative = tuple[str, tuple[int, ...]] | None
"""``"gradient"``, ``"partials"``, or ``"either"`` as the shape is, and the places of the arguments to derive in."""
LAYOUTS = 64  # of arguments whose launches are kept, those that were last used


def compile(  # noqa: A001 (numba and torch say so too)
    function: Callable[..., Any],
    errors: Literal["nan", "raise"] = "nan",
    in_axes: int | Sequence[int | None] | Mapping[str, int | None] | None = None,
    graph: bool = False,
    unnormalised: bool = False,
) -> Compiled:
    """A function from lazy arrays to a lazy array, made into a function from arrays to an array.

    ``function`` is run once for each combination of shapes and dtypes; a kernel is compiled for each new *structure*,
    so other lengths and data do not compile again.  Invalid parameters give NaN, or raise as ``errors`` says.

    ``in_axes`` has an entry for each argument, in a tuple or in a dict by name: 0 where the argument has a leading axis
    of *chains*, ``None`` (or no name) where all chains share it; ``in_axes=0`` says 0 of each.  The function is written
    for one chain; values and derivatives have the leading axis.  ``ValueError`` where arguments differ in its length.

    ``graph=True`` (on CuPy arrays; ``TypeError`` on others) captures the launch as a CUDA graph, replayed when called
    with the same arrays again; results lie in the same arrays every time: **the next call overwrites them**;
    ``ValueError`` where products of matrices lie between kernels, which CuPy does not capture.
    ``unnormalised=True`` leaves terms that depend on numbers and ``data`` alone out of the value, not of derivatives.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> f = vecdist.compile(lambda mu, x: vecdist.logpdf(Normal(mu, 1.0), x).sum())
    >>> mu, x = np.array(0.0), np.array([1.0, 2.0])
    >>> value, (grad,) = f.value_and_grad(mu, x, wrt=(mu,))
    >>> round(float(value), 4), float(grad)
    (-4.3379, 3.0)
    >>> chains = vecdist.compile(f.function, in_axes={"mu": 0})
    >>> values, (grads,) = chains.value_and_grad(np.array([0.0, 1.0, 2.0]), x, wrt=(0,))
    >>> values.shape, grads.tolist()
    ((3,), [3.0, 1.0, -1.0])
    """
    if not callable(function):
        raise TypeError(f"compile wants a function of lazy arrays, given {function!r}")
    if errors not in ("nan", "raise"):
        raise ValueError(f'errors is "nan" or "raise", given {errors!r}')
    if graph and errors == "raise":
        raise ValueError('graph=True wants errors="nan": a replay does not wait to see whether a parameter was invalid')
    return Compiled(function, errors, in_axes, graph, unnormalised)


@final
@dataclass(frozen=True)
class _Prepared:
    """What a function has been compiled to for one layout of its arguments."""

    run: Run
    outputs: Outputs


@final
class Compiled:
    """What ``compile`` gives: called with NumPy or CuPy arrays, it returns arrays of the same library.

    NumPy arrays that the function itself brings are copied to the GPU for CuPy arguments, each once: changing them in
    place afterwards is not noticed.
    """

    def __init__(
        self, function: Callable[..., Any], errors: str, in_axes: Any, graph: bool, unnormalised: bool
    ) -> None:
        self.function = function
        self.errors = errors
        self.unnormalised = unnormalised
        self.graph = graph
        self.names: list[str] = _parameter_names(function)
        self.chains: Chains | None = None if in_axes is None else Chains.of(in_axes, self.names)
        self._by_shape: dict[tuple, Run] = {}
        self._by_layout: Memo[_Prepared] = Memo(LAYOUTS)
        self._moved: deque[list[Leaf]] = deque(maxlen=LAYOUTS)  # what keeps its copies on the GPU, of the last traces
        self.__doc__ = function.__doc__
        self.__name__: str = getattr(function, "__name__", "compiled")

    def __repr__(self) -> str:
        return f"<vecdist.compile of {self.__name__}>"

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The value for ``arrays``, of shape (C, *shape) for C chains.

        It is written to the array ``out`` where that is given, which must be C-contiguous, have the value's shape and
        dtype, and share no memory with what is read; ``TypeError`` or ``ValueError`` otherwise.

        >>> import numpy as np, vecdist
        >>> double, x = vecdist.compile(lambda x: x * 2.0), np.arange(3.0)
        >>> result = np.empty(3)
        >>> double(x, out=result) is result, result.tolist()
        (True, [0.0, 2.0, 4.0])
        """
        if out is not None:
            return self._into(arrays, None, (out,))[0]
        try:
            return self._by_shape[tuple([(type(array), array.shape) for array in arrays])](arrays)[0][0]
        except (KeyError, AttributeError, TypeError):  # new shapes, dtypes or layouts, or Python numbers
            pass
        return self._run(arrays, None)[0]

    def value_and_grad(self, *arrays: Any, wrt: Any = None, out: Any = None) -> tuple[Any, Any]:
        """The value, which must be a scalar, and its gradient in each array that ``wrt`` names.

        ``wrt`` names arguments by position, by name or by the array itself, one or a tuple; all floating-point
        arguments where it is left out.  The gradients come likewise, each of its argument's shape.  For C chains values
        have shape (C,), and gradients (C, *shape of the argument of one chain), also in arguments that chains share.

        ``out`` is a tuple of arrays for the value and each gradient, as in a call.

        >>> import numpy as np, vecdist
        >>> square, x = vecdist.compile(lambda x: (x * x).sum()), np.arange(3.0)
        >>> value, grad = np.empty(()), np.empty(3)
        >>> _ = square.value_and_grad(x, out=(value, grad))
        >>> float(value), grad.tolist()
        (5.0, [0.0, 2.0, 4.0])
        """
        return self._derivatives(arrays, wrt, "gradient", out)

    def value_and_partials(self, *arrays: Any, wrt: Any = None, out: Any = None) -> tuple[Any, Any]:
        """The value and its elementwise partial derivatives, each of the value's shape; ``out`` as in a gradient.

        >>> import numpy as np, vecdist
        >>> product = vecdist.compile(lambda a, x: a * x)
        >>> value, of_a = product.value_and_partials(np.array(2.0), np.arange(3.0), wrt="a")
        >>> of_a.tolist()
        [0.0, 1.0, 2.0]
        """
        return self._derivatives(arrays, wrt, "partials", out)

    def _derivatives(self, arrays: Sequence[Any], wrt: Any, kind: str, out: Any) -> tuple[Any, Any]:
        if out is not None:
            found = self._into(arrays, (kind, self._places(arrays, wrt)), out)
        else:
            try:
                found = self._by_shape[kind, wrt, *[(type(array), array.shape) for array in arrays]](arrays)[0]
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

    def _run(self, arrays: Sequence[Any], derivative: Derivative, wrt: Any = None) -> Sequence[Any]:
        """The general way, by the layouts of the arrays."""
        given, arrays = arrays, _readable(arrays)
        prepared = self._prepared(arrays, derivative)
        run = _guarded(prepared.run, arrays) if prepared.outputs.library == "cuda" else prepared.run
        shapes = tuple((type(one), array.shape) for one, array in zip(given, arrays, strict=True))
        if len(self._by_shape) >= LAYOUTS:
            self._by_shape.clear()  # those that are used come back from what is kept by layout
        if derivative is None:
            self._by_shape.setdefault(shapes, run)
        elif _is_key(wrt):
            self._by_shape.setdefault((derivative[0], wrt, *shapes), run)
        return prepared.run(arrays)[0]

    def _into(self, arrays: Sequence[Any], derivative: Derivative, out: Any) -> Sequence[Any]:
        """The results, written to ``out``."""
        if self.graph:
            raise ValueError("out is for functions compiled without graph=True, which has result arrays of its own")
        arrays = _readable(arrays)
        prepared = self._prepared(arrays, derivative)
        prepared.outputs.check(out, arrays, self._name)
        prepared.run(arrays, out)
        return tuple(out)

    def _prepared(self, arrays: Sequence[Any], derivative: Derivative) -> _Prepared:
        key = (derivative, *(_layout(array) for array in arrays))
        return self._by_layout(key, lambda: self._build(arrays, derivative))

    def _build(self, arrays: Sequence[Any], derivative: Derivative) -> _Prepared:
        """Trace the function for these arrays, and compile what is new in it."""
        nodes, roots, derivation, shapes = self._derived(arrays, derivative)
        places = {node.attrs[0]: place for place, node in enumerate(nodes)}
        return self._planned(pipeline.structure(roots, derivation, self.errors), derivation, shapes, places)

    def explained(self, arrays: Sequence[Any], wrt: Any) -> tuple[Any, ...]:
        """Of a call with ``arrays``, or its derivatives: roots and derivation, names of results, errors and terms."""
        arrays = _readable(arrays)
        places = () if wrt is None else self._places(arrays, wrt)
        _, roots, derivation, _ = self._derived(arrays, None if wrt is None else ("either", places))
        derivative = "gradient" if derivation == gradient_of else "partial"
        results = ["value", *(f"{derivative} in {self._name(place)}" for place in places)]
        return roots, derivation, results, self.errors, self.unnormalised

    def _derived(
        self, arrays: Sequence[Any], derivative: Derivative
    ) -> tuple[Sequence[Node], tuple[Node, ...], Derivation, Sequence[tuple[int, ...]]]:
        """The arguments as nodes, what is computed of them, and the shapes of the results."""
        nodes = [argument(a, self._name(n)) for n, a in enumerate(arrays)]
        chains = () if self.chains is None else (self.chains.length(arrays, self._name),)
        singles = self.chains.singles(nodes) if self.chains else nodes
        result = self.traced(singles)
        wrt = derivative[1] if derivative else ()
        wrong = next((nodes[place] for place in wrt if nodes[place].dtype.kind != "f"), None)
        if wrong is not None:
            raise TypeError(f"derivatives are in floating-point arrays; {wrong.attrs[0]!r} is of dtype {wrong.dtype}")
        leaves = [singles[place] for place in wrt]
        derivation, shapes = _derivation(result, leaves, derivative[0] if derivative else "value", bool(chains))
        roots = self.chains.apply(result.node, nodes, wrt) if self.chains else (result.node, *leaves)
        return nodes, roots, derivation, [(*chains, *shape) for shape in shapes]

    def _planned(
        self, bound: Bound, derivation: Derivation, shapes: Sequence[tuple[int, ...]], places: dict[Leaf, int]
    ) -> _Prepared:
        kind = target_of(bound.leaves)
        if self.graph and kind != "cuda":
            raise TypeError("graph=True wants CuPy arrays: a CUDA graph is a launch on a GPU; given NumPy arrays")
        plan, bound = pipeline.fed(bound, derivation, kind, self.errors, self.unnormalised)
        feeds = Feed.each(bound.leaves, places)
        dtypes = tuple(root.dtype for root in plan.graph)
        held = tuple(feed.array for feed in feeds if feed.place is None)
        outputs = Outputs(kind, tuple(shapes), dtypes, held)
        run: Run = plan.program.prepared(bound.lengths, shapes, feeds)
        if self.graph and not is_replayable(run):
            calls = ", ".join(getattr(run, "refused", ())) or "what runs between kernels"
            raise ValueError(
                f"graph=True: {calls} cannot be captured in a CUDA graph; of an external call that waits for nothing, "
                "say so by capturable=True"
            )
        run = Replayed(run, outputs) if self.graph else run
        return _Prepared(self._raising(run) if self.errors == "raise" else run, outputs)

    def traced(self, nodes: Sequence[Node]) -> LazyArray:
        """What the function gives of arguments as nodes, those of one chain."""
        with in_front():
            result = self.function(*(LazyArray(node) for node in nodes))
        if not isinstance(result, LazyArray):
            given = type(result).__name__
            raise TypeError(f"a compiled function returns a lazy array; {self.__name__} returned {given}")
        if device_of(nodes) == "cpu":
            return result
        self._moved.append(in_host_memory((result.node,)))
        return LazyArray(*on_device((result.node,)))

    def _raising(self, run: Run) -> Run:
        def checked(arrays: Sequence[Any], out: Any = None) -> tuple[Sequence[Any], Any]:
            results, failed = run(arrays, out)
            if failed:
                pipeline.raise_invalid(self._checks([as_lazy(array).node for array in arrays]))
            return results, False

        return checked

    def _checks(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """What holds the checks of parameters, for arguments that are there."""
        if self.chains is None:
            return (self.traced(nodes).node,)
        return tuple(self.chains.checks(self.traced(self.chains.singles(nodes)).node, nodes))

    def _name(self, place: int) -> str:
        return self.names[place] if place < len(self.names) else f"argument {place}"


def _is_key(wrt: Any) -> bool:
    """Whether ``wrt`` names arguments by position or name, so that it may be looked up."""
    items = wrt if isinstance(wrt, tuple) else (wrt,)
    return all(item is None or isinstance(item, int | str) for item in items)


def _derivation(
    result: LazyArray, leaves: Sequence[Node], kind: str, chains: bool
) -> tuple[Derivation, list[Any]]:
    """How to derive, and the shapes that it gives (for one chain)."""
    if kind == "value":
        return values, [result.shape]
    if kind == "gradient" or (kind == "either" and result.shape == ()):
        if result.shape != ():
            raise ValueError(
                f"value_and_grad wants a scalar, the function gives shape {result.shape}; sum it, or use "
                "value_and_partials for elementwise derivatives"
            )
        return gradient_of, [(), *(leaf.shape for leaf in leaves)]
    return Derivation("partials of each chain") if chains else partials_of, [result.shape] * (1 + len(leaves))


def _readable(arrays: Sequence[Any]) -> list[Any]:
    """Arguments as arrays that kernels can read; beside CuPy arrays numbers stay numbers, which any device can take."""
    on_device = any(array_kind(array) == "cupy" for array in arrays)
    return [
        readable(array)[()] if on_device and array_kind(array) == "number" else entered(array)[1]
        for array in arrays
    ]


def _layout(array: Any) -> tuple:
    """What of an array the structure may depend on."""
    return (array_kind(array), array.shape, array.dtype, laid_out(array))


def _guarded(run: Run, arrays: Sequence[Any]) -> Run:
    """``run`` for arrays laid out as ``arrays`` are, ``TypeError`` for others: a CUDA kernel would not notice."""
    dtypes, strides = [array.dtype for array in arrays], [array.strides for array in arrays]

    def guarded(given: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        if [array.dtype for array in given] != dtypes or [array.strides for array in given] != strides:
            raise TypeError("a kernel compiled for other dtypes or layouts")
        return run(given)

    return guarded


def _parameter_names(function: Callable) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
