"""Expectations by parts of the line: of each as of a truncated family, whose quantiles are smooth there."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from typing import Any

from vecdist.distributions.base import Distribution, Parameters
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp
from vecdist.verbs.inner import Inner
from vecdist.verbs.integrated_moments import Moments
from vecdist.verbs.tails_and_moments import missing, upper_quantile
from vecdist.wrappers.derived import family_of
from vecdist.wrappers.truncated import Truncated


def part(
    base: Inner, lower: Node | None, upper: Node | None, p: Parameters, function: Callable[..., Node], *given: Node
) -> Node:
    """The expectation of ``function`` where the variable lies between bounds, both included, and of 0 elsewhere.

    ``NotImplementedError`` for angles, of which no one turn is that of the expectation.
    """
    if getattr_static(base.family, "reach") is not vars(Distribution)["reach"]:
        raise missing(base.family, "mean", f", and {base.wrapper} needs it")
    bounds = {"lower": lower, "upper": upper}
    there: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    family = family_of(Truncated, base.family, tuple(there))
    log_mass = base.log_mass(lower, upper, p)
    inside = Parameters(base=p.base, zero=p.zero, log_mass=log_mass, **there)
    moments = Moments(family, family.quantile, upper_quantile(family))
    return weighed(exp(log_mass), moments.expectation(function, inside, *given))


def weighed(mass: Node, value: Node) -> Node:
    """The part of an expectation that a value has, which may be anything where it has none."""
    return where(eq(mass, 0.0), 0.0, mass * value)
