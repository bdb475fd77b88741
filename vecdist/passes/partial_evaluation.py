"""Terms of constant data alone: computed once, before any launch, for one vector of parameters or for many.

A sum over data of an expression that is affine in them, or a square of one, needs their mean and variance alone: with
mean u over n elements, sum(f(u_i)) = n f(mean u) for affine f, and sum(f(u_i)^2) = n (f(mean u)^2 + c^2 var u) with c
the slope of f.  Evaluating f at the mean is centred: nothing cancels that does not cancel in each element.  What is not
of this kind, but dear, is computed once for each element and read from memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, final

import numpy as np

from vecdist.graph.node import Node, cast, const, elementwise, rewrite, topological, where
from vecdist.passes.guarded_specialisation import may_be_edge
from vecdist.primitives.structure import extent, full, rebuilt, summed, view
from vecdist.primitives.table import PRIMITIVES

FREE, DATA, VARIABLE = range(3)  # what a node depends on: numbers of its own, constant data, or anything else
_LOGARITHM = {"xlogy": "log", "xlog1py": "log1p"}
WIDE = np.dtype(np.float64)


@final
@dataclass(frozen=True)
class Mean:
    """A mean in two parts: ``main``, at the mean of data as float64 has it, and ``rest``, what its rounding left."""

    main: Node
    rest: Node | None = None

    @property
    def whole(self) -> Node:
        return self.main if self.rest is None else self.main + self.rest

    def by(self, op: str, *factor: Node) -> Mean:
        """The mean under an operation that is linear in it."""
        rest = None if self.rest is None else elementwise(op, self.rest, *factor)
        return Mean(elementwise(op, self.main, *factor), rest)


@final
@dataclass
class Specialised:
    """``roots`` with inputs of their own in place of ``constants``; right where all of ``conditions`` hold."""

    roots: tuple[Node, ...]
    constants: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()


def partial_evaluation(
    roots: Sequence[Node], data: Collection[int], slots: int, rows: frozenset[str] = frozenset(),
    refuted: frozenset[Node] = frozenset(),
) -> Specialised:  # fmt: skip
    """``roots`` where the slots in ``data`` never change; there are ``slots`` of them before the new ones.

    Of data whose ``rows`` are in chunks no element is kept, but all that reduces rows.  Conditions that are ``refuted``
    are not taken to hold.
    """
    if not data:
        return Specialised(tuple(roots))
    state = _State(roots, frozenset(data), slots, rows, refuted)
    reduced = rewrite(roots, state.reduced)
    state.learn(reduced)
    dear = {node for node in topological(reduced) if state.is_dear(node) and state.is_stored(node)}
    inner = {arg for node in dear for arg in topological(node.args)}
    outermost = dear - inner | {node for node in dear if _read_elsewhere(node, reduced, dear)}
    found = rewrite(reduced, lambda node, args: state.slot(node) if node in outermost else rebuilt(node, args))
    return Specialised(found, tuple(state.constants), tuple(state.conditions))


def _read_elsewhere(node: Node, roots: Sequence[Node], dear: Collection[Node]) -> bool:
    """Whether something that is not computed once reads ``node``."""
    return any(node in user.args and user not in dear for user in topological(roots))


@final
@dataclass
class _State:
    """What is known of the nodes, and what has been made of them so far."""

    roots: Sequence[Node]
    data: frozenset[int]
    first: int
    rows: frozenset[str] = frozenset()
    refuted: frozenset[Node] = frozenset()
    axes: tuple[int, ...] = ()
    constants: dict[Node, Node] = field(default_factory=dict)
    conditions: dict[Node, None] = field(default_factory=dict)
    kinds: dict[Node, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.learn(self.roots)

    def learn(self, roots: Sequence[Node]) -> None:
        """What each node depends on."""
        unknown = [root for root in roots if root not in self.kinds]
        for node in topological(unknown, lambda node: [arg for arg in node.args if arg not in self.kinds]):
            self.kinds[node] = self.kind(node)

    def kind(self, node: Node) -> int:
        if node.op == "slot":
            return DATA if node.attrs[0] in self.data or node.attrs[0] >= self.first else VARIABLE
        return max((self.kinds[arg] for arg in node.args), default=FREE)

    def is_data(self, node: Node) -> bool:
        self.learn((node,))
        return self.kinds[node] == DATA

    def is_dear(self, node: Node) -> bool:
        """Whether a constant is worth a read from memory."""
        entry = PRIMITIVES.get(node.op)
        composed = entry is not None and entry.floating and (entry.expand or entry.routine) is not None
        return (composed or node.op in {"loop", "external"}) and self.kinds[node] == DATA

    def is_stored(self, node: Node) -> bool:
        """Whether an array of its shape is read in any case, as what a call gives is."""
        if self.rows.intersection(map(str, node.shape)):
            return False
        slots = (below for below in topological((node,)) if below.op == "slot")
        return node.op == "external" or any(slot.shape == node.shape for slot in slots)

    def slot(self, node: Node) -> Node:
        """The input that takes the place of a constant, which is computed from nothing but data."""
        made = {slot: constant for constant, slot in self.constants.items()}
        (whole,) = rewrite((node,), lambda each, args: made[each] if each in made else rebuilt(each, args))
        whole = whole if _varies(node) else scalar(whole)
        if whole not in self.constants:
            number, layout = self.first + len(self.constants), "dense" if _varies(node) else "number"
            self.constants[whole] = Node("slot", (), (number, layout, ()), whole.shape, node.dtype)
        return view(self.constants[whole], [], node.shape) if whole.ndim < node.ndim else self.constants[whole]

    def reduced(self, node: Node, args: tuple[Node, ...]) -> Node:
        """A sum over data by their mean and variance, as far as that goes."""
        node = rebuilt(node, args)
        if self.reduces_rows(node) and (node.op != "sum" or _varies(node)):
            return self.slot(node)
        if node.op != "sum" or node.dtype.kind != "f":
            return node
        (source,), (self.axes,) = node.args, node.attrs
        if not self.varies(source) or (_varies(node) and self.is_data(node)):
            return node
        self.learn((node,))
        before = dict(self.constants), dict(self.conditions)
        rest, mean = self.parted(source)
        if mean is None or not (self.reads_constants(mean.whole) or (rest is None and self.reads_data(source))):
            self.constants, self.conditions = before
            return node
        count = extent([source.shape[axis] for axis in sorted(self.axes) if source.shape[axis] != 1])
        placed = full(cast(mean.whole * count, node.dtype), node.shape)
        return placed if rest is None else summed(full(rest, source.shape), self.axes) + placed

    def varies(self, node: Node) -> bool:
        """Whether a value differs along the axes that are summed."""
        return any(-axis <= node.ndim and node.shape[axis] != 1 for axis in self.axes)

    def differs(self, node: Node) -> bool:
        """Whether a value differs along other axes than those."""
        return any(node.shape[axis] != 1 for axis in range(-node.ndim, 0) if axis not in self.axes)

    def one(self, node: Node) -> Node:
        """A value that is the same along the axes that are summed; a scalar where it is the same along others too."""
        return node if self.differs(node) else scalar(node)

    def wide(self, node: Node) -> Node:
        """Such a value as wide as means are."""
        return cast(self.one(node), WIDE)

    def is_taken(self, condition: Node) -> bool:
        """Whether a condition is taken to hold: data alone say that no element is an edge case."""
        taken = condition not in self.refuted and self.is_data(condition) and may_be_edge(condition)
        if taken:
            self.conditions[condition] = None
        return taken

    def reduces_rows(self, node: Node) -> bool:
        """Whether data in chunks are read for a value that is none of their rows, and nothing else is."""
        if not self.rows or self.rows.intersection(map(str, node.shape)) or not self.is_data(node):
            return False
        return any(self.rows.intersection(map(str, arg.shape)) for arg in node.args)

    def reads_data(self, node: Node) -> bool:
        return any(below.op == "slot" and below.attrs[0] in self.data for below in topological((node,)))

    def reads_constants(self, node: Node) -> bool:
        return any(below.op == "slot" and below.attrs[0] >= self.first for below in topological((node,)))

    def parted(self, node: Node) -> tuple[Node | None, Mean | None]:
        """What is left to be summed element by element, and the mean of the rest; their sum is ``node``."""
        mean = self.mean(node)
        if mean is not None:
            return None, mean
        match node.op, node.args:
            case "add" | "sub", (x, y):
                (first, mean_x), (second, mean_y) = self.parted(x), self.parted(y)
                return _either(node.op, first, second), _either(node.op, mean_x, mean_y)
            case "neg", (x,):
                rest, mean = self.parted(x)
                return None if rest is None else -rest, None if mean is None else mean.by("neg")
            case "where", (condition, x, y) if y.op != "const" and x.op == "const" and self.is_taken(~condition):
                return self.parted(y)
        return node, None

    def mean(self, node: Node) -> Mean | None:
        """The mean over all elements; ``None`` where it takes more than means and variances of data."""
        if not self.varies(node):
            return Mean(self.wide(node))
        self.learn((node,))
        if self.kinds[node] == DATA:
            return self.mean_of_data(node) if node.dtype.kind in "iuf" and self.is_plain(node) else None
        match node.op, node.args:
            case ("neg" | "cast") as op, (x,) if x.dtype.kind == node.dtype.kind == "f":
                mean = self.mean(x)
                return mean.by("neg") if op == "neg" and mean is not None else mean
            case ("add" | "sub") as op, (x, y):
                return _sum_of(op, self.mean(x), self.mean(y))
            case ("mul" | "times" | "div") as op, (x, y) if not self.varies(y):
                return _product_of(op, self.mean(x), self.wide(y))
            case ("mul" | "times"), (x, y) if not self.varies(x):
                return _product_of(node.op, self.mean(y), self.wide(x))
            case ("xlogy" | "xlog1py") as op, (x, y) if not self.varies(x) and self.is_plain(y):
                return _product_of("mul", self.mean_of_data(PRIMITIVES[_LOGARITHM[op]](y)), self.wide(x))
            case "square", (x,):
                return self.mean_product(x, x)
            case "mul", (x, y):
                return self.mean_product(x, y)
            case "where", (condition, x, y) if not self.varies(condition):
                return _choice_of(self.one(condition), self.mean(x), self.mean(y))
            case "where", (condition, x, y) if x.op == "const" and self.is_taken(~condition):
                return self.mean(y)
            case "where", (condition, x, y) if y.op == "const" and self.is_taken(condition):
                return self.mean(x)
        return None

    def is_plain(self, node: Node) -> bool:
        """Whether a value is of data, and its mean is one number."""
        return self.kinds[node] == DATA and not self.differs(node)

    def mean_of_data(self, node: Node) -> Mean:
        return Mean(self.slot(mean_of(node)), self.slot(mean_of(centred(node))))

    def mean_product(self, x: Node, y: Node) -> Mean | None:
        """The mean of the product of two expressions that are affine in the same array of data."""
        line, other = self.slope(x), self.slope(y)
        first, second = self.mean(x), self.mean(y)
        if line is None or other is None or first is None or second is None or line[0] is not other[0]:
            return None
        if first.rest is None or second.rest is None:
            return None
        variance = self.slot(mean_of(PRIMITIVES["square"](centred(line[0]))))
        rounding = first.main * second.rest + second.main * first.rest
        return Mean(first.main * second.main, line[1] * other[1] * variance + rounding)

    def slope(self, node: Node) -> tuple[Node, Node] | None:
        """The data that an affine expression depends on, and its slope."""
        if self.kinds[node] == DATA:
            return node, const(1, WIDE)
        match node.op, node.args:
            case "neg", (x,):
                return _scaled(self.slope(x), const(-1, WIDE))
            case ("add" | "sub"), (x, y) if not self.varies(y):
                return self.slope(x)
            case "add", (x, y) if not self.varies(x):
                return self.slope(y)
            case "sub", (x, y) if not self.varies(x):
                return _scaled(self.slope(y), const(-1, WIDE))
            case ("add" | "sub") as op, (x, y):
                return _together(op, self.slope(x), self.slope(y))
            case "mul", (x, y) if not self.varies(y):
                return _scaled(self.slope(x), self.wide(y))
            case "mul", (x, y) if not self.varies(x):
                return _scaled(self.slope(y), self.wide(x))
            case "div", (x, y) if not self.varies(y):
                return _scaled(self.slope(x), 1.0 / self.wide(y))
        return None


def _varies(node: Node) -> bool:
    return any(dim != 1 for dim in node.shape)


def scalar(node: Node) -> Node:
    """A node of one element without axes."""
    return view(node, [(None, 0, 1)] * node.ndim, ()) if node.ndim else node


def mean_of(node: Node) -> Node:
    """The mean of all elements, in float64."""
    wide = cast(node, WIDE)
    return scalar(summed(wide, tuple(range(-node.ndim, 0)))) / extent([dim for dim in node.shape if dim != 1])


def centred(node: Node) -> Node:
    """All elements without their mean, in float64."""
    return cast(node, WIDE) - mean_of(node)


def _sum_of(op: str, x: Mean | None, y: Mean | None) -> Mean | None:
    if x is None or y is None:
        return None
    return Mean(elementwise(op, x.main, y.main), _either(op, x.rest, y.rest))


def _product_of(op: str, mean: Mean | None, factor: Node) -> Mean | None:
    return None if mean is None else mean.by(op, factor)


def _choice_of(condition: Node, x: Mean | None, y: Mean | None) -> Mean | None:
    if x is None or y is None:
        return None
    zero = const(0, WIDE)
    rests = (zero if mean.rest is None else mean.rest for mean in (x, y))
    return Mean(where(condition, x.main, y.main), None if x.rest is y.rest is None else where(condition, *rests))


def _scaled(found: tuple[Node, Node] | None, factor: Node) -> tuple[Node, Node] | None:
    return None if found is None else (found[0], found[1] * factor)


def _together(op: str, x: tuple[Node, Node] | None, y: tuple[Node, Node] | None) -> tuple[Node, Node] | None:
    """The sum of two lines in the same data, or in others with the same slope: of two that differ much would cancel."""
    if x is None or y is None or (x[0] is not y[0] and x[1] is not y[1]):
        return None
    return (x[0], elementwise(op, x[1], y[1])) if x[0] is y[0] else (elementwise(op, x[0], y[0]), x[1])


Part = TypeVar("Part", Node, "Mean")


def _either(op: str, x: Part | None, y: Part | None) -> Part | None:
    """``x`` and ``y`` added or subtracted, as far as they are there."""
    if y is None:
        return x
    if x is None:
        return y if op == "add" else y.by("neg") if isinstance(y, Mean) else -y
    if isinstance(x, Mean) and isinstance(y, Mean):
        return _sum_of(op, x, y)
    return elementwise(op, x, y)  # type: ignore[arg-type]


def without_constants(root: Node, data: Collection[int]) -> Node:
    """``root`` without the terms that depend on no variable input: equal to it up to a constant."""
    state = _State((root,), frozenset(data), 1 << 30)

    def dropped(node: Node) -> Node:
        if state.kinds[node] != VARIABLE and node.dtype.kind == "f":
            return const(0, node.dtype) if not node.shape else view(const(0, node.dtype), [], node.shape)
        match node.op, node.args:
            case ("add" | "sub" | "neg" | "cast"), args:
                return rebuilt(node, tuple(dropped(arg) for arg in args))
            case "where", (condition, x, y):
                return where(condition, *(side if state.kinds[side] == FREE else dropped(side) for side in (x, y)))
            case "sum" | "view" | "reshape", (x,):
                inner = dropped(x)
                return rebuilt(node, (inner,)) if inner.shape == x.shape else node
        return node

    return dropped(root)
