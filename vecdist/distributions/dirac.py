"""The Dirac distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq


class Dirac(Distribution):
    """Dirac distribution, which puts the mass 1 on one value.

    Written ``Dirac(value)``.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Dirac(0.5), np.array([0.5, 1.0])))
    array([  0., -inf])
    """

    discrete = True

    @parametrisation(value=finite)
    @staticmethod
    def by_value(value: Node) -> dict[str, Node]:
        return {"value": value}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.value, p.value)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), 0.0, x)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), 1.0, x)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), 0.0, x)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), 0.0, x)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), -math.inf, x)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.value

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.value

    mode: Any = mean
    median: Any = mean

    @staticmethod
    def variance(p: Parameters) -> Node:
        return 0.0 * p.value

    entropy = variance
