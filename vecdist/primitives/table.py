"""The table of primitives: what the name of an operation means."""

from __future__ import annotations

import copyreg
import importlib
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np

from vecdist.graph.node import Node, Operand, elementwise
from vecdist.primitives.portable import check_routine

Partials = Callable[..., tuple[Node | float | None, ...]]


@final
@dataclass(frozen=True)
class Primitive:
    """One elementwise operation.

    ``partials(*args, out)`` gives one expression per argument, ``None`` where the value does not depend on it smoothly
    (its derivative is zero wherever it exists); ``flat`` gives all of them so, and is what a boolean has.
    ``tangent(dots, *args, out)`` replaces it where a derivative must be chosen and cannot be scaled.  Without either,
    asking for a derivative is an error.  Exactly one of ``code``, ``expand`` and ``routine`` is given: the text of the
    operation in both targets, with ``meaning`` as its value in NumPy; an expression of other primitives; or a function
    of Python floats with loops and branches, whose statements both targets have in place of a call.  ``seldom`` marks
    what few elements want: the first argument says where it counts, and the last is the value elsewhere.

    ``floating`` promotes integers to float64 first; ``boolean`` says that the value is one.  ``ufuncs`` names the NumPy
    and SciPy ufuncs with this meaning.  ``domain`` gives a range per argument from which tests draw, and ``oracle`` the
    independent function that they compare with.  ``module`` is where it is defined.
    """

    name: str
    arity: int
    partials: Partials | None = None
    tangent: Callable[..., Node | None] | None = None
    code: str | None = None
    meaning: Callable[..., Any] | None = None
    expand: Callable[..., Node] | None = None
    routine: Callable[..., float] | None = None
    floating: bool = False
    boolean: bool = False
    seldom: bool = False
    ufuncs: tuple[str, ...] = ()
    domain: tuple[tuple[float, float], ...] = ()
    oracle: str | None = None
    module: str = ""

    @overload
    def __call__(self, *operands: Operand) -> Node: ...

    @overload
    def __call__(self, *operands: Any) -> Any: ...

    def __call__(self, *operands: Any) -> Any:
        """The operation as a node, of nodes and Python numbers; where there are arrays, as a lazy array."""
        if len(operands) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} arguments, {len(operands)} were given")
        if not all(isinstance(operand, Operand) for operand in operands):
            from vecdist.lazy.array import of_arrays

            return of_arrays(self, operands)
        return elementwise(
            self.name,
            *operands,
            least=np.float32 if self.floating else None,
            result=np.bool_ if self.boolean else None,
        )


PRIMITIVES: dict[str, Primitive] = {}
UFUNCS: dict[str, Primitive] = {}


def primitive(name: str, arity: int = 1, **fields: Any) -> Primitive:
    """Enter a primitive in the table and return it, callable on nodes, arrays and numbers.

    ``fields`` are those of ``Primitive``.  A module may define a primitive again, as a cell of a notebook that runs a
    second time: that is another one, ``name_2``, and what was made of the first keeps its meaning.  Raises
    ``ValueError`` for a name that another module has taken, unless there is one of code, expand and routine, and for
    a routine that compilers for GPUs would refuse: NumPy's functions, lists, functions that call themselves.

    >>> import numpy as np, vecdist
    >>> from vecdist.primitives import primitive
    >>> cube = primitive("cube", expand=lambda x: x * x * x, partials=lambda x, out: (3.0 * x * x,))
    >>> x = np.array([1.0, 2.0])
    >>> vecdist.value_and_grad(cube(x).sum(), wrt=x)
    (np.float64(9.0), array([ 3., 12.]))
    """
    if sum(fields.get(kind) is not None for kind in ("code", "expand", "routine")) != 1:
        raise ValueError(f"primitive {name!r}: give code, expand or routine, and one of them alone")
    module = sys._getframe(1).f_globals.get("__name__", "")
    own = module.startswith("vecdist.")
    known = PRIMITIVES if own else importlib.import_module("vecdist.primitives").PRIMITIVES  # with all of ours
    if name in known and known[name].module != module:
        raise ValueError(f"primitive {name!r} is in the table already, by {known[name].module}; take another name")
    later = (f"{name}_{number}" for number in itertools.count(2))
    op = next(free for free in itertools.chain([name], later) if free not in PRIMITIVES)
    if fields.get("boolean"):
        fields.setdefault("partials", flat)
    if fields.get("partials") is None:
        fields.setdefault("tangent", _none_given(name))
    if "routine" in fields:
        if not own:  # tests look at ours
            check_routine(name, fields["routine"])
        fields |= (_called_seldom if fields.get("seldom") else _called)(op, arity, fields["routine"])
    PRIMITIVES[op] = entry = Primitive(op, arity, module=module, **fields)
    UFUNCS.update(dict.fromkeys(entry.ufuncs, entry))
    return entry


def _called(name: str, arity: int, routine: Callable[..., float]) -> dict[str, Any]:
    """Code and meaning of a routine: a call, of each element."""
    places = ", ".join(f"{{{place}}}" for place in range(arity))
    each = np.frompyfunc(routine, arity, 1)
    return {
        "code": f"{{dtype}}({name}({places}))",
        "meaning": lambda *args: np.asarray(each(*(np.asarray(x, np.float64) for x in args)), np.float64),
    }


def _called_seldom(name: str, arity: int, routine: Callable[..., float]) -> dict[str, Any]:
    """As ``_called``, of the elements where the first argument holds."""
    places = ", ".join(f"{{{place}}}" for place in range(1, arity - 1))

    def meaning(condition: Any, *args: Any) -> np.ndarray:
        *values, usual = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in args))
        found = usual.copy()
        for place in np.argwhere(np.broadcast_to(condition, found.shape)):
            found[tuple(place)] = routine(*(float(x[tuple(place)]) for x in values))
        return found

    return {"code": f"{{dtype}}({name}({places})) if {{0}} else {{{arity - 1}}}", "meaning": meaning}


def _pickled(node: Node) -> tuple[Any, ...]:
    """A node with the module that defines its operation, which another process may not have loaded."""
    entry = PRIMITIVES.get(node.op)
    return _read, (entry.module if entry else __name__, node.op, node.args, node.attrs, node.shape, node.dtype)


def _read(module: str, *parts: Any) -> Node:
    importlib.import_module(module)
    return Node(*parts)


copyreg.pickle(Node, _pickled)  # type: ignore[arg-type]


def flat(*arguments: Node) -> tuple[None, ...]:
    """The partials of what is constant but for jumps: none in any argument."""
    return (None,) * (len(arguments) - 1)


def in_last(name: str, partial: Callable[..., Node]) -> Callable[..., Node | None]:
    """The tangent rule of a function that can be differentiated in the last of its arguments alone."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> Node | None:
        if any(dot is not None for dot in dots[:-1]):
            raise no_derivative(name, "but in the last of its arguments")
        return None if dots[-1] is None else dots[-1] * partial(*operands)

    return tangent


def no_derivatives(name: str) -> Callable[..., None]:
    """The tangent rule of a derivative that has none of its own."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> None:
        raise no_derivative(name)

    return tangent


def _none_given(name: str) -> Callable[..., None]:
    """The tangent rule of a primitive without one."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> None:
        raise NotImplementedError(
            f"{name} has no derivatives: none are given where it is defined, by partials= or, where they are zero, "
            "by partials=flat"
        )

    return tangent


def no_derivative(name: str, where: str = "") -> NotImplementedError:
    """The error of a derivative that is not there, and what to write instead."""
    return NotImplementedError(
        f"{' '.join([name, 'has no derivative', where]).rstrip()}: leave out of wrt, or mark as data, what it would be "
        "derived in, or take differences, of values or of first derivatives: (f(a + h) - f(a - h)) / (2 * h)"
    )


def partials_of(node: Node) -> Sequence[Node | float | None]:
    """The partial derivative of ``node`` in each of its arguments."""
    partials = PRIMITIVES[node.op].partials
    assert partials is not None, f"{node.op} has a tangent"
    return partials(*node.args, node)
