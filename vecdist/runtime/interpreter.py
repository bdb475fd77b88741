"""The reference: a graph evaluated by NumPy, node by node.  Every other backend is tested against it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.expand import expand
from vecdist.primitives.calls import computed
from vecdist.primitives.formulas import Formula
from vecdist.primitives.loops import Loop
from vecdist.primitives.structure import STRUCTURE
from vecdist.primitives.table import PRIMITIVES
from vecdist.runtime.straight_line import Call, written_out

Length = Callable[[Dim], int]
Meaning = Callable[..., Any]  # of values, behind the arrays and the lengths where an operation asks for them
OFTEN = 8  # turns, about as many as writing a program out takes
FEW = 3  # elements, whose numbers one by one take less time than arrays of them


def interpret(
    roots: Sequence[Node], arrays: Sequence[np.ndarray], lengths: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The values of ``roots``: ``arrays`` fill the slots, ``lengths`` gives the symbolic dimensions their numbers."""
    return _expanded(tuple(roots)).evaluate(arrays, lengths)


@functools.lru_cache(maxsize=64)
def _expanded(roots: tuple[Node, ...]) -> Program:
    """Equal expressions of other data are equal graphs, which need not be expanded again, nor put in order."""
    return Program(expand(roots))


@final
class Program:
    """What computes the values of nodes of which nothing expands: one call after another, of values before it."""

    def __init__(self, roots: Iterable[Node]) -> None:
        self.roots: tuple[Node, ...] = tuple(roots)
        self._known: list[Any] = []  # the values of constants, among places for all others
        self._calls: list[Call] = []
        self._turns: int = 0
        places: dict[Any, int] = {}
        for node in topological(self.roots):
            given = [places[arg] for arg in node.args]
            if node.op == "loop":  # the results of one loop are computed together
                loop, result = node.attrs
                if (loop, node.args) not in places:
                    places[loop, node.args] = self._call(_Turns(loop), given)
                places[node] = self._call(operator.itemgetter(result), [places[loop, node.args]], elementwise=True)
            elif node.op == "formula":
                places[node] = self._call(_value_of(node.attrs[0]), given, node.dtype)
            elif node.op == "const":
                places[node] = self._place(np.asarray(node.value, node.dtype))
            else:
                elementwise = node.op in PRIMITIVES
                meaning = _elementwise(node) if elementwise else _structural(node)
                places[node] = self._call(meaning, given, node.dtype, elementwise)
        self._results: list[int] = [places[root] for root in self.roots]

    def _place(self, value: Any = None) -> int:
        self._known.append(value)
        return len(self._known) - 1

    def _call(
        self, meaning: Meaning, given: list[int], dtype: np.dtype | None = None, elementwise: bool = False
    ) -> int:
        place = self._place()
        self._calls.append((place, elementwise, meaning, given, dtype))
        return place

    def evaluate(self, arrays: Sequence[np.ndarray], lengths: Mapping[str, int]) -> tuple[np.ndarray, ...]:
        """The values of the roots."""

        def length(dim: Dim) -> int:
            return lengths[dim] if isinstance(dim, str) else dim

        with np.errstate(all="ignore"):
            values = self.values(arrays, length)
        return tuple(
            np.broadcast_to(value, [length(dim) for dim in root.shape]).copy()
            for root, value in zip(self.roots, values, strict=True)
        )

    def values(self, arrays: Sequence[np.ndarray], length: Length) -> list[np.ndarray]:
        """As ``evaluate``, but as they are: not of all elements where they are alike."""
        values = self._known.copy()
        at = values.__getitem__
        for place, elementwise, meaning, given, dtype in self._calls:  # most of all tests: a map takes less than a list
            value = meaning(*map(at, given)) if elementwise else meaning(arrays, length, *map(at, given))
            if dtype is not None and (type(value) is not np.ndarray or value.dtype is not dtype):
                value = np.asarray(value, dtype)
            values[place] = value
        return [values[place] for place in self._results]

    def turn(self, arrays: Sequence[Any], length: Length, alone: bool = False) -> list[Any]:
        """As ``values``, many times; ``alone``, of numbers in the place of arrays."""
        self._turns += 1
        return (self.values if self._turns <= OFTEN else self._written[alone])(arrays, length)

    @functools.cached_property
    def _written(self) -> tuple[Callable[..., list[Any]], Callable[..., list[Any]]]:
        return written_out(self._known, self._calls, self._results)


def _value_of(formula: Formula) -> Meaning:
    """The value of a formula, of its arguments."""
    program = _expanded((formula.root,))
    return lambda arrays, length, *given: program.values(given, length)[0]


class _Turns:
    """The carries of a loop when it has ended for each element: a turn is made of those for which the test holds."""

    def __init__(self, loop: Loop) -> None:
        self.limit = loop.limit
        self.test, self.news = _expanded((loop.test,)), _expanded(loop.news)

    def __call__(
        self, arrays: Sequence[np.ndarray], length: Length, active: np.ndarray, *given: np.ndarray
    ) -> list[np.ndarray]:
        shape = np.broadcast_shapes(*(np.shape(each) for each in (active, *given)))
        every = [np.broadcast_to(each, shape).flatten() for each in given]
        carries = every[: len(self.news.roots)]
        running, turns = np.flatnonzero(np.broadcast_to(active, shape)), 0
        now = [each[running] for each in every]
        while running.size > FEW:
            (test,) = self.test.turn(now, length)
            holds = _as_long(test, running)
            if not holds.all() or turns == self.limit:
                for each, value in zip(carries, now, strict=False):
                    each[running] = value
                running, now = running[holds], [each[holds] for each in now]
            if turns == self.limit or running.size <= FEW:
                break
            news = self.news.turn(now, length)
            now[: len(news)] = [_as_long(new, running) for new in news]
            turns += 1
        for place, element in enumerate(running):
            for each, value in zip(carries, self._alone([each[place] for each in now], turns, length), strict=False):
                each[element] = value
        return [each.reshape(shape) for each in carries]

    def _alone(self, now: list[Any], turns: int, length: Length) -> list[Any]:
        """The carries of one element, when it has ended."""
        while self.test.turn(now, length, alone=True)[0]:
            if turns == self.limit:
                return [_without_end(each) for each in now]
            news = self.news.turn(now, length, alone=True)
            now[: len(news)] = news
            turns += 1
        return now


def _without_end(carry: Any) -> Any:
    """What is left of a carry when its element has run for too long."""
    return np.nan if carry.dtype.kind == "f" else carry


def _as_long(value: np.ndarray, running: np.ndarray) -> np.ndarray:
    """A value for each element that runs: nearly always it is one already, and turns are many."""
    return value if value.shape == running.shape else np.broadcast_to(value, running.shape)


def _recurrence(node: Node) -> Meaning:
    """A carry before each step, or behind the last, of one row after another."""
    step, carry, last = node.attrs
    turn = _expanded(step.news)

    def meaning(arrays: Sequence[np.ndarray], length: Length, *args: np.ndarray) -> np.ndarray:
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
                values = turn.values(given, length)
                state = [np.asarray(np.broadcast_to(new, old.shape)) for new, old in zip(values, state, strict=True)]
            if last:
                result[row] = state[carry]
        return result

    return meaning


def _called(node: Node) -> Meaning:
    """A result of a call."""
    call, place, ahead, kinds = node.attrs

    def meaning(arrays: Sequence[np.ndarray], length: Length, *args: np.ndarray) -> np.ndarray:
        known = [([length(dim) for dim in shape], dtype) for shape, dtype in kinds]
        whole = [
            np.broadcast_to(value, [length(dim) for dim in arg.shape])
            for value, arg in zip(args, node.args, strict=True)
        ]
        return computed(call, ahead, whole, known)[place]

    return meaning


def _of_row(x: np.ndarray, ahead: int, row: tuple[int, ...]) -> np.ndarray:
    """An argument of one row: the axes of rows, behind ``ahead`` others, may have length 1."""
    for index in row:
        x = np.take(x, 0 if x.shape[ahead] == 1 else index, axis=ahead)
    return x


def _elementwise(node: Node) -> Meaning:
    meaning = PRIMITIVES[node.op].meaning
    assert meaning is not None, node.op
    return (lambda x: meaning(x, node.dtype)) if node.op == "cast" else meaning


def _structural(node: Node) -> Meaning:
    """What computes the value of a node for the arrays and the lengths."""
    if node.op in LEAVES:
        return functools.partial(LEAVES[node.op], node)
    if node.op in {"recurrence", "external"}:
        return _recurrence(node) if node.op == "recurrence" else _called(node)
    meaning = STRUCTURE[node.op].meaning
    assert meaning is not None, node.op
    return lambda arrays, length, *args: meaning(*args, node, length)


def _slot(node: Node, arrays: Sequence[np.ndarray], length: Length) -> np.ndarray:
    return np.asarray(arrays[node.attrs[0]], node.dtype).reshape([length(dim) for dim in node.shape])


def _position(node: Node, arrays: Sequence[np.ndarray], length: Length) -> np.ndarray:
    shape = [length(dim) for dim in node.shape]
    return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)


LEAVES: dict[str, Callable[..., Any]] = {
    "local": lambda node, arrays, length: arrays[node.attrs[0]],
    "slot": _slot,
    "extent": lambda node, arrays, length: float(np.prod([length(dim) for dim in node.attrs[0]])),
    "position": _position,
}
