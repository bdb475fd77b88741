"""Functions of arrays that are not ours, as parts of expressions: a library's, or users', with derivatives as given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, const
from vecdist.lazy.array import LazyArray, Operand, operands
from vecdist.lazy.lazy_rules import Rules
from vecdist.primitives.calls import Call, Kinds, Pull, Push, called
from vecdist.primitives.structure import full

Shape = tuple[int, ...]
Shapes = Callable[..., Shape | Sequence[Shape]]


@final
class External:
    """A function of arrays, callable on lazy ones."""

    def __init__(self, call: Call, shape: Shapes | None, dtype: Any, rules: Rules | None = None) -> None:
        self._call, self._shape, self._dtype, self._rules = call, shape, dtype, rules

    def __call__(self, *given: Operand) -> LazyArray | tuple[LazyArray, ...]:
        args = operands(*given)
        kinds, several = self._kinds(args)
        call = self._call if self._rules is None else self._rules.call(args, kinds)
        results = tuple([LazyArray(node) for node in called(call, args, kinds)])
        return results if several else results[0]

    def _kinds(self, args: Sequence[Node]) -> tuple[Kinds, bool]:
        """The shapes and dtypes of results, and whether they are a tuple."""
        shapes = [tuple(int(length) for length in arg.shape) for arg in args]
        found: Any = np.broadcast_shapes(*shapes) if self._shape is None else self._shape(*shapes)
        several = any(isinstance(each, list | tuple) for each in found)
        every = [tuple(each) for each in found] if several else [tuple(found)]
        dtypes = self._dtype if isinstance(self._dtype, list | tuple) else [self._dtype] * len(every)
        common = np.result_type(*(arg.dtype for arg in args)) if args else np.dtype(np.float64)
        if len(dtypes) != len(every):
            name, told = self._call.name, len(dtypes)
            raise ValueError(f"{name} has {len(every)} results by its shapes, and {told} by its dtypes")
        wanted = [np.dtype(common if each is None else each) for each in dtypes]
        return tuple([(shape, dtype) for shape, dtype in zip(every, wanted, strict=True)]), several

    def __repr__(self) -> str:
        return f"external({self._call.name})"


def external(
    forward: Callable[..., Any], *, vjp: Callable[..., Any] | External | None = None,
    jvp: Callable[..., Any] | External | None = None, shape: Shapes | None = None, dtype: Any = None,
    name: str | None = None, lazy_rules: bool = False, capturable: bool = False,
) -> External:
    """A function of NumPy or CuPy arrays as a part of expressions, called between kernels.

    ``forward(*arrays)`` gives an array, or a tuple of arrays, has no side effects, and works on CuPy arrays, on the
    current stream, where it is to run on a GPU.  ``shape(*shapes)`` gives the shape of the result from those of the
    arguments, or a tuple of shapes of several results; without it, it is the one that they broadcast to.  ``dtype`` is
    that of the result, or those of all; without it, the one that the arguments have in common.

    Derivatives are given for the call as a whole: ``vjp(arrays, results, cotangents)`` returns a cotangent for each
    array, of its shape, or ``None``; ``jvp(arrays, results, tangents)`` a tangent for each result.  All three arguments
    are tuples, ``results`` and ``cotangents`` also where there is one result.  Gradients want the first; derivatives
    along directions the second.  Of what they compute there is no further derivative, but where a rule is such a call
    itself: an ``external`` of all three in a row, which gives a tuple of a cotangent for each array, or of a tangent
    for each result.  Its own rules are those of second derivatives.
    With ``lazy_rules`` both are given lazy arrays, when the call is written, and return lazy expressions of these and
    of numbers: parts of the kernels after it, which are differentiated further by themselves.  Either gives the other.

    A CUDA graph may hold a ``capturable`` call: it and its rules launch work on the current stream, and wait for none.
    In ``in_axes`` the function is called for each chain.  Raises ``ValueError`` where a derivative is asked for that
    has no rule, when it runs, where a result has another shape than was told, and when it is called, where a lazy rule
    gives another shape, or reads arrays from around it; ``NotImplementedError`` where one makes axes of other lengths.

    >>> import numpy as np, vecdist
    >>> spectrum = vecdist.external(np.linalg.eigvalsh, shape=lambda a: a[:-1])
    >>> np.asarray(spectrum(vecdist.lazy(2.0 * np.eye(2))) + 1.0).tolist()
    [3.0, 3.0]
    >>> double = vecdist.external(lambda x: 2.0 * x, vjp=lambda arrays, results, cotangents: (2.0 * cotangents[0],))
    >>> x = vecdist.lazy(np.array([1.0, 2.0]))
    >>> vecdist.value_and_grad(np.exp(double(x)).sum(), x)[1].round(3).tolist()
    [14.778, 109.196]
    >>> wave = vecdist.external(np.sin, vjp=lambda x, y, back: (back[0] * np.cos(x[0]),), lazy_rules=True)
    >>> np.asarray(vecdist.hessian(wave(x).sum(), x)).round(3).tolist()
    [[-0.841, -0.0], [-0.0, -0.909]]
    """
    made = _lazily if lazy_rules else _made
    return made(name or getattr(forward, "__name__", "external"), forward, vjp, jvp, shape, dtype, capturable)


def _made(
    label: str, forward: Callable[..., Any], vjp: Callable[..., Any] | External | None,
    jvp: Callable[..., Any] | External | None, shape: Shapes | None, dtype: Any, capturable: bool,
) -> External:
    """One whose rules are calls."""
    pull = None if vjp is None else _pull(_rule(vjp, f"vjp of {label}", _cotangents, capturable))
    push = None if jvp is None else _push(_rule(jvp, f"jvp of {label}", lambda found, arrays, name: found, capturable))
    return External(Call(label, forward, pull, push, capturable=capturable), shape, dtype)


def _lazily(
    label: str, forward: Callable[..., Any], vjp: Callable[..., Any] | External | None,
    jvp: Callable[..., Any] | External | None, shape: Shapes | None, dtype: Any, capturable: bool,
) -> External:
    """One whose rules are expressions."""
    if isinstance(vjp, External) or isinstance(jvp, External):
        raise TypeError(f"the rules of {label} are calls, which no lazy rules are; a lazy rule may make such calls")
    call = Call(label, forward, capturable=capturable)
    return External(call, shape, dtype, Rules(call, vjp, jvp))


def _kinds_of(nodes: Sequence[Node]) -> Kinds:
    return tuple([(node.shape, node.dtype) for node in nodes])


Rule = Callable[[int, int], Call]
"""The call of a rule for so many arguments and results."""


def _rule(
    rule: Callable[..., Any] | External, name: str, checked: Callable[..., Any], capturable: bool
) -> Rule:
    """A rule as a call of arguments, results and what belongs to either, in a row."""
    if isinstance(rule, External):
        own = rule._call
        return lambda arguments, results: own

    @cache
    def call(arguments: int, results: int) -> Call:
        def function(*arrays: Any) -> Any:
            args, rest = arrays[:arguments], arrays[arguments:]
            return checked(rule(args, rest[:results], rest[results:]), args, name)

        return Call(name, function, capturable=capturable)

    return call


def _cotangents(found: Any, arrays: Sequence[Any], name: str) -> list[Any]:
    if not isinstance(found, tuple | list) or len(found) != len(arrays):
        raise ValueError(f"{name} gives a tuple, of a cotangent or None for each of {len(arrays)} arguments")
    return [0 * array if each is None else each for each, array in zip(found, arrays, strict=True)]


def _pull(rule: Rule) -> Pull:
    """The cotangents of arguments as a call of its own."""

    def pull(
        args: Sequence[Node], results: Sequence[Node], cotangents: Sequence[Node], ahead: int
    ) -> Sequence[Node | None]:
        call = rule(len(args), len(results))
        every = called(call, (*args, *results, *cotangents), _kinds_of(args), ahead)
        return [each if each.dtype.kind == "f" else None for each in every]

    return pull


def _push(rule: Rule) -> Push:
    """The tangents of results as a call of its own, which takes zeros where a tangent is zero."""

    def push(
        args: Sequence[Node], results: Sequence[Node], dots: Sequence[Node | None], ahead: int
    ) -> Sequence[Node]:
        pairs = zip(args, dots, strict=True)
        tangents = [full(const(0, arg.dtype), arg.shape) if dot is None else dot for arg, dot in pairs]
        call = rule(len(args), len(results))
        return called(call, (*args, *results, *tangents), _kinds_of(results), ahead)

    return push
