"""Calls of functions of arrays, which no kernel contains: those of a library, and users' own.

A call is a stage between kernels; what it computes is known by its name alone.  Its derivatives are calls, or anything
else that a rule makes of nodes.  Each result is a node of its own, and all of one call are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, cast, const
from vecdist.graph.shapes import Dim, Shape
from vecdist.primitives.structure import STRUCTURE, Structural, full, view

Kinds = tuple[tuple[Shape, np.dtype], ...]
"""The shapes and dtypes of all results."""
Pull = Callable[[Sequence[Node], Sequence[Node], Sequence[Node], int], Sequence[Node | None]]
"""The cotangents of arguments, from these, the results and their cotangents, all with so many axes ahead."""
Push = Callable[[Sequence[Node], Sequence[Node], Sequence[Node | None], int], Sequence[Node | None]]
"""The tangents of results, from arguments, results and the arguments' tangents, which are none where they are zero."""


@final
@dataclass(frozen=True, eq=False)
class Call:
    """A function of arrays of NumPy or of CuPy, which gives an array, or a tuple of them; equal to itself alone.

    One that is ``batched`` takes any number of leading axes, which all its arguments and results have; others are
    called for each of many arguments.  ``axes`` has a letter for each of the last axes of the arguments and of the
    results, the same for those of equal lengths.  One that ``writes`` takes ``out=``, an array for its only result.
    ``capturable`` ones launch work on the current stream of a GPU and wait for none, so that a CUDA graph may hold it.
    """

    name: str
    function: Callable[..., Any]
    pull: Pull | None = None
    push: Push | None = None
    batched: bool = False
    axes: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    writes: bool = False
    capturable: bool = False

    def __str__(self) -> str:
        return self.name


def called(call: Call, args: Sequence[Node], kinds: Kinds, ahead: int = 0) -> tuple[Node, ...]:
    """The results of a call of arguments that have ``ahead`` leading axes, as its results have."""
    return tuple([
        Node("external", tuple(args), (call, place, ahead, kinds), shape, dtype)
        for place, (shape, dtype) in enumerate(kinds)
    ])  # fmt: skip


def signature(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes of arguments and results, written as in ``"nn,nk->nk"``."""
    given, found = text.split("->")
    return tuple(given.split(",")), tuple(found.split(","))


def results_of(node: Node) -> tuple[Node, ...]:
    """All results of the call that a node is one of."""
    call, _, ahead, kinds = node.attrs
    return called(call, node.args, kinds, ahead)


def pulled_back(nodes: dict[Node, Node]) -> Sequence[Node | None]:
    """The cotangents of the arguments of a call, from those of some of its results."""
    first = next(iter(nodes))
    call, _, ahead, _ = first.attrs
    if call.pull is None:
        raise ValueError(f"{call.name} has no derivative rule; give it a vjp, or keep what it computes from wrt")
    results = results_of(first)
    cotangents = [full(cast(nodes[each], each.dtype) if each in nodes else const(0, each.dtype), each.shape)
                  for each in results]  # fmt: skip
    found = call.pull(first.args, results, cotangents, ahead)
    return [None if each is None else full(each, arg.shape) for each, arg in zip(found, first.args, strict=True)]


def pushed_forward(node: Node, dots: Sequence[Node | None]) -> Node | None:
    """The tangent of a result of a call, from those of its arguments."""
    call, place, ahead, _ = node.attrs
    if all(dot is None for dot in dots):
        return None
    if call.push is None:
        raise ValueError(f"{call.name} has no rule for derivatives along a direction; give it a jvp")
    given = [dot if dot is None else full(cast(dot, arg.dtype), arg.shape)
             for dot, arg in zip(dots, node.args, strict=True)]  # fmt: skip
    return call.push(node.args, results_of(node), given, ahead)[place]


def batched(node: Node, args: Sequence[Node], leading: Sequence[bool], length: Dim) -> Node:
    """A result of a call for many arguments: those that are ``leading`` have an axis more in front, as it has."""
    call, place, ahead, kinds = node.attrs
    given = [
        arg if has else full(arg, (length, *arg.shape)) for arg, has in zip(args, leading, strict=True)
    ]
    many = tuple([((length, *shape), dtype) for shape, dtype in kinds])
    return called(call, given, many, ahead + 1)[place]


def computed(
    call: Call, ahead: int, given: Sequence[Any], kinds: Sequence[tuple[Sequence[int], Any]], library: Any = np,
    out: Any = None,
) -> list[Any]:
    """What a call gives for arrays of a library, checked; ``out`` is memory for what one that writes gives."""
    arrays = [each if type(each) is library.ndarray else library.asarray(each) for each in given]
    if out is not None:
        found = [call.function(*arrays, out=out)]
    elif call.batched or not ahead:
        found = _results(call, call.function(*arrays), len(kinds))
    else:
        lead = arrays[0].shape[:ahead]
        rows = [_results(call, call.function(*(each[row] for each in arrays)), len(kinds)) for row in np.ndindex(*lead)]
        found = [library.stack(each).reshape(lead + each[0].shape) for each in zip(*rows, strict=True)]
    return [_checked(call, library, *each) for each in zip(found, kinds, strict=True)]


def _results(call: Call, found: Any, count: int) -> list[Any]:
    results = list(found) if isinstance(found, tuple | list) else [found]
    if len(results) != count:
        raise ValueError(f"{call.name} gave {len(results)} results where {count} were expected")
    return results


def _checked(call: Call, library: Any, value: Any, kind: tuple[Sequence[int], Any]) -> Any:
    shape, dtype = kind
    array = library.asarray(value, dtype, order="C")
    if array.shape != tuple(shape):
        raise ValueError(f"{call.name} gave an array of shape {array.shape} where {shape} was expected")
    return array


def swapped(x: Node) -> Node:
    """``x`` with its last two axes exchanged."""
    last = x.ndim - 1
    entries = [*((axis, 0, 1) for axis in range(last - 1)), (last, 0, 1), (last - 1, 0, 1)]
    return view(x, entries, (*x.shape[:-2], x.shape[-1], x.shape[-2]))


def _meaning(*given: object) -> np.ndarray:
    raise AssertionError("the interpreter runs calls")


def _no_rule(*given: object) -> Node:
    raise AssertionError("calls have rules of their own")


STRUCTURE["external"] = Structural(_no_rule, _no_rule, _meaning)
