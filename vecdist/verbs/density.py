"""Distributions over arrays, and the verbs on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from vecdist.distributions.base import Compound, Distribution, Parameters, Parametrisation, Parametrised
from vecdist.graph.leaves import NoValueYet, is_weak, leaf, number
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, cast, const
from vecdist.graph.node import where as choose
from vecdist.graph.shapes import BroadcastError, broadcast
from vecdist.lazy.array import LazyArray, Operand
from vecdist.passes.template import Template, templated
from vecdist.runtime.cache import of_structures
from vecdist.special.formulas import exp_of_log

Family = TypeVar("Family", bound=Parametrised)
POINTS = ("x", "y")  # what a formula takes beside parameters, one of them or both


def Vectorize(  # noqa: N802 (a constructor in all but name)
    family: type[Family], parameters: Operand | Sequence[Operand] | Mapping[str, Operand] = (), /, **keywords: Operand
) -> Family:
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
    if not (isinstance(family, type) and issubclass(family, Parametrised)):
        raise TypeError(f"Vectorize wants a family such as Gamma, given {family!r}")
    if isinstance(parameters, Mapping):
        return family(**parameters, **keywords)
    given = parameters if isinstance(parameters, tuple | list) else (parameters,)
    return family(*given, **keywords)


def logpdf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The logarithm of the density, or of the mass, of ``distribution`` at ``x``: a lazy array.

    The shape is that of the parameters and ``x`` broadcast together; the dtype is that of the floating-point arrays and
    NumPy scalars among them, float64 where there is none.  Python numbers take it, and so do integers, which are data:
    beside float32 alone, counts above 2**24 are rounded to it.  Outside the support the value is -inf, where a
    parameter is invalid NaN, and computing it raises ``InvalidParameter``.  Raises ``ValueError`` for shapes that do
    not broadcast, ``OverflowError`` for Python integers beyond all floats.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> lp = vecdist.logpdf(Normal(0.0, 1.0), np.array([0.0, 1.0]))
    >>> lp.shape
    (2,)
    >>> np.asarray(lp).round(4)
    array([-0.9189, -1.4189])
    """
    if isinstance(distribution, Compound):
        return distribution.logpdf(x)
    return evaluated("logpdf", distribution, _log_density, x)


def pdf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The density, or the mass, of ``distribution`` at ``x``: exp(logpdf), of the same shape and dtype.

    Where it is 0 so are its derivatives, though the logarithm fall infinitely fast.  Raises what ``logpdf`` does.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.pdf(Exponential(2.0), np.array([-1.0, 0.0, 2.0]))).round(4)
    array([0.    , 0.5   , 0.1839])
    """
    return LazyArray(exp_of_log(logpdf(distribution, x).node))


logpmf = logpdf
pmf = pdf


def _log_density(family: type[Distribution], p: Parameters, x: Node) -> Node:
    """The formula of a family inside its support, -inf outside."""
    density = family.log_density(x, p)
    outside = family.support(p).violated(x, p.whole)
    return density if outside is None else choose(outside, -np.inf, density)


_templates: Memo[Template] = of_structures()


def evaluated(
    verb: str, distribution: Any, formula: Callable[..., Any], *at: Any, beside: Sequence[Node] = ()
) -> LazyArray:
    """``formula(family, p, x)`` of a distribution at ``x``, or at two points, or of its parameters alone.

    What is ``beside`` are nodes that it takes as they are, after those.  It is a function of a module, or always the
    same one for the same purpose: it is asked but twice for each family, for operands of the same shapes and dtypes.

    ``p`` has the quantities that the family's formulas use, and ``p.whole``: whether ``x`` can hold nothing but whole
    numbers.  The value has the shape of all that is given, broadcast, and is NaN where a parameter is invalid;
    computing it then raises ``InvalidParameter``.  Raises ``TypeError`` where ``distribution`` is none.
    """
    family, known = type(distribution), operands_of(verb, distribution, *at)
    way, whole, names = distribution.parametrised, all(map(is_whole, at)), tuple(known)

    def written(operands: Sequence[Node]) -> Node:
        nodes = dict(zip(names, operands, strict=False))
        points = {name: nodes.pop(name) for name in POINTS[: len(at)]}
        p = Parameters(**way.convert(**nodes), whole=whole)
        value = formula(family, p, *points.values(), *operands[len(names) :])
        if not isinstance(value, Node):  # the same number for all parameters
            value = const(value, np.result_type(*(node.dtype for node in (*nodes.values(), *points.values()))))
        return checked(value, verb, family.__name__, way, nodes, points)

    key = (verb, formula, family, way.convert, names, whole)
    return LazyArray(templated(_templates, key, [*known.values(), *beside], written))


def operands_of(verb: str, distribution: Any, *at: Any) -> dict[str, Node]:
    """The parameters of a distribution, and the points where there are any, as nodes of one dtype that broadcast."""
    _check_distribution(verb, distribution)
    known = as_floats(distribution.parameters | dict(zip(POINTS, at, strict=False)))
    _check_shapes(type(distribution).__name__, known)
    return known


def _check_distribution(verb: str, distribution: Any) -> None:
    if isinstance(distribution, type) and issubclass(distribution, Parametrised):
        way = distribution.parametrisations[0]
        raise TypeError(
            f"{verb} wants a distribution, given the family {distribution.__name__}; "
            f"give it parameters: {distribution.__name__}({way})"
        )
    if isinstance(distribution, Compound):
        raise NotImplementedError(f"{verb} of {type(distribution).__name__} is not there; logpdf is")
    if not isinstance(distribution, Distribution):
        raise TypeError(f"{verb} wants a distribution, given {type(distribution).__name__}")


def stating(family: type) -> str:
    """The name of the family whose log density this one has: Chi2 is written as Gamma is."""
    formula = getattr(family, "log_density", None)
    return [each.__name__ for each in family.__mro__ if getattr(each, "log_density", None) == formula][-1]


def as_floats(given: Mapping[str, Any]) -> dict[str, Node]:
    """The operands as nodes of one dtype: that of the floating-point arrays and NumPy scalars among them, or float64.

    Python numbers take it, and integers, arrays of them too, which are data.
    """
    known = {
        name: value if is_weak(value) else value.node if isinstance(value, LazyArray) else _named(name, leaf, value)
        for name, value in given.items()
    }
    floats = [node.dtype for node in known.values() if isinstance(node, Node) and node.dtype.kind == "f"]
    dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
    return {
        name: cast(node, dtype) if isinstance(node, Node) else _named(name, number, node, dtype)
        for name, node in known.items()
    }


def _named(name: str, make: Callable[..., Node], *given: Any) -> Node:
    """A node of an operand; where it cannot be made, the error says of which."""
    try:
        return make(*given)
    except NoValueYet:  # which says more
        raise
    except (OverflowError, TypeError) as error:
        raise type(error)(f"{name}: {error}") from None


def _check_shapes(family: str, nodes: Mapping[str, Node]) -> None:
    try:
        broadcast(node.shape for node in nodes.values())
    except BroadcastError:
        shapes = ", ".join(f"{name} {node.shape}" for name, node in nodes.items())
        raise ValueError(f"{family}: the shapes of {shapes} do not broadcast") from None


def is_whole(x: Any) -> bool:
    """Whether ``x`` can hold nothing but whole numbers."""
    dtype = getattr(x, "dtype", None)  # of another library's array it may be of a type of its own
    return isinstance(x, int) or (isinstance(dtype, np.dtype) and dtype.kind in "biu")


def checked(
    value: Node,
    verb: str,
    family: str,
    way: Parametrisation,
    parameters: Mapping[str, Node],
    points: Mapping[str, Node],
) -> Node:
    """The value with the checks of the parameters, NaN where one fails."""
    everything = SimpleNamespace(**parameters)
    valid = const(True, np.bool_)
    labels, arguments = [], []
    for name, constraint in way.constraints.items():
        holds = constraint.among(everything).satisfied(parameters[name])
        valid = holds if valid.is_const(True) else valid & holds
        labels.append((family, name, str(constraint)))
        arguments += [holds, parameters[name]]
    for name, point in points.items():  # always valid: named for those who show the expression
        labels.append((family, name, verb))
        arguments += [const(True, np.bool_), point]
    value = choose(valid, value, np.nan)
    return Node("checked", (value, *arguments), tuple(labels), value.shape, value.dtype)
