"""What is computed of an expression: its values or their derivatives, by a rule that is known by its name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple, final

import numpy as np

from vecdist.graph.node import Node, where
from vecdist.passes.batched import partials_of_each
from vecdist.passes.differentiate import gradient, partials, pushforward
from vecdist.passes.towers import Tower
from vecdist.passes.vmap import vmap
from vecdist.primitives.arithmetic import eq, isfinite, isnan
from vecdist.primitives.structure import drop_axes, summed

Roots = tuple[Node, ...]


@final
class Derivation(NamedTuple):
    """The rule of a name, or a tower; where ``guarded``, a tangent of 0 contributes nothing, though a derivative be
    infinite."""

    rule: str | Tower
    guarded: bool = False

    def __call__(self, roots: Roots) -> Roots:
        """What the rule makes of ``roots``: an expression, and what it takes beside it."""
        if not isinstance(self.rule, str):
            return self.rule(tuple(root.args[0] if root.op == "like" else root for root in roots))
        return RULES[self.rule](roots, guarded=True) if self.guarded else RULES[self.rule](roots)


def _gradient(roots: Roots) -> Roots:
    """A scalar and its gradient: roots are the scalar and the leaves."""
    value, *leaves = roots
    return (value, *gradient(value, leaves))


def _partials(roots: Roots) -> Roots:
    """A value and its elementwise partials: roots are the expression and the leaves."""
    value, *leaves = roots
    return (value, *partials(value, leaves))


def _vjp(roots: Roots) -> Roots:
    """A value and the gradient of its product with a cotangent: roots are the expression, that, and the leaves."""
    value, tied, *leaves = roots
    return (value, *gradient(value, leaves, tied.args[0]))


def _jvp(roots: Roots, guarded: bool = False) -> Roots:
    """A value and its derivative along tangents: roots are the expression, the leaves and as many tangents."""
    value, leaves, seeds = _parted(roots)
    return value, pushforward(value, _untied(leaves, seeds), guarded)


def _hvp(roots: Roots, guarded: bool = False) -> Roots:
    """A Hessian times tangents: the gradient, pushed forward."""
    value, leaves, seeds = _parted(roots)
    tangents = _untied(leaves, seeds)
    return tuple(pushforward(first, tangents, guarded) for first in gradient(value, leaves))


def _hessian(roots: Roots, guarded: bool = False) -> Roots:
    """A Hessian: the gradient, pushed forward along a batch of tangents."""
    value, leaves, seeds = _parted(roots)
    tangents, batch = _directions(leaves, seeds)
    columns = [pushforward(first, tangents, guarded) for first in gradient(value, leaves)]
    return vmap(columns, batch)


def _jacobian(roots: Roots, guarded: bool = False) -> Roots:
    """All derivatives of an expression of any shape: pushed forward along a batch of tangents."""
    value, leaves, seeds = _parted(roots)
    tangents, batch = _directions(leaves, seeds)
    return vmap([pushforward(value, tangents, guarded)], batch)


def _hessian_diagonal(roots: Roots, guarded: bool = False) -> Roots:
    """Of the columns of each leaf's own block of a Hessian what stands on the diagonal: the seeds are unit vectors."""
    value, leaves, seeds = _parted(roots)
    found = []
    for leaf, first, seed in zip(leaves, gradient(value, leaves), seeds, strict=True):
        tangents, batch = _directions([leaf], [seed])
        (column,) = vmap([pushforward(first, tangents, guarded)], batch)
        own, batched = where(eq(seed.args[0], 0.0), 0.0, column), (-1 - leaf.ndim,)
        found.append(drop_axes(summed(own, batched), batched))
    return tuple(found)


def _directions(leaves: Sequence[Node], seeds: Sequence[Node]) -> tuple[dict[Node, Node], dict[Node, Node]]:
    """A tangent of each leaf, which stands for one, and the batch of those that it stands for."""
    singles = [Node("direction", (), (place,), leaf.shape, leaf.dtype) for place, leaf in enumerate(leaves)]
    return dict(zip(leaves, singles, strict=True)), _untied(singles, seeds)


def _leapfrog(roots: Roots) -> Roots:
    """Log densities, positions, momenta a whole step on, and the whitened gradient: roots are those of half a step."""
    value, there, whitened, momentum, step = roots
    (slope,) = gradient(value, [whitened])
    return value, there, momentum + step * slope, slope


def _kick(roots: Roots) -> Roots:
    """Values, momenta, positions that these move, counts of failures, and a number.

    Roots are the values, momenta and counts so far, tied to what gradients are in, where values are finite, the number,
    scales of gradients, and what gradients are in, the positions first.  Where a value is not finite a chain goes back
    to where the last momentum took it from; of momenta what is not finite is taken for 0.
    """
    value, tied, counted, alive, number, scale, *nodes = roots
    (kept, last, position), failures = tied.args, counted.args[0]
    momentum = kept + scale * functools.reduce(operator.add, gradient(value, nodes))
    moved = where(alive, where(isfinite(momentum), momentum, 0.0), -last)
    failed = where(alive & isfinite(momentum), 0.0, 1.0)
    return _or_nothing(value), moved, position + moved, failures + failed, number


def _parted(roots: Roots) -> tuple[Node, Roots, Roots]:
    """An expression, the leaves behind it, and as many tangents of them."""
    count = len(roots) // 2
    return roots[0], roots[1 : 1 + count], roots[1 + count :]


def _untied(leaves: Sequence[Node], seeds: Sequence[Node]) -> dict[Node, Node]:
    return {leaf: tied.args[0] for leaf, tied in zip(leaves, seeds, strict=True)}


def _or_nothing(value: Node) -> Node:
    return where(isnan(value), -np.inf, value)


def _gradient_or_nothing(roots: Roots) -> Roots:
    """A value, -inf where there is none, and its gradient, which does not wait for the value."""
    value, *slopes = _gradient(roots)
    return (_or_nothing(value), *slopes)


RULES: dict[str, Callable[..., Roots]] = {
    "values": lambda roots: roots,
    "values, -inf for NaN": lambda roots: tuple(map(_or_nothing, roots)),
    "gradient": _gradient,
    "gradient, -inf for NaN": _gradient_or_nothing,
    "partials": _partials,
    "partials of each chain": partials_of_each,
    "vjp": _vjp,
    "jvp": _jvp,
    "hvp": _hvp,
    "hessian": _hessian,
    "hessian diagonal": _hessian_diagonal,
    "jacobian": _jacobian,
    "leapfrog": _leapfrog,
    "kick": _kick,
}
values = Derivation("values")
gradient_of = Derivation("gradient")
partials_of = Derivation("partials")
