"""What is known of families beyond what they state."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.log_normal import LogNormal
from vecdist.distributions.normal import Normal
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp, log
from vecdist.special.normal_interval import log_diff_ndtr
from vecdist.special.normal_tail import ndtri_exp


def _standard(x: Node, p: Parameters) -> Node:
    """An infinite bound has no part in the derivatives of the parameters."""
    return where(eq(abs(x), math.inf), x, (x - p.loc) * p.inverse_scale)


def _normal_interval(below: Node, upper: Node, p: Parameters) -> Node:
    return log_diff_ndtr(_standard(upper, p), _standard(below, p))


def _log(x: Node) -> Node:
    return where(x > 0.0, log(x), where(eq(x, x), -math.inf, x))


# log P(below < X <= upper), whatever its size.
LOG_INTERVALS: dict[type[Distribution], Callable[[Node, Node, Parameters], Node]] = {
    Normal: _normal_interval,
    LogNormal: lambda below, upper, p: _normal_interval(_log(below), _log(upper), p),
}
# The x below which there is exp(y), and the one above which there is; the latter of a symmetric family by the former.
QUANTILES_OF_LOG: dict[type[Distribution], Callable[[Node, Parameters], Node]] = {
    Normal: lambda y, p: p.loc + ndtri_exp(y) / p.inverse_scale,
    LogNormal: lambda y, p: exp(p.loc + ndtri_exp(y) / p.inverse_scale),
}
UPPER_QUANTILES_OF_LOG: dict[type[Distribution], Callable[[Node, Parameters], Node]] = {
    LogNormal: lambda y, p: exp(p.loc - ndtri_exp(y) / p.inverse_scale),
}
