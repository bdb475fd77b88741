"""The reference: a graph evaluated by NumPy, node by node.  Every other backend is tested against it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.expand import expand
from vecdist.primitives.calls import computed
from vecdist.primitives.loops import Loop
from vecdist.primitives.structure import STRUCTURE
from vecdist.primitives.table import PRIMITIVES


def interpret(
    roots: Sequence[Node], arrays: Sequence[np.ndarray], lengths: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The values of ``roots``: ``arrays`` fill the slots, ``lengths`` gives the symbolic dimensions their numbers."""
    return evaluate(*_expanded(tuple(roots)), arrays, lengths)


def evaluate(
    roots: Sequence[Node], nodes: Iterable[Node], arrays: Sequence[np.ndarray], lengths: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The values of ``roots``, of which ``nodes`` are all that they need, in order, and nothing that expands."""

    def length(dim: Dim) -> int:
        return lengths[dim] if isinstance(dim, str) else dim

    with np.errstate(all="ignore"):
        values = _values(nodes, arrays, length)
    return tuple(
        np.broadcast_to(values[root], [length(dim) for dim in root.shape]).copy() for root in roots
    )


def _values(
    nodes: Iterable[Node], arrays: Sequence[np.ndarray], length: Callable[[Dim], int]
) -> dict[Node, np.ndarray]:
    """The value of each node; the results of one loop are computed together."""
    values: dict[Node, np.ndarray] = {}
    ended: dict[tuple[Loop, tuple[Node, ...]], Sequence[np.ndarray]] = {}
    for node in nodes:
        args = [values[arg] for arg in node.args]
        if node.op == "loop":
            loop, place = node.attrs
            if (loop, node.args) not in ended:
                ended[loop, node.args] = _ended(loop, *args, length=length)
            values[node] = ended[loop, node.args][place]
        elif node.op == "recurrence":
            values[node] = _recurrence(node, args, length)
        elif node.op == "external":
            values[node] = _called(node, args, length)
        else:
            values[node] = _evaluate(node, args, arrays, length)
    return values


def _ended(
    loop: Loop, active: np.ndarray, *given: np.ndarray, length: Callable[[Dim], int]
) -> Sequence[np.ndarray]:
    """The carries of a loop when it has ended for each element: a turn is made of those for which the test holds."""
    shape = np.broadcast_shapes(*(np.shape(each) for each in (active, *given)))
    every = [np.broadcast_to(each, shape).flatten() for each in given]
    running, turns = np.flatnonzero(np.broadcast_to(active, shape)), 0
    ((test,), tests), (news, steps) = _expanded((loop.test,)), _expanded(loop.news)
    while running.size:
        holds = _values(tests, [each[running] for each in every], length)[test]
        running = running[np.broadcast_to(holds, running.shape)]
        if turns == loop.limit:
            for each in every[: len(news)]:
                each[running] = np.nan if each.dtype.kind == "f" else each[running]
            break
        found = _values(steps, [each[running] for each in every], length)
        for each, new in zip(every, news, strict=False):
            each[running] = found[new]
        turns += 1
    return [each.reshape(shape) for each in every[: len(news)]]


@functools.lru_cache(maxsize=64)
def _expanded(roots: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Equal expressions of other data are equal graphs, which need not be expanded again, nor put in order."""
    roots = expand(roots)
    return roots, tuple(topological(roots))


def _recurrence(node: Node, args: Sequence[np.ndarray], length: Callable[[Dim], int]) -> np.ndarray:
    """A carry before each step, or behind the last, of one row after another."""
    step, carry, last = node.attrs
    news, nodes = _expanded(step.news)
    steps = range(length(node.args[step.carries].shape[0]))
    rows = [length(dim) for dim in node.args[0].shape[: step.rows]]
    result = np.zeros([length(dim) for dim in node.shape], node.dtype)
    for row in np.ndindex(*rows):
        own = [_of_row(arg, step.leading(place) - step.rows, row) for place, arg in enumerate(args)]
        state = [np.asarray(start) for start in own[: step.carries]]
        for at in reversed(steps) if step.backwards else steps:
            if not last:
                result[(at, *row)] = state[carry]
            ahead = step.carries + step.elements
            given = [*state, *(each[at] for each in own[step.carries : ahead]), *own[ahead:]]
            values = _values(nodes, given, length)
            state = [np.asarray(np.broadcast_to(values[new], old.shape)) for new, old in zip(news, state, strict=True)]
        if last:
            result[row] = state[carry]
    return result


def _called(node: Node, args: Sequence[np.ndarray], length: Callable[[Dim], int]) -> np.ndarray:
    """A result of a call."""
    call, place, ahead, kinds = node.attrs
    known = [([length(dim) for dim in shape], dtype) for shape, dtype in kinds]
    whole = [
        np.broadcast_to(value, [length(dim) for dim in arg.shape]) for value, arg in zip(args, node.args, strict=True)
    ]
    return computed(call, ahead, whole, known)[place]


def _of_row(x: np.ndarray, ahead: int, row: tuple[int, ...]) -> np.ndarray:
    """An argument of one row: the axes of rows, behind ``ahead`` others, may have length 1."""
    for index in row:
        x = np.take(x, 0 if x.shape[ahead] == 1 else index, axis=ahead)
    return x


def _evaluate(node: Node, args: list, arrays: Sequence, length: Callable[[Dim], int]) -> np.ndarray:
    entry = PRIMITIVES.get(node.op)
    if entry is not None:
        assert entry.meaning is not None, node.op
        return np.asarray(entry.meaning(*args, node.dtype) if node.op == "cast" else entry.meaning(*args), node.dtype)
    if node.op == "const":
        return np.asarray(node.value, node.dtype)
    if node.op == "local":
        return arrays[node.attrs[0]]
    if node.op == "slot":
        shape = [length(dim) for dim in node.shape]
        return np.asarray(arrays[node.attrs[0]], node.dtype).reshape(shape)
    if node.op == "extent":
        return np.asarray(float(np.prod([length(dim) for dim in node.attrs[0]])))
    if node.op == "position":
        shape = [length(dim) for dim in node.shape]
        return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    structural = STRUCTURE[node.op].meaning
    assert structural is not None, node.op
    return np.asarray(structural(*args, node, length))
