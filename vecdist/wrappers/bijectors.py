"""Monotone functions with their inverses and the logarithms of their slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from vecdist.constraints import Constraint, finite, open_unit_interval, positive
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import reciprocal, sqrt, square
from vecdist.primitives.elementary import exp, expm1, log, log1p, log_cosh, log_sigmoid, sigmoid, sinh, softplus, tanh
from vecdist.primitives.logarithms import arcsinh, arctanh, logexpm1, logit


@final
@dataclass(frozen=True)
class Bijector:
    """A monotone function of ``domain`` onto ``codomain``, both open, and what a change of variables asks of it.

    ``forward(y)`` gives x and ``inverse(x)`` gives y, as expressions of nodes; ``log_slope(y, x)`` is log |dx / dy|, by
    whichever of both it is best written in.
    """

    name: str
    forward: Callable[[Node], Node]
    inverse: Callable[[Node], Node]
    log_slope: Callable[[Node, Node], Node]
    domain: Constraint = finite
    codomain: Constraint = finite
    increasing: bool = True

    def __repr__(self) -> str:
        return repr(self.name)

    def __reduce__(self) -> Any:
        """One that has a name here by that name, for its functions have none."""
        return (_named, (self.name,)) if BIJECTORS.get(self.name) is self else super().__reduce__()

    def inverted(self, name: str) -> Bijector:
        """The inverse function."""
        slope = self.log_slope
        return Bijector(
            name, self.inverse, self.forward, lambda y, x: -slope(x, y), self.codomain, self.domain, self.increasing
        )


def _named(name: str) -> Bijector:
    return BIJECTORS[name]


_above_minus_one = Constraint("a finite number above -1", lower=-1.0, open_lower=True, open_upper=True)
_within_one = Constraint("a number between -1 and 1", -1.0, 1.0, open_lower=True, open_upper=True)

_exp = Bijector("exp", exp, log, lambda y, x: y, codomain=positive)
_expit = Bijector("expit", sigmoid, logit, lambda y, x: log_sigmoid(y) + log_sigmoid(-y), codomain=open_unit_interval)
_softplus = Bijector("softplus", softplus, logexpm1, lambda y, x: log_sigmoid(y), codomain=positive)
_expm1 = Bijector("expm1", expm1, log1p, lambda y, x: y, codomain=_above_minus_one)
_tanh = Bijector("tanh", tanh, arctanh, lambda y, x: -2.0 * log_cosh(y), codomain=_within_one)
_sinh = Bijector("sinh", sinh, arcsinh, lambda y, x: log_cosh(y))
_square = Bijector("square", square, sqrt, lambda y, x: log(2.0 * y), positive, positive)

BIJECTORS = {
    known.name: known
    for known in (
        _exp, _exp.inverted("log"),
        _expit, _expit.inverted("logit"),
        _softplus, _softplus.inverted("logexpm1"),
        _expm1, _expm1.inverted("log1p"),
        _tanh, _tanh.inverted("arctanh"),
        _sinh, _sinh.inverted("arcsinh"),
        _square, _square.inverted("sqrt"),
        Bijector("negative", lambda y: -y, lambda x: -x, lambda y, x: const(0.0, y.dtype), increasing=False),
        Bijector("reciprocal", reciprocal, reciprocal, lambda y, x: 2.0 * log(x), positive, positive, increasing=False),
    )
}
