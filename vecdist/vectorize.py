"""Distributions over arrays, and the verbs on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from vecdist.array import LazyArray
from vecdist.constraints import Constraint
from vecdist.distributions.base import Compound, Distribution
from vecdist.expr import Node, cast, const
from vecdist.expr import where as choose
from vecdist.leaves import NUMBERS, leaf, number
from vecdist.shapes import BroadcastError, broadcast


def Vectorize(  # noqa: N802 (a constructor in all but name)
    family: type[Distribution], parameters: Sequence[Any] | Mapping[str, Any] = (), /, **keywords: Any
) -> Distribution:
    """A family over arrays of parameters, captured as they are: no object per element, nothing computed.

    ``Vectorize(Gamma, (a, t))`` is ``Gamma(a, t)``; a mapping or keywords choose another parametrisation.  Shapes
    broadcast.  Raises ``TypeError`` where ``family`` is no family or the parameters do not fit it.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> vecdist.Vectorize(Gamma, (np.ones(3), 2.0))
    Gamma(shape=float64[3], scale=2.0)
    >>> vecdist.Vectorize(Gamma, {"mean": 3.0, "sd": 1.0})
    Gamma(mean=3.0, sd=1.0)
    """
    if not (isinstance(family, type) and issubclass(family, Distribution)):
        raise TypeError(f"Vectorize wants a family such as Gamma, given {family!r}")
    if isinstance(parameters, Mapping):
        return family(**parameters, **keywords)
    if not isinstance(parameters, tuple | list):
        parameters = (parameters,)
    return family(*parameters, **keywords)


def logpdf(distribution: Distribution | Compound, x: Any) -> LazyArray:
    """The logarithm of the density, or of the mass, of ``distribution`` at ``x``: a lazy array.

    The shape is that of the parameters and ``x`` broadcast together; the dtype is that of the floating-point arrays
    among them (integers are data and do not widen it), float64 where there is none.  Outside the support the value is
    -inf, where a parameter is invalid NaN, and computing it raises ``InvalidParameter``.  Raises ``ValueError`` for
    shapes that do not broadcast.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> lp = vecdist.logpdf(Normal(0.0, 1.0), np.array([0.0, 1.0]))
    >>> lp.shape
    (2,)
    >>> np.asarray(lp).round(4)
    array([-0.9189, -1.4189])
    """
    if isinstance(distribution, type) and issubclass(distribution, Distribution):
        way = distribution.parametrisations[0]
        raise TypeError(
            f"logpdf wants a distribution, given the family {distribution.__name__}; "
            f"give it parameters: {distribution.__name__}({way})"
        )
    if isinstance(distribution, Compound):
        return distribution.logpdf(x)
    if not isinstance(distribution, Distribution):
        raise TypeError(f"logpdf wants a distribution, given {type(distribution).__name__}")
    family = type(distribution)
    given = {**distribution.parameters, "x": x}
    nodes = _nodes(given)
    _check_shapes(family.__name__, nodes)
    value = nodes.pop("x")
    quantities = SimpleNamespace(**distribution.parametrised.convert(**nodes))
    support = _support(family.support(quantities), x)
    density = family.log_density(value, quantities)
    outside = support.violated(value)
    if outside is not None:
        density = choose(outside, -np.inf, density)
    return LazyArray(_checked(density, distribution, {**nodes, "x": value}))


logpmf = logpdf


def _nodes(given: Mapping[str, Any]) -> dict[str, Node]:
    """The operands as nodes of one floating-point dtype."""
    known = {
        name: value if isinstance(value, NUMBERS) else value.node if isinstance(value, LazyArray) else leaf(value)
        for name, value in given.items()
    }
    floats = [node.dtype for node in known.values() if isinstance(node, Node) and node.dtype.kind == "f"]
    dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
    return {
        name: cast(node, dtype) if isinstance(node, Node) else number(node, dtype)
        for name, node in known.items()
    }


def _check_shapes(family: str, nodes: Mapping[str, Node]) -> None:
    try:
        broadcast(node.shape for node in nodes.values())
    except BroadcastError:
        shapes = ", ".join(f"{name} {node.shape}" for name, node in nodes.items())
        raise ValueError(f"{family}: the shapes of {shapes} do not broadcast") from None


def _support(support: Constraint, x: Any) -> Constraint:
    """The support without the test for whole numbers where ``x`` can hold nothing else."""
    whole = isinstance(x, int) or (getattr(x, "dtype", None) is not None and x.dtype.kind in "biu")
    if not (support.whole and whole):
        return support
    return Constraint(support.name, support.lower, support.upper, support.open_lower, support.open_upper)


def _checked(density: Node, distribution: Distribution, nodes: Mapping[str, Node]) -> Node:
    """The density with the checks of its parameters, NaN where one fails."""
    valid = const(True, np.bool_)
    labels, arguments = [], []
    for name, constraint in distribution.parametrised.constraints.items():
        parameter = nodes[name]
        holds = constraint.among(SimpleNamespace(**nodes)).satisfied(parameter)
        valid = holds if valid.is_const(True) else valid & holds
        labels.append((type(distribution).__name__, name, str(constraint)))
        arguments += [holds, parameter]
    labels.append((type(distribution).__name__, "x", ""))  # always valid: named for those who show the expression
    arguments += [const(True, np.bool_), nodes["x"]]
    value = choose(valid, density, np.nan)
    return Node("checked", (value, *arguments), tuple(labels), value.shape, value.dtype)
