"""Derivatives of derivatives: what becomes of a value as tangents are pushed and cotangents pulled through it in turn.

A tower is a rule (``Derivation``) of roots that are a value, the arguments, and the seeds of each storey, lowest first.
It says no more than which arguments are derived in, so it is known before any graph is, and equal towers are one key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node, cast
from vecdist.passes.differentiate import pullback, pushforward

Nodes = Sequence[Node]


@final
@dataclass(frozen=True)
class Ground:
    """The value itself."""

    results: int = 1

    def likes(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """For each result a node of its shape and dtype."""
        return (value,)

    def tied(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """For each operand that is a seed, the node whose shape it has."""
        return ()

    def batched(self, axes: Sequence[bool]) -> tuple[bool, ...]:
        """Which operands have a leading axis, where those that ``axes`` says have one."""
        return tuple(axes)

    def __call__(self, roots: Nodes) -> tuple[Node, ...]:
        return tuple(roots[:1])


@final
@dataclass(frozen=True)
class Pushed:
    """The derivatives of all results of a tower along tangents, one for each operand in ``active``; linear in these."""

    of: Tower
    active: tuple[int, ...]

    @property
    def results(self) -> int:
        """How many there are."""
        return self.of.results

    def likes(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """As of the ground."""
        return self.of.likes(value, operands[: len(operands) - len(self.active)])

    def tied(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """As of the ground."""
        below = operands[: len(operands) - len(self.active)]
        return (*self.of.tied(value, below), *(below[place] for place in self.active))

    def batched(self, axes: Sequence[bool]) -> tuple[bool, ...]:
        """As of the ground: each row has tangents of its own, and what it is derived in."""
        return _batched(self.of, axes[: len(axes) - len(self.active)], self.active, len(self.active))

    def __call__(self, roots: Nodes) -> tuple[Node, ...]:
        below, seeds = roots[: len(roots) - len(self.active)], roots[len(roots) - len(self.active) :]
        tangents = {below[1 + place]: seed for place, seed in zip(self.active, seeds, strict=True)}
        return tuple(cast(pushforward(each, tangents), each.dtype) for each in self.of(below))


@final
@dataclass(frozen=True)
class Pulled:
    """The cotangents of the operands in ``active``, of one for each result of a tower; linear in these."""

    of: Tower
    active: tuple[int, ...]

    @property
    def results(self) -> int:
        """How many there are."""
        return len(self.active)

    def likes(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """As of the ground."""
        return tuple(operands[place] for place in self.active)

    def tied(self, value: Node, operands: Nodes) -> tuple[Node, ...]:
        """As of the ground."""
        below = operands[: len(operands) - self.of.results]
        return (*self.of.tied(value, below), *self.of.likes(value, below))

    def batched(self, axes: Sequence[bool]) -> tuple[bool, ...]:
        """As of the ground: each row has cotangents of its own, and what it is derived in."""
        return _batched(self.of, axes[: len(axes) - self.of.results], self.active, self.of.results)

    def __call__(self, roots: Nodes) -> tuple[Node, ...]:
        below, seeds = roots[: len(roots) - self.of.results], roots[len(roots) - self.of.results :]
        cotangents: dict[Node, Node] = {}
        for each, seed in zip(self.of(below), seeds, strict=True):  # equal results are one node
            cotangents[each] = cotangents[each] + seed if each in cotangents else seed
        return pullback(cotangents, [below[1 + place] for place in self.active])


Tower = Ground | Pushed | Pulled
VALUE = Ground()


def _batched(of: Tower, axes: Sequence[bool], active: Sequence[int], seeds: int) -> tuple[bool, ...]:
    return (*of.batched([has or place in active for place, has in enumerate(axes)]), *[True] * seeds)


def ground_arity(tower: Tower, operands: int) -> int:
    """How many of the operands are arguments of the value, and no seeds."""
    while not isinstance(tower, Ground):
        operands -= len(tower.active) if isinstance(tower, Pushed) else tower.of.results
        tower = tower.of
    return operands
