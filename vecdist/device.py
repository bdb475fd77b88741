"""Log densities inside the functions and kernels that users write with Numba."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numba
import numpy as np
from numba.extending import typeof_impl

from vecdist.graph.leaves import argument, check_dtype, in_memory
from vecdist.graph.memo import cached_property
from vecdist.lazy.array import LazyArray
from vecdist.model.logdensity import LogDensity
from vecdist.passes.bind import bind
from vecdist.passes.derivations import Derivation
from vecdist.passes.entries import by_entries
from vecdist.runtime import device, pipeline
from vecdist.runtime.device import Parameter, Sequential
from vecdist.runtime.libraries import target_of

MOST_MEMORY = 2**16  # bytes that one thread keeps: a thread of a CPU has 0.5 MB or more, one of a GPU at most as much
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def device_function(
    function: Callable[..., Any] | LogDensity,
    arguments: Sequence[Any] | None = None,
    gradient: bool | Sequence[int | str] = False,
) -> DeviceFunction:
    """A scalar function of lazy arrays, or a log density, to be called in ``@numba.njit`` and ``@cuda.jit`` functions.

    ``arguments`` has for each argument a dtype, where that is a number, or an array of its dtype and shape; all are
    float64 numbers where nothing is said.  A ``LogDensity`` has one argument, ``x`` of shape (D,).  ``gradient`` says
    whether a call gives derivatives, too: in all floating-point arguments, or in those that it names, or their places.
    One thread computes all of a call, which allocates nothing and never raises; sums are in float64.  (Over thousands
    of rows of data the C function at ``LogDensity.c_logp_address`` is faster: it has the processor's vectors.)

    Raises ``TypeError`` or ``ValueError`` where ``function`` gives no lazy scalar, where an argument has another dtype
    or layout than calls can have, where a derivative is asked for in integers, where a thread would have to keep more
    than 64 KB between loops, and for a ``LogDensity`` with ``errors="raise"``.

    A random walk, all of it machine code:

    >>> import numba, numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> normal = vecdist.device_function(lambda x, mu, sd: vecdist.logpdf(Normal(mu, sd), x))
    >>> @numba.njit
    ... def walk(x, uniforms):
    ...     total = 0.0
    ...     for step, height in uniforms:
    ...         new = x + 2.0 * step - 1.0
    ...         if np.log(height) < normal(new, 3.0, 0.5) - normal(x, 3.0, 0.5):
    ...             x = new
    ...         total += x
    ...     return total / len(uniforms)
    >>> round(walk(3.0, np.random.default_rng(1).random((20000, 2))), 1)
    3.0
    """
    return DeviceFunction(function, arguments, gradient)


@final
class DeviceFunction:
    """What ``device_function`` gives: Numba calls it as a function of its own, and so does Python, on the CPU.

    A call gives the value, or, with derivatives in arguments that are numbers, ``(value, (slope, ...))``.  For each
    array that it derives in, it takes one more of that shape and dtype behind the arguments, and writes the slopes to
    it: ``value = f(x, slopes)``, for a ``LogDensity``.  It must share no memory with what is read.

    Numbers are converted as Numba converts them.  Arrays are C-contiguous; the value is NaN, and nothing is written,
    where one has another shape than it was made for.  Invalid parameters give NaN; a ``LogDensity`` is -inf where it
    has no value.

    Arrays that the function holds are read where they lie by every call, and live as long as compiled code that reads
    them; Numba keeps no such code in files.  Kernels on a GPU read copies of NumPy's arrays, made when the first is
    compiled; a function that holds CuPy's is for kernels alone, and a ``TypeError`` on a CPU.  What depends on
    ``vecdist.data`` alone is computed once, when the function is made.

    >>> import numba, numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> from vecdist.parameters import real
    >>> density = vecdist.LogDensity(lambda mu: vecdist.logpdf(Normal(1.0, 2.0), mu).sum(), mu=real(3))
    >>> target = vecdist.device_function(density, gradient=True)
    >>> @numba.njit
    ... def leapfrog(x, p, step, slopes):
    ...     target(x, slopes)
    ...     p += 0.5 * step * slopes
    ...     x += step * p
    ...     value = target(x, slopes)
    ...     p += 0.5 * step * slopes
    ...     return value - 0.5 * np.sum(p**2)
    >>> x, p = np.zeros(3), np.array([1.0, 0.0, -1.0])
    >>> round(leapfrog(x, p, 0.1, np.empty(3)), 3), x.round(3).tolist()
    (-6.211, [0.101, 0.001, -0.099])
    """

    def __init__(self, function: Callable[..., Any] | LogDensity, arguments: Any, gradient: Any) -> None:
        self.function: Callable[..., Any] | LogDensity = function
        self.arguments: Sequence[Any] | None = arguments
        self.gradient: bool | Sequence[int | str] = gradient
        whole = isinstance(function, LogDensity)
        self.__name__: str = getattr(function.model if whole else function, "__name__", "function")
        parameters = _of_density(function, arguments) if whole else tuple(_parameters(function, arguments))
        places = _places(parameters, gradient)
        nodes = [argument(np.zeros(each.shape, each.dtype)[()], each.name) for each in parameters]
        lazy = [LazyArray(node) for node in nodes]
        root = _scalar(function.trace(*lazy) if isinstance(function, LogDensity) else function(*lazy), self.__name__)
        bound = bind((*by_entries((root.node,)), *(nodes[place] for place in places)))
        rule = f"{'gradient' if places else 'values'}{', -inf for NaN' if whole else ''}"
        unnormalised = whole and function.unnormalised
        self.library: str = target_of([leaf for leaf in bound.leaves if not leaf.traced])
        kernel, leaves = pipeline.sequential(bound, Derivation(rule), self.library, unnormalised)
        arrays = {node.attrs[0]: place for place, node in enumerate(nodes)}
        derived = tuple([parameters[place] for place in places])
        name = self.__name__ if self.__name__.isidentifier() else "density"
        self.made: Sequential = Sequential(name, kernel, parameters, derived, leaves, arrays)
        if self.made.memory > MOST_MEMORY:
            raise ValueError(
                f"{self.__name__} keeps {self.made.memory} bytes from one loop to the next, and a thread has room for "
                f"{MOST_MEMORY}; vecdist.compile makes functions for many threads"
            )

    def __repr__(self) -> str:
        return f"<vecdist.device_function of {self.__name__}: {self.signature}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return DeviceFunction, (self.function, self.arguments, self.gradient)

    def __call__(self, *arguments: Any) -> Any:
        """The value, and derivatives, computed on the CPU."""
        return self._on("cpu")(*arguments)

    @property
    def signature(self) -> Any:
        """The types that it takes and gives, as Numba writes them."""
        return self.made.signature

    @property
    def address(self) -> int:
        """Where a C function lies: of the arguments, and a pointer for each derivative.  It lives as long as this."""
        return self._native.address

    @property
    def ctypes(self) -> Any:
        """The C function at ``address``, as Python and Numba call it."""
        return self._native.ctypes

    @cached_property
    def _native(self) -> Any:
        return device.for_c(self.made, self._on("cpu"))

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        return {}

    def _on(self, target: str) -> Any:
        """What Numba calls on a target, compiled when it is first asked for."""
        if target == "cpu" and self.library == "cuda":
            raise TypeError(
                f"{self.__name__} holds CuPy arrays, which no code for a CPU can read; make it of NumPy arrays, or "
                "take them as arguments"
            )
        if target not in self._compiled:
            self._compiled[target] = device.compiled(self.made, target)
        return self._compiled[target]

    @property
    def _numba_type_(self) -> Any:
        """What numba-cuda asks for; Numba itself has an entry below."""
        return self._on("cuda")._numba_type_


@typeof_impl.register(DeviceFunction)
def _type(found: DeviceFunction, context: Any) -> Any:
    return numba.typeof(found._on("cpu"))


def _of_density(density: LogDensity, arguments: Any) -> tuple[Parameter, ...]:
    if arguments is not None:
        raise TypeError("the one argument of a LogDensity is its vector, and need not be described")
    if density.errors == "raise":
        raise ValueError('compiled code cannot raise InvalidParameter; make the LogDensity with errors="nan"')
    return (Parameter("x", density.dtype, (density.ndim,)),)


def _parameters(function: Callable[..., Any], arguments: Sequence[Any] | None) -> Iterator[Parameter]:
    """The parameters of a function, by descriptions of its arguments."""
    if not callable(function):
        raise TypeError(f"device_function wants a function of lazy arrays or a LogDensity, given {function!r}")
    parameters = inspect.signature(function).parameters
    varying = next((str(each) for each in parameters.values() if each.kind not in POSITIONAL), None)
    if varying is not None:
        raise TypeError(f"arguments are given by position, one for each parameter; given one with {varying}")
    names = list(parameters)
    given = [np.float64] * len(names) if arguments is None else list(arguments)
    if len(given) != len(names):
        raise TypeError(f"the arguments are {', '.join(names)}; {len(given)} are described")
    for name, each in zip(names, given, strict=True):
        if isinstance(each, type | str | np.dtype):
            found, shape = np.dtype(each), ()
        else:
            array = in_memory(each)
            if not array.flags.c_contiguous or 0 in array.shape:
                raise ValueError(f"{name}: arrays are C-contiguous and have elements, given one of shape {array.shape}")
            found, shape = array.dtype, array.shape
        check_dtype(found)
        yield Parameter(name, found, shape)


def _places(parameters: Sequence[Parameter], gradient: bool | Sequence[int | str]) -> tuple[int, ...]:
    """The positions of the parameters to derive in."""
    names = [each.name for each in parameters]
    if isinstance(gradient, bool):
        return tuple([place for place, each in enumerate(parameters) if gradient and each.dtype.kind == "f"])
    known = {**dict(enumerate(range(len(names)))), **{name: place for place, name in enumerate(names)}}
    wrong = [each for each in gradient if each not in known or parameters[known[each]].dtype.kind != "f"]
    if wrong:
        known_names = ", ".join(names)
        raise TypeError(f"gradient names {wrong[0]!r}, which is no floating-point argument; there are {known_names}")
    return tuple([known[each] for each in gradient])


def _scalar(found: Any, name: str) -> LazyArray:
    """What a function gives, where that is a lazy scalar."""
    if not isinstance(found, LazyArray):
        raise TypeError(f"a device function gives a lazy scalar; {name} gave {type(found).__name__}")
    if found.shape != ():
        raise ValueError(f"a device function gives a scalar; {name} gave an array of shape {found.shape}: sum it")
    return found
