"""``function``: a function of numbers in plain Python as an elementwise operation, with derivatives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, final, overload

import numpy as np

import vecdist.functions.statements  # noqa: F401 (what statements mean)
from vecdist.functions.check import check
from vecdist.functions.loops import mark
from vecdist.functions.meaning import Frame, Path, Trace, inlined
from vecdist.functions.numbers import Numbers, kind
from vecdist.functions.regions import closed
from vecdist.functions.source import NUMBERS, Problem, Written, read
from vecdist.graph.leaves import leaf, number
from vecdist.graph.node import Node
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray
from vecdist.lazy.ufuncs import check_shapes
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.loops import TURNS
from vecdist.primitives.rules import Rule, ruled


@overload
def function(
    python: Callable[..., Any], *, partials: Callable[..., Any] | None = None, steps: int | None = TURNS
) -> Function: ...


@overload
def function(
    python: None = None, *, partials: Callable[..., Any] | None = None, steps: int | None = TURNS
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    python: Callable[..., Any] | None = None, *, partials: Callable[..., Any] | None = None, steps: int | None = TURNS
) -> Function | Callable[[Callable[..., Any]], Function]:
    """A function of numbers in plain Python as an elementwise operation, with derivatives of any order.

    Called on numbers it is the function that it was.  Called on arrays of which one at least is lazy, or of NumPy or
    CuPy, it gives a lazy array, or a tuple of them; arrays broadcast, and the loops of each element take as many turns
    as that element needs.  It may be called in formulas of families, and in other functions.

    It may be made of ``if``, ``while``, ``for`` over ``range`` and tuples, early ``return``, ``break``, ``continue``,
    functions that it calls, functions of ``math``, NumPy and SciPy that have a lazy form, and of numbers, tuples and
    arrays from outside, in a loop of 256 elements at most.  ``TypeError`` says what cannot be, and in which line.
    Floats are of the dtype of the arguments that are floats; whole numbers have 64 bits.  Where Python raises an error,
    there is a NaN or an infinity: a division by 0, an index beyond the ends of a table, the logarithm of a negative
    number; ``//`` and ``%`` of whole numbers by 0 are 0, as NumPy has it.  Of arguments that are no arrays, whole
    numbers are constants of what is compiled.  An element of which a ``while`` takes more than ``steps`` turns is NaN,
    100 000 by default, so that no kernel hangs on a test that never fails; ``None`` is for as many as it takes.

    ``partials(*args, out)`` gives other derivatives than those of what was written: one number for each argument, of
    the arguments and the value, in plain Python too.  Of several values ``out`` is the tuple, and there is a tuple of
    such numbers for each.

    >>> import math
    >>> import numpy as np, vecdist
    >>> @vecdist.function
    ... def root(a):  # of x + exp(x) = a, by Newton's method
    ...     x = 0.0
    ...     while True:
    ...         step = (x + math.exp(x) - a) / (1.0 + math.exp(x))
    ...         x -= step
    ...         if abs(step) < 1e-10:
    ...             return x
    >>> a = np.array([1.0, 2.0, 5.0])
    >>> value, slope = vecdist.value_and_partials(root(a), wrt=a)
    >>> value.round(6), slope.round(6)
    (array([0.      , 0.442854, 1.306559]), array([0.5     , 0.391061, 0.213063]))
    """
    if python is None:
        return functools.partial(function, partials=partials, steps=steps)
    return Function(python, partials, steps)


@final
class Function:
    """What ``function`` gives."""

    __name__: str
    __qualname__: str

    def __init__(self, python: Any, partials: Callable[..., Any] | None, steps: int | None) -> None:
        if steps is not None and not (isinstance(steps, int) and steps > 0):
            raise ValueError(f"steps is a number of turns, or None for as many as it takes, given {steps!r}")
        self.function: FunctionType = _plain(python)
        self.steps = steps
        self.written: Written = read(self.function)
        check(self.written)
        self.rule: Written | None = None if partials is None else read(_plain(partials))
        if self.rule is not None:
            check(self.rule)
        functools.update_wrapper(self, self.function)

    def __repr__(self) -> str:
        return f"<vecdist.function {self.__name__}{inspect.signature(self.function)}>"

    def __reduce__(self) -> str:
        return self.__qualname__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The value for numbers; a lazy array for arrays; a node for nodes, as in the formulas of families."""
        given = [*_each((*args, *keywords.values()))]
        arrays = any(_is_array(value) for value in given)
        if any(isinstance(value, Node) for value in given):
            if arrays:
                raise TypeError(f"{self.__name__} takes nodes, as formulas of families do, or arrays, not both at once")
            return self._of_nodes(args, keywords)
        if arrays:
            return self._of_arrays(given, args, keywords)
        return self.function(*args, **keywords)

    def _of_arrays(self, given: Sequence[Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        nodes = {id(value): _node(value) for value in given if _is_array(value) or isinstance(value, np.generic)}
        check_shapes(self.__name__, [*nodes.values()])
        floating = _floating(nodes.values())

        def entered(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(entered, value))
            return number(value, floating) if type(value) is float else nodes.get(id(value), value)

        shape = broadcast(node.shape for node in nodes.values())
        found = self._of_nodes([*map(entered, args)], {word: entered(value) for word, value in keywords.items()})
        return _lazy(self, found, shape, Numbers(floating))

    def _of_nodes(self, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        numbers = Numbers(_floating(each for each in _each((*args, *keywords.values())) if isinstance(each, Node)))

        def settled(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(settled, value))
            return numbers.settled(value) if isinstance(value, Node) else value

        trace = Trace(numbers, self.steps)
        try:
            return self.traced(trace, [*map(settled, args)], {w: settled(each) for w, each in keywords.items()}, True)
        except Problem as problem:
            raise self.written.refusal(self.written.tree, problem) from None

    def traced(self, trace: Trace, args: Sequence[Any], keywords: dict[str, Any], outer: Path) -> Any:
        """Its graph for nodes and numbers, called on a path."""
        values = self.written.bound(args, keywords)
        found = inlined(trace, self.written, values, outer)
        if self.rule is None or not any(isinstance(value, Node) for value in _each((*values.values(),))):
            return found
        return self._ruled(trace, self.rule, [values[name] for name in self.written.parameters], found)

    def _ruled(self, trace: Trace, rule: Written, values: Sequence[Any], found: Any) -> Any:
        """What was found, with the derivatives of a rule."""
        numbers = trace.numbers
        outs = [numbers.node(each) for each in (found if isinstance(found, tuple) else [found])]
        frame = Frame(trace, rule, {})
        marks = [mark(frame, kind(value)) if isinstance(value, Node) else value for value in values]
        of_outs = [mark(frame, kind(out)) for out in outs]
        trace.inside += 1
        given = rule.bound([*marks, tuple(of_outs) if isinstance(found, tuple) else of_outs[0]], {})
        rows = inlined(trace, rule, given, True)
        trace.inside -= 1
        rows = rows if isinstance(found, tuple) else (rows,)
        wanted = [place for place, value in enumerate(values) if isinstance(value, Node)]
        inputs = [*(marks[place] for place in wanted), *of_outs]
        table = tuple([tuple(_partials(numbers, row, wanted, len(values), inputs)) for row in rows])
        made = ruled(outs, [values[place] for place in wanted], Rule(table))
        return made if isinstance(found, tuple) else made[0]


def _plain(python: Any) -> FunctionType:
    """A function of Python, also one that Numba or another decorator has."""
    found = getattr(python, "py_func", python)
    if not isinstance(found, FunctionType):
        raise TypeError(f"function wants a function written in Python, given {python!r}")
    return found


def _partials(
    numbers: Numbers, row: Any, wanted: Sequence[int], count: int, inputs: Sequence[Node]
) -> Iterator[Node | None]:
    """A row of a rule as a region; numbers that are 0 are structural zeros."""
    row = row if isinstance(row, tuple) else (row,)
    if len(row) != count:
        raise Problem(f"partials gives {len(row)} derivatives for {count} arguments")
    for place in wanted:
        if row[place] is None or (not isinstance(row[place], Node) and row[place] == 0):
            yield None
        else:
            (region,), frees = closed([numbers.node(row[place], "f")], inputs)
            if frees:
                raise Problem("partials reads arrays that are no arguments")
            yield region


def _each(values: Any) -> Iterator[Any]:
    """Values, those in tuples too."""
    for value in values:
        if isinstance(value, tuple):
            yield from _each(value)
        else:
            yield value


def _is_array(value: Any) -> bool:
    return isinstance(value, list) or (hasattr(value, "shape") and not isinstance(value, np.generic | Node))


def _node(value: Any) -> Node:
    return value.node if isinstance(value, LazyArray) else leaf(value)


def _floating(nodes: Any) -> np.dtype:
    """The dtype of all floats: that of the arguments that are floats, together."""
    found = [node.dtype for node in nodes if node.dtype.kind == "f"]
    return np.result_type(*found) if found else np.dtype(np.float64)


def _lazy(function: Function, value: Any, shape: Any, numbers: Numbers) -> Any:
    """What a function gives, as lazy arrays of the shape to which its arguments broadcast."""
    if isinstance(value, tuple):
        return tuple([_lazy(function, each, shape, numbers) for each in value])
    if not isinstance(value, (Node, *NUMBERS)):
        raise TypeError(f"{function.written.place(function.written.tree)}: it returns no number, but {value!r}")
    node = numbers.node(value)
    return LazyArray(node if node.shape == shape else broadcast_view(node, shape))
