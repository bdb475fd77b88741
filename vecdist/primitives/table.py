"""The table of primitives: what the name of an operation means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.expr import Node, Operand, elementwise

Partials = Callable[..., tuple[Node | float | None, ...]]


@final
@dataclass(frozen=True)
class Primitive:
    """One elementwise operation.

    ``partials(*args, out)`` gives one expression per argument, ``None`` where the value does not depend on it smoothly
    (its derivative is zero wherever it exists).  ``tangent(dots, *args, out)`` replaces it where a derivative must be
    chosen and cannot be scaled.  Exactly one of ``code``, ``expand`` and ``routine`` is given: the text of the
    operation in both targets, with ``meaning`` as its value in NumPy; an expression of other primitives; or a function
    of Python floats with loops and branches, whose statements both targets have in place of a call.  ``seldom`` marks
    a routine for few elements: the first argument says where it counts, and the last is the value elsewhere.

    ``floating`` promotes integers to float64 first; ``boolean`` says that the value is one.  ``ufuncs`` names the NumPy
    and SciPy ufuncs with this meaning.  ``domain`` gives a range per argument from which tests draw, and ``oracle`` the
    independent function that they compare with.
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

    def __call__(self, *operands: Operand) -> Node:
        """The operation as a node."""
        if len(operands) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} arguments, {len(operands)} were given")
        return elementwise(
            self.name,
            *operands,
            least=np.float32 if self.floating else None,
            result=np.bool_ if self.boolean else None,
        )


PRIMITIVES: dict[str, Primitive] = {}


def primitive(name: str, arity: int = 1, **fields: Any) -> Primitive:
    """Enter a primitive in the table and return it, callable on nodes."""
    if sum(fields.get(kind) is not None for kind in ("code", "expand", "routine")) != 1:
        raise ValueError(f"primitive {name!r}: give code, expand or routine, and one of them alone")
    if name in PRIMITIVES:
        raise ValueError(f"primitive {name!r} is in the table already")
    if "routine" in fields:
        fields |= (_called_seldom if fields.get("seldom") else _called)(name, arity, fields["routine"])
    PRIMITIVES[name] = entry = Primitive(name, arity, **fields)
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


def in_last(name: str, partial: Callable[..., Node]) -> Callable[..., Node | None]:
    """The tangent rule of a function that can be differentiated in the last of its arguments alone."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> Node | None:
        if any(dot is not None for dot in dots[:-1]):
            raise NotImplementedError(f"{name} can be differentiated in the last of its arguments alone")
        return None if dots[-1] is None else dots[-1] * partial(*operands)

    return tangent


def no_derivatives(name: str) -> Callable[..., None]:
    """The tangent rule of a derivative that has none of its own."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> None:
        raise NotImplementedError(f"{name} has no derivatives")

    return tangent


def partials_of(node: Node) -> Sequence[Node | float | None]:
    """The partial derivative of ``node`` in each of its arguments."""
    entry = PRIMITIVES[node.op]
    if entry.partials is None:
        return (None,) * len(node.args)
    return entry.partials(*node.args, node)
