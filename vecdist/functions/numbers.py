"""Numbers of Python and nodes side by side: operators with the meaning that they have in Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.functions.source import NUMBERS, Problem, Unclear, constant, described
from vecdist.graph.node import Node, cast, const, where
from vecdist.lazy.ufuncs import apply
from vecdist.primitives.arithmetic import eq, ne, trunc
from vecdist.primitives.power import power

KINDS = "bif"  # each holds those before it


def is_number(value: Any) -> bool:
    """Whether a value is a number, known by now or not."""
    return isinstance(value, (Node, *NUMBERS, np.generic))


def kind(value: Any) -> str:
    """``b``, ``i`` or ``f``; a Problem for what is no number."""
    if isinstance(value, Node):
        return value.dtype.kind
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | np.integer):
        return "i"
    if isinstance(value, float | np.floating):
        return "f"
    raise Problem(f"a number is wanted, not {described(value)}")


@final
@dataclass(frozen=True)
class Numbers:
    """Operators on numbers, where all floats are of one dtype; whole numbers are int64."""

    floating: np.dtype

    def dtype(self, letter: str) -> np.dtype:
        return {"b": np.dtype(bool), "i": np.dtype(np.int64), "f": self.floating}[letter]

    def node(self, value: Any, letter: str = "") -> Node:
        """A number as a node, of a kind or of its own."""
        dtype = self.dtype(letter or kind(value))
        if not isinstance(value, Node):
            if dtype.kind == "i" and not -(2**63) <= value < 2**63:
                raise Problem(f"{value} is beyond all 64-bit integers")
            return const(value, dtype)
        return self._truncated(value) if dtype.kind == "i" and value.dtype.kind == "f" else cast(value, dtype)

    def _truncated(self, value: Node) -> Node:
        return cast(trunc(value), np.int64)

    def settled(self, value: Node) -> Node:
        """A node that a function gave, of the dtype that its kind has here."""
        return cast(value, self.dtype("i" if value.dtype.kind == "u" else value.dtype.kind))

    def common(self, *values: Any, least: str = "b") -> list[Node]:
        """Numbers as nodes of the largest of their kinds."""
        letter = max((least, *map(kind, values)), key=KINDS.index)
        return [self.node(value, letter) for value in values]

    def floats(self, *values: Any) -> list[Node]:
        return [self.node(value, "f") for value in values]

    def truth(self, value: Any) -> Node | bool:
        """Whether a value counts as true."""
        if isinstance(value, Unclear):
            raise Problem(value.reason)
        if not isinstance(value, Node):
            return bool(value)
        return value if value.dtype.kind == "b" else ne(value, 0)

    def binary(self, op: ast.operator, a: Any, b: Any) -> Any:
        """``a op b``."""
        plain = PLAIN.get(type(op))
        if plain is None:
            raise Problem("@ multiplies matrices, and these are numbers")
        if isinstance(a, tuple) and isinstance(b, tuple) and isinstance(op, ast.Add):
            return a + b
        if self._known(a, b):
            return plain(a, b)
        return BINARY[type(op)](self, a, b)

    def _known(self, a: Any, b: Any) -> bool:
        """Whether two numbers are known by now."""
        return all(kind(each) and not isinstance(each, Node) for each in (a, b))

    def unary(self, op: ast.unaryop, a: Any) -> Any:
        if isinstance(op, ast.Not):
            return self.negated(self.truth(a))
        kind(a)
        if not isinstance(a, Node):
            return {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[type(op)](a)
        (whole,) = self.common(a, least="i")
        if isinstance(op, ast.Invert):
            return -1 - self.whole(whole)[0]
        return -whole if isinstance(op, ast.USub) else whole

    def whole(self, *values: Any) -> list[Node]:
        """Whole numbers as nodes."""
        if any(kind(value) == "f" for value in values):
            raise Problem("a whole number is wanted here, not a float; int(x) makes one")
        return self.common(*values, least="i")

    def compare(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        """``a op b``, for one comparison of a chain."""
        if isinstance(op, ast.Is | ast.IsNot):
            if isinstance(a, Node) and isinstance(b, Node | int | float):
                raise Problem("`is` compares objects; write == for numbers")
            return (a is b) is isinstance(op, ast.Is)
        if isinstance(op, ast.In | ast.NotIn):
            found: Any = False
            for each in self.items(b):
                found = self.either(found, self.compare(ast.Eq(), a, each))
            return self.negated(found) if isinstance(op, ast.NotIn) else found
        if (a is None or b is None) and isinstance(op, ast.Eq | ast.NotEq):
            return (a is b) is isinstance(op, ast.Eq)
        if self._known(a, b):
            return bool(COMPARED[type(op)][0](a, b))
        return COMPARED[type(op)][1](*self.common(a, b))

    def items(self, value: Any) -> tuple[Any, ...]:
        """What a sequence is made of that is known by now."""
        if isinstance(value, np.ndarray):
            return constant(value.tolist())
        if isinstance(value, tuple | list | range):
            return tuple(value)
        raise Problem(f"a tuple is wanted, not {described(value)}")

    def negated(self, condition: Node | bool) -> Node | bool:
        return ~condition if isinstance(condition, Node) else not condition

    def both(self, a: Node | bool, b: Node | bool) -> Node | bool:
        if isinstance(a, Node) and isinstance(b, Node):
            return a & b
        known, other = (b, a) if isinstance(a, Node) else (a, b)
        return other if known else False

    def either(self, a: Node | bool, b: Node | bool) -> Node | bool:
        if isinstance(a, Node) and isinstance(b, Node):
            return a | b
        known, other = (b, a) if isinstance(a, Node) else (a, b)
        return True if known else other

    def merged(self, condition: Node | bool, yes: Any, no: Any) -> Any:
        """``yes`` where a condition holds, ``no`` elsewhere: what a name has behind two paths."""
        if not isinstance(condition, Node):
            return yes if condition else no
        if yes is no or (type(yes) is type(no) and isinstance(yes, NUMBERS) and repr(yes) == repr(no)):
            return yes
        if is_number(yes) and is_number(no):
            return where(condition, *self.common(yes, no))
        if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
            return tuple([self.merged(condition, a, b) for a, b in zip(yes, no, strict=True)])
        unclear = next((each for each in (yes, no) if isinstance(each, Unclear)), None)
        what = f"a number on every path is wanted, not {described(yes)} on one, {described(no)} on another"
        return unclear or Unclear(what)

    def _divided(self, a: Any, b: Any) -> Node:
        x, y = self.floats(a, b)
        return x / y

    def _floor_divided(self, a: Any, b: Any) -> Node:
        x, y = self.common(a, b, least="i")
        if x.dtype.kind == "f":
            return x // y
        shift = _shift(y)
        return apply(np.floor_divide, x, y) if shift is None else x >> shift

    def _rest(self, a: Any, b: Any) -> Node:
        x, y = self.common(a, b, least="i")
        if x.dtype.kind == "f":
            return x % y
        return apply(np.remainder, x, y) if _shift(y) is None else x & const(int(y.value) - 1, y.dtype)

    def _power(self, a: Any, b: Any) -> Node:
        """A whole power of a whole number is one where the exponent is known; else a float, exact up to 2**53."""
        if "f" not in (kind(a), kind(b)):
            if not isinstance(b, Node) and b >= 0:
                return apply(np.power, self.node(a, "i"), int(b))
            if not isinstance(a, Node) and a == -1:
                return 1 - 2 * (self.node(b, "i") & 1)
        if isinstance(b, Node):
            return power(*self.floats(a, b))
        return self.node(a, "f") ** b


def _shift(divisor: Node) -> int | None:
    """The exponent of a power of 2, of which quotient and rest are shifts."""
    value = int(divisor.value) if divisor.is_const() else 0
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def _arithmetic(op: Callable[[Any, Any], Any]) -> Callable[..., Node]:
    return lambda numbers, a, b: op(*numbers.common(a, b, least="i"))


def _bitwise(op: Callable[[Any, Any], Any]) -> Callable[..., Node]:
    def node(numbers: Numbers, a: Any, b: Any) -> Node:
        return op(*(numbers.common(a, b) if kind(a) == kind(b) == "b" else numbers.whole(a, b)))

    return node


def _shifted(op: Callable[[Any, Any], Any]) -> Callable[..., Node]:
    return lambda numbers, a, b: op(*numbers.whole(a, b))


PLAIN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}
BINARY: dict[type[ast.operator], Callable[[Numbers, Any, Any], Node]] = {
    ast.Add: _arithmetic(operator.add), ast.Sub: _arithmetic(operator.sub), ast.Mult: _arithmetic(operator.mul),
    ast.Div: Numbers._divided, ast.FloorDiv: Numbers._floor_divided, ast.Mod: Numbers._rest, ast.Pow: Numbers._power,
    ast.BitAnd: _bitwise(operator.and_), ast.BitOr: _bitwise(operator.or_),
    ast.BitXor: _bitwise(lambda x, y: ne(x, y) if x.dtype.kind == "b" else apply(np.bitwise_xor, x, y)),
    ast.LShift: _shifted(operator.lshift), ast.RShift: _shifted(operator.rshift),
}
COMPARED: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], Callable[[Node, Node], Node]]] = {
    ast.Eq: (operator.eq, eq), ast.NotEq: (operator.ne, ne), ast.Lt: (operator.lt, operator.lt),
    ast.LtE: (operator.le, operator.le), ast.Gt: (operator.gt, operator.gt), ast.GtE: (operator.ge, operator.ge),
}
