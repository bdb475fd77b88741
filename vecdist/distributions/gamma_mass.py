"""Tails of a gamma distribution at a number in two parts: a large shape amplifies what rounding takes from it."""

from __future__ import annotations

from vecdist.distributions.formulas import times
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import width
from vecdist.primitives.gamma_functions import digamma
from vecdist.primitives.incomplete_gamma import (
    gamma_density,
    gammainc,
    gammainc_da,
    gammaincc,
    log_gammainc,
    log_gammainc_da,
    log_gammainc_dx,
    log_gammaincc,
    log_gammaincc_da,
    log_gammaincc_dx,
)
from vecdist.primitives.table import primitive

LEAST = {8: -600.0, 4: -60.0}  # the logarithm of a tail down to which the rest counts


def _small(a: Node, rest: Node) -> Node:
    """The rest, where the density is a line over it."""
    return where(abs(rest) < 0.01 * sqrt(a), rest, 0.0)


def _slope(a: Node, x: Node) -> Node:
    """The derivative of the logarithm of the density."""
    return (a - 1.0) / x - 1.0


def _moved(a: Node, x: Node, rest: Node) -> Node:
    return times(_small(a, rest), gamma_density(a, x))


def _tail_partials(a: Node, x: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
    of_shape = gammainc_da(a, x) + times(_small(a, rest), gamma_density(a, x) * (log(x) - digamma(a)))
    return of_shape, gamma_density(a, x) * (1.0 + times(_small(a, rest), _slope(a, x))), None


def _log_moved(a: Node, x: Node, rest: Node, y: Node) -> Node:
    inside = y > LEAST[width(x)]
    return where(inside, _moved(a, x, rest) * exp(where(inside, -y, 0.0)), 0.0)


def _log_partials(a: Node, x: Node, rest: Node, of_shape: Node, of_x: Node) -> tuple[Node, Node, None]:
    lost = _small(a, rest)
    mixed = of_x * ((log(x) - digamma(a)) - of_shape)
    return of_shape + times(lost, mixed), of_x * (1.0 + times(lost, _slope(a, x) - of_x)), None


AT = ((0.3, 40.0), (0.3, 40.0), (-1e-16, 1e-16))
gammainc_of_parts = primitive(
    "gammainc_of_parts", 3, expand=lambda a, x, rest: gammainc(a, x) + _moved(a, x, rest), partials=_tail_partials,
    floating=True, domain=AT,
)
gammaincc_of_parts = primitive(
    "gammaincc_of_parts", 3, expand=lambda a, x, rest: gammaincc(a, x) - _moved(a, x, rest), floating=True, domain=AT,
    partials=lambda *at: tuple(slope if slope is None else -slope for slope in _tail_partials(*at)),
)
log_gammainc_of_parts = primitive(
    "log_gammainc_of_parts", 3, floating=True, domain=AT,
    expand=lambda a, x, rest: log_gammainc(a, x) + _log_moved(a, x, rest, log_gammainc(a, x)),
    partials=lambda a, x, rest, out: _log_partials(a, x, rest, log_gammainc_da(a, x), log_gammainc_dx(a, x)),
)
log_gammaincc_of_parts = primitive(
    "log_gammaincc_of_parts", 3, floating=True, domain=AT,
    expand=lambda a, x, rest: log_gammaincc(a, x) - _log_moved(a, x, rest, log_gammaincc(a, x)),
    partials=lambda a, x, rest, out: _log_partials(a, x, rest, log_gammaincc_da(a, x), log_gammaincc_dx(a, x)),
)
