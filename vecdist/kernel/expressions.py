"""Scalar expressions of the loop IR: indices, guards, arguments, and whatever generated code computes.

They are trees that are compared and hashed by what they say, and are written with Python's operators:
``Name("i0") * 4 + 1``.  ``str`` is their text in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import final

import numpy as np

from vecdist.graph.shapes import Dim

Number = int | float | bool

BINDS = {
    "or": 1, "and": 2, "not": 3, "<": 4, "<=": 4, "==": 4, "!=": 4, ">": 4, ">=": 4, "|": 5, "^": 6, "&": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "neg": 11, "~": 11, "**": 12,
}  # fmt: skip
CHOICE, ATOM = 0, 13  # how tightly a choice and a name bind, beside the operators
UNARY = {"not": "not ", "neg": "-", "~": "~"}
COMPARISONS = {"<", "<=", "==", "!=", ">", ">="}  # two of them side by side would be read as a chain


class Expr:
    """Any expression."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions that it is made of."""
        return ()

    def made_of(self, parts: tuple[Expr, ...]) -> Expr:
        """The same of other parts."""
        return self

    def __add__(self, other: Operand) -> Operation:
        return operation("+", self, other)

    def __radd__(self, other: Operand) -> Operation:
        return operation("+", other, self)

    def __sub__(self, other: Operand) -> Operation:
        return operation("-", self, other)

    def __rsub__(self, other: Operand) -> Operation:
        return operation("-", other, self)

    def __mul__(self, other: Operand) -> Operation:
        return operation("*", self, other)

    def __rmul__(self, other: Operand) -> Operation:
        return operation("*", other, self)

    def __floordiv__(self, other: Operand) -> Operation:
        return operation("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Operation:
        return operation("//", other, self)

    def __mod__(self, other: Operand) -> Operation:
        return operation("%", self, other)

    def __lshift__(self, other: Operand) -> Operation:
        return operation("<<", self, other)

    def __rlshift__(self, other: Operand) -> Operation:
        return operation("<<", other, self)

    def __rshift__(self, other: Operand) -> Operation:
        return operation(">>", self, other)

    def __and__(self, other: Operand) -> Operation:
        return operation("&", self, other)

    def __or__(self, other: Operand) -> Operation:
        return operation("|", self, other)

    def __lt__(self, other: Operand) -> Operation:
        return operation("<", self, other)

    def __le__(self, other: Operand) -> Operation:
        return operation("<=", self, other)

    def __gt__(self, other: Operand) -> Operation:
        return operation(">", self, other)

    def __ge__(self, other: Operand) -> Operation:
        return operation(">=", self, other)

    def equals(self, other: Operand) -> Operation:
        """Whether both are equal, as an expression; ``==`` says whether they are the same expression."""
        return operation("==", self, other)

    def differs(self, other: Operand) -> Operation:
        return operation("!=", self, other)

    def __getitem__(self, index: Operand) -> Element:
        return Element(self, expr(index))

    def __call__(self, *args: Operand) -> Call:
        return Call(self, tuple(map(expr, args)))

    def __iter__(self) -> Iterator[Expr]:
        raise TypeError(f"{type(self).__name__} cannot be iterated")  # which subscripts alone would allow

    def __str__(self) -> str:
        return _text(self, CHOICE)


@final
@dataclass(frozen=True, slots=True)
class Name(Expr):
    """A variable, or a word of the language that code is generated in."""

    id: str


@final
@dataclass(frozen=True, slots=True)
class Constant(Expr):
    """A number of Python."""

    value: Number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and repr(self.value) == repr(other.value)  # 0.0 is not -0.0, nor 1 True

    def __hash__(self) -> int:
        return hash(repr(self.value))


@final
@dataclass(frozen=True, slots=True)
class Operation(Expr):
    """An operator of Python, as in ``BINDS``, of one or two operands."""

    op: str
    args: tuple[Expr, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.args

    def made_of(self, parts: tuple[Expr, ...]) -> Operation:
        return Operation(self.op, parts)


@final
@dataclass(frozen=True, slots=True)
class Choice(Expr):
    """``yes`` where ``test`` holds, else ``no``; the other one is not computed."""

    test: Expr
    yes: Expr
    no: Expr

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.test, self.yes, self.no

    def made_of(self, parts: tuple[Expr, ...]) -> Choice:
        return Choice(*parts)


@final
@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A call of a function, or a conversion to a type."""

    function: Expr
    args: tuple[Expr, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.function, *self.args

    def made_of(self, parts: tuple[Expr, ...]) -> Call:
        return Call(parts[0], parts[1:])


@final
@dataclass(frozen=True, slots=True)
class Element(Expr):
    """An element of an array or a tuple."""

    array: Expr
    index: Expr

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.array, self.index

    def made_of(self, parts: tuple[Expr, ...]) -> Element:
        return Element(*parts)


@final
@dataclass(frozen=True, slots=True)
class Attribute(Expr):
    """What an array, or a module of words, has under a name."""

    of: Expr
    name: str

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.of,)

    def made_of(self, parts: tuple[Expr, ...]) -> Attribute:
        return Attribute(parts[0], self.name)


@final
@dataclass(frozen=True, slots=True)
class Several(Expr):
    """A tuple."""

    items: tuple[Expr, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.items

    def made_of(self, parts: tuple[Expr, ...]) -> Several:
        return Several(parts)


Operand = Expr | Number
ZERO, ONE, TRUE, FALSE = Constant(0), Constant(1), Constant(True), Constant(False)


def expr(value: Operand) -> Expr:
    """An expression as it is, a number as one."""
    return value if isinstance(value, Expr) else Constant(value)


def operation(op: str, *args: Operand) -> Operation:
    """An operator applied to expressions or numbers."""
    return Operation(op, tuple(map(expr, args)))


def further(index: Expr, by: Expr, backwards: bool = False) -> Expr:
    """An index moved by a name or a number: the same expression whatever the order of several moves.

    >>> str(further(further(Name("i"), Name("t")), Name("s"))), str(further(Name("i") + Name("s"), Name("s"), True))
    ('i + s + t', 'i')
    """
    moves = Counter({by: -1 if backwards else 1})
    while isinstance(index, Operation) and index.op in {"+", "-"} and isinstance(index.args[1], Name | Constant):
        (index, move), sign = index.args, 1 if index.op == "+" else -1
        moves[move] += sign
    number = sum(move.value * count for move, count in moves.items() if isinstance(move, Constant))
    index = index + number if number > 0 else index - -number if number else index
    for move in sorted((move for move in moves if isinstance(move, Name)), key=lambda name: name.id):
        for _ in range(abs(moves[move])):
            index = index + move if moves[move] > 0 else index - move
    return index


def length(dim: Dim) -> Expr:
    """The length of an axis: a symbol, or a number."""
    return Name(dim) if isinstance(dim, str) else Constant(dim)


def of_type(dtype: np.dtype, value: Operand) -> Call:
    """A number converted to a dtype, by its name in generated code: kind and bytes, as in ``f4``."""
    return Call(Name(f"{dtype.kind}{dtype.itemsize}"), (expr(value),))


def word(name: str) -> Expr:
    """A word of the language, dots and all: ``word("cuda.threadIdx.x")``."""
    first, *rest = name.split(".")
    found: Expr = Name(first)
    for each in rest:
        found = Attribute(found, each)
    return found


def joined(op: str, args: list[Expr]) -> Expr:
    """Operands joined from left to right."""
    first, *rest = args
    for each in rest:
        first = Operation(op, (first, each))
    return first


def evenly(op: str, args: Sequence[Expr]) -> Expr:
    """Operands joined in pairs, and these in pairs: many of them are not deep."""
    if len(args) == 1:
        return args[0]
    half = len(args) // 2
    return Operation(op, (evenly(op, args[:half]), evenly(op, args[half:])))


def spine(whole: Operation) -> list[Operation]:
    """An operation, that which is its first operand, and so on, the innermost first: sums of many terms are so deep."""
    found, inner = [whole], whole.args[0]
    while isinstance(inner, Operation):
        found.append(inner)
        inner = inner.args[0]
    return found[::-1]


def names(*found: Expr) -> Iterator[str]:
    """Every name that occurs in expressions, as often as it does."""
    waiting = [*reversed(found)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Name):
            yield each.id
        else:
            waiting += reversed(each.parts)


def rewritten(whole: Expr, rule: Callable[[Expr], Expr | None]) -> Expr:
    """An expression with what ``rule`` puts in the place of its parts, outermost first; ``None`` looks inside."""
    around = []
    while (found := rule(whole)) is None and isinstance(whole, Operation):
        around.append(whole)
        whole = whole.args[0]
    if found is None:
        found = _of(whole, tuple([rewritten(part, rule) for part in whole.parts]))
    for each in reversed(around):
        found = _of(each, (found, *[rewritten(part, rule) for part in each.args[1:]]))
    return found


def _of(whole: Expr, parts: tuple[Expr, ...]) -> Expr:
    """An expression of these parts, itself where they are its own."""
    return whole if all(map(is_, whole.parts, parts)) else whole.made_of(parts)


def substituted(whole: Expr, meanings: Mapping[str, Expr]) -> Expr:
    """An expression with others in the place of names."""
    return rewritten(whole, lambda part: meanings.get(part.id, part) if isinstance(part, Name) else None)


def _text(whole: Expr, least: int) -> str:
    """An expression as text, in parentheses where it binds less than ``least``."""
    text, binds = _written(whole)
    return f"({text})" if binds < least else text


def _written(whole: Expr) -> tuple[str, int]:
    """The text of an expression, and how tightly it binds."""
    match whole:
        case Name(name):
            return name, ATOM
        case Constant(value):
            text = repr(value)
            return (f"float('{text}')", ATOM) if text in {"inf", "-inf", "nan"} else (text, _binds_number(value))
        case Operation():
            around = spine(whole)
            found = _written(around[0].args[0])
            for each in around:
                found = _applied(each, *found), BINDS[each.op]
            return found
        case Choice(test, yes, no):
            return f"{_text(yes, 1)} if {_text(test, 1)} else {_text(no, CHOICE)}", CHOICE
        case Call(function, args):
            return f"{_text(function, ATOM)}({', '.join(map(str, args))})", ATOM
        case Element(array, index):
            return f"{_text(array, ATOM)}[{index}]", ATOM
        case Attribute(of, name):
            return f"{_text(of, ATOM)}.{name}", ATOM
        case Several(items):
            return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})", ATOM
    raise TypeError(f"{whole!r} is no expression")


def _applied(whole: Operation, first: str, binds: int) -> str:
    """The text of an operation on an operand of this text."""
    op, least = whole.op, BINDS[whole.op]
    first = f"({first})" if binds < least + (op in COMPARISONS) else first
    return f"{UNARY[op]}{first}" if op in UNARY else f"{first} {op} {_text(whole.args[1], least + 1)}"


def _binds_number(value: Number) -> int:
    return BINDS["neg"] if repr(value).startswith("-") else ATOM
