"""Derivatives of calls as expressions: a rule is run on lazy arrays once, and what it makes of them is put into graphs.

What a rule says is bound as any expression (``passes/bind.py``), but to the lengths of the call that it is a rule of:
those that must be equal in it are equal in the call, which is what the letters of its axes say.  Calls of which rules
say the same, whatever the lengths, are one ``Call``, so that they share programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.graph.leaves import Leaf
from vecdist.graph.node import Node, cast, const, rewrite, topological
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.passes.bind import Binder
from vecdist.passes.differentiate import pullback
from vecdist.passes.lengths import STATIC, Axes, find_axes
from vecdist.passes.vmap import vmap
from vecdist.primitives.calls import Call, Kinds
from vecdist.primitives.structure import full

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Rule = Callable[..., Any]


class Places(NamedTuple):
    """What stands for the arguments of a call, its results, and what belongs to either: cotangents and tangents."""

    args: tuple[Node, ...]
    results: tuple[Node, ...]
    cotangents: tuple[Node, ...]
    tangents: tuple[Node, ...]

    @property
    def every(self) -> tuple[Node, ...]:
        return (*self.args, *self.results, *self.cotangents, *self.tangents)


@final
class Rules:
    """The rules of a function, as they were written, and its calls: one for all lengths of which they say the same."""

    def __init__(self, plain: Call, vjp: Rule | None, jvp: Rule | None) -> None:
        self.plain, self.label, self.vjp, self.jvp = plain, plain.name, vjp, jvp
        self.calls: dict[Any, Call] = {}

    def call(self, args: Sequence[Node], kinds: Kinds) -> Call:
        own = tuple([(arg.shape, arg.dtype) for arg in args])
        known = self.calls.get((own, kinds))
        if known is None:
            traced = self._traced(own, kinds)
            known = self.calls.setdefault(traced.structure, traced.call(self.plain))
            if len(self.calls) < MOST:
                self.calls[own, kinds] = known
        return known

    def _traced(self, own: Kinds, kinds: Kinds) -> Traced:
        places = Places(*(tuple(map(_token, each)) for each in (own, kinds, kinds, own)))
        pulled, pushed = None, None
        args, results, cotangents, tangents = (tuple(map(LazyArray, each)) for each in places)
        if self.vjp is not None:
            name = f"vjp of {self.label}"
            pulled = _checked(name, self.vjp(args, results, cotangents), places.args, "argument")
        if self.jvp is not None:
            name = f"jvp of {self.label}"
            found = self.jvp(args, results, tangents)
            found = found if isinstance(found, tuple | list) else (found,)
            pushed = _checked(name, found, places.results, "result")
        return Traced(self.label, places, pulled, pushed)


MOST = 256  # shapes that are looked up


def _token(kind: tuple[Any, np.dtype]) -> Node:
    shape, dtype = kind
    example = np.broadcast_to(np.zeros((), dtype), [int(dim) for dim in shape])
    return Node("leaf", (), (Leaf(None, example, "numpy", "a rule's argument", traced=True),), shape, dtype)


def _checked(name: str, found: Any, like: Sequence[Node], what: str) -> list[Node | None]:
    """What a rule gives as nodes, each shaped as what it belongs to."""
    if not isinstance(found, tuple | list) or len(found) != len(like):
        raise ValueError(f"{name} gives a tuple, of an expression or None for each of {len(like)} {what}s")
    nodes: list[Node | None] = []
    for place, (each, one) in enumerate(zip(found, like, strict=True)):
        node = None if each is None else as_lazy(each).node
        if node is not None and node.shape != one.shape:
            raise ValueError(f"{name} gives an expression of shape {node.shape} where {what} {place} has {one.shape}")
        nodes.append(None if node is None else cast(node, one.dtype) if one.dtype.kind == "f" else None)
    return nodes


@final
class Traced:
    """What rules make of places of known lengths, and which of these lengths must be equal."""

    def __init__(
        self, label: str, places: Places, pulled: list[Node | None] | None, pushed: list[Node | None] | None
    ) -> None:
        self.label, self.places, self.pulled, self.pushed = label, places, pulled, pushed
        self.roots = [node for node in (*(pulled or ()), *(pushed or ())) if node is not None]
        self.axes = find_axes((*places.every, *self.roots))
        pairs = [*zip(places.results, places.cotangents, strict=True), *zip(places.args, places.tangents, strict=True)]
        for rule, like in ((pulled, places.args), (pushed, places.results)):
            pairs += [(node, one) for node, one in zip(rule or (), like, strict=bool(rule)) if node is not None]
        for pair in pairs:
            for one, other in zip(*map(self.axes.classes, pair), strict=True):
                self.axes.unite([one, other])
        for token in places.every:
            for axis, length in enumerate(token.shape):
                if length == 1:
                    self.axes.make_single(self.axes.classes(token)[axis])
        self._check()

    def _check(self) -> None:
        for node in topological(self.roots):
            if node.op == "leaf" and node.attrs[0].kind != "number" and node not in self.places.every:
                raise ValueError(
                    f"a lazy rule of {self.label} reads {node.attrs[0]}, which is none of its arrays; make it an "
                    "argument of the call, for which the rule may give None"
                )

    @property
    def axes_of_call(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A letter for each axis of arguments and results, the same where lengths must be equal."""
        letters: dict[int, str] = {}

        def of(node: Node) -> str:
            return "".join([letters.setdefault(each, LETTERS[len(letters)]) for each in self.axes.classes(node)])

        return tuple(map(of, self.places.args)), tuple(map(of, self.places.results))

    @property
    def structure(self) -> Any:
        """What is the same for other lengths."""
        shapes = [tuple(1 if each == STATIC else f"n{each}" for each in self.axes.classes(token))
                  for token in self.places.every]  # fmt: skip
        every = [
            Node("slot", (), (place, "rule", 0), shape, token.dtype)
            for place, (token, shape) in enumerate(zip(self.places.every, shapes, strict=True))
        ]
        absent = tuple(None if rule is None else tuple(each is None for each in rule)
                       for rule in (self.pulled, self.pushed))  # fmt: skip
        found = self.among(self.roots, dict(zip(self.places.every, every, strict=True)))
        return found, absent, self.axes_of_call

    def among(self, roots: Sequence[Node], given: dict[Node, Node]) -> tuple[Node, ...]:
        """The rule's nodes of what stands in its places, and of the lengths that it has."""
        binder = InPlace(self.axes, given)
        found = rewrite(tuple(roots), binder.rule)
        if binder.lengths:
            raise NotImplementedError(
                f"a lazy rule of {self.label} has a length, or a start of a slice, that is none of the lengths of its "
                "arrays; one of plain arrays may"
            )
        return found

    def call(self, plain: Call) -> Call:
        """A call without rules with these."""
        there = self.pulled is not None or self.pushed is not None
        pull, push = (self._pull, self._push) if there else (None, None)
        return replace(plain, pull=pull, push=push, axes=self.axes_of_call)

    def _pull(
        self, args: Sequence[Node], results: Sequence[Node], cotangents: Sequence[Node], ahead: int
    ) -> list[Node | None]:
        return self._put(self.pulled, self.pushed, args, results, (cotangents, args), ahead, False)

    def _push(
        self, args: Sequence[Node], results: Sequence[Node], dots: Sequence[Node | None], ahead: int
    ) -> list[Node]:
        pairs = zip(args, dots, strict=True)
        tangents = [full(const(0, arg.dtype), arg.shape) if dot is None else dot for arg, dot in pairs]
        found = self._put(self.pushed, self.pulled, args, results, (results, tangents), ahead, True)
        return [full(const(0, one.dtype), one.shape) if each is None else each
                for each, one in zip(found, results, strict=True)]  # fmt: skip

    def _put(
        self, own: Sequence[Node | None] | None, other: Sequence[Node | None] | None, args: Sequence[Node],
        results: Sequence[Node], directions: tuple[Sequence[Node], Sequence[Node]], ahead: int, forwards: bool,
    ) -> list[Node | None]:
        """A rule of what stands in its places, all with so many axes ahead; or the other one, transposed.

        ``directions`` are cotangents and tangents, of which the rule has those that it is linear in.
        """
        given = dict(zip(self.places.every, (*args, *results, *directions[0], *directions[1]), strict=True))
        steps = [{token: _inner(node, place, depth) for place, (token, node) in enumerate(given.items())}
                 for depth in range(ahead, 0, -1)] + [given]  # fmt: skip
        first = steps[0] if ahead else {**given, **self._free(given, forwards)}
        linear, onto = self.places.tangents, self.places.cotangents
        if not forwards:
            linear, onto = onto, linear
        if own is not None:
            rows = [None if node is None else self.among([node], first)[0] for node in own]
        else:
            assert other is not None
            rows = self._transposed(other, first, linear, onto)
        there = tuple([row for row in rows if row is not None])
        for before, after in zip(steps, steps[1:], strict=False):
            there = vmap(there, {before[token]: after[token] for token in given}) if there else there
        nodes = iter(there)
        return [None if row is None else next(nodes) for row in rows]

    def _free(self, given: dict[Node, Node], forwards: bool) -> dict[Node, Node]:
        """Places for what a transposed rule is derived in, which are no other node of the graph."""
        tokens = self.places.cotangents if forwards else self.places.tangents
        return {token: _inner(given[token], place, 0) for place, token in enumerate(tokens)}

    def _transposed(
        self, rule: Sequence[Node | None], given: dict[Node, Node], linear: Sequence[Node], onto: Sequence[Node]
    ) -> list[Node | None]:
        """The rule for the other direction: what is linear in ``onto`` derived in it, along ``linear``."""
        pairs = zip(rule, linear, strict=True)
        there = [(node, given[token]) for node, token in pairs if node is not None and node.dtype.kind == "f"]
        rows = self.among([node for node, _ in there], given)
        sought = [given[token] for token in onto]
        seeds: dict[Node, Node] = {}
        for row, (_, along) in zip(rows, there, strict=True):
            seeds[row] = seeds[row] + along if row in seeds else full(cast(along, row.dtype), row.shape)
        found = pullback(seeds, sought)
        if {*sought} & {*topological(found)}:
            raise ValueError(f"a lazy rule of {self.label} is not linear in its cotangents or tangents")
        return [*found]


def _inner(node: Node, place: int, depth: int) -> Node:
    """What stands for an array without its first axes."""
    return Node("slot", (), (place, "rule", depth), node.shape[depth:], node.dtype)


@final
class InPlace(Binder):
    """The rules by which a rule's nodes become structure: its places are given, and so are their lengths."""

    def __init__(self, axes: Axes, given: dict[Node, Node]) -> None:
        super().__init__(axes)
        self.given = given
        self.there = set()
        for token, node in given.items():
            for length, dim in zip(axes.classes(token), node.shape, strict=True):
                if isinstance(dim, str):
                    self.names.setdefault(length, dim)

    def _leaf(self, node: Node, args: tuple[Node, ...]) -> Node:
        return self.given[node] if node in self.given else const(node.attrs[0].array[()], node.dtype)
