"""Functions of a library that differentiates them itself, as calls within expressions with derivatives of any order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from vecdist.graph.node import Node, const
from vecdist.interop.calls import Kind
from vecdist.lazy.array import LazyArray, Operand, operands
from vecdist.primitives.calls import Call, called
from vecdist.primitives.structure import full

Function = Callable[..., tuple[Any, ...]]


@final
@dataclass(frozen=True)
class Library:
    """What is asked of a library, of functions of its arrays that give a tuple of them.

    ``kinds(f, kinds)`` are the shapes and dtypes of the results, ``runs(f)`` is f of arrays of NumPy or CuPy.
    ``pulled(f, count, active)`` is the function of ``count`` arguments and the cotangents of all results that gives the
    cotangents of ``active`` arguments, ``pushed`` that of the arguments and tangents of ``active`` ones that gives the
    tangents of results.
    """

    kinds: Callable[[Function, Sequence[Kind]], Sequence[Kind]]
    runs: Callable[[Function], Function]
    pulled: Callable[[Function, int, tuple[int, ...]], Function]
    pushed: Callable[[Function, int, tuple[int, ...]], Function]


def expression(library: Library, f: Callable[..., Any]) -> Callable[..., LazyArray | tuple[LazyArray, ...]]:
    """A function of a library as one of lazy arrays."""
    name = getattr(f, "__name__", type(f).__name__)
    several: list[bool] = []

    def tupled(*arrays: Any) -> tuple[Any, ...]:
        found = f(*arrays)
        several[:] = [isinstance(found, tuple | list)]
        return tuple(found) if several[0] else (found,)

    call = _call(library, tupled, name)

    def of_lazy(*given: Operand) -> LazyArray | tuple[LazyArray, ...]:
        args = operands(*given)
        shapes = [tuple(int(length) for length in arg.shape) for arg in args]
        kinds = library.kinds(tupled, [Kind(shape, arg.dtype) for shape, arg in zip(shapes, args, strict=True)])
        results = tuple([LazyArray(node) for node in called(call, args, tuple(kinds))])
        return results if several[0] else results[0]

    return of_lazy


def _call(library: Library, f: Function, name: str) -> Call:
    """A function as a call, whose derivatives are calls like it."""

    @functools.cache
    def pulls(count: int, active: tuple[int, ...]) -> Call:
        return _call(library, library.pulled(f, count, active), f"vjp of {name}")

    @functools.cache
    def pushes(count: int, active: tuple[int, ...]) -> Call:
        return _call(library, library.pushed(f, count, active), f"jvp of {name}")

    def pull(
        args: Sequence[Node], results: Sequence[Node], cotangents: Sequence[Node], ahead: int
    ) -> Sequence[Node | None]:
        active = tuple(place for place, arg in enumerate(args) if arg.dtype.kind == "f")
        kinds = tuple([(args[place].shape, args[place].dtype) for place in active])
        found = called(pulls(len(args), active), (*args, *_floating(results, cotangents)), kinds, ahead)
        places = dict(zip(active, found, strict=True))
        return [places.get(place) for place in range(len(args))]

    def push(
        args: Sequence[Node], results: Sequence[Node], dots: Sequence[Node | None], ahead: int
    ) -> Sequence[Node | None]:
        active = tuple(place for place, dot in enumerate(dots) if dot is not None)
        seeds = [dot for dot in dots if dot is not None]
        floating = _floating(results, results)
        kinds = tuple([(each.shape, each.dtype) for each in floating])
        found = iter(called(pushes(len(args), active), (*args, *seeds), kinds, ahead))
        return [next(found) if each.dtype.kind == "f" else full(const(0, each.dtype), each.shape) for each in results]

    return Call(name, library.runs(f), pull, push)


def _floating(results: Sequence[Node], values: Sequence[Node]) -> list[Node]:
    """Those of the values that stand beside results with derivatives."""
    return [value for result, value in zip(results, values, strict=True) if result.dtype.kind == "f"]
