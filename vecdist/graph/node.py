"""Expression nodes: interned, typed, and without meaning of their own.

A node names its operation; what the name means stands in ``vecdist.primitives``.  Equal nodes are one object, so
equality is identity and a graph is a directed acyclic graph with every common subexpression shared.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from vecdist.graph.memo import in_children
from vecdist.graph.shapes import Shape, broadcast

Scalar = bool | int | float


class _Interned(weakref.ref["Node"]):
    """A node for as long as somebody has it, and what makes it the node that it is."""

    __slots__ = ("key",)

    key: tuple
    every: ClassVar[dict[tuple, _Interned]] = {}
    lock: ClassVar[threading.RLock] = threading.RLock()  # one may be forgotten while another takes its place

    def forget(self) -> None:
        every, key = self.every, self.key
        with self.lock:
            if every.get(key) is self:  # and no equal node has been made since
                del every[key]


_new = object.__new__


class Node:
    """An operation on other nodes, with the shape and dtype of its value."""

    __slots__ = ("__weakref__", "args", "attrs", "dtype", "op", "shape")

    op: str
    args: tuple[Node, ...]
    attrs: tuple[Any, ...]
    shape: Shape
    dtype: np.dtype

    def __new__(
        cls, op: str, args: tuple[Node, ...], attrs: tuple[Any, ...], shape: Shape, dtype: np.dtype
    ) -> Self:
        key = (op, args, attrs, shape, dtype)
        known = _Interned.every.get(key)
        node = known() if known is not None else None
        return cls._made(key) if node is None else node  # type: ignore[return-value]

    @classmethod
    def _made(cls, key: tuple) -> Self:
        """The node of a key, unless another thread has made it meanwhile."""
        node = _new(cls)
        node.op, node.args, node.attrs, node.shape, node.dtype = key
        mine = _Interned(node, _Interned.forget)
        mine.key = key
        if _Interned.every.setdefault(key, mine) is mine:
            return node
        with _Interned.lock:  # what is there may be a node that nobody has any more
            known = _Interned.every.get(key)
            other = known() if known is not None else None
            if other is None:
                _Interned.every[key] = mine
        return node if other is None else other  # type: ignore[return-value]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def value(self) -> Scalar:
        """The number that a constant holds."""
        (text,) = self.attrs
        return float.fromhex(text) if isinstance(text, str) else text

    def is_const(self, *values: Scalar) -> bool:
        """Whether this is a constant (equal to one of ``values``, where any are given)."""
        return self.op == "const" and (not values or self.value in values)

    def __repr__(self) -> str:
        return self._text(depth=3)

    def _text(self, depth: int) -> str:
        """The expression down to some depth: written out in full, what is shared would be written again and again."""
        if self.op == "const":
            return f"{self.value!r}"
        if not depth and self.args:
            return f"{self.op}(...)"
        inner = ", ".join(arg._text(depth - 1) for arg in self.args)
        attrs = "".join(f"; {attr}" for attr in self.attrs)
        return f"{self.op}({inner}{attrs})" if self.args or attrs else self.op

    def __add__(self, other: Operand) -> Node:
        return elementwise("add", self, other)

    def __radd__(self, other: Operand) -> Node:
        return elementwise("add", other, self)

    def __sub__(self, other: Operand) -> Node:
        return elementwise("sub", self, other)

    def __rsub__(self, other: Operand) -> Node:
        return elementwise("sub", other, self)

    def __mul__(self, other: Operand) -> Node:
        return elementwise("mul", self, other)

    def __rmul__(self, other: Operand) -> Node:
        return elementwise("mul", other, self)

    def __truediv__(self, other: Operand) -> Node:
        return elementwise("div", self, other, least=np.float32)

    def __rtruediv__(self, other: Operand) -> Node:
        return elementwise("div", other, self, least=np.float32)

    def __floordiv__(self, other: Operand) -> Node:
        return elementwise("floor_divide", self, other, least=np.float32)

    def __rfloordiv__(self, other: Operand) -> Node:
        return elementwise("floor_divide", other, self, least=np.float32)

    def __mod__(self, other: Operand) -> Node:
        return elementwise("remainder", self, other, least=np.float32)

    def __rmod__(self, other: Operand) -> Node:
        return elementwise("remainder", other, self, least=np.float32)

    def __divmod__(self, other: Operand) -> tuple[Node, Node]:
        return self // other, self % other

    def __pow__(self, exponent: Operand) -> Node:
        """The power; that of a small whole number, or of a half, is what has fewer roundings."""
        simple = None if isinstance(exponent, Node) else SIMPLE_POWERS.get(exponent)
        return simple(self) if simple else elementwise("pow", self, exponent, least=np.float32)

    def __rpow__(self, base: Operand) -> Node:
        return elementwise("pow", base, self, least=np.float32)

    def __neg__(self) -> Node:
        return elementwise("neg", self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return elementwise("abs", self)

    def __lt__(self, other: Operand) -> Node:
        return elementwise("lt", self, other, result=np.bool_)

    def __le__(self, other: Operand) -> Node:
        return elementwise("le", self, other, result=np.bool_)

    def __gt__(self, other: Operand) -> Node:
        return elementwise("lt", other, self, result=np.bool_)

    def __ge__(self, other: Operand) -> Node:
        return elementwise("le", other, self, result=np.bool_)

    def __and__(self, other: Operand) -> Node:
        return elementwise("and", self, other)

    def __or__(self, other: Operand) -> Node:
        return elementwise("or", self, other)

    def __rand__(self, other: Operand) -> Node:
        return elementwise("and", other, self)

    def __ror__(self, other: Operand) -> Node:
        return elementwise("or", other, self)

    def __invert__(self) -> Node:
        return elementwise("not", self)

    def __lshift__(self, count: int) -> Node:
        return elementwise("shl", self, count)

    def __rshift__(self, count: int) -> Node:
        return elementwise("shr", self, count)

    def __bool__(self) -> bool:
        raise TypeError(
            f"the node {self.op!r} has no value yet; use where() to choose, and (a < b) & (b < c) for a < b < c"
        )

    def __float__(self) -> float:
        raise TypeError(
            f"the node {self.op!r} is no number yet; use functions of vecdist.primitives, such as elementary.log, not "
            "those of math"
        )


def _reopen() -> None:
    _Interned.lock = threading.RLock()


in_children(_reopen)

Operand = Node | Scalar
SIMPLE_POWERS: dict[Scalar, Callable[[Node], Node]] = {
    0.5: lambda x: elementwise("sqrt", x, least=np.float32),
    1: lambda x: x,
    2: lambda x: elementwise("square", x),
    3: lambda x: elementwise("square", x) * x,
    4: lambda x: elementwise("square", elementwise("square", x)),
    -1: lambda x: elementwise("reciprocal", x, least=np.float32),
}


def const(value: Scalar, dtype: Any = np.float64) -> Node:
    """A constant.  Floats are kept as hexadecimal text, so that -0.0 and nan are themselves."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return Node("const", (), (float(value).hex(),), (), dtype)
    return Node("const", (), (bool(value) if dtype.kind == "b" else int(value),), (), dtype)


def cast(node: Node, dtype: Any) -> Node:
    """``node`` converted to ``dtype``; itself where it has it already."""
    dtype = np.dtype(dtype)
    if node.dtype == dtype:
        return node
    if node.op == "const":
        return const(node.value, dtype)
    return Node("cast", (node,), (), node.shape, dtype)


def elementwise(
    op: str, *operands: Operand, result: Any = None, least: Any = None
) -> Node:
    """A node of an elementwise operation: operands broadcast, and promoted as NumPy does.

    Python numbers take the dtype of the nodes beside them.  ``least`` asks for at least that dtype (a quotient of
    integers is a float64, as in NumPy); ``result`` names the dtype of the value where it differs from the operands'.
    """
    dtype = _promoted(operands)
    if least is not None and dtype.kind != "f":
        dtype = np.result_type(dtype, least)
    args = _converted(operands, dtype)
    shape = broadcast([n.shape for n in args])
    return Node(op, args, (), shape, dtype if result is None else np.dtype(result))


def _promoted(operands: Sequence[Operand]) -> np.dtype:
    """The dtype that NumPy gives: that of all nodes where they are floats of one, which numbers beside them keep."""
    dtype = None
    for n in operands:  # most of all that is done is done here: a loop takes less than a set
        if isinstance(n, Node) and n.dtype is not dtype:
            if dtype is not None:
                break
            dtype = n.dtype
    else:
        if dtype is not None and dtype.kind == "f":
            return dtype
    return np.result_type(*(n.dtype if isinstance(n, Node) else n for n in operands))


def _converted(operands: Sequence[Operand], dtype: np.dtype) -> tuple[Node, ...]:
    converted = []
    for n in operands:
        if isinstance(n, Node):
            converted.append(n if n.dtype is dtype else cast(n, dtype))  # as it is, nearly always
        else:
            converted.append(const(n, dtype))
    return tuple(converted)


def where(condition: Node, yes: Operand, no: Operand) -> Node:
    """``yes`` where ``condition`` holds, ``no`` elsewhere; the branch not taken cannot leak a NaN."""
    if not isinstance(condition, Node):
        raise TypeError(
            f"a choice wants a condition as a node, given {condition!r}; == and != compare nodes themselves: write "
            "eq(a, b) or ne(a, b) of vecdist.primitives.arithmetic"
        )
    dtype = _promoted((yes, no))
    branches = _converted((yes, no), dtype)
    shape = broadcast((condition.shape, *[n.shape for n in branches]))
    return Node("where", (condition, *branches), (), shape, dtype)


def topological(roots: Iterable[Node], inputs: Callable[[Node], Sequence[Node]] | None = None) -> Iterator[Node]:
    """Every node that ``roots`` need, each after its arguments, or after those of them that ``inputs`` gives."""
    seen: set[Node] = set()
    stack: list[Node | None] = [*reversed(tuple(roots))]
    while stack:
        node = stack.pop()
        if node is None:  # what lies below has all its arguments behind it
            yield stack.pop()  # type: ignore[misc]
        elif node not in seen:
            seen.add(node)
            needed = inputs(node) if inputs else node.args
            if needed and not seen.issuperset(needed):
                stack += (node, None)
                stack += needed[::-1]  # those that were seen among them are passed over when it is their turn
                continue
            yield node


def below(roots: Iterable[Node]) -> list[Node]:
    """Every node that ``roots`` need, in an order that depends on nothing but how they are made of each other."""
    found = list(dict.fromkeys(roots))
    seen = set(found)
    for node in found:  # which grows meanwhile
        for arg in node.args:
            if arg not in seen:
                seen.add(arg)
                found.append(arg)
    return found


def rewrite(
    roots: Iterable[Node], rule: Callable[[Node, tuple[Node, ...]], Node]
) -> tuple[Node, ...]:
    """``roots`` rebuilt from the leaves up: ``rule(node, new_args)`` gives each node's successor."""
    roots = tuple(roots)
    new: dict[Node, Node] = {}
    successor = new.__getitem__
    for node in topological(roots):
        new[node] = rule(node, tuple(map(successor, node.args)))
    return tuple([new[root] for root in roots])
